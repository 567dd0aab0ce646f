/* The Sparse BLAS against dense matrices, under its C and its Fortran names. Covers four types, every way to begin a
 * matrix and to insert entries, properties, both bases, products and solves with strides in both orders, and sparse
 * vectors. The test is linked with libsemcache, and a second time with librsb, whose answers have to pass, too
 * (usblas.t). USBLAS_NARROW=1 leaves out cases in which librsb 1.3 departs from the standard or fails sometimes. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "semcache/blas_sparse.h"
#include "tests/tap.h"

enum { N = 40, COLUMNS = 4, CASES = 60, ROOM = 4 * N * N };
enum { SINGLE, DOUBLE };

/* librsb has to be started. */
int rsb_lib_init(void *options) __attribute__((weak));
void blas_ussp_(const int *, const int *, int *);
void blas_usgp_(const int *, const int *, int *);
void blas_usds_(const int *, int *);

static unsigned long seed = 20261121;

/* librsb answers: its departures from the standard are noted where they are left out. */
static int narrow;

static double draw(void)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (double)(seed >> 11) / (1UL << 53);
}

static int below(int n)
{
    return (int)(draw() * n);
}

/* Large enough to be kept on devices. */
static void *room(void)
{
    void *memory = calloc(1, ROOM * sizeof(double complex));

    if (!memory)
        abort();
    return memory;
}

/* --- what a matrix is --------------------------------------------------------------------------------------------- */

static struct {
    int rows, cols, base, fortran, handle, complexes;
    int kind, unit; /* property, or blas_general */
    double complex a[N][N];
} m;

static void put(int i, int j, double complex v)
{
    int triangular = m.kind == blas_lower_triangular || m.kind == blas_upper_triangular;
    int lower = m.kind == blas_lower_triangular;

    if ((m.unit && i == j) || (triangular && i != j && (j < i) != lower))
        return;
    m.a[i][j] += v;
    if (i != j && (m.kind == blas_lower_symmetric || m.kind == blas_upper_symmetric))
        m.a[j][i] += v;
    else if (i != j && (m.kind == blas_lower_hermitian || m.kind == blas_upper_hermitian))
        m.a[j][i] += conj(v);
}

static double complex op(int trans, int i, int j)
{
    double complex v = trans == blas_no_trans ? m.a[i][j] : m.a[j][i];

    return trans == blas_conj_trans ? conj(v) : v;
}

/* The diagonal is large, so that solves are well-conditioned; that of a Hermitian matrix is real. */
static double complex random_at(int i, int j)
{
    int hermitian = m.kind == blas_lower_hermitian || m.kind == blas_upper_hermitian;
    double complex v = draw() - 0.5;

    if (m.complexes && !(hermitian && i == j))
        v += I * (draw() - 0.5);
    return i == j ? v + 4 : v;
}

static double complex random_number(void)
{
    return draw() - 0.5 + (m.complexes ? I * (draw() - 0.5) : 0);
}

/* Entries of a symmetric matrix may come from either half; entries of a unit diagonal may be given. Narrow: neither
 * both entries of a pair, nor entries of a unit diagonal. */
static void order(int *i, int *j)
{
    int upper = m.kind == blas_upper_symmetric || m.kind == blas_upper_hermitian;
    int lower = m.kind == blas_lower_symmetric || m.kind == blas_lower_hermitian;
    int kept = *i;

    if (narrow && m.unit && *i == *j)
        *j = *i > m.base ? *i - 1 : *i + 1;
    if (narrow && ((upper && *i > *j) || (lower && *i < *j))) {
        *i = *j;
        *j = kept;
    }
}

static int property(int which)
{
    int value;

    if (!m.fortran)
        return BLAS_usgp(m.handle, which);
    blas_usgp_(&m.handle, &which, &value);
    return value;
}

static int set_property(int which)
{
    int status;

    if (!m.fortran)
        return BLAS_ussp(m.handle, which);
    blas_ussp_(&m.handle, &which, &status);
    return status;
}

static int destroy(void)
{
    int status;

    if (!m.fortran)
        return BLAS_usds(m.handle);
    blas_usds_(&m.handle, &status);
    return status;
}

/* Narrow: not negative. */
static int increment(void)
{
    return (1 + below(3)) * (!narrow && below(4) == 0 ? -1 : 1);
}

/* Where element i of n is: with a negative increment element 0 has the highest address. */
static int place(int i, int n, int inc)
{
    return inc > 0 ? i * inc : (n - 1 - i) * -inc;
}

static int choose(void)
{
    static const int kinds[] = {blas_general, blas_lower_triangular, blas_upper_triangular, blas_lower_symmetric,
                                blas_upper_symmetric, blas_lower_hermitian, blas_upper_hermitian};

    m.kind = kinds[below(m.complexes ? 7 : 5)];
    m.unit = below(4) == 0 && !(narrow && m.kind == blas_general); /* narrow: not if not square */
    return m.kind != blas_general;
}

/* --- calls by type ------------------------------------------------------------------------------------------------ */

#define BY_VALUE(x) (x)
#define BY_ADDRESS(x) (&(x))

#define TYPE(l, T, given, is_complex, precision)                                                                     \
    void blas_##l##uscr_begin_(const int *, const int *, int *, int *);                                              \
    void blas_##l##uscr_block_begin_(const int *, const int *, const int *, const int *, int *, int *);              \
    void blas_##l##uscr_variable_block_begin_(const int *, const int *, const int *, const int *, int *, int *);     \
    void blas_##l##uscr_insert_entry_(const int *, const T *, const int *, const int *, int *);                      \
    void blas_##l##uscr_insert_entries_(const int *, const int *, const T *, const int *, const int *, int *);       \
    void blas_##l##uscr_insert_col_(const int *, const int *, const int *, const T *, const int *, int *);           \
    void blas_##l##uscr_insert_row_(const int *, const int *, const int *, const T *, const int *, int *);           \
    void blas_##l##uscr_insert_clique_(const int *, const int *, const int *, const T *, const int *, const int *,   \
                                       const int *, const int *, int *);                                             \
    void blas_##l##uscr_insert_block_(const int *, const T *, const int *, const int *, const int *, const int *,    \
                                      int *);                                                                        \
    void blas_##l##uscr_end_(const int *, int *);                                                                    \
    void blas_##l##usmv_(const int *, const T *, const int *, const T *, const int *, T *, const int *, int *);      \
    void blas_##l##usmm_(const int *, const int *, const int *, const T *, const int *, const T *, const int *, T *, \
                         const int *, int *);                                                                        \
    void blas_##l##ussv_(const int *, const T *, const int *, T *, const int *, int *);                              \
    void blas_##l##ussm_(const int *, const int *, const int *, const T *, const int *, T *, const int *, int *);    \
    void blas_##l##usdot_(const int *, const int *, const T *, const int *, const T *, const int *, T *,             \
                          const int *, int *);                                                                       \
    void blas_##l##usaxpy_(const int *, const T *, const T *, const int *, T *, const int *, const int *, int *);    \
    void blas_##l##usga_(const int *, const T *, const int *, T *, const int *, const int *, int *);                 \
    void blas_##l##usgz_(const int *, T *, const int *, T *, const int *, const int *, int *);                       \
    void blas_##l##ussc_(const int *, const T *, T *, const int *, const int *, const int *, int *);                 \
    static int begin_##l(const int *down, const int *across, int blocks_down, int blocks_across, int form)           \
    {                                                                                                                \
        int status = 0, *h = &m.handle;                                                                              \
        if (m.fortran && form == 0)                                                                                  \
            blas_##l##uscr_begin_(&m.rows, &m.cols, h, &status);                                                     \
        else if (m.fortran && form == 1)                                                                             \
            blas_##l##uscr_block_begin_(&blocks_down, &blocks_across, down, across, h, &status);                     \
        else if (m.fortran)                                                                                          \
            blas_##l##uscr_variable_block_begin_(&blocks_down, &blocks_across, down, across, h, &status);            \
        else                                                                                                         \
            *h = form == 0   ? BLAS_##l##uscr_begin(m.rows, m.cols)                                                  \
                 : form == 1 ? BLAS_##l##uscr_block_begin(blocks_down, blocks_across, *down, *across)                \
                             : BLAS_##l##uscr_variable_block_begin(blocks_down, blocks_across, down, across);        \
        return status || *h == -1;                                                                                   \
    }                                                                                                                \
    static int insert_dense_##l(int rows, int cols, const int *i, const int *j, int block_i, int block_j)            \
    {                                                                                                                \
        T values[N * N];                                                                                             \
        int by_rows = below(2), rs = by_rows ? cols : 1, cs = by_rows ? 1 : rows, status;                            \
        for (int r = 0; r < rows; r++)                                                                               \
            for (int c = 0; c < cols; c++) {                                                                         \
                values[r * rs + c * cs] = (T)random_at(i[r], j[c]);                                                  \
                put(i[r] - m.base, j[c] - m.base, values[r * rs + c * cs]);                                          \
            }                                                                                                        \
        if (block_i >= 0 && m.fortran)                                                                               \
            blas_##l##uscr_insert_block_(&m.handle, values, &rs, &cs, &block_i, &block_j, &status);                  \
        else if (block_i >= 0)                                                                                       \
            status = BLAS_##l##uscr_insert_block(m.handle, values, rs, cs, block_i, block_j);                        \
        else if (m.fortran)                                                                                          \
            blas_##l##uscr_insert_clique_(&m.handle, &rows, &cols, values, &rs, &cs, i, j, &status);                 \
        else                                                                                                         \
            status = BLAS_##l##uscr_insert_clique(m.handle, rows, cols, values, rs, cs, i, j);                       \
        return status;                                                                                               \
    }                                                                                                                \
    /* how: an entry, entries, a row, a column */                                                                    \
    static int insert_some_##l(int how)                                                                              \
    {                                                                                                                \
        int n = how ? 1 + below(8) : 1, status, i[8], j[8];                                                          \
        T values[8];                                                                                                 \
        for (int e = 0; e < n; e++) {                                                                                \
            i[e] = how == 2 && e ? i[0] : below(m.rows) + m.base;                                                    \
            j[e] = how == 3 && e ? j[0] : below(m.cols) + m.base;                                                    \
            if (how < 2)                                                                                             \
                order(&i[e], &j[e]);                                                                                 \
            values[e] = (T)random_at(i[e], j[e]);                                                                    \
            put(i[e] - m.base, j[e] - m.base, values[e]);                                                            \
        }                                                                                                            \
        if (m.fortran) {                                                                                             \
            if (how == 0)                                                                                            \
                blas_##l##uscr_insert_entry_(&m.handle, values, i, j, &status);                                      \
            else if (how == 1)                                                                                       \
                blas_##l##uscr_insert_entries_(&m.handle, &n, values, i, j, &status);                                \
            else if (how == 2)                                                                                       \
                blas_##l##uscr_insert_row_(&m.handle, i, &n, values, j, &status);                                    \
            else                                                                                                     \
                blas_##l##uscr_insert_col_(&m.handle, j, &n, values, i, &status);                                    \
            return status;                                                                                           \
        }                                                                                                            \
        return how == 0   ? BLAS_##l##uscr_insert_entry(m.handle, given(values[0]), i[0], j[0])                      \
               : how == 1 ? BLAS_##l##uscr_insert_entries(m.handle, n, values, i, j)                                 \
               : how == 2 ? BLAS_##l##uscr_insert_row(m.handle, i[0], n, values, j)                                  \
                          : BLAS_##l##uscr_insert_col(m.handle, j[0], n, values, i);                                 \
    }                                                                                                                \
    /* Makes m; returns the number of failed calls. */                                                               \
    static int make_##l(int form)                                                                                    \
    {                                                                                                                \
        int square = choose(), blocks_down = 1 + below(8), blocks_across = square ? blocks_down : 1 + below(8);      \
        int down[8], across[8], failed, asked_base = below(3), i_at[9] = {0}, j_at[9] = {0};                         \
        int diagonal_room = m.kind == blas_lower_triangular || m.kind == blas_upper_triangular;                      \
        for (int b = 0; b < 8; b++) {                                                                                \
            down[b] = form == 1 && b ? down[0] : 1 + below(4);                                                       \
            across[b] = square ? down[b] : form == 1 && b ? across[0] : 1 + below(4);                                \
            i_at[b + 1] = i_at[b] + down[b];                                                                         \
            j_at[b + 1] = j_at[b] + across[b];                                                                       \
        }                                                                                                            \
        m.rows = form ? i_at[blocks_down] : 1 + below(N);                                                            \
        m.cols = form ? j_at[blocks_across] : square ? m.rows : 1 + below(N);                                        \
        m.unit = m.unit && !(narrow && m.rows == 1);                                                                 \
        memset(m.a, 0, sizeof m.a);                                                                                  \
        m.fortran = below(2);                                                                                        \
        m.base = m.fortran;                                                                                          \
        failed = begin_##l(down, across, blocks_down, blocks_across, form);                                          \
        if (m.kind != blas_general)                                                                                  \
            failed += !!set_property(m.kind);                                                                        \
        if (m.unit)                                                                                                  \
            failed += !!set_property(blas_unit_diag);                                                                \
        if (asked_base < 2 && !(narrow && m.fortran)) { /* librsb has no base 0 in Fortran */                        \
            failed += !!set_property(asked_base ? blas_one_base : blas_zero_base);                                   \
            m.base = asked_base;                                                                                     \
        }                                                                                                            \
        for (int n = below(24); n >= 0; n--) {                                                                       \
            int how = below(narrow && (m.unit || m.kind > blas_upper_triangular) ? 2 : form ? 6 : 5), i[8], j[8];    \
            if (how < 4) {                                                                                           \
                failed += !!insert_some_##l(how);                                                                    \
            } else if (how == 4) {                                                                                   \
                int k = 1 + below(4), c = 1 + below(4);                                                              \
                for (int b = 0; b < 4; b++) {                                                                        \
                    i[b] = below(m.rows) + m.base;                                                                   \
                    j[b] = below(m.cols) + m.base;                                                                   \
                }                                                                                                    \
                failed += !!insert_dense_##l(k, c, i, j, -1, -1);                                                    \
            } else {                                                                                                 \
                int bi = below(blocks_down), bj = below(blocks_across);                                              \
                for (int b = 0; b < 4; b++) {                                                                        \
                    i[b] = i_at[bi] + b + m.base;                                                                    \
                    j[b] = j_at[bj] + b + m.base;                                                                    \
                }                                                                                                    \
                failed += !!insert_dense_##l(down[bi], across[bj], i, j, bi + m.base, bj + m.base);                  \
            }                                                                                                        \
        }                                                                                                            \
        for (int d = 0; d < m.rows && diagonal_room && !m.unit; d++) { /* solves need the whole diagonal */          \
            int place = d + m.base;                                                                                  \
            T v = 4;                                                                                                 \
            put(d, d, v);                                                                                            \
            failed += !!BLAS_##l##uscr_insert_entry(m.handle, given(v), place, place);                               \
        }                                                                                                            \
        for (int d = 0; d < m.rows && d < m.cols && m.unit; d++)                                                     \
            m.a[d][d] = 1;                                                                                           \
        if (m.fortran) {                                                                                             \
            int status;                                                                                              \
            blas_##l##uscr_end_(&m.handle, &status);                                                                 \
            failed += !!status;                                                                                      \
        } else {                                                                                                     \
            failed += !!(below(2) ? BLAS_##l##uscr_end(m.handle) : BLAS_uscr_end(m.handle));                         \
        }                                                                                                            \
        failed += property(blas_num_rows) != m.rows || property(blas_num_cols) != m.cols;                            \
        failed += property(blas_general) != (m.kind == blas_general);                                                \
        failed += !narrow && property(blas_valid_handle) != 1;                                                       \
        failed += m.kind != blas_general && property(m.kind) != 1 && !narrow;                                        \
        return failed;                                                                                               \
    }                                                                                                                \
    /* y := alpha op(A) x + y: the largest error */                                                                  \
    static double mv_##l(int trans, T *x, T *y, const T *before)                                                     \
    {                                                                                                                \
        int outputs = trans == blas_no_trans ? m.rows : m.cols, inputs = m.rows + m.cols - outputs, status;          \
        int incx = increment(), incy = increment();                                                                  \
        T alpha = (T)random_number();                                                                                \
        double worst = 0;                                                                                            \
        if (m.fortran)                                                                                               \
            blas_##l##usmv_(&trans, &alpha, &m.handle, x, &incx, y, &incy, &status);                                 \
        else                                                                                                         \
            status = BLAS_##l##usmv((enum blas_trans_type)trans, given(alpha), m.handle, x, incx, y, incy);          \
        for (int i = 0; i < outputs; i++) {                                                                          \
            int at = place(i, outputs, incy);                                                                        \
            double complex sum = before[at];                                                                         \
            for (int k = 0; k < inputs; k++)                                                                         \
                sum += alpha * op(trans, i, k) * x[place(k, inputs, incx)];                                          \
            worst = fmax(worst, cabs(sum - y[at]));                                                                  \
            for (int k = 1; k < abs(incy) && at + k < place(incy > 0 ? outputs - 1 : 0, outputs, incy); k++)         \
                worst = y[at + k] == before[at + k] ? worst : INFINITY;                                              \
        }                                                                                                            \
        return status ? INFINITY : worst;                                                                            \
    }                                                                                                                \
    static double mm_##l(int trans, T *b, T *c, const T *before)                                                     \
    {                                                                                                                \
        int outputs = trans == blas_no_trans ? m.rows : m.cols, inputs = m.rows + m.cols - outputs, status;          \
        int columns = 1 + narrow + below(3), by_rows = below(2), order = by_rows ? blas_rowmajor : blas_colmajor;    \
        int ldb = (by_rows ? columns : inputs) + below(3), ldc = (by_rows ? columns : outputs) + below(3);           \
        T alpha = (T)random_number();                                                                                \
        double worst = 0;                                                                                            \
        if (narrow) /* librsb: one leading dimension */                                                              \
            ldb = ldc = ldb > ldc ? ldb : ldc;                                                                       \
        if (m.fortran)                                                                                               \
            blas_##l##usmm_(&order, &trans, &columns, &alpha, &m.handle, b, &ldb, c, &ldc, &status);                 \
        else                                                                                                         \
            status = BLAS_##l##usmm((enum blas_order_type)order, (enum blas_trans_type)trans, columns, given(alpha), \
                                    m.handle, b, ldb, c, ldc);                                                       \
        for (int i = 0; i < outputs; i++)                                                                            \
            for (int j = 0; j < columns; j++) {                                                                      \
                int at = by_rows ? i * ldc + j : j * ldc + i;                                                        \
                double complex sum = before[at];                                                                     \
                for (int k = 0; k < inputs; k++)                                                                     \
                    sum += alpha * op(trans, i, k) * b[by_rows ? k * ldb + j : j * ldb + k];                         \
                worst = fmax(worst, cabs(sum - c[at]));                                                              \
            }                                                                                                        \
        return status ? INFINITY : worst;                                                                            \
    }                                                                                                                \
    /* The residual of op(T) x = alpha b. */                                                                         \
    static double sv_##l(int trans, T *x, const T *before)                                                           \
    {                                                                                                                \
        int incx = increment(), status;                                                                              \
        T alpha = (T)(random_number() + 1);                                                                          \
        double worst = 0;                                                                                            \
        if (m.fortran)                                                                                               \
            blas_##l##ussv_(&trans, &alpha, &m.handle, x, &incx, &status);                                           \
        else                                                                                                         \
            status = BLAS_##l##ussv((enum blas_trans_type)trans, given(alpha), m.handle, x, incx);                   \
        for (int i = 0; i < m.rows; i++) {                                                                           \
            double complex sum = -alpha * before[place(i, m.rows, incx)];                                            \
            double size = 1;                                                                                         \
            for (int k = 0; k < m.rows; k++) {                                                                       \
                sum += op(trans, i, k) * x[place(k, m.rows, incx)];                                                  \
                size += cabs(op(trans, i, k) * x[place(k, m.rows, incx)]);                                           \
            }                                                                                                        \
            worst = fmax(worst, cabs(sum) / size);                                                                   \
        }                                                                                                            \
        return status ? INFINITY : worst;                                                                            \
    }                                                                                                                \
    static double sm_##l(int trans, T *b, const T *before)                                                           \
    {                                                                                                                \
        int columns = 1 + below(COLUMNS), by_rows = below(2), order = by_rows ? blas_rowmajor : blas_colmajor;       \
        int ldb = (by_rows ? columns : m.rows) + below(3), status;                                                   \
        T alpha = (T)(random_number() + 1);                                                                          \
        double worst = 0;                                                                                            \
        if (m.fortran)                                                                                               \
            blas_##l##ussm_(&order, &trans, &columns, &alpha, &m.handle, b, &ldb, &status);                          \
        else                                                                                                         \
            status = BLAS_##l##ussm((enum blas_order_type)order, (enum blas_trans_type)trans, columns, given(alpha), \
                                    m.handle, b, ldb);                                                               \
        for (int i = 0; i < m.rows; i++)                                                                             \
            for (int j = 0; j < columns; j++) {                                                                      \
                double complex sum = -alpha * before[by_rows ? i * ldb + j : j * ldb + i];                           \
                double size = 1;                                                                                     \
                for (int k = 0; k < m.rows; k++) {                                                                   \
                    double complex term = op(trans, i, k) * b[by_rows ? k * ldb + j : j * ldb + k];                  \
                    sum += term;                                                                                     \
                    size += cabs(term);                                                                              \
                }                                                                                                    \
                worst = fmax(worst, cabs(sum) / size);                                                               \
            }                                                                                                        \
        return status ? INFINITY : worst;                                                                            \
    }                                                                                                                \
    static double use_##l(T *x, T *y, T *before)                                                                     \
    {                                                                                                                \
        double worst = 0;                                                                                            \
        for (int trans = blas_no_trans; trans <= blas_conj_trans; trans++)                                           \
            for (int what = 0; what < 4; what++) {                                                                   \
                if (what > 1 && (narrow || (m.kind != blas_lower_triangular && m.kind != blas_upper_triangular)))    \
                    continue; /* librsb's solves do not always return */                                             \
                if (narrow && m.unit && what < 2) /* librsb: alpha omits unit diagonals */                           \
                    continue;                                                                                        \
                for (int i = 0; i < 4 * N * COLUMNS; i++) {                                                          \
                    x[i] = (T)random_number();                                                                       \
                    y[i] = before[i] = (T)random_number();                                                           \
                }                                                                                                    \
                worst = fmax(worst, what == 0   ? mv_##l(trans, x, y, before)                                        \
                                    : what == 1 ? mm_##l(trans, x, y, before)                                        \
                                    : what == 2 ? sv_##l(trans, y, before)                                           \
                                                : sm_##l(trans, y, before));                                         \
            }                                                                                                        \
        return worst;                                                                                                \
    }                                                                                                                \
    /* Sparse vectors with distinct indices. */                                                                      \
    static int vectors_##l(T *x, T *y)                                                                               \
    {                                                                                                                \
        int n = below(12), base = !narrow && below(2), given_base = blas_zero_base + base;                           \
        int incy = 1 + below(3), indx[12];                                                                           \
        int which = below(2) ? blas_conj : blas_no_conj, status = 0, wrong = 0;                                      \
        T kept[80], alpha = (T)random_number(), r = 7;                                                               \
        double complex sum = 0;                                                                                      \
        m.fortran = below(2);                                                                                        \
        for (int e = 0, at = base; e < n; e++, at += 1 + below(2)) {                                                 \
            indx[e] = at;                                                                                            \
            x[e] = (T)random_number();                                                                               \
        }                                                                                                            \
        for (int i = 0; i < 80; i++)                                                                                 \
            y[i] = (T)random_number();                                                                               \
        for (int e = 0; e < n; e++)                                                                                  \
            sum += (which == blas_conj ? conj(x[e]) : x[e]) * y[(indx[e] - base) * incy];                            \
        if (m.fortran)                                                                                               \
            blas_##l##usdot_(&which, &n, x, indx, y, &incy, &r, &given_base, &status);                               \
        else                                                                                                         \
            status = BLAS_##l##usdot((enum blas_conj_type)which, n, x, indx, y, incy, &r,                            \
                                     (enum blas_base_type)given_base);                                               \
        wrong += status || !(cabs(sum - r) < 1e-5);                                                                  \
        memcpy(kept, y, sizeof kept);                                                                                \
        if (narrow) /* librsb adds to other elements */                                                              \
            alpha = 0, status = 0;                                                                                   \
        else if (m.fortran)                                                                                          \
            blas_##l##usaxpy_(&n, &alpha, x, indx, y, &incy, &given_base, &status);                                  \
        else                                                                                                         \
            status = BLAS_##l##usaxpy(n, given(alpha), x, indx, y, incy, (enum blas_base_type)given_base);           \
        wrong += !!status;                                                                                           \
        for (int e = 0; e < n; e++)                                                                                  \
            kept[(indx[e] - base) * incy] += alpha * x[e];                                                           \
        for (int i = 0; i < 80; i++)                                                                                 \
            wrong += !(cabs((double complex)kept[i] - y[i]) < 1e-5);                                                 \
        memcpy(kept, y, sizeof kept);                                                                                \
        if (m.fortran)                                                                                               \
            blas_##l##usga_(&n, y, &incy, x, indx, &given_base, &status);                                            \
        else                                                                                                         \
            status = BLAS_##l##usga(n, y, incy, x, indx, (enum blas_base_type)given_base);                           \
        wrong += !!status || memcmp(kept, y, sizeof kept);                                                           \
        for (int e = 0; e < n; e++) {                                                                                \
            wrong += x[e] != y[(indx[e] - base) * incy];                                                             \
            x[e] = 0;                                                                                                \
        }                                                                                                            \
        if (m.fortran)                                                                                               \
            blas_##l##usgz_(&n, y, &incy, x, indx, &given_base, &status);                                            \
        else                                                                                                         \
            status = BLAS_##l##usgz(n, y, incy, x, indx, (enum blas_base_type)given_base);                           \
        wrong += !!status;                                                                                           \
        for (int e = 0; e < n; e++)                                                                                  \
            wrong += x[e] != kept[(indx[e] - base) * incy] || y[(indx[e] - base) * incy] != 0;                       \
        if (m.fortran)                                                                                               \
            blas_##l##ussc_(&n, x, y, &incy, indx, &given_base, &status);                                            \
        else                                                                                                         \
            status = BLAS_##l##ussc(n, x, y, incy, indx, (enum blas_base_type)given_base);                           \
        return wrong + !!status + !!memcmp(kept, y, sizeof kept);                                                    \
    }                                                                                                                \
    static void test_##l(void)                                                                                       \
    {                                                                                                                \
        double most = precision == SINGLE ? 1e-3 : 1e-11;                                                            \
        T *x = room(), *y = room(), *before = room();                                                                \
        int wrong = 0;                                                                                               \
        m.complexes = is_complex;                                                                                    \
        for (int k = 0; k < CASES; k++) {                                                                            \
            unsigned long from = seed;                                                                               \
            int form = k % 3, failed = make_##l(form);                                                               \
            double worst = use_##l(x, y, before);                                                                    \
            failed += !!destroy();                                                                                   \
            tap_ok(!failed && worst < most, #l " %d: %d x %d, property %d%s, begun in way %d, from %d, %s: %g, %d "  \
                   "calls failed (seed %lu)", k, m.rows, m.cols, m.kind, m.unit ? " unit" : "", form, m.base,        \
                   m.fortran ? "Fortran" : "C", worst, failed, from);                                                \
        }                                                                                                            \
        for (int k = 0; k < CASES; k++)                                                                              \
            wrong += vectors_##l(x, y);                                                                              \
        tap_ok(!wrong, #l ": sparse vectors");                                                                       \
        free(x);                                                                                                     \
        free(y);                                                                                                     \
        free(before);                                                                                                \
    }

TYPE(s, float, BY_VALUE, 0, SINGLE)
TYPE(d, double, BY_VALUE, 0, DOUBLE)
TYPE(c, float complex, BY_ADDRESS, 1, SINGLE)
TYPE(z, double complex, BY_ADDRESS, 1, DOUBLE)

int main(void)
{
    narrow = getenv("USBLAS_NARROW") != NULL;
    if (rsb_lib_init)
        rsb_lib_init(NULL);
    test_s();
    test_d();
    test_c();
    test_z();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
