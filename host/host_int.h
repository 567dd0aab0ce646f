/* What the files of host/ share and no other folder includes. */
#ifndef SC_HOST_HOST_INT_H
#define SC_HOST_HOST_INT_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/host.h"

/* Names that programs call instead of libc's. */
#define SC_HOST_EXPORT __attribute__((visibility("default")))

/* The protocol above, or NULL until the first offload: nothing is tracked before that.  Set once, never changed back to
 * NULL (a free after the faults were stopped still has to forget). */
extern const struct sc_host_callbacks *sc_host_callbacks;
void sc_host_callbacks_set(const struct sc_host_callbacks *callbacks);

/* The reserved range.  bytes is 0 until the arena exists, so that nothing lies in it.  A thread that was started before
 * the arena reads bytes first: base has been stored before bytes. */
extern struct sc_host_arena {
    uintptr_t base;
    size_t bytes;
} sc_host_arena;

static inline __attribute__((always_inline)) bool sc_host_within(const void *p)
{
    size_t bytes = __atomic_load_n(&sc_host_arena.bytes, __ATOMIC_ACQUIRE);

    return (uintptr_t)p - __atomic_load_n(&sc_host_arena.base, __ATOMIC_RELAXED) < bytes;
}

/* A hull of the watched ranges (watch.c); bytes is 0 when there are none. */
extern struct sc_host_arena sc_host_watched;

static inline __attribute__((always_inline)) bool sc_host_within_watched(const void *p)
{
    return (uintptr_t)p - __atomic_load_n(&sc_host_watched.base, __ATOMIC_RELAXED) <
           __atomic_load_n(&sc_host_watched.bytes, __ATOMIC_ACQUIRE);
}

/* The system calls themselves: the names of libc, syscall() among them, are interposed by this folder (mmap.c, raw.c)
 * and would come back to us. */
static inline long sc_host_sys(long number, long a, long b, long c, long d, long e)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = 0;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
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

/* Memory that Linux counts as stack and not as data.  A limit on data (RLIMIT_DATA) counts private pages while they are
 * writable, so that pages which were closed under it could be refused when they are opened again; pages of these
 * mappings never are, whatever is set meanwhile.  Without a charge for memory that is not used. */
#define SC_HOST_MAP_UNCOUNTED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_GROWSDOWN)

/* A call that changes mappings, made through syscall(): what mmap.c does before it.  True: nothing is left to ask the
 * kernel for, the result is 0. */
bool sc_host_remaps(long number, const long argument[6]);
/* The same of process_madvise, on this process's own memory: then it is done, with this result. */
bool sc_host_advises_by_fd(const long argument[6], long *result);

#endif
