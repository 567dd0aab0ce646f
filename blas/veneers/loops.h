/* The BLAS without a library: the last resort (loops.c, compute.c). */
#ifndef SC_BLAS_LOOPS_H
#define SC_BLAS_LOOPS_H

#include "blas/blas_int.h"

/* Does the operation by its definition, in the calling thread, on memory of the host: any sizes, leading dimensions and
 * increments, modulo 2^64.  The arguments are valid (n, and m where there is one, above 0); `conj` is not looked at. */
void sc_blas_loops(const struct sc_kernel *k);

/* A Fortran call (order SC_BLAS_FORTRAN) with its result in call->result: by other routines of the host BLAS where
 * these make the call (gemmt, gemm3m, axpby), else by loops.  Of an argument that the standard does not allow xerbla_
 * is told the number, as Fortran counts; nothing is computed then.  Thread safe. */
void sc_blas_compute(struct sc_blas_call *call);

/* The Fortran routines made so ([1]: with 64-bit integers); complex functions return by value.  Generated. */
extern const sc_blas_fn sc_blas_computed[2][SC_TRACE_ROUTINES_MAX];

/* rotg and rotmg, which no struct sc_blas_call describes: as Fortran calls them. */
void sc_blas_srotg(float *a, float *b, float *c, float *s);
void sc_blas_drotg(double *a, double *b, double *c, double *s);
void sc_blas_crotg(void *a, void *b, float *c, void *s);
void sc_blas_zrotg(void *a, void *b, double *c, void *s);
void sc_blas_srotmg(float *d1, float *d2, float *x1, const float *y1, float *param);
void sc_blas_drotmg(double *d1, double *d2, double *x1, const double *y1, double *param);

#endif
