/* Solves with the factors of ILU and LU, offered to the devices.
 *
 * PETSc stores both factors in one pair of arrays: first the rows of L, then the rows of U from the last to the first.
 * A row of U ends with the inverse of its diagonal.  Devices read L as it lies in memory.  U is copied, by rows. */
#include "adapters/petsc/adapter.h"

#include <stdlib.h>
#include <string.h>

#include <petsc/private/pcimpl.h>

/* Applications before the first offer: libsemcache counts the rows that wait for each other, and U is copied, in the
 * time of about two applications. */
#define APPLICATIONS 40

/* Solves with L whose solves with U are declined.  libsemcache declines the first offers of a matrix, until the matrix
 * has been used often enough for an upload. */
#define WASTED_MOST 40

/* Largest difference from PETSc's result, in the largest element. */
#define DIFFERENCE (sizeof(PetscReal) == sizeof(float) ? 1e-3 : 1e-8)

struct factors {
    PetscInt n;
    int64_t applications, wasted;
    PetscObjectState copied;     /* state of the factor when U was copied; 0: never */
    bool compared, refused;      /* with PETSc's result; different, or not as described above */
    PetscInt *start, *index;     /* U */
    PetscScalar *values, *work;
};

static const char attached[] = "semcache_factors";

static void drop_copy(struct factors *f)
{
    semcache_free(f->start);
    semcache_free(f->index);
    semcache_free(f->values);
    f->start = f->index = NULL;
    f->values = NULL;
    f->copied = 0;
}

static PetscErrorCode destroy(void *memory)
{
    struct factors *f = memory;

    PetscFunctionBegin;
    drop_copy(f);
    semcache_free(f->work);
    free(f);
    PetscFunctionReturn(0);
}

/* The data of the factored matrix F, made at the first call; NULL: not a matrix of this kind. */
static PetscErrorCode factors_of(Mat F, struct factors **out)
{
    PetscContainer container;
    PetscBool sequential;
    struct factors *f;

    PetscFunctionBegin;
    *out = NULL;
    PetscCall(PetscObjectQuery((PetscObject)F, attached, (PetscObject *)&container));
    if (container) {
        PetscCall(PetscContainerGetPointer(container, (void **)out));
        PetscFunctionReturn(0);
    }
    PetscCall(PetscObjectTypeCompare((PetscObject)F, MATSEQAIJ, &sequential));
    f = sequential ? calloc(1, sizeof *f) : NULL;
    if (!f)
        PetscFunctionReturn(0);
    PetscCall(MatGetLocalSize(F, &f->n, NULL));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, f));
    PetscCall(PetscContainerSetUserDestroy(container, destroy));
    PetscCall(PetscObjectCompose((PetscObject)F, attached, (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container)); /* F keeps a reference */
    *out = f;
    PetscFunctionReturn(0);
}

/* The arrays of F, of which `used` entries are in use. */
struct stored {
    const PetscInt *i, *j;
    PetscScalar *a;
    PetscInt used;
};

static PetscErrorCode stored_of(Mat F, struct stored *s)
{
    PetscMemType type;
    MatInfo info;

    PetscFunctionBegin;
    PetscCall(MatSeqAIJGetCSRAndMemType(F, &s->i, &s->j, &s->a, &type));
    PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
    s->used = (PetscInt)info.nz_used;
    PetscFunctionReturn(0);
}

/* Copies U.  False: no memory, or other storage. */
static bool copy_upper(struct factors *f, const struct stored *s)
{
    const PetscInt entries = s->used - s->i[f->n];
    PetscInt at = s->i[f->n], to = entries; /* the last row comes first */

    drop_copy(f);
    if (entries < f->n)
        return false;
    f->start = semcache_alloc((size_t)(f->n + 1) * sizeof *f->start);
    f->index = semcache_alloc((size_t)entries * sizeof *f->index);
    f->values = semcache_alloc((size_t)entries * sizeof *f->values);
    if (!f->start || !f->index || !f->values)
        return false;
    f->start[f->n] = entries;
    for (PetscInt row = f->n - 1; row >= 0; row--) {
        PetscInt first = at;

        while (at < s->used && s->j[at] != row)
            at++;
        if (at == s->used || s->a[at] == (PetscScalar)0)
            return false;
        at++;
        to -= at - first;
        memcpy(f->index + to, s->j + first, (size_t)(at - first) * sizeof *f->index);
        memcpy(f->values + to, s->a + first, (size_t)(at - first) * sizeof *f->values);
        f->values[to + at - first - 1] = (PetscScalar)1 / f->values[to + at - first - 1];
        f->start[row] = to;
    }
    return to == 0;
}

static struct semcache_sparse_arrays arrays_of(PetscInt n, const PetscInt *start, const PetscInt *index,
                                               const PetscScalar *values)
{
    return (struct semcache_sparse_arrays){.size = sizeof(struct semcache_sparse_arrays),
                                           .format = SEMCACHE_SPARSE_CSR, .type = SC_PETSC_TYPE,
                                           .index_bytes = sizeof(PetscInt), .rows = n, .cols = n, .start = start,
                                           .index = index, .values = values};
}

/* y := U^-1 L^-1 x on the devices. */
static PetscErrorCode solve(Mat F, struct factors *f, const PetscScalar *x, PetscScalar *y, bool *done)
{
    const struct sc_petsc_pair one = sc_petsc_pair(1);
    struct semcache_sparse_arrays lower, upper;
    PetscObjectState state;
    struct stored s;

    PetscFunctionBegin;
    PetscCall(stored_of(F, &s));
    PetscCall(PetscObjectStateGet((PetscObject)F, &state));
    lower = arrays_of(f->n, s.i, s.j, s.a);
    if (!f->work && !(f->work = semcache_alloc((size_t)f->n * sizeof *f->work)))
        f->refused = true;
    if (f->refused || s.used <= s.i[f->n] || !semcache_try_solve(&lower, 'N', 'L', 1, one.part, x, f->work))
        PetscFunctionReturn(0);
    if (f->copied != state) {
        f->refused = !copy_upper(f, &s);
        f->copied = state;
    }
    upper = arrays_of(f->n, f->start, f->index, f->values);
    *done = !f->refused && semcache_try_solve(&upper, 'N', 'U', 0, one.part, f->work, y);
    f->refused = !*done && ++f->wasted > WASTED_MOST;
    PetscFunctionReturn(0);
}

/* Compares the first result with PETSc's, which becomes the result.  Factors in another order are refused from now
 * on. */
static PetscErrorCode compare(PC pc, sc_petsc_apply *own, struct factors *f, Vec x, Vec y)
{
    Vec ours;
    PetscReal difference, largest;

    PetscFunctionBegin;
    PetscCall(VecDuplicate(y, &ours));
    PetscCall(VecCopy(y, ours));
    PetscCall(sc_petsc_come_home(x, y));
    PetscCall(own(pc, x, y));
    PetscCall(VecNorm(y, NORM_INFINITY, &largest));
    PetscCall(VecAXPY(ours, -1, y));
    PetscCall(VecNorm(ours, NORM_INFINITY, &difference));
    PetscCall(VecDestroy(&ours));
    f->compared = true;
    f->refused = !(difference <= DIFFERENCE * largest);
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_solve(PC pc, sc_petsc_apply *own, Vec x, Vec y, bool *done)
{
    PetscScalar *at_x, *at_y;
    struct factors *f = NULL;
    Mat F = NULL;

    PetscFunctionBegin;
    *done = false;
    PetscCall(PCFactorGetMatrix(pc, &F));
    if (F)
        PetscCall(factors_of(F, &f));
    if (!f || f->refused || x == y || ++f->applications <= APPLICATIONS)
        PetscFunctionReturn(0);
    PetscCall(sc_petsc_array(y, SC_PETSC_WRITE, &at_y));
    PetscCall(sc_petsc_array(x, SC_PETSC_READ, &at_x));
    PetscCall(solve(F, f, at_x, at_y, done));
    PetscCall(sc_petsc_array_back(x, SC_PETSC_READ, &at_x));
    PetscCall(sc_petsc_array_back(y, SC_PETSC_WRITE, &at_y));
    if (*done && !f->compared)
        PetscCall(compare(pc, own, f, x, y));
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
