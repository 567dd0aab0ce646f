/* One large call of gemm, gemv or trsm that checks its own answer:  oom gemm|gemv|trsm n.  Linked with the BLAS only;
 * run by examples_oom.t with less device memory than the matrix needs. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);
void dgemv_(const char *, const int *, const int *, const double *, const double *, const int *, const double *,
            const int *, const double *, double *, const int *, size_t);
void dtrsm_(const char *, const char *, const char *, const char *, const int *, const int *, const double *,
            const double *, const int *, double *, const int *, size_t, size_t, size_t, size_t);

static const double unit = 1, zero = 0;
static const int one = 1;

/* The elements of A and B have separate factors for row and column. Every element of a product can therefore be
 * checked, and an element in a wrong tile is found. A(i,k) = u(i) + w(k), B(k,j) = v(k) * t(j). */
static double u(int i) { return (i * 37 % 101) / 101.0; }
static double w(int k) { return (k * 53 % 97) / 97.0; }
static double v(int k) { return (k * 29 % 89) / 89.0; }
static double t(int j) { return 1 + (j * 41 % 83) / 83.0; }

/* The larger error; not a number, once seen, stays. */
static double worse(double worst, double error)
{
    return worst != worst || error <= worst ? worst : error;
}

static double *doubles(int64_t count)
{
    double *p = malloc((size_t)count * sizeof *p);

    if (!p)
        exit(2);
    return p;
}

static double *matrix_a(int n)
{
    double *a = doubles((int64_t)n * n);

    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a[(int64_t)j * n + i] = u(i) + w(j);
    return a;
}

/* Largest relative distance of x(i) * scale from (u(i) * sum v + sum w v) * scale. */
static double distance(const double *x, int n, double scale)
{
    double sum_v = 0, sum_wv = 0, worst = 0;

    for (int k = 0; k < n; k++) {
        sum_v += v(k);
        sum_wv += w(k) * v(k);
    }
    for (int i = 0; i < n; i++) {
        worst = worse(worst, fabs(x[i] / (scale * (u(i) * sum_v + sum_wv)) - 1));
    }
    return worst;
}

static double check_gemv(int n)
{
    double *a = matrix_a(n), *x = doubles(n), *y = doubles(n), worst = 0;

    for (int k = 0; k < n; k++)
        x[k] = v(k);
    for (int round = 0; round < 3; round++) {
        dgemv_("N", &n, &n, &unit, a, &n, x, &one, &zero, y, &one, 1);
        worst = worse(worst, distance(y, n, 1));
    }
    free(y);
    free(x);
    free(a);
    return worst;
}

static double check_gemm(int n)
{
    double *a = matrix_a(n), *b = doubles((int64_t)n * n), *c = doubles((int64_t)n * n), worst = 0;

    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            b[(int64_t)j * n + k] = v(k) * t(j);
    dgemm_("N", "N", &n, &n, &n, &unit, a, &n, b, &n, &zero, c, &n, 1, 1);
    for (int j = 0; j < n; j++)
        worst = worse(worst, distance(c + (int64_t)j * n, n, t(j)));
    free(c);
    free(b);
    free(a);
    return worst;
}

/* Solves L X = B for X(i,j) = u(i) + t(j), a few hundred right-hand sides. */
static double check_trsm(int n)
{
    int rhs = n / 8 + 1;
    double *l = doubles((int64_t)n * n), *b = doubles((int64_t)n * rhs), worst = 0;

    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) /* the upper triangle must not be used */
            l[(int64_t)k * n + i] = i < k ? NAN : i == k ? 2 : (u(i) + w(k)) / (2.0 * n);
    for (int j = 0; j < rhs; j++) {
        double *column = b + (int64_t)j * n, sum_x = 0, sum_wx = 0;

        for (int i = 0; i < n; i++) {
            double x = u(i) + t(j);

            column[i] = 2 * x + (u(i) * sum_x + sum_wx) / (2.0 * n);
            sum_x += x;
            sum_wx += w(i) * x;
        }
    }
    dtrsm_("L", "L", "N", "N", &n, &rhs, &unit, l, &n, b, &n, 1, 1, 1, 1);
    for (int j = 0; j < rhs; j++)
        for (int i = 0; i < n; i++)
            worst = worse(worst, fabs(b[(int64_t)j * n + i] - u(i) - t(j)));
    free(b);
    free(l);
    return worst;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) : 0;
    double error, bound = 1e-12;

    if (n < 1)
        return 2;
    if (strcmp(argv[1], "gemm") == 0)
        error = check_gemm(n);
    else if (strcmp(argv[1], "gemv") == 0)
        error = check_gemv(n);
    else if (strcmp(argv[1], "trsm") == 0)
        error = check_trsm(n);
    else
        return 2;
    printf("oom %s n=%d error=%.3e %s\n", argv[1], n, error, error <= bound ? "ok" : "WRONG");
    return error <= bound ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
