/* The interposed routines of LAPACK (rules 23 to 25 of README.md).  With them, a blocked factorization of a matrix
 * on devices alternates well between host and devices.  Panels come home in one batch and are factored on the host.
 * Row interchanges run where the rows are.  The rest of LAPACK consists of BLAS calls.
 *
 * The host's routine is looked for in this order: the definition that the program would use without this library,
 * the LAPACK of a pip wheel, the host BLAS (OpenBLAS has a LAPACK), a loaded liblapack, the system's liblapack.  A
 * program that calls no such routine needs no LAPACK. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/loader.h"
#include "base/log.h"
#include "blas/blas_int.h"
#include "blas/veneers/gate.h"
#include "blas/lapack/lapack.h"
#include "blas/lapack/whole.h"
#include "coherence/access.h"

/* Wider panels are not interposed: the routines are then recursive, or not meant to be fast. */
#define PANEL_MAX 256

typedef const sc_blas_int *Int;

/* The routine in a LAPACK that is no part of a BLAS. */
static void *find_in_liblapack(const char *name)
{
    void *fn = NULL, *library;

    if ((library = sc_loader_open("liblapack.so.3", RTLD_NOW | RTLD_NOLOAD)))
        fn = sc_loader_symbol(library, name);
    sc_inside_enter(); /* constructors of the opened library may allocate and call the BLAS */
    if (!fn && (library = sc_loader_open(sc_blas_wide ? "liblapack64.so.3" : "liblapack.so.3", RTLD_NOW | RTLD_LOCAL)))
        fn = sc_loader_symbol(library, name);
    sc_inside_leave();
    return fn;
}

static void *found(void **slot, void *fn, const char *name)
{
    if (fn)
        __atomic_store_n(slot, fn, __ATOMIC_RELEASE);
    else
        sc_log_once(SC_LOG_ERROR, "%s was called and not done: no LAPACK has it", name);
    return fn;
}

static __attribute__((cold, noinline)) void *find(void **slot, const char *name)
{
    void *fn;

    sc_blas_know_width();
    fn = sc_blas_abi_displaced(name);
    if (!fn)
        fn = sc_blas_host_symbol(name);
    return found(slot, fn ? fn : find_in_liblapack(name), name);
}

/* A pip wheel has its LAPACK in a scope of its own, so the scope of the calling object comes first. */
static __attribute__((cold, noinline)) void *find_whole(void **slot, const char *name)
{
    void *fn;

    sc_blas_know_width();
    fn = (void *)sc_blas_named_of_program(name);
    return found(slot, fn ? fn : find_in_liblapack(name), name);
}

void *sc_lapack_routine(void **slot, void *unfound, const char *symbol)
{
    void *fn = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

    return __builtin_expect(fn != unfound, 1) ? fn : find_whole(slot, symbol);
}

/* `unfound`: content of the slot until the routine is found. */
static inline void *resolve(void **slot, void *unfound, const char *name)
{
    void *fn = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

    return __builtin_expect(fn != unfound, 1) ? fn : find(slot, name);
}

static void bring_view(const struct sc_view *v)
{
    uint64_t bytes = sc_view_span(v);

    if (!sc_view_fits(v))
        return;
    /* A replay has no panels: it acquires the memory as an I/O call would. */
    if (sc_trace_on && bytes && sc_coherence_is_tracked(v->ptr, bytes))
        sc_trace_acquire((uintptr_t)v->ptr, bytes, v->access);
    sc_blas_host_operands(v, 1);
}

static void bring_home(enum sc_type type, const void *a, int64_t m, int64_t n, int64_t lda, enum sc_access access)
{
    bring_view(&(struct sc_view){.ptr = a, .type = type, .rows = m, .cols = n, .ld = lda, .access = access});
}

/* Called before a host routine that works on A.  True: A is home, and BLAS calls stay on the host until panel_end. */
static bool home_begin(enum sc_type type, const void *a, int64_t m, int64_t n, int64_t lda, enum sc_access access)
{
    if (sc_inside() || m < 1 || n < 1 || lda < m)
        return false;
    bring_home(type, a, m, n, lda, access);
    sc_inside_enter();
    return true;
}

/* The same for a routine that overwrites only columns [first, first + nb) of A and an m x nb matrix `beside`.
 * Devices keep their copies of A's other columns. */
static bool columns_begin(enum sc_type type, const void *a, int64_t m, int64_t n, int64_t lda, int64_t first,
                          int64_t nb, const void *beside, int64_t ld)
{
    const char *panel = (const char *)a + (uint64_t)first * (uint64_t)lda * sc_type_bytes(type);

    if (sc_inside() || m < 1 || lda < m || ld < m || first < 0 || nb < 1 || first + nb > n)
        return false;
    bring_home(type, a, m, n, lda, SC_READ);
    bring_home(type, beside, m, nb, ld, SC_RDWR);
    return home_begin(type, panel, m, nb, lda, SC_RDWR);
}

/* Called before a host routine that has the operands of an operation: brings them home. */
static bool operands_begin(const struct sc_kernel *k)
{
    struct sc_view view[SC_VIEWS_MAX];
    int count;

    if (sc_inside() || (sc_op_is_packed(k->op) && k->n > SC_BLAS_PACKED_MAX))
        return false;
    count = sc_kernel_views(k, view);
    for (int i = 0; i < count; i++)
        if (view[i].rows < 1 || sc_view_flat(&view[i]).ld < sc_view_flat(&view[i]).rows)
            return false;
    for (int i = 0; i < count; i++)
        bring_view(&view[i]);
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

/* --- reflectors --------------------------------------------------------------------------------------------------- */

static bool is_rows(const char *storev)
{
    return sc_blas_letter(*storev) == 'R';
}

/* Applies the reflectors on the devices, or brings the operands home for the host's routine.  True: done on the
 * devices. */
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

/* --- row interchanges --------------------------------------------------------------------------------------------- */

/* Converts the pivots to pairs of rows.  False when LAPACK does not allow the pivots, which are left to the host's
 * routine. */
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

    if (sc_inside() || n < 1 || k1 < 1 || k2 < k1 || k2 > lda || inc == 0)
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

/* --- veneers ------------------------------------------------------------------------------------------------------ */

#define AT(integer) sc_blas_int_at(integer)
#define TYPES(veneer, rest) veneer(s##rest, SC_S) veneer(d##rest, SC_D) veneer(c##rest, SC_C) veneer(z##rest, SC_Z)

/* A veneer's slot holds large_NAME until large_NAME has found the host's routine, and the routine afterwards. */
#define LARGE static __attribute__((used)) void /* referenced from assembler only */
#define SLOT(name) static __attribute__((used)) void *slot_##name = (void *)large_##name;

/* LAPACK's panels are recursive, so a small call must cost only a comparison and a jump, as in the veneers of the
 * BLAS.  The gate reads the lower half of a 64-bit integer, as the BLAS gates do. */
#define GATE(name, work, level)                                                                                       \
    SC_GATE(name, work SC_GATE_SMALL(name, level) SC_GATE_JUMP(slot_##name));                                         \
    SC_GATE_NAME(name, gate_##name);

/* Calls the host's routine between `begin` and panel_end.  host: its parameters with the lengths of strings (rule
 * 8).  The lengths are passed on; lengths that would lie on the stack are not declared.  small, work: the test for a
 * small call, in C and for the gate. */
#define CAUGHT(name, parameters, host, arguments, small, work, begin)                                                 \
    LARGE large_##name parameters;                                                                                    \
    SLOT(name)                                                                                                        \
    LARGE large_##name parameters                                                                                     \
    {                                                                                                                 \
        typedef void routine host;                                                                                    \
        routine *fn = (routine *)resolve(&slot_##name, (void *)large_##name, #name);                                  \
        bool begun;                                                                                                   \
                                                                                                                      \
        if (!fn)                                                                                                      \
            return;                                                                                                   \
        begun = !(small) && (begin);                                                                                  \
        fn arguments;                                                                                                 \
        panel_end(begun);                                                                                             \
    }                                                                                                                 \
    GATE(name, work, 1)

/* A routine that works on an m x n matrix.  at_m, at_n: registers with the addresses of m and n. */
#define PANEL(name, parameters, host, arguments, m, n, at_m, at_n, begin)                                             \
    CAUGHT(name, parameters, host, arguments, sc_blas_small2(1, *m, *n), SC_GATE_PRODUCT(at_m, at_n), begin)

/* Panels of reductions to tridiagonal and Hessenberg form.  The routines multiply the whole of A by vectors and
 * overwrite the panel's columns. */
#define LATRD(name, type)                                                                                             \
    PANEL(name, (const char *uplo, Int n, Int nb, void *a, Int lda, void *e, void *tau, void *w, Int ldw),            \
          (const char *uplo, Int n, Int nb, void *a, Int lda, void *e, void *tau, void *w, Int ldw, size_t),          \
          (uplo, n, nb, a, lda, e, tau, w, ldw, 1), n, n, "%rsi", "%rsi",                                             \
          columns_begin(type, a, AT(n), AT(n), AT(lda), sc_blas_letter(*uplo) == 'U' ? AT(n) - AT(nb) : 0, AT(nb),    \
                        w, AT(ldw)))
#define LAHR2(name, type)                                                                                             \
    PANEL(name, (Int n, Int k, Int nb, void *a, Int lda, void *tau, void *t, Int ldt, void *y, Int ldy),              \
          (Int n, Int k, Int nb, void *a, Int lda, void *tau, void *t, Int ldt, void *y, Int ldy),                    \
          (n, k, nb, a, lda, tau, t, ldt, y, ldy), n, n, "%rdi", "%rdi",                                              \
          columns_begin(type, a, AT(n), AT(n) - AT(k) + 1, AT(lda), 0, AT(nb), y, AT(ldy)))

/* The triangular factor T of a block of reflectors V. */
#define LARFT(name, type)                                                                                             \
    PANEL(name,                                                                                                       \
          (const char *direct, const char *storev, Int n, Int k, void *v, Int ldv, void *tau, void *t, Int ldt),      \
          (const char *direct, const char *storev, Int n, Int k, void *v, Int ldv, void *tau, void *t, Int ldt,       \
           size_t, size_t),                                                                                           \
          (direct, storev, n, k, v, ldv, tau, t, ldt, 1, 1), n, k, "%rdx", "%rcx",                                    \
          home_begin(type, v, is_rows(storev) ? AT(k) : AT(n), is_rows(storev) ? AT(n) : AT(k), AT(ldv), SC_READ))

/* The gate's work: n times the number of rows from k1 to k2. */
#define LASWP(name, type)                                                                                             \
    LARGE large_##name(Int n, void *a, Int lda, Int k1, Int k2, Int pivots, Int inc);                                 \
    SLOT(name)                                                                                                        \
    LARGE large_##name(Int n, void *a, Int lda, Int k1, Int k2, Int pivots, Int inc)                                  \
    {                                                                                                                 \
        typedef void routine(Int, void *, Int, Int, Int, Int, Int);                                                   \
        routine *fn = (routine *)resolve(&slot_##name, (void *)large_##name, #name);                                  \
                                                                                                                      \
        if (fn && (sc_blas_small2(2, *n, *k2 - *k1 + 1) ||                                                            \
                   !interchange(type, a, AT(n), AT(lda), AT(k1), AT(k2), pivots, AT(inc))))                           \
            fn(n, a, lda, k1, k2, pivots, inc);                                                                       \
    }                                                                                                                 \
    GATE(name,                                                                                                        \
         "    movslq (%r8), %r10\n"                                                                                   \
         "    movslq (%rcx), %r11\n"                                                                                  \
         "    subq %r11, %r10\n"                                                                                      \
         "    incq %r10\n"                                                                                            \
         "    movslq (%rdi), %r11\n"                                                                                  \
         "    imulq %r11, %r10\n",                                                                                    \
         2)

/* k is the first argument on the stack. */
#define LARFB(name, number)                                                                                           \
    LARGE large_##name(const char *side, const char *trans, const char *direct, const char *storev, Int m, Int n,     \
                       Int k, void *v, Int ldv, void *t, Int ldt, void *c, Int ldc, void *work, Int ldwork);          \
    SLOT(name)                                                                                                        \
    LARGE large_##name(const char *side, const char *trans, const char *direct, const char *storev, Int m, Int n,     \
                       Int k, void *v, Int ldv, void *t, Int ldt, void *c, Int ldc, void *work, Int ldwork)           \
    {                                                                                                                 \
        typedef void routine(const char *, const char *, const char *, const char *, Int, Int, Int, void *, Int,      \
                             void *, Int, void *, Int, void *, Int, size_t, size_t, size_t, size_t);                  \
        const struct sc_blas_reflectors r = {                                                                         \
            .type = number, .side = sc_blas_letter(*side), .trans = sc_blas_letter(*trans),                           \
            .direct = sc_blas_letter(*direct), .storev = sc_blas_letter(*storev), .m = AT(m), .n = AT(n), .k = AT(k), \
            .v = v, .ldv = AT(ldv), .t = t, .ldt = AT(ldt), .c = c, .ldc = AT(ldc)};                                  \
        routine *fn = (routine *)resolve(&slot_##name, (void *)large_##name, #name);                                  \
        bool begun;                                                                                                   \
                                                                                                                      \
        if (!fn || reflect(&r, &begun))                                                                               \
            return;                                                                                                   \
        fn(side, trans, direct, storev, m, n, k, v, ldv, t, ldt, c, ldc, work, ldwork, 1, 1, 1, 1);                   \
        panel_end(begun);                                                                                             \
    }                                                                                                                 \
    GATE(name,                                                                                                        \
         SC_GATE_PRODUCT("%r8", "%r9")                                                                                \
         "    movq 8(%rsp), %r11\n"                                                                                   \
         "    movslq (%r11), %r11\n"                                                                                  \
         "    imulq %r11, %r10\n"                                                                                     \
         "    jo large_" #name "\n",                                                                                  \
         3)

TYPES(LASWP, laswp_)
TYPES(LATRD, latrd_)
TYPES(LAHR2, lahr2_)
TYPES(LARFT, larft_)
TYPES(LARFB, larfb_)

/* The routines whose operands are a matrix, or those of an operation. */
#include "blas/lapack/routines.h"
/* SPDX-License-Identifier: BSD-2-Clause */
