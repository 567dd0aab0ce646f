/* The kernel of sparse_tasks for a GPU. */
#include <cuda_runtime.h>

#define TASKS_GPU
#include "sparse_tasks.h"

struct operands {
    struct semcache_view v[5];
};

__global__ void product(struct operands o, double factor)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;

    if (i < o.v[0].rows)
        ((double *)o.v[0].memory)[i] = sparse_row(o.v, i, factor);
}

void sparse_product_gpu(const struct semcache_place *place, const struct semcache_view *v, int count, void *arguments)
{
    struct operands o;

    for (int i = 0; i < count; i++)
        o.v[i] = v[i];
    product<<<(unsigned)((v[0].rows + 255) / 256), 256, 0, (cudaStream_t)place->stream>>>(o,
                                                                                        *(const double *)arguments);
}
/* SPDX-License-Identifier: BSD-2-Clause */
