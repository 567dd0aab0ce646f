/* The calls by which a program changes mappings.  Nearly all such calls concern memory outside the arena and pass
 * straight on.  Calls on the arena protect part of a malloc block (guard pages), give back its pages (allocators
 * built on malloc), or map over the block.  The block's host copy is made valid first, and the block is never
 * tracked again, except after madvise.
 *
 * mmap without MAP_FIXED never returns arena addresses, because they are reserved. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/inside.h"
#include "base/own_proc.h"
#include "host/arena.h"
#include "host/host_int.h"
#include "host/next.h"
#include "host/watch.h"

#ifndef MADV_DONTNEED_LOCKED /* of kernels newer than the headers */
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

static inline bool meets_arena(const void *addr, size_t bytes)
{
    uintptr_t a = (uintptr_t)addr;

    return sc_host_hull.bytes && !sc_inside() && sc_host_next_within(a) - a < bytes;
}

static bool is_range(uintptr_t addr, size_t bytes) { return bytes && addr + bytes > addr; }

/* Comes before the end of the library's entries. The result is for sc_watch_changed, after the change. */
static int announce(const void *addr, size_t bytes)
{
    uintptr_t a = (uintptr_t)addr;

    if (!__atomic_load_n(&sc_watch_has_engine, __ATOMIC_ACQUIRE) || !is_range(a, bytes) || sc_inside())
        return SC_WATCH_NO_CHANGE;
    return sc_watch_change(sc_page_floor(a), a + bytes);
}

/* For memory outside the arena that is about to be replaced: ends its watching. */
static void forget_watched(const void *addr, size_t bytes)
{
    uintptr_t lo = sc_page_floor((uintptr_t)addr), hi = (uintptr_t)addr + bytes;

    if (__builtin_expect(sc_host_watched.bytes != 0, 0) && is_range((uintptr_t)addr, bytes) && !sc_inside() &&
        sc_watch_meets(lo, hi))
        sc_host_forget(lo, hi - lo);
}

static void abandon(const void *addr, size_t bytes, bool lost)
{
    if (meets_arena(addr, bytes))
        sc_host_arena_abandon((uintptr_t)addr, bytes, lost);
    forget_watched(addr, bytes);
    if (lost)
        sc_lifetime_unmapped((uintptr_t)addr, bytes);
}

/* Before a change of the mapping (`lost`) or of the protection. The result is for sc_watch_changed. */
static int changes(const void *addr, size_t bytes, bool lost)
{
    int change = announce(addr, bytes);

    abandon(addr, bytes, lost);
    return change;
}

/* Does, or prevents, the kernel's effect on closed or pinned pages (rule M4).  True: the kernel need not be asked. */
static bool advised(uintptr_t addr, size_t bytes, int advice)
{
    switch (advice) {
    case MADV_DONTNEED:
    case MADV_DONTNEED_LOCKED:
        sc_host_arena_empty(addr, bytes);
        return true;
    case MADV_FREE: /* allowed to keep the contents */
        return true;
    case MADV_POPULATE_READ:
        sc_host_acquire(addr, bytes, SC_READ);
        return false;
    case MADV_POPULATE_WRITE:
        sc_host_acquire(addr, bytes, SC_RDWR);
        return false;
    case MADV_GUARD_INSTALL: /* empties and closes the pages */
    case MADV_HWPOISON:
    case MADV_WIPEONFORK:
        sc_host_arena_abandon(addr, bytes, false);
        return false;
    default:
        return false;
    }
}

static void *next_munmap, *next_mmap, *next_mmap64, *next_mremap, *next_madvise, *next_mprotect,
    *next_pkey_mprotect, *next_shmat, *next_process_madvise;

static void __attribute__((constructor)) find_next(void)
{
    sc_host_next(&next_munmap, "munmap");
    sc_host_next(&next_mmap, "mmap");
    sc_host_next(&next_mmap64, "mmap64");
    sc_host_next(&next_mremap, "mremap");
    sc_host_next(&next_madvise, "madvise");
    sc_host_next(&next_mprotect, "mprotect");
    sc_host_next(&next_pkey_mprotect, "pkey_mprotect");
    sc_host_next(&next_shmat, "shmat");
    sc_host_next(&next_process_madvise, "process_madvise");
}

static bool advises(void *addr, size_t bytes, int advice, int *change)
{
    *change = SC_WATCH_NO_CHANGE;
    if (advice != MADV_POPULATE_READ && advice != MADV_POPULATE_WRITE) {
        *change = announce(addr, bytes);
        forget_watched(addr, bytes);
    }
    return meets_arena(addr, bytes) && (uintptr_t)addr % SC_PAGE == 0 && advised((uintptr_t)addr, bytes, advice);
}

/* shmat with SHM_REMAP replaces memory at the given address.  Without SHM_REMAP shmat never meets the arena, whose
 * addresses are taken. */
static int attaches(int id, const void *addr, int flags)
{
    void *at = (void *)((uintptr_t)addr & ~(uintptr_t)(flags & SHM_RND ? SC_PAGE - 1 : 0));
    struct shmid_ds about;
    bool replaces = addr && (flags & SHM_REMAP) && shmctl(id, IPC_STAT, &about) == 0;

    return replaces ? changes(at, about.shm_segsz, true) : SC_WATCH_NO_CHANGE;
}

static int maps(const void *addr, size_t bytes, int flags)
{
    return flags & MAP_FIXED ? changes(addr, bytes, true) : SC_WATCH_NO_CHANGE;
}

/* `to`: the address for MREMAP_FIXED. The announced range has both places. */
static int remaps(void *addr, size_t bytes, size_t new_bytes, int flags, void *to)
{
    char *from = addr, *fixed = flags & MREMAP_FIXED ? to : addr, *first = from < fixed ? from : fixed;
    char *end = from + bytes, *fixed_end = flags & MREMAP_FIXED ? fixed + new_bytes : end;
    int change = announce(first, (size_t)((end > fixed_end ? end : fixed_end) - first));

    if (flags & MREMAP_FIXED)
        abandon(fixed, new_bytes, true);
    abandon(addr, bytes, true);
    return change;
}

/* Libraries that need to hear of mappings (UCX under MPICH, Open MPI) overwrite the beginnings of the functions
 * below and make the system call by syscall(). */
bool sc_host_remaps(long number, const long argument[6], int *change)
{
    void *addr = (void *)argument[0];
    size_t bytes = (size_t)argument[1];

    *change = SC_WATCH_NO_CHANGE;
    switch (number) {
    case SYS_munmap:
        *change = changes(addr, bytes, true);
        return false;
    case SYS_mmap:
        *change = maps(addr, bytes, (int)argument[3]);
        return false;
    case SYS_mremap:
        *change = remaps(addr, bytes, (size_t)argument[2], (int)argument[3], (void *)argument[4]);
        return false;
    case SYS_mprotect:
    case SYS_pkey_mprotect:
        *change = changes(addr, bytes, false);
        return false;
    case SYS_shmat:
        *change = attaches((int)argument[0], (void *)argument[1], (int)argument[2]);
        return false;
    case SYS_madvise:
        return advises(addr, bytes, (int)argument[2], change);
    default:
        return false;
    }
}

SC_HOST_EXPORT int munmap(void *addr, size_t bytes)
{
    int change = changes(addr, bytes, true);
    int result = ((__typeof__(munmap) *)sc_host_next(&next_munmap, "munmap"))(addr, bytes);

    sc_watch_changed(change);
    return result;
}

SC_HOST_EXPORT void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    int change = maps(addr, bytes, flags);

    addr = ((__typeof__(mmap) *)sc_host_next(&next_mmap, "mmap"))(addr, bytes, prot, flags, fd, offset);
    if (addr != MAP_FAILED)
        sc_lifetime_mapped(addr, bytes, prot, flags);
    sc_watch_changed(change);
    return addr;
}

SC_HOST_EXPORT void *mmap64(void *addr, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
    int change = maps(addr, bytes, flags);

    addr = ((__typeof__(mmap64) *)sc_host_next(&next_mmap64, "mmap64"))(addr, bytes, prot, flags, fd, offset);
    if (addr != MAP_FAILED)
        sc_lifetime_mapped(addr, bytes, prot, flags);
    sc_watch_changed(change);
    return addr;
}

/* --- mremap in pieces --------------------------------------------------------------------------------------------- */

/* Opened pages may stay several mappings for the kernel.  mremap refuses to grow several mappings, with EFAULT.  Linux
 * before 6.17 refuses to move them.  Later kernels may have moved the first mappings before the refusal. */

static bool is_mapped(const char *addr, size_t bytes)
{
    int before = errno;
    bool mapped = sc_host_sys(SYS_msync, (long)addr, (long)bytes, MS_ASYNC, 0, 0) == 0;

    errno = before;
    return mapped;
}

/* Unmapped bytes at the beginning of the range. */
static size_t gone(const char *addr, size_t bytes)
{
    size_t none = 0, some = bytes / SC_PAGE; /* pages; those from `some` on are mapped */

    while (none < some) {
        size_t middle = (none + some) / 2;

        if (is_mapped(addr + middle * SC_PAGE, SC_PAGE))
            some = middle;
        else
            none = middle + 1;
    }
    return some * SC_PAGE;
}

static void *remap(void *addr, size_t bytes, size_t new_bytes, int flags, void *to)
{
    return ((__typeof__(mremap) *)sc_host_next(&next_mremap, "mremap"))(addr, bytes, new_bytes, flags, to);
}

/* Moves whole pages at the beginning of the range; returns their bytes. */
static size_t move_some(char *from, char *to, size_t bytes, int flags)
{
    for (;;) {
        if (remap(from, bytes, bytes, flags, to) != MAP_FAILED)
            return bytes;
        if (errno != EFAULT || bytes <= SC_PAGE || !is_mapped(from, SC_PAGE))
            return gone(from, bytes);
        bytes = sc_page_ceil(bytes / 2);
    }
}

/* Returns the bytes moved before the first failure. */
static size_t move_all(char *from, char *to, size_t bytes, int flags)
{
    size_t done = 0, more = bytes;

    while (done < bytes && more) {
        more = move_some(from + done, to + done, bytes - done, flags);
        done += more;
    }
    return done;
}

/* `to`: the address for MREMAP_FIXED.  A failure leaves the memory in its place. */
static void *remap_pieces(char *addr, size_t bytes, size_t new_bytes, int flags, void *to)
{
    char *last = addr + bytes - SC_PAGE, *at = to;
    size_t moved = gone(addr, bytes);

    if (new_bytes > bytes && !(flags & MREMAP_FIXED) &&
        remap(last, SC_PAGE, SC_PAGE + new_bytes - bytes, 0, NULL) != MAP_FAILED)
        return addr;
    if (!(flags & MREMAP_MAYMOVE))
        return MAP_FAILED;
    if (!(flags & MREMAP_FIXED))
        at = sc_host_sys_mmap(NULL, new_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    else if (new_bytes > bytes)
        at = sc_host_sys_mmap(to, new_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
    if (at == MAP_FAILED)
        return at;
    moved += move_all(addr + moved, at + moved, bytes - moved, flags | MREMAP_FIXED);
    if (moved == bytes)
        return at;
    move_all(at, addr, moved, MREMAP_MAYMOVE | MREMAP_FIXED);
    sc_host_sys(SYS_munmap, (long)at, (long)new_bytes, 0, 0, 0);
    errno = EFAULT;
    return MAP_FAILED;
}

SC_HOST_EXPORT void *mremap(void *addr, size_t bytes, size_t new_bytes, int flags, ...)
{
    bool lasting = sc_lifetime_is_mapping((uintptr_t)addr, (uintptr_t)addr + bytes);
    bool whole = (lasting || meets_arena(addr, bytes)) && bytes && new_bytes >= bytes &&
                 !(flags & MREMAP_DONTUNMAP) && (uintptr_t)addr % SC_PAGE == 0 && is_mapped(addr, bytes);
    void *to = NULL, *wanted;
    int before = errno, change;

    if (flags & MREMAP_FIXED) {
        va_list args;

        va_start(args, flags);
        to = va_arg(args, void *);
        va_end(args);
    }
    change = remaps(addr, bytes, new_bytes, flags, to);
    wanted = to;
    to = remap(addr, bytes, new_bytes, flags, wanted);
    if (to == MAP_FAILED && errno == EFAULT && whole) {
        to = remap_pieces(addr, sc_page_ceil(bytes), sc_page_ceil(new_bytes), flags, wanted);
        errno = to == MAP_FAILED ? errno : before;
    }
    if (lasting && to != MAP_FAILED)
        sc_lifetime_mapped(to, new_bytes, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    sc_watch_changed(change);
    return to;
}

SC_HOST_EXPORT int mprotect(void *addr, size_t bytes, int prot)
{
    int change = changes(addr, bytes, false);
    int result = ((__typeof__(mprotect) *)sc_host_next(&next_mprotect, "mprotect"))(addr, bytes, prot);

    sc_watch_changed(change);
    return result;
}

SC_HOST_EXPORT int pkey_mprotect(void *addr, size_t bytes, int prot, int key)
{
    int change = changes(addr, bytes, false);
    int result = ((__typeof__(pkey_mprotect) *)sc_host_next(&next_pkey_mprotect, "pkey_mprotect"))(addr, bytes, prot,
                                                                                                  key);

    sc_watch_changed(change);
    return result;
}

SC_HOST_EXPORT void *shmat(int id, const void *addr, int flags)
{
    int change = attaches(id, addr, flags);
    void *result = ((__typeof__(shmat) *)sc_host_next(&next_shmat, "shmat"))(id, addr, flags);

    sc_watch_changed(change);
    return result;
}

SC_HOST_EXPORT int madvise(void *addr, size_t bytes, int advice)
{
    int change;
    bool done = advises(addr, bytes, advice, &change);
    int result = done ? 0 : ((__typeof__(madvise) *)sc_host_next(&next_madvise, "madvise"))(addr, bytes, advice);

    sc_watch_changed(change);
    return result;
}

/* --- advice by a pidfd -------------------------------------------------------------------------------------------- */

/* True when fd is a pidfd of this process. */
static bool is_this_process(int fd)
{
    char name[48], text[512], *line;
    long n, own;

    snprintf(name, sizeof name, SC_OWN_PROC "fdinfo/%d", fd);
    own = sc_host_sys(SYS_openat, AT_FDCWD, (long)name, O_RDONLY | O_CLOEXEC, 0, 0);
    if (own < 0)
        return false;
    n = sc_host_sys(SYS_read, own, (long)text, sizeof text - 1, 0, 0);
    sc_host_sys(SYS_close, own, 0, 0, 0, 0);
    text[n > 0 ? n : 0] = 0;
    line = strstr(text, "\nPid:");
    return line && strtol(line + 5, NULL, 10) == getpid();
}

static bool any_is_ours(const struct iovec *v, size_t count)
{
    for (size_t i = 0; i < count && i < IOV_MAX; i++)
        if (meets_arena(v[i].iov_base, v[i].iov_len) ||
            (sc_host_watched.bytes && sc_watch_meets((uintptr_t)v[i].iov_base,
                                                     (uintptr_t)v[i].iov_base + v[i].iov_len)))
            return true;
    return false;
}

/* Does process_madvise on this process as madvise, range by range.  *result is the number of bytes advised, or -1 if
 * the first range failed. */
static bool advises_by_fd(int fd, const struct iovec *v, size_t count, int advice, long *result)
{
    int saved = errno;

    if (!sc_host_arena.bytes || sc_inside() || !v || !any_is_ours(v, count) || !is_this_process(fd)) {
        errno = saved;
        return false;
    }
    errno = saved;
    *result = 0;
    for (size_t i = 0; i < count && i < IOV_MAX; *result += (long)v[i++].iov_len)
        if (madvise(v[i].iov_base, v[i].iov_len, advice) != 0) {
            *result = *result ? *result : -1;
            break;
        }
    return true;
}

bool sc_host_advises_by_fd(const long argument[6], long *result)
{
    return advises_by_fd((int)argument[0], (const struct iovec *)argument[1], (size_t)argument[2], (int)argument[3],
                         result);
}

SC_HOST_EXPORT ssize_t process_madvise(int fd, const struct iovec *v, size_t count, int advice, unsigned flags)
{
    long result;

    if (advises_by_fd(fd, v, count, advice, &result))
        return result;
    return ((__typeof__(process_madvise) *)sc_host_next(&next_process_madvise, "process_madvise"))(fd, v, count,
                                                                                                  advice, flags);
}
/* SPDX-License-Identifier: BSD-2-Clause */
