/* Making a matrix: cutting its lattice into tiles and the tiles into sectors (rules D2 to D4). */
#include <stdlib.h>
#include <string.h>

#include "directory/directory.h"

#define PAGE_BYTES 4096
#define EVEN_BYTES 512 /* granularity of segments that make equal parts */
#define UNEVEN 16      /* the largest part may exceed the mean by 1 / UNEVEN of the mean */
#define PARTS_MAX 341 /* of a dimension: the cuts of three operands fit into SC_CUTS_MAX (coherence/call.h) */

static int64_t div_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t round_up(int64_t a, int64_t b)
{
    return div_up(a, b) * b;
}

/* The length of most of `devices` parts of whole segments. */
static int64_t longest_part(int64_t n, int64_t segment, int devices)
{
    return div_up(div_up(n, segment), devices) * segment;
}

/* If whole units give some devices two segments and others three, shares are uneven.  Then the number of segments is
 * a multiple of the number of devices, with a length that keeps kernels aligned. */
static int64_t even_segment(int64_t n, size_t elem, int64_t segment)
{
    int devices = sc_directory_limits.devices;
    int64_t fine = (int64_t)(EVEN_BYTES / elem), even;

    if (devices < 2 || devices > SC_SECTORS || n < devices * segment ||
        longest_part(n, segment, devices) * devices <= n + n / UNEVEN)
        return segment;
    even = round_up(div_up(n, SC_SECTORS / devices * devices), fine);
    return longest_part(n, even, devices) < longest_part(n, segment, devices) ? even : segment;
}

int64_t sc_lattice_segment(int64_t n, size_t elem)
{
    int64_t unit = (int64_t)(sc_directory_limits.unit_bytes / elem);
    int64_t most = (int64_t)(sc_directory_limits.tile_bytes / elem);
    int64_t length;

    if (unit < 1)
        unit = 1;
    length = even_segment(n, elem, round_up(div_up(n > 0 ? n : 1, SC_SECTORS), unit));
    if (length > most) /* a segment must fit into a tile (D4) */
        length = most > unit ? most / unit * unit : most > 0 ? most : 1;
    return length;
}

void sc_lattice_fold(struct sc_lattice *lattice, uintptr_t base, size_t elem, int64_t n)
{
    int64_t length = sc_lattice_segment(n, elem);

    if (length > n)
        length = n;
    *lattice = (struct sc_lattice){.base = base,
                                   .bytes = (size_t)n * elem,
                                   .elem = elem,
                                   .ld = length,
                                   .rows = length,
                                   .cols = div_up(n, length),
                                   .folded = true};
}

/* Cuts of one dimension while a grid is made. */
struct parts {
    int n;
    int64_t at[PARTS_MAX + 1];
    int home[PARTS_MAX]; /* the device of a strip, the position of a tile in the grid */
};

static void add_part(struct parts *p, int64_t end, int home)
{
    if (end > p->at[p->n] && p->n < PARTS_MAX) {
        p->home[p->n] = home;
        p->at[++p->n] = end;
    }
}

/* Cuts an extent for `devices` devices at the boundaries of a vector of that length (rule D3), then each part into
 * `pieces` to limit tile memory.  The last part ends at n. */
static void make_parts(struct parts *p, int64_t n, size_t elem, int devices, int64_t pieces)
{
    int64_t segment = sc_lattice_segment(n, elem), segments = div_up(n, segment);
    int64_t shares = devices < segments ? devices : segments;

    *p = (struct parts){0};
    if (pieces > PARTS_MAX / shares)
        pieces = PARTS_MAX / shares;
    for (int d = 0; d < devices; d++) {
        int64_t lo = div_up(d * segments, devices) * segment, hi = div_up((d + 1) * segments, devices) * segment;

        hi = hi < n ? hi : n;
        for (int64_t k = 1; k <= pieces && lo < hi; k++)
            add_part(p, k < pieces ? lo + (hi - lo) * k / pieces : hi, d);
    }
    p->at[p->n] = n;
}

/* Blocks of `width` columns, or more if there were too many blocks, dealt out in turn. */
static void make_blocks(struct parts *p, int64_t n, int devices, int64_t width)
{
    *p = (struct parts){0};
    if (width < div_up(n, PARTS_MAX))
        width = div_up(n, PARTS_MAX);
    for (int64_t end = width; p->at[p->n] < n; end += width)
        add_part(p, end < n ? end : n, p->n % devices);
}

static int64_t widest(const struct parts *p)
{
    int64_t most = 0;

    for (int i = 0; i < p->n; i++)
        if (p->at[i + 1] - p->at[i] > most)
            most = p->at[i + 1] - p->at[i];
    return most;
}

/* Cuts the devices' parts again, at every multiple of `broad` from the beginning of the part (rule D7). */
static void cut_narrow(struct parts *p, int64_t broad)
{
    struct parts wide = *p;

    if (wide.at[wide.n] / broad + wide.n > PARTS_MAX)
        return;
    *p = (struct parts){0};
    for (int i = 0; i < wide.n; i++) {
        for (int64_t at = wide.at[i] + broad; at < wide.at[i + 1]; at += broad)
            add_part(p, at, wide.home[i]);
        add_part(p, wide.at[i + 1], wide.home[i]);
    }
}

/* Rows and columns of the grid: first by device, then finer until a tile is at most tile_bytes (rule D4). */
static void make_grid(const struct sc_lattice *l, struct sc_spread spread, struct parts *rows, struct parts *cols)
{
    int by_rows = l->folded || spread.block ? 1 : spread.rows ? spread.rows : spread.by_cols ? 1 : spread.devices;
    int by_cols = l->folded ? 1 : spread.cols ? spread.cols : !spread.by_cols ? 1 : spread.devices;
    int64_t most = (int64_t)(sc_directory_limits.tile_bytes / l->elem), tall, row_pieces = 1;

    most = most > 0 ? most : 1;
    if (spread.block_rows && !l->folded)
        make_blocks(rows, l->rows, spread.devices, spread.block_rows < most ? spread.block_rows : most);
    else
        make_parts(rows, l->rows, l->elem, by_rows, 1);
    if (!l->folded && widest(rows) > most) {
        row_pieces = div_up(widest(rows), most);
        make_parts(rows, l->rows, l->elem, by_rows, row_pieces);
    }
    tall = widest(rows);
    most = most / tall > 0 ? most / tall : 1;
    if (spread.block && !l->folded)
        make_blocks(cols, l->cols, spread.devices, spread.block < most ? spread.block : most);
    else
        make_parts(cols, l->cols, l->elem, by_cols, 1);
    if (widest(cols) > most)
        make_parts(cols, l->cols, l->elem, by_cols, div_up(widest(cols), most));
    if (spread.narrow && !l->folded)
        cut_narrow(cols, SC_SECTORS * SC_NARROW_COLS);
}

/* Sector width in columns, equal in all tiles: at most SC_SECTORS sectors a tile, at least a page a sector.  Narrow
 * sectors have a power of two of columns, as blocks of algorithms have, so that blocks and sectors share boundaries. */
static int64_t sector_width(const struct sc_lattice *l, const struct parts *cols, bool narrow)
{
    int64_t width, page, two = 1;

    if (l->folded)
        return div_up(widest(cols), SC_SECTORS);
    width = div_up(widest(cols), SC_SECTORS);
    page = div_up((int64_t)sc_directory_limits.unit_bytes, l->ld * (int64_t)l->elem);
    width = width > page ? width : page;
    while (two < width)
        two *= 2;
    return narrow ? two : width;
}

static bool make_tile(struct sc_matrix *m, struct sc_tile *t)
{
    int devices = sc_directory_limits.devices;
    size_t n = (size_t)div_up(t->cols, m->width);
    struct sc_fence *fences = calloc(n * (2 + 3 * (size_t)devices), sizeof *fences);

    t->sectors = (int)n;
    t->host_valid = sc_sectors_all(t->sectors); /* rule C1 holds from the start: the host has everything */
    t->copy = calloc((size_t)devices, sizeof *t->copy);
    t->landed = fences;
    t->read = fences + n;
    if (!fences || !t->copy)
        return false;
    for (int d = 0; d < devices; d++) {
        t->copy[d].matrix = m;
        t->copy[d].tile = t;
        t->copy[d].ready = fences + n * (2 + 3 * (size_t)d);
        t->copy[d].used = t->copy[d].ready + n;
        t->copy[d].sent = t->copy[d].used + n;
    }
    return true;
}

/* Tiles are dealt out in both directions, or in turn where a direction has too few tiles. */
static int tile_home(const struct parts *rows, const struct parts *cols, struct sc_spread spread, int i, int j)
{
    int down, across;

    if (spread.block_rows && spread.reflected && i / spread.rows % 2)
        i = spread.rows - 1 - i % spread.rows;
    if (spread.block_rows)
        return (i % spread.rows * spread.cols + j % spread.cols) % spread.devices;
    if (!spread.rows)
        return spread.by_cols ? cols->home[j] : rows->home[i];
    sc_device_grid(spread.devices, &down, &across);
    if (spread.rows < down || spread.cols < across)
        return (rows->home[i] + cols->home[j] * spread.rows) % spread.devices;
    return rows->home[i] % down * across + cols->home[j] % across;
}

static bool make_tiles(struct sc_matrix *m, const struct parts *rows, const struct parts *cols, struct sc_spread spread)
{
    m->row_cut = malloc(sizeof *m->row_cut * (size_t)(rows->n + 1));
    m->col_cut = malloc(sizeof *m->col_cut * (size_t)(cols->n + 1));
    m->tiles = calloc((size_t)rows->n * (size_t)cols->n, sizeof *m->tiles);
    if (!m->row_cut || !m->col_cut || !m->tiles)
        return false;
    m->row_parts = rows->n;
    m->col_parts = cols->n;
    memcpy(m->row_cut, rows->at, sizeof *m->row_cut * (size_t)(rows->n + 1));
    memcpy(m->col_cut, cols->at, sizeof *m->col_cut * (size_t)(cols->n + 1));
    for (int j = 0; j < cols->n; j++)
        for (int i = 0; i < rows->n; i++) {
            struct sc_tile *t = sc_matrix_tile(m, i, j);

            *t = (struct sc_tile){.row = rows->at[i], .rows = rows->at[i + 1] - rows->at[i],
                                  .col = cols->at[j], .cols = cols->at[j + 1] - cols->at[j],
                                  .home = tile_home(rows, cols, spread, i, j)};
            if (!make_tile(m, t))
                return false;
        }
    return true;
}

struct sc_matrix *sc_matrix_new(const struct sc_lattice *l, struct sc_spread spread)
{
    static uint32_t last_id;
    struct sc_matrix *m = calloc(1, sizeof *m);
    struct parts *parts = malloc(2 * sizeof *parts);
    uintptr_t first_page = l->base & ~(uintptr_t)(PAGE_BYTES - 1);
    bool good;

    if (spread.devices > sc_directory_limits.devices)
        spread.devices = sc_directory_limits.devices;
    if (spread.devices < 1)
        spread.devices = 1;
    if (!m || !parts) {
        free(parts);
        free(m);
        return NULL;
    }
    make_grid(l, spread, &parts[0], &parts[1]);
    *m = (struct sc_matrix){.id = ++last_id, .base = l->base, .bytes = l->bytes, .elem = l->elem, .ld = l->ld,
                            .rows = l->rows, .cols = l->cols, .folded = l->folded,
                            .width = sector_width(l, &parts[1], spread.narrow), .made = spread};
    m->pages = (sc_matrix_end(m) - first_page + PAGE_BYTES - 1) / PAGE_BYTES;
    good = make_tiles(m, &parts[0], &parts[1], spread);
    free(parts);
    m->open = malloc((size_t)sc_matrix_sectors(m) + 1);
    m->home = calloc((m->pages + 63) / 64, sizeof *m->home);
    m->painted = calloc((size_t)sc_matrix_sectors(m) + 1, 1);
    for (int i = 0; i < 2; i++)
        m->closed[i].sectors = calloc((size_t)m->col_parts + 1, sizeof *m->closed[i].sectors);
    if (!good || !m->open || !m->home || !m->painted || !m->closed[0].sectors || !m->closed[1].sectors) {
        sc_matrix_free(m);
        return NULL;
    }
    memset(m->open, 1, (size_t)sc_matrix_sectors(m)); /* the host has all sectors and may write them */
    return m;
}

void sc_matrix_free(struct sc_matrix *m)
{
    if (!m)
        return;
    for (int i = 0; m->tiles && i < m->row_parts * m->col_parts; i++) {
        for (int d = 0; m->tiles[i].copy && d < sc_directory_limits.devices; d++)
            free(m->tiles[i].copy[d].rows);
        free(m->tiles[i].landed);
        free(m->tiles[i].copy);
    }
    free(m->tiles);
    free(m->row_cut);
    free(m->col_cut);
    free(m->open);
    free(m->home);
    free(m->painted);
    free(m->closed[0].sectors);
    free(m->closed[1].sectors);
    free(m->links.changed);
    free(m);
}
/* SPDX-License-Identifier: BSD-2-Clause */
