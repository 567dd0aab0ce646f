/* A BLAS as brought by programs: 64-bit integers and private names. Addresses are computed modulo 2^64, as in C. */
#include <math.h>
#include <stdint.h>

#define VISIBLE __attribute__((visibility("default")))

VISIBLE extern int bundled_calls;
int bundled_calls; /* number of calls of this library */

static const double *at(const double *x, int64_t i, int64_t inc)
{
    return (const double *)((uintptr_t)x + (uint64_t)i * (uint64_t)inc * sizeof *x);
}

VISIBLE double scipy_cblas_ddot64_(int64_t n, const double *x, int64_t incx, const double *y, int64_t incy);
VISIBLE double scipy_cblas_ddot64_(int64_t n, const double *x, int64_t incx, const double *y, int64_t incy)
{
    double sum = 0;

    bundled_calls++;
    for (int64_t i = 0; i < n; i++)
        sum += *at(x, i, incx) * *at(y, i, incy);
    return sum;
}

VISIBLE double scipy_cblas_dasum64_(int64_t n, const double *x, int64_t incx);
VISIBLE double scipy_cblas_dasum64_(int64_t n, const double *x, int64_t incx)
{
    double sum = 0;

    bundled_calls++;
    for (int64_t i = 0; i < n; i++)
        sum += fabs(*at(x, i, incx));
    return sum;
}

/* With a negative size, unlike a BLAS, returns the size and this library's number. */
VISIBLE void scipy_dcopy_64_(const int64_t *n, const double *x, const int64_t *incx, double *y, const int64_t *incy);
VISIBLE void scipy_dcopy_64_(const int64_t *n, const double *x, const int64_t *incx, double *y, const int64_t *incy)
{
    bundled_calls++;
    if (*n < 0)
        y[0] = (double)*n, y[1] = BUNDLED;
    for (int64_t i = 0; i < *n; i++)
        *(double *)(uintptr_t)at(y, i, *incy) = *at(x, i, *incx);
}
/* SPDX-License-Identifier: BSD-2-Clause */
