/* MKL's names against dense matrices: four types, from 0 and 1, all operations and kinds, both layouts, formats, with
 * handles and with arrays in each call, 32- and 64-bit names, error codes.  Run by sparse_mkl.t on the host and on
 * devices. */
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

int mkl_sparse_optimize(sc_mkl_matrix m);
int mkl_sparse_destroy(sc_mkl_matrix m);
int mkl_sparse_order(sc_mkl_matrix m);
int mkl_sparse_convert_csr(sc_mkl_matrix m, int operation, sc_mkl_matrix *out);
int mkl_sparse_spmm(int operation, sc_mkl_matrix a, sc_mkl_matrix b, sc_mkl_matrix *out);
int mkl_sparse_set_mv_hint(sc_mkl_matrix m, int operation, struct sc_mkl_descr descr, int calls);
int mkl_sparse_optimize_64(sc_mkl_matrix m);
int mkl_sparse_destroy_64(sc_mkl_matrix m);
int mkl_sparse_order_64(sc_mkl_matrix m);
int mkl_sparse_convert_csr_64(sc_mkl_matrix m, int operation, sc_mkl_matrix *out);
int mkl_sparse_d_symgs();

#define PROTOTYPES(l, L, T, t, suffix, I)                                                                            \
    int mkl_sparse_##l##_create_csr##suffix(sc_mkl_matrix *, int, I, I, I *, I *, I *, T *);                         \
    int mkl_sparse_##l##_create_csc##suffix(sc_mkl_matrix *, int, I, I, I *, I *, I *, T *);                         \
    int mkl_sparse_##l##_create_coo##suffix(sc_mkl_matrix *, int, I, I, I, I *, I *, T *);                           \
    int mkl_sparse_##l##_create_bsr##suffix(sc_mkl_matrix *, int, int, I, I, I, I *, I *, I *, T *);                 \
    int mkl_sparse_##l##_export_csr##suffix(sc_mkl_matrix, int *, I *, I *, I **, I **, I **, T **);                 \
    int mkl_sparse_##l##_mv##suffix(int, T, sc_mkl_matrix, struct sc_mkl_descr, const T *, T, T *);                  \
    int mkl_sparse_##l##_mm##suffix(int, T, sc_mkl_matrix, struct sc_mkl_descr, int, const T *, I, I, T, T *, I);    \
    int mkl_sparse_##l##_trsv##suffix(int, T, sc_mkl_matrix, struct sc_mkl_descr, const T *, T *);                   \
    int mkl_sparse_##l##_trsm##suffix(int, T, sc_mkl_matrix, struct sc_mkl_descr, int, const T *, I, I, T *, I);
SC_MKL_EACH(PROTOTYPES)
#define OLD_PROTOTYPES(l, L, T, t, suffix, I)                                                                        \
    void MKL_##L##CSRMV(const char *, const I *, const I *, const T *, const char *, const T *, const I *,           \
                        const I *, const I *, const T *, const T *, T *);                                            \
    void mkl_##l##csrmm_(const char *, const I *, const I *, const I *, const T *, const char *, const T *,          \
                         const I *, const I *, const I *, const T *, const I *, const T *, T *, const I *);          \
    void mkl_##l##csrsv(const char *, const I *, const T *, const char *, const T *, const I *, const I *,           \
                        const I *, const T *, T *);                                                                  \
    void mkl_##l##csrgemv(const char *, const I *, const T *, const I *, const I *, const T *, T *);                 \
    void mkl_cspblas_##l##csrgemv(const char *, const I *, const T *, const I *, const I *, const T *, T *);         \
    void mkl_cspblas_##l##csrsymv(const char *, const I *, const T *, const I *, const I *, const T *, T *);         \
    void mkl_##l##csrtrsv(const char *, const char *, const char *, const I *, const T *, const I *, const I *,      \
                          const T *, T *);
SC_MKL_TYPES(OLD_PROTOTYPES, , int32_t)

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

/* op(A) x_j for all i, with alpha and beta; or what is left of a solve. */
#define OPERANDS(l, L, T, t, suffix, Int)                                                                            \
    static double worst_##l##suffix(char trans, struct sc_mkl_descr d, double complex alpha, const T *x,             \
                                    double complex beta, const T *before, const T *y, int columns, int by_rows)      \
    {                                                                                                                \
        double worst = 0;                                                                                            \
                                                                                                                     \
        for (int i = 0; i < N; i++)                                                                                  \
            for (int j = 0; j < columns; j++) {                                                                      \
                double complex sum = beta * before[by_rows ? i * columns + j : j * N + i];                           \
                                                                                                                     \
                for (int k = 0; k < N; k++)                                                                          \
                    sum += alpha * element(trans, d, i, k) * x[by_rows ? k * columns + j : j * N + k];               \
                worst = fmax(worst, cabs(sum - y[by_rows ? i * columns + j : j * N + i]) / (1 + cabs(sum)));         \
            }                                                                                                        \
        return worst;                                                                                                \
    }
SC_MKL_EACH(OPERANDS)

/* The same matrix in all formats. */
#define ARRAYS(l, L, T, t, suffix, Int)                                                                              \
    static Int *start_##l##suffix, *index_##l##suffix, *row_##l##suffix, *bstart_##l##suffix;                        \
    static Int *cstart_##l##suffix, *cindex_##l##suffix, *bindex_##l##suffix;                                        \
    static T *values_##l##suffix, *cvalues_##l##suffix, *bvalues_##l##suffix;                                        \
    static void store_##l##suffix(int base)                                                                          \
    {                                                                                                                \
        int n = 0, c = 0;                                                                                            \
                                                                                                                     \
        if (!start_##l##suffix) {                                                                                    \
            start_##l##suffix = room();                                                                              \
            index_##l##suffix = room();                                                                              \
            row_##l##suffix = room();                                                                                \
            bstart_##l##suffix = room();                                                                             \
            cstart_##l##suffix = room();                                                                             \
            cindex_##l##suffix = room();                                                                             \
            bindex_##l##suffix = room();                                                                             \
            values_##l##suffix = room();                                                                             \
            cvalues_##l##suffix = room();                                                                            \
            bvalues_##l##suffix = room();                                                                            \
        }                                                                                                            \
                                                                                                                     \
        for (int i = 0; i < N; i++) {                                                                                \
            start_##l##suffix[i] = n + base;                                                                         \
            cstart_##l##suffix[i] = c + base;                                                                        \
            for (int j = N - 1; j >= 0; j--) {                                                                       \
                if (dense[i][j] != 0) {                                                                              \
                    row_##l##suffix[n] = i + base;                                                                   \
                    index_##l##suffix[n] = j + base;                                                                 \
                    values_##l##suffix[n++] = (T)dense[i][j];                                                        \
                }                                                                                                    \
                if (dense[j][i] != 0) {                                                                              \
                    cindex_##l##suffix[c] = j + base;                                                                \
                    cvalues_##l##suffix[c++] = (T)dense[j][i];                                                       \
                }                                                                                                    \
            }                                                                                                        \
        }                                                                                                            \
        start_##l##suffix[N] = n + base;                                                                             \
        cstart_##l##suffix[N] = c + base;                                                                            \
        for (int i = 0; i <= N / 2; i++)                                                                             \
            bstart_##l##suffix[i] = i * (N / 2) + base;                                                              \
        for (int b = 0; b < N * N / 4; b++) {                                                                        \
            bindex_##l##suffix[b] = b % (N / 2) + base;                                                              \
            for (int e = 0; e < 4; e++)                                                                              \
                bvalues_##l##suffix[4 * b + e] = (T)dense[b / (N / 2) * 2 + e % 2][b % (N / 2) * 2 + e / 2];         \
        }                                                                                                            \
    }
SC_MKL_EACH(ARRAYS)

#define TEST(l, L, T, t, suffix, Int)                                                                                \
    static double products_##l##suffix(sc_mkl_matrix m)                                                              \
    {                                                                                                                \
        T *x = room(), *y = room(), *before = room();                                                                \
        double worst = 0;                                                                                            \
        T alpha = (T)random_of(t), beta = (T)random_of(t);                                                           \
                                                                                                                     \
        for (int k = 0; k < KINDS; k++)                                                                              \
            for (int op = 0; op < 3; op++) {                                                                         \
                for (int i = 0; i < N * COLUMNS; i++) {                                                              \
                    x[i] = (T)random_of(t);                                                                          \
                    y[i] = before[i] = (T)random_of(t);                                                              \
                }                                                                                                    \
                if (mkl_sparse_##l##_mv##suffix(10 + op, alpha, m, kinds[k], x, beta, y))                            \
                    return INFINITY;                                                                                 \
                worst = fmax(worst, worst_##l##suffix("NTC"[op], kinds[k], alpha, x, beta, before, y, 1, 0));        \
                for (int rows = 0; rows < 2; rows++) {                                                               \
                    memcpy(y, before, N * COLUMNS * sizeof *y);                                                      \
                    if (mkl_sparse_##l##_mm##suffix(10 + op, alpha, m, kinds[k], 102 - rows, x, COLUMNS,             \
                                                    rows ? COLUMNS : N, beta, y, rows ? COLUMNS : N))                \
                        return INFINITY;                                                                             \
                    worst = fmax(worst, worst_##l##suffix("NTC"[op], kinds[k], alpha, x, beta, before, y, COLUMNS,   \
                                                          rows));                                                    \
                }                                                                                                    \
            }                                                                                                        \
        free(x);                                                                                                     \
        free(y);                                                                                                     \
        free(before);                                                                                                \
        return worst;                                                                                                \
    }                                                                                                                \
    static double solves_##l##suffix(sc_mkl_matrix m)                                                                \
    {                                                                                                                \
        T *x = room(), *y = room(), *z = room();                                                                     \
        double worst = 0;                                                                                            \
        struct sc_mkl_descr d[] = {kinds[4], kinds[6], kinds[7]}; /* well-conditioned */                             \
                                                                                                                     \
        for (int k = 0; k < 3; k++)                                                                                  \
            for (int op = 0; op < 3; op++)                                                                           \
                for (int rows = 0; rows < 2; rows++) {                                                               \
                    for (int i = 0; i < N * COLUMNS; i++) {                                                          \
                        x[i] = (T)random_of(t);                                                                      \
                        z[i] = 2 * x[i];                                                                             \
                    }                                                                                                \
                    if (mkl_sparse_##l##_trsm##suffix(10 + op, 2, m, d[k], 102 - rows, x, COLUMNS,                   \
                                                      rows ? COLUMNS : N, y, rows ? COLUMNS : N))                    \
                        return INFINITY;                                                                             \
                    worst = fmax(worst, worst_##l##suffix("NTC"[op], d[k], 1, y, 0, y, z, COLUMNS, rows));           \
                    if (mkl_sparse_##l##_trsv##suffix(10 + op, 2, m, d[k], x, y))                                    \
                        return INFINITY;                                                                             \
                    worst = fmax(worst, worst_##l##suffix("NTC"[op], d[k], 1, y, 0, y, z, 1, 0));                    \
                }                                                                                                    \
        free(x);                                                                                                     \
        free(y);                                                                                                     \
        free(z);                                                                                                     \
        return worst;                                                                                                \
    }                                                                                                                \
    static void test_##l##suffix(int base)                                                                           \
    {                                                                                                                \
        double most = t == SC_S || t == SC_C ? 1e-3 : 1e-11, worst = 0;                                              \
        sc_mkl_matrix m[4], converted;                                                                               \
        int failed = 0, is_base;                                                                                     \
        Int rows, cols, *start, *end, *index;                                                                        \
        T *values;                                                                                                   \
                                                                                                                     \
        fill(t);                                                                                                     \
        store_##l##suffix(base);                                                                                     \
        failed += !!mkl_sparse_##l##_create_csr##suffix(&m[0], base, N, N, start_##l##suffix, start_##l##suffix + 1, \
                                                        index_##l##suffix, values_##l##suffix);                      \
        failed += !!mkl_sparse_##l##_create_csc##suffix(&m[1], base, N, N, cstart_##l##suffix,                       \
                                                        cstart_##l##suffix + 1, cindex_##l##suffix,                  \
                                                        cvalues_##l##suffix);                                        \
        failed += !!mkl_sparse_##l##_create_coo##suffix(&m[2], base, N, N, start_##l##suffix[N] - base,              \
                                                        row_##l##suffix, index_##l##suffix, values_##l##suffix);     \
        failed += !!mkl_sparse_##l##_create_bsr##suffix(&m[3], base, 102, N / 2, N / 2, 2, bstart_##l##suffix,       \
                                                        bstart_##l##suffix + 1, bindex_##l##suffix,                  \
                                                        bvalues_##l##suffix);                                        \
        if (!tap_ok(!failed, #l #suffix " from %d: four formats are accepted", base))                                \
            return;                                                                                                  \
        for (int k = 0; k < 4; k++) {                                                                                \
            worst = fmax(products_##l##suffix(m[k]), solves_##l##suffix(m[k]));                                      \
            tap_ok(worst <= most, #l #suffix " from %d, format %d: products and solves, %g", base, k, worst);        \
        }                                                                                                            \
        values_##l##suffix[3] *= 2;                                                                                  \
        dense[row_##l##suffix[3] - base][index_##l##suffix[3] - base] *= 2;                                          \
        worst = products_##l##suffix(m[0]);                                                                          \
        tap_ok(worst <= most, #l #suffix " from %d: after a value was written", base);                               \
        failed = mkl_sparse_##l##_export_csr##suffix(m[0], &is_base, &rows, &cols, &start, &end, &index, &values);   \
        tap_ok(!failed && is_base == base && rows == N && cols == N && values == values_##l##suffix &&               \
                   end == start + 1 && index == index_##l##suffix, #l #suffix " from %d: given back", base);         \
        failed = mkl_sparse_order##suffix(m[0]);                                                                     \
        for (int i = 1; i < start[1] - base; i++)                                                                    \
            failed += index[i] <= index[i - 1];                                                                      \
        worst = products_##l##suffix(m[0]);                                                                          \
        tap_ok(!failed && worst <= most, #l #suffix " from %d: ordered, %g", base, worst);                           \
        for (int k = 0; k < 4; k++)                                                                                  \
            failed += !!mkl_sparse_optimize##suffix(m[k]);                                                           \
        failed += !!mkl_sparse_convert_csr##suffix(m[0], 10, &converted);                                            \
        worst = products_##l##suffix(converted);                                                                     \
        for (int k = 0; k < 4; k++)                                                                                  \
            failed += !!mkl_sparse_destroy##suffix(m[k]);                                                            \
        failed += !!mkl_sparse_destroy##suffix(converted);                                                           \
        tap_ok(!failed && worst <= most, #l #suffix " from %d: converted, %g", base, worst);                         \
    }
SC_MKL_EACH(TEST)

#define TEST_ARRAYS(l, L, T, t, suffix, Int)                                                                         \
    static void test_arrays_##l(int base)                                                                            \
    {                                                                                                                \
        T *x = room(), *y = room(), *before = room();                                                                \
        static const char *const letters[] = {"G", "SLN", "SUU", "HLU", "TUN", "TLU", "TLN", "D N"};                 \
        const int n = N, columns = COLUMNS, ld = base ? N : COLUMNS;                                                 \
        const T one = 1, alpha = (T)random_of(t), beta = (T)random_of(t);                                            \
        double most = t == SC_S || t == SC_C ? 1e-3 : 1e-11, worst = 0;                                              \
        int *start;                                                                                                  \
                                                                                                                     \
        fill(t);                                                                                                     \
        store_##l(base);                                                                                             \
        start = start_##l;                                                                                           \
        for (int k = 0; k < KINDS; k++)                                                                              \
            for (int op = 0; op < 3; op++) {                                                                         \
                char descr[5] = "    ";                                                                              \
                                                                                                                     \
                memcpy(descr, letters[k], strlen(letters[k]));                                                       \
                descr[3] = base ? 'F' : 'C';                                                                         \
                for (int i = 0; i < N * COLUMNS; i++) {                                                              \
                    x[i] = (T)random_of(t);                                                                          \
                    y[i] = before[i] = (T)random_of(t);                                                              \
                }                                                                                                    \
                MKL_##L##CSRMV(&"ntc"[op], &n, &n, &alpha, descr, values_##l, index_##l, start, start + 1, x, &beta, \
                               y);                                                                                   \
                worst = fmax(worst, worst_##l("NTC"[op], kinds[k], alpha, x, beta, before, y, 1, 0));                \
                memcpy(y, before, N * COLUMNS * sizeof *y);                                                          \
                mkl_##l##csrmm_(&"NTC"[op], &n, &columns, &n, &alpha, descr, values_##l, index_##l, start,           \
                                start + 1, x, &ld, &beta, y, &ld);                                                   \
                worst = fmax(worst, worst_##l("NTC"[op], kinds[k], alpha, x, beta, before, y, COLUMNS, !base));      \
                if (!k)                                                                                              \
                    (base ? mkl_##l##csrgemv : mkl_cspblas_##l##csrgemv)(&"NTC"[op], &n, values_##l, start,          \
                                                                         index_##l, x, y);                           \
                if (!k)                                                                                              \
                    worst = fmax(worst, worst_##l("NTC"[op], kinds[k], 1, x, 0, before, y, 1, 0));                   \
                if (k != 4)                                                                                          \
                    continue;                                                                                        \
                mkl_##l##csrsv(&"NTC"[op], &n, &one, descr, values_##l, index_##l, start, start + 1, x, y);          \
                worst = fmax(worst, worst_##l("NTC"[op], kinds[k], 1, y, 0, y, x, 1, 0));                            \
                if (base) {                                                                                          \
                    mkl_##l##csrtrsv("U", &"NTC"[op], "N", &n, values_##l, start, index_##l, x, y);                  \
                    worst = fmax(worst, worst_##l("NTC"[op], kinds[k], 1, y, 0, y, x, 1, 0));                        \
                }                                                                                                    \
            }                                                                                                        \
        if (!base) {                                                                                                 \
            mkl_cspblas_##l##csrsymv("L", &n, values_##l, start, index_##l, x, y);                                   \
            worst = fmax(worst, worst_##l('N', kinds[1], 1, x, 0, y, y, 1, 0));                                      \
        }                                                                                                            \
        tap_ok(worst <= most, #l " from %d: arrays in each call, %g", base, worst);                                  \
        for (int i = 0; i <= N; i++) /* positions count from the first one's */                                      \
            start[i] += 7;                                                                                           \
        MKL_##L##CSRMV("N", &n, &n, &alpha, base ? "G  F" : "G  C", values_##l, index_##l, start, start + 1, x,      \
                       &(T){0}, y);                                                                                  \
        worst = worst_##l('N', kinds[0], alpha, x, 0, y, y, 1, 0);                                                   \
        tap_ok(worst <= most, #l " from %d: positions from another number, %g", base, worst);                        \
        free(x);                                                                                                     \
        free(y);                                                                                                     \
        free(before);                                                                                                \
    }
SC_MKL_TYPES(TEST_ARRAYS, , int32_t)

/* A skew-symmetric matrix is its lower triangle without the diagonal, less the transpose of it. */
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
        worst = fmax(worst, fabs(sum - y[i]));
    }
    tap_ok(worst < 1e-11, "a skew-symmetric matrix, %g", worst);
    free(x);
    free(y);
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
#define RUN(l, L, T, t, suffix, Int) test_##l##suffix(0), test_##l##suffix(1);
    SC_MKL_EACH(RUN)
#define RUN_ARRAYS(l, L, T, t, suffix, Int) test_arrays_##l(0), test_arrays_##l(1);
    SC_MKL_TYPES(RUN_ARRAYS, , int32_t)
    test_skew();
    test_codes();
    semcache_statistics(&used);
    tap_ok((used.bytes_h2d > 0) == (argc > 1 && strcmp(argv[1], "none") != 0), "what was to be used was used");
    return tap_done();
}
