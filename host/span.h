/* Spans of the arena: the unit of address space, of committed memory and of pinning.  A span is cut into blocks of
 * one size (host/arena.c): superblocks of 4 MiB into many, larger spans into one.
 *
 * A span keeps its address and its size class for ever.  Freed spans keep their memory (and their pin) in a cache,
 * because pinning costs as much as a transfer; the longest unused ones are released to the system when the cache
 * grows too big.
 *
 *     new --get--> used --put--> cached --get--> used
 *                          \       \--(too much)--> released --get--> used
 *                           \--(large, not pinned)--^
 * / */
#ifndef SC_HOST_SPAN_H
#define SC_HOST_SPAN_H

#include "host/host_int.h"

#define SC_SPAN_UNIT_SHIFT 21 /* spans start at multiples of 2 MiB: a huge page */
#define SC_SPAN_UNIT ((size_t)1 << SC_SPAN_UNIT_SHIFT)
#define SC_SPAN_SUPER_BYTES ((size_t)4 << 20)
#define SC_SPAN_SUPER_CLASS 0
#define SC_SPAN_CLASSES 256
#define SC_SPAN_BLOCKS_MAX 512 /* in one span; the smallest block has two pages */
#define SC_SPAN_WORDS (SC_SPAN_BLOCKS_MAX / 64)

struct sc_ring {
    struct sc_ring *prev, *next;
};

/* Fields are changed under the lock of the spans, except where noted.  live, tracked and odd are read without it. */
struct sc_host_span {
    struct sc_ring link;  /* in a list of its class: cached, released, or superblocks with free blocks */
    struct sc_ring age;   /* in the cache, by age */
    uint32_t unit, units; /* place and extent, in SC_SPAN_UNIT */
    uint32_t pages;       /* usable; fixed by the class */
    uint32_t class;
    uint32_t block_pages, blocks, free_blocks;
    bool zero;            /* on leaving sc_host_span_get: all bytes are 0 */
    bool pinned;          /* under the pin lock; read without it */
    uint8_t unpinnable;   /* under the pin lock: so many requests are refused before it is tried again */
    void (*unpin)(void *base, size_t bytes);
    /* One bit for each block. */
    uint64_t live[SC_SPAN_WORDS];    /* handed out */
    uint64_t tracked[SC_SPAN_WORDS]; /* sc_host_block_track was called in this life; set without the lock */
    uint64_t dirty[SC_SPAN_WORDS];   /* may hold other bytes than 0 when free */
    uint64_t odd[SC_SPAN_WORDS];     /* can not be tracked: the program changed its pages, or libc keeps some */
    uint64_t lost[SC_SPAN_WORDS];    /* other pages were mapped over it: never handed out again */
};

extern const char *sc_host_cgroup_root, *sc_host_cgroup_self;

/* The size class of a span of at least `pages` pages, and the pages that it has. */
uint32_t sc_host_size_class(size_t pages, size_t *rounded);

/* Reserves the address range; idempotent.  Logs. */
enum sc_status sc_host_spans_start(void);

void sc_host_spans_lock(void);
void sc_host_spans_unlock(void);

/* A span for the class with the lock held; NULL when the arena is used up or the system gives no memory. */
struct sc_host_span *sc_host_span_get(uint32_t class, size_t pages);
/* Takes a span back that holds no live block; without the lock.  May unpin and release spans. */
void sc_host_span_put(struct sc_host_span *span);

/* Makes whole pages of a used span zero: gives them back, or overwrites them when they are pinned (a device would go on
 * using the old pages). */
void sc_host_span_empty(struct sc_host_span *span, void *first, size_t bytes);

/* The span that an arena address lies in, or NULL; lock-free. */
struct sc_host_span *sc_host_span_at(const void *p);

static inline uintptr_t sc_host_span_base(const struct sc_host_span *span)
{
    return sc_host_arena.base + ((uintptr_t)span->unit << SC_SPAN_UNIT_SHIFT);
}

/* Around fork: no pin and no change of spans under way.  In the child the pins are the parent's. */
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
