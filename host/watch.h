/* Memory of the program outside the arena of which the library keeps a copy: notices where the program writes.  For
 * the files of host/; host.h has the interface for other folders. */
#ifndef SC_HOST_WATCH_H
#define SC_HOST_WATCH_H

#include "host/host_int.h"

/* State of a page, kept by watch_mprotect.c. */
enum sc_watch_state {
    SC_WATCH_OPEN,   /* counts as written; the library does not open it */
    SC_WATCH_CLOSED, /* closed for writing */
    SC_WATCH_UNSURE  /* counts as written, and may be closed */
};

/* Written under watch.c's lock, read by the handler without the lock.  A range is complete before its hi is set, and
 * `state`, once set, stays mapped for the life of the process. */
struct sc_watch_range {
    uintptr_t lo, hi; /* hi 0: unused entry */
    const struct sc_watch_engine *engine;
    bool constant; /* not writable for the program, unless it calls mprotect */
    uint8_t *state; /* by page; NULL: the engine needs no states */
    size_t room;    /* bytes of `state` */
    unsigned faults; /* since pages were last closed */
};
extern struct sc_watch_range sc_watch_ranges[SC_WATCHED_MAX];

/* A way to notice writes.  Addresses are page aligned and lie inside a single range; callers hold the lock. */
struct sc_watch_engine {
    const char *name;
    bool (*start)(void); /* called once; false: not available in this system or process */
    /* Begins to watch r as [lo, hi); r->constant is set.  `mixed`: a part of the memory is constant.  False: the
     * engine cannot watch the memory, or cannot now. */
    bool (*add)(struct sc_watch_range *r, uintptr_t lo, uintptr_t hi, bool mixed);
    void (*remove)(struct sc_watch_range *r);
    int (*written)(struct sc_watch_range *r, uintptr_t *lo, uintptr_t hi, bool again, struct sc_watch_run *runs,
                   int most); /* see sc_host_watch_written */
    /* Makes the range count as written; further writes cost nothing. */
    void (*open)(struct sc_watch_range *r, uintptr_t lo, uintptr_t hi);
    /* Serves a write to a closed page; NULL: the engine closes no pages. */
    bool (*fault)(struct sc_watch_range *r, uintptr_t addr);
};

extern const struct sc_watch_engine sc_watch_wp, sc_watch_mprotect;

/* watch_sig.c, lock-free.  The first range that intersects [lo, hi), or NULL; the protection of a page as far as the
 * handler knows. */
struct sc_watch_range *sc_watch_find(uintptr_t lo, uintptr_t hi);
enum sc_prot sc_watch_prot(uintptr_t addr);
/* True if the page was watched lately: a fault on a closed page may reach the handler after the end of the watching. */
bool sc_watch_was(uintptr_t addr);
void sc_watch_note_end(const struct sc_watch_range *r); /* with the lock of watch.c held */
static inline bool sc_watch_meets(uintptr_t lo, uintptr_t hi) { return sc_watch_find(lo, hi) != NULL; }

/* The program changes mappings or protections between sc_watch_change and sc_watch_changed. Meanwhile no memory of the
 * range becomes watched: a call of another thread would know the pages as they were. */
#define SC_WATCH_NO_CHANGE (-1)
extern bool sc_watch_has_engine; /* memory may be watched from now on */
int sc_watch_change(uintptr_t lo, uintptr_t hi);
void sc_watch_change_over(int number);
static inline void sc_watch_changed(int number)
{
    if (number != SC_WATCH_NO_CHANGE)
        sc_watch_change_over(number);
}

/* Excludes the range for ever: it is written by other mappings or processes. */
void sc_watch_exclude(uintptr_t lo, size_t bytes);

/* Never closes pages of the range again: threads of the program run on it. */
void sc_watch_stack(uintptr_t lo, size_t bytes);

/* Before fork, pages are opened.  In the parent watching goes on.  In the child no range is watched. */
void sc_watch_fork_prepare(void);
void sc_watch_fork_parent(void);
void sc_watch_fork_child(void);

/* mapping_lifetime.c: memory whose end the library learns of: static data of objects loaded with the program, and
 * private mappings that the program has made by libc's functions. */
bool sc_lifetime_is_known(uintptr_t lo, uintptr_t hi);
bool sc_lifetime_is_static(uintptr_t at);
bool sc_lifetime_is_mapping(uintptr_t lo, uintptr_t hi); /* only mappings */
void sc_lifetime_mapped(const void *addr, size_t bytes, int prot, int flags); /* after the program's successful mmap */
void sc_lifetime_unmapped(uintptr_t addr, size_t bytes);
void sc_lifetime_stack(uintptr_t addr, size_t bytes); /* counts as memory that may end unseen, even static data */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
