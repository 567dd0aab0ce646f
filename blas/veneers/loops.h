/* The BLAS without a library, as a last resort (loops.c, compute.c). */
#ifndef SC_BLAS_LOOPS_H
#define SC_BLAS_LOOPS_H

#include "blas/blas_int.h"

/* Runs the operation by its definition, in the calling thread, on host memory.  Sizes, leading dimensions and
 * increments are arbitrary, modulo 2^64.  The arguments are valid; n, and m if the operation has an m, are above 0.
 * `conj` is ignored. */
void sc_blas_loops(const struct sc_kernel *k);

/* Computes a Fortran call (order SC_BLAS_FORTRAN), with its result in call->result.  Uses other routines of the host
 * BLAS where they make up the call (gemmt, gemm3m, axpby), else loops.  For an invalid argument passes its position
 * to xerbla_, as Fortran counts, and computes nothing.  Thread safe. */
void sc_blas_compute(struct sc_blas_call *call);

/* The Fortran routines computed in this way ([1]: with 64-bit integers).  Complex functions return by value.
 * Generated. */
extern const sc_blas_fn sc_blas_computed[2][SC_TRACE_ROUTINES_MAX];

/* rotg and rotmg, which struct sc_blas_call cannot describe, with Fortran's arguments. */
void sc_blas_srotg(float *a, float *b, float *c, float *s);
void sc_blas_drotg(double *a, double *b, double *c, double *s);
void sc_blas_crotg(void *a, void *b, float *c, void *s);
void sc_blas_zrotg(void *a, void *b, double *c, void *s);
void sc_blas_srotmg(float *d1, float *d2, float *x1, const float *y1, float *param);
void sc_blas_drotmg(double *d1, double *d2, double *x1, const double *y1, double *param);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
