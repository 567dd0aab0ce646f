/* The calls by which a program changes mappings itself.  Nearly always they concern other memory than the arena's and
 * pass straight on.  On the arena: protecting part of a malloc block (guard pages), giving its pages back (allocators
 * built on malloc), mapping over it.  The block is brought home first and, but for madvise, never tracked again.
 *
 * mmap without MAP_FIXED never meets the arena: its addresses are taken. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/mman.h>

#include "base/inside.h"
#include "host/arena.h"
#include "host/next.h"

static inline bool meets_arena(const void *addr, size_t bytes)
{
    uintptr_t a = (uintptr_t)addr - sc_host_arena.base;

    return sc_host_arena.bytes && !sc_inside() && (a < sc_host_arena.bytes || -a < bytes);
}

static void abandon(const void *addr, size_t bytes, bool lost)
{
    if (meets_arena(addr, bytes))
        sc_host_arena_abandon((uintptr_t)addr, bytes, lost);
}

static void *next_munmap, *next_mmap, *next_mmap64, *next_mremap, *next_madvise, *next_mprotect;

static void __attribute__((constructor)) find_next(void)
{
    sc_host_next(&next_munmap, "munmap");
    sc_host_next(&next_mmap, "mmap");
    sc_host_next(&next_mmap64, "mmap64");
    sc_host_next(&next_mremap, "mremap");
    sc_host_next(&next_madvise, "madvise");
    sc_host_next(&next_mprotect, "mprotect");
}

SC_HOST_EXPORT int munmap(void *addr, size_t bytes)
{
    abandon(addr, bytes, true);
    return ((__typeof__(munmap) *)sc_host_next(&next_munmap, "munmap"))(addr, bytes);
}

SC_HOST_EXPORT void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    if (flags & MAP_FIXED)
        abandon(addr, bytes, true);
    return ((__typeof__(mmap) *)sc_host_next(&next_mmap, "mmap"))(addr, bytes, prot, flags, fd, offset);
}

SC_HOST_EXPORT void *mmap64(void *addr, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
    if (flags & MAP_FIXED)
        abandon(addr, bytes, true);
    return ((__typeof__(mmap64) *)sc_host_next(&next_mmap64, "mmap64"))(addr, bytes, prot, flags, fd, offset);
}

SC_HOST_EXPORT void *mremap(void *addr, size_t bytes, size_t new_bytes, int flags, ...)
{
    void *to = NULL;

    if (flags & MREMAP_FIXED) {
        va_list args;

        va_start(args, flags);
        to = va_arg(args, void *);
        va_end(args);
        abandon(to, new_bytes, true);
    }
    abandon(addr, bytes, true);
    return ((__typeof__(mremap) *)sc_host_next(&next_mremap, "mremap"))(addr, bytes, new_bytes, flags, to);
}

SC_HOST_EXPORT int mprotect(void *addr, size_t bytes, int prot)
{
    abandon(addr, bytes, false);
    return ((__typeof__(mprotect) *)sc_host_next(&next_mprotect, "mprotect"))(addr, bytes, prot);
}

SC_HOST_EXPORT int madvise(void *addr, size_t bytes, int advice)
{
    if (meets_arena(addr, bytes) && (uintptr_t)addr % SC_PAGE == 0) {
        if (advice == MADV_DONTNEED)
            return sc_host_arena_empty((uintptr_t)addr, bytes), 0;
        if (advice == MADV_FREE) /* the contents may be kept, too */
            return 0;
    }
    return ((__typeof__(madvise) *)sc_host_next(&next_madvise, "madvise"))(addr, bytes, advice);
}
