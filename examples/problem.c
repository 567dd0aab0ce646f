#include "examples/problem.h"

#include <math.h>
#include <unistd.h>

static void usage(const char *program)
{
    fprintf(stderr, "usage: %s " PROBLEM_USAGE ", n from 1 to 200000000\n", program);
    exit(2);
}

static int is_stencil(int points)
{
    return points == 3 || points == 5 || points == 7 || points == 27;
}

static void read_file(struct stencil *a, const char *path)
{
    int columns;

    if (market_read(a, &columns, path))
        exit(2);
    if (columns != a->n || !columns) {
        fprintf(stderr, "%s: a matrix of %d rows and %d columns is no system of equations\n", path, a->n, columns);
        exit(2);
    }
}

static double *diagonal_of(const struct stencil *a, int row)
{
    for (int e = a->start[row]; e < a->start[row + 1]; e++)
        if (a->columns[e] == row)
            return &a->values[e];
    return NULL;
}

/* Jacobi's preconditioner, applied once from the left; rows without a diagonal stay unchanged. */
static void scale(struct stencil *a)
{
    for (int i = 0; i < a->n; i++) {
        const double *at = diagonal_of(a, i);
        double diagonal = at ? *at : 0;

        for (int e = a->start[i]; diagonal != 0 && e < a->start[i + 1]; e++)
            a->values[e] /= diagonal;
    }
}

static void make_matrix(struct problem *p, const char *file, int points, double wind, long n)
{
    if (file)
        read_file(&p->a, file);
    else if (points == 3)
        stencil_tridiagonal(&p->a, n);
    else
        stencil_grid(&p->a, points, wind, n);
}

void problem_make(struct problem *p, int argc, char **argv, double wind, int scaled)
{
    const char *file = NULL;
    int option, points = 7;
    long n;

    p->writes = 0;
    while ((option = getopt(argc, argv, "f:s:w")) != -1) {
        if (option == '?')
            usage(argv[0]);
        file = option == 'f' ? optarg : file;
        points = option == 's' ? atoi(optarg) : points;
        p->writes |= option == 'w';
    }
    n = optind < argc ? atol(argv[optind]) : 30000;
    p->iterations = optind + 1 < argc ? atoi(argv[optind + 1]) : 200;
    if (n < 1 || n > 200000000 || p->iterations < 1 || !is_stencil(points))
        usage(argv[0]);
    make_matrix(p, file, points, wind, n);
    if (scaled)
        scale(&p->a);
    p->b = example_doubles((size_t)p->a.n);
    p->x = example_doubles((size_t)p->a.n);
    for (int i = 0; i < p->a.n; i++) {
        p->b[i] = 1 + i % 3;
        p->x[i] = 0;
    }
}

void problem_change(struct problem *p)
{
    double *diagonal = diagonal_of(&p->a, p->a.n / 2);

    if (diagonal)
        *diagonal += 1;
}

double problem_error(const struct problem *p)
{
    double worst = 0;

    for (int i = 0; i < p->a.n; i++) {
        double rest = p->b[i];

        for (int e = p->a.start[i]; e < p->a.start[i + 1]; e++)
            rest -= p->a.values[e] * p->x[p->a.columns[e]];
        worst = example_worse(worst, fabs(rest));
    }
    return worst;
}

int problem_report(const struct problem *p, const char *name, int iterations, double residual,
                   struct example_timer *timer)
{
    double error = problem_error(p);
    int good = error <= 1e-9 + 2 * residual;

    printf("%s n=%d iterations=%d residual=%.3e error=%.3e seconds_per_iteration=%.9f %s\n", name, p->a.n, iterations,
           residual, error, example_seconds(timer), good ? "ok" : "WRONG");
    return good ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
