/* Blocks and spans: places, reuse, zeros, pins, and whether an address lies in the arena. Asserts that no block is
 * handed out twice, that calloc gives zeros in reused and in pinned memory, and that a full arena leaves blocks to
 * libc. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "host/span.h"
#include "tests/host_fake.h"
#include "tests/tap.h"

#define MIB ((size_t)1 << 20)

static int pins, unpins;
static void *pinned_base;
static size_t pinned_bytes;

static enum sc_status pin(void *base, size_t bytes)
{
    pins++;
    pinned_base = base;
    pinned_bytes = bytes;
    return SC_OK;
}
static enum sc_status pin_fails(void *base, size_t bytes)
{
    (void)base, (void)bytes;
    return SC_ERR_DEVICE;
}
static void unpin(void *base, size_t bytes)
{
    unpins++;
    pinned_base = base;
    pinned_bytes = bytes;
}

static void test_shapes(void)
{
    static const size_t sizes[] = {8192,      8193,      12288,     100000,       MIB - 1,     MIB,
                                   3 * MIB,   3 * MIB + 1, 5 * MIB, 64 * MIB + 8, 300 * MIB};
    int aligned = 1, roomy = 1, slim = 1, whole = 1;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *p = malloc(sizes[i]);
        struct sc_host_block b;

        if (!sc_host_block_of(p + sizes[i] - 1, &b)) {
            tap_diag("%zu bytes: in no block", sizes[i]);
            whole = 0;
            continue;
        }
        aligned &= (uintptr_t)p % SC_PAGE == 0 && b.base == (uintptr_t)p && b.bytes % SC_PAGE == 0;
        roomy &= b.bytes >= sizes[i] && malloc_usable_size(p) == b.bytes;
        slim &= b.bytes <= sizes[i] + sizes[i] / 8 + SC_PAGE || (sizes[i] > 3 * MIB && b.bytes < sizes[i] + 2 * MIB);
        whole &= b.span_base <= b.base && b.span_base + b.span_bytes >= b.base + b.bytes &&
                 b.span_base % (2 * MIB) == 0;
        p[0] = p[sizes[i] - 1] = 1;
        free(p);
        whole &= !sc_host_block_of((void *)b.base, &(struct sc_host_block){0});
    }
    tap_ok(aligned, "blocks begin and end on pages");
    tap_ok(roomy, "blocks have the room asked for, and say so");
    tap_ok(slim, "at most an eighth, or less than 2 MiB, is lost");
    tap_ok(whole, "spans hold their blocks whole; freed blocks are in none");
}

/* Arrays with the same offset in their huge pages compete for the same sets of the CPU's caches. */
static void test_colours(void)
{
    static const size_t sizes[] = {4500 * 1000, 18 * 1000 * 1000, 32 * MIB};
    char *p[9], *aligned = NULL;
    int same = 0, moved = 0;

    for (int i = 0; i < 9; i++)
        p[i] = malloc(sizes[i % 3]);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < i; j++)
            same += (uintptr_t)p[i] % (2 * MIB) == (uintptr_t)p[j] % (2 * MIB);
    tap_ok(same == 0, "arrays begin at different pages of their huge pages");
    for (int i = 0; i < 9; i++) {
        char *before = p[i];

        free(p[i]);
        p[i] = malloc(sizes[i % 3]);
        moved += p[i] != before;
    }
    tap_ok(moved == 0, "and at the same page when the memory is used again");
    for (int i = 0; i < 9; i++)
        free(p[i]);
    tap_ok(posix_memalign((void **)&aligned, 2 * MIB, 18 * 1000 * 1000) == 0 && (uintptr_t)aligned % (2 * MIB) == 0,
           "an alignment that is asked for is given");
    free(aligned);
}

static void test_whose(void)
{
    char *p = malloc(20000), *small = malloc(100);
    struct sc_host_block b;
    int on_stack;

    tap_ok(sc_host_in_arena(p) && sc_host_in_arena(p + 19999), "a large block is the arena's");
    tap_ok(!sc_host_in_arena(small) && !sc_host_in_arena(&on_stack) && !sc_host_in_arena(NULL), "nothing else is");
    tap_ok(sc_host_block_of(p + 8000, &b) && b.base == (uintptr_t)p, "an address inside leads to its block");
    tap_ok(!sc_host_block_of(small, &b) && !sc_host_block_of((char *)sc_host_arena.base + sc_host_arena.bytes / 2, &b),
           "libc's memory and the unused arena lead to none");
    free(p);
    free(small);
}

static void test_reuse(void)
{
    char *p, *q, *r;

    p = malloc(5 * MIB);
    memset(p, 0xab, 5 * MIB);
    free(p);
    q = calloc(5, MIB);
    tap_ok(q == p, "a freed span is used again");
    tap_ok(all_bytes(q, 0, 5 * MIB), "calloc of a used span gives zeros");
    free(q);
    p = malloc(9000);
    q = malloc(9000);
    memset(p, 0xab, 9000);
    free(p);
    r = calloc(1, 9000);
    tap_ok(r == p && all_bytes(r, 0, 9000), "calloc of a used block gives zeros");
    free(r);
    free(q);
    p = malloc(64 * MIB);
    memset(p, 0xab, 64 * MIB);
    free(p);
    q = calloc(64, MIB);
    tap_ok(q == p && all_bytes(q, 0, 64 * MIB), "a large span that was given back is used again and is zero");
    free(q);
}

static void test_pins(void)
{
    int refused = 0;
    char *p = malloc(64 * MIB), *q, *r;
    struct sc_host_block b, c;

    sc_host_block_of(p, &b);
    tap_ok(sc_host_span_pin(&b, pin_fails, unpin) == SC_ERR_DEVICE, "a failing pin is reported");
    while (sc_host_span_pin(&b, pin, unpin) != SC_OK && refused < 1000)
        refused++;
    tap_ok(refused > 10 && refused < 1000, "and not tried again at once, but later (after %d requests)", refused);
    tap_ok(pins == 1 && pinned_base == (void *)b.span_base && pinned_bytes == b.span_bytes,
           "a span is pinned whole");
    sc_host_span_pin(&b, pin, unpin);
    memset(p, 0xcd, 64 * MIB);
    free(p);
    q = calloc(64, MIB);
    sc_host_block_of(q, &b);
    sc_host_span_pin(&b, pin, unpin);
    tap_ok(q == p && pins == 1 && unpins == 0, "the pin outlives free and malloc");
    tap_ok(all_bytes(q, 0, 64 * MIB), "calloc of a pinned span gives zeros");
    madvise(q, 64 * MIB, MADV_DONTNEED);
    memset(q, 1, 2 * MIB);
    madvise(q, MIB, MADV_DONTNEED);
    tap_ok(all_bytes(q, 0, MIB) && all_bytes(q + MIB, 1, MIB), "MADV_DONTNEED empties pinned pages");
    p = malloc(10000);
    r = malloc(10000);
    sc_host_block_of(p, &b);
    sc_host_block_of(r, &c);
    sc_host_span_pin(&b, pin, unpin);
    sc_host_span_pin(&c, pin, unpin);
    tap_ok(b.span_base == c.span_base && pins == 2, "blocks of one superblock are pinned together");
    sc_host_spans_unpin();
    tap_ok(unpins == 2, "everything can be unpinned");
    sc_host_span_pin(&b, pin, unpin);
    tap_ok(pins == 3, "and pinned anew");
    sc_host_spans_unpin();
    free(p);
    free(q);
    free(r);
}

static void test_library(void)
{
    char *p = sc_host_alloc(100), *q;
    struct sc_host_block b;

    fake_reset();
    tap_ok(p && sc_host_block_of(p, &b) && b.base == (uintptr_t)p, "the library's own memory is arena memory");
    sc_host_block_track(p);
    sc_host_free(p);
    sc_host_free(NULL);
    tap_ok(fake_forgets == 0, "its free forgets nothing");
    sc_inside_enter();
    q = malloc(MIB);
    sc_inside_leave();
    tap_ok(!sc_host_in_arena(q), "malloc inside the library is libc's");
    free(q);
}

/* A block that grows has a span with room.  The room is not pinned, and the next owner of the span gets all pages. */
static void test_growing(void)
{
    char *p = realloc(malloc(10000), 2 * MIB), *q, *r;
    struct sc_host_block b;
    int before = unpins;

    memset(p, 1, 2 * MIB);
    sc_host_block_of(p, &b);
    tap_ok(b.base == (uintptr_t)p && b.bytes == 2 * MIB && sc_host_freed(p + 2 * MIB), "the room is in no block");
    sc_host_span_pin(&b, pin, unpin);
    tap_ok((uintptr_t)pinned_base + pinned_bytes == b.base + b.bytes, "the room is not pinned");
    q = realloc(p, 3 * MIB);
    tap_ok(q != p && all_bytes(q, 1, 2 * MIB), "a pinned block moves when it grows");
    tap_ok(unpins == before + 1 && pinned_bytes < 3 * MIB, "a span that is pinned in part is unpinned when it is free");
    p = realloc(q, 16 * MIB);
    tap_ok(p == q && all_bytes(p, 1, 2 * MIB), "another one grows in place");
    sc_host_block_track(p);
    r = realloc(p, 18 * MIB);
    tap_ok(r != p && all_bytes(r, 1, 2 * MIB), "a tracked block moves");
    memset(r, 1, 18 * MIB);
    free(r);
    q = calloc(1, 20 * MIB);
    tap_ok(all_bytes(q, 0, 20 * MIB), "calloc gives zeros where a block has grown");
    free(q);
    sc_host_spans_unpin();
    fake_reset();
    pins = unpins = 0;
}

#define THREADS 8
#define ROUNDS 3000
static void *churn(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument, mark = seed << 20;
    struct {
        unsigned *p;
        size_t bytes;
        unsigned mark;
    } held[16] = {0};
    uintptr_t bad = 0;

    for (int round = 0; round < ROUNDS; round++) {
        int i = rand_r(&seed) % 16, resized = 0; /* a small block that grew is libc's */
        size_t bytes = 8192 + (size_t)rand_r(&seed) % (rand_r(&seed) % 8 ? 60000 : 3 * MIB);

        if (held[i].p) {
            bad += held[i].p[0] != held[i].mark || held[i].p[held[i].bytes / 4 - 1] != held[i].mark;
            if (rand_r(&seed) % 3 == 0) {
                resized = 1;
                held[i].p = realloc(held[i].p, bytes);
                bad += held[i].p[0] != held[i].mark;
            } else {
                free(held[i].p);
                held[i].p = rand_r(&seed) % 2 ? calloc(1, bytes) : malloc(bytes);
            }
        } else {
            held[i].p = malloc(bytes);
        }
        bad += !held[i].p || (!sc_host_in_arena(held[i].p) && !resized);
        held[i].bytes = bytes;
        held[i].mark = held[i].p[0] = held[i].p[bytes / 4 - 1] = ++mark;
    }
    for (int i = 0; i < 16; i++)
        free(held[i].p);
    return (void *)bad;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    uintptr_t bad = 0;
    void *result;

    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, churn, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        bad += (uintptr_t)result;
    }
    tap_ok(bad == 0, "%d threads: no block is handed out twice, contents stay", THREADS);
}

static void test_exhaustion(void)
{
    /* More than any address space, even with overcommit; volatile, since the compiler would warn. */
    volatile size_t impossible = SIZE_MAX / 4 * 3;
    char *p[80];
    int outside = 0, good = 1;

    for (int i = 0; i < 80; i++) {
        p[i] = malloc(16 * MIB);
        good &= p[i] != NULL;
        outside += !sc_host_in_arena(p[i]);
        p[i][0] = p[i][16 * MIB - 1] = (char)i;
    }
    for (int i = 0; i < 80; i++)
        good &= p[i][0] == (char)i;
    tap_ok(good && outside > 0 && outside < 80, "a full arena: libc serves (%d of 80)", outside);
    for (int i = 0; i < 80; i++)
        free(p[i]);
    p[0] = malloc(16 * MIB);
    tap_ok(sc_host_in_arena(p[0]), "after frees the arena serves again");
    free(p[0]);
    p[0] = malloc(impossible);
    tap_ok(!p[0] && errno == ENOMEM, "an impossible size fails as in libc");
}

static void test_exit(void)
{
    char *p = malloc(64 * MIB);
    struct sc_host_block b;
    int before = unpins;

    sc_host_block_of(p, &b);
    sc_host_span_pin(&b, pin, unpin);
    sc_host_spans_leave_pinned();
    sc_host_spans_unpin();
    tap_ok(unpins == before, "when the devices are gone nobody is asked to unpin");
    free(p);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

/* The job's limit counts, not the machine's memory. */
static void test_memory_limit(void)
{
    char root[] = "/tmp/semcache-test-XXXXXX", sub[300], self[300];
    uint64_t all = sc_host_memory_limit();

    if (!tap_ok(mkdtemp(root) != NULL && all >= MIB, "%llu MiB may be used", (unsigned long long)(all / MIB)))
        return;
    snprintf(self, sizeof self, "%s/self", root);
    snprintf(sub, sizeof sub, "%s/jobs", root);
    mkdir(sub, 0700);
    write_file(sub, "memory.max", "50331648\n");
    strcat(sub, "/mine");
    mkdir(sub, 0700);
    write_file(sub, "memory.max", "max\n");
    sc_host_cgroup_root = root;
    sc_host_cgroup_self = self;
    write_file(root, "self", "0::/jobs/mine\n");
    tap_ok(sc_host_memory_limit() == 48 * MIB, "a control group's limit, of the group above");
    write_file(sub, "memory.max", "8388608\n");
    tap_ok(sc_host_memory_limit() == 8 * MIB, "of the group itself");
    write_file(root, "self", "0::/elsewhere\n");
    write_file(root, "memory.max", "16777216\n");
    tap_ok(sc_host_memory_limit() == 16 * MIB, "of a container's root");
    snprintf(sub, sizeof sub, "%s/memory", root);
    mkdir(sub, 0700);
    write_file(sub, "memory.limit_in_bytes", "9223372036854771712\n");
    write_file(root, "self", "5:cpu:/jobs/mine\n4:memory:/a/b\n");
    tap_ok(sc_host_memory_limit() == all, "version 1, without a limit");
    strcat(sub, "/a");
    mkdir(sub, 0700);
    write_file(sub, "memory.limit_in_bytes", "33554432\n");
    tap_ok(sc_host_memory_limit() == 32 * MIB, "version 1");
    write_file(root, "self", "nonsense\n::\n0::\n:\n");
    write_file(root, "memory.max", "");
    tap_ok(sc_host_memory_limit() == all, "files that make no sense");
    snprintf(sub, sizeof sub, "rm -rf '%s'", root);
    if (system(sub) != 0)
        tap_diag("%s is left behind", root);
    sc_host_cgroup_root = "/nowhere";
    sc_host_cgroup_self = "/nowhere";
    tap_ok(sc_host_memory_limit() == all, "none");
}

int main(void)
{
    void *before = calloc(1, MIB);

    tap_ok(!sc_host_in_arena(before) && sc_host_arena.bytes == 0, "before the start there is no arena");
    if (!tap_ok(fake_start(1024 * MIB) == 0, "the arena starts"))
        return tap_done();
    tap_ok(sc_host_arena_start() == SC_OK && sc_host_arena.bytes == 1024 * MIB, "starting twice is harmless");
    tap_ok(sc_host_malloc_seen(), "the program's malloc is ours");
    free(before);
    test_growing(); /* while most of the small arena is unused */
    test_shapes();
    test_colours();
    test_whose();
    test_reuse();
    test_pins();
    test_library();
    test_threads();
    test_exhaustion();
    test_memory_limit();
    test_exit();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
