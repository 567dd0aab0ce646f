/* The malloc family, as the program calls it.  Blocks of sc_host_arena_from bytes or more come from the arena.
 * Smaller blocks and the library's own blocks come from libc.  free and realloc tell the owner of a block by the
 * address.  The protocol's entries go before their memory does (rule M6): free and a moving realloc call `forget`
 * first.
 *
 * Without devices every function is one comparison and a jump. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/inside.h"
#include "base/loader.h"
#include "base/log.h"
#include "host/arena.h"
#include "host/next.h"
#include "host/span.h"

#define GROWS_FROM ((size_t)1 << 20) /* bytes; smaller blocks that grow are libc's, unless devices have used them */

/* --- libc's ------------------------------------------------------------------------------------------------------- */

/* dlsym may allocate while it looks up malloc.  The allocations come from `bootstrap`; these few blocks are never
 * reused. */
static char bootstrap[16384] __attribute__((aligned(16)));
static size_t bootstrap_used;
static __thread bool resolving __attribute__((tls_model("initial-exec")));

static bool resolve(void);
static void *bootstrap_alloc(size_t bytes);
static void free_first(void *p);

/* The functions in use before libc's are known: each one looks up the functions of libc, and gives an allocation of
 * the look-up itself from `bootstrap`. */
#define FAMILY(X)                                                                                            \
    X(void *, malloc, (size_t bytes), (bytes), bootstrap_alloc(bytes))                                       \
    X(void *, calloc, (size_t count, size_t each), (count, each), bootstrap_alloc(count * each))             \
    X(void *, realloc, (void *p, size_t bytes), (p, bytes), NULL)                                            \
    X(void *, memalign, (size_t align, size_t bytes), (align, bytes), NULL)                                  \
    X(void *, aligned_alloc, (size_t align, size_t bytes), (align, bytes), NULL)                             \
    X(int, posix_memalign, (void **out, size_t align, size_t bytes), (out, align, bytes), ENOMEM)            \
    X(void *, valloc, (size_t bytes), (bytes), NULL)                                                         \
    X(void *, pvalloc, (size_t bytes), (bytes), NULL)                                                        \
    X(size_t, malloc_usable_size, (void *p), (p), 0)

#define DECLARE(result, name, parameters, arguments, inside) static result first_##name parameters;
FAMILY(DECLARE)
#define POINTER(result, name, parameters, arguments, inside) result(*name) parameters;
#define FIRST(result, name, parameters, arguments, inside) .name = first_##name,
static struct {
    FAMILY(POINTER)
    void (*free)(void *);
} libc = {FAMILY(FIRST).free = free_first};
static void (*libc_free)(void *); /* libc.free, unless blocks of `bootstrap` may come back */

/* libc's function, to be called: LIBC(malloc)(bytes). */
#define LIBC(name) __atomic_load_n(&libc.name, __ATOMIC_RELAXED)
#define DEFINE(result, name, parameters, arguments, inside) \
    static result first_##name parameters { return resolve() ? LIBC(name) arguments : (inside); }
FAMILY(DEFINE)

static bool from_bootstrap(const void *p) { return (uintptr_t)p - (uintptr_t)bootstrap < sizeof bootstrap; }

static void free_first(void *p)
{
    if (!from_bootstrap(p) && (__atomic_load_n(&libc_free, __ATOMIC_ACQUIRE) || resolve()))
        libc_free(p);
}

/* Returns zeroed memory with the size in front. */
static void *bootstrap_alloc(size_t bytes)
{
    size_t room = bytes < sizeof bootstrap ? ((bytes + 15) & ~(size_t)15) + 16 : sizeof bootstrap + 1;
    size_t at = __atomic_fetch_add(&bootstrap_used, room, __ATOMIC_SEQ_CST);

    __atomic_store_n(&libc.free, free_first, __ATOMIC_SEQ_CST);
    if (at + room > sizeof bootstrap)
        return NULL;
    memcpy(bootstrap + at, &bytes, sizeof bytes);
    return bootstrap + at + 16;
}

static size_t bootstrap_size(const void *p)
{
    size_t bytes;

    memcpy(&bytes, (const char *)p - 16, sizeof bytes);
    return bytes;
}

/* Looks up libc's functions.  False inside the look-up itself. */
static bool resolve(void)
{
    int saved = errno;

    if (resolving)
        return false;
    resolving = true;
#define FIND(result, name, parameters, arguments, inside) \
    __atomic_store_n((void **)&libc.name, sc_loader_symbol(RTLD_NEXT, #name), __ATOMIC_RELAXED);
    FAMILY(FIND)
    __atomic_store_n((void **)&libc_free, sc_loader_symbol(RTLD_NEXT, "free"), __ATOMIC_RELEASE);
    /* The order of these two lines and of bootstrap_alloc: after an allocation from `bootstrap` by any thread, the
     * last of the stores is free_first. */
    __atomic_store_n(&libc.free, libc_free, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&bootstrap_used, __ATOMIC_SEQ_CST))
        __atomic_store_n(&libc.free, free_first, __ATOMIC_SEQ_CST);
    resolving = false;
    errno = saved;
    return true;
}

static void *next___libc_free, *next___libc_realloc;
SC_HOST_EXPORT void __libc_free(void *p);
SC_HOST_EXPORT void *__libc_realloc(void *p, size_t bytes);
SC_HOST_EXPORT void cfree(void *p);

static bool seen; /* true when the program's malloc and free are the library's */

static void __attribute__((constructor)) find_libc(void)
{
    resolve();
    sc_host_next(&next___libc_free, "__libc_free");
    sc_host_next(&next___libc_realloc, "__libc_realloc");
    /* `malloc` may stand for libc's here, where the library was opened by dlopen: the place of the function decides. */
    seen = sc_loader_is_own(sc_loader_symbol(RTLD_DEFAULT, "malloc")) &&
           sc_loader_is_own(sc_loader_symbol(RTLD_DEFAULT, "free"));
}

void (*sc_host_allocated)(uintptr_t addr, size_t bytes);

/* --- the owner of a request and of a block ------------------------------------------------------------------------ */

/* Whether the arena is asked at all. */
static inline bool large(size_t bytes)
{
    return __builtin_expect(bytes >= __atomic_load_n(&sc_host_arena_from, __ATOMIC_RELAXED), 0);
}

/* Whether the arena serves a large request of the program now. */
static bool serves(size_t bytes) { return large(bytes) && bytes <= sc_host_span_most && !sc_inside(); }

static void note(void *p, size_t bytes)
{
    void (*seen_by)(uintptr_t addr, size_t bytes) = __atomic_load_n(&sc_host_allocated, __ATOMIC_ACQUIRE);

    if (__builtin_expect(seen_by && p, 0))
        seen_by((uintptr_t)p, bytes);
}

static void free_kept(void);

/* A block of the arena, or NULL when the request goes to libc. */
static void *ours(size_t bytes, size_t align, bool zero)
{
    void *p;

    if (!serves(bytes))
        return NULL;
    free_kept();
    p = sc_host_arena_alloc(bytes, align, zero);
    note(p, bytes);
    return p;
}

/* Blocks that were freed inside the library, by a driver or a BLAS that got them before.  The thread may hold the
 * protocol's lock (rule M13), so the next allocation or release of a large block by a thread outside frees them. */
struct kept {
    struct kept *next;
    void *block;
};
static struct kept *kept;

static void keep(void *p)
{
    struct kept *k = LIBC(malloc)(sizeof *k);

    if (!k)
        return; /* the block is lost: better than to wait for a lock */
    k->block = p;
    k->next = __atomic_load_n(&kept, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&kept, &k->next, k, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static void free_ours(void *p)
{
    size_t bytes;

    if (__builtin_expect(sc_inside(), 0)) {
        keep(p);
        return;
    }
    free_kept();
    if (sc_host_arena_free_untracked(p))
        return;
    bytes = sc_host_arena_size(p);
    if (!bytes) {
        sc_log_once(SC_LOG_ERROR, "free of %p, which is no block: the program is wrong; ignored", p);
        return;
    }
    if (sc_host_arena_tracked(p))
        sc_host_forget((uintptr_t)p, bytes);
    sc_host_arena_free(p);
}

static void free_kept(void)
{
    struct kept *k = NULL, *next;

    if (__builtin_expect(__atomic_load_n(&kept, __ATOMIC_RELAXED) != NULL, 0))
        k = __atomic_exchange_n(&kept, NULL, __ATOMIC_ACQUIRE);
    for (; k; k = next) {
        next = k->next;
        free_ours(k->block);
        LIBC(free)(k);
    }
}

/* A block for a realloc that grows to `bytes` bytes, from a block that devices have used or not.  Lists and strings of
 * interpreters grow in many steps.  libc lets a small block grow in place; a large block gets room. */
static void *grown(size_t bytes, bool tracked)
{
    void *p = NULL;

    if (bytes < GROWS_FROM && !tracked)
        return LIBC(malloc)(bytes);
    if (bytes >= GROWS_FROM && serves(bytes)) {
        p = sc_host_arena_alloc_growing(bytes);
        note(p, bytes);
    }
    return p ? p : malloc(bytes);
}

/* Moves the first `bytes` bytes of a block to a new block of `want` bytes and frees the old block.  Without memory
 * returns NULL and keeps the old block. */
static void *move(void *p, size_t bytes, size_t want)
{
    void *q = want > bytes ? grown(want, sc_host_within(p) && sc_host_arena_tracked(p)) : malloc(want);

    if (!q)
        return NULL;
    if (bytes > want)
        bytes = want;
    if (sc_host_within(p) && sc_host_arena_tracked(p))
        sc_host_acquire((uintptr_t)p, bytes, SC_READ);
    memcpy(q, p, bytes);
    free(p);
    return q;
}

static void *realloc_ours(void *p, size_t want)
{
    size_t bytes = sc_host_arena_size(p);

    if (want == 0) {
        free(p);
        return NULL;
    }
    /* The block stays in place while at least half of it is used. */
    if (want <= bytes && want > bytes / 2)
        return p;
    if (want > bytes && serves(want) && sc_host_arena_grow(p, want)) {
        note(p, want);
        return p;
    }
    return move(p, bytes, want);
}

/* --- what the program calls --------------------------------------------------------------------------------------- */

/* Small blocks take the shortest way to libc: a few instructions (tests/malloc_cost.t). */

static __attribute__((noinline)) void *malloc_large(size_t bytes)
{
    void *p = ours(bytes, SC_PAGE, false);

    return p ? p : LIBC(malloc)(bytes);
}

SC_HOST_EXPORT void *malloc(size_t bytes) { return large(bytes) ? malloc_large(bytes) : LIBC(malloc)(bytes); }

static __attribute__((noinline)) void *calloc_large(size_t count, size_t each)
{
    void *p = ours(count * each, SC_PAGE, true);

    return p ? p : LIBC(calloc)(count, each);
}

SC_HOST_EXPORT void *calloc(size_t count, size_t each)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, each, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return large(bytes) ? calloc_large(count, each) : LIBC(calloc)(count, each);
}

SC_HOST_EXPORT void free(void *p)
{
    if (__builtin_expect(sc_host_within(p), 0))
        free_ours(p);
    else
        LIBC(free)(p);
}

/* A block that grows beyond GROWS_FROM moves to the arena once. */
static __attribute__((noinline)) void *realloc_large(void *p, size_t bytes)
{
    size_t room = sc_inside() || bytes < GROWS_FROM ? 0 : LIBC(malloc_usable_size)(p);

    return room && bytes > room ? move(p, room, bytes) : LIBC(realloc)(p, bytes);
}

SC_HOST_EXPORT void *realloc(void *p, size_t bytes)
{
    if (!p)
        return malloc(bytes);
    if (sc_host_within(p))
        return realloc_ours(p, bytes);
    if (from_bootstrap(p))
        return move(p, bootstrap_size(p), bytes);
    return large(bytes) ? realloc_large(p, bytes) : LIBC(realloc)(p, bytes);
}

/* Other names of libc's free and realloc: blocks of the arena are told by their addresses, too. */
SC_HOST_EXPORT void __libc_free(void *p)
{
    if (sc_host_within(p))
        free_ours(p);
    else if (!from_bootstrap(p))
        ((__typeof__(free) *)sc_host_next(&next___libc_free, "__libc_free"))(p);
}

SC_HOST_EXPORT void *__libc_realloc(void *p, size_t bytes)
{
    if (sc_host_within(p))
        return realloc_ours(p, bytes);
    if (from_bootstrap(p))
        return realloc(p, bytes);
    return ((__typeof__(realloc) *)sc_host_next(&next___libc_realloc, "__libc_realloc"))(p, bytes);
}

SC_HOST_EXPORT void cfree(void *p) { free(p); }

SC_HOST_EXPORT void *reallocarray(void *p, size_t count, size_t each)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, each, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, bytes);
}

/* libc refuses an invalid alignment, so such a request goes to libc. */
static void *ours_aligned(size_t align, size_t bytes)
{
    return align && (align & (align - 1)) == 0 ? ours(bytes, align, false) : NULL;
}

SC_HOST_EXPORT void *memalign(size_t align, size_t bytes)
{
    void *p = ours_aligned(align, bytes);

    return p ? p : LIBC(memalign)(align, bytes);
}

SC_HOST_EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    void *p = ours_aligned(align, bytes);

    return p ? p : LIBC(aligned_alloc)(align, bytes);
}

SC_HOST_EXPORT int posix_memalign(void **out, size_t align, size_t bytes)
{
    void *p = align % sizeof(void *) == 0 ? ours_aligned(align, bytes) : NULL;

    if (p) {
        *out = p;
        return 0;
    }
    return LIBC(posix_memalign)(out, align, bytes);
}

SC_HOST_EXPORT void *valloc(size_t bytes)
{
    void *p = ours(bytes, SC_PAGE, false);

    return p ? p : LIBC(valloc)(bytes);
}

SC_HOST_EXPORT void *pvalloc(size_t bytes)
{
    void *p = ours(bytes, SC_PAGE, false);

    return p ? p : LIBC(pvalloc)(bytes);
}

SC_HOST_EXPORT size_t malloc_usable_size(void *p)
{
    if (sc_host_within(p))
        return sc_host_arena_size(p);
    if (from_bootstrap(p))
        return bootstrap_size(p);
    return p ? LIBC(malloc_usable_size)(p) : 0;
}

bool sc_host_malloc_seen(void) { return seen; }
/* SPDX-License-Identifier: BSD-2-Clause */
