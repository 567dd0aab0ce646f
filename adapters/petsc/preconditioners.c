/* Preconditioners that the host applies, unless the devices solve (factors.c, relaxation.c).  The vectors of an
 * application come home in one batch, and not by a fault for each part. */
#include "adapters/petsc/adapter.h"

#include <stddef.h>
#include <string.h>

#include <petsc/private/pcimpl.h>

typedef PetscErrorCode creator(PC);

static creator make_ilu, make_icc, make_lu, make_cholesky, make_sor, make_bjacobi;

static struct kind {
    const char *const type;
    creator *const make;
    creator *create; /* PETSc's own */
} kinds[] = {{PCILU, make_ilu, NULL}, {PCICC, make_icc, NULL}, {PCLU, make_lu, NULL},
             {PCCHOLESKY, make_cholesky, NULL}, {PCSOR, make_sor, NULL}, {PCBJACOBI, make_bjacobi, NULL}};

static sc_petsc_apply apply, transpose, left, right;

/* Operations from vector to vector.  PETSc's functions are composed with the preconditioner under these names. */
static const struct operation {
    const char *name;
    size_t place; /* in the table of the preconditioner's operations */
    sc_petsc_apply *ours;
} operations[] = {{"semcache_apply", offsetof(struct _PCOps, apply), apply},
                  {"semcache_transpose", offsetof(struct _PCOps, applytranspose), transpose},
                  {"semcache_left", offsetof(struct _PCOps, applysymmetricleft), left},
                  {"semcache_right", offsetof(struct _PCOps, applysymmetricright), right}};
enum { APPLY, TRANSPOSE, LEFT, RIGHT };

static const char their_setup[] = "semcache_their_setup";

static struct kind *kind_of(const char *type)
{
    struct kind *kind = kinds;

    while (strcmp(kind->type, type) != 0)
        kind++;
    return kind;
}

/* What the host reads and writes in this application.  The blocks of block Jacobi, and MatSOR of AIJ matrices
 * (relaxation.c), fetch what the host reads. */
static PetscErrorCode fetch(PC pc, Vec x, Vec y)
{
    PetscBool blocks, relaxation, offered = PETSC_FALSE;

    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &blocks));
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSOR, &relaxation));
    if (relaxation)
        PetscCall(PetscObjectTypeCompareAny((PetscObject)pc->pmat, &offered, MATSEQAIJ, MATMPIAIJ, ""));
    if (!blocks && !offered)
        PetscCall(sc_petsc_fetch(x, SC_PETSC_READ));
    if (!offered)
        PetscCall(sc_petsc_fetch(y, SC_PETSC_WRITE));
    PetscFunctionReturn(0);
}

static PetscErrorCode run(PC pc, int which, Vec x, Vec y)
{
    sc_petsc_apply *own;
    bool done = false;

    PetscFunctionBegin;
    PetscCall(PetscObjectQueryFunction((PetscObject)pc, operations[which].name, &own));
    if (which == APPLY && pc->ops->getfactoredmatrix)
        PetscCall(sc_petsc_solve(pc, own, x, y, &done));
    if (!done) {
        PetscCall(fetch(pc, x, y));
        PetscCall(own(pc, x, y));
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode apply(PC pc, Vec x, Vec y) { return run(pc, APPLY, x, y); }
static PetscErrorCode transpose(PC pc, Vec x, Vec y) { return run(pc, TRANSPOSE, x, y); }
static PetscErrorCode left(PC pc, Vec x, Vec y) { return run(pc, LEFT, x, y); }
static PetscErrorCode right(PC pc, Vec x, Vec y) { return run(pc, RIGHT, x, y); }

static PetscErrorCode replace(PC pc)
{
    PetscFunctionBegin;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const struct operation *o = &operations[i];
        sc_petsc_apply **now = (sc_petsc_apply **)(void *)((char *)pc->ops + o->place);

        if (*now && *now != o->ours) {
            PetscCall(PetscObjectComposeFunction((PetscObject)pc, o->name, *now));
            *now = o->ours;
        }
    }
    PetscFunctionReturn(0);
}

/* Block Jacobi chooses how to apply here. */
static PetscErrorCode setup(PC pc)
{
    PetscErrorCode (*own)(PC);

    PetscFunctionBegin;
    PetscCall(PetscObjectQueryFunction((PetscObject)pc, their_setup, &own));
    PetscCall(own(pc));
    PetscCall(replace(pc));
    PetscFunctionReturn(0);
}

static PetscErrorCode make(PC pc, const char *type)
{
    PetscFunctionBegin;
    PetscCall(kind_of(type)->create(pc));
    PetscCall(replace(pc));
    if (pc->ops->setup) {
        PetscCall(PetscObjectComposeFunction((PetscObject)pc, their_setup, pc->ops->setup));
        pc->ops->setup = setup;
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode make_ilu(PC pc) { return make(pc, PCILU); }
static PetscErrorCode make_icc(PC pc) { return make(pc, PCICC); }
static PetscErrorCode make_lu(PC pc) { return make(pc, PCLU); }
static PetscErrorCode make_cholesky(PC pc) { return make(pc, PCCHOLESKY); }
static PetscErrorCode make_sor(PC pc) { return make(pc, PCSOR); }
static PetscErrorCode make_bjacobi(PC pc) { return make(pc, PCBJACOBI); }

PetscErrorCode sc_petsc_register_preconditioners(void)
{
    PetscFunctionBegin;
    PetscCall(PCInitializePackage());
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        PetscCall(PetscFunctionListFind(PCList, kinds[i].type, &kinds[i].create));
        if (kinds[i].create)
            PetscCall(PCRegister(kinds[i].type, kinds[i].make));
    }
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
