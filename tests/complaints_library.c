/* A library with error handlers of its own, and calls with wrong arguments. */
#include <stdarg.h>
#include <stdio.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc, size_t transa_length, size_t transb_length);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);
#pragma GCC visibility push(default)
void xerbla_(const char *name, const int *info, size_t length);
void cblas_xerbla(int parameter, const char *routine, const char *form, ...);
void bad_gemm(void);
void bad_potrf(void);
void complain(void);
#pragma GCC visibility pop

void xerbla_(const char *name, const int *info, size_t length)
{
    printf("the library's xerbla: %.*s %d\n", length < 6 ? (int)length : 6, name, *info);
}

void cblas_xerbla(int parameter, const char *routine, const char *form, ...)
{
    va_list args;

    printf("the library's cblas_xerbla: %d %s ", parameter, routine);
    va_start(args, form);
    vprintf(form, args);
    va_end(args);
}

void bad_gemm(void)
{
    const int wrong = -1, one = 1;
    double number = 0;

    dgemm_("N", "N", &wrong, &one, &one, &number, &number, &one, &number, &one, &number, &number, &one, 1, 1);
}

void bad_potrf(void)
{
    const int wrong = -1, one = 1;
    double number = 0;
    int info;

    dpotrf_("L", &wrong, &number, &one, &info, 1);
}

/* Through the global scope, as libraries of LAPACK routines call. */
void complain(void)
{
    const int which = 7;

    xerbla_("COMPLA", &which, 6);
    cblas_xerbla(7, "complain", "%s %d\n", "of", 7);
}
/* SPDX-License-Identifier: BSD-2-Clause */
