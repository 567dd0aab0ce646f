#define _GNU_SOURCE
#include "base/own_fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/locks.h"
#include "base/own_proc.h"

#define FD_FROM 512
#define OWN_MAX 8
#define DRIVER_MAX 64 /* a driver makes about ten for each process */

static const struct sc_fd *all[OWN_MAX]; /* every sc_fd ever kept */
static struct sc_fd drivers[DRIVER_MAX];
static const char *const *spared;        /* path prefixes of a driver's files */
static pid_t spared_by;                  /* a forked child does not use the driver's descriptors */

static bool same_file(const struct sc_fd *own, int fd)
{
    struct stat now;

    return fstat(fd, &now) == 0 && now.st_dev == own->device && now.st_ino == own->inode;
}

static void note(const struct sc_fd *own)
{
    for (int i = 0; i < OWN_MAX; i++) {
        const struct sc_fd *none = NULL;

        if (__atomic_compare_exchange_n(&all[i], &none, own, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED) || none == own)
            return;
    }
}

int sc_fd_keep(struct sc_fd *own, int low)
{
    int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, FD_FROM);
    struct stat now;

    if (low < 0)
        return -1;
    if (fd < 0)
        fd = low; /* the limit on descriptors is below FD_FROM */
    else
        close(low);
    if (fstat(fd, &now) != 0) {
        close(fd);
        return -1;
    }
    own->device = now.st_dev;
    own->inode = now.st_ino;
    __atomic_store_n(&own->owner, getpid(), __ATOMIC_RELEASE);
    note(own);
    __atomic_store_n(&own->fd, fd + 1, __ATOMIC_RELEASE);
    return fd;
}

int sc_fd_get(const struct sc_fd *own)
{
    int fd = __atomic_load_n(&own->fd, __ATOMIC_ACQUIRE) - 1;

    return fd >= 0 && __atomic_load_n(&own->owner, __ATOMIC_ACQUIRE) == getpid() && same_file(own, fd) ? fd : -1;
}

void sc_fd_drop(struct sc_fd *own)
{
    int fd = own->fd - 1;

    if (fd >= 0 && same_file(own, fd))
        close(fd);
    __atomic_store_n(&own->fd, 0, __ATOMIC_RELEASE);
}

void sc_fd_spare(const char *const *prefixes)
{
    __atomic_store_n(&spared_by, getpid(), __ATOMIC_RELAXED);
    __atomic_store_n(&spared, prefixes, __ATOMIC_RELEASE);
}

/* True if the link /proc/self/fd/`fd` begins with one of the prefixes. */
static bool begins(int folder, const char *fd, const char *const *prefixes)
{
    char path[256];
    long length = syscall(SYS_readlinkat, folder, fd, path, sizeof path - 1);

    path[length > 0 ? length : 0] = '\0';
    for (; *prefixes; prefixes++)
        if (!strncmp(path, *prefixes, strlen(*prefixes)))
            return true;
    return false;
}

bool sc_fd_is_of_driver(int fd)
{
    for (int i = 0; i < DRIVER_MAX; i++)
        if (fd >= 0 && sc_fd_get(&drivers[i]) == fd)
            return true;
    return false;
}

void sc_fd_of_driver(int fd)
{
    int saved = errno;
    struct stat file;

    if (sc_fd_is_of_driver(fd))
        fd = -1;
    for (int i = 0; i < DRIVER_MAX && fd >= 0 && fstat(fd, &file) == 0; i++) {
        struct sc_fd *slot = &drivers[i];
        int old = __atomic_load_n(&slot->fd, __ATOMIC_ACQUIRE);

        if (sc_fd_get(slot) >= 0 || !__atomic_compare_exchange_n(&slot->fd, &old, fd + 1, false, __ATOMIC_ACQ_REL,
                                                                 __ATOMIC_RELAXED))
            continue;
        slot->device = file.st_dev;
        slot->inode = file.st_ino;
        __atomic_store_n(&slot->owner, getpid(), __ATOMIC_RELEASE);
        break;
    }
    errno = saved;
}

/* The descriptor of a name in /proc/self/fd, or -1. */
static int number_of(const char *name)
{
    int fd = *name >= '0' && *name <= '9' ? 0 : -1;

    for (; *name >= '0' && *name <= '9'; name++)
        fd = 10 * fd + *name - '0';
    return fd;
}

/* Calls `use` with every open descriptor but `folder`, and with its name in `folder`, which is /proc/self/fd.  Reads by
 * system calls: readdir allocates. */
static void each_open(void (*use)(int folder, const char *name, int fd, void *arg), void *arg)
{
    int folder = (int)syscall(SYS_openat, AT_FDCWD, SC_OWN_PROC "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _Alignas(struct dirent64) char entries[2048];
    long bytes;

    while (folder >= 0 && (bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < bytes; at += ((const struct dirent64 *)(entries + at))->d_reclen) {
            const char *name = ((const struct dirent64 *)(entries + at))->d_name;
            int fd = number_of(name);

            if (fd >= 0 && fd != folder)
                use(folder, name, fd, arg);
        }
    if (folder >= 0)
        syscall(SYS_close, folder);
}

struct search {
    const char *const *prefixes;
    int from, found;
};

static void find_spared(int folder, const char *name, int fd, void *arg)
{
    struct search *search = arg;

    if (fd >= search->from && (search->found < 0 || fd < search->found) && begins(folder, name, search->prefixes))
        search->found = fd;
}

/* The lowest descriptor >= from of a driver's file, or -1. */
static int next_spared(int from)
{
    struct search search = {__atomic_load_n(&spared, __ATOMIC_ACQUIRE), from, -1};

    if (search.prefixes && __atomic_load_n(&spared_by, __ATOMIC_RELAXED) == getpid())
        each_open(find_spared, &search);
    return search.found;
}

/* --- what a driver makes by system calls of its own --------------------------------------------------------------- */

#define KNOWN_MAX 4096 /* descriptors from this number on are taken for the program's */
#define KNOWN_BITS 64

static uint64_t known[KNOWN_MAX / KNOWN_BITS]; /* descriptors that are not the driver's */
static bool starting;                          /* a driver starts */

static void know(int fd)
{
    if (fd >= 0 && fd < KNOWN_MAX)
        __atomic_fetch_or(&known[fd / KNOWN_BITS], 1ull << fd % KNOWN_BITS, __ATOMIC_RELAXED);
}

static void know_open(int folder, const char *name, int fd, void *none)
{
    (void)folder;
    (void)name;
    (void)none;
    know(fd);
}

static void take_new(int folder, const char *name, int fd, void *none)
{
    static const char *const kinds[] = {"pipe:", "anon_inode:[eventfd]", NULL};

    (void)none;
    if (fd < KNOWN_MAX && !(__atomic_load_n(&known[fd / KNOWN_BITS], __ATOMIC_RELAXED) >> fd % KNOWN_BITS & 1) &&
        begins(folder, name, kinds) && fcntl(fd, F_GETFD) == FD_CLOEXEC)
        sc_fd_of_driver(fd);
}

void sc_fd_driver_begins(void)
{
    memset(known, 0, sizeof known);
    __atomic_store_n(&starting, true, __ATOMIC_RELEASE);
    each_open(know_open, NULL);
}

void sc_fd_driver_ended(void)
{
    each_open(take_new, NULL);
    __atomic_store_n(&starting, false, __ATOMIC_RELEASE);
}

void sc_fd_of_program(int fd)
{
    if (__atomic_load_n(&starting, __ATOMIC_ACQUIRE))
        know(fd);
}

static int lower(int from, int next, const struct sc_fd *own)
{
    int fd = own ? sc_fd_get(own) : -1;

    return fd >= from && (next < 0 || fd < next) ? fd : next;
}

int sc_fd_next(int from)
{
    int next = next_spared(from);

    for (int i = 0; i < OWN_MAX; i++)
        next = lower(from, next, __atomic_load_n(&all[i], __ATOMIC_ACQUIRE));
    for (int i = 0; i < DRIVER_MAX && __atomic_load_n(&spared, __ATOMIC_ACQUIRE); i++)
        next = lower(from, next, &drivers[i]);
    return next;
}

/* Makes raw system calls: libc's functions are interposed, and are cancellation points. */
int sc_fd_self_mem(void)
{
    static struct sc_lock lock = SC_LOCK(SC_RANK_OWN_FD); /* for opening only */
    static struct sc_fd mem;
    int fd = sc_fd_get(&mem);

    if (fd >= 0)
        return fd;
    sc_lock(&lock);
    fd = sc_fd_get(&mem);
    if (fd < 0) {
        sc_fd_drop(&mem); /* a descriptor inherited from the parent */
        fd = sc_fd_keep(&mem, (int)syscall(SYS_openat, AT_FDCWD, SC_OWN_PROC "mem", O_RDWR | O_CLOEXEC));
    }
    sc_unlock(&lock);
    return fd;
}
/* SPDX-License-Identifier: BSD-2-Clause */
