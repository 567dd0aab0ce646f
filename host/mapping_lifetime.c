/* Memory whose end the library always learns of.  The library does not see libc's own calls of munmap (in free, at
 * the end of a thread), so most private memory may end unseen.  Two kinds do not.  Static data of the program and of
 * the libraries loaded with it is never unloaded.  Mappings that the program has made by libc's functions are given
 * up by libc's functions, which the library interposes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/inside.h"
#include "base/loader.h"
#include "base/locks.h"
#include "host/watch.h"

#define MAPPINGS_MAX 256
#define STACKS_MAX 64
#define MAPPING_LEAST ((size_t)64 << 10)

static struct sc_lock lock = SC_LOCK(SC_RANK_LIFETIME);
static struct sc_watch_run mappings[MAPPINGS_MAX]; /* hi 0: unused entry */
static int used;                                   /* entries from `used` on are unused */

/* mmap may be called in a signal handler. */
static void enter(void) { sc_lock(&lock); }

static void leave(void) { sc_unlock(&lock); }

/* --- static data -------------------------------------------------------------------------------------------------- */

/* Writable segments of the objects that were loaded before this library's constructor ran. */
static struct sc_watch_run *segments;
static size_t segment_count;

static void add_segment(uintptr_t lo, uintptr_t hi)
{
    struct sc_watch_run *more = realloc(segments, (segment_count + 1) * sizeof *more);

    if (!more)
        return; /* the segment stays unknown */
    segments = more;
    segments[segment_count++] = (struct sc_watch_run){lo, hi};
}

static int add_object(struct dl_phdr_info *info, size_t bytes, void *none)
{
    (void)bytes;
    (void)none;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && p->p_flags & PF_W)
            add_segment(sc_page_floor(info->dlpi_addr + p->p_vaddr),
                        sc_page_ceil(info->dlpi_addr + p->p_vaddr + p->p_memsz));
    }
    return 0;
}

/* Once, at load: later the loader must not be called (base/loader.h). */
static void __attribute__((constructor)) list_segments(void)
{
    sc_inside_enter();
    sc_loader_each(add_object, NULL);
    sc_inside_leave();
}

static uintptr_t static_until(uintptr_t at)
{
    for (size_t i = 0; i < segment_count; i++)
        if (segments[i].lo <= at && at < segments[i].hi)
            return segments[i].hi;
    return at;
}

bool sc_lifetime_is_static(uintptr_t at) { return static_until(at) != at; }

/* Stacks of the program in static data, in whole pages.  Stacks that touch or overlap are merged. */
static struct sc_watch_run stacks[STACKS_MAX];
static int stacks_used; /* STACKS_MAX + 1: there were more, and static data no longer counts as known */

static bool meets_stack(uintptr_t lo, uintptr_t hi)
{
    bool meets;

    enter();
    meets = stacks_used > STACKS_MAX;
    for (int i = 0; i < stacks_used && !meets; i++)
        meets = stacks[i].lo < hi && stacks[i].hi > lo;
    leave();
    return meets;
}

static void put_stack(uintptr_t lo, uintptr_t hi)
{
    int i = 0;

    while (i < stacks_used && i < STACKS_MAX && (stacks[i].lo > hi || stacks[i].hi < lo))
        i++;
    if (i < STACKS_MAX) {
        bool known = i < stacks_used;

        stacks[i].lo = known && stacks[i].lo < lo ? stacks[i].lo : lo;
        stacks[i].hi = known && stacks[i].hi > hi ? stacks[i].hi : hi;
    }
    stacks_used = i < stacks_used ? stacks_used : i + 1;
}

/* --- mappings ----------------------------------------------------------------------------------------------------- */

static uintptr_t mapped_until(uintptr_t at)
{
    enter();
    for (int i = 0; i < used; i++)
        if (mappings[i].lo <= at && at < mappings[i].hi)
            at = mappings[i].hi;
    leave();
    return at;
}

bool sc_lifetime_is_mapping(uintptr_t lo, uintptr_t hi)
{
    for (uintptr_t end; lo < hi; lo = end)
        if ((end = mapped_until(lo)) == lo)
            return false;
    return true;
}

bool sc_lifetime_is_known(uintptr_t lo, uintptr_t hi)
{
    if (meets_stack(lo, hi))
        return false;
    while (lo < hi) {
        uintptr_t end = static_until(lo);

        if (end == lo)
            end = mapped_until(lo);
        if (end == lo)
            return false;
        lo = end;
    }
    return true;
}

static void put(uintptr_t lo, uintptr_t hi)
{
    int i = 0;

    while (i < used && mappings[i].hi)
        i++;
    if (i == MAPPINGS_MAX)
        return; /* the mapping is not remembered */
    mappings[i] = (struct sc_watch_run){lo, hi};
    used = i == used ? i + 1 : used;
}

void sc_lifetime_mapped(const void *addr, size_t bytes, int prot, int flags)
{
    if (bytes < MAPPING_LEAST || !sc_host_arena.bytes || sc_inside() || !(prot & PROT_WRITE) ||
        (flags & (MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_GROWSDOWN)) != (MAP_PRIVATE | MAP_ANONYMOUS))
        return;
    enter();
    put((uintptr_t)addr, sc_page_ceil((uintptr_t)addr + bytes));
    leave();
}

void sc_lifetime_unmapped(uintptr_t addr, size_t bytes)
{
    uintptr_t lo = sc_page_floor(addr), hi = sc_page_ceil(addr + bytes);

    if (!__atomic_load_n(&used, __ATOMIC_RELAXED) || hi <= lo)
        return;
    enter();
    for (int i = 0; i < used; i++) {
        struct sc_watch_run was = mappings[i];

        if (was.hi <= lo || was.lo >= hi)
            continue;
        mappings[i].hi = 0;
        if (was.lo < lo)
            put(was.lo, lo);
        if (was.hi > hi)
            put(hi, was.hi);
    }
    while (used && !mappings[used - 1].hi)
        used--;
    leave();
}

void sc_lifetime_stack(uintptr_t addr, size_t bytes)
{
    uintptr_t lo = sc_page_floor(addr), hi = sc_page_ceil(addr + bytes);

    sc_lifetime_unmapped(addr, bytes);
    if (hi <= lo || static_until(lo) == lo)
        return;
    enter();
    put_stack(lo, hi);
    leave();
}
/* SPDX-License-Identifier: BSD-2-Clause */
