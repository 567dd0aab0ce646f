/* A program to be traced, with calls that the examples lack: calls on the host, calls on the stack, rows and columns,
 * blocks of one array, solves, memory that comes and goes, system calls. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 300 };

void cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc);
void cblas_dtrsm(int order, int side, int uplo, int trans, int diag, int m, int n, double alpha, const double *a,
                 int lda, double *b, int ldb);
void zgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a, const int *lda,
            const double *x, const int *incx, const double *beta, double *y, const int *incy);
double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);
void drot_(const int *n, double *x, const int *incx, double *y, const int *incy, const double *c, const double *s);

void srotm_(const int *n, float *x, const int *incx, float *y, const int *incy, const float *param);

static double *matrix(void)
{
    double *a = malloc(2 * N * N * sizeof *a);

    for (int i = 0; i < 2 * N * N; i++)
        a[i] = i % (N + 1) ? 1.0 / N : 3;
    return a;
}

/* Blocks of one array, by rows: C22 -= A21 A12, and a solve with the diagonal block. */
static void blocks(double *a)
{
    cblas_dgemm(101, 111, 112, N / 2, N / 2, N / 2, -1, a + N / 2 * N, N, a + N / 2, N, 1, a + N / 2 * N + N / 2, N);
    cblas_dtrsm(101, 141, 122, 111, 131, N / 2, N / 2, 1, a, N, a + N / 2, N);
}

static double on_the_stack(const double *a)
{
    double x[2 * N], y[2 * N] = {0}, one[2] = {1, 0}, c = 0.6, s = 0.8;
    const int n = N, inc = 1, back = -1, all = 2 * N;

    for (int i = 0; i < all; i++)
        x[i] = 1;
    zgemv_("C", &n, &n, one, a, &n, x, &back, one, y, &inc);
    drot_(&all, x, &inc, y, &inc, &c, &s);
    srotm_(&all, (float *)x, &inc, (float *)y, &inc, (const float[5]){-1, 0.5f, 0.25f, -2, 1});
    return ddot_(&all, x, &inc, y, &back);
}

int main(void)
{
    double sum = 0, *kept = matrix();
    int out = open("/dev/null", O_WRONLY);

    for (int round = 0; round < 4; round++) {
        double *a = matrix();

        blocks(a);
        if (write(out, a, N * sizeof *a) < 0) /* /dev/null accepts every write */
            return 1;
        cblas_dgemm(102, 111, 111, N, N, N, 1, a, N, a, N, 0.5, kept, N);
        kept[N + round] += 1;
        sum += on_the_stack(a);
        free(a);
    }
    printf("sum %g ok\n", sum + kept[N * N - 1]);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
