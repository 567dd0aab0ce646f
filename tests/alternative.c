/* A program linked with libblas.so.3 (or in different ways: tests/alternatives.t), which uses a LAPACK if a path is
 * given. Prints the libraries that define dgemm_ for the program and for the LAPACK, and whether the numbers are
 * right. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

enum { N = 300 };

/* A dgemm_ in the program, as from a static library: C := A B^T, whatever the letters say. */
#ifdef OWN_DGEMM
__attribute__((visibility("default")))
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc, size_t la, size_t lb)
{
    (void)transa, (void)transb, (void)alpha, (void)beta, (void)la, (void)lb;
    for (int j = 0; j < *n; j++)
        for (int i = 0; i < *m; i++) {
            c[i + j * *ldc] = 0;
            for (int l = 0; l < *k; l++)
                c[i + j * *ldc] += a[i + l * *lda] * b[j + l * *ldb];
        }
}
#endif

static void say_library(const char *whose, void *symbol)
{
    Dl_info info;

    printf("%s: %s\n", whose, symbol && dladdr(symbol, &info) ? info.dli_fname : "none");
}

/* A := L L^T with 1 on and below L's diagonal: every factor is exact. */
static double factor(const char *path, double *L, double *A)
{
    typedef void potrf(const char *, const int *, double *, const int *, int *, size_t);
    void *lapack = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    potrf *dpotrf = lapack ? (potrf *)dlsym(lapack, "dpotrf_") : NULL;
    const int n = N;
    int info = -1;
    double off = 0;

    if (!dpotrf)
        return HUGE_VAL;
    say_library("lapack", dlsym(lapack, "dtrsm_"));
    dpotrf("L", &n, A, &n, &info, 1);
    for (int j = 0; j < N; j++)
        for (int i = j; i < N; i++)
            off = fmax(off, fabs(A[i + j * N] - L[i + j * N]));
    return info ? HUGE_VAL : off;
}

int main(int argc, char **argv)
{
    const int n = N;
    const double one = 1, zero = 0;
    double *L = calloc(N * N, sizeof *L), *A = calloc(N * N, sizeof *A), off = 0;

    if (!L || !A)
        return 1;
    for (int j = 0; j < N; j++)
        for (int i = j; i < N; i++)
            L[i + j * N] = 1;
    say_library("program", dlsym(RTLD_DEFAULT, "dgemm_"));
    dgemm_("N", "T", &n, &n, &n, &one, L, &n, L, &n, &zero, A, &n, 1, 1);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            off = fmax(off, fabs(A[i + j * N] - (i < j ? i + 1 : j + 1)));
    if (argc > 1)
        off = fmax(off, factor(argv[1], L, A));
    printf("%s\n", off == 0 ? "right" : "wrong");
    return off != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
