/* gemm with a small matrix and wide matrices of few rows, by kernels of the module (thin.cu), compiled by nvcc and
 * built in as data.  cuBLAS computes with tiles of at least 32 x 32 elements: of four rows it uses an eighth of a tile.
 * Without nvcc, or if the driver refuses a kernel, cuBLAS computes (rule U16). */
#include "device/cuda/thin_kernel.h"
#include "device/cuda/kernel.h"

#ifdef SC_CUDA_THIN

static const _Alignas(16) unsigned char image[] = {
#include "device/cuda/thin_image.inc"
};

enum { WIDE, SUMS, COLLECT };
static const char *const names[3][SC_TYPES] = {{"thin_wide_s", "thin_wide_d", "thin_wide_c", "thin_wide_z"},
                                               {"thin_sums_s", "thin_sums_d", "thin_sums_c", "thin_sums_z"},
                                               {"thin_collect_s", "thin_collect_d", "thin_collect_c",
                                                "thin_collect_z"}};

/* LONG: columns of a wide matrix, at least.  EACH: columns for a thread before a sum has another block. */
enum { LONG = 16384, EACH = 16, WIDE_BLOCKS = 4096 };

_Static_assert((size_t)SC_CUDA_THIN_BLOCKS * SC_CUDA_THIN_PAIRS * 16 <= SC_CUDA_SCRATCH, "room for the parts");

static bool is_small(int64_t rows, int64_t cols) { return rows <= SC_CUDA_THIN_SIDE && cols <= SC_CUDA_THIN_SIDE; }

static enum sc_status load(struct sc_cuda_device *d)
{
    return sc_cuda_module_load_all(&d->thin, image, names[0], 3 * SC_TYPES, d->thins[0]);
}

static enum sc_status multiply_wide(const struct sc_cuda_call *c, CUfunction kernel)
{
    const struct sc_kernel *k = c->k;
    int m = (int)k->m, inner = (int)k->k, columns = SC_CUDA_THIN_THREADS / m;
    int64_t n = k->n, lda = k->lda, ldb = k->ldb, ldc = k->ldc, blocks = (n + columns - 1) / columns;
    bool turned = k->transa != 'N', conjugated = k->transa == 'C', overwrites = sc_cuda_scalar_is(k, k->beta, 0);
    const void *a = k->a, *b = k->b;
    void *to = k->c, *arguments[] = {&m, &n, &inner, &a, &lda, &turned, &conjugated, &b, &ldb, (void *)&c->alpha,
                                     &overwrites, (void *)&c->beta, &to, &ldc};

    return sc_cuda_module_launch(kernel, (unsigned)(blocks < WIDE_BLOCKS ? blocks : WIDE_BLOCKS), 1,
                                 SC_CUDA_THIN_THREADS, c->queue->stream, arguments);
}

static enum sc_status add_up(const struct sc_cuda_call *c)
{
    struct sc_cuda_device *d = sc_cuda_device(c->device);
    const struct sc_kernel *k = c->k;
    int m = (int)k->m, n = (int)k->n, slices = SC_CUDA_THIN_THREADS / (m * n);
    int64_t inner = k->k, lda = k->lda, ldb = k->ldb, ldc = k->ldc, each = (int64_t)slices * EACH;
    int64_t wanted = (inner + each - 1) / each;
    int parts = (int)(wanted < SC_CUDA_THIN_BLOCKS ? wanted : SC_CUDA_THIN_BLOCKS);
    bool conjugated = k->transb == 'C', overwrites = sc_cuda_scalar_is(k, k->beta, 0);
    const void *a = k->a, *b = k->b;
    void *to = k->c, *part = c->queue->scratch;
    void *sums[] = {&m, &n, &inner, &a, &lda, &b, &ldb, &conjugated, &part};
    void *collect[] = {&m, &n, &parts, &part, (void *)&c->alpha, &overwrites, (void *)&c->beta, &to, &ldc};
    enum sc_status status = sc_cuda_module_launch(d->thins[SUMS][k->type], (unsigned)parts, 1, SC_CUDA_THIN_THREADS,
                                                  c->queue->stream, sums);

    return status == SC_OK ? sc_cuda_module_launch(d->thins[COLLECT][k->type], 1, 1, SC_CUDA_THIN_THREADS,
                                                   c->queue->stream, collect)
                           : status;
}

enum sc_status sc_cuda_thin(const struct sc_cuda_call *c)
{
    struct sc_cuda_device *d = sc_cuda_device(c->device);
    const struct sc_kernel *k = c->k;
    bool wide = is_small(k->m, k->k) && k->n >= LONG && k->transb == 'N';
    bool adds = is_small(k->m, k->n) && k->m * k->n <= SC_CUDA_THIN_PAIRS && k->k >= LONG && k->transa == 'N' &&
                k->transb != 'N';

    if ((!wide && !adds) || load(d) != SC_OK)
        return SC_ERR_UNSUPPORTED;
    return wide ? multiply_wide(c, d->thins[WIDE][k->type]) : add_up(c);
}

#else

enum sc_status sc_cuda_thin(const struct sc_cuda_call *c)
{
    (void)c;
    return SC_ERR_UNSUPPORTED;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
