/* Insertion in the Sparse BLAS: an entry, several entries, a row, a column, a dense block; and the assembly of the
 * matrix. */
#include <stdlib.h>
#include <string.h>

#include "sparse/sparse_int.h"
#include "sparse/usblas.h"

/* --- insertion ---------------------------------------------------------------------------------------------------- */

/* rows x cols elements at values[r * row_stride + c * col_stride].  The row is i[r], or i_first + r if i is NULL.  The
 * column is j[c], or j[r] if paired (then cols is 1), or j_first + c if j is NULL.  Rows and columns count from the
 * matrix's base. */
struct piece {
    int64_t rows, cols;
    const int *i, *j;
    int64_t i_first, j_first;
    bool paired;
    const void *values;
    int64_t row_stride, col_stride;
};

static int64_t row_of(const struct sc_usblas *m, const struct piece *p, int64_t r)
{
    return (p->i ? p->i[r] : p->i_first + r) - m->base;
}

static int64_t col_of(const struct sc_usblas *m, const struct piece *p, int64_t r, int64_t c)
{
    return (p->j ? p->j[p->paired ? r : c] : p->j_first + c) - m->base;
}

static bool is_inside(const struct sc_usblas *m, const struct piece *p)
{
    for (int64_t r = 0; r < p->rows; r++) {
        int64_t i = row_of(m, p, r), j = p->paired ? col_of(m, p, r, 0) : 0;

        if (i < 0 || i >= m->rows || j < 0 || (p->paired && j >= m->cols))
            return false;
    }
    for (int64_t c = 0; c < p->cols && !p->paired; c++) {
        int64_t j = col_of(m, p, 0, c);

        if (j < 0 || j >= m->cols)
            return false;
    }
    return true;
}

static bool enlarge(void **array, int64_t room, size_t elem)
{
    void *larger = realloc(*array, (size_t)room * elem);

    if (larger)
        *array = larger;
    return larger != NULL;
}

static bool has_room(struct sc_usblas *m, int64_t more)
{
    int64_t room = m->room + m->room / 2 > m->count + more ? m->room + m->room / 2 : m->count + more + 16;

    if (m->count + more <= m->room)
        return true;
    if (!enlarge((void **)&m->row, room, sizeof *m->row) || !enlarge((void **)&m->col, room, sizeof *m->col) ||
        !enlarge((void **)&m->values, room, sc_type_bytes(m->type)))
        return false;
    m->room = room;
    return true;
}

static void conjugate(enum sc_type type, char *value)
{
    if (type == SC_Z)
        ((double *)value)[1] = -((double *)value)[1];
    else if (type == SC_C)
        ((float *)value)[1] = -((float *)value)[1];
}

/* Stores an entry as the properties demand: not at all, as its mirror image in the kept triangle, or unchanged. */
static void put(struct sc_usblas *m, int64_t i, int64_t j, const void *value)
{
    const struct sc_sparse_descr *d = &m->descr;
    bool other = d->kind != SC_SPARSE_GENERAL && i != j && (j < i) != (d->uplo == 'L');
    char *to = m->values + (size_t)m->count * sc_type_bytes(m->type);

    if ((other && d->kind == SC_SPARSE_TRIANGULAR) || (i == j && d->diag == 'U'))
        return;
    memcpy(to, value, sc_type_bytes(m->type));
    if (other && d->kind == SC_SPARSE_HERMITIAN)
        conjugate(m->type, to);
    m->row[m->count] = (int32_t)(other ? j : i);
    m->col[m->count++] = (int32_t)(other ? i : j);
}

static int put_all(struct sc_usblas *m, const char *name, const struct piece *p)
{
    size_t elem = sc_type_bytes(m->type);

    if (p->rows < 0 || p->cols < 0)
        return sc_usblas_wrong(name, "a size is negative");
    if (!is_inside(m, p))
        return sc_usblas_wrong(name, "an index is out of range: nothing is inserted");
    if (!has_room(m, p->rows * p->cols))
        return sc_usblas_wrong(name, "no memory");
    m->opened = true;
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t c = 0; c < p->cols; c++)
            put(m, row_of(m, p, r), col_of(m, p, r, c),
                (const char *)p->values + (r * p->row_stride + c * p->col_stride) * (int64_t)elem);
    return 0;
}

static int insert(int handle, const char *name, enum sc_type type, const struct piece *p)
{
    struct sc_usblas *m = sc_usblas_take(handle, name, (int)type, SC_USBLAS_OPEN);
    int result;

    if (!m)
        return -1;
    result = put_all(m, name, p);
    sc_usblas_give(m, SC_USBLAS_OPEN);
    return result;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static int insert_entries(int handle, const char *name, enum sc_type type, int n, const void *values, const int *i,
                          const int *j)
{
    return insert(handle, name, type, &(struct piece){.rows = n, .cols = 1, .i = i, .j = j, .paired = true,
                                                      .values = values, .row_stride = 1});
}

static int insert_col(int handle, const char *name, enum sc_type type, int j, int n, const void *values, const int *i)
{
    return insert(handle, name, type, &(struct piece){.rows = n, .cols = 1, .i = i, .j_first = j, .values = values,
                                                      .row_stride = 1});
}

static int insert_row(int handle, const char *name, enum sc_type type, int i, int n, const void *values, const int *j)
{
    return insert(handle, name, type, &(struct piece){.rows = 1, .cols = n, .i_first = i, .j = j, .values = values,
                                                      .col_stride = 1});
}

static int insert_clique(int handle, const char *name, enum sc_type type, int k, int l, const void *values,
                         int row_stride, int col_stride, const int *i, const int *j)
{
    return insert(handle, name, type, &(struct piece){.rows = k, .cols = l, .i = i, .j = j, .values = values,
                                                      .row_stride = row_stride, .col_stride = col_stride});
}

static int put_block(struct sc_usblas *m, const char *name, struct piece *p, int64_t i, int64_t j)
{
    if (i < 0 || i >= m->blocks_down || j < 0 || j >= m->blocks_across)
        return sc_usblas_wrong(name, "a block's index is out of range: nothing is inserted");
    p->rows = m->row_at ? m->row_at[i + 1] - m->row_at[i] : m->block_rows;
    p->cols = m->col_at ? m->col_at[j + 1] - m->col_at[j] : m->block_cols;
    p->i_first = (m->row_at ? m->row_at[i] : i * m->block_rows) + m->base;
    p->j_first = (m->col_at ? m->col_at[j] : j * m->block_cols) + m->base;
    return put_all(m, name, p);
}

static int insert_block(int handle, const char *name, enum sc_type type, const void *values, int row_stride,
                        int col_stride, int i, int j)
{
    struct piece p = {.values = values, .row_stride = row_stride, .col_stride = col_stride};
    struct sc_usblas *m = sc_usblas_take(handle, name, (int)type, SC_USBLAS_OPEN);
    int result;

    if (!m)
        return -1;
    result = put_block(m, name, &p, (int64_t)i - m->base, (int64_t)j - m->base);
    sc_usblas_give(m, SC_USBLAS_OPEN);
    return result;
}

#define INSERT(l, t, element, scalar, at)                                                                            \
    int BLAS_##l##uscr_insert_entry(blas_sparse_matrix m, scalar value, int i, int j)                                \
    {                                                                                                                \
        return insert_entries(m, "BLAS_" #l "uscr_insert_entry", t, 1, at(value), &i, &j);                           \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##uscr_insert_entry, const int *m, const element *value, const int *i, const int *j,          \
                      int *status)                                                                                   \
    {                                                                                                                \
        *status = insert_entries(*m, #l "uscr_insert_entry", t, 1, value, i, j);                                     \
    }                                                                                                                \
    int BLAS_##l##uscr_insert_entries(blas_sparse_matrix m, int n, const element *values, const int *i,              \
                                      const int *j)                                                                  \
    {                                                                                                                \
        return insert_entries(m, "BLAS_" #l "uscr_insert_entries", t, n, values, i, j);                              \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##uscr_insert_entries, const int *m, const int *n, const element *values, const int *i,       \
                      const int *j, int *status)                                                                     \
    {                                                                                                                \
        *status = insert_entries(*m, #l "uscr_insert_entries", t, *n, values, i, j);                                 \
    }                                                                                                                \
    int BLAS_##l##uscr_insert_col(blas_sparse_matrix m, int j, int n, const element *values, const int *i)           \
    {                                                                                                                \
        return insert_col(m, "BLAS_" #l "uscr_insert_col", t, j, n, values, i);                                      \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##uscr_insert_col, const int *m, const int *j, const int *n, const element *values,           \
                      const int *i, int *status)                                                                     \
    {                                                                                                                \
        *status = insert_col(*m, #l "uscr_insert_col", t, *j, *n, values, i);                                        \
    }                                                                                                                \
    int BLAS_##l##uscr_insert_row(blas_sparse_matrix m, int i, int n, const element *values, const int *j)           \
    {                                                                                                                \
        return insert_row(m, "BLAS_" #l "uscr_insert_row", t, i, n, values, j);                                      \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##uscr_insert_row, const int *m, const int *i, const int *n, const element *values,           \
                      const int *j, int *status)                                                                     \
    {                                                                                                                \
        *status = insert_row(*m, #l "uscr_insert_row", t, *i, *n, values, j);                                        \
    }                                                                                                                \
    int BLAS_##l##uscr_insert_clique(blas_sparse_matrix m, int rows, int cols, const element *values,                \
                                     int row_stride, int col_stride, const int *i, const int *j)                     \
    {                                                                                                                \
        return insert_clique(m, "BLAS_" #l "uscr_insert_clique", t, rows, cols, values, row_stride, col_stride, i,   \
                             j);                                                                                     \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##uscr_insert_clique, const int *m, const int *rows, const int *cols, const element *values,  \
                      const int *row_stride, const int *col_stride, const int *i, const int *j, int *status)         \
    {                                                                                                                \
        *status = insert_clique(*m, #l "uscr_insert_clique", t, *rows, *cols, values, *row_stride, *col_stride, i,   \
                                j);                                                                                  \
    }                                                                                                                \
    int BLAS_##l##uscr_insert_block(blas_sparse_matrix m, const element *values, int row_stride, int col_stride,     \
                                    int i, int j)                                                                    \
    {                                                                                                                \
        return insert_block(m, "BLAS_" #l "uscr_insert_block", t, values, row_stride, col_stride, i, j);             \
    }                                                                                                                \
    SC_USBLAS_FORTRAN(l##uscr_insert_block, const int *m, const element *values, const int *row_stride,              \
                      const int *col_stride, const int *i, const int *j, int *status)                                \
    {                                                                                                                \
        *status = insert_block(*m, #l "uscr_insert_block", t, values, *row_stride, *col_stride, *i, *j);             \
    }
SC_USBLAS_TYPES(INSERT)

/* --- assembly ----------------------------------------------------------------------------------------------------- */

int64_t sc_usblas_find(const struct sc_usblas *m, int64_t row, int64_t col)
{
    const struct sc_sparse_arrays *a = sc_sparse_arrays(m->matrix);
    int64_t low = sc_sparse_at(a->start, a->index_bytes, row), high = sc_sparse_at(a->start, a->index_bytes, row + 1);

    while (low < high) {
        int64_t middle = low + (high - low) / 2, at = sc_sparse_at(a->index, a->index_bytes, middle);

        if (at == col)
            return middle;
        if (at < col)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

/* Inserts the ones of a general matrix; for symmetric and triangular matrices a product adds the ones. */
static bool put_ones(struct sc_usblas *m)
{
    static const double one[2] = {1, 0};
    static const float single[2] = {1, 0};
    int64_t n = m->rows < m->cols ? m->rows : m->cols;

    if (m->descr.kind != SC_SPARSE_GENERAL || m->descr.diag != 'U')
        return true;
    if (!has_room(m, n))
        return false;
    m->descr.diag = 'N';
    for (int64_t i = 0; i < n; i++)
        put(m, i, i, m->type == SC_D || m->type == SC_Z ? (const void *)one : single);
    m->descr.diag = 'U';
    return true;
}

/* Replaces the sum of a position by its last entry. */
static void overwrite(const struct sc_usblas *m)
{
    size_t elem = sc_type_bytes(m->type);
    char *values = (char *)sc_sparse_arrays(m->matrix)->values;

    for (int64_t e = 0; e < m->count; e++)
        memcpy(values + (size_t)sc_usblas_find(m, m->row[e], m->col[e]) * elem, m->values + (size_t)e * elem, elem);
}

static bool is_singular(const struct sc_usblas *m)
{
    if (m->descr.kind != SC_SPARSE_TRIANGULAR || m->descr.diag == 'U')
        return false;
    for (int64_t i = 0; i < m->rows; i++)
        if (sc_usblas_find(m, i, i) < 0)
            return true;
    return false;
}

enum sc_status sc_usblas_assemble(struct sc_usblas *m)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    struct sc_sparse_matrix *entries;
    struct sc_sparse_arrays arrays = {.format = SC_SPARSE_COO, .type = m->type, .index_bytes = sizeof *m->row,
                                      .rows = m->rows, .cols = m->cols};
    enum sc_status status = put_ones(m) ? SC_OK : SC_ERR_MEMORY;

    if (status != SC_OK)
        return status;
    arrays.start = m->row;
    arrays.index = m->col;
    arrays.values = m->values;
    arrays.count = m->count;
    status = sc_sparse_create(&entries, &arrays, false);
    if (status != SC_OK)
        return status;
    status = sc_sparse_convert(&m->matrix, entries, 'N', &general);
    sc_sparse_destroy(entries);
    if (status != SC_OK)
        return status;
    sc_sparse_set_private(m->matrix);
    if (m->overwrites)
        overwrite(m);
    m->singular = is_singular(m);
    free(m->row);
    free(m->col);
    free(m->values);
    m->row = m->col = NULL;
    m->values = NULL;
    return SC_OK;
}
/* SPDX-License-Identifier: BSD-2-Clause */
