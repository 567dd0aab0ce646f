/* Conversion of arrays of any format to CSR, for the use of a call: transposed, conjugated, one triangle, both
 * triangles of a symmetric matrix, unit diagonal.  Two walks over the entries: the first counts the entries of every
 * row, the second places them.  The devices keep the result, so the conversion runs once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sparse/sparse_int.h"

struct builder {
    const struct sc_sparse_use *use;
    size_t elem;
    bool is_double, conjugates; /* conjugates: the type is complex, and entries may be conjugated */
    int64_t rows, cols;         /* size of the result */
    /* Per row, shifted by one: in the first walk the count, in the second the place of the next entry. */
    int64_t *next;
    bool placing;
    int64_t *columns;
    char *values;
    sc_sparse_visit *visit;     /* called for every entry instead of placing it */
    void *context;
    int64_t at;                 /* position of the stored entry, or -1 */
    const struct sc_sparse_range *only; /* restriction to elements of `values`; NULL: all */
};

/* --- one entry ---------------------------------------------------------------------------------------------------- */

static void put_conjugate(const struct builder *b, char *to, const void *from)
{
    memcpy(to, from, b->elem);
    if (b->is_double)
        ((double *)to)[1] = -((double *)to)[1];
    else
        ((float *)to)[1] = -((float *)to)[1];
}

/* 1/z is conj(z) / |z|^2.  The division by both parts' larger one keeps the square within the range of numbers. */
static void invert(const struct builder *b, void *value)
{
    const bool is_complex = b->elem == (b->is_double ? 2 : 1) * 2 * sizeof(float);
    double z[2] = {0, 0}, large, norm;

    for (int i = 0; i <= is_complex; i++)
        z[i] = b->is_double ? ((double *)value)[i] : (double)((float *)value)[i];
    large = fabs(z[0]) > fabs(z[1]) ? fabs(z[0]) : fabs(z[1]);
    if (large == 0)
        return;
    norm = is_complex ? (z[0] / large) * (z[0] / large) + (z[1] / large) * (z[1] / large) : 1;
    z[0] = is_complex ? z[0] / large / norm / large : 1 / z[0];
    z[1] = -z[1] / large / norm / large;
    for (int i = 0; i <= is_complex; i++)
        if (b->is_double)
            ((double *)value)[i] = z[i];
        else
            ((float *)value)[i] = (float)z[i];
}

static void put(struct builder *b, int64_t row, int64_t col, const void *value, bool conjugate)
{
    int64_t at;

    if (b->visit) {
        b->visit(b->context, row, col, b->at);
        return;
    }
    if (!b->placing) {
        b->next[row + 1]++;
        return;
    }
    at = b->next[row]++;
    b->columns[at] = col;
    if (conjugate && b->conjugates)
        put_conjugate(b, b->values + (size_t)at * b->elem, value);
    else
        memcpy(b->values + (size_t)at * b->elem, value, b->elem);
    if (b->use->descr.inverse)
        invert(b, b->values + (size_t)at * b->elem);
}

static void put_op(struct builder *b, int64_t row, int64_t col, const void *value, bool conjugate)
{
    if (b->use->trans == 'N')
        put(b, row, col, value, conjugate);
    else
        put(b, col, row, value, conjugate != (b->use->trans == 'C'));
}

/* Emits the entries for a stored entry: none, the entry, or the entry and its mirror image. */
static void entry(struct builder *b, int64_t row, int64_t col, const void *value)
{
    const struct sc_sparse_descr *d = &b->use->descr;
    bool both = d->kind == SC_SPARSE_SYMMETRIC || d->kind == SC_SPARSE_HERMITIAN;

    if (row == col && d->diag == 'U')
        return;
    if (row != col && (d->kind == SC_SPARSE_DIAGONAL || (d->kind != SC_SPARSE_GENERAL &&
                                                         (col < row) != (d->uplo == 'L'))))
        return;
    put_op(b, row, col, value, false);
    if (both && row != col)
        put_op(b, col, row, value, d->kind == SC_SPARSE_HERMITIAN);
}

/* --- walks -------------------------------------------------------------------------------------------------------- */

static void walk_block(struct builder *b, const struct sc_sparse_arrays *a, int64_t i, int64_t j, int64_t block)
{
    const char *value = (const char *)a->values + (size_t)(block * a->block * a->block) * b->elem;

    for (int64_t r = 0; r < a->block; r++)
        for (int64_t c = 0; c < a->block; c++)
            entry(b, i * a->block + r, j * a->block + c,
                  value + (size_t)(a->block_by_rows ? r * a->block + c : c * a->block + r) * b->elem);
}

static struct sc_sparse_range meet(struct sc_sparse_range a, struct sc_sparse_range b)
{
    return (struct sc_sparse_range){a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end};
}

/* The positions to visit; a block is visited if any of its elements is. */
static struct sc_sparse_range positions(const struct builder *b, const struct sc_sparse_arrays *a)
{
    int64_t each = a->format == SC_SPARSE_BSR ? a->block * a->block : 1;

    if (!b->only)
        return (struct sc_sparse_range){0, INT64_MAX};
    return (struct sc_sparse_range){b->only->first / each, (b->only->end + each - 1) / each};
}

/* The first line that may have positions >= first. */
static int64_t line_at(const struct sc_sparse_arrays *a, int64_t first)
{
    int64_t low = 0, high = sc_sparse_lines(a);

    while (first > 0 && sc_sparse_is_packed(a) && low < high) {
        int64_t middle = low + (high - low) / 2;

        if (sc_sparse_at(a->end, a->index_bytes, middle) - a->base <= first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void walk_lines(struct builder *b, const struct sc_sparse_arrays *a)
{
    int64_t lines = sc_sparse_lines(a);
    struct sc_sparse_range only = positions(b, a);

    for (int64_t i = line_at(a, only.first); i < lines; i++) {
        struct sc_sparse_range line = {sc_sparse_at(a->start, a->index_bytes, i) - a->base,
                                       sc_sparse_at(a->end, a->index_bytes, i) - a->base};

        if (line.first >= only.end && sc_sparse_is_packed(a))
            return;
        line = meet(line, only);
        for (int64_t e = line.first; e < line.end; e++) {
            int64_t j = sc_sparse_at(a->index, a->index_bytes, e) - a->base;
            const char *value = (const char *)a->values + (size_t)e * b->elem;

            b->at = e;
            if (a->format == SC_SPARSE_CSR)
                entry(b, i, j, value);
            else if (a->format == SC_SPARSE_CSC)
                entry(b, j, i, value);
            else
                walk_block(b, a, i, j, e);
        }
    }
}

static void walk_coordinates(struct builder *b, const struct sc_sparse_arrays *a)
{
    struct sc_sparse_range all = meet((struct sc_sparse_range){0, a->count}, positions(b, a));

    for (int64_t e = all.first; e < all.end; e++) {
        b->at = e;
        entry(b, sc_sparse_at(a->start, a->index_bytes, e) - a->base,
              sc_sparse_at(a->index, a->index_bytes, e) - a->base, (const char *)a->values + (size_t)e * b->elem);
    }
}

static void walk_diagonals(struct builder *b, const struct sc_sparse_arrays *a)
{
    for (int64_t d = 0; d < a->count; d++) {
        int64_t off = sc_sparse_at(a->index, a->index_bytes, d);
        struct sc_sparse_range rows = {off < 0 ? -off : 0, a->cols - off < a->rows ? a->cols - off : a->rows};

        if (b->only)
            rows = meet(rows, (struct sc_sparse_range){b->only->first - d * a->ld, b->only->end - d * a->ld});
        for (int64_t i = rows.first; i < rows.end; i++) {
            b->at = i;
            entry(b, i, i + off, (const char *)a->values + (size_t)(i + d * a->ld) * b->elem);
        }
    }
}

/* Emits the ones of a unit diagonal, whose stored elements are ignored. */
static void walk_ones(struct builder *b, const struct sc_sparse_arrays *a)
{
    const double one[2] = {1, 0};
    const float single[2] = {1, 0};
    int64_t n = a->rows < a->cols ? a->rows : a->cols;

    b->at = -1;
    for (int64_t i = 0; b->use->descr.diag == 'U' && i < n; i++)
        put(b, i, i, b->is_double ? (const void *)one : single, false);
}

static void walk(struct builder *b, const struct sc_sparse_arrays *a)
{
    if (a->format == SC_SPARSE_COO)
        walk_coordinates(b, a);
    else if (a->format == SC_SPARSE_DIA)
        walk_diagonals(b, a);
    else
        walk_lines(b, a);
    if (!b->only)
        walk_ones(b, a);
}

/* --- sorted, without duplicates ----------------------------------------------------------------------------------- */

static void add(const struct builder *b, char *to, const char *value)
{
    int numbers = (int)(b->elem / (b->is_double ? sizeof(double) : sizeof(float)));

    for (int i = 0; i < numbers; i++)
        if (b->is_double)
            ((double *)to)[i] += ((const double *)value)[i];
        else
            ((float *)to)[i] += ((const float *)value)[i];
}

struct place {
    int64_t column, at;
};

static int by_column(const void *a, const void *b)
{
    const struct place *p = a, *q = b;

    if (p->column != q->column)
        return p->column < q->column ? -1 : 1;
    return p->at < q->at ? -1 : p->at > q->at;
}

static bool is_ascending(const int64_t *columns, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (columns[i] <= columns[i - 1])
            return false;
    return true;
}

/* Sorts entries [from, to) into the place at `out` and sums duplicates; returns the new end.  Entries go through
 * copies, because the result may overlap the source. */
static int64_t sort_row(struct builder *b, int64_t from, int64_t to, int64_t out, struct place *place, char *copy)
{
    int64_t n = to - from, last = -1;

    if (is_ascending(b->columns + from, n)) { /* the usual case */
        memmove(b->columns + out, b->columns + from, (size_t)n * sizeof *b->columns);
        memmove(b->values + (size_t)out * b->elem, b->values + (size_t)from * b->elem, (size_t)n * b->elem);
        return out + n;
    }
    for (int64_t i = 0; i < n; i++)
        place[i] = (struct place){b->columns[from + i], i};
    memcpy(copy, b->values + (size_t)from * b->elem, (size_t)n * b->elem);
    qsort(place, (size_t)n, sizeof *place, by_column);
    for (int64_t i = 0; i < n; i++) {
        const char *value = copy + (size_t)place[i].at * b->elem;

        if (place[i].column == last) {
            add(b, b->values + (size_t)(out - 1) * b->elem, value);
            continue;
        }
        b->columns[out] = last = place[i].column;
        memcpy(b->values + (size_t)out++ * b->elem, value, b->elem);
    }
    return out;
}

/* Sorts every row.  start: rows + 1 positions, adapted to the removed duplicates. */
static enum sc_status sort_rows(struct builder *b, int64_t *start)
{
    int64_t longest = 0, out = 0, from = 0;
    struct place *place;
    char *copy;

    for (int64_t i = 0; i < b->rows; i++)
        longest = start[i + 1] - start[i] > longest ? start[i + 1] - start[i] : longest;
    place = malloc((size_t)(longest + 1) * sizeof *place);
    copy = malloc((size_t)(longest + 1) * b->elem);
    for (int64_t i = 0; place && copy && i < b->rows; i++) {
        int64_t to = start[i + 1];

        start[i] = out;
        out = sort_row(b, from, to, out, place, copy);
        from = to;
    }
    start[b->rows] = out;
    longest = place && copy;
    free(place);
    free(copy);
    return longest ? SC_OK : SC_ERR_MEMORY;
}

/* --- the result --------------------------------------------------------------------------------------------------- */

bool sc_sparse_use_is_plain(const struct sc_sparse_arrays *a, const struct sc_sparse_use *use)
{
    return a->format == SC_SPARSE_CSR && use->trans == 'N' && use->descr.kind == SC_SPARSE_GENERAL &&
           use->descr.diag != 'U' && !use->descr.inverse && !use->solve && sc_sparse_is_packed(a);
}

static void halve(const void *integers, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t value = (int32_t)((const int64_t *)integers)[i];

        memcpy((char *)integers + (size_t)i * sizeof value, &value, sizeof value);
    }
}

void sc_sparse_narrow(struct sc_sparse_csr *a)
{
    int64_t entries = sc_sparse_first(a, a->rows);

    if (entries > INT32_MAX || a->rows > INT32_MAX || a->cols > INT32_MAX)
        return;
    halve(a->start, a->rows + 1);
    if (a->index)
        halve(a->index, entries);
    a->index_bytes = 4;
}

/* Turns counts into positions: next[i] becomes the start of row i. */
static void add_up(int64_t *next, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        next[i + 1] += next[i];
}

/* Computes the row starts: b->next, which is also out->start. */
static enum sc_status count(struct builder *b, const struct sc_sparse_arrays *a, struct sc_sparse_csr *out)
{
    out->start = b->next = sc_sparse_alloc((size_t)(b->rows + 1) * sizeof *b->next);
    if (!b->next)
        return SC_ERR_MEMORY;
    memset(b->next, 0, (size_t)(b->rows + 1) * sizeof *b->next);
    walk(b, a);
    add_up(b->next, b->rows);
    return SC_OK;
}

static enum sc_status build(struct builder *b, const struct sc_sparse_arrays *a, struct sc_sparse_csr *out)
{
    enum sc_status status = count(b, a, out);
    int64_t entries, *start = b->next;

    if (status != SC_OK)
        return status;
    entries = start[b->rows];
    out->index = b->columns = sc_sparse_alloc((size_t)entries * sizeof *b->columns);
    out->values = b->values = sc_sparse_alloc((size_t)entries * b->elem);
    if (!b->columns || !b->values)
        return SC_ERR_MEMORY;
    b->placing = true;
    walk(b, a);
    memmove(start + 1, start, (size_t)b->rows * sizeof *start); /* after placing, next[i] is the end of row i, the start
                                                                 * of row i + 1 */
    start[0] = 0;
    if (b->use->solve)
        status = sort_rows(b, start);
    if (status == SC_OK)
        sc_sparse_narrow(out);
    return status;
}

static struct builder builder_of(const struct sc_sparse_arrays *a, const struct sc_sparse_use *use)
{
    bool turned = use->trans != 'N';

    return (struct builder){.use = use, .elem = sc_type_bytes(a->type),
                            .is_double = a->type == SC_D || a->type == SC_Z,
                            .conjugates = sc_type_is_complex(a->type), .rows = turned ? a->cols : a->rows,
                            .cols = turned ? a->rows : a->cols};
}

void sc_sparse_walk(const struct sc_sparse_arrays *a, const struct sc_sparse_use *use,
                    const struct sc_sparse_range *only, sc_sparse_visit *visit, void *context)
{
    struct builder b = builder_of(a, use);

    b.only = only;
    b.visit = visit;
    b.context = context;
    walk(&b, a);
}

enum sc_status sc_sparse_count_csr(const struct sc_sparse_arrays *a, const struct sc_sparse_use *use,
                                   struct sc_sparse_csr *out)
{
    struct builder b = builder_of(a, use);
    enum sc_status status;

    *out = (struct sc_sparse_csr){.type = a->type, .index_bytes = 8, .rows = b.rows, .cols = b.cols};
    status = count(&b, a, out);
    if (status == SC_OK)
        sc_sparse_narrow(out);
    return status;
}

enum sc_status sc_sparse_make_csr(const struct sc_sparse_arrays *a, const struct sc_sparse_use *use,
                                  struct sc_sparse_csr *out)
{
    struct builder b = builder_of(a, use);
    enum sc_status status;

    *out = (struct sc_sparse_csr){.type = a->type, .index_bytes = 8, .rows = b.rows, .cols = b.cols};
    if (sc_sparse_use_is_plain(a, use)) {
        out->index_bytes = a->index_bytes;
        out->base = a->base;
        out->start = a->start;
        out->index = a->index;
        out->values = a->values;
        out->borrowed = true;
        return SC_OK;
    }
    status = build(&b, a, out);
    if (status != SC_OK)
        sc_sparse_free_csr(out);
    return status;
}

void sc_sparse_free_csr(struct sc_sparse_csr *csr)
{
    if (!csr->borrowed) {
        sc_sparse_free((void *)csr->start);
        sc_sparse_free((void *)csr->index);
        sc_sparse_free((void *)csr->values);
    }
    csr->start = csr->index = csr->values = NULL;
}
/* SPDX-License-Identifier: BSD-2-Clause */
