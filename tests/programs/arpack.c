/* ARPACK: the largest eigenvalues of a dense symmetric matrix, by reverse communication with dsymv as the product. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 600, WANTED = 6, BASIS = 24 };

void dsaupd_(int *ido, const char *bmat, const int *n, const char *which, const int *nev, const double *tol,
             double *resid, const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd,
             double *workl, const int *lworkl, int *info, size_t, size_t);
void dseupd_(const int *rvec, const char *howmny, int *select, double *d, double *z, const int *ldz,
             const double *sigma, const char *bmat, const int *n, const char *which, const int *nev, const double *tol,
             double *resid, const int *ncv, double *v, const int *ldv, int *iparam, int *ipntr, double *workd,
             double *workl, const int *lworkl, int *info, size_t, size_t, size_t);
void dsymv_(const char *uplo, const int *n, const double *alpha, const double *a, const int *lda, const double *x,
            const int *incx, const double *beta, double *y, const int *incy, size_t);

static const int n = N, one = 1, wanted = WANTED, basis = BASIS, lwork = BASIS * (BASIS + 8);

static void product(const double *a, const double *x, double *y)
{
    const double alpha = 1, beta = 0;

    dsymv_("L", &n, &alpha, a, &n, x, &one, &beta, y, &one, 1);
}

int main(void)
{
    double *a = malloc(N * N * sizeof *a), *v = malloc(N * BASIS * sizeof *v), *resid = malloc(N * sizeof *resid);
    double *workd = malloc(3 * N * sizeof *workd), *workl = malloc(lwork * sizeof *workl), d[WANTED];
    const double tol = 1e-12, sigma = 0;
    int ido = 0, info = 1, select[BASIS], vectors = 1, pointers[14] = {0};
    int iparam[11] = {[0] = 1, [2] = 300, [3] = 1, [6] = 1};

    for (int j = 0; j < N; j++) {
        resid[j] = 1;
        for (int i = 0; i < N; i++)
            a[i + j * N] = i == j ? j : 1.0 / (1 + abs(i - j));
    }
    while (ido != 99) {
        dsaupd_(&ido, "I", &n, "LA", &wanted, &tol, resid, &basis, v, &n, iparam, pointers, workd, workl, &lwork, &info,
                1, 2);
        if (ido == 1 || ido == -1)
            product(a, workd + pointers[0] - 1, workd + pointers[1] - 1);
    }
    printf("converged: %d, status %d\n", iparam[4], info);
    dseupd_(&vectors, "A", select, d, v, &n, &sigma, "I", &n, "LA", &wanted, &tol, resid, &basis, v, &n, iparam,
            pointers, workd, workl, &lwork, &info, 1, 1, 2);
    for (int k = 0; k < WANTED; k++) {
        double error = 0;

        product(a, v + k * N, workd);
        for (int i = 0; i < N; i++)
            error = fmax(error, fabs(workd[i] - d[k] * v[i + k * N]));
        printf("eigenvalue near %.1f, residual %s\n", d[k], error < 1e-8 ? "ok" : "WRONG");
    }
    free(a), free(v), free(resid), free(workd), free(workl);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
