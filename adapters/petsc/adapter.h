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
/* Fetches the local elements of v in one batch, for this use by the host. */
PetscErrorCode sc_petsc_fetch(Vec v, enum sc_petsc_use use);

/* Registers the types "seq" and "mpi" of vectors and "seqaij" of matrices again, with operations that are offered to
 * libsemcache. */
PetscErrorCode sc_petsc_register_vectors(void);
PetscErrorCode sc_petsc_register_matrices(void);
/* Registers again the exchange between ranks, by which elements of vectors are sent. */
PetscErrorCode sc_petsc_register_exchange(void);
/* Brings the elements home that an exchange sends, run by run or gathered by the devices.  *from becomes the place that
 * PETSc reads instead of the vector, or stays.  The end of the exchange gets the same place.  meanwhile: called if the
 * elements may be away, after the devices have got the gathering, and before the wait for the elements. */
PetscErrorCode sc_petsc_border_begin(PetscSF sf, MPI_Datatype unit, const void **from, void *to,
                                     PetscErrorCode (*meanwhile)(void));
PetscErrorCode sc_petsc_border_end(PetscSF sf, const void **from, const void *to);
/* Brings the elements home to which an exchange adds. */
PetscErrorCode sc_petsc_border_fetch(PetscSF sf, MPI_Datatype unit, const void *elements);
/* The exchange gets other elements, or ends. */
PetscErrorCode sc_petsc_border_forget(PetscSF sf);
/* Registers SLEPc's bases of vectors again, where there is SLEPc. */
PetscErrorCode sc_petsc_register_eigen(void);
/* Registers again the preconditioners that the host applies (ILU, ICC, LU, Cholesky, SOR, block Jacobi). */
PetscErrorCode sc_petsc_register_preconditioners(void);

typedef PetscErrorCode sc_petsc_apply(PC, Vec, Vec);
/* Applies ILU, LU, ICC or Cholesky by the devices.  own: PETSc's function.  *done: y is the result. */
PetscErrorCode sc_petsc_solve(PC pc, sc_petsc_apply *own, Vec x, Vec y, bool *done);

typedef PetscErrorCode sc_petsc_sor(Mat, Vec, PetscReal, MatSORType, PetscReal, PetscInt, PetscInt, Vec);
/* MatSOR of a sequential AIJ matrix by the devices, or by PETSc's function `own`. */
PetscErrorCode sc_petsc_relax(sc_petsc_sor *own, Mat a, Vec b, PetscReal omega, MatSORType flag, PetscReal fshift,
                              PetscInt sweeps, Vec x);

/* --- solves.c: triangular solves that PETSc does in loops of its own ---------------------------------------------- */

/* Data of a matrix whose solves are offered to the devices.  The data is destroyed with the matrix. */
struct sc_petsc_solves {
    PetscInt n;
    int64_t applications, wasted;
    PetscObjectState copied; /* state of the matrix when the arrays below were copied; 0: never */
    unsigned compared;       /* set of uses whose first result was compared with PETSc's */
    bool refused;            /* a result differed, the storage is unknown, or memory is missing */
    PetscInt *start, *index; /* copies for the devices, or NULL; see factors.c and relaxation.c */
    PetscScalar *values, *diagonal;
    PetscReal omega; /* the factor of relaxation in the copies */
    PetscScalar *work[2];
};

/* The data of a matrix, made at the first call.  *out of NULL: no memory. */
PetscErrorCode sc_petsc_solves_of(Mat a, struct sc_petsc_solves **out);
/* Counts an application.  Whether the application is offered to the devices; the vectors of work are there then. */
bool sc_petsc_solves_offered(struct sc_petsc_solves *s);
/* Frees the copies. */
void sc_petsc_solves_drop(struct sc_petsc_solves *s);
/* A first solve was computed, and a later solve of the same application was declined. */
void sc_petsc_solves_wasted(struct sc_petsc_solves *s);
/* Compares a result with PETSc's, which becomes the result.  use: one bit.  If the results differ, nothing is offered
 * from now on. */
PetscErrorCode sc_petsc_solves_compare(struct sc_petsc_solves *s, unsigned use, Vec theirs, Vec ours);
/* Describes arrays of CSR, counted from 0. */
struct semcache_sparse_arrays sc_petsc_csr(PetscInt rows, PetscInt cols, const PetscInt *start, const PetscInt *index,
                                           const PetscScalar *values);

/* w := alpha x + beta y, of local elements; y of NULL: w := alpha x.  w may be x or y.  *done: the devices compute. */
PetscErrorCode sc_petsc_combine(Vec w, PetscScalar alpha, Vec x, PetscScalar beta, Vec y, bool *done);

/* z := op(A) x, or y + op(A) x if y is not NULL.  *done: the devices compute; otherwise PETSc overwrites z. */
PetscErrorCode sc_petsc_product(const struct semcache_sparse_arrays *arrays, char op, Vec x, Vec y, Vec z, bool *done);
/* Offers the product of the rank's own block, if a product of a parallel matrix is under way and has not got so far:
 * the devices compute while the elements of other ranks travel. */
PetscErrorCode sc_petsc_product_ahead(void);
typedef PetscErrorCode sc_petsc_mult(Mat, Vec, Vec);
typedef PetscErrorCode sc_petsc_mult_add(Mat, Vec, Vec, Vec);
/* Registers "seqbaij" and "seqsbaij" again. */
PetscErrorCode sc_petsc_register_blocks(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
