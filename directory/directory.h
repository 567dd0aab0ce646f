/* The two-level directory: matrices by host address, tiles of a matrix by position, sectors of a tile by column.
 * Geometry and state words only: no transfers, no decisions, no locks (callers hold the protocol's lock).  Rules D1
 * to D7 are in directory/README.md. */
#ifndef SC_DIRECTORY_DIRECTORY_H
#define SC_DIRECTORY_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/fence.h"
#include "base/lru.h"
#include "base/status.h"
#include "base/types.h"
#include "directory/state.h"

#define SC_SECTORS 64

/* Rows [from, end) of a lattice. */
struct sc_rows {
    int64_t from, end;
};

/* One tile on one device.  Column-major, ld == the tile's rows, so a whole column range is contiguous. */
struct sc_copy {
    void *memory; /* NULL: none */
    uint64_t valid;   /* sectors with current data, or with current data once `ready` is reached */
    uint64_t pending; /* valid sectors whose `ready` the compute stream has not waited for */
    uint64_t partial; /* valid sectors with current data in `rows` only; the host has the data of the rest */
    struct sc_rows *rows; /* per partial sector; NULL: no sector has been partial */
    struct sc_fence *ready; /* per sector: its last write */
    struct sc_fence *used;  /* per sector: the last kernel that used the sector */
    struct sc_fence last_used;
    /* Copies out of this memory that may be running: by device i, on one of its streams; last entry: by the own D2H
     * stream. */
    struct sc_fence reader[SC_DEVICES_MAX + 1];
    /* Per sector: the latest copy to the host, also of freed memory.  `reader` has the latest of the whole tile. */
    struct sc_fence *sent;
    struct sc_push_reads push;
    struct sc_lease *lease; /* of the memory (coherence/lease.c), or NULL */
    struct sc_lru lru; /* while there is memory: place among the copies of the device (coherence/memory.c) */
    uint64_t interval; /* ticks between the last two lendings; 0: not known */
    struct sc_matrix *matrix; /* whose copy it is */
    struct sc_tile *tile;
};

struct sc_tile {
    int64_t row, col, rows, cols; /* in the lattice */
    int sectors;
    uint64_t host_valid;     /* sectors of the host's copy that are current, or will be when `landed` is reached */
    struct sc_fence *landed; /* per sector */
    struct sc_fence host_read[SC_DEVICES_MAX];  /* by device: uploads that read the host's copy */
    struct sc_fence *read;   /* per sector: the latest upload */
    struct sc_fence read_apart[SC_DEVICES_MAX]; /* by device: uploads that `read` does not have */
    struct sc_fence host_write[SC_DEVICES_MAX]; /* by device: transfers that write the host's copy */
    struct sc_push_writes push;
    uint64_t linked; /* sources of derived copies (coherence/derived.c): closed for writing */
    int home;
    struct sc_copy *copy; /* one for each device */
};

/* Indices of matrices besides the index by address (noted.c): matrices with pages closed for reading; with pages
 * closed for writing; with fetches by the host since sc_coherence_fetched. */
enum sc_note { SC_CLOSED_READ, SC_CLOSED_WRITE, SC_FETCHED, SC_NOTES };

/* Global sectors whose pages are closed for an access: a bit for each, by tile column, and their number.  parts: bits
 * of the entry in the index. */
struct sc_closed {
    uint64_t *sectors, parts;
    int count;
};

/* Over how many devices, and along which dimension, a new matrix is cut; narrow: for use by blocks of a few columns
 * (rule D7). */
struct sc_spread {
    int devices;
    bool by_cols, narrow;
    int rows, cols; /* > 0: a grid of rows x cols tiles dealt out in both directions, instead of a strip a device */
    int64_t block;  /* > 0: tiles of so many columns and all rows, dealt out in turn, instead */
    int64_t block_rows; /* > 0: tiles of block_rows x block, dealt out to a grid of rows x cols devices, instead */
    bool reflected; /* with block_rows and cols 1: every second turn goes from the last device to the first */
};

struct sc_matrix {
    uint32_t id;
    uint32_t users; /* calls in progress that hold the matrix */
    struct sc_writer writer;
    struct sc_wait_state wait;
    struct sc_push_state push;
    struct sc_keep_open keep_open;
    struct sc_habit habit;
    struct sc_link_times links;
    uintptr_t base;
    size_t bytes; /* extent on the host: all columns, without the gap after the last column */
    size_t elem;
    int64_t ld, rows, cols;
    bool folded;    /* a vector: rows == ld, the last column may be cut short by `bytes` */
    int64_t width;  /* columns of a sector */
    int row_parts, col_parts;   /* tiles in each direction */
    int64_t *row_cut, *col_cut; /* row_parts + 1 and col_parts + 1 positions */
    struct sc_tile *tiles;      /* [i + j * row_parts] */
    bool kept;      /* copies are evicted last (semcache_advise) */
    struct sc_spread made; /* as the matrix was cut */
    bool passed_on; /* in the current call: uploads go to the tiles' devices first */

    uint8_t *open;  /* per global sector (tile column * SC_SECTORS + sector): host pages may be open, rule C3 */
    uint64_t *home; /* per page of the extent: the matrix's bytes on the page are home, though their sector is not */
    size_t pages;
    size_t home_count; /* bits set there */
    uint8_t *painted;  /* per global sector: protection required at the last painting */
    struct sc_closed closed[2]; /* SC_CLOSED_READ, SC_CLOSED_WRITE */
    bool noted[SC_NOTES];
    /* 0: not now.  Else the tick at which the lending of this and of further matrices began (coherence/lend.c).  Pages
     * that an upload closes are closed for reading, too. */
    uint64_t lending;
    int lent; /* 1 + the device that has lent memory of all tiles (coherence/lend.c); 0: not known */
};

/* Parameters of new grids. */
struct sc_directory_limits {
    int devices;
    uint64_t tile_bytes; /* largest tile */
    size_t unit_bytes;   /* row and segment cuts are multiples of this size */
};
extern struct sc_directory_limits sc_directory_limits;

/* --- index (directory.c) ------------------------------------------------------------------------------------------ */

/* Matrices whose extents meet [lo, hi), ascending: position of the first, and their number.  O(log n + count). */
int sc_directory_find(uintptr_t lo, uintptr_t hi, size_t *first);
/* The first such matrix, or NULL.  O(log n): a walk over all matrices is not quadratic. */
struct sc_matrix *sc_directory_next(uintptr_t lo, uintptr_t hi);
struct sc_matrix *sc_directory_at(size_t position);
size_t sc_directory_count(void);
extern uint64_t sc_directory_steps; /* comparisons of look-ups so far, for tests */
enum sc_status sc_directory_insert(struct sc_matrix *matrix);
void sc_directory_remove(struct sc_matrix *matrix);

/* --- what is noted of matrices (noted.c) -------------------------------------------------------------------------- */

/* Whether a matrix in the index has noted bytes on the pages of [lo, hi), or near them: bytes are noted by parts.
 * Without a lock; false: at some moment during the look-up there were no such bytes.  O(log of the index) and one step
 * for each matrix of the index in the range. */
bool sc_noted_any(uintptr_t lo, uintptr_t hi, enum sc_note note);
/* The first of them with a base of `from` or more, or NULL. */
struct sc_matrix *sc_noted_next(uintptr_t from, uintptr_t lo, uintptr_t hi, enum sc_note note);
/* States of the pages of `sectors` of tile column j: closed for reading and for writing, or open.  Closed: noted before
 * the pages are closed.  Open: noted after all pages have been opened. */
void sc_closed_set(struct sc_matrix *m, int j, uint64_t sectors, uint64_t reading, uint64_t writing);
static inline bool sc_closed_bit(const struct sc_matrix *m, int g, enum sc_note kind)
{
    sc_assert(kind <= SC_CLOSED_WRITE && g >= 0 && g < m->col_parts * SC_SECTORS);
    return m->closed[kind].sectors[g / SC_SECTORS] >> g % SC_SECTORS & 1;
}
/* The first closed sector of [g, end), or end. */
int sc_closed_sector(const struct sc_matrix *m, int g, int end, enum sc_note kind);
void sc_noted_fetched(struct sc_matrix *m, bool fetched);
void sc_noted_forget(struct sc_matrix *m); /* leaves all indices; the pages are open, or another matrix's */
bool sc_noted_reserve(size_t matrices);    /* room for so many; false: no memory */

/* --- lattices and grids (lattice.c) ------------------------------------------------------------------------------- */

struct sc_lattice {
    uintptr_t base;
    size_t bytes, elem;
    int64_t ld, rows, cols;
    bool folded;
};
#define SC_NARROW_COLS 64 /* of a sector, at most; a power of two */
struct sc_matrix *sc_matrix_new(const struct sc_lattice *lattice, struct sc_spread spread);
void sc_matrix_free(struct sc_matrix *matrix);

/* The lattice of a contiguous vector of n elements, folded: a sector is a contiguous segment. */
void sc_lattice_fold(struct sc_lattice *lattice, uintptr_t base, size_t elem, int64_t n);
/* Segment length in elements of a vector of n elements. */
int64_t sc_lattice_segment(int64_t n, size_t elem);

static inline uintptr_t sc_matrix_end(const struct sc_matrix *m) { return m->base + m->bytes; }
/* The tile row (column) of a lattice row (column). */
int sc_matrix_tile_row(const struct sc_matrix *m, int64_t row);
int sc_matrix_tile_col(const struct sc_matrix *m, int64_t col);
static inline struct sc_tile *sc_matrix_tile(const struct sc_matrix *m, int i, int j)
{
    sc_assert(i >= 0 && i < m->row_parts && j >= 0 && j < m->col_parts);
    return &m->tiles[i + (int64_t)j * m->row_parts];
}
static inline uint32_t sc_matrix_tile_index(const struct sc_matrix *m, const struct sc_tile *t)
{
    sc_assert(t >= m->tiles && t < m->tiles + (int64_t)m->row_parts * m->col_parts);
    return (uint32_t)(t - m->tiles);
}
/* Sectors of a tile that meet lattice columns [col, col + cols). */
uint64_t sc_tile_sectors(const struct sc_matrix *m, const struct sc_tile *t, int64_t col, int64_t cols);
/* First column (in the lattice) of sector s, and one past the last of sectors [s, e). */
static inline int64_t sc_tile_sector_col(const struct sc_matrix *m, const struct sc_tile *t, int s)
{
    sc_assert(s >= 0 && s < t->sectors);
    return t->col + (int64_t)s * m->width;
}
static inline int64_t sc_tile_sector_end(const struct sc_matrix *m, const struct sc_tile *t, int e)
{
    int64_t end = t->col + (int64_t)e * m->width;

    sc_assert(e > 0 && e <= t->sectors);
    return end < t->col + t->cols ? end : t->col + t->cols;
}
static inline struct sc_rows sc_tile_rows(const struct sc_tile *t)
{
    return (struct sc_rows){t->row, t->row + t->rows};
}
/* Rows of a valid sector that are current on a device. */
static inline struct sc_rows sc_copy_rows(const struct sc_copy *c, int s)
{
    return c->partial >> s & 1 ? c->rows[s] : sc_tile_rows(c->tile);
}
static inline bool sc_rows_have(struct sc_rows rows, struct sc_rows part)
{
    return rows.from <= part.from && part.end <= rows.end;
}
/* What both have; `from` may be behind `end`. */
static inline struct sc_rows sc_rows_common(struct sc_rows a, struct sc_rows b)
{
    return (struct sc_rows){a.from > b.from ? a.from : b.from, a.end < b.end ? a.end : b.end};
}
static inline bool sc_rows_equal(struct sc_rows a, struct sc_rows b) { return a.from == b.from && a.end == b.end; }
/* On a device. */
static inline size_t sc_tile_bytes(const struct sc_matrix *m, const struct sc_tile *t)
{
    return (size_t)(t->rows * t->cols) * m->elem;
}
static inline uint64_t sc_tile_sector_bytes(const struct sc_matrix *m, const struct sc_tile *t, int s, int e)
{
    return (uint64_t)(sc_tile_sector_end(m, t, e) - sc_tile_sector_col(m, t, s)) * (uint64_t)t->rows * m->elem;
}
static inline uint64_t sc_sectors_all(int n) { return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1; }
static inline uint64_t sc_sectors_range(int s, int e)
{
    sc_assert(s >= 0 && s < e && e <= SC_SECTORS);
    return sc_sectors_all(e) & ~sc_sectors_all(s);
}

/* Number of global sectors (over all tile rows). */
static inline int sc_matrix_sectors(const struct sc_matrix *m) { return m->col_parts * SC_SECTORS; }
/* Host bytes of a global sector: all rows of its columns.  False for a number past the tile's last sector. */
bool sc_matrix_sector_range(const struct sc_matrix *m, int g, uintptr_t *lo, uintptr_t *hi);
/* Global sectors that host bytes [lo, hi) meet: first and one past the last.  False: the bytes lie between sectors. */
bool sc_matrix_sectors_at(const struct sc_matrix *m, uintptr_t lo, uintptr_t hi, int *first, int *end);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
