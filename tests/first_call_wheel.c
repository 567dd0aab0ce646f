/* A routine of LAPACK as pip's wheels name it, for first_call_own: sets INFO, and nothing else. */
#include <stddef.h>

__attribute__((visibility("default"))) void scipy_dpotrf_(const char *uplo, const int *n, double *a, const int *lda,
                                                          int *info, size_t length);

void scipy_dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length)
{
    (void)uplo;
    (void)n;
    (void)a;
    (void)lda;
    (void)length;
    *info = 42;
}
/* SPDX-License-Identifier: BSD-2-Clause */
