/* A library linked with a program's own BLAS (bundled.c), which it calls. */
#include <stdint.h>

void scipy_dcopy_64_(const int64_t *n, const double *x, const int64_t *incx, double *y, const int64_t *incy);

__attribute__((visibility("default"))) void bundled_copy(int64_t n, const double *x, int64_t incx, double *y);
void bundled_copy(int64_t n, const double *x, int64_t incx, double *y)
{
    const int64_t one = 1;

    scipy_dcopy_64_(&n, x, &incx, y, &one);
}
/* SPDX-License-Identifier: BSD-2-Clause */
