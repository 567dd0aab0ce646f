/* For the tests of the fault half of host/: a small arena, and a protocol whose device holds a known pattern. Pages are
 * filled through /proc/self/mem while closed, and opened afterwards. */
#ifndef SC_TESTS_HOST_STUB_H
#define SC_TESTS_HOST_STUB_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/config.h"
#include "host/front.h"
#include "host/host_int.h"

static unsigned char *stub_arena;
static size_t stub_pages;

/* Outside malloc: the fault half needs the range only. */
static void stub_arena_start(size_t bytes)
{
    stub_arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stub_arena == MAP_FAILED)
        exit(99);
    stub_arena[0] = 0;
    stub_pages = bytes / SC_PAGE;
    sc_host_arena.base = (uintptr_t)stub_arena;
    sc_host_arena.bytes = bytes;
    sc_host_hull_add(&sc_host_arena);
    sc_config.window_min = 1 << 20;
    sc_config.window_max = 16 << 20;
}

static enum sc_status stub_protect(size_t page, size_t pages, enum sc_prot prot)
{
    uint8_t *want = malloc(pages);
    enum sc_status status;

    memset(want, prot, pages);
    status = sc_host_protect((uintptr_t)stub_arena + page * SC_PAGE, pages, want);
    free(want);
    return status;
}

static inline enum sc_prot stub_prot(size_t page) { return sc_host_prot((uintptr_t)stub_arena + page * SC_PAGE); }

static int stub_mem = -1;

/* Writes under the protection by system calls that are not interposed. */
static inline void stub_write(void *dst, const void *src, size_t bytes)
{
    if (stub_mem < 0)
        stub_mem = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
    if (syscall(SYS_pwrite64, stub_mem, src, bytes, dst) != (long)bytes)
        _exit(98);
}

/* Front ends that are built in, the default first. */
static const char *const stub_fronts[] = {
#ifdef HAVE_LIBSIGSEGV
    "libsigsegv",
#endif
    "sigaction",
};
#define STUB_FRONTS ((int)(sizeof stub_fronts / sizeof *stub_fronts))

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
