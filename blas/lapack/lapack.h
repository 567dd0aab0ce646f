/* Inside blas/: the interposed LAPACK routines (lapack.c, larfb.c) and row interchanges on devices (laswp.c). */
#ifndef SC_BLAS_LAPACK_H
#define SC_BLAS_LAPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/types.h"

/* Pairs of rows to exchange in order, in `cols` columns.  Row numbers are 0-based, from the first row of `matrix`. */
struct sc_blas_interchange {
    enum sc_type type;
    void *matrix;
    int64_t cols, ld, count;
    const int64_t *row; /* [2 * count] */
};
/* Exchanges the rows on the devices, if the matrix is resident there.  False: nothing was done. */
bool sc_blas_interchange_rows(const struct sc_blas_interchange *swap);

/* The arguments of ?larfb: applies H = I - V T V^H or its adjoint to the m x n matrix C. */
struct sc_blas_reflectors {
    enum sc_type type;
    char side, trans, direct, storev; /* upper case */
    int64_t m, n, k, ldv, ldt, ldc;
    const void *v, *t;
    void *c;
};
/* Applies the reflectors by matrix products, if the first product goes to the devices.  False: nothing was done. */
bool sc_blas_apply_reflectors(const struct sc_blas_reflectors *block);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
