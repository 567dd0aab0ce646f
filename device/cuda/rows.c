/* Products of a matrix with short rows and a vector, by kernels of the module (rows.cu), compiled by nvcc and built in
 * as data.  Without nvcc, or if the driver refuses a kernel, cuSPARSE computes (rule U15). */
#include "device/cuda/rows_kernel.h"
#include "device/cuda/kernel.h"

#ifdef SC_CUDA_ROWS

static const _Alignas(16) unsigned char image[] = {
#include "device/cuda/rows_image.inc"
};

enum { SEVERAL = 2 }; /* names[SEVERAL + width]: kernels for several columns */
static const char *const names[4][SC_TYPES] = {{"rows_s32", "rows_d32", "rows_c32", "rows_z32"},
                                               {"rows_s64", "rows_d64", "rows_c64", "rows_z64"},
                                               {"columns_s32", "columns_d32", "columns_c32", "columns_z32"},
                                               {"columns_s64", "columns_d64", "columns_c64", "columns_z64"}};

#define LONGEST 64 /* entries that one thread adds up */

static bool has_short_rows(const struct sc_kernel *k)
{
    return k->transa == 'N' && k->csr.longest && k->csr.longest <= LONGEST &&
           k->m / SC_CUDA_ROWS_THREADS < INT32_MAX / SC_CUDA_ROWS_COLUMNS;
}

bool sc_cuda_rows_is_loaded(int device, const struct sc_kernel *k)
{
    return sc_cuda_module_is_loaded(sc_cuda_device(device)->rows) && k->op == SC_OP_CSRMV && has_short_rows(k);
}

static enum sc_status load(struct sc_cuda_device *d)
{
    return sc_cuda_module_load_all(&d->rows, image, names[0], 4 * SC_TYPES, d->multiplying[0]);
}

enum sc_status sc_cuda_rows(const struct sc_cuda_call *c)
{
    struct sc_cuda_device *d = sc_cuda_device(c->device);
    const struct sc_kernel *k = c->k;
    bool overwrites = sc_cuda_scalar_is(k, k->beta, 0), adds = sc_cuda_scalar_is(k, k->beta, 1);
    const void *start = k->csr.rows, *columns = k->csr.columns, *values = k->a, *x = k->b;
    int64_t rows = k->m;
    int base = k->csr.base;
    void *y = k->c, *arguments[] = {&rows, &start, &columns, &values, &base, (void *)&c->alpha, &x, &overwrites, &adds,
                                    (void *)&c->beta, &y};

    if (!has_short_rows(k) || load(d) != SC_OK)
        return SC_ERR_UNSUPPORTED;
    return sc_cuda_module_launch(d->multiplying[k->csr.index_bytes == 8][k->type],
                                 (unsigned)((rows + SC_CUDA_ROWS_THREADS - 1) / SC_CUDA_ROWS_THREADS), 1,
                                 SC_CUDA_ROWS_THREADS, c->queue->stream, arguments);
}

enum sc_status sc_cuda_rows_columns(const struct sc_cuda_call *c)
{
    struct sc_cuda_device *d = sc_cuda_device(c->device);
    const struct sc_kernel *k = c->k;
    bool overwrites = sc_cuda_scalar_is(k, k->beta, 0), adds = sc_cuda_scalar_is(k, k->beta, 1);
    const void *start = k->csr.rows, *index = k->csr.columns, *values = k->a, *x = k->b;
    int64_t rows = k->m, ldx = k->ldb, ldy = k->ldc, each;
    int base = k->csr.base, columns = (int)k->k;
    void *y = k->c, *arguments[] = {&rows, &columns, &start, &index, &values, &base, (void *)&c->alpha, &x, &ldx,
                                    &overwrites, &adds, (void *)&c->beta, &y, &ldy};

    if (k->transb != 'T' || k->k < 1 || k->k > SC_CUDA_ROWS_COLUMNS || !has_short_rows(k) || load(d) != SC_OK)
        return SC_ERR_UNSUPPORTED;
    each = SC_CUDA_ROWS_THREADS / columns;
    return sc_cuda_module_launch(d->multiplying[SEVERAL + (k->csr.index_bytes == 8)][k->type],
                                 (unsigned)((rows + each - 1) / each), 1, SC_CUDA_ROWS_THREADS, c->queue->stream,
                                 arguments);
}

#else

bool sc_cuda_rows_is_loaded(int device, const struct sc_kernel *k)
{
    (void)device, (void)k;
    return false;
}

enum sc_status sc_cuda_rows(const struct sc_cuda_call *c)
{
    (void)c;
    return SC_ERR_UNSUPPORTED;
}

enum sc_status sc_cuda_rows_columns(const struct sc_cuda_call *c)
{
    (void)c;
    return SC_ERR_UNSUPPORTED;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
