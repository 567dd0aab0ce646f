/* The few LAPACK routines that are caught, so that a blocked factorization on a matrix that lives on devices alternates well
 * (rules 23 to 25 of README.md): panels come home in one batch and are factored on the host, row interchanges run where the
 * rows are.  Everything else of LAPACK is made of BLAS calls.
 *
 * The host's routine is the next definition after ours in the program, else the host BLAS's (OpenBLAS has a LAPACK), else that
 * of a liblapack that is loaded.  A program that calls none of them needs none. */
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

static void bring_home(enum sc_type type, const void *a, int64_t m, int64_t n, int64_t lda, enum sc_access access)
{
    const struct sc_blas_operand operand = {.ptr = a, .rows = m, .cols = n, .ld = lda, .type = type, .access = access};

    sc_blas_host_operands(0, &operand, 1);
}

/* Before a host routine of LAPACK that works on A.  True: A is at home, and BLAS calls stay on the host until panel_end. */
static bool home_begin(enum sc_type type, const void *a, int64_t m, int64_t n, int64_t lda, enum sc_access access)
{
    if (sc_inside() || m < 1 || n < 1 || lda < m || sc_blas_small2(1, m, n))
        return false;
    bring_home(type, a, m, n, lda, access);
    sc_inside_enter();
    return true;
}

static bool panel_begin(enum sc_type type, void *a, int64_t m, int64_t n, int64_t lda)
{
    return (m < n ? m : n) <= PANEL_MAX && home_begin(type, a, m, n, lda, SC_RDWR);
}

static void panel_end(bool begun)
{
    if (begun)
        sc_inside_leave();
}

/* --- reflectors ------------------------------------------------------------------------------------------------------ */

/* On the devices, or everything comes home for the host's routine.  True: done. */
static bool reflect(const struct sc_blas_reflectors *r, bool *begun)
{
    int64_t length = r->side == 'L' ? r->m : r->n;

    *begun = false;
    if (sc_inside() || r->k < 1 || sc_blas_small3(3, r->m, r->n, r->k))
        return false;
    if (sc_blas_apply_reflectors(r))
        return true;
    if (r->m < 1 || r->n < 1 || r->ldc < r->m)
        return false;
    if (r->storev == 'C')
        bring_home(r->type, r->v, length, r->k, r->ldv, SC_READ);
    else
        bring_home(r->type, r->v, r->k, length, r->ldv, SC_READ);
    *begun = home_begin(r->type, r->c, r->m, r->n, r->ldc, SC_RDWR);
    return false;
}

/* --- row interchanges ---------------------------------------------------------------------------------------------- */

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
            bring_home(type, a, last + 1, n, lda, SC_RDWR);
    }
    free(row);
    return done;
}

/* --- veneers ---------------------------------------------------------------------------------------------------------- */

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

/* The rows of Q: m x n, of k reflectors. */
#define Q_PANEL(name, type)                                                                                           \
    EXPORT void name(Int m, Int n, Int k, void *a, Int lda, void *tau, void *work, void *info);                       \
    void name(Int m, Int n, Int k, void *a, Int lda, void *tau, void *work, void *info)                               \
    {                                                                                                                 \
        typedef void host(Int, Int, Int, void *, Int, void *, void *, void *);                                        \
        static void *slot;                                                                                            \
        host *fn = (host *)resolve(&slot, #name);                                                                     \
        bool begun = fn && panel_begin(type, a, AT(m), AT(n), AT(lda));                                               \
                                                                                                                      \
        if (fn)                                                                                                       \
            fn(m, n, k, a, lda, tau, work, info);                                                                     \
        panel_end(begun);                                                                                             \
    }

/* The triangular factor T of a block of reflectors V.  Lengths of strings are passed on and not declared (rule 8). */
#define LARFT(name, type)                                                                                             \
    EXPORT void name(const char *direct, const char *storev, Int n, Int k, void *v, Int ldv, void *tau, void *t,      \
                     Int ldt);                                                                                        \
    void name(const char *direct, const char *storev, Int n, Int k, void *v, Int ldv, void *tau, void *t, Int ldt)    \
    {                                                                                                                 \
        typedef void host(const char *, const char *, Int, Int, void *, Int, void *, void *, Int, size_t, size_t);    \
        static void *slot;                                                                                            \
        host *fn = (host *)resolve(&slot, #name);                                                                     \
        bool columns = sc_blas_letter(*storev) == 'C';                                                                \
        bool begun = fn && home_begin(type, v, columns ? AT(n) : AT(k), columns ? AT(k) : AT(n), AT(ldv), SC_READ);   \
                                                                                                                      \
        if (fn)                                                                                                       \
            fn(direct, storev, n, k, v, ldv, tau, t, ldt, 1, 1);                                                      \
        panel_end(begun);                                                                                             \
    }

#define LARFB(name, number)                                                                                           \
    EXPORT void name(const char *side, const char *trans, const char *direct, const char *storev, Int m, Int n,       \
                     Int k, void *v, Int ldv, void *t, Int ldt, void *c, Int ldc, void *work, Int ldwork);            \
    void name(const char *side, const char *trans, const char *direct, const char *storev, Int m, Int n, Int k,       \
              void *v, Int ldv, void *t, Int ldt, void *c, Int ldc, void *work, Int ldwork)                           \
    {                                                                                                                 \
        typedef void host(const char *, const char *, const char *, const char *, Int, Int, Int, void *, Int, void *, \
                          Int, void *, Int, void *, Int, size_t, size_t, size_t, size_t);                             \
        const struct sc_blas_reflectors r = {                                                                         \
            .type = number, .side = sc_blas_letter(*side), .trans = sc_blas_letter(*trans),                           \
            .direct = sc_blas_letter(*direct), .storev = sc_blas_letter(*storev), .m = AT(m), .n = AT(n), .k = AT(k), \
            .v = v, .ldv = AT(ldv), .t = t, .ldt = AT(ldt), .c = c, .ldc = AT(ldc)};                                  \
        static void *slot;                                                                                            \
        bool begun;                                                                                                   \
        host *fn;                                                                                                     \
                                                                                                                      \
        if (reflect(&r, &begun))                                                                                      \
            return;                                                                                                   \
        if ((fn = (host *)resolve(&slot, #name)))                                                                     \
            fn(side, trans, direct, storev, m, n, k, v, ldv, t, ldt, c, ldc, work, ldwork, 1, 1, 1, 1);               \
        panel_end(begun);                                                                                             \
    }

/* The panels of two-sided reductions: to tridiagonal, bidiagonal and Hessenberg form.  They multiply all of A by vectors. */
#define LATRD(name, type)                                                                                             \
    EXPORT void name(const char *uplo, Int n, Int nb, void *a, Int lda, void *e, void *tau, void *w, Int ldw);        \
    void name(const char *uplo, Int n, Int nb, void *a, Int lda, void *e, void *tau, void *w, Int ldw)                \
    {                                                                                                                 \
        typedef void host(const char *, Int, Int, void *, Int, void *, void *, void *, Int, size_t);                  \
        static void *slot;                                                                                            \
        host *fn = (host *)resolve(&slot, #name);                                                                     \
        bool begun = fn && home_begin(type, a, AT(n), AT(n), AT(lda), SC_RDWR);                                       \
                                                                                                                      \
        if (fn)                                                                                                       \
            fn(uplo, n, nb, a, lda, e, tau, w, ldw, 1);                                                               \
        panel_end(begun);                                                                                             \
    }

#define LABRD(name, type)                                                                                             \
    EXPORT void name(Int m, Int n, Int nb, void *a, Int lda, void *d, void *e, void *tauq, void *taup, void *x,       \
                     Int ldx, void *y, Int ldy);                                                                      \
    void name(Int m, Int n, Int nb, void *a, Int lda, void *d, void *e, void *tauq, void *taup, void *x, Int ldx,     \
              void *y, Int ldy)                                                                                       \
    {                                                                                                                 \
        typedef void host(Int, Int, Int, void *, Int, void *, void *, void *, void *, void *, Int, void *, Int);      \
        static void *slot;                                                                                            \
        host *fn = (host *)resolve(&slot, #name);                                                                     \
        bool begun = fn && home_begin(type, a, AT(m), AT(n), AT(lda), SC_RDWR);                                       \
                                                                                                                      \
        if (fn)                                                                                                       \
            fn(m, n, nb, a, lda, d, e, tauq, taup, x, ldx, y, ldy);                                                   \
        panel_end(begun);                                                                                             \
    }

#define LAHR2(name, type)                                                                                             \
    EXPORT void name(Int n, Int k, Int nb, void *a, Int lda, void *tau, void *t, Int ldt, void *y, Int ldy);          \
    void name(Int n, Int k, Int nb, void *a, Int lda, void *tau, void *t, Int ldt, void *y, Int ldy)                  \
    {                                                                                                                 \
        typedef void host(Int, Int, Int, void *, Int, void *, void *, Int, void *, Int);                              \
        static void *slot;                                                                                            \
        host *fn = (host *)resolve(&slot, #name);                                                                     \
        bool begun = fn && home_begin(type, a, AT(n), AT(n) - AT(k) + 1, AT(lda), SC_RDWR);                           \
                                                                                                                      \
        if (fn)                                                                                                       \
            fn(n, k, nb, a, lda, tau, t, ldt, y, ldy);                                                                \
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
TYPES(CHOLESKY_PANEL, lauu2_)
TYPES(LATRD, latrd_)
TYPES(LABRD, labrd_)
TYPES(LAHR2, lahr2_)
TYPES(LARFT, larft_)
TYPES(LARFB, larfb_)

#define Q_PANELS(of)                                                                                                  \
    Q_PANEL(sorg##of, SC_S)                                                                                           \
    Q_PANEL(dorg##of, SC_D)                                                                                           \
    Q_PANEL(cung##of, SC_C)                                                                                           \
    Q_PANEL(zung##of, SC_Z)

Q_PANELS(2r_)
Q_PANELS(2l_)
Q_PANELS(l2_)
Q_PANELS(r2_)
