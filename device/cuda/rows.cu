/* Products of a matrix with short rows and a vector.  A block has as many rows as threads.  The threads multiply the
 * entries of the block's rows in stored order: memory is read in one piece.  The products go to shared memory, a chunk
 * at a time.  Then a thread adds up the products of one row, in order.
 * (Greathouse and Daga, "Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format", SC 2014.)
 * beta = 0: y is not read. */
#include <stdint.h>

#include "device/cuda/number.cuh"
#include "device/cuda/rows_kernel.h"

enum { THREADS = SC_CUDA_ROWS_THREADS, CHUNK = SC_CUDA_ROWS_CHUNK };

/* The place of a product in shared memory.  Without the gaps rows of 8 or 16 entries would begin in one bank. */
static __device__ int place(int64_t i) { return (int)(i + i / 16); }

/* y := alpha A x + beta y; integers count from `base`. */
template <typename T, typename Integer>
static __device__ void multiply(T *chunk, int64_t rows, const Integer *start, const Integer *column, const T *value,
                                int base, T alpha, const T *x, bool overwrites, bool adds, T beta, T *y)
{
    const int64_t first = (int64_t)blockIdx.x * THREADS, row = first + threadIdx.x;
    const int64_t last = first + THREADS < rows ? first + THREADS : rows;
    const int64_t from = row < rows ? start[row] - base : 0, to = row < rows ? start[row + 1] - base : 0;
    const int64_t begin = start[first] - base, end = start[last] - base;
    T total = {};

    for (int64_t at = begin; at < end; at += CHUNK) {
        const int64_t low = from > at ? from : at, high = to < at + CHUNK ? to : at + CHUNK;

        __syncthreads(); /* the chunk before has been added up */
#pragma unroll
        for (int k = 0; k < CHUNK / THREADS; k++) {
            const int64_t i = at + k * THREADS + threadIdx.x;

            if (i < end)
                chunk[place(i - at)] = product(value[i], x[column[i] - base]);
        }
        __syncthreads();
        for (int64_t i = low; i < high; i++)
            total = sum(total, chunk[place(i - at)]);
    }
    if (row >= rows || (adds && from == to)) /* adds: beta is 1 */
        return;
    total = product(alpha, total);
    y[row] = overwrites ? total : sum(total, product(beta, y[row]));
}

/* Y := alpha A X + beta Y with X and Y of few columns stored by rows.  A thread has one element of Y. */
template <typename T, typename Integer>
static __device__ void multiply_columns(int64_t rows, int columns, const Integer *start, const Integer *column,
                                        const T *value, int base, T alpha, const T *x, int64_t ldx, bool overwrites,
                                        bool adds, T beta, T *y, int64_t ldy)
{
    const int each = THREADS / columns, c = (int)threadIdx.x % columns, place = (int)threadIdx.x / columns;
    const int64_t row = (int64_t)blockIdx.x * each + place;
    T total = {};

    if (place >= each || row >= rows)
        return;
    for (int64_t i = start[row] - base; i < start[row + 1] - base; i++)
        total = sum(total, product(value[i], x[c + (column[i] - base) * ldx]));
    if (adds && start[row] == start[row + 1]) /* adds: beta is 1 */
        return;
    total = product(alpha, total);
    y[c + row * ldy] = overwrites ? total : sum(total, product(beta, y[c + row * ldy]));
}

#define KERNEL(letter, T, bits)                                                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        rows_##letter##bits(int64_t rows, const int##bits##_t *start, const int##bits##_t *column, const T *value,     \
                            int base, T alpha, const T *x, bool overwrites, bool adds, T beta, T *y)                   \
    {                                                                                                                  \
        __shared__ T chunk[CHUNK + CHUNK / 16];                                                                        \
                                                                                                                       \
        multiply<T, int##bits##_t>(chunk, rows, start, column, value, base, alpha, x, overwrites, adds, beta, y);      \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        columns_##letter##bits(int64_t rows, int columns, const int##bits##_t *start, const int##bits##_t *column,     \
                               const T *value, int base, T alpha, const T *x, int64_t ldx, bool overwrites, bool adds, \
                               T beta, T *y, int64_t ldy)                                                              \
    {                                                                                                                  \
        multiply_columns<T, int##bits##_t>(rows, columns, start, column, value, base, alpha, x, ldx, overwrites, adds, \
                                           beta, y, ldy);                                                              \
    }
#define KERNELS(letter, T) KERNEL(letter, T, 32) KERNEL(letter, T, 64)

KERNELS(s, float)
KERNELS(d, double)
KERNELS(c, pair_of<float>)
KERNELS(z, pair_of<double>)
/* SPDX-License-Identifier: BSD-2-Clause */
