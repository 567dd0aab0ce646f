/* A span is the arena's unit of address space, of committed memory and of pinning.  A span is cut into blocks of one
 * size (host/arena.c): superblocks of 4 MiB into many, larger spans into one.
 *
 * A span keeps its address and its size class for ever.  Freed spans keep their memory and their pin in a cache,
 * because pinning costs as much as a transfer.  When the cache exceeds its limit, the spans that were unused longest
 * are released to the system.
 *
 *     new --get--> used --put--> cached --get--> used
 *                          \       \--(too much)--> released --get--> used
 *                           \--(large, not pinned)--^
 * / */
#ifndef SC_HOST_SPAN_H
#define SC_HOST_SPAN_H

#include "host/host_int.h"

#define SC_SPAN_UNIT_SHIFT 21 /* spans start at multiples of 2 MiB, a huge page */
#define SC_SPAN_UNIT ((size_t)1 << SC_SPAN_UNIT_SHIFT)
#define SC_SPAN_SUPER_BYTES ((size_t)4 << 20)
#define SC_SPAN_SUPER_CLASS 0
#define SC_SPAN_CLASSES 256
#define SC_SPAN_BLOCKS_MAX 512 /* in one span; the smallest block has two pages */
#define SC_SPAN_COLORS 64 /* spans that are opened one after another have different colours */
#define SC_SPAN_WORDS (SC_SPAN_BLOCKS_MAX / 64)

struct sc_ring {
    struct sc_ring *prev, *next;
};

/* Fields are changed under the span lock, except where noted.  live, tracked and odd are read without the lock. */
struct sc_host_span {
    struct sc_ring link;  /* in a list of its class: cached, released, or superblocks with free blocks */
    struct sc_ring age;   /* in the list of cached spans by age */
    uintptr_t base;       /* a multiple of SC_SPAN_UNIT */
    uint32_t units;       /* extent, in SC_SPAN_UNIT */
    uint32_t pages;       /* usable pages, fixed by the class */
    uint32_t class;
    uint32_t block_pages; /* read without the lock; of a growing span changed while the block lives, by its owner */
    uint32_t blocks, free_blocks;
    uint32_t color;       /* of the span, below SC_SPAN_COLORS */
    uint32_t before;      /* pages in front of the first block, chosen by the colour when the span is cut */
    bool zero;            /* when sc_host_span_get returns: all bytes are 0 */
    bool growing;         /* has one block, which may grow over the pages behind it */
    bool pinned;          /* under the pin lock; read without */
    size_t pinned_bytes;  /* from the base, while pinned; under the pin lock */
    uint8_t unpinnable;   /* under the pin lock: number of requests to refuse before the next attempt to pin */
    void (*unpin)(void *base, size_t bytes);
    char *alias;          /* of a united span: its second mapping; under the pin lock, read without */
    const struct sc_host_placing *placing; /* of a united span */
    size_t united;        /* bytes from the base with one address */
    void (*put)(struct sc_host_span *span); /* of a span of the zone: in place of sc_host_span_put; else NULL */
    /* One bit for each block. */
    uint64_t live[SC_SPAN_WORDS];    /* handed out */
    uint64_t tracked[SC_SPAN_WORDS]; /* sc_host_block_track was called in this life; set without the lock */
    uint64_t dirty[SC_SPAN_WORDS];   /* may hold bytes other than 0 when free */
    uint64_t odd[SC_SPAN_WORDS];     /* cannot be tracked: the program changed its pages, or libc keeps some */
    uint64_t lost[SC_SPAN_WORDS];    /* its pages were replaced by a mapping: never handed out again */
};

extern const char *sc_host_cgroup_root, *sc_host_cgroup_self;

extern size_t sc_host_span_most; /* bytes of the program's largest request; larger ones are libc's */

/* The size class of a span of at least `pages` pages; *rounded is the number of pages of the class. */
uint32_t sc_host_size_class(size_t pages, size_t *rounded);

/* Reserves the address range.  Idempotent.  Logs a failure. */
enum sc_status sc_host_spans_start(void);

void sc_host_spans_lock(void);
bool sc_host_spans_try_lock(void); /* true: the thread has the lock */
void sc_host_spans_unlock(void);

/* Called with the lock held.  A span of the class, or NULL when the arena is used up or the system gives no memory. */
struct sc_host_span *sc_host_span_get(uint32_t class, size_t pages);
/* Called with the lock held.  Whether a span of so many pages may have pages that nobody touches: not where the system
 * charges for them, and only in the first sixteenth of the addresses. */
bool sc_host_span_room(size_t pages);
/* Called without the lock.  Takes back a span without live blocks; may unpin and release spans. */
void sc_host_span_put(struct sc_host_span *span);

/* Fills whole pages of a used span with zeros.  Unpinned pages are given back to the system.  Pinned pages are
 * overwritten, because a device would go on using the old pages. */
void sc_host_span_empty(struct sc_host_span *span, void *first, size_t bytes);

/* The span that contains an arena address, or NULL; lock-free. */
struct sc_host_span *sc_host_span_at(const void *p);

static inline uintptr_t sc_host_span_base(const struct sc_host_span *span)
{
    return span->base;
}
static inline size_t sc_host_span_bytes(const struct sc_host_span *span)
{
    return (size_t)span->pages << SC_PAGE_SHIFT;
}

/* The bytes up to the end of the last block.  Those behind are the room of a growing block: nobody has touched them. */
static inline size_t sc_host_span_used(const struct sc_host_span *span)
{
    uint32_t pages = span->before + __atomic_load_n(&span->block_pages, __ATOMIC_RELAXED);

    return span->growing ? (size_t)pages << SC_PAGE_SHIFT : sc_host_span_bytes(span);
}

/* Notes that the first `bytes` bytes of the span are pinned, and what ends the pin.  The pin lock is held. */
void sc_host_span_note_pin(struct sc_host_span *span, size_t bytes, void (*unpin)(void *base, size_t bytes));
/* Ends the pin, and the one address.  Called without the locks. */
void sc_host_span_unpin(struct sc_host_span *span);

/* The lock of pins.  A holder runs no handler of the program, and never waits for the span lock (rule M13). */
void sc_host_pins_lock(void);
void sc_host_pins_unlock(void);

/* The part of `bytes` that a limit on address space (ulimit -v, common in batch systems) allows.  A share is left to
 * the program, its libraries and their threads: OpenBLAS retries for ever to get 128 MiB for each thread. */
size_t sc_host_within_limit(size_t bytes);

/* Makes [base, base + bytes) the zone, the second range of the arena.  Once. */
enum sc_status sc_host_zone_start(void *base, size_t bytes);
/* Called with the span lock held.  A new span of the class in the zone, in no list, not mapped; NULL: no room. */
struct sc_host_span *sc_host_zone_span(uint32_t class, size_t pages);

/* Around fork: holds pinning and changes of spans up.  In the child the pins are the parent's. */
void sc_host_spans_fork_prepare(void);
void sc_host_spans_fork_parent(void);
void sc_host_spans_fork_child(void);

static inline void sc_ring_init(struct sc_ring *r) { r->prev = r->next = r; }
static inline bool sc_ring_empty(const struct sc_ring *r) { return r->next == r; }
static inline void sc_ring_push(struct sc_ring *head, struct sc_ring *r)
{
    r->next = head->next;
    r->prev = head;
    r->next->prev = r;
    head->next = r;
}
static inline void sc_ring_remove(struct sc_ring *r)
{
    r->prev->next = r->next;
    r->next->prev = r->prev;
    sc_ring_init(r);
}
#define SC_RING_SPAN(r, field) ((struct sc_host_span *)(void *)((char *)(r)-offsetof(struct sc_host_span, field)))

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
