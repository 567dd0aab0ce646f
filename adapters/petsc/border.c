/* Elements that other ranks receive.  Few runs of elements are fetched run by run.
 *
 * A side of a box of the grid lies in many short runs, each on a page or two.  Fetched run by run, a side would cost
 * more time than the whole vector.  The devices gather the elements by a product with a matrix that has one 1 in each
 * row.  One transfer brings the elements home.
 *
 * PETSc packs elements of a vector.  The gathered elements go to a shadow of the vector, and PETSc packs from the
 * shadow.  Other pages of the shadow are never touched, and take no memory. */
#include "adapters/petsc/adapter.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <petsc/private/sfimpl.h>

#include "adapters/borders.h"

#define FEW_RUNS 8     /* more runs are gathered by the devices */
#define WASTED_MOST 40 /* declined offers: libsemcache declines the first offers of a matrix */

static const char attached[] = "semcache_border";

struct run {
    PetscInt first, count; /* elements of the vector */
};

/* A run that a remote rank reads, in units of the exchange. */
struct span {
    int64_t first, end;
};

/* What the devices gather. */
struct gathering {
    PetscInt cols, rows; /* elements of the vector, and sent elements */
    PetscInt runs;       /* of sent elements; 0: nothing is offered */
    int wasted;
    struct run *run;
    PetscInt *start, *index; /* the matrix */
    PetscScalar *ones, *gathered;
    PetscScalar *shadow;
    const void *from; /* the vector of the exchange under way, or NULL */
    void *to;
};

/* Belongs to an exchange, and is destroyed with the exchange. */
struct border {
    const void *remote; /* the exchange's, at the time of the plan: VecScatterRemap changes the numbers in place */
    struct span *span;
    int spans;
    struct gathering gathering;
};

static size_t shadow_bytes(const struct gathering *b) { return (size_t)b->cols * sizeof *b->shadow; }

static void drop(struct gathering *b)
{
    free(b->run);
    semcache_free(b->start);
    semcache_free(b->index);
    semcache_free(b->ones);
    semcache_free(b->gathered);
    if (b->shadow)
        munmap(b->shadow, shadow_bytes(b));
    *b = (struct gathering){0};
}

static PetscErrorCode destroy(void *memory)
{
    struct border *b = memory;

    PetscFunctionBegin;
    drop(&b->gathering);
    free(b->span);
    free(b);
    PetscFunctionReturn(0);
}

/* --- the plan of an exchange -------------------------------------------------------------------------------------- */

/* The numbers of the sent units, rank by rank.  *sent of 0: the exchange also has elements for this rank. */
static PetscErrorCode numbers_of(PetscSF sf, const PetscInt **numbers, PetscInt *sent)
{
    const PetscMPIInt *ranks;
    const PetscInt *offset;
    PetscMPIInt self;
    PetscInt others;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)sf), &self));
    PetscCall(PetscSFGetLeafRanks(sf, &others, &ranks, &offset, numbers));
    *sent = others > 0 ? offset[others] : 0;
    for (PetscInt i = 0; i < others; i++)
        if (ranks[i] == self && offset[i + 1] > offset[i])
            *sent = 0;
    PetscFunctionReturn(0);
}

static bool allocate(struct gathering *b)
{
    b->run = malloc((size_t)b->rows * sizeof *b->run);
    b->start = semcache_alloc(((size_t)b->rows + 1) * sizeof *b->start);
    b->index = semcache_alloc((size_t)b->rows * sizeof *b->index);
    b->ones = semcache_alloc((size_t)b->rows * sizeof *b->ones);
    b->gathered = semcache_alloc((size_t)b->rows * sizeof *b->gathered);
    b->shadow = mmap(NULL, shadow_bytes(b), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->shadow == MAP_FAILED)
        b->shadow = NULL;
    return b->run && b->start && b->index && b->ones && b->gathered && b->shadow;
}

/* Elements in ascending order, each once: devices that share the vector then share the rows in the same way. */
static PetscErrorCode fill(struct gathering *b, const PetscInt *numbers, PetscInt units, PetscInt block)
{
    PetscFunctionBegin;
    PetscCall(PetscArraycpy(b->index, numbers, units));
    PetscCall(PetscSortRemoveDupsInt(&units, b->index));
    b->rows = units * block;
    for (PetscInt i = b->rows - 1; i >= 0; i--) /* backwards, because the units are in the same array */
        b->index[i] = b->index[i / block] * block + i % block;
    for (PetscInt i = 0; i < b->rows; i++) {
        const PetscInt k = b->index[i];

        b->start[i] = i;
        b->ones[i] = 1;
        if (b->runs && b->run[b->runs - 1].first + b->run[b->runs - 1].count == k)
            b->run[b->runs - 1].count++;
        else
            b->run[b->runs++] = (struct run){k, 1};
    }
    b->start[b->rows] = b->rows;
    PetscFunctionReturn(0);
}

/* Few runs, no memory: the devices gather nothing. */
static PetscErrorCode plan_gathering(PetscSF sf, struct gathering *b)
{
    const PetscInt block = sf->vscat.bs, *numbers;
    PetscInt sent;

    PetscFunctionBegin;
    PetscCall(numbers_of(sf, &numbers, &sent));
    if (block < 1 || sent < 1 || sent > PETSC_MAX_INT / block || sf->nroots > PETSC_MAX_INT / block)
        PetscFunctionReturn(0);
    b->rows = sent * block;
    b->cols = sf->nroots * block;
    if (!allocate(b)) {
        drop(b);
        PetscFunctionReturn(0);
    }
    PetscCall(fill(b, numbers, sent, block));
    if (b->runs <= FEW_RUNS)
        drop(b);
    PetscFunctionReturn(0);
}

/* The elements that remote ranks read. */
static PetscErrorCode plan_spans(PetscSF sf, size_t bytes, struct border *b)
{
    int64_t first[SC_ADAPTER_MOST_RUNS], end[SC_ADAPTER_MOST_RUNS];
    const PetscInt *offset, *numbers;
    const PetscMPIInt *ranks;
    PetscMPIInt self;
    PetscInt others;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)sf), &self));
    PetscCall(PetscSFGetLeafRanks(sf, &others, &ranks, &offset, &numbers));
    for (PetscInt i = 0; i < others; i++) {
        const PetscInt count = ranks[i] == self ? 0 : offset[i + 1] - offset[i];
        const int runs = sc_adapter_runs(numbers + offset[i], sizeof *numbers, count, bytes, first, end);
        struct span *more = runs ? realloc(b->span, (size_t)(b->spans + runs) * sizeof *more) : NULL;

        if (!more)
            continue;
        b->span = more;
        for (int r = 0; r < runs; r++)
            b->span[b->spans++] = (struct span){first[r], end[r]};
    }
    PetscFunctionReturn(0);
}

/* The plan of an exchange, made once, because a walk over the numbers of a large side takes longer than its transfer.
 * *out of NULL: there is none. */
static PetscErrorCode border_of(PetscSF sf, size_t bytes, struct border **out)
{
    PetscContainer container;

    PetscFunctionBegin;
    *out = NULL;
    PetscCall(PetscObjectQuery((PetscObject)sf, attached, (PetscObject *)&container));
    if (container)
        PetscCall(PetscContainerGetPointer(container, (void **)out));
    if (*out && (*out)->remote != sf->remote && bytes) {
        PetscCall(sc_petsc_border_forget(sf));
        *out = NULL;
    }
    if (!*out && bytes && (*out = calloc(1, sizeof **out))) {
        (*out)->remote = sf->remote;
        PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
        PetscCall(PetscContainerSetPointer(container, *out));
        PetscCall(PetscContainerSetUserDestroy(container, destroy));
        PetscCall(PetscObjectCompose((PetscObject)sf, attached, (PetscObject)container));
        PetscCall(PetscContainerDestroy(&container)); /* the exchange keeps a reference */
        PetscCall(plan_spans(sf, bytes, *out));
        PetscCall(plan_gathering(sf, &(*out)->gathering));
    }
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_border_forget(PetscSF sf)
{
    PetscFunctionBegin;
    PetscCall(PetscObjectCompose((PetscObject)sf, attached, NULL));
    PetscFunctionReturn(0);
}

/* --- an exchange -------------------------------------------------------------------------------------------------- */

/* The plan, if elements may be away.  *bytes: of a unit. */
static PetscErrorCode plan_of(PetscSF sf, MPI_Datatype unit, PetscMPIInt *bytes, struct border **out)
{
    PetscFunctionBegin;
    *out = NULL;
    if (sf->nroots < SC_ADAPTER_LEAST_PART || semcache_device_count() < 1)
        PetscFunctionReturn(0);
    PetscCallMPI(MPI_Type_size(unit, bytes));
    if (*bytes > 0)
        PetscCall(border_of(sf, (size_t)*bytes, out));
    PetscFunctionReturn(0);
}

static bool gather(struct gathering *b, const void *from)
{
    const struct semcache_sparse_arrays arrays = sc_petsc_csr(b->rows, b->cols, b->start, b->index, b->ones);
    const struct sc_petsc_pair one = sc_petsc_pair(1), zero = sc_petsc_pair(0);

    if (semcache_try_sparse(&arrays, 'N', 1, one.part, from, 1, zero.part, b->gathered, 1))
        return true;
    if (++b->wasted > WASTED_MOST)
        drop(b);
    return false;
}

static void to_shadow(const struct gathering *b)
{
    const PetscScalar *next = b->gathered;

    (void)semcache_acquire(b->gathered, (size_t)b->rows * sizeof *b->gathered, SEMCACHE_READ);
    for (PetscInt i = 0; i < b->runs; next += b->run[i++].count)
        memcpy(b->shadow + b->run[i].first, next, (size_t)b->run[i].count * sizeof *next);
}

static void fetch(const struct border *b, size_t bytes, const void *elements, enum semcache_mode mode)
{
    for (int i = 0; i < b->spans; i++)
        (void)semcache_acquire((const char *)elements + (size_t)b->span[i].first * bytes,
                               (size_t)(b->span[i].end - b->span[i].first) * bytes, mode);
}

PetscErrorCode sc_petsc_border_begin(PetscSF sf, MPI_Datatype unit, const void **from, void *to,
                                     PetscErrorCode (*meanwhile)(void))
{
    struct gathering *g = NULL;
    PetscMPIInt bytes = 0;
    struct border *b;

    PetscFunctionBegin;
    PetscCall(plan_of(sf, unit, &bytes, &b));
    if (!b)
        PetscFunctionReturn(0);
    if (unit == sf->vscat.unit && b->gathering.runs && !b->gathering.from && gather(&b->gathering, *from))
        g = &b->gathering;
    PetscCall(meanwhile());
    if (!g) {
        fetch(b, (size_t)bytes, *from, SEMCACHE_READ);
        PetscFunctionReturn(0);
    }
    to_shadow(g);
    g->from = *from;
    g->to = to;
    *from = g->shadow;
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_border_end(PetscSF sf, const void **from, const void *to)
{
    struct border *b;

    PetscFunctionBegin;
    PetscCall(border_of(sf, 0, &b));
    if (b && b->gathering.from && b->gathering.from == *from && b->gathering.to == to) {
        *from = b->gathering.shadow;
        b->gathering.from = NULL;
    }
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_border_fetch(PetscSF sf, MPI_Datatype unit, const void *elements)
{
    PetscMPIInt bytes = 0;
    struct border *b;

    PetscFunctionBegin;
    PetscCall(plan_of(sf, unit, &bytes, &b));
    if (b)
        fetch(b, (size_t)bytes, elements, SEMCACHE_READWRITE);
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
