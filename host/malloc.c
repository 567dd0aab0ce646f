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

/* --- libc's ------------------------------------------------------------------------------------------------------- */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
} libc;

/* dlsym may allocate while it looks up malloc.  The allocations come from `bootstrap`; these few blocks are never
 * reused. */
static char bootstrap[16384] __attribute__((aligned(16)));
static size_t bootstrap_used;
static __thread bool resolving __attribute__((tls_model("initial-exec")));

static bool from_bootstrap(const void *p) { return (uintptr_t)p - (uintptr_t)bootstrap < sizeof bootstrap; }

/* Returns zeroed memory with the size in front. */
static void *bootstrap_alloc(size_t bytes)
{
    size_t room = bytes < sizeof bootstrap ? ((bytes + 15) & ~(size_t)15) + 16 : sizeof bootstrap + 1;
    size_t at = __atomic_fetch_add(&bootstrap_used, room, __ATOMIC_RELAXED);

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
#define FIND(name) *(void **)&libc.name = sc_loader_symbol(RTLD_NEXT, #name)
    FIND(calloc);
    FIND(realloc);
    FIND(free);
    FIND(memalign);
    FIND(aligned_alloc);
    FIND(posix_memalign);
    FIND(valloc);
    FIND(pvalloc);
    FIND(malloc_usable_size);
    void *first = sc_loader_symbol(RTLD_NEXT, "malloc");
#undef FIND
    /* Stored last: a thread that reads libc.malloc finds every function known. */
    __atomic_store_n((void **)&libc.malloc, first, __ATOMIC_RELEASE);
    resolving = false;
    errno = saved;
    return true;
}

static void *next___libc_free, *next___libc_realloc;
SC_HOST_EXPORT void __libc_free(void *p);
SC_HOST_EXPORT void *__libc_realloc(void *p, size_t bytes);
SC_HOST_EXPORT void cfree(void *p);

static inline bool ready(void)
{
    return __builtin_expect(__atomic_load_n((void **)&libc.malloc, __ATOMIC_ACQUIRE) != NULL, 1) || resolve();
}

static bool seen; /* true when the program's malloc and free are the library's */

static void __attribute__((constructor)) find_libc(void)
{
    ready();
    sc_host_next(&next___libc_free, "__libc_free");
    sc_host_next(&next___libc_realloc, "__libc_realloc");
    seen = sc_loader_symbol(RTLD_DEFAULT, "malloc") == (void *)malloc &&
           sc_loader_symbol(RTLD_DEFAULT, "free") == (void *)free;
}

/* --- the owner of a request and of a block ------------------------------------------------------------------------ */

/* A block of the arena, or NULL when the request goes to libc. */
static inline void *ours(size_t bytes, size_t align, bool zero)
{
    if (__builtin_expect(bytes < __atomic_load_n(&sc_host_arena_from, __ATOMIC_RELAXED), 1) || sc_inside())
        return NULL;
    return sc_host_arena_alloc(bytes, align, zero);
}

static void free_ours(void *p)
{
    size_t bytes = sc_host_arena_size(p);

    if (!bytes) {
        sc_log_once(SC_LOG_ERROR, "free of %p, which is no block: the program is wrong; ignored", p);
        return;
    }
    if (sc_host_arena_tracked(p))
        sc_host_forget((uintptr_t)p, bytes);
    sc_host_arena_free(p);
}

/* Moves the first `bytes` bytes of a block to a new block of `want` bytes and frees the old block.  Without memory
 * returns NULL and keeps the old block. */
static void *move(void *p, size_t bytes, size_t want)
{
    void *q = malloc(want);

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
    return move(p, bytes, want);
}

/* --- what the program calls --------------------------------------------------------------------------------------- */

SC_HOST_EXPORT void *malloc(size_t bytes)
{
    void *p = ours(bytes, SC_PAGE, false);

    if (p)
        return p;
    return ready() ? libc.malloc(bytes) : bootstrap_alloc(bytes);
}

SC_HOST_EXPORT void *calloc(size_t count, size_t each)
{
    size_t bytes;
    void *p;

    if (__builtin_mul_overflow(count, each, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    p = ours(bytes, SC_PAGE, true);
    if (p)
        return p;
    return ready() ? libc.calloc(count, each) : bootstrap_alloc(bytes);
}

SC_HOST_EXPORT void free(void *p)
{
    if (__builtin_expect(sc_host_within(p), 0)) {
        free_ours(p);
    } else if (!from_bootstrap(p) && ready()) {
        libc.free(p);
    }
}

SC_HOST_EXPORT void *realloc(void *p, size_t bytes)
{
    if (!p)
        return malloc(bytes);
    if (sc_host_within(p))
        return realloc_ours(p, bytes);
    if (from_bootstrap(p))
        return move(p, bootstrap_size(p), bytes);
    if (!ready())
        return NULL;
    /* A block that grows into the arena's sizes moves to the arena once. */
    if (bytes >= __atomic_load_n(&sc_host_arena_from, __ATOMIC_RELAXED) && !sc_inside()) {
        size_t room = libc.malloc_usable_size(p);

        if (bytes > room)
            return move(p, room, bytes);
    }
    return libc.realloc(p, bytes);
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

    return p ? p : ready() ? libc.memalign(align, bytes) : NULL;
}

SC_HOST_EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    void *p = ours_aligned(align, bytes);

    return p ? p : ready() ? libc.aligned_alloc(align, bytes) : NULL;
}

SC_HOST_EXPORT int posix_memalign(void **out, size_t align, size_t bytes)
{
    void *p = align % sizeof(void *) == 0 ? ours_aligned(align, bytes) : NULL;

    if (p) {
        *out = p;
        return 0;
    }
    return ready() ? libc.posix_memalign(out, align, bytes) : ENOMEM;
}

SC_HOST_EXPORT void *valloc(size_t bytes)
{
    void *p = ours(bytes, SC_PAGE, false);

    return p ? p : ready() ? libc.valloc(bytes) : NULL;
}

SC_HOST_EXPORT void *pvalloc(size_t bytes)
{
    void *p = ours(bytes, SC_PAGE, false);

    return p ? p : ready() ? libc.pvalloc(bytes) : NULL;
}

SC_HOST_EXPORT size_t malloc_usable_size(void *p)
{
    if (sc_host_within(p))
        return sc_host_arena_size(p);
    if (from_bootstrap(p))
        return bootstrap_size(p);
    return p && ready() ? libc.malloc_usable_size(p) : 0;
}

bool sc_host_malloc_seen(void) { return seen; }
/* SPDX-License-Identifier: BSD-2-Clause */
