/* CHOLMOD's product of a sparse and a dense matrix, offered to the devices.  A declined product is CHOLMOD's. */
#include <stdbool.h>
#include <stdint.h>

#include <cholmod.h>

#include "adapters/preload.h"

/* Smaller matrices are not offered: asking would take more than a twentieth of the time of the product. */
#define LEAST_ENTRIES 20000

typedef int product(cholmod_sparse *, int, double *, double *, cholmod_dense *, cholmod_dense *, cholmod_common *);

/* The arguments are in order for CHOLMOD, in a form that the devices have. */
static bool is_suited(const cholmod_sparse *a, bool transposed, const cholmod_dense *x, const cholmod_dense *y,
                      const cholmod_common *common, int itype)
{
    const size_t inputs = transposed ? a->nrow : a->ncol, outputs = transposed ? a->ncol : a->nrow;

    return common->itype == itype && a->itype == itype && a->packed && a->dtype == CHOLMOD_DOUBLE &&
           (a->xtype == CHOLMOD_REAL || a->xtype == CHOLMOD_COMPLEX) && x->xtype == a->xtype && y->xtype == a->xtype &&
           x->dtype == CHOLMOD_DOUBLE && y->dtype == CHOLMOD_DOUBLE && x->nrow == inputs && y->nrow == outputs &&
           x->ncol == y->ncol && x->d >= inputs && y->d >= outputs && x->x != y->x &&
           (!a->stype || a->nrow == a->ncol);
}

static int64_t entries(const cholmod_sparse *a)
{
    return a->itype == CHOLMOD_LONG ? ((const int64_t *)a->p)[a->ncol] : ((const int32_t *)a->p)[a->ncol];
}

static bool offer(const cholmod_sparse *a, bool transposed, const double alpha[2], const double beta[2],
                  const cholmod_dense *x, const cholmod_dense *y)
{
    const bool is_complex = a->xtype == CHOLMOD_COMPLEX;
    const struct semcache_sparse_arrays arrays = {
        .size = sizeof arrays, .format = SEMCACHE_SPARSE_CSC,
        .type = is_complex ? SEMCACHE_COMPLEX128 : SEMCACHE_FLOAT64, .index_bytes = a->itype == CHOLMOD_LONG ? 8 : 4,
        .rows = (int64_t)a->nrow, .cols = (int64_t)a->ncol, .start = a->p, .index = a->i, .values = a->x,
        .stored = !a->stype      ? SEMCACHE_SPARSE_ALL
                  : a->stype > 0 ? SEMCACHE_SPARSE_HERMITIAN_UPPER
                                 : SEMCACHE_SPARSE_HERMITIAN_LOWER};

    return semcache_try_sparse_columns(&arrays, transposed ? 'C' : 'N', (int64_t)x->ncol, alpha, x->x, (int64_t)x->d,
                                       beta, y->x, (int64_t)y->d);
}

static int multiply(product *own, int itype, cholmod_sparse *a, int transpose, double *alpha, double *beta,
                    cholmod_dense *x, cholmod_dense *y, cholmod_common *common)
{
    if (semcache_try_sparse_columns && common && a && alpha && beta && x && y &&
        is_suited(a, transpose, x, y, common, itype) && entries(a) >= LEAST_ENTRIES &&
        offer(a, transpose, alpha, beta, x, y)) {
        common->status = CHOLMOD_OK;
        return true;
    }
    return own ? own(a, transpose, alpha, beta, x, y, common) : false;
}

SC_ADAPTER_NAME int cholmod_sdmult(cholmod_sparse *a, int transpose, double alpha[2], double beta[2], cholmod_dense *x,
                                   cholmod_dense *y, cholmod_common *common)
{
    static product *own;

    return multiply(SC_ADAPTER_NEXT(own, "cholmod_sdmult"), CHOLMOD_INT, a, transpose, alpha, beta, x, y, common);
}

SC_ADAPTER_NAME int cholmod_l_sdmult(cholmod_sparse *a, int transpose, double *alpha, double *beta,
                                     cholmod_dense *x, cholmod_dense *y, cholmod_common *common)
{
    static product *own;

    return multiply(SC_ADAPTER_NEXT(own, "cholmod_l_sdmult"), CHOLMOD_LONG, a, transpose, alpha, beta, x, y, common);
}
/* SPDX-License-Identifier: BSD-2-Clause */
