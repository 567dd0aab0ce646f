/* Jacobi's iteration for a banded matrix, by MKL's mkl_ddiamv and the BLAS: x := b - (A - I) x, with rows scaled to a
 * unit diagonal.
 *
 *     jacobi_banded [-b DIAGONALS] [-w] [n [iterations]]
 *
 * n: default 100000; iterations: 200; DIAGONALS: on each side (default 16). -w: after each iteration the CPU changes
 * one element of the matrix, and the right side accordingly. */
#include <math.h>
#include <unistd.h>

#include "examples/example.h"
#include "examples/mkl_sparse.h"

struct banded {
    int n, diagonals, count; /* diagonals: on each side; count: in total */
    int *offset;             /* of each diagonal except the main diagonal */
    double *a;               /* element (i, i + offset[d]) of A - I at a[i + d n] */
};

static double *element(const struct banded *m, int i, int d)
{
    return &m->a[(size_t)i + (size_t)d * (size_t)m->n];
}

/* Off the diagonal, a row adds up to less than 0.8. b holds the row sums of A, for a solution of ones. */
static void make(struct banded *m, double *b)
{
    const double scale = 0.4 / (m->diagonals + 1);

    for (int i = 0; i < m->n; i++)
        b[i] = 1;
    for (int d = 0; d < m->count; d++) {
        m->offset[d] = d - m->diagonals + (d >= m->diagonals);
        for (int i = 0; i < m->n; i++) {
            long j = (long)i + m->offset[d];
            double *at = element(m, i, d);

            *at = j >= 0 && j < m->n ? scale * example_element((uint32_t)i, (uint32_t)j) : 0;
            b[i] += *at;
        }
    }
}

static void change(struct banded *m, double *b, int k)
{
    int i = (int)((long)k * 7919 % m->n);

    if (i + 1 == m->n || !m->count)
        return;
    *element(m, i, m->diagonals) += 1e-3; /* the first diagonal above the main diagonal */
    b[i] += 1e-3;
}

static int usage(void)
{
    fprintf(stderr, "usage: jacobi_banded [-b DIAGONALS] [-w] [n [iterations]], n from 1 to 200000000\n");
    return 2;
}

/* Reads the command line; returns 0, or the status for main to return. */
static int read_arguments(int argc, char **argv, struct banded *m, int *writes, int *iterations)
{
    int option;
    long n;

    while ((option = getopt(argc, argv, "b:w")) != -1) {
        if (option == '?')
            return usage();
        m->diagonals = option == 'b' ? atoi(optarg) : m->diagonals;
        *writes |= option == 'w';
    }
    n = optind < argc ? atol(argv[optind]) : 100000;
    *iterations = optind + 1 < argc ? atoi(argv[optind + 1]) : 200;
    if (n < 1 || n > 200000000 || *iterations < 1 || m->diagonals < 0 || m->diagonals > 10000)
        return usage();
    m->n = (int)n;
    m->count = 2 * m->diagonals;
    return 0;
}

/* next := b - (A - I) x */
static void step(const struct banded *m, const double *b, const double *x, double *next)
{
    const double unit = 1, minus_unit = -1;
    const int one = 1;

    dcopy_(&m->n, b, &one, next, &one);
    mkl_ddiamv("N", &m->n, &m->n, &minus_unit, "G  F", m->a, &m->n, m->offset, &m->count, x, &unit, next);
}

int main(int argc, char **argv)
{
    struct banded m = {.diagonals = 16};
    struct example_timer timer = {0};
    double *b, *x, *next, error = 0;
    int writes = 0, iterations, status = read_arguments(argc, argv, &m, &writes, &iterations);

    if (status)
        return status;
    m.a = example_doubles((size_t)m.n * (size_t)m.count);
    m.offset = malloc(((size_t)m.count + 1) * sizeof *m.offset);
    if (!m.offset)
        return 2;
    b = example_doubles((size_t)m.n);
    x = example_doubles((size_t)m.n);
    next = example_doubles((size_t)m.n);
    make(&m, b);
    for (int i = 0; i < m.n; i++)
        x[i] = 0;
    timer.start = example_now();
    for (int k = 0; k < iterations; k++) {
        double *spare = x;

        step(&m, b, x, next);
        x = next;
        next = spare;
        if (writes)
            change(&m, b, k);
        example_lap(&timer);
    }
    for (int i = 0; i < m.n; i++)
        error = example_worse(error, fabs(x[i] - 1));
    status = !(error <= 1e-10 + pow(0.85, iterations));
    printf("jacobi_banded n=%d iterations=%d error=%.3e seconds_per_iteration=%.9f %s\n", m.n, iterations, error,
           example_seconds(&timer), status ? "WRONG" : "ok");
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
