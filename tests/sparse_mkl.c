/* MKL's sparse routines against dense matrices: four types, bases 0 and 1, every operation and kind, two layouts,
 * formats, with handles and with arrays in each call, 32- and 64-bit names, error codes. sparse_mkl.t runs the program
 * on the host and on devices: sparse_mkl [DEVICE [part]] */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "semcache/semcache.h"
#include "sparse/mkl.h"
#include "tests/tap.h"

enum { N = 48, COLUMNS = 3 };

static unsigned seed = 20261121;

static double draw(void)
{
    seed = seed * 1664525 + 1013904223;
    return (double)(seed >> 8) / (1 << 24);
}

/* Large enough to be kept on devices. */
static void *room(void)
{
    void *memory = calloc(1, N * N * sizeof(double complex));

    if (!memory)
        abort();
    return memory;
}

/* Fills memory to be overwritten with NaN of every type. */
static void spoil(void *memory)
{
    memset(memory, 0xff, N * COLUMNS * sizeof(double complex));
}

static double complex dense[N][N]; /* as stored */

static double complex element(char trans, struct sc_mkl_descr d, int i, int j)
{
    int r = trans == 'N' ? i : j, c = trans == 'N' ? j : i;
    int other = d.type != SC_MKL_GENERAL && r != c && (c < r) != (d.mode == SC_MKL_LOWER);
    double complex v = dense[r][c];

    if (d.type == SC_MKL_DIAGONAL && r != c)
        v = 0;
    else if (other && d.type == SC_MKL_TRIANGULAR)
        v = 0;
    else if (other && d.type != SC_MKL_DIAGONAL)
        v = d.type == SC_MKL_HERMITIAN ? conj(dense[c][r]) : dense[c][r];
    if (d.type != SC_MKL_GENERAL && d.diag == SC_MKL_UNIT && r == c)
        v = 1;
    return trans == 'C' ? conj(v) : v;
}

static struct sc_mkl_descr kinds[] = {{SC_MKL_GENERAL, 0, 0},
    {SC_MKL_SYMMETRIC, SC_MKL_LOWER, SC_MKL_NON_UNIT}, {SC_MKL_SYMMETRIC, SC_MKL_UPPER, SC_MKL_UNIT},
    {SC_MKL_HERMITIAN, SC_MKL_LOWER, SC_MKL_UNIT}, {SC_MKL_TRIANGULAR, SC_MKL_UPPER, SC_MKL_NON_UNIT},
    {SC_MKL_TRIANGULAR, SC_MKL_LOWER, SC_MKL_UNIT}, {SC_MKL_TRIANGULAR, SC_MKL_LOWER, SC_MKL_NON_UNIT},
    {SC_MKL_DIAGONAL, 0, SC_MKL_NON_UNIT}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

#define OF_ANY_TYPE(suffix, Int)                                                                                     \
    int mkl_sparse_optimize##suffix(sc_mkl_matrix m);                                                                \
    int mkl_sparse_destroy##suffix(sc_mkl_matrix m);                                                                 \
    int mkl_sparse_order##suffix(sc_mkl_matrix m);                                                                   \
    int mkl_sparse_convert_csr##suffix(sc_mkl_matrix m, int operation, sc_mkl_matrix *out);                          \
    int mkl_sparse_convert_csc##suffix(sc_mkl_matrix m, int operation, sc_mkl_matrix *out);                          \
    int mkl_sparse_spmm##suffix(int operation, sc_mkl_matrix a, sc_mkl_matrix b, sc_mkl_matrix *out);                \
    int mkl_sparse_sp2m##suffix(int operationa, struct sc_mkl_descr descra, sc_mkl_matrix a, int operationb,         \
                                struct sc_mkl_descr descrb, sc_mkl_matrix b, int request, sc_mkl_matrix *out);       \
    int mkl_sparse_set_mv_hint##suffix(sc_mkl_matrix m, int operation, struct sc_mkl_descr descr, Int calls);
SC_MKL_WIDTHS(OF_ANY_TYPE)
int mkl_sparse_d_symgs();

static void fill(int k)
{
    memset(dense, 0, sizeof dense);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (i == j || draw() < 0.2)
                dense[i][j] = draw() - 0.5 + (k > 1 ? I * (draw() - 0.5) : 0) + (i == j ? 6 : 0);
}

static double complex random_of(int k)
{
    return draw() - 0.5 + (k > 1 ? I * (draw() - 0.5) : 0);
}

/* matdescra of a kind. */
static void make_descr(char out[5], int kind, int base)
{
    static const char *const letters[] = {"G  ", "SLN", "SUU", "HLU", "TUN", "TLU", "TLN", "D N"};

    memcpy(out, letters[kind], 3);
    out[3] = base ? 'F' : 'C';
    out[4] = 0;
}

#define PASTE_(a, b, c) a##b##c
#define PASTE(a, b, c) PASTE_(a, b, c)
#define STRING_(x) #x
#define STRING(x) STRING_(x)

#define LETTER s
#define SUFFIX
#define T float
#define Int int32_t
#define TYPE SC_S
#include "tests/sparse_mkl_handles.inc"
#define LETTER s
#define SUFFIX _64
#define T float
#define Int int64_t
#define TYPE SC_S
#include "tests/sparse_mkl_handles.inc"
#define LETTER s
#define CAPITAL S
#define T float
#define TYPE SC_S
#include "tests/sparse_mkl_arrays.inc"

#define LETTER d
#define SUFFIX
#define T double
#define Int int32_t
#define TYPE SC_D
#include "tests/sparse_mkl_handles.inc"
#define LETTER d
#define SUFFIX _64
#define T double
#define Int int64_t
#define TYPE SC_D
#include "tests/sparse_mkl_handles.inc"
#define LETTER d
#define CAPITAL D
#define T double
#define TYPE SC_D
#include "tests/sparse_mkl_arrays.inc"

#define LETTER c
#define SUFFIX
#define T float complex
#define Int int32_t
#define TYPE SC_C
#include "tests/sparse_mkl_handles.inc"
#define LETTER c
#define SUFFIX _64
#define T float complex
#define Int int64_t
#define TYPE SC_C
#include "tests/sparse_mkl_handles.inc"
#define LETTER c
#define CAPITAL C
#define T float complex
#define TYPE SC_C
#include "tests/sparse_mkl_arrays.inc"

#define LETTER z
#define SUFFIX
#define T double complex
#define Int int32_t
#define TYPE SC_Z
#include "tests/sparse_mkl_handles.inc"
#define LETTER z
#define SUFFIX _64
#define T double complex
#define Int int64_t
#define TYPE SC_Z
#include "tests/sparse_mkl_handles.inc"
#define LETTER z
#define CAPITAL Z
#define T double complex
#define TYPE SC_Z
#include "tests/sparse_mkl_arrays.inc"

/* A skew-symmetric matrix is its strict lower triangle minus the triangle's transpose. */
static void test_skew(void)
{
    const int n = N;
    const double one = 1, zero = 0;
    double *x = room(), *y = room(), worst = 0;

    fill(SC_D);
    store_d(0);
    for (int i = 0; i < N; i++)
        x[i] = draw();
    MKL_DCSRMV("T", &n, &n, &one, "ALNC", values_d, index_d, start_d, start_d + 1, x, &zero, y);
    for (int i = 0; i < N; i++) {
        double sum = 0;

        for (int j = 0; j < N; j++)
            sum += (j > i ? creal(dense[j][i]) : j < i ? -creal(dense[i][j]) : 0) * x[j];
        worst = tap_worse(worst, fabs(sum - y[i]));
    }
    tap_ok(worst < 1e-11, "a skew-symmetric matrix, %g", worst);
    free(x);
    free(y);
}

/* A letter that means nothing, and a solve with a skew-symmetric matrix, leave y as it is (lines: sparse_mkl.t). */
static void test_refused(void)
{
    const int n = N;
    const double one = 1, zero = 0;
    double *x = room(), *y = room();
    int changed = 0;

    fill(SC_D);
    store_d(0);
    for (int i = 0; i < N; i++)
        x[i] = y[i] = i + 1;
    MKL_DCSRMV("N", &n, &n, &one, "XLNC", values_d, index_d, start_d, start_d + 1, x, &zero, y);
    mkl_dcsrsv("N", &n, &one, "ALNC", values_d, index_d, start_d, start_d + 1, x, y);
    for (int i = 0; i < N; i++)
        changed += y[i] != i + 1;
    tap_ok(changed == 0, "descriptions without a result leave y as it is");
    free(x);
    free(y);
}

/* The conjugate transpose of a skew matrix, with dense operands by columns (base 1) and by rows. */
static void test_skew_conjugate(int base)
{
    const int n = N, columns = COLUMNS, ld = base ? N + 2 : COLUMNS + 1;
    const double complex alpha = 2 - I, beta = 0.5 * I;
    double complex *x = room(), *y = room(), *before = room();
    double worst = 0;

    fill(SC_Z);
    store_z(base);
    for (int i = 0; i < (N + 2) * (COLUMNS + 1); i++)
        x[i] = random_of(SC_Z), y[i] = before[i] = random_of(SC_Z);
    mkl_zcsrmm_("C", &n, &columns, &n, &alpha, base ? "ALNF" : "ALNC", values_z, index_z, start_z, start_z + 1, x, &ld,
                &beta, y, &ld);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < COLUMNS; c++) {
            double complex sum = 0;

            for (int j = 0; j < N; j++)
                sum += conj(j > i ? dense[j][i] : j < i ? -dense[i][j] : 0) * x[base ? c * ld + j : j * ld + c];
            sum = alpha * sum + beta * before[base ? c * ld + i : i * ld + c];
            worst = tap_worse(worst, cabs(sum - y[base ? c * ld + i : i * ld + c]));
        }
    tap_ok(worst < 1e-11, "the conjugate transpose of a skew-symmetric matrix from %d, %g", base, worst);
    free(x);
    free(y);
    free(before);
}

static void test_codes(void)
{
    double *x = room(), *y = room();
    struct sc_mkl_descr blocks = {SC_MKL_BLOCK_TRIANGULAR, SC_MKL_LOWER, SC_MKL_UNIT}, bad = {7, 0, 0};
    sc_mkl_matrix m, other;
    int base, *i;
    double *v;

    store_d(0);
    tap_ok(mkl_sparse_d_mv(10, 1, NULL, kinds[0], x, 0, y) == SC_MKL_NOT_INITIALIZED, "no handle");
    tap_ok(mkl_sparse_destroy(NULL) == SC_MKL_NOT_INITIALIZED, "no handle to destroy");
    tap_ok(mkl_sparse_d_create_csr(&m, 0, N, N, NULL, NULL, NULL, NULL) == SC_MKL_NOT_INITIALIZED, "no arrays");
    tap_ok(mkl_sparse_d_create_csr(&m, 2, N, N, start_d, start_d + 1, index_d, values_d) == SC_MKL_INVALID_VALUE,
           "counting from 2");
    tap_ok(mkl_sparse_d_create_csr(&m, 0, -1, N, start_d, start_d + 1, index_d, values_d) == SC_MKL_INVALID_VALUE,
           "a negative size");
    tap_ok(!mkl_sparse_d_create_csr(&m, 0, N, N, start_d, start_d + 1, index_d, values_d), "a matrix");
    tap_ok(mkl_sparse_s_mv(10, 1, m, kinds[0], (float *)x, 0, (float *)y) == SC_MKL_INVALID_VALUE, "another type");
    tap_ok(mkl_sparse_d_mv(9, 1, m, kinds[0], x, 0, y) == SC_MKL_INVALID_VALUE, "no such operation");
    tap_ok(mkl_sparse_d_mv(10, 1, m, bad, x, 0, y) == SC_MKL_INVALID_VALUE, "no such kind");
    tap_ok(mkl_sparse_d_mv(10, 1, m, blocks, x, 0, y) == SC_MKL_NOT_SUPPORTED, "a kind that is not supported");
    tap_ok(mkl_sparse_d_mm(10, 1, m, kinds[0], 101, x, 3, 2, 0, y, 3) == SC_MKL_INVALID_VALUE, "a narrow dense matrix");
    tap_ok(mkl_sparse_d_symgs(10, m, 1.0, x, y) == SC_MKL_NOT_SUPPORTED, "a name that is not supported");
    tap_ok(mkl_sparse_set_mv_hint(m, 10, kinds[1], 99) == SC_MKL_SUCCESS, "a hint");
    tap_ok(mkl_sparse_convert_csr(m, 10, NULL) == SC_MKL_NOT_INITIALIZED, "nowhere to put it");
    tap_ok(!mkl_sparse_spmm(10, m, m, &other) && !mkl_sparse_d_mv(10, 1, other, kinds[0], x, 0, y) &&
               mkl_sparse_d_export_csr(other, &base, &base, &base, &i, &i, &i, &v) == SC_MKL_SUCCESS, "a product");
    mkl_sparse_destroy(other);
    index_d[5] = N;
    y[0] = 42;
    tap_ok(mkl_sparse_d_mv(10, 1, m, kinds[0], x, 0, y) == SC_MKL_INVALID_VALUE && y[0] == 42, "an index out of range");
    mkl_sparse_destroy(m);
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    struct semcache_statistics used = {.size = sizeof used};

    tap_diag("seed %u", seed);
    if (argc > 2) { /* a part, for planted bugs */
        test_d(0);
        test_arrays_d(1);
        return tap_done();
    }
#define RUN(l, L, T, t, suffix, Int) test_##l##suffix(0), test_##l##suffix(1);
    SC_MKL_EACH(RUN)
#define RUN_ARRAYS(l, L, T, t, suffix, Int) test_arrays_##l(0), test_arrays_##l(1);
    SC_MKL_TYPES(RUN_ARRAYS, , int32_t)
    test_skew();
    test_skew_conjugate(0);
    test_skew_conjugate(1);
    test_refused();
    test_codes();
    semcache_statistics(&used);
    tap_ok((used.bytes_h2d > 0) == (argc > 1 && strcmp(argv[1], "none") != 0), "what was to be used was used");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
