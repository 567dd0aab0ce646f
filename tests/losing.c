/* y := A x in a loop: the program computes the next x from y, and writes one more element of A in each step. Arguments:
 * N, steps. Prints the sum of y. All numbers are whole, so that every order of a sum gives the same bits.
 * tests/losing.t counts the calls on devices for different costs of a page fault. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a, const int *lda,
            const double *x, const int *incx, const double *beta, double *y, const int *incy);

int main(int argc, char **argv)
{
    const int n = argc > 2 ? atoi(argv[1]) : 1000, steps = argc > 2 ? atoi(argv[2]) : 100, one = 1;
    const double alpha = 1, beta = 0;
    double *a = malloc(sizeof *a * (size_t)n * (size_t)n), *x = malloc(sizeof *x * (size_t)n);
    double *y = malloc(sizeof *y * (size_t)n), sum = 0;

    if (!a || !x || !y)
        return 1;
    for (long i = 0; i < (long)n * n; i++)
        a[i] = (double)(i % 7) - 3;
    for (int i = 0; i < n; i++)
        x[i] = 1;
    for (int s = 0; s < steps; s++) {
        dgemv_("N", &n, &n, &alpha, a, &n, x, &one, &beta, y, &one);
        for (int i = 0; i < n; i++)
            x[i] = 1 + fmod(y[i], 4);
        a[(long)(s * 37 % n) * n + s % n] += 1;
    }
    for (int i = 0; i < n; i++)
        sum += y[i];
    printf("%.12g\n", sum);
    free(a);
    free(x);
    free(y);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
