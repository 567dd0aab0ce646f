/* Writes noticed by faults: pages are closed for writing, and the first write opens a window of pages, as in the
 * arena.
 *
 * The engine watches only memory whose end the library learns of (mapping_lifetime.c).  It runs only while libc's
 * calls that let the kernel write are interposed, because such a call would fail on a closed page.  The state of a
 * page is never more permissive than the page (rule F1): a page is noted before it is closed and after it is opened. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "host/fault_int.h"
#include "host/arena.h"
#include "host/watch.h"

#define FIRST_WINDOW 16u /* pages: 64 KiB, as for a write in the arena */
#define DOUBLED_AFTER 4u /* faults: a sweep then splits a mapping a few times instead of at every window */
#define MOST_DOUBLED 16u

static size_t page_of(const struct sc_watch_range *r, uintptr_t addr) { return (addr - r->lo) >> SC_PAGE_SHIFT; }
static uintptr_t address_of(const struct sc_watch_range *r, size_t page) { return r->lo + (page << SC_PAGE_SHIFT); }

static void set(struct sc_watch_range *r, size_t from, size_t to, enum sc_watch_state state)
{
    for (size_t i = from; i < to; i++)
        __atomic_store_n(&r->state[i], (uint8_t)state, __ATOMIC_SEQ_CST);
}

/* A page that the program itself has closed stays closed. */
static bool change(const struct sc_watch_range *r, size_t from, size_t to, int prot)
{
    void *at = (void *)address_of(r, from);
    int saved = errno;
    bool good = r->constant || sc_host_sys_mprotect(at, (to - from) << SC_PAGE_SHIFT, prot) == 0;

    errno = saved;
    return good;
}

static void close_pages(struct sc_watch_range *r, size_t from, size_t to)
{
    set(r, from, to, SC_WATCH_CLOSED);
    if (!change(r, from, to, PROT_READ))
        set(r, from, to, SC_WATCH_UNSURE); /* no mappings left: the page counts as written at each call */
}

/* The end of the run of pages from `from` on, below `to`, that are all open or all not open. */
static size_t same(const struct sc_watch_range *r, size_t from, size_t to)
{
    size_t i = from + 1;

    while (i < to && (r->state[i] == SC_WATCH_OPEN) == (r->state[from] == SC_WATCH_OPEN))
        i++;
    return i;
}

/* Replaces closed pages by open pages with the same bytes.  Closed pages are not written in the meantime. */
static bool exchange(const struct sc_watch_range *r, size_t from, size_t to)
{
    size_t bytes = (to - from) << SC_PAGE_SHIFT;
    void *at = (void *)address_of(r, from), *other;
    int saved = errno;
    bool good = false;

    other = sc_host_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, SC_HOST_MAP_UNCOUNTED);
    if (other != MAP_FAILED) {
        memcpy(other, at, bytes);
        good = sc_host_sys(SYS_mremap, (long)other, (long)bytes, (long)bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                           (long)at) != -1;
        if (!good)
            sc_host_sys(SYS_munmap, (long)other, (long)bytes, 0, 0, 0);
    }
    errno = saved;
    return good;
}

/* For pages that the system refuses to open.  Closed pages do not count as data (host_int.h), so the program may
 * have used up its limit on data since they were closed. */
static bool exchange_closed(const struct sc_watch_range *r, size_t from, size_t to)
{
    for (size_t i = from, next; i < to; i = next) {
        for (next = i + 1; next < to && r->state[next] == r->state[i]; next++)
            ;
        if (r->state[i] == SC_WATCH_CLOSED && !exchange(r, i, next))
            return false;
    }
    return true;
}

static bool is_watched(const struct sc_watch_range *q)
{
    return q->hi && q->engine == &sc_watch_mprotect && !q->constant;
}

/* Opens the whole range and the ranges that adjoin it.  Adjoining closed ranges are a single mapping, which the
 * opening of a part would split. */
static bool open_neighbours(const struct sc_watch_range *r)
{
    uintptr_t lo = r->lo, hi = r->hi;
    int saved = errno;

    for (bool more = true; more;) {
        more = false;
        for (const struct sc_watch_range *q = sc_watch_ranges; q < sc_watch_ranges + SC_WATCHED_MAX; q++)
            if (is_watched(q) && (q->hi == lo || q->lo == hi)) {
                lo = q->hi == lo ? q->lo : lo;
                hi = q->lo == hi ? q->hi : hi;
                more = true;
            }
    }
    if (sc_host_sys_mprotect((void *)lo, hi - lo, PROT_READ | PROT_WRITE)) {
        errno = saved;
        return false;
    }
    for (struct sc_watch_range *q = sc_watch_ranges; q < sc_watch_ranges + SC_WATCHED_MAX; q++)
        if (is_watched(q) && lo <= q->lo && q->hi <= hi)
            set(q, 0, page_of(q, q->hi), SC_WATCH_OPEN);
    return true;
}

/* Opening a part of a closed stretch needs an additional mapping; opening the whole stretch does not. */
static void open_stretch(struct sc_watch_range *r, size_t from, size_t to)
{
    if (!change(r, from, to, PROT_READ | PROT_WRITE) && !exchange_closed(r, from, to)) {
        from = 0;
        to = (r->hi - r->lo) >> SC_PAGE_SHIFT;
        if (!open_neighbours(r) && !exchange_closed(r, from, to)) {
            sc_log_once(SC_LOG_ERROR, "the system refuses to open pages for writing (vm.max_map_count?)");
            return;
        }
    }
    set(r, from, to, SC_WATCH_OPEN);
    __atomic_fetch_add(&sc_host_prot_changes, 1, __ATOMIC_SEQ_CST);
}

static void open_range(struct sc_watch_range *r, uintptr_t lo, uintptr_t hi)
{
    size_t to = page_of(r, hi);

    for (size_t i = page_of(r, lo), next; i < to; i = next) {
        next = same(r, i, to);
        if (r->state[i] != SC_WATCH_OPEN)
            open_stretch(r, i, next);
    }
}

static bool fault(struct sc_watch_range *r, uintptr_t addr)
{
    unsigned doubled = r->faults++ / DOUBLED_AFTER;
    size_t window = (size_t)FIRST_WINDOW << (doubled < MOST_DOUBLED ? doubled : MOST_DOUBLED);
    size_t from = page_of(r, addr) / window * window, to = from + window, end = page_of(r, r->hi);

    if (r->constant)
        return false;
    if (r->state[page_of(r, addr)] != SC_WATCH_OPEN) /* otherwise the fault of a second thread has opened the page */
        open_range(r, address_of(r, from), address_of(r, to < end ? to : end));
    return true;
}

static int written(struct sc_watch_range *r, uintptr_t *lo, uintptr_t hi, bool again, struct sc_watch_run *runs,
                   int most)
{
    size_t at = page_of(r, *lo), to = page_of(r, hi);
    int count = 0;

    if (again)
        r->faults = 0;
    while (at < to && count < most) {
        size_t end = at;

        while (end < to && r->state[end] != SC_WATCH_CLOSED)
            end++;
        if (end == at) {
            at++;
            continue;
        }
        runs[count++] = (struct sc_watch_run){address_of(r, at), address_of(r, end)};
        if (again)
            close_pages(r, at, end);
        at = end;
    }
    *lo = address_of(r, at);
    return count;
}

/* The old table stays, because a handler may be reading it. The table is in the arena: a new mapping could take
 * addresses that the program has just unmapped, and the program may map there again with MAP_FIXED. */
static bool add(struct sc_watch_range *r, uintptr_t lo, uintptr_t hi, bool mixed)
{
    size_t pages = (hi - lo) >> SC_PAGE_SHIFT, room = r->room ? r->room : SC_PAGE;
    void *state;

    /* The handler takes a fault in the arena for the arena's (a part of a block that the program has mapped anew). */
    if (mixed || sc_host_next_within(lo) < hi || !sc_lifetime_is_known(lo, hi))
        return false;
    while (room < pages)
        room *= 2;
    if (room > r->room) {
        state = sc_host_arena_alloc(room, SC_PAGE, false);
        if (!state)
            return false;
        r->room = room;
        __atomic_store_n(&r->state, state, __ATOMIC_RELEASE);
    }
    memset(r->state, SC_WATCH_OPEN, pages);
    return true;
}

static void remove_range(struct sc_watch_range *r) { open_range(r, r->lo, r->hi); }

static bool start(void) { return sc_host_malloc_seen(); }

const struct sc_watch_engine sc_watch_mprotect = {.name = "mprotect",
                                                  .start = start,
                                                  .add = add,
                                                  .remove = remove_range,
                                                  .written = written,
                                                  .open = open_range,
                                                  .fault = fault};
/* SPDX-License-Identifier: BSD-2-Clause */
