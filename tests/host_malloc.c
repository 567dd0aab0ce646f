/* The malloc family as a program uses it, before and after the start. Asserts contents and errors like libc's, and that
 * free and realloc forget or bring home exactly the right range: otherwise a late transfer would overwrite the next
 * block. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "base/inside.h"
#include "base/locks.h"
#include "host/arena.h"
#include "tests/host_fake.h"
#include "tests/tap.h"

#define MIB ((size_t)1 << 20)

void *__libc_malloc(size_t bytes);
void __libc_free(void *p);

/* Sizes that the compiler does not see through. */
static volatile size_t huge = SIZE_MAX / 2, zero_bytes;

static void fill(char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (char)(i * 7 + i / 4096);
}
static int filled(const char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != (char)(i * 7 + i / 4096))
            return 0;
    return 1;
}

static void test_before_start(void)
{
    char *p = malloc(4 * MIB), *q;

    fill(p, 4 * MIB);
    q = realloc(p, 8 * MIB);
    tap_ok(filled(q, 4 * MIB) && !sc_host_in_arena(q), "without an arena everything is libc's");
    tap_ok(malloc_usable_size(q) >= 8 * MIB, "and so is malloc_usable_size");
    free(q);
    free(NULL);
}

static void test_errors(void)
{
    void *p = &p;

    errno = 0;
    tap_ok(!calloc(huge, 16) && errno == ENOMEM, "calloc notices overflow");
    errno = 0;
    tap_ok(!reallocarray(NULL, huge, 16) && errno == ENOMEM, "reallocarray notices overflow");
    tap_ok(posix_memalign(&p, 24, 100000) == EINVAL && p == &p, "posix_memalign refuses odd alignments");
    tap_ok(posix_memalign(&p, 2, 100000) == EINVAL, "and those smaller than a pointer");
    errno = 0;
    tap_ok(!malloc(huge) && errno == ENOMEM, "an impossible size gives ENOMEM");
}

/* The arena reserves addresses without memory, and still refuses what the kernel refuses. */
static void test_more_than_memory(void)
{
    struct sysinfo info;
    volatile size_t bytes;
    void *p, *q, *of_libc;

    sysinfo(&info);
    bytes = ((size_t)info.totalram + (size_t)info.totalswap) * info.mem_unit + MIB;
    of_libc = __libc_malloc(bytes);
    p = malloc(bytes);
    tap_ok(!p == !of_libc, "more than memory and swap: %s, as libc", p ? "a block" : "none");
    free(p);
    __libc_free(of_libc);
    p = calloc(bytes / 8, 8);
    tap_ok(!p == !of_libc, "calloc");
    free(p);
    p = malloc(64 * MIB);
    q = realloc(p, bytes);
    tap_ok(p && !q == !of_libc, "realloc");
    free(q ? q : p);
}

static void test_realloc(void)
{
    char *p = malloc(1000), *q, *old;
    uintptr_t was;

    fill(p, 1000);
    q = realloc(p, 3 * MIB);
    tap_ok(sc_host_in_arena(q) && filled(q, 1000), "a libc block that grows to more than 1 MiB moves into the arena");
    fill(q, 3 * MIB);
    old = q;
    q = realloc(q, 2 * MIB);
    tap_ok(q == old && filled(q, 2 * MIB), "a little shrinking is done in place");
    q = realloc(q, 100 * MIB);
    tap_ok(sc_host_in_arena(q) && filled(q, 2 * MIB), "growing keeps the contents");
    q = realloc(q, 500);
    tap_ok(!sc_host_in_arena(q) && filled(q, 500), "shrinking below the arena's sizes moves to libc");
    free(q);
    p = malloc(50000);
    was = (uintptr_t)p;
    tap_ok(!realloc(p, zero_bytes) && !malloc_usable_size((void *)was), "realloc to 0 frees");
    p = realloc(NULL, 50000);
    tap_ok(sc_host_in_arena(p), "realloc of NULL allocates");
    sc_inside_enter();
    q = realloc(p, 60000);
    sc_inside_leave();
    tap_ok(q && !sc_host_in_arena(q), "inside the library realloc takes libc's memory");
    free(q);
}

/* As the lists of interpreters do: libc moves a block at most once in a hundred steps. */
static void test_growing(void)
{
    char *p = malloc(9000), *q;
    int moves = 0, in_arena = 0, good = sc_host_in_arena(p);

    fill(p, 9000);
    for (size_t bytes = 20000; bytes < 40 * MIB; bytes += 50000) {
        q = realloc(p, bytes);
        good &= q && malloc_usable_size(q) >= bytes && q[8999] == (char)(8999 * 7 + 8999 / 4096);
        moves += q != p;
        if (bytes < MIB)
            good &= !sc_host_in_arena(q);
        else
            in_arena += sc_host_in_arena(q);
        p = q;
    }
    tap_ok(good, "a block that grows keeps its contents, and is libc's below 1 MiB");
    tap_ok(in_arena > 800 - 30 && moves < 30, "beyond, it is the arena's and rarely moves (%d moves)", moves);
    tap_ok(filled(p, 9000), "growing in place keeps the contents");
    free(p);
    p = malloc(50000);
    sc_host_block_track(p);
    q = realloc(p, 90000);
    tap_ok(sc_host_in_arena(q), "a small block that devices have used stays in the arena");
    free(q);
    fake_reset();
}

static int aligned_to(const void *p, size_t align) { return p && (uintptr_t)p % align == 0; }

static void test_alignment(void)
{
    void *p[7] = {NULL}, *wide, *odd;

    p[0] = memalign(64, 20000);
    p[1] = aligned_alloc(4096, 3 * MIB);
    if (posix_memalign(&p[2], 2 * MIB, 5 * MIB) || posix_memalign(&p[3], 65536, 20000))
        tap_ok(0, "posix_memalign works");
    p[4] = valloc(10000);
    p[5] = pvalloc(10000);
    p[6] = memalign(64, 100);
    tap_ok(aligned_to(p[0], 64) && sc_host_in_arena(p[0]), "memalign");
    tap_ok(aligned_to(p[1], 4096) && sc_host_in_arena(p[1]), "aligned_alloc");
    tap_ok(aligned_to(p[2], 2 * MIB) && sc_host_in_arena(p[2]), "posix_memalign to 2 MiB");
    tap_ok(aligned_to(p[3], 65536) && malloc_usable_size(p[3]) >= 20000, "a small block of large alignment");
    tap_ok(aligned_to(p[4], 4096) && aligned_to(p[5], 4096) && sc_host_in_arena(p[4]) && sc_host_in_arena(p[5]),
           "valloc and pvalloc");
    tap_ok(aligned_to(p[6], 64) && !sc_host_in_arena(p[6]), "small ones are libc's");
    wide = memalign(4 * MIB, 20000);
    odd = memalign(64 * MIB, 1 * MIB);
    tap_ok(aligned_to(wide, 4 * MIB) && aligned_to(odd, 64 * MIB), "alignments beyond the arena's");
    free(wide);
    free(odd);
    for (int i = 0; i < 7; i++)
        free(p[i]);
}

static void test_callbacks(void)
{
    char *p = malloc(3 * MIB), *q;
    uintptr_t was;

    fake_reset();
    free(p);
    tap_ok(fake_forgets == 0, "free of an untracked block calls nobody");
    p = malloc(3 * MIB);
    sc_host_block_track(p + 5000);
    was = (uintptr_t)p;
    errno = EDOM;
    free(p);
    tap_ok(fake_forgets == 1 && fake_forgotten[0].addr == was && fake_forgotten[0].bytes >= 3 * MIB &&
               fake_forgotten[0].bytes % SC_PAGE == 0,
           "free of a tracked block forgets all of it");
    tap_ok(errno == EDOM, "free keeps errno");
    tap_ok(fake_outside == 0, "callbacks run as inside the library");
    fake_reset();
    q = malloc(3 * MIB);
    tap_ok((uintptr_t)q == was, "the block is used again");
    free(q);
    tap_ok(fake_forgets == 0, "its next life begins untracked");
    p = malloc(3 * MIB);
    fill(p, 3 * MIB);
    sc_host_block_track(p);
    q = realloc(p, 7 * MIB);
    tap_ok(fake_acquires == 1 && fake_acquired[0].addr == (uintptr_t)p && fake_acquired[0].bytes >= 3 * MIB &&
               fake_acquired[0].access == SC_READ,
           "a moving realloc brings the block home");
    tap_ok(fake_forgets == 1 && fake_forgotten[0].addr == (uintptr_t)p && filled(q, 3 * MIB), "and then forgets it");
    fake_reset();
    sc_host_block_track(q);
    p = realloc(q, 6 * MIB);
    tap_ok(p == q && fake_acquires + fake_forgets == 0, "a realloc in place calls nobody");
    free(p);
    fake_reset();
}

static void test_tracking_touches_nothing(void)
{
    char *p = malloc(20000);

    p[0] = 42;
    sc_host_block_track(p + 9000);
    tap_ok(p[0] == 42, "tracking changes no byte");
    sc_host_block_track((void *)1);
    sc_host_block_track(&p);
    tap_ok(1, "tracking what is no block is ignored");
    free(p);
}

/* A driver that is called under the protocol's lock frees a block which it got before. */
static void test_inside(void)
{
    static struct sc_lock protocol = SC_LOCK(SC_RANK_PROTOCOL);
    char *volatile p = malloc(4 * MIB); /* volatile: the compiler knows that a freed block is not used */
    char *q;

    fill(p, 4 * MIB);
    sc_inside_enter();
    sc_lock(&protocol);
    free(p);
    q = realloc(NULL, 3 * MIB);
    tap_ok(q && !sc_host_in_arena(q), "inside the library a block is libc's");
    tap_ok(sc_host_arena_size(p) >= 4 * MIB && filled(p, 4 * MIB), "and a block of the arena is freed later");
    sc_unlock(&protocol);
    sc_inside_leave();
    free(q);
    q = malloc(16 * MIB);
    tap_ok(sc_host_in_arena(q) && sc_host_arena_size(p) == 0, "by the next thread that allocates outside");
    free(q);
}

int main(void)
{
    test_before_start();
    if (!tap_ok(fake_start((size_t)1 << 40) == 0, "the arena starts"))
        return tap_done();
    test_errors();
    test_more_than_memory();
    test_realloc();
    test_growing();
    test_alignment();
    test_callbacks();
    test_tracking_touches_nothing();
    test_inside();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
