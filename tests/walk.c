/* For walk.t: walk_first and walk_again are the same dgemm, which an emulated device runs. The first call uploads the
 * operands. A dgemm on other matrices before the two opens the device. */
#include <stddef.h>
#include <stdlib.h>

enum { N = 512 };

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc, size_t transa_length, size_t transb_length);

static double *matrix(void)
{
    double *a = malloc(sizeof *a * N * N);

    for (int i = 0; a && i < N * N; i++)
        a[i] = i % 7;
    return a;
}

static __attribute__((noipa)) void product(const double *a, const double *b, double *c)
{
    const int n = N;
    const double alpha = 1, beta = 0;

    dgemm_("N", "N", &n, &n, &n, &alpha, a, &n, b, &n, &beta, c, &n, 1, 1);
}

static __attribute__((noipa)) void walk_first(const double *a, const double *b, double *c) { product(a, b, c); }
static __attribute__((noipa)) void walk_again(const double *a, const double *b, double *c) { product(a, b, c); }

int main(void)
{
    double *m[6];

    for (int i = 0; i < 6; i++)
        m[i] = matrix();
    product(m[0], m[1], m[2]);
    walk_first(m[3], m[4], m[5]);
    product(m[3], m[4], m[5]);
    walk_again(m[3], m[4], m[5]);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
