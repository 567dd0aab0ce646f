/* Multiplies two matrices through libsemcache; prints "right" and the library's version, or the wrong element. */
#include <semcache/semcache.h>
#include <stdio.h>
#include <stdlib.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);

enum { N = 300 };

int main(void)
{
    const int n = N;
    const double one = 1, zero = 0;
    double *a = semcache_alloc(sizeof *a * N * N), *b = semcache_alloc(sizeof *b * N * N);
    double *c = semcache_alloc(sizeof *c * N * N);

    if (!a || !b || !c)
        return EXIT_FAILURE;
    for (int i = 0; i < N * N; i++) {
        a[i] = i % 7;
        b[i] = i / N == i % N; /* the unit matrix */
    }
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
    for (int i = 0; i < N * N; i++)
        if (c[i] != a[i]) {
            printf("wrong at %d: %g\n", i, c[i]);
            return EXIT_FAILURE;
        }
    printf("right %s %s\n", semcache_version(), semcache_device_count() > 0 ? "devices" : "host");
    semcache_free(a);
    semcache_free(b);
    semcache_free(c);
    return EXIT_SUCCESS;
}
/* SPDX-License-Identifier: BSD-2-Clause */
