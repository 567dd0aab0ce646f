/* Many small calls of one routine:  smallcalls ddot|daxpy|dgemm calls.  Linked with the BLAS only; examples_overhead.t
 * counts its instructions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double ddot_(const int *, const double *, const int *, const double *, const int *);
void daxpy_(const int *, const double *, const double *, const int *, double *, const int *);
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

int main(int argc, char **argv)
{
    static double a[64], b[64], c[64];
    const int n = 8, one = 1;
    const double half = 0.5;
    double sum = 0;
    int calls = argc > 2 ? atoi(argv[2]) : 0;

    for (int i = 0; i < 64; i++)
        a[i] = b[i] = 1;
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "ddot") == 0)
        for (int i = 0; i < calls; i++)
            sum += ddot_(&n, a, &one, b, &one);
    else if (strcmp(argv[1], "daxpy") == 0)
        for (int i = 0; i < calls; i++)
            daxpy_(&n, &half, a, &one, c, &one);
    else if (strcmp(argv[1], "dgemm") == 0)
        for (int i = 0; i < calls; i++)
            dgemm_("N", "N", &n, &n, &n, &half, a, &n, b, &n, &half, c, &n, 1, 1);
    else
        return 2;
    printf("smallcalls %s calls=%d sum=%g c=%g ok\n", argv[1], calls, sum, c[0]);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
