/* Solves A x = b by conjugate gradients with Fortran-style BLAS calls. A is dense, symmetric and diagonally dominant
 * (hence positive definite), with a condition number near 1000. b is chosen for a solution of ones.
 *
 *     cg [-t tolerance] [n [iterations]]
 *
 * Stops when the residual is below tolerance (default 1e-10) times the norm of b; -t 0 runs every iteration. */
#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "example.h"

struct problem {
    int n;
    double *a, *b, *x, *r, *p, *q;
};

static const int one = 1;

/* Runs up to `iterations`; returns how many were run.  *rr is the squared norm of the residual. */
static int solve(struct problem *s, int iterations, double tolerance, double *rr, struct example_timer *timer)
{
    const double zero = 0, unit = 1;
    double stop;
    int k = 0;

    dcopy_(&s->n, s->b, &one, s->r, &one); /* x = 0: r = b */
    dcopy_(&s->n, s->r, &one, s->p, &one);
    *rr = ddot_(&s->n, s->r, &one, s->r, &one);
    stop = tolerance * tolerance * *rr;
    while (k < iterations && *rr > stop) {
        double alpha, minus, beta, old = *rr;

        dgemv_("N", &s->n, &s->n, &unit, s->a, &s->n, s->p, &one, &zero, s->q, &one, 1);
        alpha = *rr / ddot_(&s->n, s->p, &one, s->q, &one);
        minus = -alpha;
        daxpy_(&s->n, &alpha, s->p, &one, s->x, &one);
        daxpy_(&s->n, &minus, s->q, &one, s->r, &one);
        *rr = ddot_(&s->n, s->r, &one, s->r, &one);
        beta = *rr / old;
        dscal_(&s->n, &beta, s->p, &one);
        daxpy_(&s->n, &unit, s->r, &one, s->p, &one);
        example_lap(timer);
        k++;
    }
    return k;
}

/* The norm of b - A x, by plain loops. */
static double true_residual(struct problem *s)
{
    size_t n = (size_t)s->n;
    double sum = 0, *r = s->q; /* q is free again */

    for (size_t i = 0; i < n; i++)
        r[i] = s->b[i];
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            r[i] -= s->a[j * n + i] * s->x[j];
    for (size_t i = 0; i < n; i++)
        sum += r[i] * r[i];
    return sqrt(sum);
}

int main(int argc, char **argv)
{
    struct problem s = {.n = 2000};
    int option, iterations = 400, done;
    double tolerance = 1e-10, rr, norm_b = 0, residual, check, seconds;
    struct example_timer timer = {0};
    bool good;

    while ((option = getopt(argc, argv, "t:")) != -1) {
        if (option != 't')
            return 2;
        tolerance = atof(optarg);
    }
    if (optind < argc)
        s.n = atoi(argv[optind++]);
    if (optind < argc)
        iterations = atoi(argv[optind++]);
    if (s.n < 1 || iterations < 1 || optind < argc) {
        fprintf(stderr, "usage: cg [-t tolerance] [n [iterations]]\n");
        return 2;
    }

    s.a = example_doubles((size_t)s.n * (size_t)s.n);
    s.b = example_doubles((size_t)s.n);
    s.x = example_doubles((size_t)s.n);
    s.r = example_doubles((size_t)s.n);
    s.p = example_doubles((size_t)s.n);
    s.q = example_doubles((size_t)s.n);
    example_cg((size_t)s.n, s.a, s.b);
    for (int i = 0; i < s.n; i++) {
        s.x[i] = 0;
        norm_b += s.b[i] * s.b[i];
    }
    norm_b = sqrt(norm_b);

    timer.start = example_now();
    done = solve(&s, iterations, tolerance, &rr, &timer);
    seconds = example_seconds(&timer);

    residual = sqrt(rr) / norm_b;
    check = true_residual(&s) / norm_b;
    /* The recurrence and the true residual differ by rounding only. */
    good = isfinite(check) && fabs(check - residual) <= 1e-9;
    printf("cg n=%d iterations=%d residual=%.3e true_residual=%.3e seconds_per_iteration=%.6f %s\n", s.n, done,
           residual, check, seconds, good ? "ok" : "WRONG");
    free(s.q);
    free(s.p);
    free(s.r);
    free(s.x);
    free(s.b);
    free(s.a);
    return good ? 0 : 1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
