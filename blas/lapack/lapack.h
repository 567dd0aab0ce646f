/* Inside blas/: the LAPACK routines that are caught (lapack.c), and row interchanges on devices (laswp.c). */
#ifndef SC_BLAS_LAPACK_H
#define SC_BLAS_LAPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/types.h"

/* Pairs of rows (0-based, from the first row of `matrix`) to be exchanged one after the other in `cols` columns. */
struct sc_blas_interchange {
    enum sc_type type;
    void *matrix;
    int64_t cols, ld, count;
    const int64_t *row; /* [2 * count] */
};
/* On the devices, if the matrix lives there.  False: nothing was done. */
bool sc_blas_interchange_rows(const struct sc_blas_interchange *swap);

/* The arguments of ?larfb: H = I - V T V^H or its adjoint is applied to C, which is m x n. */
struct sc_blas_reflectors {
    enum sc_type type;
    char side, trans, direct, storev; /* upper case */
    int64_t m, n, k, ldv, ldt, ldc;
    const void *v, *t;
    void *c;
};
/* By products, on the devices if the first of them goes there.  False: nothing was done. */
bool sc_blas_apply_reflectors(const struct sc_blas_reflectors *block);

#endif
