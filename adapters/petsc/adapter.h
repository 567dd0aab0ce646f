/* Shared by the files of the adapter for PETSc. */
#ifndef SC_ADAPTERS_PETSC_ADAPTER_H
#define SC_ADAPTERS_PETSC_ADAPTER_H

#include <stdbool.h>

#include <petscmat.h>
#include <petscpc.h>
#include <petscvec.h>

#include "semcache/semcache.h"

#if defined(PETSC_USE_COMPLEX)
#define SC_PETSC_TYPE (sizeof(PetscReal) == sizeof(float) ? SEMCACHE_COMPLEX64 : SEMCACHE_COMPLEX128)
#else
#define SC_PETSC_TYPE (sizeof(PetscReal) == sizeof(float) ? SEMCACHE_FLOAT32 : SEMCACHE_FLOAT64)
#endif

/* Scalars of semcache.h. */
struct sc_petsc_pair {
    double part[2];
};
static inline struct sc_petsc_pair sc_petsc_pair(PetscScalar value)
{
    return (struct sc_petsc_pair){{(double)PetscRealPart(value), (double)PetscImaginaryPart(value)}};
}

#if defined(PETSC_USE_COMPLEX)
#define SC_PETSC_SCALAR(part) ((PetscScalar)PetscCMPLX((PetscReal)(part)[0], (PetscReal)(part)[1]))
#else
#define SC_PETSC_SCALAR(part) ((PetscScalar)(part)[0])
#endif

/* Arrays of vectors.  The same vector may be asked for twice: an array that is written is asked for first.  The array
 * of a vector goes back by the same kind of call. */
enum sc_petsc_use { SC_PETSC_READ, SC_PETSC_WRITE, SC_PETSC_UPDATE };
PetscErrorCode sc_petsc_array(Vec v, enum sc_petsc_use use, PetscScalar **array);
PetscErrorCode sc_petsc_array_back(Vec v, enum sc_petsc_use use, PetscScalar **array);

/* Registers the types "seq" and "mpi" of vectors and "seqaij" of matrices again, with operations that are offered to
 * libsemcache. */
PetscErrorCode sc_petsc_register_vectors(void);
PetscErrorCode sc_petsc_register_matrices(void);
/* Registers again the exchange between ranks, by which elements of vectors are sent. */
PetscErrorCode sc_petsc_register_exchange(void);
/* Registers SLEPc's bases of vectors again, where there is SLEPc. */
PetscErrorCode sc_petsc_register_eigen(void);
/* Registers again the preconditioners that the host applies (ILU, ICC, LU, Cholesky, SOR, block Jacobi). */
PetscErrorCode sc_petsc_register_preconditioners(void);

typedef PetscErrorCode sc_petsc_apply(PC, Vec, Vec);
/* Fetches x, and opens y for writing. */
PetscErrorCode sc_petsc_come_home(Vec x, Vec y);
/* Applies ILU or LU by the devices.  own: PETSc's function.  *done: y is the result. */
PetscErrorCode sc_petsc_solve(PC pc, sc_petsc_apply *own, Vec x, Vec y, bool *done);

/* w := alpha x + beta y, of local elements; y of NULL: w := alpha x.  w may be x or y.  *done: the devices compute. */
PetscErrorCode sc_petsc_combine(Vec w, PetscScalar alpha, Vec x, PetscScalar beta, Vec y, bool *done);

/* z := op(A) x, or y + op(A) x if y is not NULL.  *done: the devices compute; otherwise PETSc overwrites z. */
PetscErrorCode sc_petsc_product(const struct semcache_sparse_arrays *arrays, char op, Vec x, Vec y, Vec z, bool *done);
typedef PetscErrorCode sc_petsc_mult(Mat, Vec, Vec);
typedef PetscErrorCode sc_petsc_mult_add(Mat, Vec, Vec, Vec);
/* Registers "seqbaij" and "seqsbaij" again. */
PetscErrorCode sc_petsc_register_blocks(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
