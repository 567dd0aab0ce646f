/* A BLAS as programs bring it: 64-bit integers, names of its own. */
#include <math.h>
#include <stdint.h>

double scipy_cblas_ddot64_(int64_t n, const double *x, int64_t incx, const double *y, int64_t incy);
double scipy_cblas_dasum64_(int64_t n, const double *x, int64_t incx);

__attribute__((visibility("default"))) double scipy_cblas_ddot64_(int64_t n, const double *x, int64_t incx,
                                                                 const double *y, int64_t incy)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i * incx] * y[i * incy];
    return sum;
}

__attribute__((visibility("default"))) double scipy_cblas_dasum64_(int64_t n, const double *x, int64_t incx)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += fabs(x[i * incx]);
    return sum;
}
