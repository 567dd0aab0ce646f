/* Blocks: the arena's answer to malloc.  Blocks below 1 MiB share superblocks, and a superblock holds blocks of a
 * single size class.  A larger block has a span of its own (host/span.c).  Every block begins and ends on a page
 * boundary: protecting the pages of a block never touches bytes of a second block or libc's own data.
 *
 * All bookkeeping lies outside the arena (rule M5).  Allocation and free do not touch the memory itself, except that
 * zeros are written, on the caller's thread and without a lock. */
#include "host/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/config.h"
#include "base/inside.h"
#include "base/locks.h"
#include "host/fork.h"
#include "host/span.h"
#include "host/syscall_ranges.h"

#define SHARED_BELOW_PAGES 256u /* smaller blocks lie in superblocks */
#define SHARED_CLASSES 64
#define COLORED_FROM_PAGES 8192u /* 32 MiB: room for a colour costs at most a huge page, 1/16.  Smaller blocks are
                                  * coloured as far as their class has room. */

#define ROOM 8u /* times the first size of a growing block */

size_t sc_host_arena_from = SIZE_MAX;

/* For each class of block: the superblocks with at least a free block. */
static struct sc_ring partial[SHARED_CLASSES];

static bool bit(const uint64_t *words, uint32_t i)
{
    return __atomic_load_n(&words[i / 64], __ATOMIC_RELAXED) >> i % 64 & 1;
}
/* For bits that are also set without the span lock: tracked, odd, lost. */
static void set(uint64_t *words, uint32_t i) { __atomic_fetch_or(&words[i / 64], 1ul << i % 64, __ATOMIC_RELAXED); }
static void clear(uint64_t *words, uint32_t i)
{
    if (bit(words, i))
        __atomic_fetch_and(&words[i / 64], ~(1ul << i % 64), __ATOMIC_RELAXED);
}
/* For bits that change only under the span lock: live, dirty. */
static void change(uint64_t *words, uint32_t i, bool on)
{
    uint64_t others = words[i / 64] & ~(1ul << i % 64);

    sc_assert_held(SC_RANK_SPAN);
    __atomic_store_n(&words[i / 64], others | (uint64_t)on << i % 64, __ATOMIC_RELAXED);
}

static size_t pages_of_block(const struct sc_host_span *span)
{
    return __atomic_load_n(&span->block_pages, __ATOMIC_RELAXED);
}
static size_t block_bytes(const struct sc_host_span *span) { return pages_of_block(span) << SC_PAGE_SHIFT; }
static uintptr_t block_base(const struct sc_host_span *span, uint32_t i)
{
    return sc_host_span_base(span) + ((size_t)span->before << SC_PAGE_SHIFT) + i * block_bytes(span);
}

/* --- allocation -------------------------------------------------------------------------------------------------- */

enum sc_status sc_host_arena_start(void)
{
    enum sc_status status = sc_host_spans_start();

    if (status != SC_OK)
        return status;
    sc_host_spans_lock();
    if (!partial[0].next)
        for (int i = 0; i < SHARED_CLASSES; i++)
            sc_ring_init(&partial[i]);
    sc_host_spans_unlock();
    sc_host_fork_start();
    __atomic_store_n(&sc_host_arena_from, sc_config.arena_min ? sc_config.arena_min : 1, __ATOMIC_RELEASE);
    return SC_OK;
}

/* Cuts a span behind its first `before` pages into blocks and marks every block free. */
static void cut(struct sc_host_span *span, uint32_t before, uint32_t block_pages)
{
    sc_assert_held(SC_RANK_SPAN);
    span->before = before;
    __atomic_store_n(&span->block_pages, block_pages, __ATOMIC_RELAXED);
    span->growing = false;
    span->blocks = span->free_blocks = (span->pages - before) / block_pages;
    if (span->blocks > SC_SPAN_BLOCKS_MAX)
        span->blocks = span->free_blocks = SC_SPAN_BLOCKS_MAX;
    memset(span->live, 0, sizeof span->live);
    memset(span->tracked, 0, sizeof span->tracked);
    memset(span->odd, 0, sizeof span->odd);
    memset(span->lost, 0, sizeof span->lost);
    memset(span->dirty, span->zero ? 0 : 0xff, sizeof span->dirty);
}

static uint32_t first_free(const struct sc_host_span *span)
{
    uint32_t w = 0;

    while (!~span->live[w])
        w++;
    return 64 * w + (uint32_t)__builtin_ctzl(~span->live[w]);
}

/* Pages in front of the only block of a span, of at least `pages` pages. Without them all arrays would begin at the
 * same offset in a huge page. A loop over several arrays would then evict its own data from the CPU's caches: a
 * product with a sparse matrix took 1.7 times as long. */
static uint32_t color_of(const struct sc_host_span *span, size_t pages, size_t align)
{
    size_t room = span->pages - pages;

    return align > SC_PAGE ? 0 : span->color % (uint32_t)(room < SC_SPAN_COLORS ? room + 1 : SC_SPAN_COLORS);
}

/* Returns a span of the class that has a free block of at least `least` pages, and of `pages` in a superblock; the span
 * lock is held.  A shared span is in the list of its class. */
static struct sc_host_span *span_with_room(uint32_t class, size_t pages, size_t least, size_t align)
{
    struct sc_host_span *span;

    sc_assert_held(SC_RANK_SPAN);
    if (pages >= SHARED_BELOW_PAGES) {
        uint32_t before;

        span = sc_host_span_get(class, pages);
        if (!span)
            return NULL;
        before = color_of(span, least, align);
        cut(span, before, span->pages - before);
        return span;
    }
    if (!sc_ring_empty(&partial[class]))
        return SC_RING_SPAN(partial[class].next, link);
    span = sc_host_span_get(SC_SPAN_SUPER_CLASS, SC_SPAN_SUPER_BYTES >> SC_PAGE_SHIFT);
    if (span) {
        cut(span, 0, (uint32_t)pages);
        sc_ring_push(&partial[class], &span->link);
    }
    return span;
}

/* Number of pages of a request, before rounding to a size class. */
static size_t pages_for(size_t bytes, size_t align)
{
    size_t pages = (bytes >> SC_PAGE_SHIFT) + (bytes % SC_PAGE != 0);

    if (align > SC_PAGE && pages < SHARED_BELOW_PAGES) /* superblocks align to a page only */
        return SHARED_BELOW_PAGES;
    return pages < 2 ? 2 : pages; /* SC_SPAN_BLOCKS_MAX blocks of two pages fill a superblock */
}

/* Hands a free block of the span out.  The span lock is held. */
static void *take(struct sc_host_span *span, bool *dirty)
{
    uint32_t i = first_free(span);

    sc_assert_held(SC_RANK_SPAN);
    clear(span->tracked, i);
    change(span->live, i, true);
    *dirty = bit(span->dirty, i);
    change(span->dirty, i, true);
    if (!--span->free_blocks)
        sc_ring_remove(&span->link);
    return (void *)block_base(span, i);
}

/* In an orphan the span lock may be held by a thread of the parent. */
static bool serves(size_t bytes) { return bytes <= sc_host_arena.bytes && !sc_host_orphan(); }

void *sc_host_arena_alloc(size_t bytes, size_t align, bool zero)
{
    struct sc_host_span *span;
    size_t least, pages = 0;
    uint32_t class;
    bool dirty = false;
    int saved = errno;
    void *p = NULL;

    if (align > SC_SPAN_UNIT || !serves(bytes))
        return NULL;
    least = pages_for(bytes, align);
    class = sc_host_size_class(least + (least < COLORED_FROM_PAGES ? 0 : SC_SPAN_COLORS - 1), &pages);
    sc_host_spans_lock();
    span = span_with_room(class, pages, least, align);
    if (span)
        p = take(span, &dirty);
    sc_host_spans_unlock();
    errno = saved;
    if (zero && dirty) /* rule M4 */
        memset(p, 0, bytes);
    return p;
}

void *sc_host_arena_alloc_growing(size_t bytes)
{
    size_t least = pages_for(bytes, SC_PAGE), pages = 0;
    struct sc_host_span *span = NULL;
    int saved = errno;
    uint32_t class;
    bool dirty;
    void *p = NULL;

    if (bytes <= sc_host_arena.bytes / ROOM && serves(bytes)) {
        class = sc_host_size_class(ROOM * least + SC_SPAN_COLORS - 1, &pages);
        sc_host_spans_lock();
        span = sc_host_span_room(pages) ? sc_host_span_get(class, pages) : NULL;
        if (span) {
            cut(span, color_of(span, ROOM * least, SC_PAGE), (uint32_t)least);
            span->blocks = span->free_blocks = 1;
            span->growing = true;
            p = take(span, &dirty);
        }
        sc_host_spans_unlock();
        errno = saved;
    }
    return p ? p : sc_host_arena_alloc(bytes, SC_PAGE, false);
}

bool sc_host_arena_grow(void *block, size_t bytes)
{
    struct sc_host_span *span = sc_host_span_at(block);
    size_t pages = pages_for(bytes, SC_PAGE), end;
    bool grows;

    if (!span || !span->growing || sc_host_orphan())
        return false;
    sc_host_pins_lock();
    if (!sc_host_spans_try_lock()) { /* rule M13 */
        sc_host_pins_unlock();
        return false;
    }
    end = span->before + pages;
    grows = span->growing && bit(span->live, 0) && block_base(span, 0) == (uintptr_t)block && !bit(span->tracked, 0) &&
            !bit(span->odd, 0) && pages >= span->block_pages && end <= span->pages &&
            (!span->pinned || end << SC_PAGE_SHIFT <= span->pinned_bytes);
    if (grows)
        __atomic_store_n(&span->block_pages, (uint32_t)pages, __ATOMIC_RELAXED);
    sc_host_spans_unlock();
    sc_host_pins_unlock();
    return grows;
}

void *sc_host_arena_whole(struct sc_host_span *span)
{
    sc_host_spans_lock();
    span->zero = true;
    cut(span, 0, span->pages);
    change(span->live, 0, true);
    change(span->dirty, 0, true);
    span->free_blocks--;
    sc_host_spans_unlock();
    return (void *)block_base(span, 0);
}

/* --- what lies where --------------------------------------------------------------------------------------------- */

/* The span and index of the live block at p, or NULL. */
static struct sc_host_span *find(const void *p, uint32_t *index)
{
    struct sc_host_span *span = sc_host_span_at(p);
    size_t pages = span ? pages_of_block(span) : 0, i;

    if (!pages)
        return NULL;
    i = (((uintptr_t)p - sc_host_span_base(span)) >> SC_PAGE_SHIFT);
    if (i < span->before)
        return NULL;
    i = span->blocks == 1 && i - span->before < pages ? 0 : (uint32_t)(i - span->before) / (uint32_t)pages;
    if (i >= span->blocks || !bit(span->live, (uint32_t)i))
        return NULL;
    *index = (uint32_t)i;
    return span;
}

bool sc_host_in_arena(const void *p) { return sc_host_within(p); }

bool sc_host_block_of(const void *p, struct sc_host_block *block)
{
    uint32_t i;
    const struct sc_host_span *span = find(p, &i);

    if (!span || bit(span->odd, i))
        return false;
    block->base = block_base(span, i);
    block->bytes = block_bytes(span);
    block->span_base = sc_host_span_base(span);
    block->span_bytes = (size_t)span->pages << SC_PAGE_SHIFT;
    return true;
}

bool sc_host_freed(const void *p)
{
    uint32_t i;

    return sc_host_in_arena(p) && !find(p, &i);
}

size_t sc_host_arena_size(const void *p)
{
    uint32_t i;
    const struct sc_host_span *span = find(p, &i);

    return span && block_base(span, i) == (uintptr_t)p ? block_bytes(span) : 0;
}

bool sc_host_arena_tracked(const void *p)
{
    uint32_t i;
    const struct sc_host_span *span = find(p, &i);

    return span && bit(span->tracked, i);
}

void sc_host_block_track(const void *p)
{
    uint32_t i;
    struct sc_host_span *span = find(p, &i);

    if (!span || bit(span->tracked, i))
        return;
    /* A mapping first touched while protections split it never merges again, so a byte is touched now.  An atomic "or
     * 0" loses no write that a thread of the program makes at the same moment. */
    __atomic_fetch_or((char *)block_base(span, i), 0, __ATOMIC_RELAXED);
    set(span->tracked, i);
}

/* --- the end of a block ------------------------------------------------------------------------------------------ */

static void free_block(struct sc_host_span *span, uint32_t i)
{
    bool empty;

    sc_host_uses_forget(block_base(span, i), block_bytes(span));
    if (bit(span->odd, i)) /* often a guard page; the next owner needs open pages */
        sc_host_sys_mprotect((void *)block_base(span, i), block_bytes(span), PROT_READ | PROT_WRITE);
    sc_host_spans_lock();
    change(span->live, i, false);
    clear(span->tracked, i);
    clear(span->odd, i);
    empty = ++span->free_blocks == span->blocks;
    if (empty)
        sc_ring_remove(&span->link);
    else if (span->free_blocks == 1)
        sc_ring_push(&partial[sc_host_size_class(span->block_pages, &(size_t){0})], &span->link);
    sc_host_spans_unlock();
    if (empty)
        sc_host_span_put(span);
}

void sc_host_arena_free(void *p)
{
    uint32_t i;
    struct sc_host_span *span = find(p, &i);

    if (span && !bit(span->lost, i))
        free_block(span, i);
}

bool sc_host_arena_free_untracked(void *p)
{
    uint32_t i;
    struct sc_host_span *span = find(p, &i);

    if (!span || block_base(span, i) != (uintptr_t)p || bit(span->tracked, i) || bit(span->lost, i))
        return false;
    free_block(span, i);
    return true;
}

/* Walks the live blocks that intersect [*addr, end).  Returns the span and index of the next block, with the
 * intersection in [*from, *to), and moves *addr past the block. */
static struct sc_host_span *next_block(uintptr_t *addr, uintptr_t end, uint32_t *i, uintptr_t *from, uintptr_t *to)
{
    while ((*addr = sc_host_next_within(*addr)) < end) {
        struct sc_host_span *span = find((const void *)*addr, i);

        *from = *addr;
        if (span)
            *addr = block_base(span, *i) + block_bytes(span);
        else
            *addr = sc_host_span_at((const void *)*addr) ? sc_page_floor(*addr) + SC_PAGE
                                                         : (*addr & ~(SC_SPAN_UNIT - 1)) + SC_SPAN_UNIT;
        *to = *addr < end ? *addr : end;
        if (span)
            return span;
    }
    return NULL;
}

void sc_host_arena_abandon(uintptr_t addr, size_t bytes, bool lost)
{
    uintptr_t end = addr + bytes, from, to;
    struct sc_host_span *span;
    uint32_t i;

    while ((span = next_block(&addr, end, &i, &from, &to))) {
        set(span->odd, i); /* before drop: a call that found the block earlier has ended when drop returns */
        sc_host_withdraw(block_base(span, i), block_bytes(span), NULL, NULL);
        if (lost)
            set(span->lost, i);
    }
}

struct emptied {
    struct sc_host_span *span;
    uintptr_t from, to;
};

static void empty(void *arg)
{
    const struct emptied *e = arg;

    sc_host_span_empty(e->span, (void *)e->from, e->to - e->from);
}

/* Unless the whole block is emptied, its data is first brought to host memory: calls of other threads may be at work on
 * other parts of the block. No call may hold the block when the pages are emptied, because their copies on devices
 * would keep the old contents. */
void sc_host_arena_empty(uintptr_t addr, size_t bytes)
{
    uintptr_t end = addr + sc_page_ceil(bytes);
    struct emptied e;
    uint32_t i;

    while ((e.span = next_block(&addr, end, &i, &e.from, &e.to))) {
        uintptr_t base = block_base(e.span, i);
        size_t whole = block_bytes(e.span);

        if (e.to - e.from == whole && bit(e.span->tracked, i))
            sc_host_forget(base, whole);
        sc_host_withdraw(base, whole, empty, &e);
    }
}

/* --- for the library itself -------------------------------------------------------------------------------------- */

void *sc_host_alloc(size_t bytes) { return sc_host_arena_alloc(bytes, SC_PAGE, false); }
void sc_host_free(void *p)
{
    if (p)
        sc_host_arena_free(p);
}
/* SPDX-License-Identifier: BSD-2-Clause */
