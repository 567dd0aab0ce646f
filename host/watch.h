/* Memory of the program outside the arena that the library keeps a copy of: where the program has written since.  For
 * the files of host/; the interface for other folders is in host.h. */
#ifndef SC_HOST_WATCH_H
#define SC_HOST_WATCH_H

#include "host/host_int.h"

/* What is known of a page, by watch_mprotect.c. */
enum sc_watch_state {
    SC_WATCH_OPEN,   /* counts as written; not ours to open */
    SC_WATCH_CLOSED, /* for writing */
    SC_WATCH_UNSURE  /* counts as written, and may be closed */
};

/* Written under watch.c's lock; the handler reads without: a range is whole before its hi is set, and `state`, once
 * given, stays there for as long as the process. */
struct sc_watch_range {
    uintptr_t lo, hi; /* hi 0: none */
    const struct sc_watch_engine *engine;
    bool constant; /* the program cannot write there, unless it calls mprotect */
    uint8_t *state; /* by page; NULL: the engine needs none */
    size_t room;    /* of it */
    unsigned faults; /* since pages were last closed */
};
extern struct sc_watch_range sc_watch_ranges[SC_WATCHED_MAX];

/* A way to notice writes.  Ranges are whole pages inside one range; callers hold the lock. */
struct sc_watch_engine {
    const char *name;
    bool (*start)(void); /* false: this system or process does not have it; called once */
    /* False: not this memory, or not now.  `r` will be [lo, hi), and has `constant`.  Memory of which a part is
     * constant: `mixed`. */
    bool (*add)(struct sc_watch_range *r, uintptr_t lo, uintptr_t hi, bool mixed);
    void (*remove)(struct sc_watch_range *r);
    int (*written)(struct sc_watch_range *r, uintptr_t *lo, uintptr_t hi, bool again, struct sc_watch_run *runs,
                   int most); /* as host.h says */
    /* Everything there counts as written, and writing costs nothing more. */
    void (*open)(struct sc_watch_range *r, uintptr_t lo, uintptr_t hi);
    bool (*fault)(struct sc_watch_range *r, uintptr_t addr); /* a write has met a closed page; NULL: none does */
};

extern const struct sc_watch_engine sc_watch_wp, sc_watch_mprotect;

/* watch_sig.c, lock-free: the first range that meets [lo, hi), or NULL; what a fault may expect of a page. */
struct sc_watch_range *sc_watch_find(uintptr_t lo, uintptr_t hi);
enum sc_prot sc_watch_prot(uintptr_t addr);
static inline bool sc_watch_meets(uintptr_t lo, uintptr_t hi) { return sc_watch_find(lo, hi) != NULL; }

/* Never from now on: others write there, by other mappings. */
void sc_watch_exclude(uintptr_t lo, size_t bytes);

/* No page there is closed from now on: threads of the program run on it. */
void sc_watch_stack(uintptr_t lo, size_t bytes);

/* Before fork, with everything open; after it, in the parent; in the child nothing is watched. */
void sc_watch_fork_prepare(void);
void sc_watch_fork_parent(void);
void sc_watch_fork_child(void);

/* mapping_lifetime.c: memory whose end does not pass unseen: static data of what was loaded with the program, and
 * private mappings that the program has made by libc's functions. */
bool sc_lifetime_is_known(uintptr_t lo, uintptr_t hi);
bool sc_lifetime_is_static(uintptr_t at);
bool sc_lifetime_is_mapping(uintptr_t lo, uintptr_t hi); /* such a mapping */
void sc_lifetime_mapped(const void *addr, size_t bytes, int prot, int flags); /* by the program, successfully */
void sc_lifetime_unmapped(uintptr_t addr, size_t bytes);
void sc_lifetime_stack(uintptr_t addr, size_t bytes); /* counts as memory that may end, static data too */

#endif
