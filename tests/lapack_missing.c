/* A process without a host BLAS and without a LAPACK: a caught LAPACK routine comes from the system's LAPACK, or one
 * line names the routine. */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "blas/veneers/prototypes.h"
#include "tests/tap.h"

void dpotrf2_(const char *uplo, const sc_blas_int *n, double *a, const sc_blas_int *lda, sc_blas_int *info,
              size_t length);

int main(void)
{
    static const char *const nowhere[] = {"/nowhere/libopenblas.so", NULL};
    const sc_blas_int n = 2;
    double a[4] = {4, 2, 2, 10};
    sc_blas_int info = -1;
    char text[2000];
    int log_pipe[2];
    ssize_t got;

    if (pipe(log_pipe) || dup2(log_pipe[1], STDERR_FILENO) < 0)
        return 1;
    sc_blas_host_candidates = nowhere;
    dpotrf2_("L", &n, a, &n, &info, 1);
    dprintf(STDERR_FILENO, "."); /* keeps read from waiting */
    got = read(log_pipe[0], text, sizeof text - 1);
    text[got > 0 ? got : 0] = 0;
    if (dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL))
        tap_ok(info == 0 && a[0] == 2 && a[1] == 1 && a[3] == 3, "LAPACK's routines are the system's");
    else
        tap_ok(a[0] == 4 && strstr(text, "dpotrf2"), "a LAPACK routine that no library has is named");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
