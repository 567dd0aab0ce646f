/* S W and V W^T, with a small matrix S and wide matrices V and W of few rows.  Both products are bound by memory.  A
 * wide matrix by columns is a tall matrix by rows, as in block methods of SciPy.  beta = 0: C is not read. */
#include <stdint.h>

#include "device/cuda/number.cuh"
#include "device/cuda/thin_kernel.h"

enum { THREADS = SC_CUDA_THIN_THREADS, SIDE = SC_CUDA_THIN_SIDE };

/* C := alpha A B + beta C, with a small A (m x k, transposed if `turned`) and n columns of B and C.  A thread has one
 * row of C: neighbours write next to each other. */
template <typename T>
static __device__ void wide(T *small, int m, int64_t n, int k, const T *a, int64_t lda, bool turned, bool conjugated,
                            const T *b, int64_t ldb, T alpha, bool overwrites, T beta, T *c, int64_t ldc)
{
    const int columns = THREADS / m, column = (int)threadIdx.x / m, i = (int)threadIdx.x % m;

    for (int e = (int)threadIdx.x; e < m * k; e += THREADS) {
        const int row = e % m, l = e / m;
        const T x = turned ? a[l + row * lda] : a[row + l * lda];

        small[row + l * SIDE] = conjugated ? conjugate(x) : x;
    }
    __syncthreads();
    if (column >= columns)
        return;
    for (int64_t j = (int64_t)blockIdx.x * columns + column; j < n; j += (int64_t)gridDim.x * columns) {
        T total = {};

#pragma unroll 4
        for (int l = 0; l < k; l++)
            total = sum(total, product(small[i + l * SIDE], b[l + j * ldb]));
        total = product(alpha, total);
        c[i + j * ldc] = overwrites ? total : sum(total, product(beta, c[i + j * ldc]));
    }
}

/* The sum over the slices of a block, in the threads of the first slice. */
template <typename T>
static __device__ T sum_of_slices(T *shared, T total, int slices, int pairs)
{
    shared[threadIdx.x] = total;
    __syncthreads();
    for (int s = 1; s < slices && (int)threadIdx.x < pairs; s++)
        total = sum(total, shared[threadIdx.x + s * pairs]);
    return total;
}

/* part[p + pairs * block] := the block's part of A B^T, or of A B^H if `conjugated`; p: an element of m x n by columns.
 * The order of the sums depends on the sizes alone. */
template <typename T>
static __device__ void sums(T *shared, int m, int n, int64_t k, const T *a, int64_t lda, const T *b, int64_t ldb,
                            bool conjugated, T *part)
{
    const int pairs = m * n, slices = THREADS / pairs, slice = (int)threadIdx.x / pairs, p = (int)threadIdx.x % pairs;
    const int64_t step = (int64_t)gridDim.x * slices;
    const T *x = a + p % m, *y = b + p / m;
    T total = {};

    if (slice < slices)
#pragma unroll 4
        for (int64_t l = (int64_t)blockIdx.x * slices + slice; l < k; l += step)
            total = sum(total, product(x[l * lda], conjugated ? conjugate(y[l * ldb]) : y[l * ldb]));
    total = sum_of_slices(shared, total, slices, pairs);
    if (slice)
        return;
    part[p + (int64_t)pairs * blockIdx.x] = total;
}

/* C := alpha (sum of the parts) + beta C, by one block. */
template <typename T>
static __device__ void collect(T *shared, int m, int n, int parts, const T *part, T alpha, bool overwrites, T beta,
                               T *c, int64_t ldc)
{
    const int pairs = m * n, slices = THREADS / pairs, slice = (int)threadIdx.x / pairs, p = (int)threadIdx.x % pairs;
    T total = {};

    if (slice < slices)
#pragma unroll 4
        for (int i = slice; i < parts; i += slices)
            total = sum(total, part[p + pairs * i]);
    total = sum_of_slices(shared, total, slices, pairs);
    if (slice)
        return;
    c += p % m + p / m * ldc;
    total = product(alpha, total);
    *c = overwrites ? total : sum(total, product(beta, *c));
}

#define KERNELS(letter, T)                                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        thin_wide_##letter(int m, int64_t n, int k, const T *a, int64_t lda, bool turned, bool conjugated, const T *b, \
                           int64_t ldb, T alpha, bool overwrites, T beta, T *c, int64_t ldc)                           \
    {                                                                                                                  \
        __shared__ T small[SIDE * SIDE];                                                                               \
                                                                                                                       \
        wide(small, m, n, k, a, lda, turned, conjugated, b, ldb, alpha, overwrites, beta, c, ldc);                     \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        thin_sums_##letter(int m, int n, int64_t k, const T *a, int64_t lda, const T *b, int64_t ldb, bool conjugated, \
                           T *part)                                                                                    \
    {                                                                                                                  \
        __shared__ T shared[THREADS];                                                                                  \
                                                                                                                       \
        sums(shared, m, n, k, a, lda, b, ldb, conjugated, part);                                                       \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        thin_collect_##letter(int m, int n, int parts, const T *part, T alpha, bool overwrites, T beta, T *c,          \
                              int64_t ldc)                                                                             \
    {                                                                                                                  \
        __shared__ T shared[THREADS];                                                                                  \
                                                                                                                       \
        collect(shared, m, n, parts, part, alpha, overwrites, beta, c, ldc);                                           \
    }

KERNELS(s, float)
KERNELS(d, double)
KERNELS(c, pair_of<float>)
KERNELS(z, pair_of<double>)
/* SPDX-License-Identifier: BSD-2-Clause */
