/* MKL's handles: creation from arrays of the program, export of arrays, ordering, hints. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "sparse/mkl.h"

bool (*sc_mkl_asks_wide)(void);

bool sc_mkl_wide(void) { return sc_mkl_asks_wide && sc_mkl_asks_wide(); }

int sc_mkl_result(enum sc_status status)
{
    switch (status) {
    case SC_OK: return SC_MKL_SUCCESS;
    case SC_ERR_MEMORY: return SC_MKL_ALLOC_FAILED;
    case SC_ERR_INVALID: return SC_MKL_INVALID_VALUE;
    case SC_ERR_UNSUPPORTED:
    case SC_ERR_CONFLICT: return SC_MKL_NOT_SUPPORTED;
    default: return SC_MKL_EXECUTION_FAILED;
    }
}

char sc_mkl_trans(int operation)
{
    return operation >= SC_MKL_NON_TRANSPOSE && operation <= SC_MKL_CONJUGATE_TRANSPOSE
               ? "NTC"[operation - SC_MKL_NON_TRANSPOSE]
               : 0;
}

int sc_mkl_descr_read(struct sc_sparse_descr *out, struct sc_mkl_descr d)
{
    bool both = d.mode == SC_MKL_FULL && (d.type == SC_MKL_SYMMETRIC || d.type == SC_MKL_HERMITIAN);
    bool general = d.type == SC_MKL_GENERAL || both, of_triangle = !general && d.type != SC_MKL_DIAGONAL;

    if (d.type == SC_MKL_BLOCK_TRIANGULAR || d.type == SC_MKL_BLOCK_DIAGONAL)
        return SC_MKL_NOT_SUPPORTED;
    if (d.type < SC_MKL_GENERAL || d.type > SC_MKL_DIAGONAL ||
        (of_triangle && d.mode != SC_MKL_LOWER && d.mode != SC_MKL_UPPER) ||
        (!general && d.diag != SC_MKL_NON_UNIT && d.diag != SC_MKL_UNIT))
        return SC_MKL_INVALID_VALUE;
    *out = (struct sc_sparse_descr){.kind = general ? SC_SPARSE_GENERAL
                                                    : SC_SPARSE_GENERAL + (unsigned)(d.type - SC_MKL_GENERAL),
                                    .uplo = of_triangle && d.mode == SC_MKL_UPPER ? 'U' : 'L',
                                    .diag = !general && d.diag == SC_MKL_UNIT ? 'U' : 'N'};
    return SC_MKL_SUCCESS;
}

/* --- creation and export ------------------------------------------------------------------------------------------ */

static int create(sc_mkl_matrix *out, const struct sc_sparse_arrays *arrays)
{
    bool lines = arrays->format != SC_SPARSE_COO;

    if (arrays->index_bytes == 4 && sc_mkl_wide()) {
        sc_log_once(SC_LOG_WARN, "64-bit integers under MKL's sparse names without _64 are not supported");
        return SC_MKL_NOT_SUPPORTED;
    }
    if (!out || !arrays->start || (lines && !arrays->end))
        return SC_MKL_NOT_INITIALIZED;
    return sc_mkl_result(sc_sparse_create(out, arrays, false));
}

/* The arrays of m, if they have this format, type and width of integers; else NULL and an error in *result. */
static const struct sc_sparse_arrays *arrays_of(sc_mkl_matrix m, enum sc_sparse_format format, enum sc_type type,
                                                size_t index_bytes, int *result)
{
    const struct sc_sparse_arrays *a = m ? sc_sparse_arrays(m) : NULL;

    *result = !a ? SC_MKL_NOT_INITIALIZED
              : a->type != type || a->format != format ? SC_MKL_INVALID_VALUE
              : (size_t)a->index_bytes != index_bytes ? SC_MKL_NOT_SUPPORTED
                                                      : SC_MKL_SUCCESS;
    return *result == SC_MKL_SUCCESS ? a : NULL;
}

/* CSR, CSC and BSR have starts and ends; contiguous lines share one array. */
#define CREATE(l, L, T, t, suffix, I)                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_create_csr##suffix, sc_mkl_matrix *out, int base, I rows, I cols,          \
                    I *start, I *end, I *index, T *values)                                                           \
    {                                                                                                                \
        return create(out, &(struct sc_sparse_arrays){                                                               \
                               .format = SC_SPARSE_CSR, .type = t, .index_bytes = sizeof(I), .base = base,           \
                               .rows = rows, .cols = cols, .start = start, .end = end, .index = index,               \
                               .values = values});                                                                   \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_create_csc##suffix, sc_mkl_matrix *out, int base, I rows, I cols,          \
                    I *start, I *end, I *index, T *values)                                                           \
    {                                                                                                                \
        return create(out, &(struct sc_sparse_arrays){                                                               \
                               .format = SC_SPARSE_CSC, .type = t, .index_bytes = sizeof(I), .base = base,           \
                               .rows = rows, .cols = cols, .start = start, .end = end, .index = index,               \
                               .values = values});                                                                   \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_create_coo##suffix, sc_mkl_matrix *out, int base, I rows, I cols,          \
                    I count, I *row, I *col, T *values)                                                              \
    {                                                                                                                \
        return create(out, &(struct sc_sparse_arrays){                                                               \
                               .format = SC_SPARSE_COO, .type = t, .index_bytes = sizeof(I), .base = base,           \
                               .rows = rows, .cols = cols, .start = row, .index = col, .values = values,             \
                               .count = count});                                                                     \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_create_bsr##suffix, sc_mkl_matrix *out, int base, int layout, I rows,      \
                    I cols, I block, I *start, I *end, I *index, T *values)                                          \
    {                                                                                                                \
        if (layout != SC_MKL_ROW_MAJOR && layout != SC_MKL_COLUMN_MAJOR)                                             \
            return SC_MKL_INVALID_VALUE;                                                                             \
        return create(out, &(struct sc_sparse_arrays){                                                               \
                               .format = SC_SPARSE_BSR, .type = t, .index_bytes = sizeof(I), .base = base,           \
                               .rows = (int64_t)rows * block, .cols = (int64_t)cols * block, .start = start,         \
                               .end = end, .index = index, .values = values, .block = block,                         \
                               .block_by_rows = layout == SC_MKL_ROW_MAJOR});                                        \
    }
SC_MKL_EACH(CREATE)

#define EXPORT_LINES(format_name, FORMAT, l, T, t, suffix, I)                                                        \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_export_##format_name##suffix, sc_mkl_matrix m, int *base, I *rows,         \
                    I *cols, I **start, I **end, I **index, T **values)                                              \
    {                                                                                                                \
        int result;                                                                                                  \
        const struct sc_sparse_arrays *a = arrays_of(m, FORMAT, t, sizeof(I), &result);                              \
                                                                                                                     \
        if (!a)                                                                                                      \
            return result;                                                                                           \
        *base = a->base;                                                                                             \
        *rows = (I)a->rows;                                                                                          \
        *cols = (I)a->cols;                                                                                          \
        *start = (I *)a->start;                                                                                      \
        *end = (I *)a->end;                                                                                          \
        *index = (I *)a->index;                                                                                      \
        *values = (T *)a->values;                                                                                    \
        return result;                                                                                               \
    }
#define EXPORT(l, L, T, t, suffix, I)                                                                                \
    EXPORT_LINES(csr, SC_SPARSE_CSR, l, T, t, suffix, I)                                                             \
    EXPORT_LINES(csc, SC_SPARSE_CSC, l, T, t, suffix, I)                                                             \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_export_bsr##suffix, sc_mkl_matrix m, int *base, int *layout, I *rows,      \
                    I *cols, I *block, I **start, I **end, I **index, T **values)                                    \
    {                                                                                                                \
        int result;                                                                                                  \
        const struct sc_sparse_arrays *a = arrays_of(m, SC_SPARSE_BSR, t, sizeof(I), &result);                       \
                                                                                                                     \
        if (!a)                                                                                                      \
            return result;                                                                                           \
        *base = a->base;                                                                                             \
        *layout = a->block_by_rows ? SC_MKL_ROW_MAJOR : SC_MKL_COLUMN_MAJOR;                                         \
        *rows = (I)(a->rows / a->block);                                                                             \
        *cols = (I)(a->cols / a->block);                                                                             \
        *block = (I)a->block;                                                                                        \
        *start = (I *)a->start;                                                                                      \
        *end = (I *)a->end;                                                                                          \
        *index = (I *)a->index;                                                                                      \
        *values = (T *)a->values;                                                                                    \
        return result;                                                                                               \
    }
SC_MKL_EACH(EXPORT)

#define EXPORT_COO(l, L, T, t, suffix, I)                                                                            \
    SC_MKL_FUNCTION(int, mkl_sparse_##l##_export_coo##suffix, sc_mkl_matrix m, int *base, I *rows, I *cols,          \
                    I *count, I **row, I **col, T **values)                                                          \
    {                                                                                                                \
        int result;                                                                                                  \
        const struct sc_sparse_arrays *a = arrays_of(m, SC_SPARSE_COO, t, sizeof(I), &result);                       \
                                                                                                                     \
        if (!a)                                                                                                      \
            return result;                                                                                           \
        *base = a->base;                                                                                             \
        *rows = (I)a->rows;                                                                                          \
        *cols = (I)a->cols;                                                                                          \
        *count = (I)a->count;                                                                                        \
        *row = (I *)a->start;                                                                                        \
        *col = (I *)a->index;                                                                                        \
        *values = (T *)a->values;                                                                                    \
        return result;                                                                                               \
    }
SC_MKL_EACH(EXPORT_COO)

/* --- whole matrices ----------------------------------------------------------------------------------------------- */

static int copy(sc_mkl_matrix m, sc_mkl_matrix *out)
{
    return m && out ? sc_mkl_result(sc_sparse_create(out, sc_sparse_arrays(m), true)) : SC_MKL_NOT_INITIALIZED;
}

static int destroy(sc_mkl_matrix m)
{
    if (!m)
        return SC_MKL_NOT_INITIALIZED;
    sc_sparse_destroy(m);
    return SC_MKL_SUCCESS;
}

/* --- sorting in place --------------------------------------------------------------------------------------------- */

struct entry {
    int64_t column, at;
};

static int ascending(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at; /* entries at the same position keep their order */
}

static int64_t integer(const struct sc_sparse_arrays *a, const void *at, int64_t i)
{
    return a->index_bytes == 4 ? ((const int32_t *)at)[i] : ((const int64_t *)at)[i];
}

static void set_integer(const struct sc_sparse_arrays *a, const void *at, int64_t i, int64_t value)
{
    if (a->index_bytes == 4)
        ((int32_t *)at)[i] = (int32_t)value;
    else
        ((int64_t *)at)[i] = value;
}

/* Sorts entries [first, first + n) by column; a sorted row is not written. */
static void order_row(const struct sc_sparse_arrays *a, int64_t first, int64_t n, struct entry *entry, char *values)
{
    size_t elem = sc_type_bytes(a->type);
    char *at = (char *)a->values + (size_t)first * elem;
    bool sorted = true;

    for (int64_t i = 0; i < n; i++) {
        entry[i] = (struct entry){integer(a, a->index, first + i), i};
        sorted = sorted && (!i || entry[i - 1].column <= entry[i].column);
    }
    if (sorted)
        return;
    qsort(entry, (size_t)n, sizeof *entry, ascending);
    memcpy(values, at, (size_t)n * elem);
    for (int64_t i = 0; i < n; i++) {
        set_integer(a, a->index, first + i, entry[i].column);
        memcpy(at + (size_t)i * elem, values + (size_t)entry[i].at * elem, elem);
    }
}

static int order(sc_mkl_matrix m)
{
    const struct sc_sparse_arrays *a;
    int64_t longest = 0;
    enum sc_status status;
    struct entry *entry;
    char *values;

    if (!m)
        return SC_MKL_NOT_INITIALIZED;
    a = sc_sparse_arrays(m);
    if (a->format != SC_SPARSE_CSR)
        return SC_MKL_NOT_SUPPORTED;
    status = sc_sparse_check(m, NULL);
    if (status != SC_OK)
        return sc_mkl_result(status);
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t n = integer(a, a->end, i) - integer(a, a->start, i);

        longest = n > longest ? n : longest;
    }
    entry = malloc((size_t)(longest + 1) * sizeof *entry);
    values = malloc((size_t)(longest + 1) * sc_type_bytes(a->type));
    for (int64_t i = 0; entry && values && i < a->rows; i++)
        order_row(a, integer(a, a->start, i) - a->base, integer(a, a->end, i) - integer(a, a->start, i), entry, values);
    status = entry && values ? SC_OK : SC_ERR_MEMORY;
    free(entry);
    free(values);
    sc_sparse_touched(m);
    return sc_mkl_result(status);
}

/* --- hints: unused, because derived copies are made at the first use and kept ------------------------------------- */

static int hint(sc_mkl_matrix m, int operation, struct sc_mkl_descr descr)
{
    struct sc_sparse_descr d;

    if (!m)
        return SC_MKL_NOT_INITIALIZED;
    return sc_mkl_trans(operation) ? sc_mkl_descr_read(&d, descr) : SC_MKL_INVALID_VALUE;
}

#define VECTOR_HINT(name, suffix, I)                                                                                 \
    SC_MKL_FUNCTION(int, mkl_sparse_set_##name##_hint##suffix, sc_mkl_matrix m, int operation,                       \
                    struct sc_mkl_descr descr, I calls)                                                              \
    {                                                                                                                \
        (void)calls;                                                                                                 \
        return hint(m, operation, descr);                                                                            \
    }
#define MATRIX_HINT(name, suffix, I)                                                                                 \
    SC_MKL_FUNCTION(int, mkl_sparse_set_##name##_hint##suffix, sc_mkl_matrix m, int operation,                       \
                    struct sc_mkl_descr descr, int layout, I columns, I calls)                                       \
    {                                                                                                                \
        (void)columns;                                                                                               \
        (void)calls;                                                                                                 \
        return layout == SC_MKL_ROW_MAJOR || layout == SC_MKL_COLUMN_MAJOR ? hint(m, operation, descr)               \
                                                                           : SC_MKL_INVALID_VALUE;                   \
    }
#define WHOLE(suffix, I)                                                                                             \
    VECTOR_HINT(mv, suffix, I)                                                                                       \
    VECTOR_HINT(dotmv, suffix, I)                                                                                    \
    VECTOR_HINT(sv, suffix, I)                                                                                       \
    MATRIX_HINT(mm, suffix, I)                                                                                       \
    MATRIX_HINT(sm, suffix, I)                                                                                       \
    SC_MKL_FUNCTION(int, mkl_sparse_set_memory_hint##suffix, sc_mkl_matrix m, int policy)                            \
    {                                                                                                                \
        (void)policy;                                                                                                \
        return m ? SC_MKL_SUCCESS : SC_MKL_NOT_INITIALIZED;                                                          \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_optimize##suffix, sc_mkl_matrix m)                                               \
    {                                                                                                                \
        return m ? SC_MKL_SUCCESS : SC_MKL_NOT_INITIALIZED;                                                          \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_destroy##suffix, sc_mkl_matrix m)                                                \
    {                                                                                                                \
        return destroy(m);                                                                                           \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_copy##suffix, sc_mkl_matrix m, struct sc_mkl_descr descr, sc_mkl_matrix *out)    \
    {                                                                                                                \
        (void)descr;                                                                                                 \
        return copy(m, out);                                                                                         \
    }                                                                                                                \
    SC_MKL_FUNCTION(int, mkl_sparse_order##suffix, sc_mkl_matrix m)                                                  \
    {                                                                                                                \
        return order(m);                                                                                             \
    }
SC_MKL_WIDTHS(WHOLE)

/* --- unsupported functions ---------------------------------------------------------------------------------------- */

/* The handle is semcache's, so no MKL behind semcache could serve the call. */
static int refuse(const char *name)
{
    sc_log_once(SC_LOG_WARN, "%s is not supported on semcache's sparse matrices (doc/sparse.md)", name);
    return SC_MKL_NOT_SUPPORTED;
}

#define REFUSED(name)                                                                                                \
    SC_MKL_FUNCTION(int, name, void)                                                                                 \
    {                                                                                                                \
        return refuse(#name);                                                                                        \
    }
#include "sparse/refused.h"
/* SPDX-License-Identifier: BSD-2-Clause */
