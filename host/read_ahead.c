/* The number of bytes to fetch at a fault: the pager's guess at the program's pattern of access.
 *
 * A stream is a range of pages that successive faults have opened.  A fault next to a remembered stream, at either
 * end, is sequential: the stream's window doubles, up to window_max.  Any other fault is scattered and starts a new
 * stream with the first window.  After several scattered faults in a row the first window shrinks, to a quarter of
 * window_min at least, and the next sequential fault restores it.
 *
 * A stream stays in its block: a walk through an array says nothing about the next array, which malloc happened to
 * place behind the first. */
#include "base/config.h"
#include "host/fault_int.h"
#include "host/host_int.h"

#define STREAMS        16
#define SCATTERED_MANY 4 /* number of scattered faults that halve the first window */

static struct stream {
    uintptr_t lo, hi; /* [lo, hi) was opened; hi 0: unused entry */
    struct sc_host_bounds in;
    size_t window;
    enum sc_access access;
    uint64_t used;
} streams[STREAMS];
static uint64_t now;
static unsigned scattered; /* number of scattered faults in a row */
static struct stream *at;  /* stream of the current fault */
static enum { NEW, UP, DOWN } direction;

/* True when every page of [lo, hi) is open, because other faults have filled the gap. */
static bool all_open(uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    return sc_host_open_end(lo, hi, sc_host_prot_for(access)) == hi;
}

/* True when the gap [lo, hi) belongs to the stream.  A short gap is a stride.  A longer gap counts when every page
 * is open.  The stream's window is no measure: with a window of 64 MiB distant accesses would count as a sweep, and
 * each would fetch as much. */
static bool near_by(const struct stream *s, uintptr_t lo, uintptr_t hi)
{
    size_t stride = s->window < sc_config.window_min ? s->window : sc_config.window_min;

    return hi - lo < stride || (hi - lo <= sc_config.window_max && all_open(lo, hi, s->access));
}

static int side(const struct stream *s, uintptr_t page)
{
    if (page >= s->hi)
        return near_by(s, s->hi, page) ? UP : NEW;
    if (page < s->lo)
        return near_by(s, page + SC_PAGE, s->lo) ? DOWN : NEW;
    return NEW;
}

static size_t first_window(void)
{
    unsigned halvings = scattered / SCATTERED_MANY;
    size_t window = sc_config.window_min >> (halvings < 2 ? halvings : 2);

    return window < SC_PAGE ? SC_PAGE : window;
}

static size_t doubled(size_t window)
{
    size_t most = window > sc_config.window_max ? window : sc_config.window_max;

    return window * 2 < most ? window * 2 : most;
}

size_t sc_host_window(uintptr_t addr, enum sc_access access, struct sc_host_bounds bounds)
{
    uintptr_t page = sc_page_floor(addr);
    struct stream *oldest = &streams[0];

    now++;
    for (struct stream *s = streams; s < streams + STREAMS; s++) {
        if (s->used < oldest->used)
            oldest = s;
        if (!s->hi || s->access != access || s->in.first != bounds.first || (direction = side(s, page)) == NEW)
            continue;
        at = s;
        scattered = 0;
        s->window = doubled(s->window);
        return s->window;
    }
    at = oldest;
    direction = NEW;
    at->access = access;
    at->in = bounds;
    at->window = first_window();
    scattered++;
    return at->window;
}

/* Reads the opened range off the page table, because the protocol may open less than asked, from any start.  A page
 * that is closed again by now is no place to read on from: the program has started work on a device meanwhile. */
bool sc_host_window_served(uintptr_t addr, enum sc_access access, uintptr_t *next, size_t *bytes)
{
    uintptr_t page = sc_page_floor(addr), lo, hi;
    size_t window = sc_page_ceil(at->window), left;

    if (sc_host_prot(page) > sc_host_prot_for(access)) {
        at->lo = page;
        at->hi = page + SC_PAGE;
        at->used = now;
        return false;
    }
    hi = sc_page_ceil(at->in.end);
    hi = sc_host_open_end(page, window < hi - page ? page + window : hi, sc_host_prot_for(access));
    lo = sc_page_floor(at->in.first);
    lo = sc_host_open_begin(window < page - lo ? page - window : lo, page, sc_host_prot_for(access));
    at->lo = lo;
    at->hi = hi;
    at->used = now;
    left = direction == DOWN ? lo - at->in.first : hi < at->in.end ? at->in.end - hi : 0;
    *bytes = doubled(at->window) < left ? doubled(at->window) : left;
    *next = direction == DOWN ? lo - *bytes : hi;
    return direction != NEW && *bytes;
}

void sc_host_window_reset(void)
{
    for (int i = 0; i < STREAMS; i++)
        streams[i] = (struct stream){0};
    scattered = 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
