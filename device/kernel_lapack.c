/* Routines of LAPACK on host addresses, with the host's LAPACK: the BLAS in use if it has one (OpenBLAS), else the
 * system's liblapack.so.3.  Integers are passed as in kernel_host.c.  Pivots are arrays, so the width of the library's
 * integers is found out by a factorization of a 2 x 2 matrix.
 *
 * A routine's workspace is allocated here, of the size that the routine asks for. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/inside.h"
#include "base/loader.h"
#include "device/device_int.h"

typedef void (*routine)(void);
typedef void *(*resolver)(const char *name);
typedef const int64_t *Int;
typedef const char *Chr;
typedef void *Ptr;

enum { FIRST = SC_OP_POTRF, COUNT = SC_OPS_ALL - FIRST };

/* Routines found by sc_device_kernel_lapack_check, by resolver. */
static struct known {
    resolver from;                /* atomic; set by the first that finds the place free */
    routine fn[COUNT][SC_TYPES];  /* atomic */
    char width;                   /* atomic: bytes of the library's integers; 0: not known yet */
} known[2];

static struct known *known_of(resolver from)
{
    for (struct known *k = known; k < known + sizeof known / sizeof *known; k++) {
        resolver none = NULL;

        if (__atomic_compare_exchange_n(&k->from, &none, from, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
            none == from)
            return k;
    }
    return NULL;
}

static routine look_up(resolver from, const char *name)
{
    static void *lapack;
    routine fn = (routine)from(name);

    if (fn)
        return fn;
    if (!lapack)
        lapack = sc_loader_open("liblapack.so.3", RTLD_NOW | RTLD_LOCAL);
    return lapack ? (routine)sc_loader_symbol(lapack, name) : NULL;
}

/* Bytes of an integer of the library that has `getrf` of double precision. */
static char width_of(routine getrf)
{
    typedef void dgetrf(Int, Int, Ptr, Int, Ptr, Ptr);
    double a[4] = {1, 0, 0, 1};
    int32_t pivot[4] = {0, 0, 0, 0};
    int64_t n = 2, info = 0;

    ((dgetrf *)getrf)(&n, &n, a, &n, pivot, &info);
    return pivot[1] ? 4 : 8;
}

/* --- one call ----------------------------------------------------------------------------------------------------- */

/* A call in Fortran's terms.  Leading dimensions are at least 1.  lwork -1: the sizes of the workspaces are stored to
 * the first elements of work, rwork, iwork. */
struct call {
    const struct sc_kernel *k;
    routine f;
    char width;
    bool complex;
    int64_t lda, ldb, ldc;
    void *pivots; /* in the width of the library */
    void *work, *rwork, *iwork;
    int64_t lwork, lrwork, liwork, info;
};

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static void call_triangle(struct call *c)
{
    typedef void potrf(Chr, Int, Ptr, Int, Ptr, size_t);
    typedef void trtri(Chr, Chr, Int, Ptr, Int, Ptr, size_t, size_t);
    const struct sc_kernel *k = c->k;

    if (k->op == SC_OP_TRTRI)
        ((trtri *)c->f)(&k->uplo, &k->diag, &k->n, k->a, &c->lda, &c->info, 1, 1);
    else
        ((potrf *)c->f)(&k->uplo, &k->n, k->a, &c->lda, &c->info, 1);
}

static void call_solve(struct call *c)
{
    typedef void potrs(Chr, Int, Int, Ptr, Int, Ptr, Int, Ptr, size_t);
    typedef void getrs(Chr, Int, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, size_t);
    typedef getrs sytrs;
    const struct sc_kernel *k = c->k;

    if (k->op == SC_OP_SYTRS)
        ((sytrs *)c->f)(&k->uplo, &k->n, &k->k, k->a, &c->lda, c->pivots, k->b, &c->ldb, &c->info, 1);
    else if (k->op == SC_OP_POTRS)
        ((potrs *)c->f)(&k->uplo, &k->n, &k->k, k->a, &c->lda, k->b, &c->ldb, &c->info, 1);
    else
        ((getrs *)c->f)(&k->transa, &k->n, &k->k, k->a, &c->lda, c->pivots, k->b, &c->ldb, &c->info, 1);
}

static void call_getrf(struct call *c)
{
    typedef void getrf(Int, Int, Ptr, Int, Ptr, Ptr);
    const struct sc_kernel *k = c->k;

    ((getrf *)c->f)(&k->m, &k->n, k->a, &c->lda, c->pivots, &c->info);
}

static void call_getri(struct call *c)
{
    typedef void getri(Int, Ptr, Int, Ptr, Ptr, Int, Ptr);
    const struct sc_kernel *k = c->k;

    ((getri *)c->f)(&k->n, k->a, &c->lda, c->pivots, c->work, &c->lwork, &c->info);
}

static void call_sytrf(struct call *c)
{
    typedef void sytrf(Chr, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, size_t);
    const struct sc_kernel *k = c->k;

    ((sytrf *)c->f)(&k->uplo, &k->n, k->a, &c->lda, c->pivots, c->work, &c->lwork, &c->info, 1);
}

static void call_lacpy(struct call *c)
{
    typedef void lacpy(Chr, Int, Int, Ptr, Int, Ptr, Int, size_t);
    const struct sc_kernel *k = c->k;

    ((lacpy *)c->f)("A", &k->m, &k->n, k->a, &c->lda, k->b, &c->ldb, 1);
}

/* No routine of LAPACK transposes.  A block's rows and columns fit into the first cache. */
static void call_omatcopy(struct call *c)
{
    enum { BLOCK = 16 };
    const struct sc_kernel *k = c->k;
    size_t bytes = sc_type_bytes(k->type);

    for (int64_t j0 = 0; j0 < k->n; j0 += BLOCK)
        for (int64_t i0 = 0; i0 < k->m; i0 += BLOCK)
            for (int64_t j = j0; j < k->n && j < j0 + BLOCK; j++)
                for (int64_t i = i0; i < k->m && i < i0 + BLOCK; i++)
                    memcpy((char *)k->b + (size_t)(j + i * c->ldb) * bytes,
                           (const char *)k->a + (size_t)(i + j * c->lda) * bytes, bytes);
}

static void call_laswp(struct call *c)
{
    typedef void laswp(Int, Ptr, Int, Int, Int, Ptr, Int);
    const struct sc_kernel *k = c->k;

    ((laswp *)c->f)(&k->n, k->c, &c->ldc, &k->kl, &k->k, c->pivots, &(int64_t){1});
}

static void call_qr(struct call *c)
{
    typedef void geqrf(Int, Int, Ptr, Int, Ptr, Ptr, Int, Ptr);
    typedef void orgqr(Int, Int, Int, Ptr, Int, Ptr, Ptr, Int, Ptr);
    typedef void ormqr(Chr, Chr, Int, Int, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, Int, Ptr, size_t, size_t);
    const struct sc_kernel *k = c->k;

    if (k->op == SC_OP_GEQRF)
        ((geqrf *)c->f)(&k->m, &k->n, k->a, &c->lda, k->small[0], c->work, &c->lwork, &c->info);
    else if (k->op == SC_OP_ORGQR)
        ((orgqr *)c->f)(&k->m, &k->n, &k->k, k->a, &c->lda, k->small[0], c->work, &c->lwork, &c->info);
    else
        ((ormqr *)c->f)(&k->side, &k->transa, &k->m, &k->n, &k->k, k->a, &c->lda, k->small[0], k->c, &c->ldc, c->work,
                        &c->lwork, &c->info, 1, 1);
}

static void call_syevd(struct call *c)
{
    typedef void syevd(Chr, Chr, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, Int, Ptr, size_t, size_t);
    typedef void heevd(Chr, Chr, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, Int, Ptr, Int, Ptr, size_t, size_t);
    const struct sc_kernel *k = c->k;

    if (c->complex)
        ((heevd *)c->f)(&k->job[0], &k->uplo, &k->n, k->a, &c->lda, k->small[0], c->work, &c->lwork, c->rwork,
                        &c->lrwork, c->iwork, &c->liwork, &c->info, 1, 1);
    else
        ((syevd *)c->f)(&k->job[0], &k->uplo, &k->n, k->a, &c->lda, k->small[0], c->work, &c->lwork, c->iwork,
                        &c->liwork, &c->info, 1, 1);
}

static void call_sygvd(struct call *c)
{
    typedef void sygvd(Int, Chr, Chr, Int, Ptr, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, Int, Ptr, size_t, size_t);
    typedef void hegvd(Int, Chr, Chr, Int, Ptr, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, Int, Ptr, Int, Ptr, size_t, size_t);
    const struct sc_kernel *k = c->k;

    if (c->complex)
        ((hegvd *)c->f)(&k->kl, &k->job[0], &k->uplo, &k->n, k->a, &c->lda, k->b, &c->ldb, k->small[0], c->work,
                        &c->lwork, c->rwork, &c->lrwork, c->iwork, &c->liwork, &c->info, 1, 1);
    else
        ((sygvd *)c->f)(&k->kl, &k->job[0], &k->uplo, &k->n, k->a, &c->lda, k->b, &c->ldb, k->small[0], c->work,
                        &c->lwork, c->iwork, &c->liwork, &c->info, 1, 1);
}

static void call_gesvd(struct call *c)
{
    typedef void dgesvd(Chr, Chr, Int, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, Int, Ptr, Int, Ptr, size_t, size_t);
    typedef void zgesvd(Chr, Chr, Int, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, Int, Ptr, Int, Ptr, Ptr, size_t, size_t);
    const struct sc_kernel *k = c->k;

    if (c->complex)
        ((zgesvd *)c->f)(&k->job[0], &k->job[1], &k->m, &k->n, k->a, &c->lda, k->small[0], k->b, &c->ldb, k->c,
                         &c->ldc, c->work, &c->lwork, c->rwork, &c->info, 1, 1);
    else
        ((dgesvd *)c->f)(&k->job[0], &k->job[1], &k->m, &k->n, k->a, &c->lda, k->small[0], k->b, &c->ldb, k->c,
                         &c->ldc, c->work, &c->lwork, &c->info, 1, 1);
}

static void call_geev(struct call *c)
{
    typedef void dgeev(Chr, Chr, Int, Ptr, Int, Ptr, Ptr, Ptr, Int, Ptr, Int, Ptr, Int, Ptr, size_t, size_t);
    typedef void zgeev(Chr, Chr, Int, Ptr, Int, Ptr, Ptr, Int, Ptr, Int, Ptr, Int, Ptr, Ptr, size_t, size_t);
    const struct sc_kernel *k = c->k;

    if (c->complex)
        ((zgeev *)c->f)(&k->job[0], &k->job[1], &k->n, k->a, &c->lda, k->small[0], k->b, &c->ldb, k->c, &c->ldc,
                        c->work, &c->lwork, c->rwork, &c->info, 1, 1);
    else
        ((dgeev *)c->f)(&k->job[0], &k->job[1], &k->n, k->a, &c->lda, k->small[0], k->small[1], k->b, &c->ldb, k->c,
                        &c->ldc, c->work, &c->lwork, &c->info, 1, 1);
}

/* Functions of LAPACK that give a real number.  The workspace is that of the norm that needs the most. */
#define CALL_NORM(real)                                                                                               \
    do {                                                                                                              \
        typedef real lange(Chr, Int, Int, Ptr, Int, Ptr, size_t);                                                     \
        typedef real lansy(Chr, Chr, Int, Ptr, Int, Ptr, size_t, size_t);                                             \
        typedef real lantr(Chr, Chr, Chr, Int, Int, Ptr, Int, Ptr, size_t, size_t, size_t);                           \
        real norm;                                                                                                    \
                                                                                                                      \
        if (k->op == SC_OP_LANGE)                                                                                     \
            norm = ((lange *)c->f)(&k->job[0], &k->m, &k->n, k->a, &c->lda, work, 1);                                 \
        else if (k->op == SC_OP_LANTR)                                                                                \
            norm = ((lantr *)c->f)(&k->job[0], &k->uplo, &k->diag, &k->m, &k->n, k->a, &c->lda, work, 1, 1, 1);       \
        else                                                                                                          \
            norm = ((lansy *)c->f)(&k->job[0], &k->uplo, &k->n, k->a, &c->lda, work, 1, 1);                           \
        memcpy(k->small[0], &norm, sizeof norm);                                                                      \
    } while (0)

static void call_norm(struct call *c)
{
    const struct sc_kernel *k = c->k;
    void *work = malloc((size_t)most(k->m, k->n) * sizeof(double));

    if (!work)
        c->info = 1;
    else if (k->type == SC_S || k->type == SC_C)
        CALL_NORM(float);
    else
        CALL_NORM(double);
    free(work);
}

/* asks: the routine has workspaces, whose sizes it tells. */
static const struct {
    void (*call)(struct call *call);
    bool asks;
} forms[COUNT] = {
    [SC_OP_POTRF - FIRST] = {call_triangle, false}, [SC_OP_POTRI - FIRST] = {call_triangle, false},
    [SC_OP_LAUUM - FIRST] = {call_triangle, false}, [SC_OP_TRTRI - FIRST] = {call_triangle, false},
    [SC_OP_POTRS - FIRST] = {call_solve, false}, [SC_OP_GETRS - FIRST] = {call_solve, false},
    [SC_OP_GETRF - FIRST] = {call_getrf, false}, [SC_OP_GETRI - FIRST] = {call_getri, true},
    [SC_OP_SYTRF - FIRST] = {call_sytrf, true}, [SC_OP_SYTRS - FIRST] = {call_solve, false},
    [SC_OP_LASWP - FIRST] = {call_laswp, false}, [SC_OP_LACPY - FIRST] = {call_lacpy, false},
    [SC_OP_OMATCOPY - FIRST] = {call_omatcopy, false},
    [SC_OP_GEQRF - FIRST] = {call_qr, true},
    [SC_OP_ORGQR - FIRST] = {call_qr, true}, [SC_OP_ORMQR - FIRST] = {call_qr, true},
    [SC_OP_SYEVD - FIRST] = {call_syevd, true}, [SC_OP_SYGVD - FIRST] = {call_sygvd, true},
    [SC_OP_GESVD - FIRST] = {call_gesvd, true}, [SC_OP_GEEV - FIRST] = {call_geev, true},
    [SC_OP_LANGE - FIRST] = {call_norm, false}, [SC_OP_LANSY - FIRST] = {call_norm, false},
    [SC_OP_LANHE - FIRST] = {call_norm, false}, [SC_OP_LANTR - FIRST] = {call_norm, false},
};

enum sc_status sc_device_kernel_lapack_check(resolver from, const struct sc_kernel *k)
{
    struct known *known_here = known_of(from);
    const char *name = sc_op_has_type(k->op, k->type) ? sc_ops[k->op].host[k->type] : NULL;
    const int64_t sizes[] = {k->m, k->n, k->k, k->lda, k->ldb, k->ldc};
    routine fn, *place;

    if (!name)
        return SC_ERR_INVALID;
    if (!forms[k->op - FIRST].call)
        return SC_ERR_UNSUPPORTED;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] > INT32_MAX)
            return SC_ERR_UNSUPPORTED;
    if (!known_here)
        return SC_ERR_UNSUPPORTED;
    place = &known_here->fn[k->op - FIRST][k->type];
    if (__atomic_load_n(place, __ATOMIC_ACQUIRE))
        return SC_OK;
    sc_inside_enter();
    fn = look_up(from, name);
    if (fn && !__atomic_load_n(&known_here->width, __ATOMIC_ACQUIRE)) {
        routine getrf = look_up(from, "dgetrf_");

        __atomic_store_n(&known_here->width, getrf ? width_of(getrf) : (char)4, __ATOMIC_RELEASE);
    }
    sc_inside_leave();
    if (!fn)
        return SC_ERR_UNSUPPORTED;
    __atomic_store_n(place, fn, __ATOMIC_RELEASE);
    return SC_OK;
}

/* --- workspaces and pivots ---------------------------------------------------------------------------------------- */

/* A size that a routine has stored in its workspace, as a number of the real type. */
static int64_t told(const struct call *c, const void *work)
{
    float single;
    double value;

    if (c->k->type == SC_S || c->k->type == SC_C) {
        memcpy(&single, work, sizeof single);
        return (int64_t)(single * 1.0000002f) + 1; /* rounded on the way through single precision */
    }
    memcpy(&value, work, sizeof value);
    return (int64_t)value;
}

/* Behind each workspace are as many elements as a leading dimension has.  Kernels of OpenBLAS 0.3.21 for complex gemv
 * read (never use) the element that follows the last one of a vector, also in the next column of a workspace. */
static bool make_workspaces(struct call *c)
{
    double work[2] = {0, 0}, rwork[2] = {0, 0};
    int64_t iwork[2] = {0, 0}, n = most(c->k->m, c->k->n);
    size_t bytes = sc_type_bytes(c->k->type);

    c->work = work, c->rwork = rwork, c->iwork = iwork;
    c->lwork = c->lrwork = c->liwork = -1;
    forms[c->k->op - FIRST].call(c);
    c->lwork = most(told(c, work), 1);
    c->lrwork = most(most(told(c, rwork), 1), 5 * n); /* routines that do not tell need at most 5 n */
    c->liwork = most(c->width == 4 ? (int32_t)iwork[0] : iwork[0], 1);
    c->work = malloc((size_t)(c->lwork + n) * bytes);
    c->rwork = malloc((size_t)(c->lrwork + n) * sizeof(double));
    c->iwork = malloc((size_t)c->liwork * sizeof(int64_t));
    return c->work && c->rwork && c->iwork;
}

static bool writes_pivots(const struct sc_kernel *k) { return k->op == SC_OP_GETRF || k->op == SC_OP_SYTRF; }

static bool make_pivots(struct call *c)
{
    int64_t n = sc_kernel_small(c->k);

    c->pivots = malloc((size_t)n * sizeof(int64_t) + 1);
    for (int64_t i = 0; c->pivots && i < n && !writes_pivots(c->k); i++)
        if (c->width == 4)
            ((int32_t *)c->pivots)[i] = (int32_t)c->k->pivots[i];
        else
            ((int64_t *)c->pivots)[i] = c->k->pivots[i];
    return c->pivots;
}

static void give_pivots(const struct call *c)
{
    int64_t n = sc_kernel_small(c->k);

    for (int64_t i = 0; i < n; i++)
        c->k->pivots[i] = c->width == 4 ? ((int32_t *)c->pivots)[i] : ((int64_t *)c->pivots)[i];
}

bool sc_device_kernel_has(resolver from, enum sc_op op, enum sc_type type)
{
    const struct sc_kernel k = {.op = op, .type = type};

    return !sc_op_is_lapack(op) || sc_device_kernel_lapack_check(from, &k) == SC_OK;
}

/* With a number that is not finite ?gesvd iterates for hours, and ?geev may leave its arrays.  INFO then names A, the
 * fourth argument of ?geev and ?gesdd. */
static bool is_endless(const struct sc_kernel *k)
{
    int64_t parts = sc_type_is_complex(k->type) ? 2 : 1;
    bool single = k->type == SC_S || k->type == SC_C, finite = true;

    for (int64_t j = 0; j < k->n && (k->op == SC_OP_GESVD || k->op == SC_OP_GEEV); j++)
        for (int64_t i = parts * j * k->lda, end = i + parts * k->m; i < end; i++)
            finite = finite && (single ? isfinite(((const float *)k->a)[i]) : isfinite(((const double *)k->a)[i]));
    return !finite;
}

/* The reflectors of ORMQR in memory of their own.  LAPACK's routine writes ones to their diagonal for a while, and
 * copies of A may be read meanwhile.  False: no memory. */
static bool copy_reflectors(struct call *c, struct sc_kernel *k)
{
    int64_t rows = k->side == 'L' ? k->m : k->n;
    size_t element = sc_type_bytes(k->type), bytes = (size_t)rows * element;
    char *copy = malloc((size_t)k->k * bytes);

    for (int64_t j = 0; copy && j < k->k; j++)
        memcpy(copy + (size_t)j * bytes, (const char *)k->a + (size_t)(j * k->lda) * element, bytes);
    k->a = copy;
    c->lda = most(rows, 1);
    return copy;
}

static double value_at(const struct sc_kernel *k, int64_t i)
{
    return k->type == SC_S || k->type == SC_C ? (double)((const float *)k->small[0])[i]
                                              : ((const double *)k->small[0])[i];
}

/* Of all eigenvalues and vectors, those of the range go first. */
static void select_range(const struct sc_kernel *k)
{
    size_t real = k->type == SC_S || k->type == SC_C ? sizeof(float) : sizeof(double);
    size_t column = (size_t)k->lda * sc_type_bytes(k->type), rows = (size_t)k->n * sc_type_bytes(k->type);
    int64_t first = k->range == 'I' ? k->first - 1 : 0, end = k->range == 'I' ? first + k->k : k->n;

    if (k->range == 'V') {
        while (first < k->n && value_at(k, first) <= k->alpha[0])
            first++;
        for (end = first; end < k->n && value_at(k, end) <= k->alpha[1];)
            end++;
    }
    k->pivots[0] = end - first;
    memmove(k->small[0], (char *)k->small[0] + (size_t)first * real, (size_t)k->pivots[0] * real);
    for (int64_t j = 0; j < k->pivots[0] && first && k->job[0] == 'V'; j++)
        memcpy((char *)k->a + (size_t)j * column, (char *)k->a + (size_t)(first + j) * column, rows);
}

enum sc_status sc_device_kernel_lapack(resolver from, const struct sc_kernel *kernel)
{
    struct sc_kernel own = *kernel;
    const struct sc_kernel *k = &own;
    const struct known *known_here = known_of(from);
    struct call c = {.k = k, .f = known_here->fn[k->op - FIRST][k->type], .width = known_here->width,
                     .complex = sc_type_is_complex(k->type), .lda = most(k->lda, 1), .ldb = most(k->ldb, 1),
                     .ldc = most(k->ldc, 1)};
    bool asks = forms[k->op - FIRST].asks, good;

    if (is_endless(k)) {
        memcpy(k->result, &(int64_t){-4}, sizeof(int64_t));
        return SC_OK;
    }
    sc_inside_enter();
    good = (!sc_ops[k->op].pivots || make_pivots(&c)) && (!asks || make_workspaces(&c)) &&
           (k->op != SC_OP_ORMQR || copy_reflectors(&c, &own));
    if (good) {
        c.info = 0;
        forms[k->op - FIRST].call(&c);
        if (c.width == 4)
            c.info = (int32_t)c.info;
        if (writes_pivots(k))
            give_pivots(&c);
        if (k->op == SC_OP_SYEVD && (k->range == 'I' || k->range == 'V') && c.info == 0)
            select_range(k);
        memcpy(k->result, &c.info, sizeof c.info);
    }
    if (asks) {
        free(c.work);
        free(c.rwork);
        free(c.iwork);
    }
    free(c.pivots);
    if (own.a != kernel->a) /* a copy */
        free(own.a);
    sc_inside_leave();
    return good ? SC_OK : SC_ERR_MEMORY;
}
/* SPDX-License-Identifier: BSD-2-Clause */
