/* A threaded BLAS that is entered without the library's knowledge. Devices compute a product; OpenBLAS's own
 * factorization, called directly, touches the product from inside of OpenBLAS's thread pool. The program would hang if
 * emulated devices needed the pool.
 *
 *     own_threads ROUNDS */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);

int main(int argc, char **argv)
{
    enum { N = 700 };
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void (*dpotrf)(const char *, const int *, double *, const int *, int *) =
        library ? dlsym(library, "dpotrf_") : NULL;
    double one = 1, zero = 0, *a = malloc(sizeof *a * N * N), *c = malloc(sizeof *c * N * N);
    int n = N, info = 0, bad = 0;

    if (!dpotrf) {
        printf("no OpenBLAS\n");
        return 0;
    }
    for (int i = 0; i < N * N; i++)
        a[i] = (i % (N + 1) == 0 ? N : 0) + i * 7 % 11 * 0.1;
    for (int round = 0; round < atoi(argc > 1 ? argv[1] : "5"); round++) {
        dgemm_("T", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
        dpotrf(round % 2 ? "U" : "L", &n, c, &n, &info);
        bad |= info;
    }
    printf(bad ? "WRONG: %d\n" : "ok\n", info);
    return bad != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
