/* SLEPc's bases of vectors, if the adapter was built with SLEPc's headers and SLEPc is in the process.  SLEPc restarts
 * a method in steps of 64 rows, which would bring the basis home.  All further operations of a basis are calls of the
 * BLAS. */
#include "adapters/petsc/adapter.h"
#include "adapters/weak.h"

#if defined(__has_include)
#if __has_include(<slepc/private/bvimpl.h>)
#define HAS_SLEPC 1
#endif
#endif

#if HAS_SLEPC
#include <stdlib.h>

#include <petscblaslapack.h>
#include <slepc/private/bvimpl.h>

#pragma weak BVInitializePackage
#pragma weak BVList
#pragma weak BVRegister
#pragma weak SlepcGetVersionNumber

static PetscErrorCode (*create_svec)(BV); /* SLEPc's own */
static PetscErrorCode (*their_product)(BV, Mat, PetscInt, PetscInt);
static PetscErrorCode (*their_copy)(BV, PetscInt, PetscInt);

/* Smaller bases, and bases without a device, are SLEPc's. */
static bool is_large(BV v) { return v->n >= 8192 && semcache_device_count() > 0; }

/* Columns [first, first + count) of V := V Q, by a second array. */
static PetscErrorCode product(BV v, PetscScalar *columns, const PetscScalar *q, PetscInt ld, PetscInt first,
                              PetscInt count, PetscScalar *result)
{
    const PetscScalar one = 1, zero = 0;
    const PetscBLASInt step = 1;
    PetscBLASInt rows, inner, outer, ldq, elements;

    PetscFunctionBegin;
    PetscCall(PetscBLASIntCast(v->n, &rows));
    PetscCall(PetscBLASIntCast(v->k - v->l, &inner));
    PetscCall(PetscBLASIntCast(count, &outer));
    PetscCall(PetscBLASIntCast(ld, &ldq));
    PetscCall(PetscBLASIntCast(v->n * count, &elements));
    PetscCallBLAS("BLASgemm", BLASgemm_("N", "N", &rows, &outer, &inner, &one, columns, &rows, q + first * ld, &ldq,
                                        &zero, result, &rows));
    PetscCallBLAS("BLAScopy", BLAScopy_(&elements, result, &step, columns + first * v->n, &step));
    PetscFunctionReturn(0);
}

static PetscErrorCode multiply_in_place(BV v, Mat q, PetscInt first, PetscInt end)
{
    const PetscScalar *factors;
    PetscScalar *array, *result;
    PetscInt ld;

    PetscFunctionBegin;
    result = is_large(v) && end > first ? malloc((size_t)v->n * (size_t)(end - first) * sizeof *result) : NULL;
    if (!result) {
        PetscCall(their_product(v, q, first, end));
        PetscFunctionReturn(0);
    }
    PetscCall(MatDenseGetLDA(q, &ld));
    PetscCall(MatDenseGetArrayRead(q, &factors));
    PetscCall(v->ops->getarray(v, &array));
    PetscCall(product(v, array + (v->nc + v->l) * v->n, factors + v->l * ld + v->l, ld, first - v->l, end - first,
                      result));
    PetscCall(v->ops->restorearray(v, &array));
    PetscCall(MatDenseRestoreArrayRead(q, &factors));
    free(result);
    PetscFunctionReturn(0);
}

static PetscErrorCode copy_column(BV v, PetscInt from, PetscInt to)
{
    const PetscBLASInt step = 1;
    PetscBLASInt rows;
    PetscScalar *array;

    PetscFunctionBegin;
    if (!is_large(v) || from == to) {
        PetscCall(their_copy(v, from, to));
        PetscFunctionReturn(0);
    }
    PetscCall(PetscBLASIntCast(v->n, &rows));
    PetscCall(v->ops->getarray(v, &array));
    PetscCallBLAS("BLAScopy", BLAScopy_(&rows, array + (v->nc + from) * v->n, &step, array + (v->nc + to) * v->n,
                                        &step));
    PetscCall(v->ops->restorearray(v, &array));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_svec(BV v)
{
    PetscFunctionBegin;
    PetscCall(create_svec(v));
    if (v->ops->getarray && v->ops->restorearray && v->ops->multinplace && v->ops->copycolumn) {
        their_product = v->ops->multinplace;
        their_copy = v->ops->copycolumn;
        v->ops->multinplace = multiply_in_place;
        v->ops->copycolumn = copy_column;
    }
    PetscFunctionReturn(0);
}

/* The adapter knows the inner structures of one version of SLEPc. */
static PetscErrorCode is_version(bool *same)
{
    PetscInt major, minor, subminor, release;

    PetscFunctionBegin;
    PetscCall(SlepcGetVersionNumber(&major, &minor, &subminor, &release));
    *same = major == SLEPC_VERSION_MAJOR && minor == SLEPC_VERSION_MINOR;
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_register_eigen(void)
{
    bool same = false;

    PetscFunctionBegin;
    if (!BVInitializePackage || !BVRegister || !SlepcGetVersionNumber || !semcache_device_count)
        PetscFunctionReturn(0);
    PetscCall(is_version(&same));
    if (!same)
        PetscFunctionReturn(0);
    PetscCall(BVInitializePackage());
    PetscCall(PetscFunctionListFind(BVList, BVSVEC, &create_svec));
    if (create_svec)
        PetscCall(BVRegister(BVSVEC, make_svec));
    PetscFunctionReturn(0);
}
#else
PetscErrorCode sc_petsc_register_eigen(void) { return 0; }
#endif
/* SPDX-License-Identifier: BSD-2-Clause */
