/* Conjugate gradients for a symmetric sparse matrix, by MKL's mkl_cspblas_dcsrgemv and the BLAS.
 *
 *     cg_sparse [options] [n [iterations]]           examples/problem.h
 *
 * -w: after the first solution the CPU changes one value of the matrix, and the solver continues from the solution. */
#include <math.h>

#include "examples/mkl_sparse.h"
#include "examples/problem.h"

static const int one = 1;
static double *r, *p, *q;

static void product(const struct stencil *s, const double *x, double *y)
{
    mkl_cspblas_dcsrgemv("N", &s->n, s->values, s->start, s->columns, x, y);
}

/* Solves from the start value x; returns the residual's norm. */
static double solve(const struct stencil *s, const double *b, double *x, int iterations, struct example_timer *timer)
{
    const double minus_unit = -1, unit = 1;
    double rr;

    product(s, x, r);
    dscal_(&s->n, &minus_unit, r, &one);
    daxpy_(&s->n, &unit, b, &one, r, &one);
    dcopy_(&s->n, r, &one, p, &one);
    rr = ddot_(&s->n, r, &one, r, &one);
    for (int k = 0; k < iterations && rr > 1e-24; k++) {
        double alpha, minus, beta, old = rr;

        product(s, p, q);
        alpha = rr / ddot_(&s->n, p, &one, q, &one);
        minus = -alpha;
        daxpy_(&s->n, &alpha, p, &one, x, &one);
        daxpy_(&s->n, &minus, q, &one, r, &one);
        rr = ddot_(&s->n, r, &one, r, &one);
        beta = rr / old;
        dscal_(&s->n, &beta, p, &one);
        daxpy_(&s->n, &unit, r, &one, p, &one);
        example_lap(timer);
    }
    return sqrt(rr);
}

int main(int argc, char **argv)
{
    struct example_timer timer = {0};
    struct problem system;
    double residual;
    size_t n;

    problem_make(&system, argc, argv, 0, 0);
    n = (size_t)system.a.n;
    r = example_doubles(n);
    p = example_doubles(n);
    q = example_doubles(n);
    timer.start = example_now();
    residual = solve(&system.a, system.b, system.x, system.iterations, &timer);
    if (system.writes) {
        problem_change(&system);
        residual = solve(&system.a, system.b, system.x, system.iterations, &timer);
    }
    return problem_report(&system, "cg_sparse", system.iterations, residual, &timer);
}
/* SPDX-License-Identifier: BSD-2-Clause */
