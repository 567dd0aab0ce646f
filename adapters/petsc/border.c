/* Elements that other ranks receive, gathered by the devices.  A side of a box of the grid lies in many short runs,
 * each on a page or two.  Fetched run by run, a side would cost more time than the whole vector.  The devices gather
 * the elements by a product with a matrix that has one 1 in each row.  One transfer brings the elements home.
 *
 * PETSc packs elements of a vector.  The gathered elements go to a shadow of the vector, and PETSc packs from the
 * shadow.  Other pages of the shadow are never touched, and take no memory. */
#include "adapters/petsc/adapter.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <petsc/private/sfimpl.h>

#include "adapters/borders.h"

#define FEW_RUNS 8     /* so many runs are fetched one by one (borders.h) */
#define WASTED_MOST 40 /* declined offers: libsemcache declines the first offers of a matrix */

static const char attached[] = "semcache_border";

struct run {
    PetscInt first, count; /* elements of the vector */
};

/* Belongs to an exchange, and is destroyed with the exchange. */
struct border {
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

static size_t shadow_bytes(const struct border *b) { return (size_t)b->cols * sizeof *b->shadow; }

static void drop(struct border *b)
{
    free(b->run);
    semcache_free(b->start);
    semcache_free(b->index);
    semcache_free(b->ones);
    semcache_free(b->gathered);
    if (b->shadow)
        munmap(b->shadow, shadow_bytes(b));
    *b = (struct border){0};
}

static PetscErrorCode destroy(void *memory)
{
    PetscFunctionBegin;
    drop(memory);
    free(memory);
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

static bool allocate(struct border *b)
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
static PetscErrorCode fill(struct border *b, const PetscInt *numbers, PetscInt units, PetscInt block)
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

/* Few runs, no memory: drops the plan. */
static PetscErrorCode plan(PetscSF sf, struct border *b)
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

static PetscErrorCode border_of(PetscSF sf, bool make, struct border **out)
{
    PetscContainer container;

    PetscFunctionBegin;
    *out = NULL;
    PetscCall(PetscObjectQuery((PetscObject)sf, attached, (PetscObject *)&container));
    if (container) {
        PetscCall(PetscContainerGetPointer(container, (void **)out));
    } else if (make && (*out = calloc(1, sizeof **out))) {
        PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
        PetscCall(PetscContainerSetPointer(container, *out));
        PetscCall(PetscContainerSetUserDestroy(container, destroy));
        PetscCall(PetscObjectCompose((PetscObject)sf, attached, (PetscObject)container));
        PetscCall(PetscContainerDestroy(&container)); /* the exchange keeps a reference */
        PetscCall(plan(sf, *out));
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

static void to_shadow(const struct border *b)
{
    const PetscScalar *next = b->gathered;

    for (PetscInt i = 0; i < b->runs; next += b->run[i++].count)
        memcpy(b->shadow + b->run[i].first, next, (size_t)b->run[i].count * sizeof *next);
}

static bool gather(struct border *b, const void *from)
{
    const struct semcache_sparse_arrays arrays = sc_petsc_csr(b->rows, b->cols, b->start, b->index, b->ones);
    const struct sc_petsc_pair one = sc_petsc_pair(1), zero = sc_petsc_pair(0);

    if (!semcache_try_sparse(&arrays, 'N', 1, one.part, from, 1, zero.part, b->gathered, 1)) {
        if (++b->wasted > WASTED_MOST)
            drop(b);
        return false;
    }
    (void)semcache_acquire(b->gathered, (size_t)b->rows * sizeof *b->gathered, SEMCACHE_READ);
    to_shadow(b);
    return true;
}

PetscErrorCode sc_petsc_border_begin(PetscSF sf, MPI_Datatype unit, const void **from, void *to)
{
    struct border *b;

    PetscFunctionBegin;
    if (unit != sf->vscat.unit || sf->nroots < SC_ADAPTER_LEAST_PART || semcache_device_count() < 1)
        PetscFunctionReturn(0);
    PetscCall(border_of(sf, true, &b));
    if (b && b->runs && !b->from && gather(b, *from)) {
        b->from = *from;
        b->to = to;
        *from = b->shadow;
    }
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_border_end(PetscSF sf, const void **from, const void *to)
{
    struct border *b;

    PetscFunctionBegin;
    PetscCall(border_of(sf, false, &b));
    if (b && b->from && b->from == *from && b->to == to) {
        *from = b->shadow;
        b->from = NULL;
    }
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
