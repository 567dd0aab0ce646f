/* Spans of one address: their addresses are those of a device's memory, too (host.h, placing).
 *
 * The zone is the second range of the arena.  The devices' driver chooses and reserves its addresses, once, at the first
 * such span.  The zone's units are handed out from below.  A span keeps its address and its size class for ever.
 *
 *     new --get--> united --put--> free --get--> united
 *                    \--separate--> with its contents, unpinned --put--> free
 *
 * The host's memory of a span is a shared mapping over the zone, with a second mapping elsewhere, the alias.  Units
 * without a span, and free spans, hold no memory of the host.  The zone is never unmapped: the addresses belong to the
 * driver. */
#define _GNU_SOURCE
#include "host/span.h"

#include <sys/mman.h>

#include "base/inside.h"
#include "base/locks.h"

#define ZONE_MOST ((size_t)512 << 30)
#define ZONE_LEAST ((size_t)1 << 30)

struct sc_host_range sc_host_zone;

static struct sc_host_span *records; /* one for each unit; used for the first unit of a span */
static uint32_t *heads;              /* unit -> first unit of its span */
static uint32_t units, next;         /* units [0, next) belong to spans */
static struct sc_ring unused[SC_SPAN_CLASSES];
static unsigned united;              /* number of united spans; atomic */

static enum sc_status begin(void *base, size_t bytes)
{
    units = (uint32_t)(bytes >> SC_SPAN_UNIT_SHIFT);
    records = sc_host_reserve(units * sizeof *records);
    heads = sc_host_reserve(units * sizeof *heads);
    if (!records || !heads)
        return SC_ERR_MEMORY;
    for (int i = 0; i < SC_SPAN_CLASSES; i++)
        sc_ring_init(&unused[i]);
    __atomic_store_n(&sc_host_zone.base, (uintptr_t)base, __ATOMIC_RELAXED);
    __atomic_store_n(&sc_host_zone.bytes, bytes, __ATOMIC_RELEASE);
    sc_host_hull_add(&sc_host_zone);
    return SC_OK;
}

/* Asks the driver once, for a quarter of the size after each refusal.  Pin lock held. */
static bool has_zone(const struct sc_host_placing *placing)
{
    static bool asked;
    void *base = NULL;

    sc_assert_held(SC_RANK_PIN);
    for (size_t bytes = ZONE_MOST; !asked && !base && bytes >= ZONE_LEAST; bytes /= 4)
        if (sc_host_within_limit(bytes) == bytes && placing->zone(bytes, &base) == SC_OK)
            begin(base, bytes);
    asked = true;
    return sc_host_zone.bytes;
}

static struct sc_host_span *new_span(uint32_t class, size_t pages)
{
    uint32_t count = (uint32_t)(pages >> (SC_SPAN_UNIT_SHIFT - SC_PAGE_SHIFT)), unit = next;
    struct sc_host_span *span = &records[unit];

    sc_assert_held(SC_RANK_SPAN);
    if (count > units - unit || sc_host_commit(span, count * sizeof *span) ||
        sc_host_commit(&heads[unit], count * sizeof *heads))
        return NULL;
    *span = (struct sc_host_span){.base = sc_host_zone.base + ((uintptr_t)unit << SC_SPAN_UNIT_SHIFT), .units = count,
                                  .pages = (uint32_t)pages, .class = class, .zoned = true};
    sc_ring_init(&span->link);
    sc_ring_init(&span->age);
    for (uint32_t i = 0; i < count; i++)
        heads[unit + i] = unit;
    __atomic_store_n(&next, unit + count, __ATOMIC_RELEASE);
    return span;
}

static struct sc_host_span *take(size_t pages)
{
    uint32_t class = sc_host_size_class(pages, &pages);
    struct sc_host_span *span;

    sc_host_spans_lock();
    if (sc_ring_empty(&unused[class])) {
        span = new_span(class, pages);
    } else {
        span = SC_RING_SPAN(unused[class].next, link);
        sc_ring_remove(&span->link);
    }
    sc_host_spans_unlock();
    return span;
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
    alias = sc_host_sys(SYS_mremap, (long)base, 0, (long)bytes, MREMAP_MAYMOVE, 0); /* a second mapping */
    span->alias = alias == -1 ? NULL : (char *)alias;
    return span->alias;
}

/* Pin lock held. */
static void give_back(struct sc_host_span *span)
{
    sc_assert_held(SC_RANK_PIN);
    sc_host_sys_mmap((void *)span->base, sc_host_span_bytes(span), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
    sc_host_spans_lock();
    sc_ring_push(&unused[span->class], &span->link);
    sc_host_spans_unlock();
}

static void drop_alias(struct sc_host_span *span)
{
    char *alias = span->alias;

    __atomic_store_n(&span->alias, NULL, __ATOMIC_RELEASE);
    sc_host_sys(SYS_munmap, (long)alias, (long)sc_host_span_bytes(span), 0, 0, 0);
}

/* Pin lock held. */
static bool unite(struct sc_host_span *span, const struct sc_host_placing *placing)
{
    size_t bytes = sc_host_span_bytes(span);

    if (!map_shared(span))
        return false;
    if (placing->pin(span->alias, bytes) == SC_OK) {
        if (placing->reserve((void *)span->base, bytes) == SC_OK) {
            span->unpin = placing->unpin;
            span->unreserve = placing->unreserve;
            __atomic_fetch_add(&united, 1, __ATOMIC_RELEASE);
            __atomic_store_n(&span->pinned, true, __ATOMIC_RELEASE);
            return true;
        }
        placing->unpin(span->alias, bytes);
    }
    drop_alias(span);
    return false;
}

struct sc_host_span *sc_host_zone_get(size_t pages, const struct sc_host_placing *placing)
{
    struct sc_host_span *span = NULL;

    sc_host_pins_lock();
    sc_inside_enter();
    if (placing->zone && has_zone(placing))
        span = take(pages);
    if (span && !unite(span, placing)) {
        give_back(span);
        span = NULL;
    }
    sc_inside_leave();
    sc_host_pins_unlock();
    return span;
}

void sc_host_zone_put(struct sc_host_span *span)
{
    sc_host_span_unpin(span);
    sc_host_pins_lock();
    give_back(span);
    sc_host_pins_unlock();
}

void sc_host_zone_separate(struct sc_host_span *span)
{
    size_t bytes = sc_host_span_bytes(span);

    sc_assert_held(SC_RANK_PIN);
    span->unpin(span->alias, bytes);
    span->unreserve((void *)span->base, bytes);
    __atomic_fetch_sub(&united, 1, __ATOMIC_RELEASE);
    drop_alias(span);
}

void sc_host_zone_unpin(void)
{
    for (uint32_t unit = 0; unit < __atomic_load_n(&next, __ATOMIC_ACQUIRE); unit += records[unit].units)
        sc_host_span_unpin(&records[unit]);
}

struct sc_host_span *sc_host_zone_span_at(const void *p)
{
    uint32_t unit;

    if (!sc_host_in_range(&sc_host_zone, p))
        return NULL;
    unit = (uint32_t)(((uintptr_t)p - sc_host_zone.base) >> SC_SPAN_UNIT_SHIFT);
    return unit < __atomic_load_n(&next, __ATOMIC_ACQUIRE) ? &records[heads[unit]] : NULL;
}

void sc_host_span_separate(const struct sc_host_block *block)
{
    struct sc_host_span *span = sc_host_span_at((const void *)block->base);

    if (span && span->alias)
        sc_host_span_unpin(span);
}

void *sc_host_alias(const void *p)
{
    struct sc_host_span *span = __atomic_load_n(&united, __ATOMIC_ACQUIRE) ? sc_host_zone_span_at(p) : NULL;
    char *alias = span ? __atomic_load_n(&span->alias, __ATOMIC_ACQUIRE) : NULL;

    return alias ? alias + ((uintptr_t)p - span->base) : (void *)p;
}
/* SPDX-License-Identifier: BSD-2-Clause */
