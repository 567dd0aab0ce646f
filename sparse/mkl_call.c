/* MKL's products and solves with handles. */
#include "sparse/mkl.h"

/* A call's handle and letters, as sparse.h wants them. */
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
