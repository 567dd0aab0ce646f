/* The watched ranges, as the signal handler sees them (rule F2). */
#include "host/watch.h"

struct sc_host_range sc_host_watched;
struct sc_watch_range sc_watch_ranges[SC_WATCHED_MAX];

struct sc_watch_range *sc_watch_find(uintptr_t lo, uintptr_t hi)
{
    for (struct sc_watch_range *r = sc_watch_ranges; r < sc_watch_ranges + SC_WATCHED_MAX; r++)
        if (__atomic_load_n(&r->hi, __ATOMIC_ACQUIRE) > lo && __atomic_load_n(&r->lo, __ATOMIC_RELAXED) < hi)
            return r;
    return NULL;
}

/* In an entry that is being replaced a reader may find the ends of two ranges. Its access is repeated, and faults
 * again. */
static struct sc_watch_run ended[SC_WATCHED_MAX];
static unsigned ends;

void sc_watch_note_end(const struct sc_watch_range *r)
{
    struct sc_watch_run *e = &ended[ends++ % SC_WATCHED_MAX];

    __atomic_store_n(&e->lo, r->lo, __ATOMIC_SEQ_CST);
    __atomic_store_n(&e->hi, r->hi, __ATOMIC_SEQ_CST);
}

bool sc_watch_was(uintptr_t addr)
{
    for (const struct sc_watch_run *e = ended; e < ended + SC_WATCHED_MAX; e++)
        if (__atomic_load_n(&e->lo, __ATOMIC_SEQ_CST) <= addr && addr < __atomic_load_n(&e->hi, __ATOMIC_SEQ_CST))
            return true;
    return false;
}

enum sc_prot sc_watch_prot(uintptr_t addr)
{
    const struct sc_watch_range *r = sc_watch_find(addr, addr + 1);
    const uint8_t *state = r ? __atomic_load_n(&r->state, __ATOMIC_ACQUIRE) : NULL;

    return state && __atomic_load_n(&state[(addr - r->lo) >> SC_PAGE_SHIFT], __ATOMIC_ACQUIRE) != SC_WATCH_OPEN
               ? SC_PROT_R : SC_PROT_RW;
}
/* SPDX-License-Identifier: BSD-2-Clause */
