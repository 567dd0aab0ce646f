/* Forward substitution with a triangle of at most 256 rows and many right sides, for ?trsm.
 *
 * A block of threads has some right sides in shared memory, and goes through the triangle by parts of 32 rows (16 in
 * double complex).  The first warp solves a part, each right side in one thread, with the reciprocals of the diagonal.
 * Meanwhile the other warps subtract the contributions of the part before from the rows behind the next part.  Then all
 * threads subtract the contributions of the solved part from the next part, which is solved next. */
#include <stdint.h>

#include "device/cuda/triangle_kernel.h"

#define ROWS SC_CUDA_TRIANGLE_ROWS
#define WARP 32
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

/* In shared memory: the right sides of a block, and two parts of the diagonal in turn.  Each row of the right sides has
 * 16 bytes more, so that threads of neighbouring rows meet different banks. */
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

#pragma unroll
    for (int i = 0; i < columns; i++) {
        int r = by_rows ? (int)threadIdx.x : i * (ROWS / columns) + (int)threadIdx.x / columns;
        int j = by_rows ? i : (int)threadIdx.x % columns;
        T *at = b + r * s.b_row + (first + j) * s.b_column;
        bool is_there = r < s.rows && first + j < s.columns;

        if (in)
            of->x[r][j] = is_there ? fused(scalar<T>(0, 0), alpha, *at) : scalar<T>(0, 0);
        else if (is_there)
            *at = of->x[r][j];
    }
}

/* The elements of L's diagonal from row k on that a thread brings: read first, stored when the part before is solved.
 * Rows beyond the triangle are those of the identity. */
template <typename T> struct diagonal_part {
    static const int part = sides<T>::part;
    static const int each = part * part / ROWS;
    T value[each];

    __device__ void read(const sc_cuda_triangle &s, const T *l, int k)
    {
        const bool by_rows = s.row == 1 || s.row == -1;

#pragma unroll
        for (int i = 0; i < each; i++) {
            int e = i * ROWS + (int)threadIdx.x, r = by_rows ? e % part : e / part, c = by_rows ? e / part : e % part;

            value[i] = scalar<T>(r == c, 0);
            if (c <= r && k + r < s.rows && !(r == c && s.unit))
                value[i] = l[(k + r) * s.row + (k + c) * s.column];
        }
    }

    __device__ void store(const sc_cuda_triangle &s, sides<T> *of) const
    {
        const bool by_rows = s.row == 1 || s.row == -1;

#pragma unroll
        for (int i = 0; i < each; i++) {
            int e = i * ROWS + (int)threadIdx.x, r = by_rows ? e % part : e / part, c = by_rows ? e / part : e % part;
            T element = s.conjugate ? conjugate(value[i]) : value[i];

            of->diagonal[c][r] = element;
            if (r == c) {
                of->reciprocal[r] = quotient(scalar<T>(1, 0), element);
                if (!is_usual(element))
                    of->unusual = 1;
            }
        }
    }
};

/* The part from row k on of one right side. */
template <typename T> static __device__ void solve_side(sides<T> *of, int k, int j)
{
    const int part = sides<T>::part;
    const bool divides = of->unusual;
    T x[part];

#pragma unroll
    for (int i = 0; i < part; i++)
        x[i] = of->x[k + i][j];
#pragma unroll
    for (int i = 0; i < part; i++) {
        x[i] = divides ? quotient(x[i], of->diagonal[i][i]) : fused(scalar<T>(0, 0), x[i], of->reciprocal[i]);
#pragma unroll
        for (int r = i + 1; r < part; r++)
            x[r] = fused(x[r], negative(of->diagonal[i][r]), x[i]);
    }
#pragma unroll
    for (int i = 0; i < part; i++)
        of->x[k + i][j] = x[i];
}

/* Row r of right sides [j, j + count) minus the contributions of the part from row k on. */
template <typename T, int count>
static __device__ void subtract(const sc_cuda_triangle &s, sides<T> *of, const T *l, int k, int r, int j)
{
    T sum[count], ahead[AHEAD];

#pragma unroll
    for (int i = 0; i < count; i++)
        sum[i] = of->x[r][j + i];
    for (int c = 0; c < sides<T>::part; c += AHEAD) {
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            ahead[i] = l[r * s.row + (k + c + i) * s.column];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            T factor = negative(s.conjugate ? conjugate(ahead[i]) : ahead[i]);

#pragma unroll
            for (int e = 0; e < count; e++)
                sum[e] = fused(sum[e], factor, of->x[k + c + i][j + e]);
        }
    }
#pragma unroll
    for (int i = 0; i < count; i++)
        of->x[r][j + i] = sum[i];
}

/* All threads: the part from row k + part on minus the contributions of the part from row k on. */
template <typename T> static __device__ void subtract_next(const sc_cuda_triangle &s, sides<T> *of, const T *l, int k)
{
    const int part = sides<T>::part, all = sides<T>::columns * part, count = all > ROWS ? all / ROWS : 1;
    int r = k + part + (int)threadIdx.x % part, j = (int)threadIdx.x / part * count;

    if (r < s.rows && j < sides<T>::columns)
        subtract<T, count>(s, of, l, k, r, j);
}

template <typename T> static __device__ void solve(const sc_cuda_triangle &s, sides<T> *of, const T *l, T *b)
{
    const int64_t first = (int64_t)blockIdx.x * sides<T>::columns;
    const int part = sides<T>::part;
    diagonal_part<T> next;

    next.read(s, l, 0);
    copy<T, true>(s, of, b, first, scalar<T>(s.alpha[0], s.alpha[1]));
    if (threadIdx.x == 0)
        of->unusual = 0;
    __syncthreads();
    next.store(s, of);
    for (int k = 0; k < s.rows; k += part) {
        int behind = k + part + (int)threadIdx.x - WARP;

        __syncthreads();
        if (threadIdx.x < WARP) {
            if (threadIdx.x < sides<T>::columns)
                solve_side(of, k, (int)threadIdx.x);
        } else if (k && behind < s.rows) {
            subtract<T, sides<T>::columns>(s, of, l, k - part, behind, 0);
        }
        if (k + part < s.rows)
            next.read(s, l, k + part);
        __syncthreads();
        if (k + part < s.rows) {
            next.store(s, of);
            subtract_next(s, of, l, k);
        }
    }
    __syncthreads();
    copy<T, false>(s, of, b, first, scalar<T>(1, 0));
}

/* Copies a triangle to memory with columns of ROWS elements.  A block copies a square of WARP rows and columns. */
template <typename T> static __device__ void turn(const sc_cuda_triangle &s, const T *l, T *to)
{
    __shared__ __align__(16) unsigned char memory[WARP * (WARP + 1) * sizeof(T)];
    T(*square)[WARP + 1] = (T(*)[WARP + 1])(void *)memory; /* [row][column] */
    int r0 = (int)blockIdx.x * WARP, c0 = (int)blockIdx.y * WARP, lane = (int)threadIdx.x % WARP;

    for (int i = (int)threadIdx.x / WARP; i < WARP; i += ROWS / WARP)
        if (r0 + i < s.rows && c0 + lane <= r0 + i)
            square[i][lane] = l[(r0 + i) * s.row + (c0 + lane) * s.column];
    __syncthreads();
    for (int i = (int)threadIdx.x / WARP; i < WARP; i += ROWS / WARP)
        if (r0 + lane < s.rows && c0 + i <= r0 + lane)
            to[r0 + lane + (c0 + i) * ROWS] = square[lane][i];
}

#define KERNELS(letter, type)                                                                                         \
    extern "C" __global__ void __launch_bounds__(ROWS, 2)                                                             \
        triangle_##letter(sc_cuda_triangle s, const type *l, type *b)                                                 \
    {                                                                                                                 \
        __shared__ __align__(16) unsigned char memory[sizeof(sides<type>)];                                           \
                                                                                                                      \
        solve(s, (sides<type> *)(void *)memory, l, b);                                                                \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(ROWS, 1)                                                             \
        triangle_turn_##letter(sc_cuda_triangle s, const type *l, type *to)                                           \
    {                                                                                                                 \
        turn(s, l, to);                                                                                               \
    }

KERNELS(s, float)
KERNELS(d, double)
KERNELS(c, complex_of<float>)
KERNELS(z, complex_of<double>)
/* SPDX-License-Identifier: BSD-2-Clause */
