/* Divides a CSR matrix into parts of consecutive rows.
 *
 * Every device gets rows with about the same number of entries.  The rows of a device are divided into pieces that fit
 * into its memory.  A boundary between devices may lie inside a sector of y; the rows of that sector become separate
 * parts, so that a single device writes the sector.  Rows at either end of a device that need other devices' x also
 * become separate parts: the kernel of the inner rows runs while the data is in transit. */
#include <stdlib.h>
#include <string.h>

#include "sparse/sparse_int.h"

#define UNEVEN 0.05          /* excess over the average accepted for boundaries at sectors */
#define MEMORY_SHARE 8       /* a part takes at most 1/8 of a device's memory */
#define WHOLE_SHARE 4        /* a factor of a sparse product is a single part of at most 1/4 */
#define ENTRIES_MAX (INT64_C(1) << 30)
#define BLOCK 64             /* columns per block in the analysis of x */
#define RANGES_MAX 64

struct splitter {
    struct sc_sparse_variant *v;
    int64_t at[SC_DEVICES_MAX + 1], segment;
    int64_t home[SC_DEVICES_MAX + 1]; /* boundaries of x, if x is distributed as vectors are */
    int devices, capacity;
    const struct sc_sparse_arrays *arrays; /* source of a CSR without columns, or NULL */
    /* For a CSR without columns: the range from the first to the last column of every sector of y. */
    struct sc_sparse_range *needs;
};

/* --- boundaries --------------------------------------------------------------------------------------------------- */

/* The row whose first entry is nearest to entry `at`. */
static int64_t row_at(const struct sc_sparse_csr *a, int64_t at)
{
    int64_t lo = 0, hi = a->rows;

    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;

        if (sc_sparse_first(a, middle) < at)
            lo = middle + 1;
        else
            hi = middle;
    }
    if (lo > 0 && at - sc_sparse_first(a, lo - 1) < sc_sparse_first(a, lo) - at)
        lo--;
    return lo;
}

static int64_t most_entries(const struct sc_sparse_csr *a, const int64_t *at, int devices)
{
    int64_t most = 0;

    for (int d = 0; d < devices; d++) {
        int64_t n = sc_sparse_first(a, at[d + 1]) - sc_sparse_first(a, at[d]);

        most = n > most ? n : most;
    }
    return most;
}

static bool is_even(const struct sc_sparse_csr *a, const int64_t *at, int devices, int64_t entries)
{
    return (double)most_entries(a, at, devices) <= (1 + UNEVEN) * (double)entries / devices;
}

/* The first element of device d in a distributed vector (rule D3 of the directory). */
static int64_t vector_cut(int64_t n, int64_t segment, int devices, int d)
{
    int64_t segments = (n + segment - 1) / segment, at = (d * segments + devices - 1) / devices * segment;

    return at < n ? at : n;
}

/* The first row that needs column `column` or later, if columns ascend with the rows; otherwise some row. */
static int64_t row_of(const struct sc_sparse_csr *a, int64_t column)
{
    int64_t lo = 0, hi = a->rows;

    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2, entry = sc_sparse_first(a, middle);

        if (entry < sc_sparse_first(a, a->rows) && sc_sparse_at(a->index, a->index_bytes, entry) - a->base < column)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* A matrix that selects few elements of a long x, for example those that other processes need.  The rows go to the
 * devices that have the elements. */
static bool selects(const struct sc_sparse_csr *a, int64_t entries)
{
    return a->index && entries <= a->rows && a->rows < a->cols;
}

/* Sets at[d] to the first row of device d.  A matrix that selects is divided as x is.  Otherwise, first choice: the
 * boundaries of distributed vectors (rule D3 of the directory), if even enough, or if the entries are fewer than the
 * elements of y.  Second choice: other multiples of `segment`.  Last: any row. */
static void boundaries(const struct splitter *s, int64_t *at)
{
    const struct sc_sparse_csr *a = &s->v->csr;
    const int devices = s->devices;
    int64_t first = sc_sparse_first(a, 0), entries = sc_sparse_first(a, a->rows) - first, segment = s->segment;
    int64_t exact[SC_DEVICES_MAX + 1];

    for (int d = 0; d <= devices; d++)
        at[d] = vector_cut(a->rows, segment, devices, d);
    if (selects(a, entries)) {
        for (int d = 1; d < devices; d++) {
            at[d] = row_of(a, s->home[d]);
            at[d] = at[d] > at[d - 1] ? at[d] : at[d - 1];
        }
        return;
    }
    if (entries < a->rows || is_even(a, at, devices, entries))
        return;
    for (int d = 1; d < devices; d++) {
        exact[d] = row_at(a, first + (int64_t)((double)entries * d / devices));
        at[d] = (exact[d] + segment / 2) / segment * segment;
        at[d] = at[d] < a->rows ? at[d] : a->rows;
    }
    if (!is_even(a, at, devices, entries))
        memcpy(at + 1, exact + 1, sizeof *at * (size_t)(devices - 1));
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

/* The device with most rows of the sector that contains `row`. */
static int owner_of(const struct splitter *s, int64_t row)
{
    int64_t lo = row / s->segment * s->segment, hi = lo + s->segment, most = -1;
    int owner = 0;

    for (int d = 0; d < s->devices; d++) {
        int64_t from = s->at[d] > lo ? s->at[d] : lo, to = s->at[d + 1] < hi ? s->at[d + 1] : hi;

        if (to - from > most) {
            most = to - from;
            owner = d;
        }
    }
    return owner;
}

static bool add_part(struct splitter *s, int device, int64_t row, int64_t end)
{
    struct sc_sparse_variant *v = s->v;
    const struct sc_sparse_csr *a = &v->csr;

    if (v->parts == s->capacity) {
        int capacity = s->capacity ? 2 * s->capacity : 8;
        struct sc_sparse_part *grown = realloc(v->part, (size_t)capacity * sizeof *grown);

        if (!grown)
            return false;
        v->part = grown;
        s->capacity = capacity;
    }
    v->part[v->parts++] = (struct sc_sparse_part){
        .device = device, .owner = owner_of(s, row), .row = row, .rows = end - row, .first = sc_sparse_first(a, row),
        .entries = sc_sparse_first(a, end) - sc_sparse_first(a, row)};
    v->part[v->parts - 1].room = v->part[v->parts - 1].entries;
    v->part[v->parts - 1].stale = sc_sparse_no_range;
    return true;
}

static uint64_t bytes_of(const struct sc_sparse_csr *a, int64_t row, int64_t end)
{
    uint64_t entries = (uint64_t)(sc_sparse_first(a, end) - sc_sparse_first(a, row));

    return entries * (sc_type_bytes(a->type) + (size_t)a->index_bytes) + (uint64_t)(end - row) * (size_t)a->index_bytes;
}

/* Divides rows [row, end) of a device into parts of at most `limit` bytes, at sectors of y if possible. */
static bool add_run(struct splitter *s, int device, int64_t row, int64_t end, uint64_t limit)
{
    const struct sc_sparse_csr *a = &s->v->csr;

    while (row < end) {
        int64_t good = row + 1, bad = end + 1;

        while (bad - good > 1) {
            int64_t middle = good + (bad - good) / 2;

            if (bytes_of(a, row, middle) <= limit && sc_sparse_first(a, middle) - sc_sparse_first(a,
                                                                                                  row) <= ENTRIES_MAX)
                good = middle;
            else
                bad = middle;
        }
        if (good < end && good / s->segment * s->segment > row)
            good = good / s->segment * s->segment;
        if (!add_part(s, device, row, good))
            return false;
        row = good;
    }
    return true;
}

/* Matrices are cut into tiles at the boundaries of distributed vectors.  A part crosses such a boundary only by one
 * sector or less, and by few of the device's rows, at most 1 in SLIVER. */
#define SLIVER 8
static bool add_pieces(struct splitter *s, int device, int64_t row, int64_t end, uint64_t limit)
{
    int64_t few = (s->at[device + 1] - s->at[device]) / SLIVER;
    bool good = true;

    few = few < s->segment ? few : s->segment;
    for (int d = 1; d < s->devices && good; d++) {
        int64_t at = vector_cut(s->v->csr.rows, s->segment, s->devices, d);

        if (at - row > few && end - at > few) {
            good = add_run(s, device, row, at, limit);
            row = at;
        }
    }
    return good && add_run(s, device, row, end, limit);
}

static void note_need(void *context, int64_t row, int64_t col, int64_t at)
{
    const struct splitter *s = context;

    (void)at;
    sc_sparse_widen(&s->needs[row / s->segment], col);
}

static bool find_needs(struct splitter *s)
{
    int64_t sectors = (s->v->csr.rows + s->segment - 1) / s->segment;

    if (!s->arrays || s->devices == 1)
        return true;
    s->needs = malloc((size_t)(sectors + 1) * sizeof *s->needs);
    for (int64_t i = 0; s->needs && i < sectors; i++)
        s->needs[i] = sc_sparse_no_range;
    if (s->needs)
        sc_sparse_walk(s->arrays, &s->v->use, NULL, note_need, s);
    return s->needs != NULL;
}

/* Whether the columns of rows [row, end), all in one sector, lie in the device's own range of x. */
static bool is_at_home(const struct splitter *s, int d, int64_t row, int64_t end)
{
    const struct sc_sparse_csr *a = &s->v->csr;

    if (s->needs) {
        const struct sc_sparse_range *r = &s->needs[row / s->segment];

        return r->first >= r->end || (r->first >= s->home[d] && r->end <= s->home[d + 1]);
    }
    for (int64_t e = sc_sparse_first(a, row); e < sc_sparse_first(a, end); e++) {
        int64_t column = sc_sparse_at(a->index, a->index_bytes, e) - a->base;

        if (column < s->home[d] || column >= s->home[d + 1])
            return false;
    }
    return true;
}

/* At most 1/4 of a device's rows at either end become separate parts; if more rows need other devices' x, none do. */
#define ENDS 4

/* Sets [*from, *to) to the sectors of [low, high) without those at either end that need other devices' x.  Inner
 * sectors are not examined, because a wrong guess affects speed only. */
static void inner(const struct splitter *s, int d, int64_t low, int64_t high, int64_t *from, int64_t *to)
{
    int64_t most = (high - low) / ENDS;

    *from = low;
    *to = high;
    if (s->devices == 1)
        return;
    while (*from - low <= most && *from + s->segment <= high && !is_at_home(s, d, *from, *from + s->segment))
        *from += s->segment;
    while (high - *to <= most && *to > *from && !is_at_home(s, d, (*to - 1) / s->segment * s->segment, *to))
        *to = (*to - 1) / s->segment * s->segment;
    if (*from - low > most || high - *to > most || *to <= *from) {
        *from = low;
        *to = high;
    }
}

/* Adds the parts of a device; rows in sectors shared with other devices are separate. */
static bool add_device(struct splitter *s, int d)
{
    uint64_t limit = sc_coherence_device_properties(d)->memory / (s->v->use.whole ? WHOLE_SHARE : MEMORY_SHARE);
    int64_t lo = s->at[d], hi = s->at[d + 1], low = lo, high = hi, from, to;

    if (lo % s->segment) {
        low = (lo / s->segment + 1) * s->segment;
        low = low < hi ? low : hi;
    }
    if (hi % s->segment && hi < s->v->csr.rows && hi / s->segment * s->segment > low)
        high = hi / s->segment * s->segment;
    inner(s, d, low, high, &from, &to);
    return add_pieces(s, d, lo, low, limit) && add_pieces(s, d, low, from, limit) &&
           add_pieces(s, d, from, to, limit) && add_pieces(s, d, to, high, limit) && add_pieces(s, d, high, hi, limit);
}

/* --- needed columns of x ------------------------------------------------------------------------------------------ */

/* Marks the blocks of columns of entries [first, first + n). */
static void mark_blocks(const struct sc_sparse_csr *a, int64_t first, int64_t n, uint64_t *blocks)
{
    for (int64_t e = first; e < first + n; e++) {
        int64_t b = (sc_sparse_at(a->index, a->index_bytes, e) - a->base) / BLOCK;

        blocks[b / 64] |= UINT64_C(1) << b % 64;
    }
}

/* Collects runs of marked blocks, bridging gaps of at most `gap` blocks; returns their number, at most limit + 1. */
static int runs(const uint64_t *blocks, int64_t n, int64_t gap, struct sc_sparse_range *out, int limit)
{
    int count = 0;

    for (int64_t b = 0; b < n; b++) {
        if (!blocks[b / 64]) {
            b |= 63;
            continue;
        }
        if (!(blocks[b / 64] >> b % 64 & 1))
            continue;
        if (count && b - out[count - 1].end <= gap) {
            out[count - 1].end = b + 1;
            continue;
        }
        if (count == limit)
            return limit + 1;
        out[count++] = (struct sc_sparse_range){b, b + 1};
    }
    return count;
}

/* Words in a set of blocks. */
static size_t words_of(const struct sc_sparse_csr *a)
{
    return (size_t)a->cols / BLOCK / 64 + 2;
}

static bool make_ranges(const struct sc_sparse_csr *a, struct sc_sparse_part *p, const uint64_t *blocks)
{
    int64_t n = (a->cols + BLOCK - 1) / BLOCK;
    struct sc_sparse_range found[RANGES_MAX];

    for (int64_t gap = 4;; gap *= 2) {
        p->ranges = runs(blocks, n, gap, found, RANGES_MAX);
        if (p->ranges <= RANGES_MAX)
            break;
    }
    p->x = malloc((size_t)(p->ranges + 1) * sizeof *p->x);
    for (int i = 0; p->x && i < p->ranges; i++)
        p->x[i] = (struct sc_sparse_range){found[i].first * BLOCK,
                                           found[i].end * BLOCK < a->cols ? found[i].end * BLOCK : a->cols};
    return p->x != NULL;
}

/* A single device needs no analysis: it gets all of x. */
static bool all_of_x(const struct sc_sparse_csr *a, struct sc_sparse_part *p)
{
    p->ranges = p->entries > 0;
    p->x = malloc(sizeof *p->x);
    if (p->x)
        *p->x = (struct sc_sparse_range){0, a->cols};
    return p->x != NULL;
}

static bool find_ranges(const struct splitter *s)
{
    struct sc_sparse_variant *v = s->v;
    uint64_t *blocks = malloc(words_of(&v->csr) * sizeof *blocks);
    bool good = blocks != NULL;

    for (int i = 0; i < v->parts && good; i++) {
        if (s->devices > 1) {
            memset(blocks, 0, words_of(&v->csr) * sizeof *blocks);
            mark_blocks(&v->csr, v->part[i].first, v->part[i].entries, blocks);
            good = make_ranges(&v->csr, &v->part[i], blocks);
        } else {
            good = all_of_x(&v->csr, &v->part[i]);
        }
    }
    free(blocks);
    return good;
}

/* --- the same for arrays in another format, in one walk ----------------------------------------------------------- */

struct survey {
    struct sc_sparse_variant *v;
    uint64_t *blocks; /* one set per part, or NULL */
    int part;         /* part of the previous row */
};

int sc_sparse_part_of(const struct sc_sparse_variant *v, int64_t row, int near)
{
    const struct sc_sparse_part *p = &v->part[near];
    int low = 0, high = v->parts;

    if (row >= p->row && row < p->row + p->rows)
        return near;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;

        if (v->part[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void note_part(void *context, int64_t row, int64_t col, int64_t at)
{
    struct survey *w = context;

    w->part = sc_sparse_part_of(w->v, row, w->part);
    if (at >= 0)
        sc_sparse_widen(&w->v->part[w->part].source, at);
    if (w->blocks)
        w->blocks[(size_t)w->part * words_of(&w->v->csr) + (size_t)(col / BLOCK / 64)] |=
            UINT64_C(1) << col / BLOCK % 64;
}

/* Finds the ranges of x of every part, and the positions of its stored entries. */
static bool survey(const struct splitter *s)
{
    struct sc_sparse_variant *v = s->v;
    struct survey w = {.v = v};
    bool good = true;

    if (s->devices > 1) {
        w.blocks = calloc((size_t)v->parts + 1, words_of(&v->csr) * sizeof *w.blocks);
        good = w.blocks != NULL;
    }
    for (int i = 0; i < v->parts; i++)
        v->part[i].source = sc_sparse_no_range;
    if (good && v->parts > 0)
        sc_sparse_walk(s->arrays, &v->use, NULL, note_part, &w);
    for (int i = 0; i < v->parts && good; i++) {
        if (v->part[i].source.first > v->part[i].source.end)
            v->part[i].source = (struct sc_sparse_range){0, 0};
        good = w.blocks ? make_ranges(&v->csr, &v->part[i], w.blocks + (size_t)i * words_of(&v->csr))
                        : all_of_x(&v->csr, &v->part[i]);
    }
    free(w.blocks);
    return good;
}

/* --- order of execution ------------------------------------------------------------------------------------------- */

static bool waits(const struct splitter *s, const struct sc_sparse_part *p)
{
    return p->ranges && (p->x[0].first < s->home[p->device] || p->x[p->ranges - 1].end > s->home[p->device + 1]);
}

/* Parts without columns of another device's x run first: devices then compute during the transfers. */
static bool set_order(const struct splitter *s)
{
    struct sc_sparse_variant *v = s->v;
    int n = 0;

    v->order = malloc((size_t)(v->parts + 1) * sizeof *v->order);
    for (int waiting = 0; waiting < 2 && v->order; waiting++)
        for (int i = 0; i < v->parts; i++)
            if (waits(s, &v->part[i]) == waiting)
                v->order[n++] = i;
    return v->order != NULL;
}

enum sc_status sc_sparse_split(struct sc_sparse_variant *v, const struct sc_sparse_arrays *arrays, int devices)
{
    struct splitter s = {.v = v, .devices = devices, .segment = sc_coherence_segment(v->csr.rows, v->csr.type),
                         .arrays = v->csr.index ? NULL : arrays};
    int64_t of_x = sc_coherence_segment(v->csr.cols, v->csr.type);
    bool good;

    v->devices = devices;
    v->entries = v->csr.rows ? sc_sparse_first(&v->csr, v->csr.rows) - sc_sparse_first(&v->csr, 0) : 0;
    for (int d = 0; d <= devices; d++)
        s.home[d] = vector_cut(v->csr.cols, of_x, devices, d);
    good = find_needs(&s);
    if (v->csr.rows)
        boundaries(&s, s.at);
    for (int d = 0; d < devices && good && v->csr.rows; d++)
        good = add_device(&s, d);
    good = good && (s.arrays && (devices > 1 || v->parts > 1) ? survey(&s) : find_ranges(&s)) && set_order(&s);
    free(s.needs);
    return good ? SC_OK : SC_ERR_MEMORY;
}
/* SPDX-License-Identifier: BSD-2-Clause */
