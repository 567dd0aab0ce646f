/* Spans of one address: their addresses are those of a device's memory, too (host.h, placing).
 *
 * The zone is the second range of the arena.  At the first such span the devices' driver chooses and reserves the
 * addresses.  Units are handed out from below.  A span keeps its address and its size class for ever;
 * its pages are those asked for, in whole units.
 *
 *     new --get--> united --put--> free --get--> united
 *                    \--separate--> with its contents, unpinned --put--> free
 *
 * The host's memory of a span is a shared mapping over the zone, with a second mapping elsewhere, the alias.  Units
 * without a span, and free spans, hold no memory of the host.  The zone is never unmapped: the addresses belong to the
 * driver. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "base/inside.h"
#include "base/locks.h"
#include "host/arena.h"
#include "host/span.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* from Linux 5.14 on; earlier kernels return EINVAL */
#endif

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* from Linux 6.1 on */
#endif

#define HUGE_STEP ((size_t)64 << 20) /* bytes of a step, at most, to memory that has no huge pages left */
#define ZONE_MOST ((size_t)512 << 30)
#define ZONE_LEAST ((size_t)1 << 30)

static struct sc_ring unused[SC_SPAN_CLASSES]; /* under the span lock */

/* Asks the driver once, for a quarter of the size after each refusal.  Pin lock held. */
static bool has_zone(const struct sc_host_placing *placing)
{
    static bool asked;
    void *base = NULL;

    sc_assert_held(SC_RANK_PIN);
    for (size_t bytes = ZONE_MOST; !asked && !base && bytes >= ZONE_LEAST; bytes /= 4)
        if (sc_host_within_limit(bytes) == bytes && placing->zone(bytes, &base) == SC_OK)
            sc_host_zone_start(base, bytes);
    for (int i = 0; !asked && i < SC_SPAN_CLASSES; i++)
        sc_ring_init(&unused[i]);
    asked = true;
    return sc_host_zone.bytes;
}

static struct sc_host_span *take(size_t pages)
{
    size_t room;
    uint32_t class = sc_host_size_class(pages, &room);
    struct sc_host_span *span;

    sc_host_spans_lock();
    if (sc_ring_empty(&unused[class])) {
        span = sc_host_zone_span(class, room);
    } else {
        span = SC_RING_SPAN(unused[class].next, link);
        sc_ring_remove(&span->link);
    }
    if (span)
        span->pages = (uint32_t)pages;
    sc_host_spans_unlock();
    return span;
}

/* Allocates new shared memory as huge pages, as far as the system has some.  Closing or opening 1 GiB in pages of 4 KiB
 * takes 20 ms, and the CPU reads huge pages 1.5 times as fast.  Systems rarely permit huge pages of shared memory by
 * MADV_HUGEPAGE alone; MADV_COLLAPSE asks for no permission, and for a page that exists in each huge page. */
static void make_huge(char *base, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += HUGE_STEP) {
        size_t step = bytes - at < HUGE_STEP ? bytes - at : HUGE_STEP;

        for (size_t unit = 0; unit < step; unit += SC_SPAN_UNIT)
            if (sc_host_sys_madvise(base + at + unit, SC_PAGE, MADV_POPULATE_READ))
                return;
        if (sc_host_sys_madvise(base + at, step, MADV_COLLAPSE))
            return;
    }
}

static bool map_shared(struct sc_host_span *span)
{
    void *base = (void *)span->base;
    size_t bytes = sc_host_span_bytes(span);
    long alias;

    if (sc_host_sys_mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED) ==
        MAP_FAILED)
        return false;
    sc_host_sys_madvise(base, bytes, MADV_HUGEPAGE);
    make_huge(base, bytes);
    alias = sc_host_sys(SYS_mremap, (long)base, 0, (long)bytes, MREMAP_MAYMOVE, 0); /* a second mapping */
    span->alias = alias == -1 ? NULL : (char *)alias;
    return span->alias;
}

static void unmap(struct sc_host_span *span)
{
    sc_assert_held(SC_RANK_PIN);
    sc_host_sys_mmap((void *)span->base, sc_host_span_bytes(span), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
}

static void give_back(struct sc_host_span *span)
{
    sc_host_spans_lock();
    sc_ring_push(&unused[span->class], &span->link);
    sc_host_spans_unlock();
}

static void put(struct sc_host_span *span)
{
    sc_host_span_unpin(span);
    sc_host_pins_lock();
    unmap(span);
    sc_host_pins_unlock();
    give_back(span);
}

static void drop_alias(struct sc_host_span *span)
{
    char *alias = span->alias;

    __atomic_store_n(&span->alias, NULL, __ATOMIC_RELEASE);
    sc_host_sys(SYS_munmap, (long)alias, (long)sc_host_span_bytes(span), 0, 0, 0);
}

/* The shared mapping stays, with its contents.  Pin lock held. */
static void separate(void *base, size_t bytes)
{
    struct sc_host_span *span = sc_host_span_at(base);

    sc_assert_held(SC_RANK_PIN);
    span->placing->unpin(span->alias, bytes);
    span->placing->unreserve(base, span->united);
    drop_alias(span);
}

/* Pin lock held. */
static bool unite(struct sc_host_span *span, const struct sc_host_placing *placing)
{
    size_t bytes = sc_host_span_bytes(span);

    sc_assert_held(SC_RANK_PIN);
    if (!map_shared(span))
        return false;
    if (placing->pin(span->alias, bytes) == SC_OK) {
        if (placing->reserve((void *)span->base, bytes) == SC_OK) {
            /* Pinning has allocated the pages.  Mapping them together costs the program a quarter of the time of a
             * page fault for each page, which the first touches would cost. */
            sc_host_sys_madvise((void *)span->base, bytes, MADV_POPULATE_READ);
            span->placing = placing;
            span->united = bytes;
            span->put = put;
            sc_host_span_note_pin(span, bytes, separate);
            return true;
        }
        placing->unpin(span->alias, bytes);
    }
    drop_alias(span);
    return false;
}

static bool may_take(const struct sc_host_placing *placing)
{
    bool may;

    sc_host_pins_lock();
    sc_inside_enter();
    may = has_zone(placing);
    sc_inside_leave();
    sc_host_pins_unlock();
    return may;
}

void *sc_host_united_alloc(size_t bytes, const struct sc_host_placing *placing)
{
    size_t span_units = bytes ? (bytes + SC_SPAN_UNIT - 1) >> SC_SPAN_UNIT_SHIFT : 1;
    struct sc_host_span *span = NULL;
    bool united = false;

    if (!placing->zone || bytes > ZONE_MOST || sc_host_orphan())
        return NULL;
    if (may_take(placing))
        span = take(span_units << (SC_SPAN_UNIT_SHIFT - SC_PAGE_SHIFT));
    if (!span)
        return NULL;
    sc_host_pins_lock();
    sc_inside_enter();
    united = unite(span, placing);
    if (!united)
        unmap(span);
    sc_inside_leave();
    sc_host_pins_unlock();
    if (united)
        return sc_host_arena_whole(span);
    give_back(span);
    return NULL;
}

void sc_host_span_separate(const struct sc_host_block *block, size_t keep)
{
    struct sc_host_span *span = sc_host_span_at((const void *)block->base);

    if (!span || !span->alias)
        return;
    if (!keep) {
        sc_host_span_unpin(span);
    } else if (keep < span->united) {
        sc_host_pins_lock();
        sc_inside_enter();
        span->placing->unreserve((char *)span->base + keep, span->united - keep);
        span->united = keep;
        sc_inside_leave();
        sc_host_pins_unlock();
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
