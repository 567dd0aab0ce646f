/* Solves A x = b by Jacobi's iteration, x := x + D^-1 (b - A x), with CBLAS calls. The rows of A are scaled so that D
 * is the identity. A is dense and diagonally dominant; b is chosen for a solution of ones.
 *
 *     jacobi [-r] [-e] [-o] [-w] [n [iterations]]
 *
 * -r  A is stored by rows (default: by columns).
 * -e  the CPU reads one element of x in each iteration.
 * -o  the program's own loops copy b, update x and sum the norm (default: BLAS calls).
 * -w  the CPU changes one line of A (a column; with -r a row) in each iteration. */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "example.h"

struct problem {
    int n, order;
    double *a, *b, *x, *r;
    double contraction; /* factor of the error (in the maximum norm) per iteration */
};

static void generate(struct problem *p)
{
    example_jacobi((size_t)p->n, p->order == EXAMPLE_ROW_MAJOR, p->a, p->b);
    p->contraction = 0;
    for (int i = 0; i < p->n; i++) {
        p->contraction = fmax(p->contraction, p->b[i] - 1);
        p->x[i] = 0;
    }
}

/* Halves or doubles line `line` of A except for its diagonal; the solution stays all ones. */
static void change_line(struct problem *p, int line, double factor)
{
    double *a = p->a + (size_t)line * (size_t)p->n;

    for (int i = 0; i < p->n; i++) {
        if (i == line)
            continue;
        p->b[p->order == EXAMPLE_ROW_MAJOR ? line : i] += (factor - 1) * a[i];
        a[i] *= factor;
    }
}

/* x := x + (b - A x); returns the norm of the residual b - A x before. */
static double iterate(struct problem *p)
{
    double norm;

    cblas_dcopy(p->n, p->b, 1, p->r, 1);
    cblas_dgemv(p->order, EXAMPLE_NO_TRANS, p->n, p->n, -1, p->a, p->n, p->x, 1, 1, p->r, 1);
    norm = cblas_dnrm2(p->n, p->r, 1);
    cblas_daxpy(p->n, 1, p->r, 1, p->x, 1);
    return norm;
}

/* The same with one BLAS call. */
static double iterate_own(struct problem *p)
{
    double sum = 0;

    memcpy(p->r, p->b, (size_t)p->n * sizeof *p->r);
    cblas_dgemv(p->order, EXAMPLE_NO_TRANS, p->n, p->n, -1, p->a, p->n, p->x, 1, 1, p->r, 1);
    for (int i = 0; i < p->n; i++) {
        p->x[i] += p->r[i];
        sum += p->r[i] * p->r[i];
    }
    return sqrt(sum);
}

/* The largest error of x, whose exact value is 1 everywhere. */
static double error_of(const struct problem *p)
{
    double error = 0;

    for (int i = 0; i < p->n; i++)
        error = example_worse(error, fabs(p->x[i] - 1));
    return error;
}

struct settings {
    int iterations;
    bool own;          /* own loops instead of BLAS calls for vectors */
    bool look, change; /* accesses by the CPU in each iteration */
};

static int parse(int argc, char **argv, struct problem *p, struct settings *settings)
{
    int option;

    while ((option = getopt(argc, argv, "reow")) != -1) {
        if (option == 'r')
            p->order = EXAMPLE_ROW_MAJOR;
        else if (option == 'e')
            settings->look = true;
        else if (option == 'o')
            settings->own = true;
        else if (option == 'w')
            settings->change = true;
        else
            return -1;
    }
    if (optind < argc)
        p->n = atoi(argv[optind++]);
    if (optind < argc)
        settings->iterations = atoi(argv[optind++]);
    return p->n < 1 || settings->iterations < 1 || optind < argc ? -1 : 0;
}

/* Runs the iterations. Returns the norm of the last residual, or NaN if the CPU read an element of x that was NaN. */
static double solve(struct problem *p, const struct settings *settings, double *seconds)
{
    struct example_timer timer = {.start = example_now()};
    double norm = 0, seen = 0;

    for (int k = 0; k < settings->iterations; k++) {
        norm = settings->own ? iterate_own(p) : iterate(p);
        if (settings->look)
            seen += p->x[(size_t)k * 7 % (size_t)p->n];
        if (settings->change)
            change_line(p, k / 2 * 5 % p->n, k % 2 ? 2 : 0.5);
        example_lap(&timer);
    }
    *seconds = example_seconds(&timer);
    return isfinite(seen) ? norm : NAN;
}

int main(int argc, char **argv)
{
    struct problem p = {.n = 2000, .order = EXAMPLE_COL_MAJOR};
    struct settings settings = {.iterations = 100};
    double norm, error, bound, seconds;
    bool good;

    if (parse(argc, argv, &p, &settings) != 0) {
        fprintf(stderr, "usage: jacobi [-r] [-e] [-o] [-w] [n [iterations]]\n");
        return 2;
    }
    p.a = example_doubles((size_t)p.n * (size_t)p.n);
    p.b = example_doubles((size_t)p.n);
    p.x = example_doubles((size_t)p.n);
    p.r = example_doubles((size_t)p.n);
    generate(&p);
    norm = solve(&p, &settings, &seconds);

    error = error_of(&p);
    bound = 1.01 * pow(p.contraction, settings.iterations) + 1e-11;
    good = error <= bound && isfinite(norm);
    printf("jacobi n=%d iterations=%d residual=%.3e error=%.3e bound=%.3e seconds_per_iteration=%.6f %s\n", p.n,
           settings.iterations, norm, error, bound, seconds, good ? "ok" : "WRONG");
    free(p.r);
    free(p.x);
    free(p.b);
    free(p.a);
    return good ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
