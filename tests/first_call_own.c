/* A program with a BLAS of its own. The BLAS lacks dnrm2_. A second library has a scope of its own, and dpotrf by the
 * name of pip's wheels. Runs under semcache.
 *
 *     first_call_own LIBRARY
 *
 * Calls ddot_ and the LAPACK, and prints whether the host BLAS is mapped. Calls dnrm2_, and prints it again. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "tests/blas_is_mapped.h"

double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);
extern int first_call_dots; /* calls of the program's own ddot_ */
typedef double norm_fn(const int *, const double *, const int *);
typedef void potrf_fn(const char *, const int *, double *, const int *, int *, size_t);

enum { N = 16, ANSWER = 42 }; /* first_call_wheel.c's INFO */

static const char *mapped(void) { return blas_is_mapped() ? "mapped" : "not mapped"; }

int main(int argc, char **argv)
{
    static double x[N];
    const int n = N, one = 1, four = 4;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *norm = dlsym(RTLD_DEFAULT, "dnrm2_"), *potrf = dlsym(RTLD_DEFAULT, "scipy_dpotrf_");
    double dot, length;
    int info = 0;

    for (int i = 0; i < N; i++)
        x[i] = 1;
    dot = ddot_(&n, x, &one, x, &one);
    if (library && potrf)
        ((potrf_fn *)potrf)("L", &four, x, &four, &info, 1);
    printf("BLAS %s, ", mapped());
    length = norm ? ((norm_fn *)norm)(&four, x, &one) : 0;
    dot += ddot_(&n, x, &one, x, &one);
    printf("then %s, %s\n", mapped(),
           dot == 2 * N && first_call_dots == 2 && length == 2 && info == ANSWER ? "right" : "WRONG");
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
