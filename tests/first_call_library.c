/* An optimised BLAS with one routine, for first_call_own. */
#define EXPORTED __attribute__((visibility("default")))

EXPORTED char *openblas_get_config(void);
EXPORTED double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);
EXPORTED extern int first_call_dots; /* calls of ddot_ */
int first_call_dots;

char *openblas_get_config(void)
{
    static char config[] = "a test's";

    return config;
}

double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy)
{
    double sum = 0;

    first_call_dots++;

    for (int i = 0; i < *n; i++)
        sum += x[i * *incx] * y[i * *incy];
    return sum;
}
/* SPDX-License-Identifier: BSD-2-Clause */
