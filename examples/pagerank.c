/* PageRank by power iteration, by MKL's mkl_sparse_d_mv and the BLAS.
 *
 *     pagerank [-f FILE] [n [iterations]]
 *
 * FILE: a square matrix in Matrix Market's format; row i lists the pages to which page i links. Without a file the
 * program makes up n pages (default 30000): a few without links, most with few links. iterations: at most (200). */
#include <math.h>
#include <unistd.h>

#include "examples/mkl_sparse.h"
#include "examples/problem.h"

static const int one = 1;
static const double damping = 0.85, minus_unit = -1, tolerance = 1e-12;
static const struct matrix_descr general = {SPARSE_MATRIX_TYPE_GENERAL, 0, 0};

/* A few pages are the targets of many links. */
static void make_links(struct stencil *a, long n)
{
    uint32_t state = 20261121;
    int at = 0;

    stencil_room(a, n, 16 * n);
    for (int i = 0; i < a->n; i++) {
        int links = i % 17 == 0 ? 0 : 1 + i * 7 % 16;

        a->start[i] = at;
        for (int k = 0; k < links; k++) {
            double u;

            state = state * 1664525u + 1013904223u;
            u = (state >> 8) * (1.0 / (1 << 24));
            a->columns[at++] = (int)(u * u * u * a->n);
        }
    }
    a->start[a->n] = a->entries = at;
}

/* A page divides its rank equally among its links; dangling: 1 for pages without links. */
static void share(struct stencil *a, double *dangling)
{
    for (int i = 0; i < a->n; i++) {
        int links = a->start[i + 1] - a->start[i];

        for (int e = a->start[i]; e < a->start[i + 1]; e++)
            a->values[e] = 1.0 / links;
        dangling[i] = links == 0;
    }
}

/* The rank that every page receives from pages without links, and from readers who jump to a random page. */
static double for_all(int n, const double *dangling, const double *rank)
{
    return (damping * ddot_(&n, dangling, &one, rank, &one) + 1 - damping) / n;
}

/* One more step by plain loops: returns the distance to the fixed point, or the error of the sum (which is 1), if
 * larger. */
static double error_of(const struct stencil *a, const double *dangling, const double *rank, double *next)
{
    double all = 0, sum = 0, error = 0;

    for (int i = 0; i < a->n; i++) {
        all += dangling[i] * rank[i];
        sum += rank[i];
    }
    for (int i = 0; i < a->n; i++)
        next[i] = (damping * all + 1 - damping) / a->n;
    for (int i = 0; i < a->n; i++)
        for (int e = a->start[i]; e < a->start[i + 1]; e++)
            next[a->columns[e]] += damping * a->values[e] * rank[i];
    for (int i = 0; i < a->n; i++)
        error += fabs(next[i] - rank[i]);
    return example_worse(error, fabs(sum - 1));
}

static int usage(void)
{
    fprintf(stderr, "usage: pagerank [-f FILE] [n [iterations]], n from 1 to 100000000\n");
    return 2;
}

/* Returns 0, or the status for main to return. */
static int read_arguments(int argc, char **argv, struct stencil *a, int *iterations)
{
    const char *file = NULL;
    int option, columns;
    long n;

    while ((option = getopt(argc, argv, "f:")) != -1) {
        if (option == '?')
            return usage();
        file = optarg;
    }
    n = optind < argc ? atol(argv[optind]) : 30000;
    *iterations = optind + 1 < argc ? atoi(argv[optind + 1]) : 200;
    if (n < 1 || n > 100000000 || *iterations < 1)
        return usage();
    if (!file)
        make_links(a, n);
    else if (market_read(a, &columns, file) || columns != a->n || !columns)
        return usage();
    return 0;
}

int main(int argc, char **argv)
{
    struct example_timer timer = {0};
    double *dangling, *ones, *rank, *next, change = 1, error;
    sparse_matrix_t matrix;
    int iterations = 0, k = 0, status;
    struct stencil a;

    status = read_arguments(argc, argv, &a, &iterations);
    if (status)
        return status;
    dangling = example_doubles((size_t)a.n);
    ones = example_doubles((size_t)a.n);
    rank = example_doubles((size_t)a.n);
    next = example_doubles((size_t)a.n);
    share(&a, dangling);
    for (int i = 0; i < a.n; i++) {
        ones[i] = 1;
        rank[i] = 1.0 / a.n;
    }
    if (mkl_sparse_d_create_csr(&matrix, SPARSE_INDEX_BASE_ZERO, a.n, a.n, a.start, a.start + 1, a.columns, a.values))
        return 1;
    timer.start = example_now();
    for (; k < iterations && change > tolerance; k++) {
        double *spare = rank, all = for_all(a.n, dangling, rank);

        dcopy_(&a.n, ones, &one, next, &one);
        if (mkl_sparse_d_mv(SPARSE_OPERATION_TRANSPOSE, damping, matrix, general, rank, all, next))
            return 1;
        daxpy_(&a.n, &minus_unit, next, &one, rank, &one);
        change = dasum_(&a.n, rank, &one);
        rank = next;
        next = spare;
        example_lap(&timer);
    }
    mkl_sparse_destroy(matrix);
    error = error_of(&a, dangling, rank, next);
    status = !(error <= change + 1e-12);
    printf("pagerank n=%d iterations=%d change=%.3e error=%.3e seconds_per_iteration=%.9f %s\n", a.n, k, change, error,
           example_seconds(&timer), status ? "WRONG" : "ok");
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
