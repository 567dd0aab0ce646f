/* Shared by the files of host/, and included by no other folder. */
#ifndef SC_HOST_HOST_INT_H
#define SC_HOST_HOST_INT_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system_call.h"
#include "host/host.h"

/* Exports a function that programs call instead of libc's. */
#define SC_HOST_EXPORT __attribute__((visibility("default")))

/* The protocol's callbacks, or NULL until the first offload; no memory is tracked until then.  The pointer never
 * returns to NULL, because a free after the stop of the fault engine still has to call `forget`. */
extern const struct sc_host_callbacks *sc_host_callbacks;
void sc_host_callbacks_set(const struct sc_host_callbacks *callbacks);

/* Calls a function that another thread may set meanwhile; NULL: nothing. */
static inline void sc_host_call_set(void (*const *function)(void))
{
    void (*now)(void) = __atomic_load_n(function, __ATOMIC_ACQUIRE);

    if (now)
        now();
}

/* A range of addresses.  `bytes` is 0 until the range exists, so that no address lies in the range.  `base` is stored
 * before `bytes`, and a thread that was started before the range reads `bytes` first. */
struct sc_host_range {
    uintptr_t base;
    size_t bytes;
};

static inline __attribute__((always_inline)) bool sc_host_in_range(const struct sc_host_range *range, const void *p)
{
    size_t bytes = __atomic_load_n(&range->bytes, __ATOMIC_ACQUIRE);

    return (uintptr_t)p - __atomic_load_n(&range->base, __ATOMIC_RELAXED) < bytes;
}

/* The arena consists of the range reserved at the start, sc_host_arena, and of the zone (zone.c).  The hull of both is
 * a filter: without a zone, one comparison rejects an address elsewhere. */
extern struct sc_host_range sc_host_arena, sc_host_zone, sc_host_hull;

/* Adds a range that exists to the hull.  Called by one thread at a time. */
void sc_host_hull_add(const struct sc_host_range *range);

/* The hull only grows: `bytes` is stored before a lower `base`, and read after `base`. */
static inline __attribute__((always_inline)) bool sc_host_within(const void *p)
{
    uintptr_t base = __atomic_load_n(&sc_host_hull.base, __ATOMIC_ACQUIRE);

    return (uintptr_t)p - base < __atomic_load_n(&sc_host_hull.bytes, __ATOMIC_ACQUIRE) &&
           (sc_host_in_range(&sc_host_arena, p) || sc_host_in_range(&sc_host_zone, p));
}

/* The first address of the arena from addr on; UINTPTR_MAX: none. */
uintptr_t sc_host_next_within(uintptr_t addr);

/* The hull of the watched ranges (watch.c); `bytes` is 0 when no range is watched. */
extern struct sc_host_range sc_host_watched;

static inline __attribute__((always_inline)) bool sc_host_meets_watched(const void *p, size_t bytes)
{
    uintptr_t base = __atomic_load_n(&sc_host_watched.base, __ATOMIC_ACQUIRE), at = (uintptr_t)p;
    size_t hull = __atomic_load_n(&sc_host_watched.bytes, __ATOMIC_ACQUIRE);

    return hull && (at - base < hull || base - at < bytes);
}

static inline long sc_host_sys(long number, long a, long b, long c, long d, long e)
{
    return sc_system_call(number, a, b, c, d, e);
}
static inline int sc_host_sys_mprotect(void *addr, size_t bytes, int prot)
{
    return (int)sc_host_sys(SYS_mprotect, (long)addr, (long)bytes, prot, 0, 0);
}
static inline int sc_host_sys_madvise(void *addr, size_t bytes, int advice)
{
    return (int)sc_host_sys(SYS_madvise, (long)addr, (long)bytes, advice, 0, 0);
}
static inline void *sc_host_sys_mmap(void *addr, size_t bytes, int prot, int flags)
{
    return (void *)sc_host_sys(SYS_mmap, (long)addr, (long)bytes, prot, flags, -1);
}

/* Flags of memory that Linux counts as stack.  A limit on data (RLIMIT_DATA) counts private pages while they are
 * writable. The kernel could refuse to open pages that were closed under such a limit.  Memory that counts as
 * stack is never refused.  Unused memory has no commit charge. */
#define SC_HOST_MAP_UNCOUNTED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_GROWSDOWN)

/* Does the work of mmap.c before a call that changes mappings, made through syscall(). True: the kernel need not be
 * asked, and the result is 0. The caller passes *change to sc_watch_changed (host/watch.h) afterwards. */
bool sc_host_remaps(long number, const long argument[6], int *change);
/* The same for process_madvise on this process's own memory.  True: the call is done, with *result. */
bool sc_host_advises_by_fd(const long argument[6], long *result);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
