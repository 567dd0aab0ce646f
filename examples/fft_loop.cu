/* The kernels of fft_loop for a GPU: cuFFT, and a product. */
#include <cufft.h>
#include <cuda_runtime.h>

#define TASKS_GPU
#include "fft_loop.h"
#include "tasks_gpu.h"

enum { DEVICES = 16 };
static cufftHandle plans[DEVICES], single[DEVICES]; /* of all columns, and of one */

/* A plan waits for the device, and is therefore made outside of tasks. */
int fft_loop_prepare(int devices, int64_t n, int64_t columns)
{
    int gpus = tasks_gpus(devices, DEVICES);

    for (int d = 0; d < gpus; d++)
        if (cudaSetDevice(d) != cudaSuccess ||
            cufftPlan1d(&plans[d], (int)n, CUFFT_Z2Z, (int)columns) != CUFFT_SUCCESS ||
            cufftPlan1d(&single[d], (int)n, CUFFT_Z2Z, 1) != CUFFT_SUCCESS)
            return 0;
    return gpus >= 0;
}

/* The plan has contiguous columns.  The columns of a tile may be further apart, and are then transformed one by one. */
void fft_loop_transform_gpu(const struct semcache_place *place, const struct semcache_view *v, int count,
                            void *arguments)
{
    cufftDoubleComplex *u = (cufftDoubleComplex *)v[0].memory;
    int direction = *(const int *)arguments < 0 ? CUFFT_FORWARD : CUFFT_INVERSE;

    (void)count;
    cufftSetStream(plans[place->device], (cudaStream_t)place->stream);
    cufftSetStream(single[place->device], (cudaStream_t)place->stream);
    if (v[0].ld == v[0].rows)
        cufftExecZ2Z(plans[place->device], u, u, direction);
    for (int64_t j = 0; j < v[0].cols && v[0].ld != v[0].rows; j++)
        cufftExecZ2Z(single[place->device], u + j * v[0].ld, u + j * v[0].ld, direction);
}

__global__ void multiply(cufftDoubleComplex *u, const double *by, int64_t rows, int64_t cols, int64_t ld)
{
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;

    for (int64_t j = blockIdx.y; i < rows && j < cols; j += gridDim.y) {
        u[i + j * ld].x *= by[i];
        u[i + j * ld].y *= by[i];
    }
}

void fft_loop_filter_gpu(const struct semcache_place *place, const struct semcache_view *v, int count, void *arguments)
{
    dim3 blocks((unsigned)((v[0].rows + 255) / 256), (unsigned)(v[0].cols < 1024 ? v[0].cols : 1024));

    (void)count, (void)arguments;
    multiply<<<blocks, 256, 0, (cudaStream_t)place->stream>>>((cufftDoubleComplex *)v[0].memory,
                                                              (const double *)v[1].memory, v[0].rows, v[0].cols,
                                                              v[0].ld);
}
/* SPDX-License-Identifier: BSD-2-Clause */
