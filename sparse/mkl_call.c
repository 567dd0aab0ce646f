/* MKL's products and solves with handles. */
#include "sparse/mkl.h"

/* The letters of a call, in the terms of sparse.h. */
struct call {
    char trans;
    bool by_rows;
    struct sc_sparse_descr descr;
};

static int read_call(struct call *c, sc_mkl_matrix m, enum sc_type type, int operation, struct sc_mkl_descr descr,
                     int layout)
{
    if (!m)
        return SC_MKL_NOT_INITIALIZED;
    c->trans = sc_mkl_trans(operation);
    c->by_rows = layout == SC_MKL_ROW_MAJOR;
    if (sc_sparse_arrays(m)->type != type || !c->trans || (layout != SC_MKL_ROW_MAJOR && layout != SC_MKL_COLUMN_MAJOR))
        return SC_MKL_INVALID_VALUE;
    return sc_mkl_descr_read(&c->descr, descr);
}

static int mv(sc_mkl_matrix m, enum sc_type type, int operation, struct sc_mkl_descr descr, const double alpha[2],
              const void *x, const double beta[2], void *y)
{
    struct call c;
    int result = read_call(&c, m, type, operation, descr, SC_MKL_COLUMN_MAJOR);

    return result ? result : sc_mkl_result(sc_sparse_mv(m, c.trans, &c.descr, alpha, x, 1, beta, y, 1));
}

/* The public dot products of the BLAS, which run where x and y are.  Their integers are as wide as the program's and
 * passed in registers; the wider type serves both widths. */
float cblas_sdot(int64_t n, const float *x, int64_t incx, const float *y, int64_t incy);
double cblas_ddot(int64_t n, const double *x, int64_t incx, const double *y, int64_t incy);
void cblas_cdotc_sub(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *dot);
void cblas_zdotc_sub(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *dot);

#define DOT_MOST (INT64_C(1) << 30) /* within the range of 32-bit integers */

static double complex dot_part(enum sc_type type, int64_t n, const void *x, const void *y)
{
    float complex single = 0;
    double complex sum = 0;

    switch (type) {
    case SC_S: return (double)cblas_sdot(n, x, 1, y, 1);
    case SC_D: return cblas_ddot(n, x, 1, y, 1);
    case SC_C: cblas_cdotc_sub(n, x, 1, y, 1, &single); return single;
    default: cblas_zdotc_sub(n, x, 1, y, 1, &sum); return sum;
    }
}

/* y as in mv, then conj(x)^T y over the common length of x and y. */
static int dotmv(sc_mkl_matrix m, enum sc_type type, int operation, struct sc_mkl_descr descr, const double alpha[2],
                 const void *x, const double beta[2], void *y, double complex *dot)
{
    int result = mv(m, type, operation, descr, alpha, x, beta, y);
    int64_t rows, cols, n;

    *dot = 0;
    if (result)
        return result;
    rows = sc_sparse_arrays(m)->rows;
    cols = sc_sparse_arrays(m)->cols;
    n = rows < cols ? rows : cols;
    for (int64_t i = 0; i < n; i += DOT_MOST)
        *dot += dot_part(type, n - i < DOT_MOST ? n - i : DOT_MOST, (const char *)x + i * (int64_t)sc_type_bytes(type),
                         (const char *)y + i * (int64_t)sc_type_bytes(type));
    return result;
}

static int mm(sc_mkl_matrix m, enum sc_type type, int operation, struct sc_mkl_descr descr, int layout,
              const double alpha[2], const void *b, int64_t columns, int64_t ldb, const double beta[2], void *c_,
              int64_t ldc)
{
    struct call c;
    int result = read_call(&c, m, type, operation, descr, layout);

    return result ? result
                  : sc_mkl_result(sc_sparse_mm(m, c.trans, &c.descr, c.by_rows, columns, alpha, b, ldb, beta, c_, ldc));
}

static int trsv(sc_mkl_matrix m, enum sc_type type, int operation, struct sc_mkl_descr descr, const double alpha[2],
                const void *x, void *y)
{
    struct call c;
    int result = read_call(&c, m, type, operation, descr, SC_MKL_COLUMN_MAJOR);

    return result ? result : sc_mkl_result(sc_sparse_sv(m, c.trans, &c.descr, alpha, x, 1, y, 1));
}

static int trsm(sc_mkl_matrix m, enum sc_type type, int operation, struct sc_mkl_descr descr, int layout,
                const double alpha[2], const void *x, int64_t columns, int64_t ldx, void *y, int64_t ldy)
{
    struct call c;
    int result = read_call(&c, m, type, operation, descr, layout);

    return result ? result
                  : sc_mkl_result(sc_sparse_sm(m, c.trans, &c.descr, c.by_rows, columns, alpha, x, ldx, y, ldy));
}

#define CALLS(l, L, T, t, suffix, I)                                                                                 \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_mv##suffix, int operation, T alpha, sc_mkl_matrix m,                       \
                    struct sc_mkl_descr descr, const T *x, T beta, T *y)                                             \
    {                                                                                                                \
        return mv(m, t, operation, descr, SC_MKL_SCALAR(alpha), x, SC_MKL_SCALAR(beta), y);                          \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_dotmv##suffix, int operation, T alpha, sc_mkl_matrix m,                    \
                    struct sc_mkl_descr descr, const T *x, T beta, T *y, T *dot)                                     \
    {                                                                                                                \
        double complex sum;                                                                                          \
        int result = dot ? dotmv(m, t, operation, descr, SC_MKL_SCALAR(alpha), x, SC_MKL_SCALAR(beta), y, &sum)      \
                         : SC_MKL_NOT_INITIALIZED;                                                                   \
                                                                                                                     \
        if (!result)                                                                                                 \
            *dot = (T)sum;                                                                                           \
        return result;                                                                                               \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_mm##suffix, int operation, T alpha, sc_mkl_matrix m,                       \
                    struct sc_mkl_descr descr, int layout, const T *b, I columns, I ldb, T beta, T *c, I ldc)        \
    {                                                                                                                \
        return mm(m, t, operation, descr, layout, SC_MKL_SCALAR(alpha), b, columns, ldb, SC_MKL_SCALAR(beta), c,     \
                  ldc);                                                                                              \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_trsv##suffix, int operation, T alpha, sc_mkl_matrix m,                     \
                    struct sc_mkl_descr descr, const T *x, T *y)                                                     \
    {                                                                                                                \
        return trsv(m, t, operation, descr, SC_MKL_SCALAR(alpha), x, y);                                             \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_trsm##suffix, int operation, T alpha, sc_mkl_matrix m,                     \
                    struct sc_mkl_descr descr, int layout, const T *x, I columns, I ldx, T *y, I ldy)                \
    {                                                                                                                \
        return trsm(m, t, operation, descr, layout, SC_MKL_SCALAR(alpha), x, columns, ldx, y, ldy);                  \
    }
SC_MKL_EACH(CALLS)
/* SPDX-License-Identifier: BSD-2-Clause */
