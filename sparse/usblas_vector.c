/* Sparse vectors of the Sparse BLAS, by loops on the host: they touch few elements of y, and the touch fetches them.
 * With a negative increment, positions count downwards from the given address. */
#include <complex.h>

#include "sparse/usblas.h"

/* Returns the base, 0 or 1, or a negative number after a line for invalid arguments. */
static int read_base(const char *name, int base, int incy)
{
    if (base != blas_zero_base && base != blas_one_base)
        return sc_usblas_wrong(name, "places count from 0 or from 1");
    if (!incy)
        return sc_usblas_wrong(name, "the increment is 0");
    return base - blas_zero_base;
}

static int read_conj(const char *name, int conj)
{
    return conj == blas_conj || conj == blas_no_conj ? 0 : sc_usblas_wrong(name, "conjugated or not?");
}

/* Index in y of element e of x. */
#define PLACE(e) (((int64_t)indx[e] - from) * incy)

/* number: the type in C, where `element` may be void; conjugated: the conjugate of a number */
#define LOOPS(l, number, conjugated)                                                                                 \
    static int l##dot(const char *name, int which, int n, const void *x_, const int *indx, const void *y_, int incy, \
                      void *r, int base)                                                                             \
    {                                                                                                                \
        const number *x = x_, *y = y_;                                                                               \
        number sum = 0;                                                                                              \
        int from = read_conj(name, which) ? -1 : read_base(name, base, incy);                                        \
                                                                                                                     \
        if (from < 0)                                                                                                \
            return -1;                                                                                               \
        for (int e = 0; e < n; e++)                                                                                  \
            sum += (which == blas_conj ? conjugated(x[e]) : x[e]) * y[PLACE(e)];                                     \
        *(number *)r = sum;                                                                                          \
        return 0;                                                                                                    \
    }                                                                                                                \
    static int l##axpy(const char *name, int n, const void *alpha_, const void *x_, const int *indx, void *y_,       \
                       int incy, int base)                                                                           \
    {                                                                                                                \
        const number alpha = *(const number *)alpha_, *x = x_;                                                       \
        number *y = y_;                                                                                              \
        int from = read_base(name, base, incy);                                                                      \
                                                                                                                     \
        for (int e = 0; from >= 0 && e < n && alpha != 0; e++)                                                       \
            y[PLACE(e)] += alpha * x[e];                                                                             \
        return from < 0 ? -1 : 0;                                                                                    \
    }                                                                                                                \
    static int l##gather(const char *name, int n, const void *y_, int incy, void *x_, const int *indx, int base)     \
    {                                                                                                                \
        const number *y = y_;                                                                                        \
        number *x = x_;                                                                                              \
        int from = read_base(name, base, incy);                                                                      \
                                                                                                                     \
        for (int e = 0; from >= 0 && e < n; e++)                                                                     \
            x[e] = y[PLACE(e)];                                                                                      \
        return from < 0 ? -1 : 0;                                                                                    \
    }                                                                                                                \
    static int l##gather_zero(const char *name, int n, void *y_, int incy, void *x_, const int *indx, int base)      \
    {                                                                                                                \
        number *x = x_, *y = y_;                                                                                     \
        int from = read_base(name, base, incy);                                                                      \
                                                                                                                     \
        for (int e = 0; from >= 0 && e < n; e++)                                                                     \
            x[e] = y[PLACE(e)];                                                                                      \
        for (int e = 0; from >= 0 && e < n; e++)                                                                     \
            y[PLACE(e)] = 0;                                                                                         \
        return from < 0 ? -1 : 0;                                                                                    \
    }                                                                                                                \
    static int l##scatter(const char *name, int n, const void *x_, void *y_, int incy, const int *indx, int base)    \
    {                                                                                                                \
        const number *x = x_;                                                                                        \
        number *y = y_;                                                                                              \
        int from = read_base(name, base, incy);                                                                      \
                                                                                                                     \
        for (int e = 0; from >= 0 && e < n; e++)                                                                     \
            y[PLACE(e)] = x[e];                                                                                      \
        return from < 0 ? -1 : 0;                                                                                    \
    }
LOOPS(s, float, )
LOOPS(d, double, )
LOOPS(c, float complex, conjf)
LOOPS(z, double complex, conj)

#define VECTORS(l, t, element, scalar, at)                                                                           \
    int BLAS_##l##usdot(enum blas_conj_type conj, int n, const element *x, const int *indx, const element *y,        \
                        int incy, element *r, enum blas_base_type base)                                              \
    {                                                                                                                \
        return l##dot("BLAS_" #l "usdot", (int)conj, n, x, indx, y, incy, r, (int)base);                             \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usdot, const int *conj, const int *n, const element *x, const int *indx, const element *y,  \
                      const int *incy, element *r, const int *base, int *status)                                     \
    {                                                                                                                \
        *status = l##dot(#l "usdot", *conj, *n, x, indx, y, *incy, r, *base);                                        \
    }                                                                                                                \
    int BLAS_##l##usaxpy(int n, scalar alpha, const element *x, const int *indx, element *y, int incy,               \
                         enum blas_base_type base)                                                                   \
    {                                                                                                                \
        return l##axpy("BLAS_" #l "usaxpy", n, at(alpha), x, indx, y, incy, (int)base);                              \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usaxpy, const int *n, const element *alpha, const element *x, const int *indx, element *y,  \
                      const int *incy, const int *base, int *status)                                                 \
    {                                                                                                                \
        *status = l##axpy(#l "usaxpy", *n, alpha, x, indx, y, *incy, *base);                                         \
    }                                                                                                                \
    int BLAS_##l##usga(int n, const element *y, int incy, element *x, const int *indx, enum blas_base_type base)     \
    {                                                                                                                \
        return l##gather("BLAS_" #l "usga", n, y, incy, x, indx, (int)base);                                         \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usga, const int *n, const element *y, const int *incy, element *x, const int *indx,         \
                      const int *base, int *status)                                                                  \
    {                                                                                                                \
        *status = l##gather(#l "usga", *n, y, *incy, x, indx, *base);                                                \
    }                                                                                                                \
    int BLAS_##l##usgz(int n, element *y, int incy, element *x, const int *indx, enum blas_base_type base)           \
    {                                                                                                                \
        return l##gather_zero("BLAS_" #l "usgz", n, y, incy, x, indx, (int)base);                                    \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usgz, const int *n, element *y, const int *incy, element *x, const int *indx,               \
                      const int *base, int *status)                                                                  \
    {                                                                                                                \
        *status = l##gather_zero(#l "usgz", *n, y, *incy, x, indx, *base);                                           \
    }                                                                                                                \
    int BLAS_##l##ussc(int n, const element *x, element *y, int incy, const int *indx, enum blas_base_type base)     \
    {                                                                                                                \
        return l##scatter("BLAS_" #l "ussc", n, x, y, incy, indx, (int)base);                                        \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##ussc, const int *n, const element *x, element *y, const int *incy, const int *indx,         \
                      const int *base, int *status)                                                                  \
    {                                                                                                                \
        *status = l##scatter(#l "ussc", *n, x, y, *incy, indx, *base);                                               \
    }
SC_USBLAS_TYPES(VECTORS)
/* SPDX-License-Identifier: BSD-2-Clause */
