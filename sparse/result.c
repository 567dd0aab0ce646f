/* Matrices computed from others: conversions and sums, on the host. */
#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "sparse/sparse_int.h"

static bool widen(const void **integers, int64_t n)
{
    int64_t *wide = sc_sparse_alloc((size_t)n * sizeof *wide);

    if (!wide)
        return false;
    for (int64_t i = 0; i < n; i++)
        wide[i] = ((const int32_t *)*integers)[i];
    sc_sparse_free((void *)*integers);
    *integers = wide;
    return true;
}

bool sc_sparse_set_width(struct sc_sparse_csr *csr, int index_bytes)
{
    int64_t entries;

    if (index_bytes == csr->index_bytes) /* without reading the arrays, which may be on a device */
        return true;
    if (index_bytes == 4 && csr->index_bytes == 8)
        sc_sparse_narrow(csr);
    if (index_bytes == 4 || csr->index_bytes == 8)
        return true;
    entries = sc_sparse_first(csr, csr->rows);
    if (!widen(&csr->index, entries))
        return false;
    if (!widen(&csr->start, csr->rows + 1)) /* here `index` is wider than index_bytes says, but the caller frees the
                                             * arrays */
        return false;
    csr->index_bytes = 8;
    return true;
}

enum sc_status sc_sparse_adopt(struct sc_sparse_matrix **out, struct sc_sparse_csr *csr, int index_bytes)
{
    bool fits = sc_sparse_set_width(csr, index_bytes);
    struct sc_sparse_arrays arrays = {.format = SC_SPARSE_CSR, .type = csr->type, .index_bytes = csr->index_bytes,
                                      .base = csr->base, .rows = csr->rows, .cols = csr->cols, .start = csr->start,
                                      .index = csr->index, .values = csr->values};
    enum sc_status status = fits ? sc_sparse_create(out, &arrays, false) : SC_ERR_MEMORY;

    if (status != SC_OK) {
        sc_sparse_free_csr(csr);
        return status;
    }
    (*out)->owned = true;
    return SC_OK;
}

/* Fetches and checks the arrays, and returns them as a sorted CSR.  The matrix is locked. */
static enum sc_status sorted_csr(struct sc_sparse_matrix *m, const struct sc_sparse_use *use, struct sc_sparse_csr *out)
{
    enum sc_status status;

    m->measured = false; /* forces a check, also of the library's own arrays */
    status = sc_sparse_measure(m);
    if (status != SC_OK)
        return status;
    sc_sparse_bring_home(m);
    return sc_sparse_make_csr(&m->arrays, use, out);
}

enum sc_status sc_sparse_convert(struct sc_sparse_matrix **out, struct sc_sparse_matrix *m, char trans,
                                 const struct sc_sparse_descr *descr)
{
    struct sc_sparse_use use;
    struct sc_sparse_csr csr;
    enum sc_status status = sc_sparse_make_use(&use, m, trans, descr, false);

    *out = NULL;
    if (status != SC_OK)
        return status;
    use.solve = true; /* sorted */
    sc_inside_enter();
    pthread_mutex_lock(&m->lock);
    status = sorted_csr(m, &use, &csr);
    pthread_mutex_unlock(&m->lock);
    if (status == SC_OK)
        status = sc_sparse_adopt(out, &csr, m->arrays.index_bytes);
    sc_inside_leave();
    return status;
}

enum sc_status sc_sparse_sorted_csr(struct sc_sparse_matrix *m, char trans, struct sc_sparse_csr *out)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    struct sc_sparse_use use;
    enum sc_status status = sc_sparse_make_use(&use, m, trans, &general, false);

    if (status != SC_OK)
        return status;
    use.solve = true;
    pthread_mutex_lock(&m->lock);
    status = sorted_csr(m, &use, out);
    pthread_mutex_unlock(&m->lock);
    return status;
}

/* --- values of any type ---------------------------------------------------------------------------------------- */

double complex sc_sparse_value(const struct sc_sparse_csr *a, int64_t e)
{
    switch (a->type) {
    case SC_S: return (double)((const float *)a->values)[e];
    case SC_D: return ((const double *)a->values)[e];
    case SC_C: return ((const float complex *)a->values)[e];
    default: return ((const double complex *)a->values)[e];
    }
}

void sc_sparse_put_value(enum sc_type type, void *values, int64_t e, double complex value)
{
    switch (type) {
    case SC_S: ((float *)values)[e] = (float)creal(value); break;
    case SC_D: ((double *)values)[e] = creal(value); break;
    case SC_C: ((float complex *)values)[e] = (float complex)value; break;
    default: ((double complex *)values)[e] = value;
    }
}

enum sc_status sc_sparse_convert_csc(struct sc_sparse_matrix **out, struct sc_sparse_matrix *m, char trans)
{
    struct sc_sparse_csr csr;
    enum sc_status status;

    *out = NULL;
    if (trans == 'C' && sc_type_is_complex(m->arrays.type))
        return SC_ERR_UNSUPPORTED;
    sc_inside_enter();
    status = sc_sparse_sorted_csr(m, trans == 'N' ? 'T' : 'N', &csr); /* columns are the rows of the transpose */
    if (status == SC_OK)
        status = sc_sparse_adopt(out, &csr, m->arrays.index_bytes);
    if (status == SC_OK) {
        struct sc_sparse_arrays *a = &(*out)->arrays;
        int64_t rows = a->rows;

        a->format = SC_SPARSE_CSC;
        a->rows = a->cols;
        a->cols = rows;
    }
    sc_inside_leave();
    return status;
}

/* --- conversion to dense ------------------------------------------------------------------------------------------ */

enum sc_status sc_sparse_to_dense(struct sc_sparse_matrix *m, const double alpha[2], const double beta[2], bool by_rows,
                                  void *c, int64_t ldc)
{
    const struct sc_sparse_arrays *a = &m->arrays;
    struct sc_sparse_csr dense = {.type = a->type, .values = c}, sparse;
    double complex scale = CMPLX(beta[0], beta[1]), factor = CMPLX(alpha[0], alpha[1]);
    int64_t row = by_rows ? ldc : 1, col = by_rows ? 1 : ldc;
    enum sc_status status;

    if (ldc < (by_rows ? a->cols : a->rows) || (!c && a->rows && a->cols))
        return SC_ERR_INVALID;
    sc_inside_enter();
    status = sc_sparse_sorted_csr(m, 'N', &sparse);
    for (int64_t i = 0; i < a->rows && status == SC_OK; i++) {
        for (int64_t j = 0; j < a->cols; j++)
            sc_sparse_put_value(a->type, c, i * row + j * col,
                                scale == 0 ? 0 : scale * sc_sparse_value(&dense, i * row + j * col));
        for (int64_t e = sc_sparse_first(&sparse, i); e < sc_sparse_first(&sparse, i + 1); e++) {
            int64_t at = i * row + sc_sparse_at(sparse.index, sparse.index_bytes, e) * col;

            sc_sparse_put_value(a->type, c, at, sc_sparse_value(&dense, at) + factor * sc_sparse_value(&sparse, e));
        }
    }
    if (status == SC_OK)
        sc_sparse_free_csr(&sparse);
    sc_inside_leave();
    return status;
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

/* Computes row i of alpha A + B from entry `at` on; returns its end.  Stores entries only if `out` has arrays. */
static int64_t add_row(const struct sc_sparse_csr *a, double complex alpha, const struct sc_sparse_csr *b, int64_t i,
                       struct sc_sparse_csr *out, int64_t at)
{
    int64_t e = sc_sparse_first(a, i), f = sc_sparse_first(b, i);
    const int64_t e_end = sc_sparse_first(a, i + 1), f_end = sc_sparse_first(b, i + 1);

    while (e < e_end || f < f_end) {
        int64_t ja = e < e_end ? sc_sparse_at(a->index, a->index_bytes, e) : INT64_MAX;
        int64_t jb = f < f_end ? sc_sparse_at(b->index, b->index_bytes, f) : INT64_MAX;

        if (out->values) {
            ((int64_t *)out->index)[at] = ja < jb ? ja : jb;
            sc_sparse_put_value(out->type, (void *)out->values, at,
                                (ja <= jb ? alpha * sc_sparse_value(a, e) : 0) +
                                (jb <= ja ? sc_sparse_value(b, f) : 0));
        }
        e += ja <= jb;
        f += jb <= ja;
        at++;
    }
    return at;
}

/* Two passes: count, then place. */
static enum sc_status add_csr(const struct sc_sparse_csr *a, double complex alpha, const struct sc_sparse_csr *b,
                              struct sc_sparse_csr *out)
{
    int64_t *start, at = 0;

    *out = (struct sc_sparse_csr){.type = a->type, .index_bytes = 8, .rows = a->rows, .cols = a->cols};
    out->start = start = sc_sparse_alloc(((size_t)a->rows + 1) * sizeof *start);
    if (!start)
        return SC_ERR_MEMORY;
    start[0] = 0;
    for (int64_t i = 0; i < a->rows; i++)
        start[i + 1] = at = add_row(a, alpha, b, i, out, at);
    out->index = sc_sparse_alloc((size_t)at * sizeof(int64_t));
    out->values = sc_sparse_alloc((size_t)at * sc_type_bytes(a->type));
    if (!out->index || !out->values) {
        sc_sparse_free_csr(out);
        return SC_ERR_MEMORY;
    }
    for (int64_t i = 0; i < a->rows; i++)
        add_row(a, alpha, b, i, out, start[i]);
    return SC_OK;
}

int sc_sparse_wider(const struct sc_sparse_matrix *a, const struct sc_sparse_matrix *b)
{
    return a->arrays.index_bytes > b->arrays.index_bytes ? a->arrays.index_bytes : b->arrays.index_bytes;
}

enum sc_status sc_sparse_add(struct sc_sparse_matrix **out, char trans, const double alpha[2],
                             struct sc_sparse_matrix *a, struct sc_sparse_matrix *b)
{
    bool turned = trans != 'N';
    struct sc_sparse_csr left = {.borrowed = true}, right = {.borrowed = true}, sum;
    enum sc_status status;

    *out = NULL;
    if (a->arrays.type != b->arrays.type || (turned ? a->arrays.cols : a->arrays.rows) != b->arrays.rows ||
        (turned ? a->arrays.rows : a->arrays.cols) != b->arrays.cols) {
        sc_log(SC_LOG_ERROR, "sparse sum: types or sizes of the two matrices do not fit");
        return SC_ERR_INVALID;
    }
    sc_inside_enter();
    status = sc_sparse_sorted_csr(a, trans, &left);
    if (status == SC_OK)
        status = sc_sparse_sorted_csr(b, 'N', &right);
    if (status == SC_OK)
        status = add_csr(&left, CMPLX(alpha[0], sc_type_is_complex(left.type) ? alpha[1] : 0), &right, &sum);
    sc_sparse_free_csr(&left);
    sc_sparse_free_csr(&right);
    if (status == SC_OK)
        status = sc_sparse_adopt(out, &sum, sc_sparse_wider(a, b));
    sc_inside_leave();
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
