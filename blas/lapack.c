/* The few LAPACK routines that are caught, so that a blocked factorization on a matrix that lives on devices alternates
 * well (rules 23 to 25 of README.md): panels come home in one batch and are factored on the host, row interchanges run
 * where the rows are.  Everything else of LAPACK is made of BLAS calls.
 *
 * The host's routine is the next definition after ours in the program, else the host BLAS's (OpenBLAS has a LAPACK),
 * else that of a liblapack that is loaded.  A program that calls none of them needs none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "base/log.h"
#include "blas/blas_int.h"
#include "blas/lapack.h"

/* Wider ones are left to themselves: they are recursive, or not meant to be fast. */
#define PANEL_MAX 256

typedef const sc_blas_int *Int;

static void *resolve(void **slot, const char *name)
{
    void *fn = __atomic_load_n(slot, __ATOMIC_ACQUIRE), *library;

    if (fn)
        return fn;
    fn = dlsym(RTLD_NEXT, name);
    if (!fn)
        fn = sc_blas_host_symbol(name);
    if (!fn && (library = dlopen("liblapack.so.3", RTLD_NOW | RTLD_NOLOAD)))
        fn = dlsym(library, name);
    if (fn)
        __atomic_store_n(slot, fn, __ATOMIC_RELEASE);
    else
        sc_log_once(SC_LOG_ERROR, "%s was called and not done: no LAPACK has it", name);
    return fn;
}

static void bring_home(enum sc_type type, void *a, int64_t m, int64_t n, int64_t lda)
{
    const struct sc_blas_operand operand = {.ptr = a, .rows = m, .cols = n, .ld = lda, .type = type, .access = SC_RDWR};

    sc_blas_host_operands(0, &operand, 1);
}

/* Before a panel's host routine.  True: it is a panel, at home, and its BLAS calls stay on the host until panel_end. */
static bool panel_begin(enum sc_type type, void *a, int64_t m, int64_t n, int64_t lda)
{
    if (sc_inside() || m < 1 || n < 1 || lda < m || (m < n ? m : n) > PANEL_MAX || sc_blas_small2(1, m, n))
        return false;
    bring_home(type, a, m, n, lda);
    sc_inside_enter();
    return true;
}

static void panel_end(bool begun)
{
    if (begun)
        sc_inside_leave();
}

/* --- row interchanges --------------------------------------------------------------------------------------------- */

/* The interchanges as pairs of rows; false when they are not what LAPACK allows (left to the host's routine). */
static bool pairs_of(int64_t *row, struct sc_blas_interchange *swap, int64_t k1, int64_t k2, Int pivots,
                     int64_t inc)
{
    int64_t count = k2 - k1 + 1, at = inc > 0 ? k1 : k1 + (k1 - k2) * inc;

    for (int64_t i = 0; i < count; i++, at += inc) {
        int64_t own = inc > 0 ? k1 + i : k2 - i;
        int64_t other = sc_blas_wide ? ((const int64_t *)pivots)[at - 1] : pivots[at - 1];

        if (other < 1 || other > swap->ld)
            return false;
        if (other == own)
            continue;
        row[2 * swap->count] = own - 1;
        row[2 * swap->count++ + 1] = other - 1;
    }
    swap->row = row;
    return true;
}

static bool interchange(enum sc_type type, void *a, int64_t n, int64_t lda, int64_t k1, int64_t k2, Int pivots,
                        int64_t inc)
{
    struct sc_blas_interchange swap = {.type = type, .matrix = a, .cols = n, .ld = lda};
    int64_t *row, last = 0;
    bool done = false;

    if (sc_inside() || n < 1 || k1 < 1 || k2 < k1 || k2 > lda || inc == 0 || sc_blas_small2(2, n, k2 - k1 + 1))
        return false;
    row = malloc(2 * sizeof *row * (size_t)(k2 - k1 + 1));
    if (row && pairs_of(row, &swap, k1, k2, pivots, inc)) {
        for (int64_t i = 0; i < 2 * swap.count; i++)
            last = row[i] > last ? row[i] : last;
        done = swap.count == 0 || sc_blas_interchange_rows(&swap);
        if (!done)
            bring_home(type, a, last + 1, n, lda);
    }
    free(row);
    return done;
}

/* --- veneers ------------------------------------------------------------------------------------------------------ */

/* Each is declared, then defined. */
#define AT(integer) sc_blas_int_at(integer)
#define EXPORT __attribute__((visibility("default")))

#define LASWP(name, type)                                                                                             \
    EXPORT void name(Int n, void *a, Int lda, Int k1, Int k2, Int pivots, Int inc);                                   \
    void name(Int n, void *a, Int lda, Int k1, Int k2, Int pivots, Int inc)                                           \
    {                                                                                                                 \
        typedef void host(Int, void *, Int, Int, Int, Int, Int);                                                      \
        static void *slot;                                                                                            \
        host *fn;                                                                                                     \
                                                                                                                      \
        if (!interchange(type, a, AT(n), AT(lda), AT(k1), AT(k2), pivots, AT(inc)) &&                                 \
            (fn = (host *)resolve(&slot, #name)))                                                                     \
            fn(n, a, lda, k1, k2, pivots, inc);                                                                       \
    }

/* m x n panels: LU's (pivots) and the orthogonal ones (tau and a workspace). */
#define LU_PANEL(name, type)                                                                                          \
    EXPORT void name(Int m, Int n, void *a, Int lda, void *pivots, void *info);                                       \
    void name(Int m, Int n, void *a, Int lda, void *pivots, void *info)                                               \
    {                                                                                                                 \
        typedef void host(Int, Int, void *, Int, void *, void *);                                                     \
        static void *slot;                                                                                            \
        host *fn = (host *)resolve(&slot, #name);                                                                     \
        bool begun = fn && panel_begin(type, a, AT(m), AT(n), AT(lda));                                               \
                                                                                                                      \
        if (fn)                                                                                                       \
            fn(m, n, a, lda, pivots, info);                                                                           \
        panel_end(begun);                                                                                             \
    }

#define QR_PANEL(name, type)                                                                                          \
    EXPORT void name(Int m, Int n, void *a, Int lda, void *tau, void *work, void *info);                              \
    void name(Int m, Int n, void *a, Int lda, void *tau, void *work, void *info)                                      \
    {                                                                                                                 \
        typedef void host(Int, Int, void *, Int, void *, void *, void *);                                             \
        static void *slot;                                                                                            \
        host *fn = (host *)resolve(&slot, #name);                                                                     \
        bool begun = fn && panel_begin(type, a, AT(m), AT(n), AT(lda));                                               \
                                                                                                                      \
        if (fn)                                                                                                       \
            fn(m, n, a, lda, tau, work, info);                                                                        \
        panel_end(begun);                                                                                             \
    }

#define CHOLESKY_PANEL(name, type)                                                                                    \
    EXPORT void name(const char *uplo, Int n, void *a, Int lda, void *info, size_t length);                           \
    void name(const char *uplo, Int n, void *a, Int lda, void *info, size_t length)                                   \
    {                                                                                                                 \
        typedef void host(const char *, Int, void *, Int, void *, size_t);                                            \
        static void *slot;                                                                                            \
        host *fn = (host *)resolve(&slot, #name);                                                                     \
        bool begun = fn && panel_begin(type, a, AT(n), AT(n), AT(lda));                                               \
                                                                                                                      \
        if (fn)                                                                                                       \
            fn(uplo, n, a, lda, info, length);                                                                        \
        panel_end(begun);                                                                                             \
    }

#define TYPES(veneer, rest)                                                                                           \
    veneer(s##rest, SC_S)                                                                                             \
    veneer(d##rest, SC_D)                                                                                             \
    veneer(c##rest, SC_C)                                                                                             \
    veneer(z##rest, SC_Z)

TYPES(LASWP, laswp_)
TYPES(LU_PANEL, getrf2_)
TYPES(LU_PANEL, getf2_)
TYPES(CHOLESKY_PANEL, potrf2_)
TYPES(CHOLESKY_PANEL, potf2_)
TYPES(QR_PANEL, geqr2_)
TYPES(QR_PANEL, gelq2_)
TYPES(QR_PANEL, geql2_)
TYPES(QR_PANEL, gerq2_)
