/* MKL's functions of whole matrices: conversions, sums, products of two sparse matrices, changes of values. */
#include <string.h>

#include "sparse/mkl.h"

static int convert(sc_mkl_matrix m, int operation, sc_mkl_matrix *out, bool by_columns)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    char trans = sc_mkl_trans(operation);

    if (!m || !out)
        return SC_MKL_NOT_INITIALIZED;
    if (!trans)
        return SC_MKL_INVALID_VALUE;
    return sc_mkl_result(by_columns ? sc_sparse_convert_csc(out, m, trans)
                                    : sc_sparse_convert(out, m, trans, &general));
}

static int add(int operation, sc_mkl_matrix a, enum sc_type type, const double alpha[2], sc_mkl_matrix b,
               sc_mkl_matrix *out)
{
    char trans = sc_mkl_trans(operation);

    if (!a || !b || !out)
        return SC_MKL_NOT_INITIALIZED;
    if (!trans || sc_sparse_arrays(a)->type != type)
        return SC_MKL_INVALID_VALUE;
    return sc_mkl_result(sc_sparse_add(out, trans, alpha, a, b));
}

/* A factor of a product. */
struct factor {
    int operation;
    struct sc_mkl_descr descr;
    sc_mkl_matrix m;
};

static int read_factor(const struct factor *f, char *trans)
{
    struct sc_sparse_descr descr;
    int result = f->m ? sc_mkl_descr_read(&descr, f->descr) : SC_MKL_NOT_INITIALIZED;

    if (result)
        return result;
    if (descr.kind != SC_SPARSE_GENERAL)
        return SC_MKL_NOT_SUPPORTED;
    *trans = sc_mkl_trans(f->operation);
    return *trans ? SC_MKL_SUCCESS : SC_MKL_INVALID_VALUE;
}

/* Whether the entries have equal positions.  Both matrices are results of products. */
static bool same_places(const struct sc_sparse_arrays *a, const struct sc_sparse_arrays *b, int64_t count)
{
    size_t width = (size_t)a->index_bytes;

    return a->type == b->type && a->rows == b->rows && a->cols == b->cols && a->format == b->format &&
           a->index_bytes == b->index_bytes && memcmp(a->start, b->start, (size_t)(a->rows + 1) * width) == 0 &&
           memcmp(a->index, b->index, (size_t)count * width) == 0;
}

/* Second stage of a product: writes the current values into *out, made by the first stage. */
static int finish(sc_mkl_matrix out, sc_mkl_matrix product)
{
    const struct sc_sparse_arrays *from = sc_sparse_arrays(product);
    int64_t count;
    int result = out ? sc_mkl_result(sc_sparse_check(product, &count)) : SC_MKL_NOT_INITIALIZED;

    if (!result)
        result = same_places(from, sc_sparse_arrays(out), count)
                     ? sc_mkl_result(sc_sparse_set_values(out, count, from->values))
                     : SC_MKL_INVALID_VALUE;
    sc_sparse_destroy(product);
    return result;
}

static int multiply(const struct factor *a, const struct factor *b, int request, sc_mkl_matrix *out)
{
    bool finishes = request == SC_MKL_FINALIZE_MULT || request == SC_MKL_FINALIZE_MULT_NO_VAL;
    char transa = 'N', transb = 'N';
    sc_mkl_matrix product;
    int result = out ? read_factor(a, &transa) : SC_MKL_NOT_INITIALIZED;

    if (!result)
        result = read_factor(b, &transb);
    if (!result && (request < SC_MKL_FULL_MULT || request > SC_MKL_FINALIZE_MULT_NO_VAL))
        result = SC_MKL_INVALID_VALUE;
    if (!result)
        result = sc_mkl_result(sc_sparse_multiply(&product, transa, a->m, transb, b->m));
    if (result)
        return result;
    if (finishes)
        return finish(*out, product);
    *out = product;
    return SC_MKL_SUCCESS;
}

/* A product without descriptors. */
static int multiply_plain(int operation, sc_mkl_matrix a, sc_mkl_matrix b, sc_mkl_matrix *out)
{
    const struct sc_mkl_descr general = {SC_MKL_GENERAL, 0, 0};

    return multiply(&(struct factor){operation, general, a}, &(struct factor){SC_MKL_NON_TRANSPOSE, general, b},
                    SC_MKL_FULL_MULT, out);
}

/* The dense result of C := alpha op(A) op(B) + beta C. */
struct dense {
    int layout;
    void *c;
    int64_t ld;
};

static int multiply_dense(const struct factor *a, const struct factor *b, enum sc_type type, const double alpha[2],
                          const double beta[2], const struct dense *d)
{
    sc_mkl_matrix product;
    int result;

    if (!a->m || !b->m || !d->c)
        return SC_MKL_NOT_INITIALIZED;
    if (sc_sparse_arrays(a->m)->type != type || (d->layout != SC_MKL_ROW_MAJOR && d->layout != SC_MKL_COLUMN_MAJOR))
        return SC_MKL_INVALID_VALUE;
    result = multiply(a, b, SC_MKL_FULL_MULT, &product);
    if (result)
        return result;
    result = sc_mkl_result(sc_sparse_to_dense(product, alpha, beta, d->layout == SC_MKL_ROW_MAJOR, d->c, d->ld));
    sc_sparse_destroy(product);
    return result;
}

static int multiply_dense_plain(int operation, sc_mkl_matrix a, sc_mkl_matrix b, enum sc_type type,
                                const struct dense *d)
{
    static const double one[2] = {1, 0}, zero[2] = {0, 0};
    const struct sc_mkl_descr general = {SC_MKL_GENERAL, 0, 0};

    return multiply_dense(&(struct factor){operation, general, a},
                          &(struct factor){SC_MKL_NON_TRANSPOSE, general, b}, type, one, zero, d);
}

/* row and col count from the matrix's base. */
static int set_value(sc_mkl_matrix m, enum sc_type type, int64_t row, int64_t col, const void *value)
{
    const struct sc_sparse_arrays *a = m ? sc_sparse_arrays(m) : NULL;

    if (!a)
        return SC_MKL_NOT_INITIALIZED;
    if (a->type != type)
        return SC_MKL_INVALID_VALUE;
    return sc_mkl_result(sc_sparse_set_value(m, row - a->base, col - a->base, value));
}

static int64_t integer_at(const void *integers, size_t bytes, int64_t i)
{
    return bytes == 4 ? ((const int32_t *)integers)[i] : ((const int64_t *)integers)[i];
}

/* Without rows and columns: all values, in stored order. */
static int update_values(sc_mkl_matrix m, enum sc_type type, int64_t count, const void *rows, const void *cols,
                         size_t index_bytes, const void *values)
{
    int result = SC_MKL_SUCCESS;

    if (!m || (count && !values))
        return SC_MKL_NOT_INITIALIZED;
    if (sc_sparse_arrays(m)->type != type || count < 0 || !rows != !cols)
        return SC_MKL_INVALID_VALUE;
    if (!rows)
        return sc_mkl_result(sc_sparse_set_values(m, count, values));
    for (int64_t i = 0; i < count && !result; i++)
        result = set_value(m, type, integer_at(rows, index_bytes, i), integer_at(cols, index_bytes, i),
                           (const char *)values + (size_t)i * sc_type_bytes(type));
    return result;
}

#define VALUES(l, L, T, t, suffix, I)                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_add##suffix, int operation, sc_mkl_matrix a, T alpha, sc_mkl_matrix b,     \
                    sc_mkl_matrix *out)                                                                              \
    {                                                                                                                \
        return add(operation, a, t, SC_MKL_SCALAR(alpha), b, out);                                                   \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_set_value##suffix, sc_mkl_matrix m, I row, I col, T value)                 \
    {                                                                                                                \
        return set_value(m, t, row, col, &value);                                                                    \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_update_values##suffix, sc_mkl_matrix m, I count, const I *rows,            \
                    const I *cols, const T *values)                                                                  \
    {                                                                                                                \
        return update_values(m, t, count, rows, cols, sizeof(I), values);                                            \
    }
SC_MKL_EACH(VALUES)

#define DENSE(l, L, T, t, suffix, I)                                                                                 \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_spmmd##suffix, int operation, sc_mkl_matrix a, sc_mkl_matrix b,            \
                    int layout, T *c, I ldc)                                                                         \
    {                                                                                                                \
        return multiply_dense_plain(operation, a, b, t, &(struct dense){layout, c, ldc});                            \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_sp2md##suffix, int operationa, struct sc_mkl_descr descra,                 \
                    sc_mkl_matrix a, int operationb, struct sc_mkl_descr descrb, sc_mkl_matrix b, T alpha, T beta,   \
                    T *c, int layout, I ldc)                                                                         \
    {                                                                                                                \
        return multiply_dense(&(struct factor){operationa, descra, a}, &(struct factor){operationb, descrb, b}, t,   \
                              SC_MKL_SCALAR(alpha), SC_MKL_SCALAR(beta), &(struct dense){layout, c, ldc});           \
    }
SC_MKL_EACH(DENSE)

#define WHOLE(suffix, I)                                                                                             \
    SC_MKL_FUNCTION(int, mkl_sparse_convert_csr##suffix, sc_mkl_matrix m, int operation, sc_mkl_matrix *out)         \
    {                                                                                                                \
        return convert(m, operation, out, false);                                                                    \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_convert_csc##suffix, sc_mkl_matrix m, int operation, sc_mkl_matrix *out)         \
    {                                                                                                                \
        return convert(m, operation, out, true);                                                                     \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_spmm##suffix, int operation, sc_mkl_matrix a, sc_mkl_matrix b,                   \
                    sc_mkl_matrix *out)                                                                              \
    {                                                                                                                \
        return multiply_plain(operation, a, b, out);                                                                 \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_sp2m##suffix, int operationa, struct sc_mkl_descr descra, sc_mkl_matrix a,       \
                    int operationb, struct sc_mkl_descr descrb, sc_mkl_matrix b, int request, sc_mkl_matrix *out)    \
    {                                                                                                                \
        return multiply(&(struct factor){operationa, descra, a}, &(struct factor){operationb, descrb, b}, request,   \
                        out);                                                                                        \
    }
SC_MKL_WIDTHS(WHOLE)
/* SPDX-License-Identifier: BSD-2-Clause */
