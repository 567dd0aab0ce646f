/* A program with an optimised BLAS of its own, which lacks dnrm2_. Runs under semcache. Prints whether the host BLAS
 * was mapped after a call of ddot_, and after a call of dnrm2_. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "tests/blas_is_mapped.h"

double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);
typedef double norm_fn(const int *, const double *, const int *);

enum { N = 16 };

static const char *mapped(void) { return blas_is_mapped() ? "mapped" : "not mapped"; }

int main(void)
{
    static double x[N];
    const int n = N, one = 1, four = 4;
    void *norm = dlsym(RTLD_DEFAULT, "dnrm2_");
    double dot, length;

    for (int i = 0; i < N; i++)
        x[i] = 1;
    dot = ddot_(&n, x, &one, x, &one);
    printf("BLAS %s, ", mapped());
    length = norm ? ((norm_fn *)norm)(&four, x, &one) : 0;
    printf("then %s, %s\n", mapped(), dot == N && length == 2 ? "right" : "WRONG");
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
