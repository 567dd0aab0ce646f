/* Forward substitution with a triangle of at most 256 rows and many right sides, for ?trsm.
 *
 * A block of threads has some right sides in shared memory.  A few rows at a time (a part) are solved, each right side
 * by one thread.  Then every thread subtracts their contributions from one of the rows below.  A quotient is a product
 * with the reciprocal, corrected by its remainder: the result of a division, but for a last bit now and then. */
#include <stdint.h>

#include "device/cuda/triangle_kernel.h"

#define ROWS SC_CUDA_TRIANGLE_ROWS
#define AHEAD 8 /* elements of L that a thread reads at a time */

/* --- arithmetic of the four types --------------------------------------------------------------------------------- */

template <typename Real> struct complex_of {
    Real re, im;
};

static __device__ float fused(float c, float a, float b) { return fmaf(a, b, c); }
static __device__ double fused(double c, double a, double b) { return fma(a, b, c); }
template <typename Real>
static __device__ complex_of<Real> fused(complex_of<Real> c, complex_of<Real> a, complex_of<Real> b)
{
    return {fused(fused(c.re, a.re, b.re), -a.im, b.im), fused(fused(c.im, a.re, b.im), a.im, b.re)};
}

static __device__ float negative(float a) { return -a; }
static __device__ double negative(double a) { return -a; }
template <typename Real> static __device__ complex_of<Real> negative(complex_of<Real> a) { return {-a.re, -a.im}; }

static __device__ float conjugate(float a) { return a; }
static __device__ double conjugate(double a) { return a; }
template <typename Real> static __device__ complex_of<Real> conjugate(complex_of<Real> a) { return {a.re, -a.im}; }

static __device__ float quotient(float a, float b) { return a / b; }
static __device__ double quotient(double a, double b) { return a / b; }
/* Without overflow on the way (Smith 1962). */
template <typename Real> static __device__ complex_of<Real> quotient(complex_of<Real> a, complex_of<Real> b)
{
    bool wide = fabs(b.re) >= fabs(b.im);
    Real r = wide ? b.im / b.re : b.re / b.im, d = wide ? b.re + b.im * r : b.im + b.re * r;

    if (wide)
        return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
    return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

/* Far from the ends of the range, where a reciprocal or a remainder would lose bits. */
static __device__ bool is_usual(float x) { return fabsf(x) > 1e-12f && fabsf(x) < 1e12f; }
static __device__ bool is_usual(double x) { return fabs(x) > 1e-120 && fabs(x) < 1e120; }
template <typename Real> static __device__ bool is_usual(complex_of<Real> x)
{
    return is_usual(fabs(x.re) > fabs(x.im) ? x.re : x.im);
}

static __device__ void set(float *x, double re, double) { *x = (float)re; }
static __device__ void set(double *x, double re, double) { *x = re; }
template <typename Real> static __device__ void set(complex_of<Real> *x, double re, double im)
{
    *x = {(Real)re, (Real)im};
}

template <typename T> static __device__ T scalar(double re, double im)
{
    T x;

    set(&x, re, im);
    return x;
}

/* --- the solve ---------------------------------------------------------------------------------------------------- */

/* In shared memory: the right sides of a block, and a part of the diagonal.  Each row of the right sides has 16 bytes
 * more, so that threads of neighbouring rows meet different banks. */
template <typename T> struct sides {
    static const int columns = sizeof(T) > 8 ? SC_CUDA_TRIANGLE_COLUMNS / 2 : SC_CUDA_TRIANGLE_COLUMNS;
    static const int pitch = columns + 16 / sizeof(T);
    static const int part = sizeof(T) > 8 ? 16 : 32; /* rows that are solved together */

    __align__(16) T x[ROWS][pitch];
    T diagonal[part][part + 1]; /* [column][row] */
    T reciprocal[part];
    int unusual; /* an element of the diagonal is */
};

/* Copies the right sides of the block between B and shared memory; threads go along the shorter stride of B. */
template <typename T, bool in>
static __device__ void copy(const sc_cuda_triangle &s, sides<T> *of, T *b, int64_t first, T alpha)
{
    const int columns = sides<T>::columns;
    const bool by_rows = s.b_row == 1 || s.b_row == -1;

    for (int e = (int)threadIdx.x; e < s.rows * columns; e += ROWS) {
        int r = by_rows ? e % s.rows : e / columns, j = by_rows ? e / s.rows : e % columns;
        T *at = b + r * s.b_row + (first + j) * s.b_column;

        if (in)
            of->x[r][j] = first + j < s.columns ? fused(scalar<T>(0, 0), alpha, *at) : scalar<T>(0, 0);
        else if (first + j < s.columns)
            *at = of->x[r][j];
    }
}

/* Brings the part of L's diagonal from row k on.  Rows beyond the triangle are those of the identity. */
template <typename T>
static __device__ void bring_diagonal(const sc_cuda_triangle &s, sides<T> *of, const T *l, int k)
{
    const int part = sides<T>::part;
    const bool by_rows = s.row == 1 || s.row == -1;

    for (int e = (int)threadIdx.x; e < part * part; e += ROWS) {
        int r = by_rows ? e % part : e / part, c = by_rows ? e / part : e % part;
        T value = scalar<T>(r == c, 0);

        if (c <= r && k + r < s.rows && !(r == c && s.unit)) {
            value = l[(k + r) * s.row + (k + c) * s.column];
            value = s.conjugate ? conjugate(value) : value;
        }
        of->diagonal[c][r] = value;
    }
    if (threadIdx.x == 0)
        of->unusual = 0;
    __syncthreads();
    if (threadIdx.x < part) {
        T value = of->diagonal[threadIdx.x][threadIdx.x];

        of->reciprocal[threadIdx.x] = quotient(scalar<T>(1, 0), value);
        if (!is_usual(value))
            of->unusual = 1;
    }
    __syncthreads();
}

/* The part from row k on of one right side. */
template <typename T> static __device__ void solve_side(sides<T> *of, int k, int rows, int j, bool unit)
{
    const int part = sides<T>::part;
    const bool divides = of->unusual;
    T x[part];

#pragma unroll
    for (int i = 0; i < part; i++)
        x[i] = k + i < rows ? of->x[k + i][j] : scalar<T>(0, 0);
#pragma unroll
    for (int i = 0; i < part; i++) {
        if (divides) {
            x[i] = quotient(x[i], of->diagonal[i][i]);
        } else if (!unit) {
            T q = fused(scalar<T>(0, 0), x[i], of->reciprocal[i]);
            T rest = fused(x[i], negative(q), of->diagonal[i][i]);

            x[i] = is_usual(x[i]) ? fused(q, rest, of->reciprocal[i]) : quotient(x[i], of->diagonal[i][i]);
        }
#pragma unroll
        for (int r = i + 1; r < part; r++)
            x[r] = fused(x[r], negative(of->diagonal[i][r]), x[i]);
    }
#pragma unroll
    for (int i = 0; i < part; i++)
        if (k + i < rows)
            of->x[k + i][j] = x[i];
}

/* Row r minus the contributions of the part from row k on. */
template <typename T>
static __device__ void subtract(const sc_cuda_triangle &s, sides<T> *of, const T *l, int k, int r)
{
    const int columns = sides<T>::columns;
    T sum[columns], ahead[AHEAD];

#pragma unroll
    for (int j = 0; j < columns; j++)
        sum[j] = of->x[r][j];
    for (int c = 0; c < sides<T>::part; c += AHEAD) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            ahead[i] = l[r * s.row + (k + c + i) * s.column];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            T factor = negative(s.conjugate ? conjugate(ahead[i]) : ahead[i]);

#pragma unroll
            for (int j = 0; j < columns; j++)
                sum[j] = fused(sum[j], factor, of->x[k + c + i][j]);
        }
    }
#pragma unroll
    for (int j = 0; j < columns; j++)
        of->x[r][j] = sum[j];
}

template <typename T> static __device__ void solve(const sc_cuda_triangle &s, sides<T> *of, const T *l, T *b)
{
    const int64_t first = (int64_t)blockIdx.x * sides<T>::columns;

    copy<T, true>(s, of, b, first, scalar<T>(s.alpha[0], s.alpha[1]));
    for (int k = 0; k < s.rows; k += sides<T>::part) {
        int below = k + sides<T>::part + (int)threadIdx.x;

        __syncthreads();
        bring_diagonal(s, of, l, k);
        if (threadIdx.x < sides<T>::columns)
            solve_side(of, k, s.rows, (int)threadIdx.x, s.unit);
        __syncthreads();
        if (below < s.rows)
            subtract(s, of, l, k, below);
    }
    __syncthreads();
    copy<T, false>(s, of, b, first, scalar<T>(1, 0));
}

#define KERNEL(letter, type)                                                                                          \
    extern "C" __global__ void __launch_bounds__(ROWS) triangle_##letter(sc_cuda_triangle s, const type *l, type *b)  \
    {                                                                                                                 \
        __shared__ __align__(16) unsigned char memory[sizeof(sides<type>)];                                           \
                                                                                                                      \
        solve(s, (sides<type> *)(void *)memory, l, b);                                                                \
    }

KERNEL(s, float)
KERNEL(d, double)
KERNEL(c, complex_of<float>)
KERNEL(z, complex_of<double>)
/* SPDX-License-Identifier: BSD-2-Clause */
