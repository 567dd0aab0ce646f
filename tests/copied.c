/* Products with operands that cannot be watched (on the stack, static, too small), and with an ordinary operand. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 2000, SMALL = 500, ROUNDS = 10 };

void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a, const int *lda,
            const double *x, const int *incx, const double *beta, double *y, const int *incy);

static double common[N];

static const double one = 1, zero = 0;
static const int lda = N, inc = 1;

/* Calls are told by their lines. */
#define PRODUCT(a, m, n, x, y) dgemv_("N", &(const int){m}, &(const int){n}, &one, a, &lda, x, &inc, &zero, y, &inc)

static double on_stack(const double *a, int round)
{
    double x[N], y[N];

    for (int i = 0; i < N; i++)
        x[i] = i + round;
    PRODUCT(a, N, N, x, y); /* stack */
    return y[round];
}

int main(void)
{
    double *a = malloc(8ul * N * N), *small = malloc(8ul * SMALL), *y = malloc(8ul * N), sum = 0;

    for (int i = 0; i < N * N; i++)
        a[i] = 1.0 / (i + 1);
    for (int round = 0; round < ROUNDS; round++) {
        sum += on_stack(a, round);
        for (int i = 0; i < N; i++)
            common[i] = i - round;
        PRODUCT(a, N, N, common, y); /* static */
        for (int i = 0; i < SMALL; i++)
            small[i] = round;
        PRODUCT(a, N, SMALL, small, y); /* small */
    }
    printf("sum %g ok\n", sum + y[0]);
    free(a), free(small), free(y);
}
/* SPDX-License-Identifier: BSD-2-Clause */
