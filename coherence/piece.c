/* Pieces of operands in terms of tiles. */
#include "coherence/protocol.h"

/* Of the sectors that elements [a, b) of a contiguous lattice touch, those that the elements cover: all but perhaps the
 * first and the last.  The end of the vector counts as the end of its column. */
static uint64_t full_linear(const struct sc_matrix *m, const struct sc_tile *t, int64_t a, int64_t b, uint64_t sectors)
{
    int s = __builtin_ctzll(sectors), e = 63 - __builtin_clzll(sectors);
    int64_t end = (int64_t)(m->bytes / m->elem), hi = sc_tile_sector_end(m, t, e + 1) * m->rows;
    uint64_t full = sectors;

    if (sc_tile_sector_col(m, t, s) * m->rows < a)
        full &= ~(UINT64_C(1) << s);
    if ((hi < end ? hi : end) > b)
        full &= ~(UINT64_C(1) << e);
    return full;
}

/* A piece of an operand that is a range of a contiguous lattice. */
static void linear_target(const struct sc_piece *p, struct sc_target *x)
{
    const struct sc_operand *o = p->operand;
    struct sc_matrix *m = o->matrix;
    int64_t step = sc_step(o->view.ld);
    int64_t a = o->view.vector ? o->first + p->r * step : o->first + p->c * step + p->r;
    int64_t b = o->view.vector ? a + (p->rows - 1) * step + 1 : a + (p->cols - 1) * step + p->rows;
    struct sc_tile *t = sc_matrix_tile(m, 0, sc_matrix_tile_col(m, a / m->rows));
    bool dense = o->view.vector ? step == 1 : step == p->rows || p->cols == 1;

    *x = (struct sc_target){.m = m, .t = t, .offset = a - t->col * t->rows, .ld = o->view.ld,
                            .host = m->base + (uintptr_t)a * m->elem, .host_ld = o->view.ld};
    x->sectors = sc_tile_sectors(m, t, a / m->rows, (b - 1) / m->rows + 1 - a / m->rows);
    if (dense && x->sectors)
        x->full = full_linear(m, t, a, b, x->sectors);
}

/* Sectors of a tile wholly covered by columns [c, c + cols), provided that all rows are covered. */
static uint64_t full_columns(const struct sc_matrix *m, const struct sc_tile *t, int64_t c, int64_t cols,
                             uint64_t sectors)
{
    uint64_t full = sectors;
    int s = __builtin_ctzll(sectors), e = 63 - __builtin_clzll(sectors);

    if (sc_tile_sector_col(m, t, s) < c)
        full &= ~(UINT64_C(1) << s);
    if (sc_tile_sector_end(m, t, e + 1) > c + cols)
        full &= ~(UINT64_C(1) << e);
    return full;
}

void sc_piece_target(const struct sc_piece *p, struct sc_target *x)
{
    const struct sc_operand *o = p->operand;
    struct sc_matrix *m = o->matrix;
    bool row_vector = o->view.vector && o->cols > 1;
    int64_t row = o->row + (row_vector ? 0 : p->r), col = o->col + (row_vector ? p->r : p->c);
    int64_t rows = row_vector ? 1 : p->rows, cols = row_vector ? p->rows : p->cols;
    struct sc_tile *t;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(m && p->rows > 0 && p->cols > 0);
    if (o->linear) {
        linear_target(p, x);
        return;
    }
    t = sc_matrix_tile(m, sc_matrix_tile_row(m, row), sc_matrix_tile_col(m, col));
    sc_assert(row + rows <= t->row + t->rows && col + cols <= t->col + t->cols); /* crosses no cut */
    *x = (struct sc_target){.m = m, .t = t, .sectors = sc_tile_sectors(m, t, col, cols),
                            .offset = (col - t->col) * t->rows + (row - t->row), .ld = t->rows,
                            .host = m->base + (uintptr_t)(col * m->ld + row) * m->elem, .host_ld = m->ld};
    if (o->view.vector) {
        int64_t sign = o->view.ld < 0 ? -1 : 1;

        x->ld = sign * (row_vector ? t->rows : 1);
        x->host_ld = sign * (row_vector ? m->ld : 1);
    }
    if (rows == t->rows && x->sectors)
        x->full = full_columns(m, t, col, cols, x->sectors);
    sc_assert(x->sectors && !(x->full & ~x->sectors));
}

/* --- triangles ---------------------------------------------------------------------------------------------------- */

size_t sc_piece_share_least = (size_t)4 << 20;

void sc_coherence_triangle(struct sc_operand *o, char uplo)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert((uplo == 'L' || uplo == 'U') && o->view.rows == o->view.cols);
    if (sc_protocol.devices == 1 && o->matrix && !o->linear && !o->matrix->folded &&
        !sc_host_is_united((const void *)o->matrix->base))
        o->triangle = (struct sc_triangle){uplo, o->row - o->col, o->row, o->row + o->rows};
}

/* Rows of a triangle in sectors [s, e) of a tile. */
static struct sc_rows triangle_rows(const struct sc_triangle *triangle, const struct sc_target *x, int s, int e)
{
    struct sc_rows all = sc_tile_rows(x->t), rows = {triangle->from, triangle->end};
    int64_t first = sc_tile_sector_col(x->m, x->t, s) + triangle->diagonal; /* rows of the diagonal */
    int64_t end = sc_tile_sector_end(x->m, x->t, e) + triangle->diagonal;

    if (triangle->uplo == 'L')
        rows.from = rows.from > first ? rows.from : first;
    else
        rows.end = rows.end < end ? rows.end : end;
    rows = sc_rows_common(rows, all);
    return rows.from < rows.end ? rows : all;
}

struct sc_rows sc_piece_rows(const struct sc_piece *p, const struct sc_target *x, int s)
{
    const struct sc_operand *o = p->operand;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!o || o->linear || o->view.vector)
        return sc_tile_rows(x->t);
    if (o->triangle.uplo)
        return triangle_rows(&o->triangle, x, s, s + 1);
    return (struct sc_rows){o->row + p->r, o->row + p->r + p->rows};
}

struct sc_rows sc_piece_share(const struct sc_piece *p, const struct sc_target *x, int s)
{
    size_t bytes = (size_t)(x->m->width * x->t->rows) * x->m->elem;
    int count = (int)((sc_piece_share_least + bytes - 1) / bytes), first, end;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!p->operand || !p->operand->triangle.uplo)
        return sc_tile_rows(x->t);
    count = count < x->t->sectors ? count : x->t->sectors;
    first = s / count * count;
    end = first + count < x->t->sectors ? first + count : x->t->sectors;
    return triangle_rows(&p->operand->triangle, x, first, end);
}
/* SPDX-License-Identifier: BSD-2-Clause */
