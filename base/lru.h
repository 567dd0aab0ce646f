/* Lists of owners of device memory, in the order of last use.  Nodes are embedded in their owners (tile copies, derived
 * copies).  Each operation takes a constant number of steps.  Callers hold the protocol's lock. */
#ifndef SC_BASE_LRU_H
#define SC_BASE_LRU_H

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

struct sc_lru {
    struct sc_lru *older, *newer; /* neighbours in the list; both NULL outside of a list */
    uint64_t last_use;            /* tick of the last use, comparable between lists; 0: spare */
    uint32_t pins;                /* > 0: in use by a task, not to be evicted */
};

struct sc_lru_list {
    struct sc_lru *oldest, *newest;
};

/* The struct of type `type` whose member `member` is the node; the node is not NULL. */
#define SC_LRU_OWNER(node, type, member) ((type *)((char *)(node) - offsetof(type, member)))

static inline void sc_lru_remove(struct sc_lru_list *list, struct sc_lru *node)
{
    sc_assert((node->older ? node->older->newer : list->oldest) == node);
    sc_assert((node->newer ? node->newer->older : list->newest) == node);
    *(node->older ? &node->older->newer : &list->oldest) = node->newer;
    *(node->newer ? &node->newer->older : &list->newest) = node->older;
    node->older = node->newer = NULL;
}

static inline void sc_lru_add_newest(struct sc_lru_list *list, struct sc_lru *node)
{
    sc_assert(!node->older && !node->newer && list->newest != node);
    node->older = list->newest;
    node->newer = NULL;
    *(node->older ? &node->older->newer : &list->oldest) = node;
    list->newest = node;
}

static inline void sc_lru_add_oldest(struct sc_lru_list *list, struct sc_lru *node)
{
    sc_assert(!node->older && !node->newer && list->oldest != node);
    node->newer = list->oldest;
    node->older = NULL;
    *(node->newer ? &node->newer->older : &list->newest) = node;
    list->oldest = node;
}

/* The node, which is in the list, becomes the newest. */
static inline void sc_lru_touch(struct sc_lru_list *list, struct sc_lru *node)
{
    if (list->newest == node)
        return;
    sc_lru_remove(list, node);
    sc_lru_add_newest(list, node);
}

/* The oldest (newest) node without pins, or NULL.  Only pinned nodes are passed over; *steps counts the nodes seen. */
static inline struct sc_lru *sc_lru_oldest(const struct sc_lru_list *list, uint64_t *steps)
{
    struct sc_lru *node = list->oldest;

    for (++*steps; node && node->pins; ++*steps)
        node = node->newer;
    return node;
}
static inline struct sc_lru *sc_lru_newest(const struct sc_lru_list *list, uint64_t *steps)
{
    struct sc_lru *node = list->newest;

    for (++*steps; node && node->pins; ++*steps)
        node = node->older;
    return node;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
