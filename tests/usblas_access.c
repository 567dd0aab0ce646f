/* librsb's additions to the Sparse BLAS: a program reads, changes and scales entries of a completed matrix. Asserts
 * that later products use the changed entries, on the host and on devices (usblas.t). Also sparse vectors beside a
 * vector on a device. */
#include <complex.h>
#include <math.h>

#include "semcache/blas_sparse.h"
#include "tests/tap.h"

enum { N = 3000 };

void blas_zusset_elements_(const int *m, const int *i, const int *j, const double complex *values, const int *n,
                           int *status);
void blas_zusget_rows_nnz_(const int *m, const int *first, const int *last, int *count, int *status);
void *rsb_blas_get_mtx(blas_sparse_matrix m);
blas_sparse_matrix rsb_blas_file_mtx_load(const char *path, int type);

/* Element (i, j) of the matrices: three diagonals. */
static double complex entry(int i, int j)
{
    return j < i - 1 || j > i + 1 ? 0 : 1 + i % 7 - 2 * (j % 5) + I * (i - j);
}

static double complex *x, *y;

/* The largest difference between op(A) x and the product with the values of element(). */
static double error(int m, int trans, double complex (*element)(int i, int j))
{
    const double complex alpha = 1;
    double worst = 0;

    for (int i = 0; i < N; i++)
        y[i] = 0;
    if (BLAS_zusmv((enum blas_trans_type)trans, &alpha, m, x, 1, y, 1))
        return INFINITY;
    for (int i = 0; i < N; i++) {
        double complex sum = 0;

        for (int j = i > 0 ? i - 1 : 0; j < N && j <= i + 1; j++)
            sum += (trans == blas_no_trans ? element(i, j) : element(j, i)) * x[j];
        worst = fmax(worst, cabs(sum - y[i]));
    }
    return worst;
}

static double complex changed(int i, int j)
{
    return i == 1000 && j == 1001 ? 50 - I : i == 2000 && j == 2000 ? 7 : entry(i, j);
}

static double complex scaled(int i, int j)
{
    return changed(i, j) * (i + 1);
}

static void test_general(void)
{
    int m = BLAS_zuscr_begin(N, N), count, status, rows[6], cols[6];
    const int first = 0, last = 1, i[2] = {1000, 2000}, j[2] = {1001, 2000}, two = 2, missing[2] = {1000, 5};
    double complex values[6], v, *d = calloc(N, sizeof *d);
    double norm = 0, expected = 0;

    BLAS_ussp(m, blas_zero_base);
    for (int row = 0; row < N; row++)
        for (int col = row + 1 < N ? row + 1 : row; col >= 0 && col >= row - 1; col--) {
            v = entry(row, col);
            BLAS_zuscr_insert_entry(m, &v, row, col);
        }
    BLAS_zuscr_end(m);
    tap_ok(BLAS_zusget_element(m, 10, 11, &v) == 0 && v == entry(10, 11), "an element");
    tap_ok(BLAS_zusget_element(m, 10, 12, &v) == -1 && BLAS_zusget_element(m, -1, 0, &v) == -1 &&
               BLAS_zusget_element(m, 0, N, &v) == -1, "none");
    tap_ok(BLAS_zusget_diag(m, d) == 0 && d[0] == entry(0, 0) && d[N - 1] == entry(N - 1, N - 1), "the diagonal");
    tap_ok(BLAS_zusget_matrix_nnz(m, &count) == 0 && count == 3 * N - 2, "entries");
    blas_zusget_rows_nnz_(&m, &first, &last, &count, &status);
    tap_ok(!status && count == 5 && BLAS_zusget_rows_nnz(m, 1, N, &count) == -1, "entries of rows");
    tap_ok(BLAS_zusget_rows_sparse(m, values, rows, cols, &count, 0, 1) == 0 && count == 5 && rows[1] == 0 &&
               cols[1] == 1 && values[1] == entry(0, 1) && rows[4] == 1 && cols[4] == 2 && values[4] == entry(1, 2),
           "rows");
    for (int row = 0; row < N; row++) {
        double sum = 0;

        for (int col = 0; col < N; col++)
            sum += cabs(entry(col, row));
        expected = fmax(expected, sum);
    }
    tap_ok(BLAS_zusget_infinity_norm(m, &norm, blas_trans) == 0 && fabs(norm - expected) < 1e-10, "the norm");
    tap_ok(error(m, blas_no_trans, entry) < 1e-10 && error(m, blas_trans, entry) < 1e-10, "products");
    values[0] = changed(1000, 1001);
    values[1] = changed(2000, 2000);
    tap_ok(BLAS_zusset_elements(m, i, missing, values, 2) == -1 && error(m, blas_no_trans, entry) < 1e-10,
           "nothing is changed when one is missing");
    blas_zusset_elements_(&m, i, j, values, &two, &status);
    tap_ok(!status && error(m, blas_no_trans, changed) < 1e-10 && error(m, blas_trans, changed) < 1e-10,
           "products with changed elements");
    for (int row = 0; row < N; row++)
        d[row] = row + 1;
    tap_ok(BLAS_zusrows_scale(m, d, blas_no_trans) == 0 && error(m, blas_no_trans, scaled) < 1e-6 &&
               error(m, blas_trans, scaled) < 1e-6, "products with scaled rows");
    BLAS_usds(m);
    free(d);
}

static void test_kinds(void)
{
    int m = BLAS_cuscr_begin(4, 4), unit = BLAS_duscr_begin(3, 3), rows[2] = {2, 3};
    const float complex v = 3 + 4 * I;
    float complex w = 0;
    float norm = 0;
    double d[3] = {0}, e = 0;

    BLAS_ussp(m, blas_lower_hermitian);
    BLAS_ussp(m, blas_one_base);
    BLAS_cuscr_insert_entry(m, &v, 1, 3); /* in the second half */
    BLAS_cuscr_end(m);
    tap_ok(BLAS_cusget_element(m, 3, 1, &w) == 0 && w == conjf(v), "Hermitian, the half that is stored");
    tap_ok(BLAS_cusget_element(m, 1, 3, &w) == 0 && w == v, "and the other one");
    w = 5 * I;
    tap_ok(BLAS_cusset_element(m, 1, 3, &w) == 0 && BLAS_cusget_element(m, 3, 1, &w) == 0 && w == -5 * I, "changed");
    tap_ok(BLAS_cusget_infinity_norm(m, &norm, blas_no_trans) == 0 && norm == 5, "both count");
    tap_ok(BLAS_cusrows_scale(m, &w, blas_no_trans) == -1, "not to be scaled");
    BLAS_usds(m);
    BLAS_ussp(unit, blas_upper_triangular);
    BLAS_ussp(unit, blas_unit_diag);
    BLAS_duscr_insert_row(unit, 0, 1, (const double[]){-6}, rows);
    BLAS_duscr_end(unit);
    tap_ok(BLAS_dusget_diag(unit, d) == 0 && d[0] == 1 && d[2] == 1 && BLAS_dusget_element(unit, 1, 1, &e) == 0 &&
               e == 1, "a diagonal of ones");
    tap_ok(BLAS_dusget_infinity_norm(unit, &e, blas_no_trans) == 0 && e == 7, "in the norm, too");
    BLAS_usds(unit);
    tap_ok(!rsb_blas_get_mtx(unit) && rsb_blas_file_mtx_load("none", 'D') == -1, "librsb's own handles: none");
}

/* Sparse vectors whose dense vector a product has left on a device: the host computes, of the newest values. */
static void test_vectors(void)
{
    const double complex two = 2, v = 3, values[2] = {1, I};
    const int places[2] = {5, N - 7};
    double complex sum = 0, taken[2] = {0, 0};
    int m = BLAS_zuscr_begin(N, N);

    for (int i = 0; i < N; i++) {
        y[i] = 0;
        BLAS_zuscr_insert_entry(m, &v, i, i);
    }
    BLAS_zuscr_end(m);
    BLAS_zusmv(blas_no_trans, &two, m, x, 1, y, 1);
    tap_ok(BLAS_zusdot(blas_no_conj, 2, values, places, y, 1, &sum, blas_zero_base) == 0 &&
               sum == 6 * (x[5] + I * x[N - 7]), "a product of vectors, one on a device");
    BLAS_zusmv(blas_no_trans, &two, m, x, 1, y, 1);
    tap_ok(BLAS_zusaxpy(2, &two, values, places, y, 1, blas_zero_base) == 0 && y[5] == 12 * x[5] + 2 &&
               y[N - 7] == 12 * x[N - 7] + 2 * I && y[6] == 12 * x[6], "a sum");
    BLAS_zusmv(blas_no_trans, &two, m, x, 1, y, 1);
    tap_ok(BLAS_zusga(2, y, 1, taken, places, blas_zero_base) == 0 && taken[0] == 18 * x[5] + 2 &&
               taken[1] == 18 * x[N - 7] + 2 * I, "elements taken");
    BLAS_usds(m);
}

int main(void)
{
    x = calloc(N, sizeof *x);
    y = calloc(N, sizeof *y);
    for (int i = 0; x && y && i < N; i++)
        x[i] = i % 11 - 5 + I * (i % 3);
    test_general();
    test_kinds();
    test_vectors();
    free(x);
    free(y);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
