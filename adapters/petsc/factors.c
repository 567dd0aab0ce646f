/* Solves with the factors of ILU, LU, ICC and Cholesky, offered to the devices.
 *
 * PETSc stores the factors L U in one pair of arrays: first the rows of L, then the rows of U from the last to the
 * first.  A row of U ends with the inverse of its diagonal.  Devices read L as L lies in memory.  U is copied, by rows.
 *
 * Of the factors U^T D U PETSc stores the rows of -U without the ones of the diagonal.  A row ends with the inverse of
 * D's element.  The values of U and the inverse of D are copied. */
#include "adapters/petsc/adapter.h"

#include <string.h>

#include <petsc/private/petscimpl.h>

/* The arrays of a factored matrix, of which `used` entries are in use. */
struct stored {
    const PetscInt *i, *j;
    PetscScalar *a;
    PetscInt used;
};

static PetscErrorCode stored_of(Mat F, bool symmetric, struct stored *s)
{
    PetscScalar *values;
    PetscMemType type;
    PetscInt rows;
    PetscBool done;
    MatInfo info;

    PetscFunctionBegin;
    if (symmetric) {
        PetscCall(MatGetRowIJ(F, 0, PETSC_FALSE, PETSC_TRUE, &rows, &s->i, &s->j, &done));
        PetscCall(MatSeqSBAIJGetArray(F, &values));
        s->a = values;
        s->used = s->i[rows];
        PetscCall(MatSeqSBAIJRestoreArray(F, &values));
    } else {
        PetscCall(MatSeqAIJGetCSRAndMemType(F, &s->i, &s->j, &s->a, &type));
        PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
        s->used = (PetscInt)info.nz_used;
    }
    PetscFunctionReturn(0);
}

/* Copies U of L U.  False: no memory, or other storage. */
static bool copy_upper(struct sc_petsc_solves *f, const struct stored *s)
{
    const PetscInt entries = s->used - s->i[f->n];
    PetscInt at = s->i[f->n], to = entries; /* the last row comes first */

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

/* Copies the values of U^T D U.  False: no memory, or other storage. */
static bool copy_symmetric(struct sc_petsc_solves *f, const struct stored *s)
{
    f->values = semcache_alloc((size_t)s->used * sizeof *f->values);
    f->diagonal = semcache_alloc((size_t)f->n * sizeof *f->diagonal);
    if (!f->values || !f->diagonal)
        return false;
    for (PetscInt row = 0; row < f->n; row++) {
        const PetscInt last = s->i[row + 1] - 1;

        if (last < s->i[row] || s->j[last] != row)
            return false;
        for (PetscInt at = s->i[row]; at < last; at++)
            f->values[at] = -s->a[at];
        f->values[last] = 1;
        f->diagonal[row] = s->a[last];
    }
    return true;
}

/* Copies what the devices do not read in PETSc's arrays, after each factorization. */
static PetscErrorCode renew(Mat F, struct sc_petsc_solves *f, bool (*copy)(struct sc_petsc_solves *,
                                                                          const struct stored *),
                            const struct stored *s)
{
    PetscObjectState state;

    PetscFunctionBegin;
    PetscCall(PetscObjectStateGet((PetscObject)F, &state));
    if (f->copied != state) {
        sc_petsc_solves_drop(f);
        f->refused = !copy(f, s);
        f->copied = state;
    }
    PetscFunctionReturn(0);
}

/* y := U^-1 L^-1 x on the devices.  U is copied when the devices solve with L. */
static PetscErrorCode solve_lu(Mat F, struct sc_petsc_solves *f, const PetscScalar *x, PetscScalar *y, bool *done)
{
    const struct sc_petsc_pair one = sc_petsc_pair(1);
    struct semcache_sparse_arrays lower, upper;
    struct stored s;

    PetscFunctionBegin;
    PetscCall(stored_of(F, false, &s));
    lower = sc_petsc_csr(f->n, f->n, s.i, s.j, s.a);
    if (s.used <= s.i[f->n] || !semcache_try_solve(&lower, 'N', 'L', 1, one.part, x, f->work[0]))
        PetscFunctionReturn(0);
    PetscCall(renew(F, f, copy_upper, &s));
    upper = sc_petsc_csr(f->n, f->n, f->start, f->index, f->values);
    *done = !f->refused && semcache_try_solve(&upper, 'N', 'U', 0, one.part, f->work[0], y);
    if (!*done)
        sc_petsc_solves_wasted(f);
    PetscFunctionReturn(0);
}

/* y := U^-1 D^-1 U^-T x on the devices. */
static PetscErrorCode solve_symmetric(Mat F, struct sc_petsc_solves *f, const PetscScalar *x, PetscScalar *y,
                                      bool *done)
{
    const struct sc_petsc_pair one = sc_petsc_pair(1);
    struct semcache_sparse_arrays upper;
    struct stored s;

    PetscFunctionBegin;
    PetscCall(stored_of(F, true, &s));
    PetscCall(renew(F, f, copy_symmetric, &s));
    upper = sc_petsc_csr(f->n, f->n, s.i, s.j, f->values);
    if (f->refused || !semcache_try_solve(&upper, 'T', 'U', 1, one.part, x, f->work[0]))
        PetscFunctionReturn(0);
    *done = semcache_try_multiply(f->n, SC_PETSC_TYPE, f->diagonal, f->work[0], f->work[1]) &&
            semcache_try_solve(&upper, 'N', 'U', 1, one.part, f->work[1], y);
    if (!*done)
        sc_petsc_solves_wasted(f);
    PetscFunctionReturn(0);
}

/* Compares the first result with PETSc's, which becomes the result.  Factors in another order are refused from now
 * on. */
static PetscErrorCode compare(PC pc, sc_petsc_apply *own, struct sc_petsc_solves *f, Vec x, Vec y)
{
    Vec theirs;

    PetscFunctionBegin;
    PetscCall(VecDuplicate(y, &theirs));
    PetscCall(sc_petsc_fetch(x, SC_PETSC_READ));
    PetscCall(own(pc, x, theirs));
    PetscCall(sc_petsc_solves_compare(f, 1, theirs, y));
    PetscCall(VecDestroy(&theirs));
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_solve(PC pc, sc_petsc_apply *own, Vec x, Vec y, bool *done)
{
    struct sc_petsc_solves *f = NULL;
    PetscScalar *at_x, *at_y;
    PetscBool general = PETSC_FALSE, symmetric = PETSC_FALSE;
    PetscInt block = 0;
    Mat F = NULL;

    PetscFunctionBegin;
    *done = false;
    PetscCall(PCFactorGetMatrix(pc, &F));
    if (F) {
        PetscCall(PetscObjectTypeCompare((PetscObject)F, MATSEQAIJ, &general));
        PetscCall(PetscObjectTypeCompare((PetscObject)F, MATSEQSBAIJ, &symmetric));
        PetscCall(MatGetBlockSize(F, &block));
    }
    if (general || (symmetric && block == 1))
        PetscCall(sc_petsc_solves_of(F, &f));
    if (x == y || !sc_petsc_solves_offered(f))
        PetscFunctionReturn(0);
    PetscCall(sc_petsc_array(y, SC_PETSC_WRITE, &at_y));
    PetscCall(sc_petsc_array(x, SC_PETSC_READ, &at_x));
    PetscCall((symmetric ? solve_symmetric : solve_lu)(F, f, at_x, at_y, done));
    PetscCall(sc_petsc_array_back(x, SC_PETSC_READ, &at_x));
    PetscCall(sc_petsc_array_back(y, SC_PETSC_WRITE, &at_y));
    if (*done && !f->compared)
        PetscCall(compare(pc, own, f, x, y));
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
