/* Conjugate gradients as a user of CHOLMOD writes them: cholmod_sdmult and the BLAS, on a Laplacian of a square grid.
 * Arguments: side, iterations, triangle (-1 lower, 1 upper, 0 all), integers (0 int, 1 long), columns.  With several
 * columns one more product has that many columns.  Prints norms. */
#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <suitesparse/cholmod.h>

static int wide;
static cholmod_common common;
#define CHOLMOD(name, ...) (wide ? cholmod_l_##name(__VA_ARGS__, &common) : cholmod_##name(__VA_ARGS__, &common))

/* Stored by columns, sorted. */
static cholmod_sparse *laplacian(int side, int stype)
{
    const size_t n = (size_t)side * (size_t)side;
    cholmod_sparse *a = CHOLMOD(allocate_sparse, n, n, 5 * n, 1, 1, stype, CHOLMOD_REAL);
    const int64_t steps[] = {-side, -1, 0, 1, side};
    int64_t count = 0;

    for (int64_t j = 0; j <= (int64_t)n; j++) {
        if (wide)
            ((int64_t *)a->p)[j] = count;
        else
            ((int *)a->p)[j] = (int)count;
        for (int k = 0; k < 5 && j < (int64_t)n; k++) {
            int64_t i = j + steps[k];

            if (i < 0 || i >= (int64_t)n || (k == 1 && j % side == 0) || (k == 3 && i % side == 0) ||
                (stype < 0 && i < j) || (stype > 0 && i > j))
                continue;
            if (wide)
                ((int64_t *)a->i)[count] = i;
            else
                ((int *)a->i)[count] = (int)i;
            ((double *)a->x)[count++] = k == 2 ? 4.1 : -1;
        }
    }
    return a;
}

static void multiply(cholmod_sparse *a, int transpose, double alpha, cholmod_dense *x, double beta, cholmod_dense *y)
{
    double scale[2] = {alpha, 0}, old[2] = {beta, 0};

    if (!CHOLMOD(sdmult, a, transpose, scale, old, x, y) || common.status != CHOLMOD_OK)
        printf("a product failed: %d\n", common.status);
}

static cholmod_dense *dense(int n, int columns, double value)
{
    cholmod_dense *d = CHOLMOD(allocate_dense, (size_t)n, (size_t)columns, (size_t)n, CHOLMOD_REAL);

    for (int i = 0; i < n * columns; i++)
        ((double *)d->x)[i] = value * (1 + i % 7);
    return d;
}

static void cg(cholmod_sparse *a, int n, int iterations)
{
    cholmod_dense *x = dense(n, 1, 0), *r = dense(n, 1, 1), *p = dense(n, 1, 1), *q = dense(n, 1, 0);
    double rho = cblas_ddot(n, r->x, 1, r->x, 1), before, alpha;

    for (int k = 0; k < iterations; k++) {
        multiply(a, k % 2, 1, p, 0, q);
        alpha = rho / cblas_ddot(n, p->x, 1, q->x, 1);
        cblas_daxpy(n, alpha, p->x, 1, x->x, 1);
        cblas_daxpy(n, -alpha, q->x, 1, r->x, 1);
        before = rho;
        rho = cblas_ddot(n, r->x, 1, r->x, 1);
        cblas_dscal(n, rho / before, p->x, 1);
        cblas_daxpy(n, 1, r->x, 1, p->x, 1);
    }
    printf("%.5e %.9e\n", sqrt(rho), cblas_dnrm2(n, x->x, 1));
    CHOLMOD(free_dense, &x);
    CHOLMOD(free_dense, &r);
    CHOLMOD(free_dense, &p);
    CHOLMOD(free_dense, &q);
}

static void several(cholmod_sparse *a, int n, int columns)
{
    cholmod_dense *x = dense(n, columns, 1), *y = dense(n, columns, 0.5);

    multiply(a, 0, 2, x, -1, y);
    printf("%.9e %.9e\n", ((double *)y->x)[n - 1], cblas_dnrm2(n * columns, y->x, 1));
    CHOLMOD(free_dense, &x);
    CHOLMOD(free_dense, &y);
}

int main(int argc, char **argv)
{
    const int side = atoi(argv[1]), n = side * side, columns = argc > 5 ? atoi(argv[5]) : 1;
    cholmod_sparse *a;

    wide = atoi(argv[4]);
    if (wide)
        cholmod_l_start(&common);
    else
        cholmod_start(&common);
    a = laplacian(side, atoi(argv[3]));
    cg(a, n, atoi(argv[2]));
    if (columns > 1)
        several(a, n, columns);
    CHOLMOD(free_sparse, &a);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
