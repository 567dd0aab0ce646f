/* dsdot by a kernel of the module (dsdot.cu), compiled by nvcc and built in as data.  Without nvcc, or if the driver
 * refuses the kernel, the host computes dsdot (rule U16). */
#include "device/cuda/dsdot_kernel.h"
#include "device/cuda/kernel.h"

#ifdef SC_CUDA_DSDOT

static const _Alignas(16) unsigned char image[] = {
#include "device/cuda/dsdot_image.inc"
};

#define ELEMENTS_EACH 16 /* per thread, before another block is used */

_Static_assert(SC_CUDA_DSDOT_BLOCKS_MOST * sizeof(double) <= SC_CUDA_SCRATCH, "room for the parts");

/* Loads the kernels at the first use. */
static enum sc_status load(struct sc_cuda_device *d)
{
    if (d->dsdot)
        return SC_OK;
    if (sc_cuda_module_load(&d->dsdot, image, "dsdot_parts", &d->dsdot_parts) != SC_OK)
        return SC_ERR_UNSUPPORTED;
    return sc_cuda_module_find(d->dsdot, "dsdot_sum", &d->dsdot_sum);
}

/* Address of the first element; the BLAS names a vector by its lowest address. */
static const float *first(const void *lowest, int64_t n, int64_t inc)
{
    return (const float *)lowest + (inc < 0 ? (1 - n) * inc : 0);
}

enum sc_status sc_cuda_dsdot(const struct sc_cuda_call *c)
{
    struct sc_cuda_device *d = sc_cuda_device(c->device);
    int64_t n = c->k->n, incx = c->k->lda, incy = c->k->ldb, each = SC_CUDA_DSDOT_THREADS * ELEMENTS_EACH;
    int64_t wanted = (n + each - 1) / each;
    int blocks = (int)(wanted < SC_CUDA_DSDOT_BLOCKS_MOST ? wanted : SC_CUDA_DSDOT_BLOCKS_MOST);
    const float *x = first(c->k->a, n, incx), *y = first(c->k->b, n, incy);
    void *part = c->queue->scratch, *result = c->k->result;
    void *parts[] = {&n, &x, &incx, &y, &incy, &part}, *sum[] = {&blocks, &part, &result};
    enum sc_status status = load(d);

    if (status == SC_OK)
        status = sc_cuda_module_launch(d->dsdot_parts, (unsigned)blocks, 1, SC_CUDA_DSDOT_THREADS, c->queue->stream,
                                       parts);
    return status == SC_OK ? sc_cuda_module_launch(d->dsdot_sum, 1, 1, SC_CUDA_DSDOT_THREADS, c->queue->stream, sum)
                           : status;
}

#else

enum sc_status sc_cuda_dsdot(const struct sc_cuda_call *c)
{
    (void)c;
    return SC_ERR_UNSUPPORTED;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
