/* Bad input to the Sparse BLAS's routines. Asserts -1, that no element is written, and one line for each mistake
 * (counted by usblas.t). Also handles, properties, and Fortran's names without blas_. */
#include <string.h>

#include "semcache/blas_sparse.h"
#include "tests/tap.h"

void duscr_begin_(const int *rows, const int *cols, int *m, int *status);
void duscr_insert_entry_(const int *m, const double *value, const int *i, const int *j, int *status);
void duscr_end_(const int *m, int *status);
void dusmv_(const int *trans, const double *alpha, const int *m, const double *x, const int *incx, double *y,
            const int *incy, int *status);
void ussp_(const int *m, const int *property, int *status);
void usgp_(const int *m, const int *property, int *value);
void usds_(const int *m, int *status);

static int lines; /* number of expected lines */

/* The call returns -1 and prints a line. */
#define FAILS(call)                                                                                                  \
    do {                                                                                                             \
        lines++;                                                                                                     \
        tap_ok((call) == -1, "-1 from " #call);                                                                      \
    } while (0)

static void test_sizes(void)
{
    const int some[2] = {1, 2}, wrong[2] = {1, 0}, large[2] = {2000000000, 2000000000};
    int m = BLAS_duscr_begin(0, 3);

    tap_ok(m > 0 && BLAS_duscr_end(m) == 0 && BLAS_usds(m) == 0, "no rows");
    FAILS(BLAS_duscr_begin(-1, 3));
    FAILS(BLAS_suscr_begin(3, -1));
    FAILS(BLAS_cuscr_block_begin(2, 2, 0, 1));
    FAILS(BLAS_zuscr_block_begin(100000, 2, 100000, 1));
    FAILS(BLAS_duscr_variable_block_begin(2, 2, some, wrong));
    FAILS(BLAS_duscr_variable_block_begin(2, 2, large, some));
}

static void test_handles(void)
{
    int m[100], first = BLAS_duscr_begin(2, 2), good = 1;

    tap_ok(BLAS_usgp(first, blas_new_handle) == 1 && BLAS_usgp(first, blas_open_handle) == 1 &&
               BLAS_usgp(first, blas_valid_handle) == 0 && BLAS_usgp(first, blas_invalid_handle) == 0, "a new one");
    tap_ok(BLAS_duscr_insert_entry(first, 1, 0, 1) == 0 && BLAS_usgp(first, blas_new_handle) == 0 &&
               BLAS_usgp(first, blas_num_nonzeros) == 1, "one with an entry");
    tap_ok(BLAS_uscr_end(first) == 0 && BLAS_usgp(first, blas_open_handle) == 0 &&
               BLAS_usgp(first, blas_valid_handle) == 1, "one that is ended");
    for (int i = 0; i < 100; i++)
        m[i] = BLAS_duscr_begin(i, i + 1);
    for (int i = 0; i < 100; i++)
        good = good && BLAS_usgp(m[i], blas_num_rows) == i && BLAS_usgp(m[i], blas_num_cols) == i + 1;
    for (int i = 0; i < 100; i++)
        good = good && BLAS_usds(m[i]) == 0 && BLAS_usgp(m[i], blas_invalid_handle) == 1 &&
               BLAS_usgp(m[i], blas_valid_handle) == 0;
    tap_ok(good, "many at once");
    tap_ok(BLAS_usds(first) == 0, "destroyed");
    FAILS(BLAS_usds(first));
    FAILS(BLAS_usds(-1));
    FAILS(BLAS_usgp(first, blas_num_rows));
    FAILS(BLAS_ussp(0, blas_lower_triangular));
    FAILS(BLAS_duscr_insert_entry(first, 1, 0, 0));
    m[0] = BLAS_duscr_begin(2, 2);
    FAILS(BLAS_duscr_end(first)); /* the handle is stale, though its slot is used again */
    BLAS_usds(m[0]);
}

static void test_insertion(void)
{
    const double values[4] = {1, 2, 3, 4};
    const int good[2] = {0, 1}, bad[2] = {1, 2};
    double x[2] = {1, 1}, y[2] = {0, 0};
    int m = BLAS_duscr_begin(2, 2);

    FAILS(BLAS_duscr_insert_entry(m, 1, 2, 0));
    FAILS(BLAS_duscr_insert_entry(m, 1, 0, -1));
    FAILS(BLAS_duscr_insert_entries(m, 2, values, good, bad));
    FAILS(BLAS_duscr_insert_row(m, 2, 2, values, good));
    FAILS(BLAS_duscr_insert_row(m, 0, 2, values, bad));
    FAILS(BLAS_duscr_insert_col(m, 0, -1, values, good));
    FAILS(BLAS_duscr_insert_col(m, 0, 2, values, bad));
    FAILS(BLAS_duscr_insert_clique(m, 2, 2, values, 2, 1, good, bad));
    FAILS(BLAS_duscr_insert_block(m, values, 1, 1, 2, 0));
    FAILS(BLAS_suscr_insert_entry(m, 1, 0, 0));
    tap_ok(BLAS_usgp(m, blas_num_nonzeros) == 0 && BLAS_usgp(m, blas_new_handle) == 1, "nothing has been inserted");
    tap_ok(BLAS_duscr_insert_entry(m, 1, 0, 0) == 0 && BLAS_duscr_insert_entry(m, 2, 0, 0) == 0, "an entry, twice");
    FAILS(BLAS_ussp(m, blas_lower_triangular)); /* too late */
    FAILS(BLAS_dusmv(blas_no_trans, 1, m, x, 1, y, 1));
    FAILS(BLAS_suscr_end(m));
    tap_ok(BLAS_duscr_end(m) == 0 && BLAS_usgp(m, blas_num_nonzeros) == 1, "ended");
    FAILS(BLAS_duscr_end(m));
    FAILS(BLAS_duscr_insert_entry(m, 1, 1, 1));
    tap_ok(BLAS_dusmv(blas_no_trans, 2, m, x, 1, y, 1) == 0 && y[0] == 6 && y[1] == 0, "entries are summed");
    BLAS_usds(m);
    m = BLAS_duscr_begin(2, 2);
    y[0] = 0;
    tap_ok(BLAS_ussp(m, 9998) == 0 && BLAS_duscr_insert_entry(m, 1, 0, 0) == 0 &&
               BLAS_duscr_insert_entry(m, 2, 0, 0) == 0 && BLAS_duscr_end(m) == 0 &&
               BLAS_dusmv(blas_no_trans, 1, m, x, 1, y, 1) == 0 && y[0] == 2, "librsb's property: the last one counts");
    BLAS_usds(m);
}

static void test_properties(void)
{
    int m = BLAS_cuscr_begin(2, 3), square = BLAS_zuscr_begin(3, 3);

    FAILS(BLAS_ussp(m, blas_lower_symmetric));
    FAILS(BLAS_ussp(m, blas_upper_triangular));
    FAILS(BLAS_ussp(m, blas_complex));
    FAILS(BLAS_ussp(m, 12345));
    FAILS(BLAS_usgp(m, 12345));
    tap_ok(BLAS_usgp(m, blas_complex) == 1 && BLAS_usgp(m, blas_real) == 0 &&
               BLAS_usgp(m, blas_single_precision) == 1 && BLAS_usgp(square, blas_double_precision) == 1, "the type");
    tap_ok(BLAS_usgp(m, blas_general) == 1 && BLAS_ussp(square, blas_upper_hermitian) == 0 &&
               BLAS_usgp(square, blas_hermitian) == 1 && BLAS_usgp(square, blas_upper_hermitian) == 1 &&
               BLAS_usgp(square, blas_lower_hermitian) == 0 && BLAS_usgp(square, blas_general) == 0, "the kind");
    tap_ok(BLAS_usgp(m, blas_zero_base) == 1 && BLAS_ussp(m, blas_one_base) == 0 && BLAS_usgp(m, blas_one_base) == 1 &&
               BLAS_usgp(m, blas_zero_base) == 0, "the base");
    tap_ok(BLAS_usgp(m, blas_unit_diag) == 0 && BLAS_ussp(m, blas_unit_diag) == 0 &&
               BLAS_usgp(m, blas_unit_diag) == 1, "the diagonal");
    tap_ok(BLAS_ussp(m, blas_irregular) == 0 && BLAS_usgp(m, blas_irregular) == 1 && BLAS_usgp(m, blas_regular) == 0 &&
               BLAS_ussp(m, blas_rowmajor) == 0 && BLAS_usgp(m, blas_rowmajor) == 1, "hints");
    tap_ok(BLAS_ussp(m, 6660) == 0, "librsb's ways of working are no error");
    BLAS_usds(m);
    BLAS_usds(square);
}

static void test_calls(void)
{
    double x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8}, r = 9;
    const double before[4] = {5, 6, 7, 8};
    const int places[2] = {0, 1};
    int m = BLAS_duscr_begin(2, 2), triangle = BLAS_duscr_begin(2, 2);

    BLAS_duscr_insert_entry(m, 1, 1, 0);
    BLAS_duscr_end(m);
    FAILS(BLAS_dusmv((enum blas_trans_type)7, 1, m, x, 1, y, 1));
    FAILS(BLAS_dusmv(blas_no_trans, 1, m, x, 0, y, 1));
    FAILS(BLAS_susmv(blas_no_trans, 1, m, (float *)x, 1, (float *)y, 1));
    FAILS(BLAS_dusmm(blas_colmajor, blas_no_trans, 2, 1, m, x, 1, y, 2));
    FAILS(BLAS_dusmm(blas_rowmajor, blas_no_trans, 2, 1, m, x, 2, y, 1));
    FAILS(BLAS_dusmm(blas_rowmajor, blas_no_trans, -1, 1, m, x, 2, y, 2));
    FAILS(BLAS_dusmm((enum blas_order_type)1, blas_no_trans, 1, 1, m, x, 2, y, 2));
    FAILS(BLAS_dussv(blas_no_trans, 1, m, y, 1));
    BLAS_ussp(triangle, blas_lower_triangular);
    BLAS_duscr_insert_entry(triangle, 1, 0, 0);
    BLAS_duscr_end(triangle);
    FAILS(BLAS_dussv(blas_no_trans, 1, triangle, y, 1)); /* the last row is empty */
    FAILS(BLAS_dussm(blas_colmajor, blas_no_trans, 1, 1, triangle, y, 2));
    FAILS(BLAS_dusdot(blas_no_conj, 2, x, places, y, 1, &r, (enum blas_base_type)0));
    FAILS(BLAS_dusdot((enum blas_conj_type)0, 2, x, places, y, 1, &r, blas_zero_base));
    FAILS(BLAS_dusaxpy(2, 1, x, places, y, 0, blas_zero_base));
    tap_ok(memcmp(y, before, sizeof y) == 0 && r == 9, "nothing has been written");
    tap_ok(BLAS_dusdot(blas_no_conj, 0, x, places, y, 1, &r, blas_zero_base) == 0 && r == 0, "a product of nothing");
    tap_ok(BLAS_dusdot(blas_no_conj, 2, x, places, y + 3, -2, &r, blas_zero_base) == 0 && r == 8 + 2 * 6,
           "places count downwards with a negative increment");
    BLAS_usds(m);
    BLAS_usds(triangle);
}

static void test_fortran(void)
{
    const int two = 2, one = 1, none = blas_no_trans, lower = blas_lower_symmetric, base = blas_one_base;
    const double value = 5, alpha = 2, x[2] = {1, 10};
    int m, status, value_of, failed = 0;
    double y[2] = {100, 100};

    duscr_begin_(&two, &two, &m, &status);
    failed += status;
    ussp_(&m, &lower, &status);
    failed += status;
    duscr_insert_entry_(&m, &value, &two, &one, &status);
    failed += status;
    duscr_end_(&m, &status);
    failed += status;
    dusmv_(&none, &alpha, &m, x, &one, y, &one, &status);
    failed += status;
    usgp_(&m, &base, &value_of);
    usds_(&m, &status);
    tap_ok(!failed && !status && y[0] == 200 && y[1] == 110 && value_of == 1, "Fortran's names without blas_");
    lines++;
    dusmv_(&none, &alpha, &m, x, &one, y, &one, &status);
    tap_ok(status == -1 && y[0] == 200, "-1 in its last argument");
}

int main(void)
{
    test_sizes();
    test_handles();
    test_insertion();
    test_properties();
    test_calls();
    test_fortran();
    tap_diag("lines: %d", lines);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
