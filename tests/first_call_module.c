/* A library whose constructor calls the BLAS; first_call loads it while a second thread makes a call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

static void __attribute__((constructor)) loaded(void)
{
    typedef double dot_fn(const int *, const double *, const int *, const double *, const int *);
    const int n = 2, one = 1;
    const double x[2] = {3, 4};
    dot_fn *dot = (dot_fn *)dlsym(RTLD_DEFAULT, "ddot_");
    double sum = dot ? dot(&n, x, &one, x, &one) : 0;

    if (sum < 25 || sum > 25)
        abort();
}
/* SPDX-License-Identifier: BSD-2-Clause */
