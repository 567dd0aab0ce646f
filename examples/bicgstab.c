/* BiCGSTAB (van der Vorst) for an unsymmetric sparse matrix, by MKL's mkl_sparse_d_mv and the BLAS.
 *
 *     bicgstab [options] [n [iterations]]           examples/problem.h
 *
 * The stencils are those of convection and diffusion; rows are scaled to a unit diagonal. -w: after the first solution
 * the CPU changes one value of the matrix, and the solver continues from the solution. */
#include <math.h>

#include "examples/mkl_sparse.h"
#include "examples/problem.h"

static const int one = 1;
static const double unit = 1, minus_unit = -1, tolerance = 1e-10;
static double *r, *r0, *p, *v, *t;
static sparse_matrix_t matrix;
static int done; /* number of iterations */

static void product(const double *x, double *y)
{
    const struct matrix_descr general = {SPARSE_MATRIX_TYPE_GENERAL, 0, 0};

    if (mkl_sparse_d_mv(SPARSE_OPERATION_NON_TRANSPOSE, 1, matrix, general, x, 0, y) != SPARSE_STATUS_SUCCESS)
        exit(1);
}

static void axpy(int n, double alpha, const double *x, double *y)
{
    daxpy_(&n, &alpha, x, &one, y, &one);
}

/* p := r + beta (p - omega v) */
static void next_direction(int n, double beta, double omega)
{
    axpy(n, -omega, v, p);
    dscal_(&n, &beta, p, &one);
    daxpy_(&n, &unit, r, &one, p, &one);
}

/* From x on; returns the residual's norm. */
static double solve(const struct problem *s, struct example_timer *timer)
{
    const int n = s->a.n;
    double rho, alpha, omega, residual, least = tolerance * dnrm2_(&n, s->b, &one);

    product(s->x, r);
    dscal_(&n, &minus_unit, r, &one);
    daxpy_(&n, &unit, s->b, &one, r, &one);
    dcopy_(&n, r, &one, r0, &one);
    dcopy_(&n, r, &one, p, &one);
    rho = ddot_(&n, r0, &one, r, &one);
    residual = sqrt(rho);
    for (int k = 0; k < s->iterations && residual > least; k++) {
        double old = rho, tt;

        product(p, v);
        alpha = rho / ddot_(&n, r0, &one, v, &one);
        axpy(n, -alpha, v, r);
        product(r, t);
        tt = ddot_(&n, t, &one, t, &one);
        omega = tt > 0 ? ddot_(&n, t, &one, r, &one) / tt : 0; /* 0: solved */
        axpy(n, alpha, p, s->x);
        axpy(n, omega, r, s->x);
        axpy(n, -omega, t, r);
        residual = dnrm2_(&n, r, &one);
        rho = ddot_(&n, r0, &one, r, &one);
        next_direction(n, rho / old * (alpha / omega), omega);
        done++;
        example_lap(timer);
    }
    return residual;
}

int main(int argc, char **argv)
{
    struct example_timer timer = {0};
    struct problem s;
    double residual, **vector[] = {&r, &r0, &p, &v, &t};

    problem_make(&s, argc, argv, 0.5, 1);
    for (int i = 0; i < 5; i++)
        *vector[i] = example_doubles((size_t)s.a.n);
    if (mkl_sparse_d_create_csr(&matrix, SPARSE_INDEX_BASE_ZERO, s.a.n, s.a.n, s.a.start, s.a.start + 1, s.a.columns,
                                s.a.values) != SPARSE_STATUS_SUCCESS)
        return 1;
    timer.start = example_now();
    residual = solve(&s, &timer);
    if (s.writes) {
        problem_change(&s);
        residual = solve(&s, &timer);
    }
    mkl_sparse_destroy(matrix);
    return problem_report(&s, "bicgstab", done, residual, &timer);
}
/* SPDX-License-Identifier: BSD-2-Clause */
