/* Acquiring ranges of host memory: sectors come home, pages open. */
#include "coherence/protocol.h"

#define PATIENCE 8 /* rounds; two or three are usual */

/* One round of an acquisition, under the lock.  waits: fences to wait for before the next round.  [lo, hi): bytes of
 * the sectors opened last, painted as a whole because the program will touch neighbouring pages. */
struct round {
    struct sc_fences waits;
    uintptr_t lo, hi;
};

static void paint_opened(const struct round *r)
{
    if (r->lo < r->hi)
        sc_protocol_paint(r->lo, r->hi);
}

/* Adjacent sectors are painted together; a gap starts a new range. */
static void opened(struct round *r, uintptr_t lo, uintptr_t hi)
{
    if (r->lo < r->hi && (lo > r->hi + SC_PAGE || hi + SC_PAGE < r->lo)) {
        paint_opened(r);
        r->lo = r->hi = 0;
    }
    if (r->lo == r->hi) {
        r->lo = lo;
        r->hi = hi;
    }
    r->lo = lo < r->lo ? lo : r->lo;
    r->hi = hi > r->hi ? hi : r->hi;
}

/* --- making sectors valid on the host ----------------------------------------------------------------------------- */

static bool valid_on_host(const struct sc_matrix *m, int g)
{
    for (int i = 0; i < m->row_parts; i++)
        if (!(sc_matrix_tile(m, i, g / SC_SECTORS)->host_valid >> g % SC_SECTORS & 1))
            return false;
    return true;
}

/* Brings all tiles of a global sector home.  True when the sector has landed. */
static bool bring_sector(struct sc_matrix *m, int g, struct sc_fences *w)
{
    bool landed = true;

    sc_assert_global(m, g);
    for (int i = 0; i < m->row_parts; i++) {
        struct sc_tile *t = sc_matrix_tile(m, i, g / SC_SECTORS);
        int s = g % SC_SECTORS;

        sc_transfer_to_host(m, t, UINT64_C(1) << s);
        if (!sc_landed(t->landed[s])) {
            sc_fences_add(w, t->landed[s]);
            landed = false;
        }
        if (!(t->host_valid >> s & 1)) /* the transfer failed, and another device has a copy */
            landed = false;
    }
    return landed;
}

/* As bring_sector for sectors [g, end) of a tile column together: fewer, larger transfers. */
static void start_sectors(struct sc_matrix *m, int g, int end)
{
    sc_assert(g < end && (end - 1) / SC_SECTORS == g / SC_SECTORS);
    for (int i = 0; i < m->row_parts; i++) {
        struct sc_tile *t = sc_matrix_tile(m, i, g / SC_SECTORS);

        sc_transfer_to_host(m, t, sc_sectors_range(g % SC_SECTORS, (end - 1) % SC_SECTORS + 1));
    }
}

/* No transfer touches the host's copy of the sector's tiles any more: neither uploads nor landings. */
static bool quiet(struct sc_matrix *m, int g, struct sc_fences *w)
{
    bool all = true;

    for (int i = 0; i < m->row_parts; i++) {
        const struct sc_tile *t = sc_matrix_tile(m, i, g / SC_SECTORS);

        for (int d = 0; d < sc_protocol.devices; d++) {
            struct sc_fence f[2] = {t->host_read[d], t->host_write[d]};

            for (int k = 0; k < 2; k++)
                if (!sc_reached(f[k])) {
                    sc_fences_add(w, f[k]);
                    all = false;
                }
        }
    }
    return all;
}

static bool is_whole(uintptr_t lo, uintptr_t hi, uintptr_t plo, uintptr_t phi)
{
    return plo <= lo && hi <= phi;
}

/* --- what is asked for -------------------------------------------------------------------------------------------- */

/* `columns` columns of `column` bytes, `step` bytes apart, from lo to hi; a byte range is a single column. */
struct request {
    uintptr_t lo, hi;
    size_t column, step;
    int64_t columns;
    enum sc_access access;
};

static struct request range_request(uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    sc_assert(lo < hi);
    return (struct request){.lo = lo, .hi = hi, .column = hi - lo, .step = hi - lo, .columns = 1, .access = access};
}

static enum sc_note kind_of(const struct request *q)
{
    return q->access & SC_WRITE ? SC_CLOSED_WRITE : SC_CLOSED_READ;
}

/* Bytes whose transfer costs as much as a separate piece: with more pieces than sector bytes / PIECE the whole
 * sector comes home. */
#define PIECE ((size_t)256 << 10)

/* The columns of a request that pages of a sector [lo, hi) hold bytes of: first to last; false: none. */
static bool columns_at(const struct request *q, uintptr_t lo, uintptr_t hi, int64_t *first, int64_t *last)
{
    lo = sc_page_floor(lo);
    hi = sc_page_ceil(hi);
    if (hi <= q->lo || lo >= q->hi)
        return false;
    *first = lo < q->lo + q->column ? 0 : (int64_t)((lo - q->lo - q->column) / q->step) + 1;
    *last = (int64_t)((hi - 1 - q->lo) / q->step);
    *last = *last < q->columns ? *last : q->columns - 1;
    return *first <= *last;
}

/* Columns first to last of a request in a sector [lo, hi).  True: the columns come in one piece, the pages [*plo,
 * *phi). */
static bool in_one(const struct request *q, uintptr_t lo, uintptr_t hi, int64_t first, int64_t last, uintptr_t *plo,
                   uintptr_t *phi)
{
    size_t gap = q->step - q->column;

    *plo = sc_page_floor(q->lo + (uintptr_t)first * q->step);
    *phi = sc_page_ceil(q->lo + (uintptr_t)last * q->step + q->column);
    if (first == last || gap < q->column || gap < 4 * SC_PAGE)
        return true;
    if ((size_t)(last - first + 1) < (hi - lo) / PIECE)
        return false;
    *plo = sc_page_floor(lo);
    *phi = sc_page_ceil(hi);
    return true;
}

/* A column of the request overwrites the whole sector [lo, hi). */
static bool is_overwritten(const struct request *q, uintptr_t lo, uintptr_t hi)
{
    uintptr_t column;

    if (q->access != SC_WRITE || lo < q->lo)
        return false;
    column = q->lo + (lo - q->lo) / q->step * q->step;
    return is_whole(lo, hi, column, column + q->column) && hi <= q->hi;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Some pages of the sector are home or on their way: only the missing pages are to be brought. */
static bool is_begun(const struct sc_matrix *m, uintptr_t lo, uintptr_t hi)
{
    lo = sc_page_ceil(lo);
    hi = sc_page_floor(hi);
    if (lo < hi && sc_partial_meets(m, lo, hi))
        return true;
    for (uintptr_t p = lo; m->home_count && p < hi; p += SC_PAGE)
        if (sc_protocol_page_is_home(m, p))
            return true;
    return false;
}

/* Makes the pages [plo, phi) of a sector readable for this matrix.  Whole sectors change their state; parts of
 * sectors become home page by page. */
static bool read_pages(struct sc_matrix *m, int g, uintptr_t plo, uintptr_t phi, struct round *r)
{
    uintptr_t lo, hi, a, b;
    bool whole;

    sc_assert_global(m, g);
    sc_assert_pages(plo, phi);
    sc_matrix_sector_range(m, g, &lo, &hi);
    if (m->open[g]) { /* not yet painted pages may remain */
        opened(r, lo, hi);
        return true;
    }
    whole = is_whole(lo, hi, plo, phi);
    if (!valid_on_host(m, g) && (!whole || is_begun(m, lo, hi))) {
        a = sc_page_floor(lo > plo ? lo : plo);
        b = sc_page_ceil(hi < phi ? hi : phi);
        if (!sc_partial_fetch(m, a, b, &r->waits))
            return false;
        if (!whole) /* fork waits until whole sectors are open */
            return true;
    }
    if (!bring_sector(m, g, &r->waits))
        return false;
    sc_protocol_open(m, g);
    opened(r, lo, hi);
    return true;
}

static bool read_sector(struct sc_matrix *m, int g, const struct request *q, struct round *r)
{
    uintptr_t lo, hi, plo, phi;
    int64_t first, last;
    bool ready = true;

    if (!sc_matrix_sector_range(m, g, &lo, &hi) || !columns_at(q, lo, hi, &first, &last))
        return true;
    if (in_one(q, lo, hi, first, last, &plo, &phi))
        return read_pages(m, g, plo, phi, r);
    for (int64_t j = first; j <= last; j++) {
        uintptr_t column = q->lo + (uintptr_t)j * q->step;

        ready = read_pages(m, g, sc_page_floor(column), sc_page_ceil(column + q->column), r) && ready;
    }
    return ready;
}

/* A sector that has to come as a whole, and no part of which has come yet. */
static bool comes_whole(const struct sc_matrix *m, int g, const struct request *q)
{
    uintptr_t lo, hi, plo, phi;
    int64_t first, last;

    return !m->open[g] && sc_matrix_sector_range(m, g, &lo, &hi) && columns_at(q, lo, hi, &first, &last) &&
           in_one(q, lo, hi, first, last, &plo, &phi) && is_whole(lo, hi, plo, phi) && !is_overwritten(q, lo, hi) &&
           !is_begun(m, lo, hi);
}

/* Starts the sectors of [g, end) that come as a whole, runs of sectors in large transfers. */
static void start_runs(struct sc_matrix *m, int g, int end, const struct request *q)
{
    for (int e; (g = sc_closed_sector(m, g, end, SC_CLOSED_READ)) < end; g = e) {
        for (e = g; e < end && e / SC_SECTORS == g / SC_SECTORS && comes_whole(m, e, q); e++)
            ;
        if (e > g)
            start_sectors(m, g, e);
        else
            e = g + 1;
    }
}

static bool read_matrix(struct sc_matrix *m, const struct request *q, struct round *r)
{
    bool ready = true;
    int g, end;

    if (!sc_matrix_sectors_at(m, sc_page_floor(q->lo), sc_page_ceil(q->hi), &g, &end))
        return true;
    start_runs(m, g, end, q);
    for (; (g = sc_closed_sector(m, g, end, SC_CLOSED_READ)) < end; g++)
        ready = read_sector(m, g, q, r) && ready;
    return ready;
}

void sc_access_start(struct sc_matrix *m)
{
    struct request all = range_request(m->base, sc_matrix_end(m), SC_READ);
    int first, end;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_partial_finish();
    if (sc_matrix_sectors_at(m, all.lo, all.hi, &first, &end))
        start_runs(m, first, end, &all);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Makes the host the only owner of a sector.  A sector that the request overwrites wholly is not brought home. */
static bool write_sector(struct sc_matrix *m, int g, const struct request *q, struct round *r)
{
    uintptr_t lo, hi;
    int64_t first, last;

    sc_assert_global(m, g);
    if (!sc_matrix_sector_range(m, g, &lo, &hi) || !columns_at(q, lo, hi, &first, &last))
        return true;
    if (m->open[g] && !sc_protocol_device_has(m, g) && !sc_protocol_uploading(m, g)) {
        opened(r, lo, hi); /* the upload has ended after the last painting */
        return true;
    }
    if (!is_overwritten(q, lo, hi) && !bring_sector(m, g, &r->waits))
        return false;
    if (!quiet(m, g, &r->waits))
        return false;
    sc_partial_cancel(m, lo, hi);
    sc_protocol_host_writes(m, g);
    opened(r, lo, hi);
    return true;
}

static bool write_matrix(struct sc_matrix *m, const struct request *q, struct round *r)
{
    bool ready = true;
    int g, end;

    if (!sc_matrix_sectors_at(m, sc_page_floor(q->lo), sc_page_ceil(q->hi), &g, &end))
        return true;
    start_runs(m, g, end, q);
    for (; (g = sc_closed_sector(m, g, end, SC_CLOSED_WRITE)) < end; g++)
        ready = write_sector(m, g, q, r) && ready;
    return ready;
}

/* --- acquiring ---------------------------------------------------------------------------------------------------- */

/* One round under the lock: starts what is missing.  True when the pages of the request have been opened.  Only
 * sectors with closed pages are looked at (C10). */
static bool acquire_round(const struct request *q, struct round *r)
{
    struct sc_matrix *m;
    bool ready = true;

    *r = (struct round){.waits.count = 0};
    sc_devices_look();
    sc_partial_finish();
    for (uintptr_t from = 0; (m = sc_noted_next(from, q->lo, q->hi, kind_of(q))); from = m->base + 1)
        ready = (q->access & SC_WRITE ? write_matrix(m, q, r) : read_matrix(m, q, r)) && ready;
    paint_opened(r);
    return ready;
}

/* Lock held before and after, dropped during transfers.  After PATIENCE rounds new calls are held up: calls of other
 * threads may take the same sectors away in every round. */
static double acquire_rounds(const struct request *q)
{
    double since = 0;
    struct round r;
    int rounds = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
    while (!acquire_round(q, &r)) {
        if (!rounds)
            since = sc_wait_clock(SC_HOST_EVENT_NONE);
        if (++rounds == PATIENCE)
            sc_protocol_hold_calls();
        sc_protocol_unlock();
        sc_fences_sync(&r.waits);
        sc_lent_lock();
    }
    if (rounds >= PATIENCE)
        sc_protocol_resume_calls();
    return rounds ? sc_wait_clock(SC_HOST_EVENT_NONE) - since : 0;
}

/* Brings a range home for writing, extended over neighbouring pages of equal protection at both ends, so that no
 * mapping ends inside a closed stretch. */
static void mend_range(uintptr_t lo, uintptr_t hi)
{
    enum sc_prot below, above;
    struct request all;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(lo < hi);
    lo &= ~(uintptr_t)(SC_PAGE - 1);
    hi = (hi + SC_PAGE - 1) & ~(uintptr_t)(SC_PAGE - 1);
    below = sc_host_prot(lo);
    above = sc_host_prot(hi - SC_PAGE);
    while (below != SC_PROT_RW && sc_host_prot(lo - SC_PAGE) == below)
        lo -= SC_PAGE;
    while (above != SC_PROT_RW && sc_host_prot(hi) == above)
        hi += SC_PAGE;
    all = range_request(lo, hi, SC_RDWR);
    if (sc_protocol.devices) /* a forked child has no devices and all data at home */
        acquire_rounds(&all);
    sc_protocol_paint(lo, hi);
}

/* Lock held before and after, dropped meanwhile: a matrix may disappear, and the walk continues with the next
 * address. */
static void mend_all(void)
{
    uintptr_t next = 0;
    size_t first;

    while (sc_directory_find(next, UINTPTR_MAX, &first)) {
        const struct sc_matrix *m = sc_directory_at(first);

        next = sc_matrix_end(m);
        mend_range(m->base, next);
    }
}

/* The system refuses changes that need a further mapping: opening a part of a closed stretch, closing a part of an
 * open stretch.  With the whole stretch at home, its pages are open or open in one piece.  The devices' copies,
 * which no protection would keep from becoming stale, are dropped. */
void sc_protocol_mend(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int tries = 0; sc_protocol.refusals && tries < 4; tries++) {
        struct sc_range some[SC_REFUSED_MAX];
        int count = sc_protocol.refusals;

        for (int i = 0; i < count && i < SC_REFUSED_MAX; i++)
            some[i] = sc_protocol.refused[i];
        sc_protocol.refusals = 0;
        for (int i = 0; i < count && i < SC_REFUSED_MAX; i++)
            mend_range(some[i].lo, some[i].hi);
        if (count > SC_REFUSED_MAX)
            mend_all();
    }
}

static double acquire_locked(const struct request *q)
{
    double waited = acquire_rounds(q);

    sc_protocol_mend();
    if (sc_protocol.check)
        sc_check_changed("an access of the host");
    return waited;
}

void sc_access_range(uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    const struct request q = range_request(lo, hi, access);

    sc_assert_held(SC_RANK_PROTOCOL);
    acquire_locked(&q);
}

void sc_access_all(const struct sc_matrix *m)
{
    const struct request q = range_request(m->base, sc_matrix_end(m), SC_RDWR);

    sc_assert_held(SC_RANK_PROTOCOL);
    acquire_rounds(&q);
}

void sc_access_ahead(struct sc_matrix *m, uintptr_t lo, uintptr_t hi)
{
    const struct request q = range_request(lo, hi, SC_READ);
    struct round r = {.waits.count = 0};

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(lo < hi);
    read_matrix(m, &q, &r);
    paint_opened(&r);
}

/* Whether a sector of every tile is valid on the host, and no transfer to it is in progress. */
static bool has_landed(const struct sc_matrix *m, int g)
{
    for (int i = 0; i < m->row_parts; i++)
        if (!sc_landed(sc_matrix_tile((struct sc_matrix *)m, i, g / SC_SECTORS)->landed[g % SC_SECTORS]))
            return false;
    return valid_on_host(m, g);
}

/* The sector is complete on the host or on a device. */
static bool is_computed(const struct sc_tile *t, int s, struct sc_fences *kernels)
{
    struct sc_fence some = SC_FENCE_NONE;

    if (t->host_valid >> s & 1)
        return true;
    for (int d = 0; d < sc_protocol.devices; d++) {
        if (!(t->copy[d].valid >> s & 1))
            continue;
        if (sc_reached(t->copy[d].ready[s]))
            return true;
        some = t->copy[d].ready[s];
    }
    if (!some.seq)
        return true;
    sc_fences_add(kernels, some);
    return false;
}

bool sc_access_computed(uintptr_t page, struct sc_fences *kernels)
{
    bool computed = true;
    struct sc_matrix *m;

    sc_assert_held(SC_RANK_PROTOCOL);
    kernels->count = 0;
    for (uintptr_t from = 0; (m = sc_noted_next(from, page, page + SC_PAGE, SC_CLOSED_READ)); from = m->base + 1) {
        int g, end;

        if (!sc_matrix_sectors_at(m, page, page + SC_PAGE, &g, &end))
            continue;
        for (; g < end; g++)
            for (int i = 0; i < m->row_parts; i++)
                computed = is_computed(sc_matrix_tile(m, i, g / SC_SECTORS), g % SC_SECTORS, kernels) && computed;
    }
    return computed;
}

static bool open_landed(struct sc_matrix *m, uintptr_t page, struct round *r)
{
    int g, end, first, sectors;
    bool ready = true;

    if (!sc_matrix_sectors_at(m, page, page + SC_PAGE, &g, &end) ||
        !sc_matrix_sectors_at(m, page, sc_page_ceil(sc_matrix_end(m)), &first, &sectors))
        return true;
    for (; g < sectors && (m->open[g] || has_landed(m, g)); g++) {
        uintptr_t lo, hi;

        if (sc_matrix_sector_range(m, g, &lo, &hi))
            ready = read_pages(m, g, sc_page_floor(lo), sc_page_ceil(hi), r) && ready;
    }
    return ready && g >= end;
}

bool sc_access_landed(uintptr_t page)
{
    struct round r = {.waits.count = 0};
    struct sc_matrix *m;
    bool ready = true;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_partial_finish();
    for (uintptr_t from = 0; (m = sc_noted_next(from, page, page + SC_PAGE, SC_CLOSED_READ)); from = m->base + 1)
        ready = open_landed(m, page, &r) && ready;
    paint_opened(&r);
    sc_protocol_mend();
    if (sc_protocol.check)
        sc_check_changed("a read of landed data");
    return ready && sc_host_prot(page) != SC_PROT_NONE;
}

/* Without the lock.  True: at a moment between call and return all pages of the request were open.  An acquisition
 * under the lock guarantees no more once the lock is dropped: a call of another thread may close pages again.
 *
 * The kernel cannot fault.  A thread that acquires for a system call has left a note of the range
 * (host/syscall_ranges.c).  A call of the BLAS counts as active before it looks for notes, and looks for notes before
 * it closes pages.  The note's store, the load of `active` here, and the call's store of `active` and loads of notes
 * have one order (SEQ_CST).  So either the load of `active` sees the call, and the caller takes the lock; or the call
 * sees the note, and runs on the host. */
static bool all_open(const struct request *q)
{
    return !__atomic_load_n(&sc_protocol.active, __ATOMIC_SEQ_CST) && !sc_noted_any(q->lo, q->hi, kind_of(q));
}

static void acquire(const struct request *q)
{
    double waited;

    if (all_open(q))
        return;
    sc_lent_lock();
    waited = acquire_locked(q);
    if (waited > 0)
        sc_wait_acquired(q->lo, q->hi, waited);
    sc_protocol_unlock();
}

bool sc_coherence_all_open(uintptr_t addr, size_t bytes, enum sc_access access)
{
    const struct request q = range_request(addr, addr + bytes, access);

    return !bytes || !sc_host_in_arena((const void *)addr) || !sc_protocol_ops() || all_open(&q);
}

void sc_coherence_acquire_host(uintptr_t addr, size_t bytes, enum sc_access access)
{
    const struct request q = range_request(addr, addr + bytes, access);

    if (bytes && access & SC_WRITE)
        sc_host_watch_open(addr, addr + bytes);
    if (bytes && sc_host_in_arena((const void *)addr) && sc_protocol_ops())
        acquire(&q);
}

/* Views with wide gaps between their columns are acquired without the gaps, as far as sectors allow.  Gaps count as
 * read only, whatever the view's access. */
static struct request view_request(const struct sc_view *v, enum sc_access access)
{
    size_t elem = sc_type_bytes(v->type);
    struct request q = {.columns = v->vector ? v->rows : v->cols, .access = access};

    sc_view_extent(v, &q.lo, &q.hi);
    q.column = (size_t)(v->vector ? 1 : v->rows) * elem;
    q.step = (size_t)sc_step(v->ld) * elem;
    return q.columns == 1 || q.step <= q.column ? range_request(q.lo, q.hi, access) : q;
}

void sc_coherence_acquire_view(const struct sc_view *v)
{
    struct request q;

    if (sc_view_empty(v) || !sc_protocol_ops())
        return;
    q = view_request(v, v->access);
    if (sc_host_in_arena(v->ptr))
        acquire(&q);
    else
        sc_coherence_acquire_host(q.lo, q.hi - q.lo, v->access);
}

void sc_coherence_start_home(const struct sc_view *v)
{
    struct request q;
    struct round r;

    if (sc_view_empty(v) || !sc_protocol_ops() || !sc_host_in_arena(v->ptr))
        return;
    q = view_request(v, SC_READ);
    if (all_open(&q))
        return;
    sc_lent_lock();
    acquire_round(&q, &r);
    sc_protocol_mend();
    if (sc_protocol.check)
        sc_check_changed("a transfer home");
    sc_protocol_unlock();
}
/* SPDX-License-Identifier: BSD-2-Clause */
