/* What the files of host/ share and no other folder includes. */
#ifndef SC_HOST_HOST_INT_H
#define SC_HOST_HOST_INT_H

#include <sys/syscall.h>
#include <unistd.h>

#include "host/host.h"

/* Names that programs call instead of libc's. */
#define SC_HOST_EXPORT __attribute__((visibility("default")))

/* The protocol above, or NULL until the first offload: nothing is tracked before that.  Set once, never changed back to
 * NULL (a free after the faults were stopped still has to forget). */
extern const struct sc_host_callbacks *sc_host_callbacks;
void sc_host_callbacks_set(const struct sc_host_callbacks *callbacks);

/* The reserved range.  bytes is 0 until the arena exists, so that nothing lies in it. */
extern struct sc_host_arena {
    uintptr_t base;
    size_t bytes;
} sc_host_arena;

static inline bool sc_host_within(const void *p)
{
    return (uintptr_t)p - sc_host_arena.base < sc_host_arena.bytes;
}

/* A hull of the watched ranges (watch.c); bytes is 0 when there are none. */
extern struct sc_host_arena sc_host_watched;

static inline bool sc_host_within_watched(const void *p)
{
    return (uintptr_t)p - __atomic_load_n(&sc_host_watched.base, __ATOMIC_RELAXED) <
           __atomic_load_n(&sc_host_watched.bytes, __ATOMIC_ACQUIRE);
}

/* The system calls themselves: the names of libc are interposed by this folder (mmap.c) and would come back to us. */
static inline int sc_host_sys_mprotect(void *addr, size_t bytes, int prot)
{
    return (int)syscall(SYS_mprotect, addr, bytes, prot);
}
static inline int sc_host_sys_madvise(void *addr, size_t bytes, int advice)
{
    return (int)syscall(SYS_madvise, addr, bytes, advice);
}
static inline void *sc_host_sys_mmap(void *addr, size_t bytes, int prot, int flags)
{
    return (void *)syscall(SYS_mmap, addr, bytes, prot, flags, -1, 0L);
}

#endif
