/* The reserved range and its spans (states: span.h).
 *
 * Two regions grow towards each other.  Spans of ordinary pages grow from below: superblocks, and sizes that would
 * waste much of a huge page.  Spans of huge pages grow from above.  Neighbours then have the same attributes, and
 * the system merges their mappings: vm.max_map_count is a budget.
 *
 * Lock order: protocol (callers), pin lock, span lock.  Under the span lock no memory of the program is touched and
 * no function outside this folder is called. */
#define _GNU_SOURCE
#include "host/span.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include "base/config.h"
#include "base/inside.h"
#include "base/locks.h"
#include "base/log.h"
#include "base/own_proc.h"

#define LEFT_LEAST ((size_t)512 << 20)    /* of a limited address space, left to the program */
#define ARENA_LEAST ((size_t)64 << 20)    /* a smaller reservation is not worth having */
#define HUGE_FROM_PAGES (3u << 8)         /* larger than 3 MiB: whole huge pages */
#define KEEP_UNPINNED ((size_t)32 << 20)  /* larger unpinned spans go back to the system when freed, as libc's do */
#define RELEASES_A_PUT 64
#define PIN_REFUSALS 100
#define COLOR_STEP 11u                    /* odd; the colours of neighbours differ by more than a prefetcher's reach */

struct sc_host_range sc_host_arena, sc_host_zone, sc_host_hull;

static struct sc_lock pin_lock = SC_LOCK(SC_RANK_PIN);  /* pinned, unpin of all spans */
static struct sc_lock span_lock = SC_LOCK(SC_RANK_SPAN); /* everything else in this file */
static bool devices_gone; /* at exit, and in a forked child, whose pins are the parent's: unpin is not called */

static struct sc_host_span *records; /* one for each unit; used for the first unit of a span */
static uint32_t *heads;              /* unit -> 1 + first unit of its span; 0: no span */
static uint32_t units, low, high;    /* units [0, low) and [high, units) belong to spans */
static uint32_t opened;              /* spans */

/* The zone: a record and a head for each unit, as above; units [0, next) belong to spans. */
static struct {
    struct sc_host_span *records;
    uint32_t *heads, units, next;
} zone;

static struct sc_ring cached[SC_SPAN_CLASSES], released[SC_SPAN_CLASSES];
static struct sc_ring by_age = {&by_age, &by_age}; /* cached spans, the youngest first */
static size_t cached_bytes, cache_limit;

/* Rule M13.  A handler may interrupt the holder, which is marked as inside semcache. */
void sc_host_spans_lock(void)
{
    sc_assert_not_held(SC_RANK_PIN);
    sc_assert_not_held(SC_RANK_PROTOCOL);
    sc_inside_enter();
    sc_lock_bare(&span_lock);
}

bool sc_host_spans_try_lock(void)
{
    sc_inside_enter();
    if (sc_try_lock_bare(&span_lock))
        return true;
    sc_inside_leave();
    return false;
}

void sc_host_spans_unlock(void)
{
    sc_unlock_bare(&span_lock);
    sc_inside_leave();
}

void sc_host_pins_lock(void)
{
    sc_lock(&pin_lock);
}

void sc_host_pins_unlock(void)
{
    sc_unlock(&pin_lock);
}

void sc_host_hull_add(const struct sc_host_range *range)
{
    uintptr_t lo = sc_host_hull.base, hi = lo + sc_host_hull.bytes;
    bool first = !sc_host_hull.bytes;

    lo = first || range->base < lo ? range->base : lo;
    hi = first || range->base + range->bytes > hi ? range->base + range->bytes : hi;
    __atomic_store_n(&sc_host_hull.bytes, hi - lo, __ATOMIC_RELEASE);
    __atomic_store_n(&sc_host_hull.base, lo, __ATOMIC_RELEASE);
}

uintptr_t sc_host_next_within(uintptr_t addr)
{
    const struct sc_host_range *const ranges[] = {&sc_host_arena, &sc_host_zone};
    uintptr_t next = UINTPTR_MAX;

    if (sc_host_within((const void *)addr))
        return addr;
    for (int i = 0; i < 2; i++)
        if (__atomic_load_n(&ranges[i]->bytes, __ATOMIC_ACQUIRE) && ranges[i]->base > addr && ranges[i]->base < next)
            next = ranges[i]->base;
    return next;
}

/* Eight size classes for each doubling: q * 2^shift pages with q in 9..16.  Up to 16 pages each count is a class.
 * Rounding wastes at most 1/8. */
uint32_t sc_host_size_class(size_t pages, size_t *rounded)
{
    const size_t huge = SC_SPAN_UNIT >> SC_PAGE_SHIFT;
    unsigned shift;

    if (pages > HUGE_FROM_PAGES)
        pages = (pages + huge - 1) / huge * huge;
    if (pages <= 16) {
        *rounded = pages;
        return (uint32_t)pages;
    }
    shift = 60u - (unsigned)__builtin_clzl(pages - 1);
    pages = (pages + ((size_t)1 << shift) - 1) >> shift;
    *rounded = pages << shift;
    return 8 * shift + (uint32_t)pages;
}

/* Reserves address space only: no memory, no commit charge. */
static void *reserve(size_t bytes)
{
    void *p = sc_host_sys_mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);

    return p == MAP_FAILED ? NULL : p;
}

static bool limit_of(int resource, struct rlimit *limit)
{
    return sc_host_sys(SYS_prlimit64, 0, resource, 0, (long)limit, 0) == 0;
}

/* Fields of statm in /proc: the address space, and data together with stacks and memory that counts as stack.  The
 * file is read by raw system calls, because the span lock is held. */
enum used { OF_ADDRESSES, OF_DATA = 5 };

static size_t used_bytes(enum used field)
{
    char text[128] = "", *at = text;
    int fd = (int)sc_host_sys(SYS_openat, AT_FDCWD, (long)SC_OWN_PROC "statm", O_RDONLY | O_CLOEXEC, 0, 0);
    long n = fd >= 0 ? sc_host_sys(SYS_read, fd, (long)text, sizeof text - 1, 0, 0) : 0;

    text[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        sc_host_sys(SYS_close, fd, 0, 0, 0, 0);
    for (int i = 0; i < (int)field; i++)
        strtoul(at, &at, 10);
    return strtoul(at, NULL, 10) << SC_PAGE_SHIFT;
}

/* The kernel does not apply a limit on data (ulimit -d) to the arena, so the arena observes the limit itself. */
static bool data_allows(size_t bytes)
{
    struct rlimit limit;

    return !limit_of(RLIMIT_DATA, &limit) || limit.rlim_cur == RLIM_INFINITY ||
           used_bytes(OF_DATA) + bytes <= limit.rlim_cur;
}

size_t sc_host_within_limit(size_t bytes)
{
    struct rlimit limit;
    size_t used, left;

    if (!limit_of(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return bytes;
    used = used_bytes(OF_ADDRESSES);
    left = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
    used = left / 2 > LEFT_LEAST ? left / 2 : LEFT_LEAST;
    left = left > used ? left - used : 0;
    return bytes < left ? bytes : left;
}

size_t sc_host_span_most;
static bool every_charge_counts; /* vm.overcommit_memory is 2 */

static bool counts_every_charge(void)
{
    char mode = '0';
    int fd = (int)sc_host_sys(SYS_openat, AT_FDCWD, (long)"/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC, 0, 0);

    if (fd >= 0) {
        sc_host_sys(SYS_read, fd, (long)&mode, 1, 0, 0);
        sc_host_sys(SYS_close, fd, 0, 0, 0, 0);
    }
    return mode == '2';
}

/* The kernel refuses a program's request for more than memory and swap together (Linux, __vm_enough_memory), but
 * does not check the reservation of the arena.  libc gets such requests, and fails as without the arena. */
static size_t memory_and_swap(void)
{
    struct sysinfo info;

    if (sc_host_sys(SYS_sysinfo, (long)&info, 0, 0, 0, 0) != 0)
        return SIZE_MAX;
    return ((size_t)info.totalram + (size_t)info.totalswap) * info.mem_unit;
}

/* The page below the arena is never accessible, because Linux lets mappings that count as stack grow downwards. */
static enum sc_status reserve_all(void)
{
    size_t bytes = sc_host_within_limit(sc_config.arena_bytes) & ~(SC_SPAN_UNIT - 1), count = 0;
    char *base = NULL;

    for (; bytes >= ARENA_LEAST; bytes = (bytes / 2) & ~(SC_SPAN_UNIT - 1)) {
        count = bytes >> SC_SPAN_UNIT_SHIFT;
        base = reserve(bytes + SC_SPAN_UNIT);
        if (base)
            break;
    }
    if (base) {
        records = reserve(count * sizeof *records);
        heads = reserve(count * sizeof *heads);
    }
    if (!base || !records || !heads)
        return SC_ERR_MEMORY;
    units = high = (uint32_t)count;
    __atomic_store_n(&sc_host_arena.base, ((uintptr_t)base + SC_SPAN_UNIT) & ~(SC_SPAN_UNIT - 1), __ATOMIC_RELAXED);
    __atomic_store_n(&sc_host_arena.bytes, bytes, __ATOMIC_RELEASE);
    sc_host_hull_add(&sc_host_arena);
    return SC_OK;
}

enum sc_status sc_host_spans_start(void)
{
    uint64_t limit = sc_host_memory_limit() / 4 / (uint64_t)(sc_config.ranks > 1 ? sc_config.ranks : 1);
    enum sc_status status = SC_OK;

    sc_host_spans_lock();
    if (!sc_host_arena.bytes) {
        for (int i = 0; i < SC_SPAN_CLASSES; i++) {
            sc_ring_init(&cached[i]);
            sc_ring_init(&released[i]);
        }
        cache_limit = (size_t)limit;
        every_charge_counts = counts_every_charge();
        sc_host_span_most = memory_and_swap();
        status = reserve_all();
    }
    sc_host_spans_unlock();
    if (status != SC_OK) /* without the lock: early in the start, logging has to look system calls up */
        sc_log(SC_LOG_WARN, "no address space for the arena (ulimit -v?): matrices will not stay on the devices");
    return status;
}

/* Makes [first, first + bytes) of a reservation accessible, in whole pages. */
static int commit(void *first, size_t bytes)
{
    uintptr_t from = sc_page_floor((uintptr_t)first);
    uintptr_t to = sc_page_ceil((uintptr_t)first + bytes);

    return sc_host_sys_mprotect((void *)from, to - from, PROT_READ | PROT_WRITE);
}

bool sc_host_span_room(size_t pages)
{
    sc_assert_held(SC_RANK_SPAN);
    return !every_charge_counts && high - low > units / 16 * 15 + (pages >> (SC_SPAN_UNIT_SHIFT - SC_PAGE_SHIFT));
}

/* With vm.overcommit_memory 2, a mapping that was never written loses its commit charge when it is closed.  One
 * written page keeps the charge for the whole mapping. */
static int commit_span(void *base, size_t bytes)
{
    void *got = sc_host_sys_mmap(base, bytes, PROT_READ | PROT_WRITE, SC_HOST_MAP_UNCOUNTED | MAP_FIXED);

    if (got == MAP_FAILED)
        return -1;
    if (every_charge_counts)
        *(volatile char *)base = 0;
    return 0;
}

/* Records are committed for every unit although only a span's first record is used: one mapping serves every record. */
static struct sc_host_span *open_span(uint32_t unit, uint32_t count, bool huge)
{
    char *base = (char *)sc_host_arena.base + ((size_t)unit << SC_SPAN_UNIT_SHIFT);
    size_t bytes = (size_t)count << SC_SPAN_UNIT_SHIFT;

    sc_assert_held(SC_RANK_SPAN);
    if (!data_allows(bytes))
        return NULL;
    if (commit(&records[unit], count * sizeof *records) || commit(&heads[unit], count * sizeof *heads) ||
        commit_span(base, bytes)) {
        sc_log_once(SC_LOG_WARN, "the system gives the arena no more memory: falling back to libc's");
        return NULL;
    }
    if (huge)
        sc_host_sys_madvise(base, bytes, MADV_HUGEPAGE); /* a refusal costs only speed */
    return &records[unit];
}

static struct sc_host_span *new_span(uint32_t class, size_t pages)
{
    uint32_t count = (uint32_t)(((pages << SC_PAGE_SHIFT) + SC_SPAN_UNIT - 1) >> SC_SPAN_UNIT_SHIFT), unit;
    bool huge = class != SC_SPAN_SUPER_CLASS && pages % (SC_SPAN_UNIT >> SC_PAGE_SHIFT) == 0;
    struct sc_host_span *span;

    sc_assert_held(SC_RANK_SPAN);
    if (count > high - low)
        return NULL;
    unit = huge ? high - count : low;
    span = open_span(unit, count, huge);
    if (!span)
        return NULL;
    if (huge)
        __atomic_store_n(&high, unit, __ATOMIC_RELEASE);
    else
        __atomic_store_n(&low, unit + count, __ATOMIC_RELEASE);
    span->base = sc_host_arena.base + ((uintptr_t)unit << SC_SPAN_UNIT_SHIFT);
    span->units = count;
    span->pages = (uint32_t)pages;
    span->class = class;
    span->color = opened++ * COLOR_STEP % SC_SPAN_COLORS;
    sc_ring_init(&span->link);
    sc_ring_init(&span->age);
    for (uint32_t i = 0; i < count; i++)
        __atomic_store_n(&heads[unit + i], unit + 1, __ATOMIC_RELEASE);
    return span;
}

enum sc_status sc_host_zone_start(void *base, size_t bytes)
{
    zone.units = (uint32_t)(bytes >> SC_SPAN_UNIT_SHIFT);
    zone.records = reserve(zone.units * sizeof *zone.records);
    zone.heads = reserve(zone.units * sizeof *zone.heads);
    if (!zone.records || !zone.heads)
        return SC_ERR_MEMORY;
    __atomic_store_n(&sc_host_zone.base, (uintptr_t)base, __ATOMIC_RELAXED);
    __atomic_store_n(&sc_host_zone.bytes, bytes, __ATOMIC_RELEASE);
    sc_host_hull_add(&sc_host_zone);
    return SC_OK;
}

struct sc_host_span *sc_host_zone_span(uint32_t class, size_t pages)
{
    uint32_t count = (uint32_t)(pages >> (SC_SPAN_UNIT_SHIFT - SC_PAGE_SHIFT)), unit = zone.next;
    struct sc_host_span *span = &zone.records[unit];

    sc_assert_held(SC_RANK_SPAN);
    if (count > zone.units - unit || commit(span, count * sizeof *span) ||
        commit(&zone.heads[unit], count * sizeof *zone.heads))
        return NULL;
    *span = (struct sc_host_span){.base = sc_host_zone.base + ((uintptr_t)unit << SC_SPAN_UNIT_SHIFT), .units = count,
                                  .pages = (uint32_t)pages, .class = class};
    sc_ring_init(&span->link);
    sc_ring_init(&span->age);
    for (uint32_t i = 0; i < count; i++)
        zone.heads[unit + i] = unit;
    __atomic_store_n(&zone.next, unit + count, __ATOMIC_RELEASE);
    return span;
}

static struct sc_host_span *free_span(uint32_t class)
{
    struct sc_ring *from = sc_ring_empty(&cached[class]) ? &released[class] : &cached[class];
    struct sc_host_span *span;

    sc_assert_held(SC_RANK_SPAN);
    if (sc_ring_empty(from))
        return NULL;
    span = SC_RING_SPAN(from->next, link);
    sc_ring_remove(&span->link);
    span->zero = from == &released[class];
    if (!span->zero) {
        sc_ring_remove(&span->age);
        cached_bytes -= sc_host_span_bytes(span);
    }
    return span;
}

struct sc_host_span *sc_host_span_get(uint32_t class, size_t pages)
{
    struct sc_host_span *span;

    sc_assert_held(SC_RANK_SPAN);
    if (!sc_host_arena.bytes || pages > sc_host_arena.bytes >> SC_PAGE_SHIFT)
        return NULL;
    span = free_span(class);
    if (span)
        return span;
    span = new_span(class, pages);
    if (span) {
        span->zero = true;
        return span;
    }
    /* The arena has no new addresses left: use a free span that is less than twice as large. */
    for (uint32_t c = class + 1; !span && class != SC_SPAN_SUPER_CLASS && c < class + 8 && c < SC_SPAN_CLASSES; c++)
        span = free_span(c);
    return span;
}

static void keep(struct sc_host_span *span)
{
    sc_assert_held(SC_RANK_SPAN);
    sc_ring_push(&cached[span->class], &span->link);
    sc_ring_push(&by_age, &span->age);
    cached_bytes += sc_host_span_bytes(span);
}

/* --- pins --------------------------------------------------------------------------------------------------------- */

void sc_host_span_note_pin(struct sc_host_span *span, size_t bytes, void (*unpin)(void *, size_t))
{
    sc_assert_held(SC_RANK_PIN);
    span->pinned_bytes = bytes;
    span->unpin = unpin;
    __atomic_store_n(&span->pinned, true, __ATOMIC_RELEASE);
}

void sc_host_span_unpin(struct sc_host_span *span)
{
    sc_host_pins_lock();
    if (span->pinned && !devices_gone) {
        sc_inside_enter();
        span->unpin((void *)sc_host_span_base(span), span->pinned_bytes);
        sc_inside_leave();
    }
    __atomic_store_n(&span->pinned, false, __ATOMIC_RELEASE);
    sc_host_pins_unlock();
}

/* Gives the memory of a span that is in no list back to the system; called without the lock.  The span is unpinned
 * first, because a device must not write to pages that the span has lost. */
static void release(struct sc_host_span *span)
{
    void *base = (void *)sc_host_span_base(span);
    bool zero;

    sc_host_span_unpin(span);
    zero = sc_host_sys_madvise(base, sc_host_span_bytes(span), MADV_DONTNEED) == 0;
    sc_host_spans_lock();
    if (zero)
        sc_ring_push(&released[span->class], &span->link);
    else /* the program has locked the memory, so the pages stay */
        keep(span);
    sc_host_spans_unlock();
}

/* Removes the oldest span from a cache that exceeds its limit; NULL when the cache does not. */
static struct sc_host_span *oldest_surplus(void)
{
    struct sc_host_span *span = NULL;

    sc_host_spans_lock();
    if (cached_bytes > cache_limit && !sc_ring_empty(&by_age)) {
        span = SC_RING_SPAN(by_age.prev, age);
        sc_ring_remove(&span->link);
        sc_ring_remove(&span->age);
        cached_bytes -= sc_host_span_bytes(span);
    }
    sc_host_spans_unlock();
    return span;
}

void sc_host_span_put(struct sc_host_span *span)
{
    int saved = errno;

    if (span->put) {
        span->put(span);
    } else if (!__atomic_load_n(&span->pinned, __ATOMIC_ACQUIRE) && sc_host_span_used(span) > KEEP_UNPINNED) {
        release(span);
    } else {
        if (sc_host_span_used(span) < sc_host_span_bytes(span)) /* the next owner may need all pages pinned */
            sc_host_span_unpin(span);
        sc_host_spans_lock();
        keep(span);
        sc_host_spans_unlock();
        /* Bounded, because a span that cannot be released returns to the cache. */
        for (int i = 0; i < RELEASES_A_PUT && (span = oldest_surplus()); i++)
            release(span);
    }
    errno = saved;
}

static struct sc_host_span *zone_span_at(const void *p)
{
    uint32_t unit = (uint32_t)(((uintptr_t)p - sc_host_zone.base) >> SC_SPAN_UNIT_SHIFT);

    return unit < __atomic_load_n(&zone.next, __ATOMIC_ACQUIRE) ? &zone.records[zone.heads[unit]] : NULL;
}

void *sc_host_alias(const void *p)
{
    struct sc_host_span *span = sc_host_in_range(&sc_host_zone, p) ? zone_span_at(p) : NULL;
    char *alias = span ? __atomic_load_n(&span->alias, __ATOMIC_ACQUIRE) : NULL;

    return alias ? alias + ((uintptr_t)p - span->base) : (void *)p;
}

struct sc_host_span *sc_host_span_at(const void *p)
{
    uint32_t unit, head;

    if (!sc_host_in_range(&sc_host_arena, p) || !heads)
        return sc_host_in_range(&sc_host_zone, p) ? zone_span_at(p) : NULL;
    unit = (uint32_t)(((uintptr_t)p - sc_host_arena.base) >> SC_SPAN_UNIT_SHIFT);
    /* The heads of units between the regions are not committed yet. */
    if (unit >= __atomic_load_n(&low, __ATOMIC_ACQUIRE) && unit < __atomic_load_n(&high, __ATOMIC_ACQUIRE))
        return NULL;
    head = __atomic_load_n(&heads[unit], __ATOMIC_ACQUIRE);
    return head ? &records[head - 1] : NULL;
}

enum sc_status sc_host_span_pin(const struct sc_host_block *block, enum sc_status (*pin)(void *, size_t),
                                void (*unpin_call)(void *, size_t))
{
    struct sc_host_span *span = sc_host_span_at((const void *)block->base);
    enum sc_status status = SC_OK;

    if (!span)
        return SC_ERR_INVALID;
    if (__atomic_load_n(&span->pinned, __ATOMIC_ACQUIRE))
        return SC_OK;
    sc_host_pins_lock();
    if (!span->pinned && span->unpinnable) {
        span->unpinnable--;
        status = SC_ERR_MEMORY;
    } else if (!span->pinned) {
        size_t bytes = sc_host_span_used(span);

        sc_inside_enter();
        status = pin((void *)sc_host_span_base(span), bytes);
        sc_inside_leave();
        if (status == SC_OK) {
            sc_host_span_note_pin(span, bytes, unpin_call);
        } else {
            span->unpinnable = PIN_REFUSALS; /* an attempt may cost the driver milliseconds */
        }
    }
    sc_host_pins_unlock();
    return status;
}

void sc_host_span_empty(struct sc_host_span *span, void *first, size_t bytes)
{
    bool done;

    sc_host_pins_lock();
    done = !span->pinned && sc_host_sys_madvise(first, bytes, MADV_DONTNEED) == 0;
    sc_host_pins_unlock();
    if (!done)
        memset(first, 0, bytes);
}

static void unpin_region(struct sc_host_span *span, uint32_t from, uint32_t to)
{
    for (uint32_t unit = from; unit < to; unit += span[unit].units)
        sc_host_span_unpin(&span[unit]);
}

void sc_host_spans_unpin(void)
{
    uint32_t below, above, in_zone;

    sc_host_spans_lock();
    below = low;
    above = high;
    in_zone = zone.next;
    sc_host_spans_unlock();
    unpin_region(records, 0, below);
    unpin_region(records, above, units);
    unpin_region(zone.records, 0, in_zone);
}

void sc_host_spans_leave_pinned(void)
{
    sc_host_pins_lock();
    devices_gone = true;
    sc_host_pins_unlock();
}

void sc_host_spans_fork_prepare(void)
{
    sc_host_pins_lock();
    sc_lock_bare(&span_lock);
}

void sc_host_spans_fork_parent(void)
{
    sc_unlock_bare(&span_lock);
    sc_host_pins_unlock();
}

void sc_host_spans_fork_child(void)
{
    devices_gone = true;
    sc_host_spans_fork_parent();
}
/* SPDX-License-Identifier: BSD-2-Clause */
