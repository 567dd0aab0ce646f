/* The host side of the cache: ownership of addresses, page protection, faults, and the calls that hand the program's
 * memory to the kernel.  This folder knows nothing of matrices.  It reaches the protocol through the callbacks given
 * at start, so the folder can be tested alone.
 *
 * Tracked memory is arena memory: one reserved range, and the zone for memory of one address (host/zone.c). */
#ifndef SC_HOST_HOST_H
#define SC_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/page.h"
#include "base/status.h"
#include "base/types.h"

/* The code that faulted: instruction pointer, stack pointer, the thread's pointer (pthread_self) and all registers
 * (ucontext_t; NULL: unknown).  Stack and registers do not change while the fault is served. */
struct sc_host_code {
    uintptr_t ip, sp, thread;
    const void *context;
};

enum sc_fault_answer {
    SC_FAULT_DONE,    /* the access may be retried */
    SC_FAULT_NOT_OURS /* no tracked memory: the fault goes to the program's own action */
};

struct sc_host_callbacks {
    /* On the pager thread.  Makes the byte at addr accessible and fetches about `window` bytes around it, never
     * more.  access: SC_READ or SC_WRITE.  Outside the arena `window` is 0 and sc_host_watch_fault applies. */
    enum sc_fault_answer (*fault)(uintptr_t addr, enum sc_access access, struct sc_host_code code, size_t window);
    /* On the pager thread, while `fault` waits for a transfer of another request.  True: the byte at addr may be read,
     * and was opened without a wait.  May be NULL. */
    bool (*landed)(uintptr_t addr, struct sc_host_code code);
    /* On the pager thread, after a sequential fault.  Starts to fetch up to `bytes` bytes from addr on.  Neither
     * waits nor opens pages. */
    void (*read_ahead)(uintptr_t addr, size_t bytes);
    /* On the caller's thread, before the memory goes away.  Drops the entries without writing back.  On return the
     * pages are open and no transfer uses them. */
    void (*forget)(uintptr_t addr, size_t bytes);
    /* On the caller's thread. Makes the range valid on the host and opens it, then drops the entries. Waits for calls
     * of other threads that use the range's blocks. Calls `end` (may be NULL) before a later call can use the
     * memory. */
    void (*withdraw)(uintptr_t addr, size_t bytes, void (*end)(void *arg), void *arg);
    /* On the caller's thread.  Makes the range valid on the host and opens it for the access. */
    void (*acquire)(uintptr_t addr, size_t bytes, enum sc_access access);
    /* Without a lock, in any state of the thread.  True: `acquire` would find all valid and open.  May be NULL. */
    bool (*is_home)(uintptr_t addr, size_t bytes, enum sc_access access);
    /* On the pager thread, after a crash of the program.  Makes all host memory valid.  May be NULL. */
    void (*all_home)(void);
    /* Before a fork.  Makes all host memory valid and open. */
    void (*home)(void);
    void (*child)(void); /* in a forked child: devices are gone */
    /* In the parent after the fork, or NULL.  Between `home` and `resume` (or `child`) no thread of the program may
     * close pages again, so `home` may keep the protocol's lock until then. */
    void (*resume)(void);
};

/* Reserves the arena, once, when devices are expected.  Earlier calls of the malloc family, and calls inside the
 * library (base/inside.h), go to libc. */
enum sc_status sc_host_arena_start(void);

/* Called on the caller's thread after each allocation in the arena; NULL: no call. */
extern void (*sc_host_allocated)(uintptr_t addr, size_t bytes);

/* Called by `fault`, without locks, after `looks` looks at a transfer that it waits for.  Answers other
 * threads' reads of landed data, and pauses for some microseconds, longer after many looks.  False, with nothing done:
 * the caller is not the pager thread, or is called by `landed`. */
bool sc_host_serve_landed(int looks);

/* Installs the fault handler and starts the pager, at the first offload.  Idempotent.  Thread safe. */
enum sc_status sc_host_faults_start(const struct sc_host_callbacks *callbacks);
void sc_host_faults_stop(void);
const char *sc_host_faults_front(void); /* "libsigsegv" or "sigaction" */

/* The block (a single malloc) and the span (the unit of pinning) that contain an arena address. */
struct sc_host_block {
    uintptr_t base;      /* page aligned */
    size_t bytes;        /* usable bytes, a multiple of the page size */
    /* Base of the span; the span contains the block and stays mapped while any of its blocks lives. */
    uintptr_t span_base;
    size_t span_bytes;
};
bool sc_host_in_arena(const void *p); /* one comparison for most other addresses */
/* True when p is in the arena and in no live block. */
bool sc_host_freed(const void *p);
/* False when p is in no live block.  Takes at most a short lock. */
bool sc_host_block_of(const void *p, struct sc_host_block *block);

/* Marks the block that holds p as tracked: free, realloc and the like call `forget` for tracked blocks only. */
void sc_host_block_track(const void *p);

/* Pins the span of a block through `pin`, once in the life of the span.  The pin outlives the blocks of the span.
 * `unpin` is called before the span's memory is given back to the system. */
enum sc_status sc_host_span_pin(const struct sc_host_block *block, enum sc_status (*pin)(void *, size_t),
                                void (*unpin)(void *, size_t));

/* One address: memory of the host whose addresses are also those of a device's memory (device/device.h).  The host's
 * memory of such a span is a shared mapping with a second mapping, its alias.  The alias is pinned, and serves copies
 * under any protection of the pages.  The table stays as long as such memory exists. */
struct sc_host_placing {
    enum sc_status (*zone)(size_t bytes, void **base);
    enum sc_status (*reserve)(void *base, size_t bytes);
    void (*unreserve)(void *base, size_t bytes);
    enum sc_status (*pin)(void *base, size_t bytes);
    void (*unpin)(void *base, size_t bytes);
};
/* A block with a span of one address; the program frees the block as usual. bytes: 0.  NULL: the devices' driver or the
 * system refuses. */
void *sc_host_united_alloc(size_t bytes, const struct sc_host_placing *placing);
/* Ends the one address of a block from its first `keep` bytes on, and keeps the contents.  keep: a multiple of
 * SC_PLACE_UNIT.  The protocol has nothing of the block any more. */
void sc_host_span_separate(const struct sc_host_block *block, size_t keep);
/* The address in the alias of a byte of a united span; all other addresses are returned unchanged.  Takes no lock. */
void *sc_host_alias(const void *p);
/* The address lies in a united span. */
static inline bool sc_host_is_united(const void *p) { return sc_host_alias(p) != p; }

/* Unpins every span, before the devices are closed.  Not needed at exit.  Spans can be pinned again afterwards. */
void sc_host_spans_unpin(void);
/* The alternative at exit, when the devices are gone for good: leaves every pin and never calls `unpin` again. */
void sc_host_spans_leave_pinned(void);

/* True when a system call under way uses [lo, hi) and either side writes: the pages must stay open.  Called with the
 * protocol's lock held. */
bool sc_host_in_use(uintptr_t lo, uintptr_t hi, enum sc_access access);

/* --- watched memory, outside the arena: the caller keeps a copy and asks where the program has written ------------ */

#define SC_WATCHED_MAX 64
struct sc_watch_run {
    uintptr_t lo, hi; /* whole pages */
};

/* Watches the pages from lo to *hi.  Where a different kind of memory begins earlier, *hi becomes the end of the
 * first kind.  All watched pages count as written at first.  SC_ERR_UNSUPPORTED: an end before `least`, shared memory,
 * a file, a system without an engine, or no room. */
enum sc_status sc_host_watch(uintptr_t lo, uintptr_t *hi, uintptr_t least);
void sc_host_unwatch(uintptr_t lo);
/* Finds, in order, the runs of pages in [*lo, hi) that may have been written since the last call with `again`.  With
 * `again` the runs are watched anew; otherwise they keep counting as written.  Returns the number of runs, at most
 * `most`, and moves *lo to the start of the next call's range (hi at the end).  Returns -1 when the memory has been
 * replaced. */
int sc_host_watch_written(uintptr_t *lo, uintptr_t hi, bool again, struct sc_watch_run *runs, int most);
/* Called before the library, or a device or the kernel on behalf of the program, writes to the range: the range
 * counts as written.  Any memory is allowed. */
void sc_host_watch_open(uintptr_t lo, uintptr_t hi);
/* Opens a watched page at a write fault.  False: no watched page was closed at addr. */
bool sc_host_watch_fault(uintptr_t addr);
const char *sc_host_watch_engine(void); /* the engine tried first, or NULL */

/* Limit in bytes on the memory of this process: the machine's memory or the control group's limit. */
uint64_t sc_host_memory_limit(void);

/* With SEMCACHE_CHECK=2: traps the system calls that this thread makes past libc from now on (host/strict.c).
 * Called at each call of the BLAS; without SEMCACHE_CHECK=2 the function does nothing. */
void sc_host_strict_thread(void);

/* True in a forked child, also in a child made past libc (by a system call instruction of the program).  The
 * parent's devices and threads are absent, and host memory that was not valid at the fork is lost.
 * Async-signal-safe. */
bool sc_host_orphan(void);

/* sc_stack_has of base/stack.h, at the beginning of a call.  An arena block that contains the calling thread's stack
 * is not tracked from now on.  At a thread's first call SIGSEGV is unblocked. */
bool sc_host_stack_has(unsigned long bytes);

/* Arena memory for the library itself: page aligned, contents undefined, tracked like any block.  Returns NULL
 * without an arena or without room.  sc_host_free calls no `forget`: the caller has dropped the entries and left the
 * pages open. */
void *sc_host_alloc(size_t bytes);
void sc_host_free(void *p);

/* True when the program's malloc is the library's.  False when the library was loaded too late (dlopen, or behind
 * libc in the order of libraries): only memory from sc_host_alloc then lies in the arena. */
bool sc_host_malloc_seen(void);

/* Page protection of arena pages.  The applied protection is kept per page.  Callers hold the protocol's lock. */
enum sc_prot { SC_PROT_RW = 0, SC_PROT_R = 1, SC_PROT_NONE = 2 }; /* ordered: larger is stricter */
/* The strictest protection that permits the access. */
static inline enum sc_prot sc_host_prot_for(enum sc_access access)
{
    return access & SC_WRITE ? SC_PROT_RW : SC_PROT_R;
}
enum sc_prot sc_host_prot(uintptr_t addr);
/* A run of pages with this protection (not SC_PROT_NONE) or a weaker protection: the end of the run from `addr` on, at
 * most `hi`; the begin of the run before `addr`, at least `lo`.  Whole pages of the arena or of the zone. */
uintptr_t sc_host_open_end(uintptr_t addr, uintptr_t hi, enum sc_prot prot);
uintptr_t sc_host_open_begin(uintptr_t lo, uintptr_t addr, enum sc_prot prot);
/* True if the pages of [lo, hi) have this protection or a stricter protection. The range lies in the arena or in the
 * zone. Under the protocol's lock. */
bool sc_host_is_closed(uintptr_t lo, uintptr_t hi, enum sc_prot prot);
/* Applies want[i] to the i-th page from the address `first` on, with one mprotect for each run of changes.  Logs and
 * returns SC_ERR_MEMORY when the system refuses, or when closing more pages would exceed the budget of mappings
 * (vm.max_map_count).  The change may then be incomplete: a page to be closed is possibly still open (sc_host_prot says
 * closed), and a page to be opened is still closed. */
enum sc_status sc_host_protect(uintptr_t first, size_t pages, const uint8_t *want);

/* The most mappings that the system allows a process (vm.max_map_count). */
size_t sc_host_mappings_most(void);
/* False when closing pages in up to `runs` places could exceed the budget of mappings.  The first time, a line is
 * logged. */
bool sc_host_can_close(size_t runs);
/* True when half of the budget is used or the system has refused a change: the caller should open large ranges. */
bool sc_host_mappings_scarce(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
