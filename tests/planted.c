/* A solver with lines that cost time: an element of a result that is read in each round, a matrix that is written
 * anew, an array that is used in two shapes, a scalar on a page of an array. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, ROUNDS = 5 };

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);

struct field {
    double norm, values[N * N];
};

static const double one = 1, zero = 0;

#define PRODUCT(n, a, lda, b, ldb, c, ldc)                                                                      \
    dgemm_("N", "N", &(const int){n}, &(const int){n}, &(const int){n}, &one, a, &(const int){lda}, b,          \
           &(const int){ldb}, &zero, c, &(const int){ldc})

int main(void)
{
    double *a = calloc(N * N, sizeof *a), *b = calloc(N * N, sizeof *b), *c = calloc(N * N, sizeof *c); /* arrays */
    struct field *field = calloc(1, sizeof *field); /* allocates */
    double *shapes = calloc(N * N, sizeof *shapes), sum = 0;

    for (int i = 0; i < N; i++)
        a[i + i * N] = 2;
    for (int round = 0; round < ROUNDS; round++) {
        memset(b, round, sizeof *b * N * N); /* writes */
        PRODUCT(N, a, N, b, N, c, N); /* needs */
        sum += c[round * N + round]; /* reads */
        PRODUCT(N / 2, shapes, N, a, N, c, N); /* one shape */
        PRODUCT(N / 2, shapes, N / 2, a, N, c, N); /* another shape */
    }
    for (int round = 0; round < ROUNDS; round++) {
        PRODUCT(N, a, N, field->values, N, c, N); /* needs values */
        PRODUCT(N, a, N, c, N, field->values, N); /* gives values */
        field->norm += round; /* shares */
    }
    printf("sum %g ok\n", sum);
    free(a), free(b), free(c), free(shapes), free(field);
}
/* SPDX-License-Identifier: BSD-2-Clause */
