/* Programs that change the mappings of arena memory. Asserts that a block comes home and is forgotten before its pages
 * change, and is never tracked again where the program has changed its mapping. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/host_fake.h"
#include "tests/tap.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

#define MIB ((size_t)1 << 20)

static int pins;
static enum sc_status pin(void *base, size_t bytes)
{
    (void)base, (void)bytes;
    pins++;
    return SC_OK;
}
static void unpin(void *base, size_t bytes) { (void)base, (void)bytes; }

static char *tracked(size_t bytes)
{
    char *p = malloc(bytes);

    memset(p, 5, bytes);
    sc_host_block_track(p);
    fake_reset();
    return p;
}

static void test_elsewhere(void)
{
    char *p, *q;

    fake_reset();
    p = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tap_ok(p != MAP_FAILED && !sc_host_in_arena(p), "mmap elsewhere");
    p[0] = 1;
    tap_ok(madvise(p, 4096, MADV_DONTNEED) == 0 && p[0] == 0, "madvise elsewhere");
    p[1] = 2;
    tap_ok(mprotect(p, 4096, PROT_READ) == 0 && p[1] == 2, "mprotect elsewhere");
    mprotect(p, 4096, PROT_READ | PROT_WRITE);
    q = mremap(p, 4 * MIB, 8 * MIB, MREMAP_MAYMOVE);
    tap_ok(q != MAP_FAILED && q[1] == 2, "mremap elsewhere");
    tap_ok(munmap(q, 8 * MIB) == 0, "munmap elsewhere");
    errno = 0;
    tap_ok(munmap(q + 1, 4096) == -1 && errno == EINVAL, "errors come through");
    tap_ok(fake_acquires + fake_forgets == 0, "and nobody was called");
}

/* The program's mapping, as closed pages leave it: the kernel has two, because both ends were first written while the
 * middle was closed.  Mappings with other flags lie around it. */
static char *in_pieces(void)
{
    char *around = mmap(NULL, 3 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *p = mmap(around + MIB, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

    sc_host_sys_mprotect(p + MIB / 4, MIB / 4, PROT_NONE);
    p[0] = 1;
    p[MIB - 1] = 3;
    sc_host_sys_mprotect(p + MIB / 4, MIB / 4, PROT_READ | PROT_WRITE);
    p[MIB / 3] = 2;
    return p;
}

static bool has_pieces(const char *q) { return q[0] == 1 && q[MIB / 3] == 2 && q[MIB - 1] == 3; }

static void test_pieces(void)
{
    char *p = in_pieces(), *to, *q;

    q = mremap(p, MIB, 64 * MIB, MREMAP_MAYMOVE);
    tap_ok(q != MAP_FAILED && has_pieces(q) && q[MIB] == 0 && q[64 * MIB - 1] == 0, "a mapping in pieces grows");
    munmap(q, 64 * MIB);
    p = in_pieces();
    to = mmap(NULL, MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    q = mremap(p, MIB, MIB, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    tap_ok(q == to && has_pieces(q), "a mapping in pieces moves");
    to = mmap(NULL, 2 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    q = mremap(q, MIB, 2 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    tap_ok(q == to && has_pieces(q) && q[MIB] == 0, "and grows at another address");
    munmap(q, 2 * MIB);
}

/* Coroutine stacks and the like. */
static void test_guard_pages(void)
{
    char *p = tracked(100000), *q;
    struct sc_host_block b;

    tap_ok(mprotect(p, 4096, PROT_NONE) == 0, "a program protects part of a block");
    tap_ok(fake_acquires == 1 && fake_acquired[0].access == SC_RDWR && fake_acquired[0].addr == (uintptr_t)p &&
               fake_forgets == 1,
           "the block came home and was forgotten");
    tap_ok(!sc_host_block_of(p, &b) && sc_host_in_arena(p), "and can no longer be tracked");
    free(p);
    q = malloc(100000);
    q[0] = 1;
    tap_ok(q == p && sc_host_block_of(q, &b), "after free it is an ordinary block again");
    free(q);
}

static void test_dontneed(void)
{
    char *p = tracked(5 * MIB);
    struct sc_host_block b;

    tap_ok(madvise(p + MIB, MIB, MADV_DONTNEED) == 0 && all_bytes(p + MIB, 0, MIB) && all_bytes(p, 5, MIB) &&
               all_bytes(p + 2 * MIB, 5, 3 * MIB),
           "MADV_DONTNEED empties the range");
    tap_ok(fake_acquires == 1 && fake_forgets == 1, "what lies outside it came home before");
    sc_host_block_of(p, &b);
    fake_reset();
    madvise(p, b.bytes, MADV_DONTNEED);
    tap_ok(fake_forgets == 2 && fake_forgotten[0].addr == (uintptr_t)p && all_bytes(p, 0, 5 * MIB),
           "a whole block is forgotten before it is withdrawn");
    p[0] = 3;
    tap_ok(madvise(p, 5 * MIB, MADV_FREE) == 0 && p[0] == 3, "MADV_FREE may keep the contents");
    tap_ok(sc_host_block_of(p, &b), "the block can be tracked again");
    errno = 0;
    tap_ok(madvise(p + 1, 4096, MADV_DONTNEED) == -1 && errno == EINVAL, "unaligned: libc's error");
    sc_host_span_pin(&b, pin, unpin);
    memset(p, 9, 5 * MIB);
    madvise(p, MIB, MADV_DONTNEED);
    tap_ok(pins == 1 && all_bytes(p, 0, MIB) && all_bytes(p + MIB, 9, MIB), "the same when it is pinned");
    free(p);
}

static void test_lost(void)
{
    char *p = tracked(5 * MIB), *q;
    struct sc_host_block b;

    q = mmap(p + MIB, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    tap_ok(q == p + MIB && fake_acquires == 1 && fake_forgets == 1, "mapping over a block brings it home first");
    tap_ok(!sc_host_block_of(p, &b) && all_bytes(p, 5, MIB) && all_bytes(p + MIB, 0, MIB), "it is never tracked again");
    free(p);
    q = malloc(5 * MIB);
    tap_ok(q != p, "and its addresses are not used again");
    free(q);
    p = tracked(3 * MIB);
    munmap(p, 3 * MIB);
    tap_ok(fake_forgets == 1, "munmap of a block forgets it");
    q = malloc(3 * MIB);
    q[0] = 1;
    tap_ok(q != p, "its addresses are not used again either");
    free(q);
}

static void test_more(void)
{
    char *p = tracked(5 * MIB);
    struct sc_host_block b;
    int segment = shmget(IPC_PRIVATE, MIB, 0600), good;

    tap_ok(madvise(p, MIB, 22) == 0 || errno == EINVAL, "MADV_POPULATE_READ");
    tap_ok(fake_acquired_only(p, MIB, SC_READ), "after the range came home");
    madvise(p, MIB, 23);
    tap_ok(fake_acquired_only(p, MIB, SC_RDWR), "MADV_POPULATE_WRITE, for writing");
    tap_ok(madvise(p, MIB, MADV_REMOVE) == -1 && fake_acquires + fake_forgets == 0 && p[0] == 5,
           "MADV_REMOVE is refused, as for all private memory");
    tap_ok(msync(p, MIB, MS_SYNC) == 0 && p[0] == 5, "msync");
    fake_reset();
    tap_ok(madvise(p, 4096, MADV_DONTNEED_LOCKED) == 0 && fake_forgets == 1 && all_bytes(p, 0, 4096) && p[4096] == 5,
           "MADV_DONTNEED_LOCKED empties");
    sc_host_block_track(p);
    fake_reset();
    good = segment >= 0 && shmat(segment, p, SHM_REMAP) == p;
    shmctl(segment, IPC_RMID, NULL);
    tap_ok(segment < 0 || (good && fake_acquires == 1 && fake_forgets == 1 && !sc_host_block_of(p, &b)),
           "shared memory attached over a block: home first, never tracked again");
    p[0] = 1;
    free(p);
    p = tracked(100000);
    pkey_mprotect(p, 4096, PROT_READ | PROT_WRITE, -1);
    tap_ok(fake_acquires == 1 && fake_forgets == 1 && !sc_host_block_of(p, &b), "pkey_mprotect as mprotect");
    free(p);
}

/* Advice that takes pages away, now or in a child: the block is fetched first (it may still be needed), and is never
 * tracked again. */
static void test_taken(int advice, const char *name)
{
    char *p = tracked(100000);
    struct sc_host_block b;

    madvise(p, 8192, advice);
    tap_ok(fake_acquires == 1 && fake_forgets == 1 && !sc_host_block_of(p, &b) && p[8192] == 5, "%s", name);
    madvise(p, 8192, 103); /* MADV_GUARD_REMOVE: before free, since the memory will have a new owner */
    free(p);
}

/* By system call numbers, like libraries that have replaced the functions. */
static void test_by_number(void)
{
    char *p = tracked(100000), *other;
    struct sc_host_block b;

    tap_ok(syscall(SYS_madvise, p, (size_t)8192, MADV_DONTNEED) == 0 && fake_forgets == 1 && p[0] == 0 &&
               p[8192] == 5 && sc_host_block_of(p, &b),
           "madvise by syscall(): forgotten and emptied");
    fake_reset();
    tap_ok(syscall(SYS_mprotect, p, (size_t)4096, PROT_READ) == 0 && fake_acquires == 1 && fake_forgets == 1 &&
               !sc_host_block_of(p, &b),
           "mprotect by syscall(): home first, not tracked again");
    syscall(SYS_mprotect, p, (size_t)4096, PROT_READ | PROT_WRITE);
    free(p);
    p = tracked(100000);
    other = (char *)syscall(SYS_mmap, p, (size_t)4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                            -1, 0L);
    tap_ok(other == p && fake_forgets == 1 && p[0] == 0 && p[4096] == 5 && !sc_host_block_of(p, &b),
           "mmap by syscall() over a block");
    free(p);
    p = tracked(100000);
    tap_ok(syscall(SYS_munmap, p, (size_t)4096) == 0 && fake_forgets == 1 && !sc_host_block_of(p, &b),
           "munmap by syscall()");
    fake_reset();
    other = (char *)syscall(SYS_mmap, NULL, (size_t)8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    other = (char *)syscall(SYS_mremap, other, (size_t)8192, (size_t)16384, MREMAP_MAYMOVE);
    other[16383] = 1;
    tap_ok(syscall(SYS_munmap, other, (size_t)16384) == 0 && fake_acquires + fake_forgets == 0,
           "elsewhere nobody is called");
}

int main(void)
{
    if (!tap_ok(fake_start((size_t)1 << 40) == 0, "the arena starts"))
        return tap_done();
    test_elsewhere();
    test_pieces();
    test_guard_pages();
    test_dontneed();
    test_lost();
    test_more();
    test_taken(MADV_WIPEONFORK, "MADV_WIPEONFORK");
    test_taken(102, "MADV_GUARD_INSTALL");
    test_by_number();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
