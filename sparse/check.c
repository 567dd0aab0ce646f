/* Checks of the arrays: no computation uses positions or indices before they are checked. */
#include "sparse/sparse_int.h"

static enum sc_status wrong(const char *what, int64_t at, int64_t value)
{
    sc_log(SC_LOG_ERROR, "sparse matrix: %s %lld is %lld: the matrix is not used", what, (long long)at,
           (long long)value);
    return SC_ERR_INVALID;
}

/* Returns the first index of [first, end) outside [0, limit), or -1. */
static int64_t first_outside32(const int32_t *index, int64_t first, int64_t end, int base, int64_t limit)
{
    for (int64_t e = first; e < end; e++)
        if ((uint64_t)((int64_t)index[e] - base) >= (uint64_t)limit)
            return e;
    return -1;
}

static int64_t first_outside64(const int64_t *index, int64_t first, int64_t end, int base, int64_t limit)
{
    for (int64_t e = first; e < end; e++)
        if ((uint64_t)index[e] - (uint64_t)base >= (uint64_t)limit)
            return e;
    return -1;
}

static enum sc_status check_indices(const struct sc_sparse_arrays *a, const void *index, int64_t first, int64_t end,
                                    int64_t limit, const char *what)
{
    int64_t at = a->index_bytes == 4 ? first_outside32(index, first, end, a->base, limit)
                                     : first_outside64(index, first, end, a->base, limit);

    return at < 0 ? SC_OK : wrong(what, at + a->base, sc_sparse_at(index, a->index_bytes, at));
}

/* CSR, CSC, BSR: checks that positions ascend and indices are in [0, limit). */
static enum sc_status check_lines(const struct sc_sparse_arrays *a, int64_t limit, int64_t *entries)
{
    int64_t lines = sc_sparse_lines(a), first = 0, end = 0;
    bool packed = sc_sparse_is_packed(a);
    enum sc_status status = SC_OK;

    *entries = 0;
    for (int64_t i = 0; i < lines; i++) {
        int64_t lo = sc_sparse_at(a->start, a->index_bytes, i), hi = sc_sparse_at(a->end, a->index_bytes, i);

        if (lo < a->base)
            return wrong("the position where a row (or column) starts, number", i + a->base, lo);
        if (hi < lo)
            return wrong("the position where a row (or column) ends, below its start, number", i + a->base, hi);
        *entries += hi - lo;
    }
    if (*entries && (!a->index || !a->values))
        return wrong("its indices or values are missing; the number of entries in rows", lines, *entries);
    sc_sparse_extent(a, &first, &end);
    if (packed)
        return check_indices(a, a->index, first, end, limit, "index number");
    for (int64_t i = 0; i < lines && status == SC_OK; i++) /* entries between the rows are arbitrary */
        status = check_indices(a, a->index, sc_sparse_at(a->start, a->index_bytes, i) - a->base,
                               sc_sparse_at(a->end, a->index_bytes, i) - a->base, limit, "index number");
    return status;
}

enum sc_status sc_sparse_check_arrays(const struct sc_sparse_arrays *a, int64_t *entries)
{
    int64_t count = a->count;
    enum sc_status status = SC_OK;

    switch (a->format) {
    case SC_SPARSE_CSR: status = check_lines(a, a->cols, &count); break;
    case SC_SPARSE_CSC: status = check_lines(a, a->rows, &count); break;
    case SC_SPARSE_BSR:
        status = check_lines(a, a->cols / a->block, &count);
        count *= a->block * a->block;
        break;
    case SC_SPARSE_COO:
        status = check_indices(a, a->start, 0, count, a->rows, "the row of entry");
        if (status == SC_OK)
            status = check_indices(a, a->index, 0, count, a->cols, "the column of entry");
        break;
    case SC_SPARSE_DIA:
        for (int64_t d = 0; d < a->count && status == SC_OK; d++) {
            int64_t off = sc_sparse_at(a->index, a->index_bytes, d);

            if (off <= -a->rows || off >= a->cols)
                status = wrong("the offset of diagonal", d, off);
        }
        count = a->count * a->rows;
        break;
    }
    if (entries)
        *entries = count;
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
