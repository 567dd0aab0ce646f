/* axpby and products with a diagonal by kernels of the module (vector.cu), compiled by nvcc and built in as data.
 * Without nvcc, or if the driver refuses a kernel, cuBLAS and cuSPARSE compute (rule U13). */
#include "device/cuda/vector_kernel.h"
#include "device/cuda/kernel.h"

#ifdef SC_CUDA_VECTOR

static const _Alignas(16) unsigned char image[] = {
#include "device/cuda/vector_image.inc"
};

static const char *const names[2][SC_TYPES] = {
    {"vector_axpby_s", "vector_axpby_d", "vector_axpby_c", "vector_axpby_z"},
    {"vector_multiply_s", "vector_multiply_d", "vector_multiply_c", "vector_multiply_z"}};

/* Loads the kernels at the first use. */
static enum sc_status load(struct sc_cuda_device *d)
{
    return sc_cuda_module_load_all(&d->vector, image, names[0], 2 * SC_TYPES, d->vectors[0]);
}

bool sc_cuda_vector_is_loaded(int device, const struct sc_kernel *k)
{
    return sc_cuda_module_is_loaded(sc_cuda_device(device)->vector) &&
           (k->op != SC_OP_AXPBY || (k->lda == 1 && k->ldb == 1));
}

static enum sc_status launch(const struct sc_cuda_call *c, CUfunction kernel, int64_t n, void **arguments)
{
    const int64_t each = SC_CUDA_VECTOR_THREADS * SC_CUDA_VECTOR_EACH, blocks = (n + each - 1) / each;

    return blocks > INT32_MAX ? SC_ERR_UNSUPPORTED
                              : sc_cuda_module_launch(kernel, (unsigned)blocks, 1, SC_CUDA_VECTOR_THREADS,
                                                      c->queue->stream, arguments);
}

enum sc_status sc_cuda_axpby(const struct sc_cuda_call *c)
{
    struct sc_cuda_device *d = sc_cuda_device(c->device);
    const struct sc_kernel *k = c->k;
    bool overwrites = sc_cuda_scalar_is(k, k->beta, 0);
    int64_t n = k->n;
    const void *x = k->a;
    void *y = k->b, *arguments[] = {&n, (void *)&c->alpha, &x, &overwrites, (void *)&c->beta, &y};

    if (k->lda != 1 || k->ldb != 1 || load(d) != SC_OK)
        return SC_ERR_UNSUPPORTED;
    return launch(c, d->vectors[0][k->type], n, arguments);
}

enum sc_status sc_cuda_diagonal(const struct sc_cuda_call *c)
{
    struct sc_cuda_device *d = sc_cuda_device(c->device);
    const struct sc_kernel *k = c->k;
    bool overwrites = sc_cuda_scalar_is(k, k->beta, 0);
    int64_t n = k->m;
    const void *diagonal = k->a, *x = (const char *)k->b + (size_t)k->csr.shift * sc_type_bytes(k->type);
    void *y = k->c, *arguments[] = {&n, (void *)&c->alpha, &diagonal, &x, &overwrites, (void *)&c->beta, &y};

    if (load(d) != SC_OK)
        return SC_ERR_UNSUPPORTED;
    return launch(c, d->vectors[1][k->type], n, arguments);
}

#else

bool sc_cuda_vector_is_loaded(int device, const struct sc_kernel *k)
{
    (void)device, (void)k;
    return false;
}

enum sc_status sc_cuda_axpby(const struct sc_cuda_call *c)
{
    (void)c;
    return SC_ERR_UNSUPPORTED;
}

enum sc_status sc_cuda_diagonal(const struct sc_cuda_call *c)
{
    (void)c;
    return SC_ERR_UNSUPPORTED;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
