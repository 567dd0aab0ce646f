/* ScaLAPACK: pdgemm, pdgemm on submatrices, pdpotrf and pdpotrs on a grid of processes. Each element of a result is
 * compared with its definition. */
#include <math.h>

#include "mpi_test.h"

void Cblacs_get(int, int, int *);
void Cblacs_gridinit(int *, const char *, int, int);
void Cblacs_gridinfo(int, int *, int *, int *, int *);
void Cblacs_gridexit(int);
int numroc_(const int *, const int *, const int *, const int *, const int *);
void descinit_(int *, const int *, const int *, const int *, const int *, const int *, const int *, const int *,
               const int *, int *);
void pdgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
             const int *, const int *, const int *, const double *, const int *, const int *, const int *,
             const double *, double *, const int *, const int *, const int *);
void pdpotrf_(const char *, const int *, double *, const int *, const int *, const int *, int *);
void pdpotrs_(const char *, const int *, const int *, const double *, const int *, const int *, const int *, double *,
              const int *, const int *, const int *, int *);

#define BLOCK 48
static const int zero = 0, block = BLOCK;
static const double d_one = 1, d_zero = 0;
static int rows, columns, my_row, my_column, context;

/* A distributed n x n matrix; an element is defined by its indices. */
struct matrix {
    int n, own_rows, own_columns, desc[9];
    double *a;
};
typedef double element(int i, int j, int n);

static int global(int local, int me, int all) { return (local / BLOCK * all + me) * BLOCK + local % BLOCK; }

static struct matrix matrix(int n, element *f)
{
    struct matrix m = {.n = n};
    int ld, info;

    m.own_rows = numroc_(&n, &block, &my_row, &zero, &rows);
    m.own_columns = numroc_(&n, &block, &my_column, &zero, &columns);
    ld = m.own_rows > 1 ? m.own_rows : 1;
    descinit_(m.desc, &n, &n, &block, &block, &zero, &zero, &context, &ld, &info);
    m.a = malloc(((size_t)ld * (size_t)m.own_columns + 1) * sizeof *m.a);
    for (int j = 0; j < m.own_columns; j++)
        for (int i = 0; i < m.own_rows; i++)
            m.a[i + (size_t)j * (size_t)ld] = f(global(i, my_row, rows), global(j, my_column, columns), n);
    return m;
}

static void compare(const char *what, const struct matrix *m, element *f, int lower)
{
    double worst = 0;

    for (int j = 0; j < m->own_columns; j++)
        for (int i = 0; i < m->own_rows; i++) {
            int gi = global(i, my_row, rows), gj = global(j, my_column, columns);
            double wanted = f(gi, gj, m->n), error = fabs(m->a[i + (size_t)j * (size_t)m->desc[8]] - wanted);

            if ((!lower || gi >= gj) && !(error <= worst * (1 + fabs(wanted))))
                worst = error / (1 + fabs(wanted));
        }
    checks++;
    if (!(worst < 1e-10)) {
        wrong++;
        printf("%s, rank %d: error %g\n", what, rank, worst);
    }
}

static double a_of(int i, int j, int n) { return (i * 7 + j * 3) % 11 - 5 + (double)i / n; }
static double b_of(int i, int j, int n) { return (i * 5 + j) % 7 - 3 - (double)j / n; }
static double product_of(int i, int j, int n)
{
    double sum = 0;

    for (int k = 0; k < n; k++)
        sum += a_of(i, k, n) * b_of(k, j, n);
    return sum;
}
/* Expected results: three times the product, 0, and the product of the blocks of A and B from (17, 17) on. */
static double twice_of(int i, int j, int n) { return 3 * product_of(i, j, n); }
static double zero_of(int i, int j, int n) { return 0 * (i + j + n); }
static double inner_of(int i, int j, int n)
{
    double sum = 0;

    for (int k = 17; i >= 17 && j >= 17 && k < n; k++)
        sum += a_of(i, k, n) * b_of(k, j, n);
    return sum;
}

/* L with a strong diagonal, L L^T, and L L^T times a known X. */
static double l_of(int i, int j, int n) { return i < j ? 0 : i == j ? n : (i + 2 * j) % 5 - 2; }
static double llt_of(int i, int j, int n)
{
    double sum = 0;

    for (int k = 0; k <= (i < j ? i : j); k++)
        sum += l_of(i, k, n) * l_of(j, k, n);
    return sum;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) : 300, inner = n - 17, at = 18, info;
    struct matrix a, b, c, l, x;

    begin(&argc, &argv);
    rows = ranks % 2 ? 1 : 2;
    columns = ranks / rows;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", rows, columns);
    Cblacs_gridinfo(context, &rows, &columns, &my_row, &my_column);

    a = matrix(n, a_of);
    b = matrix(n, b_of);
    c = matrix(n, zero_of);
    pdgemm_("N", "N", &n, &n, &n, &d_one, a.a, &one, &one, a.desc, b.a, &one, &one, b.desc, &d_zero, c.a, &one, &one,
            c.desc);
    compare("pdgemm", &c, product_of, 0);
    pdgemm_("N", "N", &n, &n, &n, &two, a.a, &one, &one, a.desc, b.a, &one, &one, b.desc, &d_one, c.a, &one, &one,
            c.desc);
    compare("pdgemm, added to what is there", &c, twice_of, 0);
    free(c.a);
    c = matrix(n, zero_of);
    pdgemm_("N", "N", &inner, &inner, &inner, &d_one, a.a, &at, &at, a.desc, b.a, &at, &at, b.desc, &d_zero, c.a, &at,
            &at, c.desc);
    compare("pdgemm of submatrices", &c, inner_of, 0);

    /* X := L L^T B by pdgemm; a solve by pdpotrf and pdpotrs must restore B. */
    l = matrix(n, llt_of);
    x = matrix(n, zero_of);
    pdgemm_("N", "N", &n, &n, &n, &d_one, l.a, &one, &one, l.desc, b.a, &one, &one, b.desc, &d_zero, x.a, &one, &one,
            x.desc);
    pdpotrf_("L", &n, l.a, &one, &one, l.desc, &info);
    compare("pdpotrf", &l, l_of, 1);
    pdpotrs_("L", &n, &n, l.a, &one, &one, l.desc, x.a, &one, &one, x.desc, &info);
    compare("pdpotrs", &x, b_of, 0);
    free(x.a);
    free(l.a);
    free(c.a);
    free(b.a);
    free(a.a);
    Cblacs_gridexit(context);
    return end();
}
/* SPDX-License-Identifier: BSD-2-Clause */
