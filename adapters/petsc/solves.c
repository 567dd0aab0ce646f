/* What the solves with a factored matrix (factors.c) and the relaxation of a matrix (relaxation.c) share: data attached
 * to the matrix, the rules of the offers, and the comparison with PETSc's result. */
#include "adapters/petsc/adapter.h"

#include <stdlib.h>

/* Applications before the first offer.  Copies, and the chain of the matrix (sparse/README.md, rule 13), take the time
 * of about two applications. */
#define APPLICATIONS 40

/* First solves of an application whose later solves are declined.  libsemcache declines the first offers of a matrix,
 * until the matrix has been used often enough for an upload. */
#define WASTED_MOST 40

/* Largest difference from PETSc's result, in the largest element. */
#define DIFFERENCE (sizeof(PetscReal) == sizeof(float) ? 1e-3 : 1e-8)

static const char attached[] = "semcache_solves";

void sc_petsc_solves_drop(struct sc_petsc_solves *s)
{
    semcache_free(s->start);
    semcache_free(s->index);
    semcache_free(s->values);
    semcache_free(s->diagonal);
    s->start = s->index = NULL;
    s->values = s->diagonal = NULL;
    s->copied = 0;
}

static PetscErrorCode destroy(void *memory)
{
    struct sc_petsc_solves *s = memory;

    PetscFunctionBegin;
    sc_petsc_solves_drop(s);
    semcache_free(s->work[0]);
    semcache_free(s->work[1]);
    free(s);
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_solves_of(Mat a, struct sc_petsc_solves **out)
{
    PetscContainer container;
    struct sc_petsc_solves *s;

    PetscFunctionBegin;
    *out = NULL;
    PetscCall(PetscObjectQuery((PetscObject)a, attached, (PetscObject *)&container));
    if (container) {
        PetscCall(PetscContainerGetPointer(container, (void **)out));
        PetscFunctionReturn(0);
    }
    s = calloc(1, sizeof *s);
    if (!s)
        PetscFunctionReturn(0);
    PetscCall(MatGetLocalSize(a, &s->n, NULL));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, s));
    PetscCall(PetscContainerSetUserDestroy(container, destroy));
    PetscCall(PetscObjectCompose((PetscObject)a, attached, (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container)); /* the matrix keeps a reference */
    *out = s;
    PetscFunctionReturn(0);
}

bool sc_petsc_solves_offered(struct sc_petsc_solves *s)
{
    if (!s || s->refused || ++s->applications <= APPLICATIONS)
        return false;
    for (int i = 0; i < 2; i++)
        if (!s->work[i] && !(s->work[i] = semcache_alloc((size_t)s->n * sizeof *s->work[i])))
            s->refused = true;
    return !s->refused;
}

void sc_petsc_solves_wasted(struct sc_petsc_solves *s)
{
    s->refused = s->refused || ++s->wasted > WASTED_MOST;
}

PetscErrorCode sc_petsc_solves_compare(struct sc_petsc_solves *s, unsigned use, Vec theirs, Vec ours)
{
    PetscReal difference, largest;

    PetscFunctionBegin;
    PetscCall(VecNorm(theirs, NORM_INFINITY, &largest));
    PetscCall(VecAXPY(ours, -1, theirs));
    PetscCall(VecNorm(ours, NORM_INFINITY, &difference));
    PetscCall(VecCopy(theirs, ours));
    s->compared |= use;
    s->refused = !(difference <= DIFFERENCE * largest);
    PetscFunctionReturn(0);
}

struct semcache_sparse_arrays sc_petsc_csr(PetscInt rows, PetscInt cols, const PetscInt *start, const PetscInt *index,
                                           const PetscScalar *values)
{
    return (struct semcache_sparse_arrays){.size = sizeof(struct semcache_sparse_arrays),
                                           .format = SEMCACHE_SPARSE_CSR, .type = SC_PETSC_TYPE,
                                           .index_bytes = sizeof(PetscInt), .rows = rows, .cols = cols, .start = start,
                                           .index = index, .values = values};
}
/* SPDX-License-Identifier: BSD-2-Clause */
