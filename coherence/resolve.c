/* From the program's views to the directory: whether a view fits a known matrix, and the lattice of a new matrix
 * (directory/README.md, D1 and D2). */
#include "coherence/protocol.h"

#define STRIDE_FOLDED 16 /* vectors of smaller increments are tracked with the gaps between their elements */

/* --- known matrices ----------------------------------------------------------------------------------------------- */

static bool as_rect(struct sc_operand *o, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
    sc_assert(row >= 0 && col >= 0 && rows > 0 && cols > 0);
    if (row + rows > o->matrix->rows || col + cols > o->matrix->cols)
        return false;
    o->linear = false;
    o->row = row;
    o->col = col;
    o->rows = rows;
    o->cols = cols;
    return true;
}

static bool as_linear(struct sc_operand *o, int64_t first)
{
    const struct sc_matrix *m = o->matrix;

    sc_assert(first >= 0);
    if (m->rows != m->ld || m->row_parts != 1)
        return false;
    o->linear = true;
    o->first = first;
    o->count = sc_view_length(&o->view);
    return true;
}

/* Element and size agree and the matrix holds the view whole: its first element's position. */
static bool inside(const struct sc_matrix *m, const struct sc_view *v, int64_t *first)
{
    uintptr_t lo, hi;

    sc_view_extent(v, &lo, &hi);
    if (m->elem != sc_type_bytes(v->type) || lo < m->base || hi > sc_matrix_end(m) || (lo - m->base) % m->elem)
        return false;
    *first = (int64_t)((lo - m->base) / m->elem);
    return true;
}

static bool fit_vector(struct sc_operand *o, int64_t first)
{
    const struct sc_matrix *m = o->matrix;
    int64_t n = o->view.rows, row = first % m->ld, col = first / m->ld, step = sc_step(o->view.ld);

    if (as_linear(o, first))
        return true;
    if ((step == 1 || n == 1) && as_rect(o, row, col, n, 1))
        return true;
    if (step == m->ld)
        return as_rect(o, row, col, 1, n);
    /* Whole columns of a matrix in several tile rows: sc_coherence_as_matrix. */
    return o->view.ld == 1 && m->rows == m->ld && row == 0 && n % m->rows == 0 &&
           as_rect(o, 0, col, m->rows, n / m->rows);
}

/* A tile's memory is contiguous (D6): in a matrix of a single tile any view of the bytes is a view of the tile. */
static bool fit_matrix(struct sc_operand *o, int64_t first)
{
    const struct sc_matrix *m = o->matrix;
    const struct sc_view *v = &o->view;

    if ((v->ld == m->ld || v->cols == 1) && as_rect(o, first % m->ld, first / m->ld, v->rows, v->cols))
        return true;
    return m->col_parts == 1 && as_linear(o, first);
}

static bool fits(struct sc_operand *o)
{
    int64_t first;

    return inside(o->matrix, &o->view, &first) && (o->view.vector ? fit_vector(o, first) : fit_matrix(o, first));
}

bool sc_resolve_fits(const struct sc_view *view, struct sc_matrix *matrix)
{
    struct sc_operand o = {.view = *view, .matrix = matrix};

    sc_assert_held(SC_RANK_PROTOCOL);
    return fits(&o);
}

bool sc_resolve_known(const struct sc_view *view, struct sc_operand *o)
{
    uintptr_t lo, hi;
    size_t first;

    sc_assert_held(SC_RANK_PROTOCOL);
    *o = (struct sc_operand){.view = *view};
    sc_view_extent(view, &lo, &hi);
    if (sc_directory_find(lo, hi, &first) != 1)
        return false;
    o->matrix = sc_directory_at(first);
    return fits(o);
}

/* --- new matrices ------------------------------------------------------------------------------------------------- */

static struct sc_lattice exact(const struct sc_view *v)
{
    size_t elem = sc_type_bytes(v->type);
    struct sc_lattice l = {.base = (uintptr_t)v->ptr, .bytes = (size_t)sc_view_length(v) * elem, .elem = elem,
                           .ld = v->ld, .rows = v->rows, .cols = v->cols};

    if (v->vector && sc_step(v->ld) >= STRIDE_FOLDED && v->rows > 1) {
        l.ld = sc_step(v->ld);
        l.rows = 1;
        l.cols = v->rows;
    } else if (v->vector || v->cols == 1) {
        sc_lattice_fold(&l, l.base, elem, sc_view_length(v));
    }
    return l;
}

/* A block of a larger array, by its leading dimension: the array's whole columns are tracked from the block's
 * beginning, so that the array's other blocks fit too.  Padding (ld a little larger than rows) is left out: results
 * overwrite whole sectors.  An allocation of at most a square counts as one array and is tracked wholly:
 * factorizations proceed through its columns. */
#define WHOLE_SLACK ((size_t)4 << 20) /* allocations are aligned and rounded up by less */
static bool extended(const struct sc_lattice *l, const struct sc_host_block *block, struct sc_lattice *out)
{
    size_t column = (size_t)l->ld * l->elem;
    int64_t first = (int64_t)((l->base - block->base) / l->elem);
    bool padded = l->base == block->base && l->rows > 1 && l->ld - l->rows < 64;

    if (l->folded || l->ld == l->rows || padded || (l->base - block->base) % l->elem || first % l->ld + l->rows > l->ld)
        return false;
    *out = *l;
    out->base = block->base;
    out->rows = l->ld;
    out->cols = first / l->ld + l->cols;
    if (block->bytes <= (size_t)l->ld * column + WHOLE_SLACK && (int64_t)(block->bytes / column) > out->cols)
        out->cols = (int64_t)(block->bytes / column);
    out->bytes = (size_t)out->cols * column;
    return out->bytes <= block->bytes;
}

static bool is_free(const struct sc_lattice *l)
{
    size_t first;

    return sc_directory_find(l->base, l->base + l->bytes, &first) == 0;
}

/* Whether the hint serves: the lattice of the matrix before it grew, or of another operand of equal length. */
static bool from_hint(const struct sc_lattice *hint, const struct sc_view *v, const struct sc_host_block *block)
{
    uintptr_t lo, hi;

    sc_view_extent(v, &lo, &hi);
    return hint->bytes && hint->elem == sc_type_bytes(v->type) && hint->base <= lo && hi <= hint->base + hint->bytes &&
           hint->base >= block->base && hint->base + hint->bytes <= block->base + block->bytes && is_free(hint);
}

static void trace_matrix(const struct sc_matrix *m, const struct sc_host_block *block)
{
    sc_trace(.kind = SC_EVENT_MATRIX, .matrix = m->id, .made = {m->base, m->rows, m->cols, m->bytes},
             .is_folded = m->folded, .element_bytes = (uint8_t)m->elem);
    for (int i = 0; sc_trace_on && i < m->row_parts * m->col_parts; i++) {
        const struct sc_tile *t = &m->tiles[i];

        sc_trace(.kind = SC_EVENT_TILE, .matrix = m->id, .tile = (uint32_t)i,
                 .laid = {.base = m->base + (uintptr_t)(t->col * m->ld + t->row) * m->elem,
                          .column_bytes = (uint64_t)t->rows * m->elem, .columns = (uint64_t)t->cols,
                          .step = (uint64_t)m->ld * m->elem,
                          .width = (uint64_t)(m->width < t->cols ? m->width : t->cols),
                          .sectors = sc_sectors_all(t->sectors)});
    }
    if (sc_trace_on)
        sc_trace_block(m->id, block->base, block->bytes);
}

static struct sc_spread spread_of(const struct sc_view *v)
{
    return (struct sc_spread){.devices = v->spread > 0 ? v->spread : sc_protocol.devices,
                              .by_cols = v->split == SC_SPLIT_COLS, .rows = v->tile_rows, .cols = v->tile_cols,
                              .block = v->block, .block_rows = v->block_rows, .reflected = v->reflected};
}

static enum sc_status make(const struct sc_view *v, const struct sc_lattice *hint, struct sc_matrix **out)
{
    struct sc_host_block block;
    struct sc_lattice l = exact(v), larger;
    struct sc_spread spread = spread_of(v);
    struct sc_matrix *m;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!sc_host_block_of(v->ptr, &block) || l.base + l.bytes > block.base + block.bytes)
        return SC_ERR_UNSUPPORTED;
    if (from_hint(hint, v, &block))
        l = *hint;
    else if (extended(&l, &block, &larger) && is_free(&larger)) {
        l = larger;
        /* Columns come into use in turn: strips.  Columns of tiles of block_rows are not dealt out. */
        spread = (struct sc_spread){.devices = spread.devices, .by_cols = spread.by_cols, .narrow = true,
                                    .block = spread.block_rows ? 0 : spread.block};
    }
    if (sc_host_span_pin(&block, sc_protocol.ops->pin, sc_protocol.ops->unpin) != SC_OK)
        return SC_ERR_MEMORY;
    m = sc_matrix_new(&l, spread);
    if (!m || sc_directory_insert(m) != SC_OK) {
        sc_matrix_free(m);
        return SC_ERR_MEMORY;
    }
    sc_level_add(&sc_levels.matrices, 1);
    sc_host_block_track(v->ptr);
    trace_matrix(m, &block);
    *out = m;
    return SC_OK;
}

/* --- misfits ------------------------------------------------------------------------------------------------------ */

/* A vector of whole columns of a matrix as columns, if its lattice is the matrix's. */
static struct sc_lattice as_columns(const struct sc_lattice *matrix, struct sc_lattice l)
{
    size_t column = (size_t)matrix->ld * matrix->elem;
    uintptr_t distance = l.base > matrix->base ? l.base - matrix->base : matrix->base - l.base;

    if (l.folded && matrix->bytes && !matrix->folded && matrix->rows == matrix->ld && l.elem == matrix->elem &&
        distance % column == 0 && l.bytes % column == 0) {
        l.ld = l.rows = matrix->ld;
        l.cols = (int64_t)(l.bytes / column);
        l.folded = false;
    }
    return l;
}

/* Joins a lattice with the lattice that is to replace it, if both are parts of a common lattice: equal leading
 * dimension, rows in step. */
static void join(struct sc_lattice *into, const struct sc_lattice *l)
{
    int64_t distance, row, col, rows;

    if (!into->bytes || into->ld != l->ld || into->elem != l->elem || into->folded || l->folded) {
        into->bytes = 0;
        return;
    }
    if (l->base < into->base) {
        struct sc_lattice swap = *into;

        *into = *l;
        join(into, &swap);
        return;
    }
    distance = (int64_t)((l->base - into->base) / l->elem);
    row = distance % l->ld;
    col = distance / l->ld;
    rows = row + l->rows > into->rows ? row + l->rows : into->rows;
    if ((l->base - into->base) % l->elem || rows > l->ld) {
        into->bytes = 0;
        return;
    }
    into->rows = rows;
    into->cols = col + l->cols > into->cols ? col + l->cols : into->cols;
    into->bytes = (size_t)((into->cols - 1) * into->ld + rows) * into->elem;
}

static struct sc_lattice lattice_of(const struct sc_matrix *m)
{
    return (struct sc_lattice){.base = m->base, .bytes = m->bytes, .elem = m->elem, .ld = m->ld, .rows = m->rows,
                               .cols = m->cols, .folded = m->folded};
}

/* Only vectors of whole columns of the lattice are tracked in the range, and no other call uses them. */
static bool can_take(const struct sc_lattice *l, uintptr_t lo, uintptr_t hi)
{
    size_t first;
    int n = sc_directory_find(lo, hi, &first);

    for (int i = 0; i < n; i++) {
        const struct sc_matrix *m = sc_directory_at(first + (size_t)i);
        struct sc_lattice columns = as_columns(l, lattice_of(m));

        if (columns.folded || columns.ld != l->ld || columns.rows != l->rows || columns.cols != 1 ||
            (columns.base - l->base) % ((size_t)l->ld * l->elem) || columns.base + columns.bytes > hi || m->users)
            return false;
    }
    return true;
}

/* An array whose columns, or blocks of columns, come into use in turn (GMRES's basis): the tracked width doubles,
 * and reshapes are few.  The array ends with the allocation and before other tracked memory. */
static void grow(struct sc_lattice *l)
{
    struct sc_host_block block;
    struct sc_lattice wide = *l;
    size_t column = (size_t)l->ld * l->elem;
    int64_t room;

    if (!l->bytes || l->folded || l->rows == 1 || !sc_host_block_of((const void *)l->base, &block) ||
        block.base + block.bytes < l->base + l->bytes)
        return;
    room = l->cols + (int64_t)((block.base + block.bytes - (l->base + l->bytes)) / column);
    wide.cols = 2 * l->cols < room ? 2 * l->cols : room;
    wide.bytes += (size_t)(wide.cols - l->cols) * column;
    if (can_take(l, l->base + l->bytes, l->base + wide.bytes))
        *l = wide;
}

/* Asks for the release of the matrices in the way.  The hint becomes the lattice that contains the matrices and the
 * view. */
static enum sc_status misfit(const struct sc_view *v, size_t first, int n, struct sc_lattice *hint, uintptr_t *lo,
                             uintptr_t *hi)
{
    int64_t had = 0;

    *hint = exact(v);
    sc_view_extent(v, lo, hi);
    for (int i = 0; i < n; i++) {
        const struct sc_matrix *m = sc_directory_at(first + (size_t)i);
        struct sc_lattice l = as_columns(hint, lattice_of(m));

        /* A strided vector inside a matrix, or a matrix in use by another call: a reshape does not pay. */
        if (m->users || (v->vector && m->base <= *lo && *hi <= sc_matrix_end(m) && m->elem == sc_type_bytes(v->type))) {
            *lo = *hi = 0;
            return SC_ERR_CONFLICT;
        }
        join(hint, &l);
        had = l.cols > had ? l.cols : had;
    }
    if (hint->cols > had)
        grow(hint);
    if (hint->bytes && hint->base + hint->bytes > *hi)
        *hi = hint->base + hint->bytes;
    return SC_ERR_CONFLICT;
}

/* --- other distributions ------------------------------------------------------------------------------------------ */

static bool is_equal(const struct sc_spread *a, const struct sc_spread *b)
{
    return a->devices == b->devices && a->by_cols == b->by_cols && a->narrow == b->narrow && a->rows == b->rows &&
           a->cols == b->cols && a->block == b->block && a->block_rows == b->block_rows &&
           a->reflected == b->reflected;
}

/* The host has all data of the matrix, and the call reads no data of the matrix on a device. */
static bool is_movable(const struct sc_matrix *m, enum sc_recut recut)
{
    for (int i = 0; i < m->row_parts * m->col_parts; i++) {
        const struct sc_tile *t = &m->tiles[i];

        if (t->host_valid != sc_sectors_all(t->sectors))
            return false;
        for (int d = 0; d < sc_protocol.devices && recut == SC_RECUT_ABSENT; d++)
            if (t->copy[d].valid)
                return false;
    }
    return true;
}

/* Memory of one address, advice of the program and the users of a matrix are for the matrix as it is. */
static bool is_bound(const struct sc_matrix *m)
{
    return m->users || m->lent || m->kept || m->push.advised || sc_host_is_united((const void *)m->base);
}

/* A matrix is distributed for one routine. The columns of a dgemm's devices are unequal parts of a triangle. */
static bool is_recut(const struct sc_operand *o)
{
    const struct sc_matrix *m = o->matrix;
    struct sc_spread spread = spread_of(&o->view);

    return o->view.recut != SC_RECUT_NEVER && sc_protocol.devices > 1 && !m->folded && !m->made.narrow && !o->linear &&
           o->rows == m->rows && o->cols == m->cols && !is_equal(&spread, &m->made) && !is_bound(m) &&
           is_movable(m, o->view.recut);
}

enum sc_status sc_resolve(const struct sc_view *v, struct sc_lattice *hint, struct sc_operand *o, uintptr_t *lo,
                          uintptr_t *hi)
{
    enum sc_status status;
    size_t first;
    int n;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(!sc_view_empty(v));
    *o = (struct sc_operand){.view = *v};
    sc_view_extent(v, lo, hi);
    n = sc_directory_find(*lo, *hi, &first);
    if (n == 1) {
        o->matrix = sc_directory_at(first);
        if (fits(o)) {
            if (!is_recut(o))
                return SC_OK;
            *hint = lattice_of(o->matrix);
            *lo = o->matrix->base;
            *hi = sc_matrix_end(o->matrix);
            return SC_ERR_CONFLICT;
        }
    }
    if (n > 0)
        return misfit(v, first, n, hint, lo, hi);
    *lo = *hi = 0;
    status = make(v, hint, &o->matrix);
    if (status != SC_OK)
        return status;
    return fits(o) ? SC_OK : SC_ERR_CONFLICT;
}
/* SPDX-License-Identifier: BSD-2-Clause */
