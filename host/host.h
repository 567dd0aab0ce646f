/* The host side of the cache: who owns which address, page protection, faults, the calls that hand user memory to the
 * kernel.  It knows nothing of matrices: the protocol is reached through the callbacks given at start, so this folder
 * can be tested alone.
 *
 * Tracked memory is arena memory: one reserved range, so "is this address ours" is one comparison. */
#ifndef SC_HOST_HOST_H
#define SC_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/page.h"
#include "base/status.h"
#include "base/types.h"

/* Code that faulted: its address, and its stack, which stays as it is while the fault is served. */
struct sc_host_code {
    uintptr_t ip, sp;
};

enum sc_fault_answer {
    SC_FAULT_DONE,    /* the access may be tried again */
    SC_FAULT_NOT_OURS /* nothing tracked there: hand it to whoever was there before us */
};

struct sc_host_callbacks {
    /* On the pager thread.  Makes [addr] accessible, bringing home about `window` bytes around it (never more).
     * access: SC_READ or SC_WRITE.  Outside the arena (window 0): see sc_host_watch_fault. */
    enum sc_fault_answer (*fault)(uintptr_t addr, enum sc_access access, struct sc_host_code code, size_t window);
    /* On the pager thread, after a sequential fault: start moving up to `bytes` bytes from addr on, without waiting and
     * without opening pages. */
    void (*read_ahead)(uintptr_t addr, size_t bytes);
    /* On the caller's thread, before the memory goes away: entries are dropped, nothing is written back; pages are left
     * read-write, and no transfer uses them any more. */
    void (*forget)(uintptr_t addr, size_t bytes);
    /* On the caller's thread: brings the range home and opens it for the access. */
    void (*acquire)(uintptr_t addr, size_t bytes, enum sc_access access);
    /* On the pager thread: everything home, because the program has crashed.  May be NULL. */
    void (*all_home)(void);
    /* Everything home and open, before a fork. */
    void (*home)(void);
    void (*child)(void); /* in a forked child: no devices any more */
    /* In the parent after the fork, or NULL.  Between `home` and this (or `child`) other threads of the program must
     * not close pages again: `home` may keep the protocol's lock for that long. */
    void (*resume)(void);
};

/* Reserves the arena (once, when devices are expected).  Until then, and inside the library (base/inside.h), the malloc
 * family passes to libc. */
enum sc_status sc_host_arena_start(void);

/* Installs the fault handler and starts the pager: at the first offload.  Idempotent.  Thread safe. */
enum sc_status sc_host_faults_start(const struct sc_host_callbacks *callbacks);
void sc_host_faults_stop(void);
const char *sc_host_faults_front(void); /* "libsigsegv" or "sigaction" */

/* The block (one malloc) and the span (unit of pinning) that an arena address lies in. */
struct sc_host_block {
    uintptr_t base;      /* page aligned */
    size_t bytes;        /* usable, a multiple of the page */
    uintptr_t span_base; /* pinning unit: holds the block whole, stays mapped while any of its blocks lives */
    size_t span_bytes;
};
bool sc_host_in_arena(const void *p); /* one comparison */
/* Lock-free or short lock; false when p is in no live block. */
bool sc_host_block_of(const void *p, struct sc_host_block *block);

/* Marks the block that holds p as tracked: its free, realloc... will call `forget`.  Untracked blocks never do. */
void sc_host_block_track(const void *p);

/* Pins the span of a block through `pin` once in its life; the pin outlives free and malloc of blocks in it.  When the
 * span's memory is given back to the system, `unpin` is called first. */
enum sc_status sc_host_span_pin(const struct sc_host_block *block, enum sc_status (*pin)(void *, size_t),
                                void (*unpin)(void *, size_t));

/* Unpins every span; before the devices are closed (not needed at exit).  Spans can be pinned anew afterwards. */
void sc_host_spans_unpin(void);
/* Instead of that, at exit: the devices are gone for good, so pins are left as they are and `unpin` is not called
 * again. */
void sc_host_spans_leave_pinned(void);

/* True when a system call that uses [lo, hi) is under way, one of the two writing: those pages must stay as they are.
 * With the protocol's lock held. */
bool sc_host_in_use(uintptr_t lo, uintptr_t hi, enum sc_access access);

/* --- memory outside the arena, of which the caller keeps a copy: where has it been written since? ----------------- */

#define SC_WATCHED_MAX 64
struct sc_watch_run {
    uintptr_t lo, hi; /* pages */
};

/* Watches the pages from lo to *hi, or, where another kind of memory begins, to the end of this kind, which *hi then
 * is, but not before `least`.  All of them count as written.  SC_ERR_UNSUPPORTED: shared memory, files, a system that
 * has no means, no room for more. */
enum sc_status sc_host_watch(uintptr_t lo, uintptr_t *hi, uintptr_t least);
void sc_host_unwatch(uintptr_t lo);
/* Runs of the pages [*lo, hi), in order, that may have been written since the last call with `again`; from now on they
 * are watched again (else they stay written).  At most `most` runs: their number, and *lo where the next call goes on,
 * hi at the end.  -1: there is other memory now. */
int sc_host_watch_written(uintptr_t *lo, uintptr_t hi, bool again, struct sc_watch_run *runs, int most);
/* Before the library, or a device or the kernel on behalf of the program, writes there: it counts as written.  Any
 * memory. */
void sc_host_watch_open(uintptr_t lo, uintptr_t hi);
/* A write has met a page there that was closed to notice it.  False: none was. */
bool sc_host_watch_fault(uintptr_t addr);
const char *sc_host_watch_engine(void); /* the first that is tried, or NULL */

/* Bytes of memory that this process may use at most: the machine's, or its control group's. */
uint64_t sc_host_memory_limit(void);

/* SEMCACHE_CHECK=2: from now on system calls of this thread that pass libc by are trapped (host/strict.c).  At each
 * call of the BLAS; otherwise nothing. */
void sc_host_strict_thread(void);

/* True in a child that was made past libc (by a system call of the program's own): its parent's devices and threads are
 * not there, and what they had of its memory is out of reach.  In a child of fork, too.  Async-signal-safe. */
bool sc_host_orphan(void);

/* sc_stack_has of base/stack.h, at the beginning of a call: a block of the arena that the calling thread has its stack
 * in is not tracked from now on, and a thread that makes its first call gets SIGSEGV unblocked. */
bool sc_host_stack_has(unsigned long bytes);

/* Arena memory for the library itself: page-aligned, contents undefined, to be tracked as any other block.  NULL when
 * there is no arena or no room.  Free calls no `forget`: the caller has dropped its entries and left the pages open. */
void *sc_host_alloc(size_t bytes);
void sc_host_free(void *p);

/* True when the program's malloc is ours; false when the library was loaded too late for that (dlopen, or behind libc
 * in the order of libraries): then nothing but sc_host_alloc's memory lies in the arena. */
bool sc_host_malloc_seen(void);

/* Page protection, arena pages only.  Applied protection is kept per page; callers serialise (coherence lock). */
enum sc_prot { SC_PROT_RW = 0, SC_PROT_R = 1, SC_PROT_NONE = 2 }; /* ordered: larger is stricter */
enum sc_prot sc_host_prot(uintptr_t addr);
/* Applies want[i] to the i-th page from the address `first` on; one mprotect for each run that differs from what is
 * applied.  Logs and returns SC_ERR_MEMORY when the system refuses or closing more pages would cost too many mappings
 * (vm.max_map_count): pages may then be applied in part.  What was to be closed may be open although sc_host_prot says
 * that it is shut; what was to be opened is shut. */
enum sc_status sc_host_protect(uintptr_t first, size_t pages, const uint8_t *want);

/* False when closing pages in up to `runs` places could come to that; one line says so the first time. */
bool sc_host_can_close(size_t runs);
/* True when half of them are used, or the system has refused some: open much at once rather than page by page. */
bool sc_host_mappings_scarce(void);

/* Writes host bytes whatever the protection of their pages (through /proc/self/mem); for emulated devices and
 * staging. */
enum sc_status sc_host_write(void *dst, const void *src, size_t bytes);
enum sc_status sc_host_read(void *dst, const void *src, size_t bytes);

#endif
