/* Sums and products of the elements of vectors with increment 1.  cuBLAS needs two kernels for axpby, and has no fast
 * product of elements.  A kernel reads each element once: memory is the limit.  A thread has four elements, and reads
 * before it writes, so that four reads are under way.  beta = 0: y is not read. */
#include <stdint.h>

#include "device/cuda/vector_kernel.h"

enum { THREADS = SC_CUDA_VECTOR_THREADS, EACH = SC_CUDA_VECTOR_EACH };

template <typename Real> struct __align__(2 * sizeof(Real)) pair_of {
    Real re, im;
};

static __device__ float product(float a, float b) { return a * b; }
static __device__ double product(double a, double b) { return a * b; }
template <typename Real> static __device__ pair_of<Real> product(pair_of<Real> a, pair_of<Real> b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static __device__ float sum(float a, float b) { return a + b; }
static __device__ double sum(double a, double b) { return a + b; }
template <typename Real> static __device__ pair_of<Real> sum(pair_of<Real> a, pair_of<Real> b)
{
    return {a.re + b.re, a.im + b.im};
}

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
