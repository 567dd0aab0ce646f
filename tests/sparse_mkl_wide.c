/* MKL's names without _64 in a program with 64-bit integers give the same results as with 32-bit integers. The Sparse
 * BLAS from Fortran begins no matrix there. Also sizes whose products overflow. */
#include <stdlib.h>
#include <string.h>

#include "blas/blas_int.h"
#include "sparse/mkl.h"
#include "sparse/sparse.h"
#include "tests/tap.h"

bool sc_blas_offload(int routine, const struct sc_kernel *kernel, bool once, struct sc_blas_home *home)
{
    (void)routine, (void)kernel, (void)once, (void)home;
    return false;
}
void sc_blas_host_operands(const struct sc_view *operands, int count) { (void)operands, (void)count; }

void mkl_dcsrmv_(const char *, const void *, const void *, const double *, const char *, const double *, const void *,
                 const void *, const void *, const double *, const double *, double *);
void mkl_dcsrmm_(const char *, const void *, const void *, const void *, const double *, const char *, const double *,
                 const void *, const void *, const void *, const double *, const void *, const double *, double *,
                 const void *);
void mkl_dcsrsv_(const char *, const void *, const double *, const char *, const double *, const void *, const void *,
                 const void *, const double *, double *);
void mkl_dcsrgemv_(const char *, const void *, const double *, const void *, const void *, const double *, double *);
void mkl_ddiamv_(const char *, const void *, const void *, const double *, const char *, const double *, const void *,
                 const void *, const void *, const double *, const double *, double *);

void blas_duscr_begin_(const void *rows, const void *cols, int *m, int *status);
void blas_duscr_block_begin_(const void *down, const void *across, const void *rows, const void *cols, int *m,
                             int *status);

static bool yes(void) { return true; }

/* A lower triangle with two entries a row, counted from 1. */
enum { N = 5, ENTRIES = 2 * N - 1, COLUMNS = 2 };
static double values[ENTRIES] = {2, 1, 3, -1, 4, 5, 2, 1, 4};
static const double one = 1, two = 2;

/* The same numbers in two widths. */
struct integers {
    int32_t narrow[ENTRIES];
    int64_t wide[ENTRIES];
};
static void make(struct integers *to, const int *from, int count)
{
    for (int i = 0; i < count; i++)
        to->narrow[i] = from[i], to->wide[i] = from[i];
}
static const void *at(const struct integers *v, bool wide, int i)
{
    return wide ? (const void *)&v->wide[i] : (const void *)&v->narrow[i];
}

enum { CALLS = 5 };
static void call(int which, bool wide, double *y)
{
    static const int start_of[N + 1] = {1, 2, 4, 6, 8, 10}, index_of[ENTRIES] = {1, 1, 2, 2, 3, 3, 4, 4, 5};
    static const int sizes_of[4] = {N, COLUMNS, 1, N}, offsets_of[1] = {-1};
    static double diagonal[N] = {0, 7, 8, 9, 10}, x[N * COLUMNS] = {1, -2, 3, 4, 5, 6, 7, -8, 9, 1};
    struct integers start, index, sizes, offsets;
    const void *n = at(&sizes, wide, 0);

    make(&start, start_of, N + 1);
    make(&index, index_of, ENTRIES);
    make(&sizes, sizes_of, 4);
    make(&offsets, offsets_of, 1);
    const void *first = at(&start, wide, 0), *second = at(&start, wide, 1), *columns = at(&index, wide, 0);

    sc_mkl_asks_wide = wide ? yes : NULL;
    switch (which) {
    case 0: mkl_dcsrmv_("T", n, n, &two, "G  F", values, columns, first, second, x, &one, y); break;
    case 1:
        mkl_dcsrmm_("N", n, at(&sizes, wide, 1), n, &two, "SLNF", values, columns, first, second, x, n, &one, y, n);
        break;
    case 2: mkl_dcsrsv_("N", n, &one, "TLNF", values, columns, first, second, x, y); break;
    case 3: mkl_dcsrgemv_("N", n, values, first, columns, x, y); break;
    default:
        mkl_ddiamv_("N", n, n, &one, "G  F", diagonal, n, at(&offsets, wide, 0), at(&sizes, wide, 2), x, &one, y);
    }
}

static void test_widths(void)
{
    static const char *const names[CALLS] = {"csrmv", "csrmm", "csrsv", "csrgemv", "diamv"};

    for (int which = 0; which < CALLS; which++) {
        double narrow[N * COLUMNS] = {1, 2, 3}, wide[N * COLUMNS] = {1, 2, 3}, before[N * COLUMNS] = {1, 2, 3};

        call(which, false, narrow);
        call(which, true, wide);
        tap_ok(!memcmp(narrow, wide, sizeof wide) && memcmp(wide, before, sizeof wide), "%s", names[which]);
    }
}

static void test_sparse_blas(void)
{
    for (int wide = 1; wide >= 0; wide--) {
        struct integers sizes;
        int m[2] = {7, 7}, status[2] = {7, 7};

        make(&sizes, (const int[]){N, 2}, 2);
        sc_mkl_asks_wide = wide ? yes : NULL;
        blas_duscr_begin_(at(&sizes, wide, 0), at(&sizes, wide, 0), &m[0], &status[0]);
        blas_duscr_block_begin_(at(&sizes, wide, 0), at(&sizes, wide, 0), at(&sizes, wide, 1), at(&sizes, wide, 1),
                                &m[1], &status[1]);
        for (int i = 0; i < 2; i++)
            tap_ok(wide ? m[i] == -1 && status[i] == -1 : m[i] >= 0 && status[i] == 0,
                   "the Sparse BLAS with integers of %d bits: matrix %d, status %d", wide ? 64 : 32, m[i], status[i]);
    }
}

static void test_sizes(void)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    static const int64_t start[3] = {0, 1, 2}, index[2] = {0, 1};
    static const double entries[2] = {2, 3}, x[2] = {5, 7}, scalar[2] = {1, 0}, zero[2] = {0, 0};
    struct sc_sparse_arrays a = {.format = SC_SPARSE_CSR, .type = SC_D, .index_bytes = 8, .rows = 2, .cols = 2,
                                 .start = start, .end = start + 1, .index = index, .values = entries};
    const struct sc_sparse_arrays diagonals = {.format = SC_SPARSE_DIA, .type = SC_D, .index_bytes = 8,
                                               .rows = INT64_C(1) << 40, .cols = INT64_C(1) << 40, .index = index,
                                               .values = entries, .count = INT64_C(1) << 40, .ld = INT64_C(1) << 40};
    struct sc_sparse_arrays blocks = a;
    struct sc_sparse_matrix *m;
    double y[2] = {0, 0};

    if (tap_ok(sc_sparse_create(&m, &a, false) == SC_OK, "a matrix")) {
        const int64_t ld = INT64_C(1) << 62;

        tap_ok(sc_sparse_mm(m, 'N', &general, false, 1, scalar, x, ld, zero, y, ld) == SC_OK && y[0] == 10 &&
               y[1] == 21, "one column with a leading dimension of 2^62");
        sc_sparse_destroy(m);
    }
    tap_ok(sc_sparse_create(&m, &diagonals, false) == SC_ERR_INVALID, "2^40 diagonals of 2^40 elements are refused");
    blocks.format = SC_SPARSE_BSR;
    blocks.block = blocks.rows = blocks.cols = INT64_C(1) << 33;
    tap_ok(sc_sparse_create(&m, &blocks, false) == SC_ERR_INVALID, "and a block of 2^33 rows");
}

int main(void)
{
    test_widths();
    test_sparse_blas();
    test_sizes();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
