/* GMRES (Saad, Schultz), restarted, for an unsymmetric sparse matrix, by MKL's mkl_sparse_d_mv and the BLAS.
 *
 *     gmres [options] [n [iterations]]           examples/problem.h
 *
 * The basis is one dense matrix; classical Gram-Schmidt, applied twice, makes a new column orthogonal to the basis. The
 * stencils are those of convection and diffusion; rows are scaled to a unit diagonal. -w: after the first solution the
 * CPU changes one value of the matrix, and the solver continues from the solution. */
#include <math.h>

#include "examples/mkl_sparse.h"
#include "examples/problem.h"

#define RESTART 30

static const int one = 1;
static const double unit = 1, minus_unit = -1, zero = 0, tolerance = 1e-10;
static double *basis; /* RESTART + 1 columns */
static double h[RESTART + 1][RESTART + 1], cosine[RESTART], sine[RESTART], g[RESTART + 1]; /* h: by columns */
static sparse_matrix_t matrix;
static int done; /* iterations */

static double *column(int n, int j)
{
    return basis + (size_t)j * (size_t)n;
}

static void product(const double *x, double *y)
{
    const struct matrix_descr general = {SPARSE_MATRIX_TYPE_GENERAL, 0, 0};

    if (mkl_sparse_d_mv(SPARSE_OPERATION_NON_TRANSPOSE, 1, matrix, general, x, 0, y) != SPARSE_STATUS_SUCCESS)
        exit(1);
}

/* Column j + 1 := A times column j, made orthogonal to the columns before and of length one; h[j]: the coefficients. */
static void next_column(int n, int j)
{
    double *w = column(n, j + 1), again[RESTART], inverse;
    int columns = j + 1;

    product(column(n, j), w);
    dgemv_("T", &n, &columns, &unit, basis, &n, w, &one, &zero, h[j], &one, 1);
    dgemv_("N", &n, &columns, &minus_unit, basis, &n, h[j], &one, &unit, w, &one, 1);
    dgemv_("T", &n, &columns, &unit, basis, &n, w, &one, &zero, again, &one, 1);
    dgemv_("N", &n, &columns, &minus_unit, basis, &n, again, &one, &unit, w, &one, 1);
    for (int i = 0; i <= j; i++)
        h[j][i] += again[i];
    h[j][j + 1] = dnrm2_(&n, w, &one);
    inverse = h[j][j + 1] > 0 ? 1 / h[j][j + 1] : 0;
    dscal_(&n, &inverse, w, &one);
}

/* Givens rotations make h triangular; returns the residual's norm. */
static double rotate(int j)
{
    double length, *c = h[j];

    for (int i = 0; i < j; i++) {
        double upper = cosine[i] * c[i] + sine[i] * c[i + 1];

        c[i + 1] = cosine[i] * c[i + 1] - sine[i] * c[i];
        c[i] = upper;
    }
    length = hypot(c[j], c[j + 1]);
    cosine[j] = length > 0 ? c[j] / length : 1;
    sine[j] = length > 0 ? c[j + 1] / length : 0;
    c[j] = length;
    g[j + 1] = -sine[j] * g[j];
    g[j] *= cosine[j];
    return fabs(g[j + 1]);
}

/* x := x + basis y, h y = g */
static void correct(const struct problem *s, int columns)
{
    for (int i = columns - 1; i >= 0; i--) {
        for (int j = i + 1; j < columns; j++)
            g[i] -= h[j][i] * g[j];
        g[i] = h[i][i] != 0 ? g[i] / h[i][i] : 0;
    }
    dgemv_("N", &s->a.n, &columns, &unit, basis, &s->a.n, g, &one, &unit, s->x, &one, 1);
}

/* Column 0 := the residual, scaled to length one; returns the residual's norm. */
static double begin(const struct problem *s)
{
    double norm, inverse;

    product(s->x, basis);
    dscal_(&s->a.n, &minus_unit, basis, &one);
    daxpy_(&s->a.n, &unit, s->b, &one, basis, &one);
    norm = dnrm2_(&s->a.n, basis, &one);
    inverse = norm > 0 ? 1 / norm : 0;
    dscal_(&s->a.n, &inverse, basis, &one);
    g[0] = norm;
    return norm;
}

/* From x on; returns the residual's norm. */
static double solve(const struct problem *s, struct example_timer *timer)
{
    const double least = tolerance * dnrm2_(&s->a.n, s->b, &one);
    double residual = begin(s);
    int k = 0;

    while (k < s->iterations && residual > least) {
        int j = 0;

        for (; j < RESTART && k < s->iterations && residual > least; j++, k++) {
            next_column(s->a.n, j);
            residual = rotate(j);
            done++;
            example_lap(timer);
        }
        correct(s, j);
        residual = begin(s);
    }
    return residual;
}

int main(int argc, char **argv)
{
    struct example_timer timer = {0};
    struct problem s;
    double residual;

    problem_make(&s, argc, argv, 0.5, 1);
    basis = example_doubles((size_t)s.a.n * (RESTART + 1));
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
    return problem_report(&s, "gmres", done, residual, &timer);
}
/* SPDX-License-Identifier: BSD-2-Clause */
