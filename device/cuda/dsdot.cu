/* The product of two single precision vectors in double precision, absent from cuBLAS.  Every block adds up a part in
 * an order that depends on n alone; then a single block adds the parts. */
#include <stdint.h>

#include "device/cuda/dsdot_kernel.h"

/* The sum over the threads of a block, in thread 0. */
static __device__ double sum_of_block(double value)
{
    __shared__ double sum[SC_CUDA_DSDOT_THREADS];

    sum[threadIdx.x] = value;
    for (unsigned half = SC_CUDA_DSDOT_THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sum[threadIdx.x] += sum[threadIdx.x + half];
    }
    return sum[0];
}

/* x, y: address of the first element, for either sign of the increment. */
extern "C" __global__ void __launch_bounds__(SC_CUDA_DSDOT_THREADS)
    dsdot_parts(int64_t n, const float *x, int64_t incx, const float *y, int64_t incy, double *part)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    double sum = 0;

#pragma unroll 4
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        sum += (double)x[i * incx] * (double)y[i * incy];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(SC_CUDA_DSDOT_THREADS)
    dsdot_sum(int parts, const double *part, double *result)
{
    double sum = 0;

    for (int i = (int)threadIdx.x; i < parts; i += (int)blockDim.x)
        sum += part[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0)
        *result = sum;
}
/* SPDX-License-Identifier: BSD-2-Clause */
