/* Mirrors: copies in the arena of memory outside of the arena (static arrays, COMMON, the program's own mappings,
 * stacks), kept from call to call.  host/watch.c notices the pages that the program writes, so unwritten data stays on
 * the devices.  The program's own pages are never closed: results are copied back within the call.
 *
 *   M1  A mirror covers whole pages, and mirrors do not overlap.  An offset in the mirror is the offset in the memory:
 *       views keep their leading dimension, and may overlap.
 *   M2  A watched page without a later write has the bytes of the mirror.  Therefore a page is watched again before its
 *       bytes are compared and copied, as a whole; and before the library writes a page, the page counts as written.
 *   M3  The first and the last page of a view, if partly covered, are compared in each call.
 *   M4  One call at a time uses mirrors: otherwise a call could overwrite another call's results with older bytes.  The
 *       holder of the lock may take the protocol's lock, touch user memory and wait for the pager, which takes no
 *       mirrors' lock. */
#include "coherence/mirror.h"

#include "base/locks.h"

#include <pthread.h>
#include <string.h>

#define MIRRORS_MAX  SC_WATCHED_MAX
#define LEAST        ((size_t)64 << 10) /* smaller views cost less to copy than to watch */
#define SHARE        4                  /* of the memory limit of the process: 1 / SHARE */
#define CHUNKS       64
#define HOT          2   /* rewritten as often in a row: expected to be rewritten again */
#define RUNS         64
#define REFUSALS     16
#define REFUSED_FOR  100 /* calls */

static struct sc_lock lock = SC_LOCK(SC_RANK_MIRROR);

static struct mirror {
    uintptr_t lo, hi; /* pages of the program; hi 0: none */
    uintptr_t base;   /* of the copy */
    uint64_t used;
    /* number of calls in a row before which most of the chunk was rewritten; hot chunks are not watched */
    uint8_t hot[CHUNKS];
} mirrors[MIRRORS_MAX];
static uint64_t now; /* calls that used mirrors */
static size_t total; /* bytes of all */
static uintptr_t all_lo, all_hi; /* no mirror is outside; written under the lock */

/* Memory that cannot be watched: looking again costs as much as a small copy. */
static struct refusal {
    uintptr_t lo, hi;
    int left;
} refusals[REFUSALS];
static int next_refusal;

void sc_mirror_lock(void)
{
    sc_lock(&lock);
    now++;
}

void sc_mirror_unlock(void)
{
    sc_unlock(&lock);
}

static bool meets(const struct mirror *m, uintptr_t lo, uintptr_t hi)
{
    return m->hi > lo && m->lo < hi;
}

static struct mirror *find(uintptr_t lo, uintptr_t hi)
{
    sc_assert_held(SC_RANK_MIRROR);
    for (struct mirror *m = mirrors; m < mirrors + MIRRORS_MAX; m++)
        if (meets(m, lo, hi))
            return m;
    return NULL;
}

static void bound(void)
{
    uintptr_t lo = UINTPTR_MAX, hi = 0;

    for (const struct mirror *m = mirrors; m < mirrors + MIRRORS_MAX; m++) {
        lo = m->hi && m->lo < lo ? m->lo : lo;
        hi = m->hi > hi ? m->hi : hi;
    }
    __atomic_store_n(&all_lo, lo, __ATOMIC_RELAXED);
    __atomic_store_n(&all_hi, hi, __ATOMIC_RELAXED);
}

bool sc_mirror_near(uintptr_t lo, uintptr_t hi)
{
    return lo < __atomic_load_n(&all_hi, __ATOMIC_RELAXED) && hi > __atomic_load_n(&all_lo, __ATOMIC_RELAXED);
}

static void drop(struct mirror *m)
{
    size_t bytes = m->hi - m->lo;

    sc_assert_held(SC_RANK_MIRROR);
    sc_host_unwatch(m->lo);
    sc_release_tracked(m->base, bytes);
    sc_host_free((void *)m->base);
    total -= bytes;
    m->hi = 0;
    bound();
}

void sc_mirror_forget(uintptr_t lo, uintptr_t hi)
{
    struct mirror *m;

    sc_mirror_lock();
    while ((m = find(lo, hi)))
        drop(m);
    sc_mirror_unlock();
}

/* --- making ------------------------------------------------------------------------------------------------------- */

static bool is_refused(uintptr_t lo, uintptr_t hi)
{
    for (int i = 0; i < REFUSALS; i++)
        if (refusals[i].lo == lo && refusals[i].hi == hi && refusals[i].left > 0)
            return refusals[i].left--;
    return false;
}

static void refuse(uintptr_t lo, uintptr_t hi)
{
    refusals[next_refusal++ % REFUSALS] = (struct refusal){lo, hi, REFUSED_FOR};
}

/* Drops the least recently used mirror without a view of this call; false: there is no such mirror. */
static bool evict(void)
{
    struct mirror *oldest = NULL;

    sc_assert_held(SC_RANK_MIRROR);
    for (struct mirror *m = mirrors; m < mirrors + MIRRORS_MAX; m++)
        if (m->hi && m->used != now && (!oldest || m->used < oldest->used))
            oldest = m;
    if (oldest)
        drop(oldest);
    return oldest != NULL;
}

static struct mirror *free_entry(void)
{
    for (struct mirror *m = mirrors; m < mirrors + MIRRORS_MAX; m++)
        if (!m->hi)
            return m;
    return NULL;
}

static void *memory_for(size_t bytes)
{
    size_t most = (size_t)(sc_host_memory_limit() / SHARE);
    void *p;

    sc_assert_held(SC_RANK_MIRROR);
    if (bytes > most)
        return NULL;
    while (total + bytes > most)
        if (!evict())
            return NULL;
    while (!(p = sc_host_alloc(bytes)) && evict())
        ;
    return p;
}

/* Of [lo, least), or more of the same memory up to hi. */
static struct mirror *make(uintptr_t lo, uintptr_t least, uintptr_t hi)
{
    struct mirror *m = free_entry();
    void *base;

    sc_assert_held(SC_RANK_MIRROR);
    sc_assert_pages(lo, least);
    if (!m && evict())
        m = free_entry();
    if (!m || sc_host_watch(lo, &hi, least) != SC_OK)
        return NULL;
    base = memory_for(hi - lo);
    if (!base) {
        sc_host_unwatch(lo);
        return NULL;
    }
    *m = (struct mirror){.lo = lo, .hi = hi, .base = (uintptr_t)base, .used = now};
    total += hi - lo;
    bound();
    return m;
}

/* Up to the next mirror, at most to hi. */
static uintptr_t room(uintptr_t lo, uintptr_t hi)
{
    for (const struct mirror *m = mirrors; m < mirrors + MIRRORS_MAX; m++)
        if (meets(m, lo, hi))
            hi = m->lo;
    return hi;
}

/* A view that goes beyond a mirror (the next block of an array, a neighbour on the same page) replaces the mirror by
 * a mirror of both, with as much memory again: a walk through an array makes few mirrors. */
bool sc_mirror_cover(uintptr_t lo, uintptr_t hi)
{
    uintptr_t first = sc_page_floor(lo), end = sc_page_ceil(hi), wish;
    struct mirror *m = find(first, end);
    bool grows = m != NULL;

    sc_assert_held(SC_RANK_MIRROR);
    sc_assert(lo < hi);
    if (m && m->lo <= first && end <= m->hi) {
        m->used = now;
        return true;
    }
    if ((!m && hi - lo < LEAST) || is_refused(first, end) || !sc_host_watch_engine())
        return false;
    while ((m = find(first, end))) {
        first = m->lo < first ? m->lo : first;
        end = m->hi > end ? m->hi : end;
        drop(m);
    }
    wish = grows ? room(end, end + (end - first)) : end;
    if (make(first, end, wish > end ? wish : end))
        return true;
    refuse(sc_page_floor(lo), sc_page_ceil(hi));
    return false;
}

bool sc_mirror_view(const struct sc_view *v, struct sc_view *own)
{
    struct mirror *m;
    uintptr_t lo, hi;

    sc_assert_held(SC_RANK_MIRROR);
    sc_view_extent(v, &lo, &hi);
    m = find(lo, hi);
    if (!m || lo < m->lo || hi > m->hi)
        return false;
    *own = *v;
    own->ptr = (const void *)(m->base + (lo - m->lo));
    return true;
}

bool sc_mirror_possible(uintptr_t lo, uintptr_t hi)
{
    if (!sc_host_watch_engine())
        return false;
    for (int i = 0; i < REFUSALS; i++)
        if (refusals[i].lo == sc_page_floor(lo) && refusals[i].hi == sc_page_ceil(hi) && refusals[i].left > 0)
            return false;
    return hi - lo >= LEAST;
}

/* --- contents ----------------------------------------------------------------------------------------------------- */

/* Copies the differing pages of bytes [lo, hi), which lie on one page or are whole pages; returns their bytes. */
static size_t bring(const struct mirror *m, uintptr_t lo, uintptr_t hi)
{
    uintptr_t shift = m->base - m->lo, from = 0, p = lo;
    size_t changed = 0;

    sc_assert_held(SC_RANK_MIRROR);
    while (p < hi) {
        size_t bytes = hi - p < SC_PAGE ? hi - p : SC_PAGE;
        bool differs = memcmp((const void *)p, (const void *)(p + shift), bytes) != 0;

        if (differs && !from)
            from = p;
        p += bytes;
        if (!from || (differs && p < hi))
            continue;
        bytes = (differs ? p : p - bytes) - from;
        sc_coherence_acquire_host(from + shift, bytes, SC_RDWR);
        memcpy((void *)(from + shift), (const void *)from, bytes);
        changed += bytes;
        from = 0;
    }
    return changed;
}

static size_t chunk_bytes(const struct mirror *m)
{
    return ((((m->hi - m->lo) >> SC_PAGE_SHIFT) + CHUNKS - 1) / CHUNKS) << SC_PAGE_SHIFT;
}

/* Updates pages [lo, hi); `watched`: they are watched again. */
static bool refresh_pages(struct mirror *m, uintptr_t lo, uintptr_t hi, bool watched, size_t changed[CHUNKS])
{
    struct sc_watch_run runs[RUNS];
    size_t chunk = chunk_bytes(m);

    sc_assert_held(SC_RANK_MIRROR);
    while (lo < hi) {
        int count = sc_host_watch_written(&lo, hi, watched, runs, RUNS);

        if (count < 0)
            return false;
        for (int i = 0; i < count; i++)
            for (uintptr_t a = runs[i].lo, b; a < runs[i].hi; a = b) {
                size_t c = (a - m->lo) / chunk;

                b = m->lo + (c + 1) * chunk < runs[i].hi ? m->lo + (c + 1) * chunk : runs[i].hi;
                changed[c] += bring(m, a, b);
            }
    }
    return true;
}

/* The pages [lo, hi), stretches of chunks that are hot or not. */
static bool refresh_chunks(struct mirror *m, uintptr_t lo, uintptr_t hi)
{
    size_t chunk = chunk_bytes(m), changed[CHUNKS] = {0}, first = (lo - m->lo) / chunk, last = (hi - 1 - m->lo) / chunk;

    for (size_t c = first, e; c <= last; c = e) {
        bool hot = m->hot[c] >= HOT;
        uintptr_t a = m->lo + c * chunk, b;

        for (e = c + 1; e <= last && (m->hot[e] >= HOT) == hot; e++)
            ;
        b = m->lo + e * chunk;
        if (!refresh_pages(m, a > lo ? a : lo, b < hi ? b : hi, !hot, changed))
            return false;
    }
    for (size_t c = first; c <= last; c++)
        m->hot[c] = changed[c] < chunk / 2 ? 0 : m->hot[c] < HOT ? m->hot[c] + 1 : HOT;
    return true;
}

/* Reads of unmapped memory fault here as they would in the program. */
bool sc_mirror_refresh(const struct sc_view *v)
{
    uintptr_t lo, hi, first, end;
    struct mirror *m;

    sc_assert_held(SC_RANK_MIRROR);
    sc_view_extent(v, &lo, &hi);
    m = find(lo, hi);
    sc_assert(m && m->lo <= lo && hi <= m->hi);
    first = sc_page_ceil(lo);
    end = sc_page_floor(hi);
    if (first > end) { /* inside one page */
        bring(m, lo, hi);
        return true;
    }
    if (first < end && !refresh_chunks(m, first, end)) {
        drop(m);
        return false;
    }
    bring(m, lo, first);
    bring(m, end, hi);
    return true;
}

void sc_mirror_write_back(const struct sc_view *v, const struct sc_view *own)
{
    uintptr_t lo, hi;

    sc_assert_held(SC_RANK_MIRROR);
    sc_view_extent(v, &lo, &hi);
    sc_host_watch_open(lo, hi);
    sc_view_extent(own, &lo, &hi);
    sc_coherence_acquire_host(lo, hi - lo, SC_READ);
    sc_view_copy(v, own);
}
/* SPDX-License-Identifier: BSD-2-Clause */
