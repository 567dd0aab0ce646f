/* stays CALLS SMALL: makes that many products of order 96 and of order 2, prints "ready", and waits for the end of its
 * input; each line of input is one more product. */
#include <stdio.h>
#include <stdlib.h>

#define N 96

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);

static double *a, *b, *c;

static void multiply(int n)
{
    const int ld = N;
    const double one = 1, zero = 0;

    dgemm_("N", "N", &n, &n, &n, &one, a, &ld, b, &ld, &zero, c, &ld);
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 0, small = argc > 2 ? atoi(argv[2]) : 0;

    a = calloc(N * N, sizeof *a);
    b = calloc(N * N, sizeof *b);
    c = calloc(N * N, sizeof *c);
    for (int i = 0; i < calls; i++)
        multiply(N);
    for (int i = 0; i < small; i++)
        multiply(2);
    puts("ready");
    fflush(stdout);
    for (int got = getchar(); got != EOF; got = getchar())
        if (got == '\n')
            multiply(N);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
