/* The kernel of stencil3d for a GPU. */
#include <cuda_runtime.h>

#define STENCIL3D_GPU
#include "stencil3d.h"

struct operands {
    struct semcache_view v[4];
};

__global__ void step(struct operands operands)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, j = blockIdx.y * (int64_t)blockDim.y + threadIdx.y;
    const struct semcache_view *v = operands.v;

    if (i < v[0].rows && j < v[0].cols)
        for (int64_t k = blockIdx.z; k < v[0].planes; k += gridDim.z)
            stencil3d_element(v, i, j, k);
}

extern "C" void stencil3d_gpu(const struct semcache_place *place, const struct semcache_view *v, int count,
                              void *arguments)
{
    const dim3 threads(64, 4);
    const dim3 blocks((unsigned)((v[0].rows + 63) / 64), (unsigned)((v[0].cols + 3) / 4),
                      (unsigned)(v[0].planes < 32 ? v[0].planes : 32));
    struct operands operands;

    for (int i = 0; i < count; i++)
        operands.v[i] = v[i];
    (void)arguments;
    step<<<blocks, threads, 0, (cudaStream_t)place->stream>>>(operands);
}
/* SPDX-License-Identifier: BSD-2-Clause */
