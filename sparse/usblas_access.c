/* librsb's additions to the Sparse BLAS: reads, changes and scaling of entries after the end of insertion.  Programs
 * built with librsb call them with our handles.  Rows and columns count from the matrix's base; ranges of rows include
 * the last row. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sparse/sparse_int.h"
#include "sparse/usblas.h"

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* The stored entries. */
struct rows {
    const struct sc_sparse_arrays *a;
    size_t elem;
};

static struct rows rows_of(const struct sc_usblas *m)
{
    return (struct rows){sc_sparse_arrays(m->matrix), sc_type_bytes(m->type)};
}

static int64_t first_of(const struct rows *r, int64_t row)
{
    return sc_sparse_at(r->a->start, r->a->index_bytes, row);
}

static int64_t col_of(const struct rows *r, int64_t at)
{
    return sc_sparse_at(r->a->index, r->a->index_bytes, at);
}

static char *value_of(const struct rows *r, int64_t at)
{
    return (char *)r->a->values + (size_t)at * r->elem;
}

static bool has_ones(const struct sc_usblas *m)
{
    /* A general matrix stores the ones of a unit diagonal. */
    return m->descr.diag == 'U' && m->descr.kind != SC_SPARSE_GENERAL;
}

static bool has_both_halves(const struct sc_usblas *m)
{
    return m->descr.kind == SC_SPARSE_SYMMETRIC || m->descr.kind == SC_SPARSE_HERMITIAN;
}

static void put_number(const struct sc_usblas *m, void *to, double number)
{
    const double wide[2] = {number, 0};
    const float narrow[2] = {(float)number, 0};

    memcpy(to, m->type == SC_D || m->type == SC_Z ? (const void *)wide : narrow, sc_type_bytes(m->type));
}

/* The index of the entry at (i, j), counted from 0, or -1.  A symmetric matrix stores one half; *mirrored: found in the
 * other half. */
static int64_t find(const struct sc_usblas *m, int64_t i, int64_t j, bool *mirrored)
{
    bool other = i != j && has_both_halves(m) && (j < i) != (m->descr.uplo == 'L');

    *mirrored = other;
    if (i < 0 || i >= m->rows || j < 0 || j >= m->cols)
        return -1;
    return other ? sc_usblas_find(m, j, i) : sc_usblas_find(m, i, j);
}

static void conjugate(const struct sc_usblas *m, void *value)
{
    if (m->descr.kind != SC_SPARSE_HERMITIAN)
        return;
    if (m->type == SC_Z)
        ((double *)value)[1] = -((double *)value)[1];
    else if (m->type == SC_C)
        ((float *)value)[1] = -((float *)value)[1];
}

static int get_element(struct sc_usblas *m, const char *name, int i, int j, void *value)
{
    struct rows r = rows_of(m);
    bool mirrored;
    int64_t at = find(m, (int64_t)i - m->base, (int64_t)j - m->base, &mirrored);

    if (at < 0 && (i != j || !has_ones(m) || i < m->base || i - m->base >= m->rows))
        return sc_usblas_wrong(name, "nothing is stored there");
    if (at < 0)
        put_number(m, value, 1);
    else
        memcpy(value, value_of(&r, at), r.elem);
    if (mirrored)
        conjugate(m, value);
    return 0;
}

static int get_diag(struct sc_usblas *m, const char *name, void *diagonal)
{
    struct rows r = rows_of(m);
    int64_t n = m->rows < m->cols ? m->rows : m->cols;

    (void)name;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = sc_usblas_find(m, i, i);

        if (at < 0)
            put_number(m, (char *)diagonal + (size_t)i * r.elem, has_ones(m));
        else
            memcpy((char *)diagonal + (size_t)i * r.elem, value_of(&r, at), r.elem);
    }
    return 0;
}

/* Converts a range of rows to [*from, *to), counted from 0; false after a line if the range is invalid. */
static bool read_range(const struct sc_usblas *m, const char *name, int first, int last, int64_t *from, int64_t *to)
{
    *from = (int64_t)first - m->base;
    *to = (int64_t)last - m->base + 1;
    if (*from >= 0 && *from <= *to && *to <= m->rows)
        return true;
    sc_usblas_wrong(name, "the rows are out of range");
    return false;
}

static int get_rows_nnz(struct sc_usblas *m, const char *name, int first, int last, int *count)
{
    struct rows r = rows_of(m);
    int64_t from, to;

    if (!read_range(m, name, first, last, &from, &to))
        return -1;
    *count = (int)(first_of(&r, to) - first_of(&r, from));
    return 0;
}

static int get_rows(struct sc_usblas *m, const char *name, void *values, int *i, int *j, int *count, int first,
                    int last)
{
    struct rows r = rows_of(m);
    int64_t from, to, n = 0;

    if (!read_range(m, name, first, last, &from, &to))
        return -1;
    for (int64_t row = from; row < to; row++)
        for (int64_t at = first_of(&r, row); at < first_of(&r, row + 1); at++, n++) {
            memcpy((char *)values + (size_t)n * r.elem, value_of(&r, at), r.elem);
            i[n] = (int)row + m->base;
            j[n] = (int)col_of(&r, at) + m->base;
        }
    *count = (int)n;
    return 0;
}

static int get_nnz(struct sc_usblas *m, const char *name, int *count)
{
    struct rows r = rows_of(m);

    (void)name;
    *count = (int)first_of(&r, m->rows);
    return 0;
}

static double size_of(const struct sc_usblas *m, const void *value)
{
    switch (m->type) {
    case SC_S: return fabs((double)*(const float *)value);
    case SC_D: return fabs(*(const double *)value);
    case SC_C: return cabs((double complex)*(const float complex *)value);
    default: return cabs(*(const double complex *)value);
    }
}

/* The maximum over the rows of op(A) of the sum of absolute values; a real number also for a complex matrix. */
static int get_norm(struct sc_usblas *m, const char *name, void *norm, int trans)
{
    struct rows r = rows_of(m);
    bool turned = trans != blas_no_trans, both = has_both_halves(m);
    int64_t n = turned ? m->cols : m->rows;
    double *sum, most = 0;

    if (trans < blas_no_trans || trans > blas_conj_trans)
        return sc_usblas_wrong(name, "no such operation on the matrix");
    sum = calloc((size_t)n + 1, sizeof *sum);
    if (!sum)
        return sc_usblas_wrong(name, "no memory");
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t at = first_of(&r, i); at < first_of(&r, i + 1); at++) {
            int64_t j = col_of(&r, at);

            sum[turned ? j : i] += size_of(m, value_of(&r, at));
            if (both && i != j)
                sum[turned ? i : j] += size_of(m, value_of(&r, at));
        }
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, sum[i] + has_ones(m));
    free(sum);
    if (m->type == SC_D || m->type == SC_Z)
        *(double *)norm = most;
    else
        *(float *)norm = (float)most;
    return 0;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Overwrites all elements, or none if an element is not stored. */
static int set_elements(struct sc_usblas *m, const char *name, const int *i, const int *j, const void *values, int n)
{
    struct rows r = rows_of(m);
    bool mirrored;

    for (int e = 0; e < n; e++)
        if (find(m, (int64_t)i[e] - m->base, (int64_t)j[e] - m->base, &mirrored) < 0)
            return sc_usblas_wrong(name, "nothing is stored there: nothing is changed");
    for (int e = 0; e < n; e++) {
        char *value = value_of(&r, find(m, (int64_t)i[e] - m->base, (int64_t)j[e] - m->base, &mirrored));

        memcpy(value, (const char *)values + (size_t)e * r.elem, r.elem);
        if (mirrored)
            conjugate(m, value);
    }
    sc_sparse_values_changed(m->matrix);
    return 0;
}

static void multiply(enum sc_type type, void *value, const void *by)
{
    switch (type) {
    case SC_S: *(float *)value *= *(const float *)by; break;
    case SC_D: *(double *)value *= *(const double *)by; break;
    case SC_C: *(float complex *)value *= *(const float complex *)by; break;
    default: *(double complex *)value *= *(const double complex *)by;
    }
}

/* A := diag(d) A, or A := A diag(d) if transposed. */
static int scale_rows(struct sc_usblas *m, const char *name, const void *d, int trans)
{
    struct rows r = rows_of(m);

    if (trans < blas_no_trans || trans > blas_conj_trans)
        return sc_usblas_wrong(name, "no such operation on the matrix");
    if (has_both_halves(m) || m->descr.diag == 'U')
        return sc_usblas_wrong(name, "a symmetric matrix, or a diagonal of ones, would not stay so");
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t at = first_of(&r, i); at < first_of(&r, i + 1); at++)
            multiply(m->type, value_of(&r, at),
                     (const char *)d + (size_t)(trans == blas_no_trans ? i : col_of(&r, at)) * r.elem);
    sc_sparse_values_changed(m->matrix);
    return 0;
}

/* --- the names ---------------------------------------------------------------------------------------------------- */

/* Begins a function: takes the handle and stores the value of `body`, which uses m and name, in `result`. */
#define WITH(handle, title, t, body)                                                                                 \
    const char *name = title;                                                                                        \
    struct sc_usblas *m = sc_usblas_take(handle, name, t, SC_USBLAS_ENDED);                                          \
    int result = m ? body : -1;                                                                                      \
                                                                                                                     \
    if (m)                                                                                                           \
        sc_usblas_give(m, SC_USBLAS_ENDED)

#define ACCESS(l, t, element, scalar, at)                                                                            \
    int BLAS_##l##usget_element(blas_sparse_matrix A, int i, int j, element *value)                                  \
    {                                                                                                                \
        WITH(A, "BLAS_" #l "usget_element", t, get_element(m, name, i, j, value));                                   \
        return result;                                                                                               \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usget_element, const int *A, const int *i, const int *j, element *value, int *status)       \
    {                                                                                                                \
        *status = BLAS_##l##usget_element(*A, *i, *j, value);                                                        \
    }                                                                                                                \
    int BLAS_##l##usget_diag(blas_sparse_matrix A, element *d)                                                       \
    {                                                                                                                \
        WITH(A, "BLAS_" #l "usget_diag", t, get_diag(m, name, d));                                                   \
        return result;                                                                                               \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usget_diag, const int *A, element *d, int *status)                                          \
    {                                                                                                                \
        *status = BLAS_##l##usget_diag(*A, d);                                                                       \
    }                                                                                                                \
    int BLAS_##l##usget_rows_nnz(blas_sparse_matrix A, int first, int last, int *count)                              \
    {                                                                                                                \
        WITH(A, "BLAS_" #l "usget_rows_nnz", t, get_rows_nnz(m, name, first, last, count));                          \
        return result;                                                                                               \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usget_rows_nnz, const int *A, const int *first, const int *last, int *count, int *status)   \
    {                                                                                                                \
        *status = BLAS_##l##usget_rows_nnz(*A, *first, *last, count);                                                \
    }                                                                                                                \
    int BLAS_##l##usget_rows_sparse(blas_sparse_matrix A, element *values, int *i, int *j, int *count, int first,    \
                                    int last)                                                                        \
    {                                                                                                                \
        WITH(A, "BLAS_" #l "usget_rows_sparse", t, get_rows(m, name, values, i, j, count, first, last));             \
        return result;                                                                                               \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usget_rows_sparse, const int *A, element *values, int *i, int *j, int *count,               \
                      const int *first, const int *last, int *status)                                                \
    {                                                                                                                \
        *status = BLAS_##l##usget_rows_sparse(*A, values, i, j, count, *first, *last);                               \
    }                                                                                                                \
    int BLAS_##l##usget_matrix_nnz(blas_sparse_matrix A, int *count)                                                 \
    {                                                                                                                \
        WITH(A, "BLAS_" #l "usget_matrix_nnz", t, get_nnz(m, name, count));                                          \
        return result;                                                                                               \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usget_matrix_nnz, const int *A, int *count, int *status)                                    \
    {                                                                                                                \
        *status = BLAS_##l##usget_matrix_nnz(*A, count);                                                             \
    }                                                                                                                \
    int BLAS_##l##usget_infinity_norm(blas_sparse_matrix A, element *norm, enum blas_trans_type trans)               \
    {                                                                                                                \
        WITH(A, "BLAS_" #l "usget_infinity_norm", t, get_norm(m, name, norm, (int)trans));                           \
        return result;                                                                                               \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usget_infinity_norm, const int *A, element *norm, const int *trans, int *status)            \
    {                                                                                                                \
        *status = BLAS_##l##usget_infinity_norm(*A, norm, (enum blas_trans_type)*trans);                             \
    }                                                                                                                \
    int BLAS_##l##usset_elements(blas_sparse_matrix A, const int *i, const int *j, const element *values, int n)     \
    {                                                                                                                \
        WITH(A, "BLAS_" #l "usset_elements", t, set_elements(m, name, i, j, values, n));                             \
        return result;                                                                                               \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usset_elements, const int *A, const int *i, const int *j, const element *values,            \
                      const int *n, int *status)                                                                     \
    {                                                                                                                \
        *status = BLAS_##l##usset_elements(*A, i, j, values, *n);                                                    \
    }                                                                                                                \
    int BLAS_##l##usset_element(blas_sparse_matrix A, int i, int j, element *value)                                  \
    {                                                                                                                \
        WITH(A, "BLAS_" #l "usset_element", t, set_elements(m, name, &i, &j, value, 1));                             \
        return result;                                                                                               \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usset_element, const int *A, const int *i, const int *j, element *value, int *status)       \
    {                                                                                                                \
        *status = BLAS_##l##usset_element(*A, *i, *j, value);                                                        \
    }                                                                                                                \
    int BLAS_##l##usrows_scale(blas_sparse_matrix A, const element *d, enum blas_trans_type trans)                   \
    {                                                                                                                \
        WITH(A, "BLAS_" #l "usrows_scale", t, scale_rows(m, name, d, (int)trans));                                   \
        return result;                                                                                               \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##usrows_scale, const int *A, const element *d, const int *trans, int *status)                \
    {                                                                                                                \
        *status = BLAS_##l##usrows_scale(*A, d, (enum blas_trans_type)*trans);                                       \
    }
SC_USBLAS_TYPES(ACCESS)

/* --- unsupported functions ---------------------------------------------------------------------------------------- */

/* librsb's own matrix behind a handle, and a handle for a file: librsb cannot read our handles, and we cannot read
 * its. */
SC_USBLAS_FUNCTION(void *, rsb_blas_get_mtx, blas_sparse_matrix A)
{
    (void)A;
    sc_log_once(SC_LOG_WARN, "rsb_blas_get_mtx: the handles are semcache's, which librsb cannot read (doc/sparse.md)");
    return NULL;
}

SC_USBLAS_FUNCTION(blas_sparse_matrix, rsb_blas_file_mtx_load, const char *path, int type)
{
    (void)path;
    (void)type;
    sc_log_once(SC_LOG_WARN, "rsb_blas_file_mtx_load is not supported by semcache (doc/sparse.md)");
    return -1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
