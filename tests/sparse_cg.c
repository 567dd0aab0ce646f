/* A CG loop of separate calls as a program would write it: products by semcache.h, the rest by the BLAS. sparse.t runs
 * the program under `semcache run`. Argument: number of devices expected (0: the host; -1: any). The statistics give
 * the bytes moved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "semcache/semcache.h"
#include "tests/tap.h"

double ddot_(const int *, const double *, const int *, const double *, const int *);
void daxpy_(const int *, const double *, const double *, const int *, double *, const int *);
void dscal_(const int *, const double *, double *, const int *);

enum { SIDE = 40, N = SIDE * SIDE * SIDE, ITERATIONS = 12 };

static int start[N + 1], entries;
static int *rows, *columns;
static double *values, *x, *r, *p, *q;
static struct semcache_sparse *matrix;

static struct semcache_statistics now(void)
{
    struct semcache_statistics statistics = {.size = sizeof statistics};

    semcache_statistics(&statistics);
    return statistics;
}

static void add(int column, double value)
{
    columns[entries] = column;
    values[entries++] = value;
}

/* The 7-point stencil on a cube: positive definite. */
static void make_matrix(void)
{
    rows = malloc((N + 1) * sizeof *rows);
    columns = malloc(7 * N * sizeof *columns);
    values = malloc(7 * N * sizeof *values);
    for (int k = 0, i = 0; k < SIDE; k++)
        for (int j = 0; j < SIDE; j++)
            for (int l = 0; l < SIDE; l++, i++) {
                start[i] = entries;
                if (k > 0)
                    add(i - SIDE * SIDE, -1);
                if (j > 0)
                    add(i - SIDE, -1);
                if (l > 0)
                    add(i - 1, -1);
                add(i, 6.5 + i % 3);
                if (l < SIDE - 1)
                    add(i + 1, -1);
                if (j < SIDE - 1)
                    add(i + SIDE, -1);
                if (k < SIDE - 1)
                    add(i + SIDE * SIDE, -1);
            }
    start[N] = entries;
    memcpy(rows, start, sizeof start);
}

/* Computed by plain loops from the current arrays. */
static double residual(const double *solution, double right)
{
    double sum = 0;

    for (int i = 0; i < N; i++) {
        double d = right;

        for (int e = start[i]; e < start[i + 1]; e++)
            d -= values[e] * solution[columns[e]];
        sum += d * d;
    }
    return sqrt(sum);
}

static void iterate(double *rr)
{
    static const int n = N, one = 1;
    const double unit = 1, zero = 0;
    double alpha, minus, beta, old = *rr;

    semcache_sparse_mv(matrix, 'N', &unit, p, &zero, q);
    alpha = *rr / ddot_(&n, p, &one, q, &one);
    minus = -alpha;
    daxpy_(&n, &alpha, p, &one, x, &one);
    daxpy_(&n, &minus, q, &one, r, &one);
    *rr = ddot_(&n, r, &one, r, &one);
    beta = *rr / old;
    dscal_(&n, &beta, p, &one);
    daxpy_(&n, &unit, r, &one, p, &one);
}

/* Solves A x = 1; returns the statistics after the first and after the last iteration. */
static void solve(double *rr, struct semcache_statistics *before, struct semcache_statistics *after)
{
    *rr = N;
    for (int i = 0; i < N; i++) {
        x[i] = 0;
        r[i] = p[i] = 1;
    }
    iterate(rr);
    *before = now();
    for (int k = 1; k < ITERATIONS; k++)
        iterate(rr);
    *after = now();
}

static void test_solve(int devices)
{
    struct semcache_statistics before, after;
    double rr, true_residual;
    uint64_t boundary, d2d;

    solve(&rr, &before, &after);
    tap_ok(devices < 0 || semcache_device_count() == devices, "%d devices", semcache_device_count());
    devices = semcache_device_count();
    boundary = (uint64_t)(devices - 1) * 2 * SIDE * SIDE * sizeof(double);
    tap_ok(after.bytes_h2d == before.bytes_h2d, "nothing is uploaded after the first iteration (%llu bytes)",
           (unsigned long long)(after.bytes_h2d - before.bytes_h2d));
    tap_ok(after.bytes_d2h == before.bytes_d2h, "nothing comes back (%llu bytes)",
           (unsigned long long)(after.bytes_d2h - before.bytes_d2h));
    d2d = (after.bytes_d2d - before.bytes_d2d) / (ITERATIONS - 1);
    tap_ok(devices < 2 || (d2d >= boundary && d2d * 5 <= boundary * 6),
           "devices exchange boundaries: %llu bytes an iteration, boundary %llu", (unsigned long long)d2d,
           (unsigned long long)boundary);
    true_residual = residual(x, 1);
    tap_ok(fabs(true_residual - sqrt(rr)) <= 1e-10 * sqrt((double)N), "residual %.3e, by loops %.3e", sqrt(rr),
           true_residual);
}

/* The CPU writes one value: the next product sees the value, and moves few bytes. */
static void test_write(int devices)
{
    const double unit = 1, zero = 0;
    struct semcache_statistics before;
    int at = start[N / 2];
    double error = 0;

    for (int i = 0; i < N; i++)
        p[i] = 1 + i % 7;
    semcache_sparse_mv(matrix, 'N', &unit, p, &zero, q);
    before = now();
    values[at] += 100;
    semcache_sparse_mv(matrix, 'N', &unit, p, &zero, q);
    if (devices)
        tap_ok(now().bytes_h2d > before.bytes_h2d &&
               now().bytes_h2d - before.bytes_h2d <= sizeof(double) * (size_t)entries / 16,
               "one value: %llu of %llu bytes are uploaded again",
               (unsigned long long)(now().bytes_h2d - before.bytes_h2d),
               (unsigned long long)(sizeof(double) * (size_t)entries));
    for (int i = 0; i < N; i++) {
        double d = -q[i];

        for (int e = start[i]; e < start[i + 1]; e++)
            d += values[e] * p[columns[e]];
        error = tap_worse(error, fabs(d));
    }
    tap_ok(error < 1e-9, "and the result has it (error %.2e)", error);
    values[at] -= 100;
}

/* A column index is written: data derived from the index are computed again. */
static void test_structure(void)
{
    const double unit = 1, zero = 0;
    int at = start[N - 1], column = columns[at];
    double expected;

    expected = q[N - 1];
    semcache_sparse_mv(matrix, 'N', &unit, p, &zero, q);
    expected = q[N - 1] - values[at] * (p[column] - p[5]);
    columns[at] = 5;
    semcache_sparse_mv(matrix, 'N', &unit, p, &zero, q);
    tap_ok(fabs(q[N - 1] - expected) < 1e-9, "a column that is written counts");
    q[3] = 77;
    columns[at] = N;
    tap_ok(semcache_sparse_mv(matrix, 'N', &unit, p, &zero, q) == SEMCACHE_ERROR_INVALID && q[3] == 77,
           "a column that is none is refused, nothing written");
    columns[at] = column;
    tap_ok(semcache_sparse_mv(matrix, 'N', &unit, p, &zero, q) == SEMCACHE_OK && q[3] != 77, "until it is one");
}

/* y := 2 A^T x - y with a matrix that is no longer symmetric. */
static void test_transposed(void)
{
    const double two = 2, minus = -1;
    double error = 0;

    values[start[100]] += 3;
    for (int i = 0; i < N; i++) {
        p[i] = 1 + i % 5;
        q[i] = r[i] = i % 11;
        r[i] = -r[i];
    }
    semcache_sparse_mv(matrix, 'T', &two, p, &minus, q);
    for (int i = 0; i < N; i++)
        for (int e = start[i]; e < start[i + 1]; e++)
            r[columns[e]] += 2 * values[e] * p[i];
    for (int i = 0; i < N; i++)
        error = tap_worse(error, fabs(r[i] - q[i]));
    tap_ok(error < 1e-9, "transposed, with beta (error %.2e)", error);
    values[start[100]] -= 3;
}

int main(int argc, char **argv)
{
    int devices = argc > 1 ? atoi(argv[1]) : 0;

    make_matrix();
    x = malloc(N * sizeof *x);
    r = malloc(N * sizeof *r);
    p = malloc(N * sizeof *p);
    q = malloc(N * sizeof *q);
    tap_ok(semcache_sparse_csr(&matrix, N, N, rows, columns, values, SEMCACHE_FLOAT64, 4, 0) == SEMCACHE_OK,
           "a matrix");
    test_solve(devices);
    test_write(devices);
    test_structure();
    test_transposed();
    semcache_sparse_destroy(matrix);
    free(rows);
    free(columns);
    free(values);
    free(x);
    free(r);
    free(p);
    free(q);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
