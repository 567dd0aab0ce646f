/* Writes noticed by the kernel: asynchronous write protection (userfaultfd) and PAGEMAP_SCAN, Linux 6.7.  No signal
 * is sent, and no system call fails.  The kernel's own writes are noticed, and so are MADV_DONTNEED and a
 * replacement of the mapping.
 *
 * Not noticed are writes by devices to pages that were pinned before (network cards), and writes by other mappings
 * of the same memory, which private memory does not have. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/log.h"
#include "base/own_fd.h"
#include "base/own_proc.h"
#include "host/watch.h"

/* Of kernels newer than the headers. */
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#define WP_UNPOPULATED   (UINT64_C(1) << 13)
#define WP_ASYNC         (UINT64_C(1) << 15)
#define SCAN_WP_MATCHING (1u << 0)
#define SCAN_CHECK_WP    (1u << 1)
#define PAGE_WRITTEN     (1u << 1)

struct region {
    uint64_t start, end, categories;
};
struct scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, inverted, mask, any_of, returned;
};
#define SCAN _IOWR('f', 16, struct scan)
#define REGIONS 64

static struct sc_fd uffd, pagemap; /* under the lock of watch.c */

static int open_uffd(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = WP_UNPOPULATED | WP_ASYNC};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
        close(fd);
        fd = -1;
    }
    return sc_fd_keep(&uffd, fd);
}

static bool start(void)
{
    struct scan nothing = {.size = sizeof nothing};
    int fd, saved = errno;
    bool good = open_uffd() >= 0;

    fd = good ? (int)syscall(SYS_openat, AT_FDCWD, SC_OWN_PROC "pagemap", O_RDONLY | O_CLOEXEC) : -1;
    good = sc_fd_keep(&pagemap, fd) >= 0 && ioctl(sc_fd_get(&pagemap), SCAN, &nothing) == 0;
    if (!good) {
        sc_fd_drop(&uffd);
        sc_fd_drop(&pagemap);
    }
    errno = saved;
    return good;
}

/* An operation on a range of the userfaultfd.  False also after the program has closed the descriptor. */
static bool control(unsigned long request, void *what)
{
    int fd = sc_fd_get(&uffd), saved = errno;
    bool good = fd >= 0 && ioctl(fd, request, what) == 0;

    errno = saved;
    return good;
}

static bool add(struct sc_watch_range *r, uintptr_t lo, uintptr_t hi, bool mixed)
{
    struct uffdio_register what = {.range = {lo, hi - lo}, .mode = UFFDIO_REGISTER_MODE_WP};

    (void)r;
    (void)mixed;
    return control(UFFDIO_REGISTER, &what);
}

static void remove_range(struct sc_watch_range *r)
{
    struct uffdio_range what = {r->lo, r->hi - r->lo};

    control(UFFDIO_UNREGISTER, &what); /* refused for a range that is not mapped any more */
}

static int written(struct sc_watch_range *r, uintptr_t *lo, uintptr_t hi, bool again, struct sc_watch_run *runs,
                   int most)
{
    struct region regions[REGIONS];
    struct scan scan = {.size = sizeof scan, .flags = SCAN_CHECK_WP | (again ? SCAN_WP_MATCHING : 0),
                        .start = *lo, .end = hi, .vec = (uintptr_t)regions,
                        .vec_len = (uint64_t)(most < REGIONS ? most : REGIONS), .mask = PAGE_WRITTEN,
                        .returned = PAGE_WRITTEN};
    int fd = sc_fd_get(&pagemap), saved = errno;
    long count = fd < 0 || sc_fd_get(&uffd) < 0 ? -1 : ioctl(fd, SCAN, &scan);

    (void)r;
    errno = saved;
    for (long i = 0; i < count; i++)
        runs[i] = (struct sc_watch_run){regions[i].start, regions[i].end};
    *lo = scan.walk_end;
    return (int)count;
}

static void open_range(struct sc_watch_range *r, uintptr_t lo, uintptr_t hi)
{
    struct uffdio_writeprotect what = {.range = {lo, hi - lo}, .mode = 0};

    (void)r;
    control(UFFDIO_WRITEPROTECT, &what); /* a refusal is ignored: the next scan reports it */
}

const struct sc_watch_engine sc_watch_wp = {.name = "wp",
                                            .start = start,
                                            .add = add,
                                            .remove = remove_range,
                                            .written = written,
                                            .open = open_range};
/* SPDX-License-Identifier: BSD-2-Clause */
