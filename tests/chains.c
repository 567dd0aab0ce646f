/* Calls a module that writes a matrix and reads a result, from two functions. argv[1]: the module. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, ROUNDS = 4 };

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc);

static void (*clear)(double *array, size_t bytes);
static double (*sum)(const double *array, int count);

static void __attribute__((noinline)) assemble(double *b)
{
    clear(b, sizeof *b * N * N); /* assembles */
    __asm__ volatile("" : : : "memory");
}

static double __attribute__((noinline)) look(const double *c)
{
    double seen = sum(c, 8); /* looks */

    __asm__ volatile("" : : : "memory");
    return seen;
}

int main(int argc, char **argv)
{
    static const double one = 1, zero = 0;
    static const int n = N;
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    double *a = calloc(N * N, sizeof *a), *b = calloc(N * N, sizeof *b);
    double *c = calloc(N * N, sizeof *c); /* allocates */
    double seen = 0;

    if (!module)
        return 1;
    *(void **)&clear = dlsym(module, "planted_clear");
    *(void **)&sum = dlsym(module, "planted_sum");
    for (int round = 0; round < ROUNDS; round++) {
        assemble(b);
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n); /* multiplies */
        seen += look(c);
    }
    printf("sum %g ok\n", seen);
    free(a), free(b), free(c);
}
/* SPDX-License-Identifier: BSD-2-Clause */
