/* Sums and products of the elements of vectors with increment 1.  cuBLAS needs two kernels for axpby, and has no fast
 * product of elements.  A kernel reads each element once: memory is the limit.  A thread reads four elements before
 * it writes.  beta = 0: y is not read. */
#include <stdint.h>

#include "device/cuda/number.cuh"
#include "device/cuda/vector_kernel.h"

enum { THREADS = SC_CUDA_VECTOR_THREADS, EACH = SC_CUDA_VECTOR_EACH };

/* y := alpha d x + beta y; d of NULL: alpha x + beta y.  n elements. */
template <typename T>
static __device__ void combine(int64_t n, T alpha, const T *d, const T *x, bool overwrites, T beta, T *y)
{
    const int64_t first = (int64_t)blockIdx.x * (THREADS * EACH) + threadIdx.x;
    T result[EACH];

#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int64_t i = first + e * THREADS;

        if (i < n) {
            result[e] = product(alpha, d ? product(d[i], x[i]) : x[i]);
            if (!overwrites)
                result[e] = sum(result[e], product(beta, y[i]));
        }
    }
#pragma unroll
    for (int e = 0; e < EACH; e++)
        if (first + e * THREADS < n)
            y[first + e * THREADS] = result[e];
}

#define KERNELS(letter, T)                                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        vector_axpby_##letter(int64_t n, T alpha, const T *x, bool overwrites, T beta, T *y)                           \
    {                                                                                                                  \
        combine<T>(n, alpha, nullptr, x, overwrites, beta, y);                                                         \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        vector_multiply_##letter(int64_t n, T alpha, const T *d, const T *x, bool overwrites, T beta, T *y)            \
    {                                                                                                                  \
        combine<T>(n, alpha, d, x, overwrites, beta, y);                                                               \
    }

KERNELS(s, float)
KERNELS(d, double)
KERNELS(c, pair_of<float>)
KERNELS(z, pair_of<double>)
/* SPDX-License-Identifier: BSD-2-Clause */
