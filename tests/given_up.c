/* A matrix with one shape that leaves the devices twice: calls on the host keep fetching the matrix, because the CPU
 * writes before each call; later the program invalidates the matrix. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define PRODUCT(trans, n, a, x, y) dgemv_(trans, &(const int){n}, &(const int){n}, &one, a, &(const int){n}, x, \
                                          &(const int){1}, &zero, y, &(const int){1})

enum { N = 1200, SETTLED = 400, ROUNDS = 40 };

void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a, const int *lda,
            const double *x, const int *incx, const double *beta, double *y, const int *incy);

static const double one = 1, zero = 0;

int main(void)
{
    double *a = calloc(N * N, sizeof *a), *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y);
    int (*invalidate)(const void *, size_t) = (int (*)(const void *, size_t))dlsym(RTLD_DEFAULT, "semcache_invalidate");

    for (int i = 0; i < N; i++)
        x[i] = 1;
    for (int i = 0; i < SETTLED; i++)
        PRODUCT("N", N, a, x, y);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < N * N; i += 256)
            a[i] += 1;
        PRODUCT("N", N, a, x, y); /* sells */
    }
    for (int i = 0; i < 10 * SETTLED; i++)
        PRODUCT("T", N, a, x, y);
    if (invalidate)
        invalidate(a, N * N * sizeof *a);
    for (int i = 0; i < 10 * SETTLED; i++)
        PRODUCT("T", N, a, x, y); /* needs again */
    printf("%g\n", y[0]);
    free(a), free(x), free(y);
}
/* SPDX-License-Identifier: BSD-2-Clause */
