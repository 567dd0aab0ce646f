/* Conjugate gradients for a symmetric sparse matrix, by the Sparse BLAS of the BLAS standard and the BLAS.
 *
 *     cg_usblas [options] [n [iterations]]           examples/problem.h
 *
 * The library receives the lower triangle of the matrix. -w: after the first solution one value is changed, which needs
 * a new matrix handle, and the solver continues from the solution. */
#include <math.h>

#include "examples/problem.h"
#include "examples/usblas.h"

static const int one = 1;
static double *r, *p, *q;

static void fail(const char *what)
{
    fprintf(stderr, "cg_usblas: %s failed\n", what);
    exit(1);
}

static int make_matrix(const struct stencil *s)
{
    int a = BLAS_duscr_begin(s->n, s->n), wrong;

    if (a < 0)
        fail("BLAS_duscr_begin");
    wrong = BLAS_ussp(a, blas_lower_symmetric);
    for (int i = 0; i < s->n; i++)
        for (int e = s->start[i]; e < s->start[i + 1]; e++)
            if (s->columns[e] <= i)
                wrong |= BLAS_duscr_insert_entry(a, s->values[e], i, s->columns[e]);
    if (wrong || BLAS_duscr_end(a))
        fail("filling the matrix");
    return a;
}

/* y := alpha A x + y */
static void add_product(double alpha, int a, const double *x, double *y)
{
    if (BLAS_dusmv(blas_no_trans, alpha, a, x, 1, y, 1))
        fail("BLAS_dusmv");
}

/* From x on; returns the residual's norm. */
static double solve(int n, int a, const double *b, double *x, int iterations, struct example_timer *timer)
{
    const double unit = 1, zero = 0;
    double rr;

    dcopy_(&n, b, &one, r, &one);
    add_product(-1, a, x, r);
    dcopy_(&n, r, &one, p, &one);
    rr = ddot_(&n, r, &one, r, &one);
    for (int k = 0; k < iterations && rr > 1e-24; k++) {
        double alpha, minus, beta, old = rr;

        dscal_(&n, &zero, q, &one);
        add_product(1, a, p, q);
        alpha = rr / ddot_(&n, p, &one, q, &one);
        minus = -alpha;
        daxpy_(&n, &alpha, p, &one, x, &one);
        daxpy_(&n, &minus, q, &one, r, &one);
        rr = ddot_(&n, r, &one, r, &one);
        beta = rr / old;
        dscal_(&n, &beta, p, &one);
        daxpy_(&n, &unit, r, &one, p, &one);
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
    int a;

    problem_make(&system, argc, argv, 0, 0);
    n = (size_t)system.a.n;
    r = example_doubles(n);
    p = example_doubles(n);
    q = example_doubles(n);
    for (size_t i = 0; i < n; i++)
        q[i] = 0;
    a = make_matrix(&system.a);
    timer.start = example_now();
    residual = solve(system.a.n, a, system.b, system.x, system.iterations, &timer);
    if (system.writes) {
        problem_change(&system);
        if (BLAS_usds(a))
            fail("BLAS_usds");
        a = make_matrix(&system.a);
        residual = solve(system.a.n, a, system.b, system.x, system.iterations, &timer);
    }
    if (BLAS_usds(a))
        fail("BLAS_usds");
    return problem_report(&system, "cg_usblas", system.iterations, residual, &timer);
}
/* SPDX-License-Identifier: BSD-2-Clause */
