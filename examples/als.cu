/* The kernel of als for a GPU: normal matrices by a kernel of its own, solutions by batched Cholesky of cuSOLVER. */
#include <cuda_runtime.h>
#include <cusolverDn.h>

#define TASKS_GPU
#include "als.h"
#include "tasks_gpu.h"

enum { DEVICES = 16 };
static cusolverDnHandle_t handles[DEVICES];

int als_prepare(int devices)
{
    int gpus = tasks_gpus(devices, DEVICES);

    for (int d = 0; d < gpus; d++)
        if (cudaSetDevice(d) != cudaSuccess || cusolverDnCreate(&handles[d]) != CUSOLVER_STATUS_SUCCESS)
            return 0;
    return gpus >= 0;
}

struct operands {
    struct semcache_view v[6];
};

/* A block makes the matrix, the right side and the two addresses of one user. */
__global__ void normal(struct operands o, int transposed)
{
    const int64_t k = o.v[0].rows, n = o.v[0].cols, i = blockIdx.x;
    double *a = (double *)o.v[3].memory + i * k * k, *x = (double *)o.v[0].memory + i * o.v[0].ld;
    double **addresses = (double **)o.v[4].memory;

    for (int64_t e = threadIdx.x; e < k * (k + 1); e += blockDim.x)
        (e < k * k ? a : x - k * k)[e] = als_normal(&o.v[1], transposed, &o.v[2], i, e % k, e / k);
    if (threadIdx.x == 0) {
        addresses[i] = a;
        addresses[n + i] = x;
    }
}

void als_solve_gpu(const struct semcache_place *place, const struct semcache_view *v, int count, void *arguments)
{
    cusolverDnHandle_t handle = handles[place->device];
    const int k = (int)v[0].rows, n = (int)v[0].cols;
    double **addresses = (double **)v[4].memory;
    struct operands o;

    for (int i = 0; i < count; i++)
        o.v[i] = v[i];
    normal<<<(unsigned)n, 128, 0, (cudaStream_t)place->stream>>>(o, *(const int *)arguments);
    cusolverDnSetStream(handle, (cudaStream_t)place->stream);
    cusolverDnDpotrfBatched(handle, CUBLAS_FILL_MODE_LOWER, k, addresses, k, (int *)v[5].memory, n);
    cusolverDnDpotrsBatched(handle, CUBLAS_FILL_MODE_LOWER, k, 1, addresses, k, addresses + n, (int)v[0].ld,
                            (int *)v[5].memory, n);
}
/* SPDX-License-Identifier: BSD-2-Clause */
