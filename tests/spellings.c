/* Calls every spelling of several routines, and compares with numbers computed here. Arguments: convention of complex
 * functions (gfortran, g77), and width of the spellings (32, 64; plain: plain names have 64-bit integers). Linked
 * without a BLAS: names are looked up, so that a missing name is reported. */
#define _GNU_SOURCE
#include <complex.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

typedef void fn(void);
enum { N = 96 };

static fn *find(const char *format, const char *name)
{
    char symbol[64];

    snprintf(symbol, sizeof symbol, format, name);
    return (fn *)dlsym(RTLD_DEFAULT, symbol);
}

static double *A, *B, *C, *wanted;

static void start(void)
{
    for (int i = 0; i < N * N; i++) {
        A[i] = i % 7 - 3;
        B[i] = i % 5 - 2;
        C[i] = 1e300;
    }
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            wanted[i + j * N] = 0;
            for (int k = 0; k < N; k++)
                wanted[i + j * N] += A[i + k * N] * B[k + j * N];
        }
}

/* Fortran names with integers of type `Int`. */
#define FORTRAN(function, Int)                                                                              \
    static void function(const char *spelling, bool g77)                                                    \
    {                                                                                                       \
        typedef void gemm(const char *, const char *, Int *, Int *, Int *, double *, double *, Int *,       \
                          double *, Int *, double *, double *, Int *, size_t, size_t);                      \
        typedef double dot(Int *, double *, Int *, double *, Int *);                                        \
        typedef Int amax(Int *, double *, Int *);                                                           \
        typedef double complex by_value(Int *, double complex *, Int *, double complex *, Int *);           \
        typedef void hidden(double complex *, Int *, double complex *, Int *, double complex *, Int *);     \
        gemm *dgemm = (gemm *)find(spelling, "dgemm");                                                      \
        dot *ddot = (dot *)find(spelling, "ddot");                                                          \
        amax *idamax = (amax *)find(spelling, "idamax");                                                    \
        fn *zdotc = find(spelling, "zdotc");                                                                \
        Int n = N, one = 1, two = 2;                                                                        \
        double alpha = 1, beta = 0;                                                                         \
        double complex x[2] = {1 + 2 * I, 3}, y[2] = {2, I}, z = 0;                                         \
                                                                                                            \
        if (!tap_ok(dgemm && ddot && idamax && zdotc, "%s is there", spelling))                             \
            return;                                                                                         \
        start();                                                                                            \
        dgemm("N", "n", &n, &n, &n, &alpha, A, &n, B, &n, &beta, C, &n, 1, 1);                              \
        tap_ok(!memcmp(C, wanted, N * N * sizeof *C), "%s: dgemm", spelling);                               \
        tap_ok(ddot(&n, A, &n, B, &one) == wanted[0], "%s: ddot", spelling);                                \
        A[41] = -100;                                                                                       \
        tap_ok(idamax(&n, A, &one) == 42, "%s: idamax", spelling);                                          \
        if (g77)                                                                                            \
            ((hidden *)zdotc)(&z, &two, x, &one, y, &one);                                                  \
        else                                                                                                \
            z = ((by_value *)zdotc)(&two, x, &one, y, &one);                                                \
        tap_ok(z == 2 - I, "%s: zdotc", spelling);                                                          \
    }
FORTRAN(fortran_32, int32_t)
FORTRAN(fortran_64, int64_t)

#define CBLAS(function, Int)                                                                                \
    static void function(const char *spelling)                                                              \
    {                                                                                                       \
        typedef void gemm(int, int, int, Int, Int, Int, double, double *, Int, double *, Int, double, double *, Int); \
        typedef size_t amax(Int, double *, Int);                                                            \
        typedef void dotc(Int, double complex *, Int, double complex *, Int, double complex *);             \
        gemm *dgemm = (gemm *)find(spelling, "dgemm");                                                      \
        amax *idamax = (amax *)find(spelling, "idamax");                                                    \
        dotc *zdotc = (dotc *)find(spelling, "zdotc_sub");                                                  \
        double complex x[2] = {1 + 2 * I, 3}, y[2] = {2, I}, z = 0;                                         \
                                                                                                            \
        if (!tap_ok(dgemm && idamax && zdotc, "%s is there", spelling))                                     \
            return;                                                                                         \
        start();                                                                                            \
        dgemm(102, 111, 111, N, N, N, 1, A, N, B, N, 0, C, N);                                              \
        tap_ok(!memcmp(C, wanted, N * N * sizeof *C), "%s: dgemm by columns", spelling);                    \
        dgemm(101, 111, 111, N, N, N, 1, B, N, A, N, 0, C, N);                                              \
        tap_ok(!memcmp(C, wanted, N * N * sizeof *C), "%s: dgemm by rows", spelling);                       \
        A[41] = -100;                                                                                       \
        tap_ok(idamax(N, A, 1) == 41, "%s: idamax", spelling);                                              \
        zdotc(2, x, 1, y, 1, &z);                                                                           \
        tap_ok(z == 2 - I, "%s: zdotc_sub", spelling);                                                      \
    }
CBLAS(cblas_32, int32_t)
CBLAS(cblas_64, int64_t)

int main(int argc, char **argv)
{
    bool g77 = argc > 1 && !strcmp(argv[1], "g77");
    const char *width = argc > 2 ? argv[2] : "32";

    A = malloc(N * N * sizeof *A), B = malloc(N * N * sizeof *B);
    C = malloc(N * N * sizeof *C), wanted = malloc(N * N * sizeof *wanted);
    if (!A || !B || !C || !wanted)
        return 1;
    if (!strcmp(width, "32")) {
        fortran_32("%s_", g77), fortran_32("%s", g77), fortran_32("scipy_%s_", g77);
        cblas_32("cblas_%s"), cblas_32("scipy_cblas_%s");
    } else if (!strcmp(width, "64")) {
        fortran_64("%s_64_", g77), fortran_64("%s_64", g77), fortran_64("scipy_%s_64_", g77);
        cblas_64("cblas_%s64_"), cblas_64("cblas_%s_64"), cblas_64("scipy_cblas_%s64_");
    } else {
        fortran_64("%s_", g77), cblas_64("cblas_%s");
    }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
