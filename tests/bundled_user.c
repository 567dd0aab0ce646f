/* A library that calls the BLAS that a program brings (bundled.c), which the library is linked with. */
#include <stdint.h>

void scipy_dcopy_64_(const int64_t *n, const double *x, const int64_t *incx, double *y, const int64_t *incy);

__attribute__((visibility("default"))) void bundled_copy(int64_t n, const double *x, int64_t incx, double *y);
void bundled_copy(int64_t n, const double *x, int64_t incx, double *y)
{
    const int64_t one = 1;

    scipy_dcopy_64_(&n, x, &incx, y, &one);
}
