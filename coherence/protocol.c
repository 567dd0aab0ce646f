/* The protocol: states, and the functions that assign states.
 *
 * A sector (a strip of columns of a tile) is valid at some locations: the host, devices.  The states are those of MSI,
 * seen from the host:
 *   C   valid on the host alone (modified or exclusive on the CPU)
 *   S   valid on the host and on devices
 *   G   valid on devices alone
 * On the host, the sectors of a column strip over all tile rows share pages and protection.  Together they are a global
 * sector, with three further states:
 *   open[g]   all its sectors are valid on the host and have landed: pages R (some device has a copy) or RW (no copy)
 *   home[p]   not open, but this matrix's bytes on page p are home: page R (partly home, by read faults)
 *   neither   pages closed
 *
 * Invariants (SEMCACHE_CHECK=1: check.c checks them where states have changed, and elsewhere in turn):
 *   C1  Every sector is valid somewhere.
 *   C2  A written sector is valid at the writer only: a device's write invalidates the host and the other devices, the
 *       host's write invalidates the devices.
 *   C3  A page is writable only if every sector on it is open and no device has a copy.  A page is readable only if
 *       every sector on it is open, or the page is home for it.  On shared pages the strictest protection wins.
 *   C4  Only assign() below assigns validity, and traces the assignment.
 *   C5  A copy is used only after its `ready` (host: `landed`) fence.  A host sector is closed for writing before its
 *       upload is enqueued, and opened for writing after the last upload that reads it.  Memory is reused after the
 *       fences of its readers.
 *   C6  No thread touches user memory with the lock held, nor without having acquired the memory.
 *   C7  A scalar result is read after its fence.
 *   C8  Before memory goes away, its matrices are removed (host/malloc.c calls forget).
 *   C9  The source sectors of a derived copy are linked (derived.c): closed for writing as if a device had a copy.  A
 *       write to a linked sector ends the link and is noted as a change.
 *   C10 A sector that is not noted as closed (m->closed, directory/noted.c) has open pages, except pages shared with a
 *       noted sector.  A sector is noted before its pages are closed, and until all its pages have been opened.
 *   C11 A device's copy of a sector may be partial: current in a range of rows (sc_copy_rows).  The host's bytes of the
 *       remaining rows are current, also in state G.  A copy home brings the device's rows.  A task on further rows
 *       completes the copy first (sc_transfer_rest).
 *
 *   event                        C              S                       G
 *   device reads (shared)        S, pages R     S                       G (copied from a device)
 *   device writes (written)      G, closed      G, others invalid       G, others invalid
 *   host reads                   -              -                       S when all is home; else partly home
 *   host writes (host_writes)    -              C after its uploads     C after landing
 *   eviction (dropped)           -              S or C                  G, or S/C after writing back
 *   a device is lost (lost)      -              S or C                  G with another copy, else C and reported
 */
#include "coherence/protocol.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#ifdef SC_TEST_PLANT /* bugs for verification to find: tests/verify_planted.c */
extern int sc_test_plant; /* number of the invalidation that is left out, with its pages as after an invalidation */
extern struct sc_tile *sc_test_planted_tile; /* whose */
static uint64_t planted;

static bool forgets(struct sc_tile *t, uint64_t sectors)
{
    if (!sc_test_plant || --sc_test_plant)
        return false;
    sc_test_planted_tile = t;
    planted = sectors;
    return true;
}
#endif

#define SLICE_PAGES 65536 /* pages painted at a time: 256 MiB */

static uint64_t devices_valid(const struct sc_tile *t)
{
    uint64_t any = 0;

    for (int d = 0; d < sc_protocol.devices; d++)
        any |= t->copy[d].valid;
    return any;
}

static void msi_masks(const struct sc_tile *t, uint64_t masks[3])
{
    uint64_t any = devices_valid(t);

    masks[SC_MSI_C] = t->host_valid & ~any;
    masks[SC_MSI_S] = t->host_valid & any;
    masks[SC_MSI_G] = ~t->host_valid;
}

#ifdef SC_TEST_PLANT
#define assert_left(condition) ((void)sizeof(condition)) /* planted bugs leave other states */
#else
#define assert_left(condition) sc_assert(condition)
#endif

/* Asserted: the sectors are valid on the device and on no other location (C2). */
static bool is_alone(const struct sc_tile *t, int device, uint64_t sectors)
{
    uint64_t elsewhere = t->host_valid;

    for (int d = 0; d < sc_protocol.devices; d++)
        elsewhere |= d != device ? t->copy[d].valid : 0;
    return !(sectors & (elsewhere | ~t->copy[device].valid));
}

/* Asserted: every sector is valid on some location (C1). */
static bool is_somewhere(const struct sc_tile *t, uint64_t sectors)
{
    return !(sectors & ~(t->host_valid | devices_valid(t)));
}

static int global_sector(const struct sc_matrix *m, const struct sc_tile *t, int s)
{
    return (int)(sc_matrix_tile_index(m, t) / (uint32_t)m->row_parts) * SC_SECTORS + s;
}

/* Asserted: no sector asks for writable pages (C3, C5). */
static bool is_closed_for_writing(const struct sc_matrix *m, const struct sc_tile *t, uint64_t sectors)
{
    for (uint64_t rest = sectors; rest; rest &= rest - 1)
        if (m->painted[global_sector(m, t, __builtin_ctzll(rest))] == SC_PROT_RW)
            return false;
    return true;
}

/* Asserted: the host has the whole global sector. */
static bool is_home(const struct sc_matrix *m, int g)
{
    for (int i = 0; i < m->row_parts; i++)
        if (!(sc_matrix_tile(m, i, g / SC_SECTORS)->host_valid >> g % SC_SECTORS & 1))
            return false;
    return true;
}

/* Calls `use` with the bytes on the host of a tile's sectors, a run at a time. */
static void each_run(const struct sc_matrix *m, const struct sc_tile *t, uint64_t sectors,
                     void (*use)(uintptr_t lo, uintptr_t hi))
{
    while (sectors) {
        int s = __builtin_ctzll(sectors), e = s;
        uintptr_t lo, hi, none;

        while (e < 64 && sectors >> e & 1)
            e++;
        sectors &= ~sc_sectors_range(s, e);
        if (sc_matrix_sector_range(m, global_sector(m, t, s), &lo, &none) &&
            sc_matrix_sector_range(m, global_sector(m, t, e - 1), &none, &hi))
            use(lo, hi);
    }
}

static void paint_sectors(struct sc_matrix *m, const struct sc_tile *t, uint64_t sectors)
{
    each_run(m, t, sectors, sc_protocol_paint);
}

/* The protection that a sector requires.  A sector may be uploading without a copy on a device: evicted while
 * kernels wait for the upload (C5). */
static enum sc_prot sector_prot(const struct sc_matrix *m, int g)
{
    if (!m->open[g] || m->lending)
        return SC_PROT_NONE;
    return sc_protocol_device_has(m, g) || sc_protocol_uploading(m, g) ? SC_PROT_R : SC_PROT_RW;
}

/* Sectors of a tile column, by the protection that they require. */
struct required {
    uint64_t closed; /* another than read and write */
    uint64_t none;   /* of these, neither */
};

static void require(struct required *r, int g, enum sc_prot prot)
{
    r->closed |= (uint64_t)(prot != SC_PROT_RW) << g % SC_SECTORS;
    r->none |= (uint64_t)(prot == SC_PROT_NONE) << g % SC_SECTORS;
}

/* Notes sectors as closed, before their pages are closed (C10). */
static void note_closed(struct sc_matrix *m, int j, const struct required *r)
{
    if (r->closed)
        sc_closed_set(m, j, r->closed, r->none | m->closed[SC_CLOSED_READ].sectors[j], r->closed);
}

/* The pages of the sector have the protection already, or a stricter one. */
static bool is_closed(struct sc_matrix *m, int g, enum sc_prot prot)
{
    uintptr_t lo, hi;

    if (prot == SC_PROT_RW || !sc_matrix_sector_range(m, g, &lo, &hi) || !sc_host_is_closed(lo, hi, prot))
        return false;
    m->painted[g] = m->painted[g] > prot ? m->painted[g] : (uint8_t)prot;
    return true;
}

/* The sectors with pages that are not closed as required.  All tiles of a column share its pages: the first tile closes
 * the pages, and painting them for each further tile would take as long as the first time. */
static uint64_t not_closed(struct sc_matrix *m, const struct sc_tile *t, uint64_t sectors)
{
    struct required found = {0, 0};
    uint64_t left = 0;

    for (uint64_t rest = sectors; rest; rest &= rest - 1) {
        int g = global_sector(m, t, __builtin_ctzll(rest));
        enum sc_prot prot = sector_prot(m, g);

        if (is_closed(m, g, prot))
            require(&found, g, prot);
        else
            left |= rest & -rest;
    }
    if (sectors)
        note_closed(m, global_sector(m, t, 0) / SC_SECTORS, &found);
    return left;
}

/* Lent blocks are looked at again. */
static void moved(struct sc_matrix *m)
{
    __atomic_store_n(&sc_protocol.moves, sc_protocol.moves + 1, __ATOMIC_RELAXED);
    m->lent = 0;
}

/* Assigns the validity of sectors at a location (C4).  Returns the changed sectors. */
static uint64_t assign(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors, bool valid)
{
    uint64_t *word = device == SC_HOST ? &t->host_valid : &t->copy[device].valid;
    uint64_t changed = (valid ? ~*word : *word) & sectors, before[3], after[3];

    if (!changed)
        return 0;
    moved(m);
#ifdef SC_TEST_PLANT
    if (!valid && forgets(t, changed))
        return 0;
#endif
    if (device != SC_HOST && !valid)
        t->copy[device].partial &= ~changed;
    if (sc_protocol.notes)
        each_run(m, t, changed, sc_check_touched);
    if (!sc_trace_on) {
        *word ^= changed;
        return changed;
    }
    msi_masks(t, before);
    *word ^= changed;
    msi_masks(t, after);
    for (int o = 0; o < 3; o++)
        for (int n = 0; n < 3; n++)
            if (before[o] & after[n] & changed)
                sc_trace(.kind = SC_EVENT_STATE, .matrix = m->id, .tile = sc_matrix_tile_index(m, t),
                         .sectors = before[o] & after[n] & changed, .device = (int16_t)device, .peer = valid,
                         .old_state = (uint8_t)o, .new_state = (uint8_t)n);
    return changed;
}

static uintptr_t first_page(const struct sc_matrix *m)
{
    return sc_page_floor(m->base);
}

bool sc_protocol_page_is_home(const struct sc_matrix *m, uintptr_t page)
{
    size_t p = (page - first_page(m)) >> SC_PAGE_SHIFT;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(!(page % SC_PAGE));
    return p < m->pages && m->home[p / 64] >> p % 64 & 1;
}

/* True when the state of a page changed. */
static bool set_pages(struct sc_matrix *m, uintptr_t lo, uintptr_t hi, bool home)
{
    size_t a = lo <= first_page(m) ? 0 : (lo - first_page(m)) >> SC_PAGE_SHIFT;
    size_t b = sc_page_ceil(hi - first_page(m)) >> SC_PAGE_SHIFT, before = m->home_count;

    b = b < m->pages ? b : m->pages;
    for (size_t w = a / 64; w * 64 < b; w++) {
        uint64_t *word = &m->home[w], mask = ~UINT64_C(0);
        size_t n;

        if (w == a / 64)
            mask &= ~UINT64_C(0) << a % 64;
        if (b - w * 64 < 64)
            mask &= sc_sectors_all((int)(b - w * 64));
        mask &= home ? ~*word : *word;
        n = (size_t)__builtin_popcountll(mask);
        *word ^= mask;
        m->home_count = home ? m->home_count + n : m->home_count - n;
    }
    return m->home_count != before;
}

/* Closes sectors that the host has lost.  Returns the sectors whose pages may have been open. */
static uint64_t close_sectors(struct sc_matrix *m, const struct sc_tile *t, uint64_t sectors)
{
    uint64_t closed = 0;

    for (uint64_t rest = sectors; rest; rest &= rest - 1) {
        int s = __builtin_ctzll(rest), g = global_sector(m, t, s);
        uintptr_t lo, hi;

        if (!m->open[g] && !m->home_count && !sc_partial_any())
            continue; /* the steady state */
        if (m->open[g])
            closed |= UINT64_C(1) << s;
        m->open[g] = 0;
        if (!sc_matrix_sector_range(m, g, &lo, &hi))
            continue;
        sc_partial_cancel(m, lo, hi);
        if (m->home_count && set_pages(m, lo, hi, false))
            closed |= UINT64_C(1) << s;
    }
    return closed;
}

void sc_protocol_shared(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors)
{
    uint64_t alone = sectors & ~devices_valid(t);

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_sectors(t, sectors);
    sc_assert(!sectors || t->copy[device].memory);
    sc_assert(is_somewhere(t, sectors));
    assign(m, t, device, sectors, true);
    alone = not_closed(m, t, alone);
    if (alone)
        paint_sectors(m, t, alone);
    sc_assert(!(sectors & ~t->copy[device].valid));
    assert_left(is_closed_for_writing(m, t, sectors));
}

bool sc_protocol_may_be_partial(struct sc_tile *t, int device)
{
    struct sc_copy *c = &t->copy[device];

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    if (!c->rows)
        c->rows = calloc((size_t)t->sectors, sizeof *c->rows);
    return c->rows != NULL;
}

void sc_protocol_partial(struct sc_tile *t, int device, uint64_t sectors, struct sc_rows rows)
{
    struct sc_copy *c = &t->copy[device];

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(rows.from < rows.end && sc_rows_have(sc_tile_rows(t), rows));
    if (sc_rows_equal(rows, sc_tile_rows(t)))
        return;
    sc_assert(c->rows && !(sectors & ~(c->valid & t->host_valid)));
    c->partial |= sectors;
    for (uint64_t rest = sectors; rest; rest &= rest - 1)
        c->rows[__builtin_ctzll(rest)] = rows;
}

void sc_protocol_completed(struct sc_tile *t, int device, uint64_t sectors)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(!(sectors & ~t->copy[device].valid));
    t->copy[device].partial &= ~sectors;
}

/* Ends the links of written sectors (C9). */
static void unlink_sectors(struct sc_matrix *m, struct sc_tile *t, uint64_t sectors)
{
    for (uint64_t rest = t->linked & sectors; rest; rest &= rest - 1)
        m->links.changed[global_sector(m, t, __builtin_ctzll(rest))] = m->links.newest = ++sc_protocol.changes;
    t->linked &= ~sectors;
}

void sc_protocol_linked(struct sc_matrix *m, struct sc_tile *t, uint64_t sectors)
{
    uint64_t fresh = sectors & ~t->linked & ~devices_valid(t);

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_sectors(t, sectors);
    sc_assert(m->links.changed);
    sc_assert(is_somewhere(t, sectors));
    if (sectors & ~t->linked)
        moved(m);
    t->linked |= sectors;
    fresh = not_closed(m, t, fresh);
    if (fresh)
        paint_sectors(m, t, fresh);
    assert_left(is_closed_for_writing(m, t, sectors));
}

void sc_protocol_written(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors)
{
    uint64_t lost, closed;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_sectors(t, sectors);
    sc_assert(t->copy[device].memory);
    sc_assert(is_somewhere(t, sectors));
    if (t->linked & sectors)
        unlink_sectors(m, t, sectors);

    sc_push_written(m, t, device, sectors);
    assign(m, t, device, sectors, true);
    for (int d = 0; d < sc_protocol.devices; d++)
        if (d != device && (lost = assign(m, t, d, sectors, false)) && sc_protocol.check)
            sc_check_scribble(m, t, d, lost);
    lost = assign(m, t, SC_HOST, sectors, false);
    /* Windows in flight bring old data even where the host had nothing. */
    closed = close_sectors(m, t, sectors);
    lost = closed | not_closed(m, t, lost);
    if (lost)
        paint_sectors(m, t, lost);
    assert_left(is_alone(t, device, sectors));
    assert_left(is_closed_for_writing(m, t, sectors));
    sc_assert(!(t->linked & sectors));
}

void sc_protocol_dropped(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors)
{
    uint64_t changed = assign(m, t, device, sectors, false) & ~devices_valid(t) & t->host_valid;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_sectors(t, sectors);
    changed = not_closed(m, t, changed); /* another tile of the column may keep the pages closed */
    if (changed)
        paint_sectors(m, t, changed);
    assert_left(!(t->copy[device].valid & sectors));
}

uint64_t sc_protocol_lost(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t missing)
{
    uint64_t only = (t->copy[device].valid & ~t->host_valid) | missing;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_sectors(t, missing);
    sc_assert(sc_protocol.lost[device]);
    if (only)
        sc_trace(.kind = SC_EVENT_LOST, .matrix = m->id, .tile = sc_matrix_tile_index(m, t), .sectors = only,
                 .device = (int16_t)device);
    assign(m, t, SC_HOST, missing, false);
    assign(m, t, device, t->copy[device].valid, false);
    only &= ~devices_valid(t);
    for (uint64_t rest = only | missing; rest; rest &= rest - 1)
        t->landed[__builtin_ctzll(rest)] = SC_FENCE_NONE;
    assign(m, t, SC_HOST, only, true);
    paint_sectors(m, t, sc_sectors_all(t->sectors)); /* pages shared with the device's copies open again */
    assert_left(!t->copy[device].valid);
    sc_assert(is_somewhere(t, sc_sectors_all(t->sectors)));
    return only;
}

void sc_protocol_home(struct sc_matrix *m, struct sc_tile *t, uint64_t sectors)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_sectors(t, sectors);
    assign(m, t, SC_HOST, sectors, true);
    sc_assert(!(sectors & ~t->host_valid));
}

void sc_protocol_open(struct sc_matrix *m, int g)
{
    uintptr_t lo, hi;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_global(m, g);
    sc_assert(is_home(m, g));
    moved(m);
    m->push.opened += !m->open[g];
    m->open[g] = 1;
    if (sc_protocol.notes && sc_matrix_sector_range(m, g, &lo, &hi))
        sc_check_touched(lo, hi);
    sc_assert(m->open[g]);
}

void sc_protocol_host_writes(struct sc_matrix *m, int g)
{
    uint64_t bit = UINT64_C(1) << g % SC_SECTORS;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_global(m, g);
    for (int i = 0; i < m->row_parts; i++) {
        struct sc_tile *t = sc_matrix_tile(m, i, g / SC_SECTORS);

        assign(m, t, SC_HOST, bit, true);
        if (t->linked & bit)
            unlink_sectors(m, t, bit);
        for (int d = 0; d < sc_protocol.devices; d++)
            if (assign(m, t, d, bit, false) && sc_protocol.check)
                sc_check_scribble(m, t, d, bit);
    }
    m->open[g] = 1;
    sc_assert(is_home(m, g));
    assert_left(!sc_protocol_device_has(m, g));
}

/* With all pages of a sector home, the whole sector becomes valid on the host. */
static void promote(struct sc_matrix *m, int g)
{
    uintptr_t lo, hi;

    if (m->open[g] || !sc_matrix_sector_range(m, g, &lo, &hi))
        return;
    for (uintptr_t p = sc_page_floor(lo); p < hi; p += SC_PAGE)
        if (!sc_protocol_page_is_home(m, p))
            return;
    for (int i = 0; i < m->row_parts; i++) /* an eviction may be writing the same bytes back */
        if (!sc_reached(sc_matrix_tile(m, i, g / SC_SECTORS)->landed[g % SC_SECTORS]))
            return;
    for (int i = 0; i < m->row_parts; i++)
        sc_protocol_home(m, sc_matrix_tile(m, i, g / SC_SECTORS), UINT64_C(1) << g % SC_SECTORS);
    sc_protocol_open(m, g);
}

void sc_protocol_pages_home(struct sc_matrix *m, uintptr_t lo, uintptr_t hi)
{
    int first, end;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_pages(lo, hi);
    sc_assert(lo < sc_matrix_end(m) && m->base < hi);
    moved(m);
    set_pages(m, lo, hi, true);
    if (sc_matrix_sectors_at(m, lo, hi, &first, &end))
        for (int g = first; g < end; g++)
            promote(m, g);
    sc_protocol_paint(lo, hi);
}

/* --- painting ----------------------------------------------------------------------------------------------------- */

bool sc_protocol_device_has(const struct sc_matrix *m, int g)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_global(m, g);
    for (int i = 0; i < m->row_parts; i++) {
        const struct sc_tile *t = sc_matrix_tile((struct sc_matrix *)m, i, g / SC_SECTORS);

        if ((devices_valid(t) | t->linked) >> g % SC_SECTORS & 1)
            return true;
    }
    return false;
}

bool sc_protocol_uploading(const struct sc_matrix *m, int g)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_global(m, g);
    for (int i = 0; i < m->row_parts; i++)
        for (int d = 0; d < sc_protocol.devices; d++)
            if (!sc_reached(sc_matrix_tile(m, i, g / SC_SECTORS)->host_read[d]))
                return true;
    return false;
}

/* Merges the protection that a global sector requires into the pages from `first` on. */
static void merge_sector(const struct sc_matrix *m, int g, enum sc_prot prot, struct sc_range at, uintptr_t first,
                         size_t pages, uint8_t *want)
{
    size_t a = at.lo <= first ? 0 : (at.lo - first) >> SC_PAGE_SHIFT;
    size_t b = at.hi <= first ? 0 : (at.hi - 1 - first) / SC_PAGE + 1;

    b = b < pages ? b : pages;
    if (a >= b)
        return;
#ifdef SC_TEST_PLANT
    if (m->open[g] && sc_matrix_tile(m, 0, g / SC_SECTORS) == sc_test_planted_tile && planted >> g % SC_SECTORS & 1)
        return;
#endif
    if (m->open[g]) {
        if (prot != SC_PROT_RW)
            sc_bytes_at_least(want + a, b - a, prot);
        return;
    }
    if (!m->home_count) {
        memset(want + a, SC_PROT_NONE, b - a);
        return;
    }
    for (size_t p = a; p < b; p++)
        sc_bytes_at_least(want + p, 1, sc_protocol_page_is_home(m, first + p * SC_PAGE) ? SC_PROT_R : SC_PROT_NONE);
}

/* The end of tile column j, or `end`. */
static int column_end(int j, int end)
{
    int next = (j + 1) * SC_SECTORS;

    return next < end ? next : end;
}

/* Paints the sectors from g on, before `end` and in one tile column, on the pages from `first` on; notes sectors that
 * will be closed.  Returns the next sector. */
static int paint_column(struct sc_matrix *m, int g, int end, uintptr_t first, size_t pages, uint8_t *want)
{
    struct required column = {0, 0};
    int j = g / SC_SECTORS, stop = column_end(j, end);

    for (; g < stop; g++) {
        enum sc_prot prot = sector_prot(m, g);
        struct sc_range at;

        if (!sc_matrix_sector_range(m, g, &at.lo, &at.hi))
            continue;
        if (prot > m->painted[g] || sc_page_floor(at.lo) >= first)
            m->painted[g] = prot;
        require(&column, g, prot);
        if (!m->keep_open.calls)
            merge_sector(m, g, prot, at, first, pages, want);
    }
    note_closed(m, j, &column);
    return stop;
}

/* As they are: closing may have been refused. */
static void trace_pages(uintptr_t lo, uintptr_t hi)
{
    for (uintptr_t end; lo < hi; lo = end) {
        enum sc_prot prot = sc_host_prot(lo);

        for (end = lo + SC_PAGE; end < hi && sc_host_prot(end) == prot; end += SC_PAGE)
            ;
        sc_trace(.kind = SC_EVENT_PROTECT, .range = {.address = lo, .bytes = end - lo},
                 .protection = (uint8_t)prot);
    }
}

static bool paint_slice(uintptr_t lo, size_t pages)
{
    static uint8_t want[SLICE_PAGES]; /* under the lock */
    uintptr_t hi = lo + pages * SC_PAGE;
    enum sc_status status;
    size_t first;
    int n = sc_directory_find(lo, hi, &first);

    memset(want, SC_PROT_RW, pages);
    for (int i = 0; i < n; i++) {
        struct sc_matrix *m = sc_directory_at(first + (size_t)i);
        int g, end;

        if (sc_matrix_sectors_at(m, lo, hi, &g, &end))
            while (g < end)
                g = paint_column(m, g, end, lo, pages, want);
    }
    status = sc_host_protect(lo, pages, want);
    if (sc_trace_on)
        trace_pages(lo, hi);
    if (status == SC_OK)
        return true;
    if (sc_protocol.refusals < SC_REFUSED_MAX)
        sc_protocol.refused[sc_protocol.refusals] = (struct sc_range){lo, hi};
    sc_protocol.refusals++;
    return false;
}

/* After painting [lo, hi): notes which of the closed sectors from g on, before `end` and in one tile column, and wholly
 * inside the range, are open now.  Returns the next sector. */
static int note_column(struct sc_matrix *m, int g, int end, uintptr_t lo, uintptr_t hi)
{
    struct required column = {0, 0};
    int j = g / SC_SECTORS, stop = column_end(j, end);
    uint64_t within = 0;
    uintptr_t a, b;

    for (; (g = sc_closed_sector(m, g, stop, SC_CLOSED_WRITE)) < stop; g++)
        if (sc_matrix_sector_range(m, g, &a, &b) && sc_page_floor(a) >= lo && sc_page_ceil(b) <= hi) {
            within |= UINT64_C(1) << g % SC_SECTORS;
            require(&column, g, (enum sc_prot)m->painted[g]);
        }
    sc_closed_set(m, j, within, column.none, column.closed);
    return stop;
}

static void note_open(uintptr_t lo, uintptr_t hi)
{
    struct sc_matrix *m;
    int g, end;

    for (uintptr_t from = 0; (m = sc_noted_next(from, lo, hi, SC_CLOSED_WRITE)); from = m->base + 1)
        if (sc_matrix_sectors_at(m, lo, hi, &g, &end))
            while (g < end)
                g = note_column(m, g, end, lo, hi);
}

void sc_protocol_paint(uintptr_t lo, uintptr_t hi)
{
    uintptr_t begin = sc_page_floor(lo);
    bool done = true;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(lo < hi);
    if (sc_protocol.notes && lo < hi)
        sc_check_touched(lo, hi);
    hi = sc_page_ceil(hi);
    for (lo = begin; lo < hi;) {
        size_t pages = (hi - lo) >> SC_PAGE_SHIFT;

        pages = pages < SLICE_PAGES ? pages : SLICE_PAGES;
        done &= paint_slice(lo, pages);
        lo += pages * SC_PAGE;
    }
    if (done)
        note_open(begin, hi);
}
/* SPDX-License-Identifier: BSD-2-Clause */
