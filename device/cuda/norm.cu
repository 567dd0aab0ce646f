/* Sums and maxima of absolute values over columns and over rows of a matrix, for ?lange, ?lansy, ?lanhe and ?lantr.
 * All arithmetic is in double precision, in an order that depends on the sizes alone. */
#include <stdint.h>

#include "device/cuda/norm_kernel.h"

template <typename Real> struct complex_of {
    Real re, im;
};

static __device__ double part_of(float x, bool) { return fabs((double)x); }
static __device__ double part_of(double x, bool) { return fabs(x); }
template <typename Real> static __device__ double part_of(complex_of<Real> z, bool real)
{
    return real ? fabs((double)z.re) : hypot((double)z.re, (double)z.im);
}
static __device__ double square_of(float x, bool) { return (double)x * (double)x; }
static __device__ double square_of(double x, bool) { return x * x; }
template <typename Real> static __device__ double square_of(complex_of<Real> z, bool real)
{
    return (double)z.re * (double)z.re + (real ? 0 : (double)z.im * (double)z.im);
}

/* What element (i, j) adds. */
template <typename T> static __device__ double term(const sc_cuda_norm &s, const T *a, int64_t i, int64_t j)
{
    bool diagonal = i == j;
    T x;

    if (diagonal && s.unit)
        return 1;
    x = a[i + j * s.ld];
    if (s.kind != 'F')
        return part_of(x, diagonal && s.real_diagonal);
    return square_of(x, diagonal && s.real_diagonal) * (s.twice && !diagonal ? 2 : 1);
}

/* A number that is not one stays. */
static __device__ double larger(double a, double b) { return b > a || isnan(b) ? b : a; }

static __device__ double joined(const sc_cuda_norm &s, double a, double b)
{
    return s.kind == 'M' ? larger(a, b) : a + b;
}

/* out[j]: of column j.  Every block takes columns in turn. */
template <typename T> static __device__ void columns(const sc_cuda_norm &s, const T *a, double *out)
{
    __shared__ double value[SC_CUDA_NORM_THREADS];

    for (int64_t j = blockIdx.x; j < s.n; j += gridDim.x) {
        int64_t first = s.part == 'L' ? j + s.strict : 0, end = s.part == 'U' ? j + !s.strict : s.m;
        double sum = 0;

        for (int64_t i = first + threadIdx.x; i < (end < s.m ? end : s.m); i += SC_CUDA_NORM_THREADS)
            sum = joined(s, sum, term(s, a, i, j));
        value[threadIdx.x] = sum;
        for (unsigned half = SC_CUDA_NORM_THREADS / 2; half; half /= 2) {
            __syncthreads();
            if (threadIdx.x < half)
                value[threadIdx.x] = joined(s, value[threadIdx.x], value[threadIdx.x + half]);
        }
        if (threadIdx.x == 0)
            out[j] = value[0];
        __syncthreads();
    }
}

/* out[i + m * chunk]: of row i in columns [chunk * width, (chunk + 1) * width). */
template <typename T> static __device__ void rows(const sc_cuda_norm &s, const T *a, int64_t width, double *out)
{
    int64_t i = (int64_t)blockIdx.x * SC_CUDA_NORM_THREADS + threadIdx.x, first = blockIdx.y * width;
    int64_t end = first + width < s.n ? first + width : s.n, from = s.part == 'U' ? i + s.strict : 0;
    double sum = 0;

    if (i >= s.m)
        return;
    if (s.part == 'L' && i + !s.strict < end)
        end = i + !s.strict;
    for (int64_t j = first > from ? first : from; j < end; j++)
        sum = joined(s, sum, term(s, a, i, j));
    out[i + s.m * blockIdx.y] = sum;
}

#define KERNELS(letter, type)                                                                                         \
    extern "C" __global__ void __launch_bounds__(SC_CUDA_NORM_THREADS)                                                \
        norm_columns_##letter(sc_cuda_norm s, const type *a, double *out)                                             \
    {                                                                                                                 \
        columns(s, a, out);                                                                                           \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(SC_CUDA_NORM_THREADS)                                                \
        norm_rows_##letter(sc_cuda_norm s, const type *a, int64_t width, double *out)                                 \
    {                                                                                                                 \
        rows(s, a, width, out);                                                                                       \
    }

KERNELS(s, float)
KERNELS(d, double)
KERNELS(c, complex_of<float>)
KERNELS(z, complex_of<double>)
/* SPDX-License-Identifier: BSD-2-Clause */
