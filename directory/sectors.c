/* Level 2: between lattice positions, tiles, sectors and host bytes. */
#include "directory/directory.h"

static int part_of(const int64_t *cut, int parts, int64_t position)
{
    int a = 0, b = parts - 1;

    sc_assert(parts > 0 && position >= 0 && position < cut[parts]);
    while (a < b) {
        int middle = (a + b) / 2;

        if (position < cut[middle + 1])
            b = middle;
        else
            a = middle + 1;
    }
    return a;
}

int sc_matrix_tile_row(const struct sc_matrix *m, int64_t row)
{
    return part_of(m->row_cut, m->row_parts, row);
}

int sc_matrix_tile_col(const struct sc_matrix *m, int64_t col)
{
    return part_of(m->col_cut, m->col_parts, col);
}

uint64_t sc_tile_sectors(const struct sc_matrix *m, const struct sc_tile *t, int64_t col, int64_t cols)
{
    int64_t lo = col > t->col ? col - t->col : 0, hi = col + cols - t->col;

    if (hi > t->cols)
        hi = t->cols;
    if (lo >= hi)
        return 0;
    return sc_sectors_range((int)(lo / m->width), (int)((hi - 1) / m->width) + 1);
}

/* Host address of the first element of a column, and one past the last element of the column before. */
static uintptr_t col_begin(const struct sc_matrix *m, int64_t col)
{
    return m->base + (uintptr_t)col * (uintptr_t)m->ld * m->elem;
}

static uintptr_t col_end(const struct sc_matrix *m, int64_t col)
{
    uintptr_t end = col_begin(m, col - 1) + (uintptr_t)m->rows * m->elem;

    return end < sc_matrix_end(m) ? end : sc_matrix_end(m);
}

bool sc_matrix_sector_range(const struct sc_matrix *m, int g, uintptr_t *lo, uintptr_t *hi)
{
    const struct sc_tile *t = sc_matrix_tile(m, 0, g / SC_SECTORS);
    int s = g % SC_SECTORS;

    sc_assert(g >= 0);
    if (s >= t->sectors)
        return false;
    *lo = col_begin(m, sc_tile_sector_col(m, t, s));
    *hi = col_end(m, sc_tile_sector_end(m, t, s + 1));
    sc_assert(m->base <= *lo && *lo < *hi && *hi <= sc_matrix_end(m));
    return true;
}

static int sector_of_col(const struct sc_matrix *m, int64_t col)
{
    int j = sc_matrix_tile_col(m, col);

    return j * SC_SECTORS + (int)((col - m->col_cut[j]) / m->width);
}

bool sc_matrix_sectors_at(const struct sc_matrix *m, uintptr_t lo, uintptr_t hi, int *first, int *end)
{
    size_t column = (size_t)m->ld * m->elem;
    int64_t c0, c1;

    lo = lo > m->base ? lo : m->base;
    hi = hi < sc_matrix_end(m) ? hi : sc_matrix_end(m);
    if (lo >= hi)
        return false;
    c0 = (int64_t)((lo - m->base) / column);
    c1 = (int64_t)((hi - 1 - m->base) / column) + 1;
    if (c1 > m->cols)
        c1 = m->cols;
    /* Bytes between the last row and the leading dimension belong to no sector: a column met only there is skipped. */
    if (c0 < c1 && lo >= col_end(m, c0 + 1))
        c0++;
    if (c0 >= c1)
        return false;
    *first = sector_of_col(m, c0);
    *end = sector_of_col(m, c1 - 1) + 1;
    sc_assert(*first < *end && *end <= sc_matrix_sectors(m));
    return true;
}
/* SPDX-License-Identifier: BSD-2-Clause */
