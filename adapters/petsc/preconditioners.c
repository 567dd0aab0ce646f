/* Preconditioners that the host applies, unless the devices take the solves of ILU and LU (factors.c).  The vectors of
 * an application come home in one batch, and not by a fault for each part. */
#include "adapters/petsc/adapter.h"

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

/* Names of PETSc's operations of a preconditioner, which are composed with the preconditioner. */
static const char their_apply[] = "semcache_their_apply", their_setup[] = "semcache_their_setup";

static struct kind *kind_of(const char *type)
{
    struct kind *kind = kinds;

    while (strcmp(kind->type, type) != 0)
        kind++;
    return kind;
}

static PetscErrorCode open_result(Vec y)
{
    PetscScalar *at_y;
    PetscInt n;

    PetscFunctionBegin;
    PetscCall(VecGetLocalSize(y, &n));
    PetscCall(sc_petsc_array(y, SC_PETSC_UPDATE, &at_y));
    (void)semcache_acquire(at_y, (size_t)n * sizeof *at_y, SEMCACHE_WRITE);
    PetscCall(sc_petsc_array_back(y, SC_PETSC_UPDATE, &at_y));
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_come_home(Vec x, Vec y)
{
    PetscScalar *at_x;
    PetscInt n;

    PetscFunctionBegin;
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(sc_petsc_array(x, SC_PETSC_READ, &at_x));
    (void)semcache_acquire(at_x, (size_t)n * sizeof *at_x, SEMCACHE_READ);
    PetscCall(sc_petsc_array_back(x, SC_PETSC_READ, &at_x));
    PetscCall(open_result(y));
    PetscFunctionReturn(0);
}

static PetscErrorCode apply(PC pc, Vec x, Vec y)
{
    sc_petsc_apply *own;
    PetscBool factors, blocks;
    bool done = false;

    PetscFunctionBegin;
    PetscCall(PetscObjectQueryFunction((PetscObject)pc, their_apply, &own));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &factors, PCILU, PCLU, ""));
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &blocks));
    if (factors)
        PetscCall(sc_petsc_solve(pc, own, x, y, &done));
    if (done)
        PetscFunctionReturn(0);
    if (blocks) /* PETSc clears y, and the preconditioner of a block fetches what the host needs of x */
        PetscCall(open_result(y));
    else
        PetscCall(sc_petsc_come_home(x, y));
    PetscCall(own(pc, x, y));
    PetscFunctionReturn(0);
}

static PetscErrorCode replace_apply(PC pc)
{
    PetscFunctionBegin;
    if (pc->ops->apply && pc->ops->apply != apply) {
        PetscCall(PetscObjectComposeFunction((PetscObject)pc, their_apply, pc->ops->apply));
        pc->ops->apply = apply;
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
    PetscCall(replace_apply(pc));
    PetscFunctionReturn(0);
}

static PetscErrorCode make(PC pc, const char *type)
{
    PetscFunctionBegin;
    PetscCall(kind_of(type)->create(pc));
    PetscCall(replace_apply(pc));
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
