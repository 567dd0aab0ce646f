/* Runs a kernel record with the host BLAS, through the Fortran names and the gfortran ABI.  Integers are passed by
 * reference, complex and single precision results are returned by value, a hidden length 1 for every letter follows the
 * last argument.  Integers are stored in 64 bits and fit into 32, so that a BLAS with either width reads the right
 * value.
 *
 * Sizes: level 1 operations are cut so that no index in the Fortran routine reaches 2^31.  Levels 2 and 3 refuse a
 * dimension or leading dimension beyond 2^31 (SC_ERR_UNSUPPORTED); the caller works on tiles. Arguments are not
 * checked: the library makes the record from a call with checked arguments. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/inside.h"
#include "device/device.h"
#include "device/device_int.h"

/* Fortran arguments: integer, letter, operand to read, operand to write. */
typedef const int64_t *Int;
typedef const char *Chr;
typedef const void *In;
typedef void *Out;

typedef void (*routine)(void);
typedef void *(*resolver)(const char *name);

static const char *routine_name(const struct sc_kernel *k)
{
    if ((unsigned)k->op >= SC_OPS || (unsigned)k->type >= SC_TYPES)
        return NULL;
    if (k->op == SC_OP_SCAL && k->scale_real && sc_type_is_complex(k->type))
        return k->type == SC_C ? "csscal_" : "zdscal_";
    return sc_ops[k->op].host[k->type];
}

/* Routines found by sc_device_kernel_prepare, by resolver. */
static struct prepared {
    resolver from; /* atomic; set last */
    routine fn[SC_OPS][SC_TYPES], real_scal[SC_TYPES];
} prepared[2];
#define PREPARED (sizeof prepared / sizeof *prepared)

void sc_device_kernel_prepare(resolver blas_symbol)
{
    struct prepared *p = prepared;

    while (p < prepared + PREPARED - 1 && p->from && p->from != blas_symbol)
        p++;
    if (p->from && p->from != blas_symbol)
        return;
    for (int op = 0; op < SC_OPS; op++)
        for (int type = 0; type < SC_TYPES; type++)
            p->fn[op][type] = sc_ops[op].host[type] ? (routine)blas_symbol(sc_ops[op].host[type]) : NULL;
    p->real_scal[SC_C] = (routine)blas_symbol("csscal_");
    p->real_scal[SC_Z] = (routine)blas_symbol("zdscal_");
    __atomic_store_n(&p->from, blas_symbol, __ATOMIC_RELEASE);
}

/* NULL: the BLAS lacks the routine. */
static routine find(resolver blas_symbol, const struct sc_kernel *k)
{
    for (const struct prepared *p = prepared; p < prepared + PREPARED; p++)
        if (__atomic_load_n(&p->from, __ATOMIC_ACQUIRE) == blas_symbol)
            return k->op == SC_OP_SCAL && k->scale_real && sc_type_is_complex(k->type) ? p->real_scal[k->type]
                                                                                       : p->fn[k->op][k->type];
    return (routine)blas_symbol(routine_name(k));
}

/* A scalar in the type of the routine. */
union scalar {
    float s[2];
    double d[2];
};

static union scalar scalar(enum sc_type type, const double value[2])
{
    union scalar out;

    if (type == SC_S || type == SC_C) {
        out.s[0] = (float)value[0];
        out.s[1] = (float)value[1];
    } else {
        out.d[0] = value[0];
        out.d[1] = value[1];
    }
    return out;
}

/* Arguments of a call in Fortran's types. */
struct arguments {
    int64_t m, n, k, kl, ku, lda, ldb, ldc;
    union scalar alpha, beta;
    char *a, *b, *c;
    const void *param;
};

#include "ops/calls.h"

/* --- operations that few libraries have --------------------------------------------------------------------------- */

/* The m x n block at (i, j) of a product. */
static void gemm_block(routine gemm, const struct sc_kernel *k, const struct arguments *whole, int64_t i, int64_t m,
                       int64_t j, int64_t n)
{
    int64_t bytes = (int64_t)sc_type_bytes(k->type);
    struct arguments g = *whole;

    g.m = m;
    g.n = n;
    g.a += i * bytes * (k->transa == 'N' ? 1 : k->lda);
    g.b += j * bytes * (k->transb == 'N' ? k->ldb : 1);
    g.c += (i + j * k->ldc) * bytes;
    call_gemm(gemm, k, &g);
}

/* One triangle of a product: strips of columns beside the diagonal, and single columns at the diagonal.  OpenBLAS's
 * small products read A and B even if alpha is 0; k = 0 prevents the reads. */
static void call_gemmt(routine gemm, const struct sc_kernel *k, const struct arguments *whole)
{
    enum { WIDTH = 48 };
    bool upper = k->uplo == 'U';
    struct arguments g = *whole;

    if (k->alpha[0] == 0 && k->alpha[1] == 0)
        g.k = 0;
    for (int64_t j = 0; j < g.n; j += WIDTH) {
        int64_t end = g.n - j < WIDTH ? g.n : j + WIDTH;

        gemm_block(gemm, k, &g, upper ? 0 : end, upper ? j : g.n - end, j, end - j);
        for (int64_t c = j; c < end; c++)
            gemm_block(gemm, k, &g, upper ? j : c, upper ? c + 1 - j : end - c, c, 1);
    }
}

static void (*const calls[SC_OPS])(routine, const struct sc_kernel *, const struct arguments *) = {
    SC_OP_CALLS
    [SC_OP_GEMMT] = call_gemmt,
};

/* --- level 1 ---------------------------------------------------------------------------------------------------- */

static double complex call_dot(routine f, enum sc_type type, const struct arguments *g)
{
    typedef float sdot(Int, In, Int, In, Int);
    typedef double ddot(Int, In, Int, In, Int);
    typedef float complex cdot(Int, In, Int, In, Int);
    typedef double complex zdot(Int, In, Int, In, Int);

    switch (type) {
    case SC_S: return ((sdot *)f)(&g->n, g->a, &g->lda, g->b, &g->ldb);
    case SC_D: return ((ddot *)f)(&g->n, g->a, &g->lda, g->b, &g->ldb);
    case SC_C: return ((cdot *)f)(&g->n, g->a, &g->lda, g->b, &g->ldb);
    default: return ((zdot *)f)(&g->n, g->a, &g->lda, g->b, &g->ldb);
    }
}

static double call_dsdot(routine f, const struct arguments *g)
{
    typedef double dsdot(Int, In, Int, In, Int);

    return ((dsdot *)f)(&g->n, g->a, &g->lda, g->b, &g->ldb);
}

static double call_norm(routine f, enum sc_type type, const struct arguments *g)
{
    typedef float snorm(Int, In, Int);
    typedef double dnorm(Int, In, Int);

    return type == SC_S || type == SC_C ? ((snorm *)f)(&g->n, g->a, &g->lda) : ((dnorm *)f)(&g->n, g->a, &g->lda);
}

/* Re x| + |Im x| of an element, the measure of i?amax and i?amin. */
static double magnitude(enum sc_type type, const char *x)
{
    double v[2] = {0, 0};

    for (int i = 0; i < (sc_type_is_complex(type) ? 2 : 1); i++) {
        if (type == SC_S || type == SC_C) {
            float part;
            memcpy(&part, x + (size_t)i * sizeof part, sizeof part);
            v[i] = part;
        } else {
            memcpy(&v[i], x + (size_t)i * sizeof v[i], sizeof v[i]);
        }
    }
    return fabs(v[0]) + fabs(v[1]);
}

/* Result of a reduction over the chunks so far. */
struct partial {
    double complex sum;
    double norm; /* or the sum of asum */
    int64_t index; /* 1-based; 0: no element yet */
    double extreme;
};

static void reduce_index(routine f, const struct sc_kernel *k, const struct arguments *g, int64_t first,
                         struct partial *p)
{
    typedef int iamax(Int, In, Int);
    int found = ((iamax *)f)(&g->n, g->a, &g->lda);
    double value;

    if (found < 1)
        return;
    value = magnitude(k->type, g->a + (size_t)(found - 1) * (size_t)g->lda * sc_type_bytes(k->type));
    if (!p->index || (k->op == SC_OP_IAMAX ? value > p->extreme : value < p->extreme)) {
        p->index = first + found;
        p->extreme = value;
    }
}

static void reduce_chunk(const struct sc_kernel *k, routine f, const struct arguments *g, int64_t first,
                         struct partial *p)
{
    switch (k->op) {
    case SC_OP_DOT:
    case SC_OP_DOTC: p->sum += call_dot(f, k->type, g); break;
    case SC_OP_DSDOT: p->norm += call_dsdot(f, g); break;
    case SC_OP_NRM2: p->norm = first ? hypot(p->norm, call_norm(f, k->type, g)) : call_norm(f, k->type, g); break;
    case SC_OP_ASUM: p->norm += call_norm(f, k->type, g); break;
    default: reduce_index(f, k, g, first, p); break;
    }
}

static void store_result(const struct sc_kernel *k, const struct partial *p)
{
    enum sc_type type = sc_op_result_type(k->op, k->type);
    double value[2] = {p->norm, 0};
    union scalar out;

    if (sc_op_gives_index(k->op)) {
        memcpy(k->result, &p->index, sizeof p->index);
        return;
    }
    if (k->op == SC_OP_DOT || k->op == SC_OP_DOTC) {
        value[0] = creal(p->sum);
        value[1] = cimag(p->sum);
    }
    out = scalar(type, value);
    memcpy(k->result, &out, sc_type_bytes(type));
}

/* Lowest address of elements [first, first + count), in logical order, of a vector with n elements. */
static char *chunk(void *lowest, int64_t inc, int64_t n, int64_t first, int64_t count, size_t bytes)
{
    if (!lowest)
        return NULL;
    return (char *)lowest + (inc >= 0 ? first * inc : (n - first - count) * -inc) * (int64_t)bytes;
}

/* OpenBLAS 0.3.21 (AVX-512) reads an element past the end in complex dot products with increments.  In device memory
 * there may be no such element; therefore the call is made element by element. */
static bool reads_beyond(const struct sc_kernel *k)
{
    return sc_type_is_complex(k->type) && (k->op == SC_OP_DOT || k->op == SC_OP_DOTC) && (k->lda != 1 || k->ldb != 1);
}

static enum sc_status level1(const struct sc_kernel *k, routine f)
{
    int64_t widest = llabs(k->lda) > llabs(k->ldb) ? llabs(k->lda) : llabs(k->ldb);
    int64_t most = INT32_MAX / (widest ? widest : 1);
    size_t bytes = sc_type_bytes(k->type);
    struct partial p = {0, 0, 0, 0};
    float single[5];
    struct arguments g = {.lda = (int)k->lda, .ldb = (int)k->ldb, .alpha = scalar(k->type, k->alpha),
                          .beta = scalar(k->type, k->beta), .param = k->type == SC_S ? (In)single : (In)k->param};

    for (int i = 0; i < 5; i++)
        single[i] = (float)k->param[i];
    if (widest > INT32_MAX || (!calls[k->op] && !sc_op_is_reduction(k->op)))
        return SC_ERR_UNSUPPORTED;
    if (reads_beyond(k))
        most = g.lda = g.ldb = 1;
    /* Increment 0 names the same element n times: a single call, or none. */
    for (int64_t first = 0; first < k->n; first += g.n) {
        g.n = (int)(k->n - first < most ? k->n - first : most);
        g.a = chunk(k->a, k->lda, k->n, first, g.n, bytes);
        g.b = chunk(k->b, k->ldb, k->n, first, g.n, bytes);
        if (sc_op_is_reduction(k->op))
            reduce_chunk(k, f, &g, first, &p);
        else
            calls[k->op](f, k, &g);
    }
    if (sc_op_is_reduction(k->op))
        store_result(k, &p);
    return SC_OK;
}

/* y := beta y + alpha x with routines of every BLAS.  A zero scalar suppresses the read of its vector. */
static enum sc_status axpby(resolver blas_symbol, const struct sc_kernel *k)
{
    static const double zero[2] = {0, 0};
    bool alpha = k->alpha[0] != 0 || k->alpha[1] != 0, beta = k->beta[0] != 0 || k->beta[1] != 0;
    struct sc_kernel first = *k, second = *k;
    enum sc_status status;

    first.op = beta ? SC_OP_SCAL : SC_OP_COPY;
    second.op = beta ? SC_OP_AXPY : SC_OP_SCAL;
    if (!beta && !alpha)
        first.a = (void *)(uintptr_t)zero, first.lda = 0;
    struct sc_kernel *scal = beta ? &first : &second;
    scal->a = k->b, scal->lda = llabs(k->ldb), scal->ldb = 0;
    memcpy(scal->alpha, beta ? k->beta : k->alpha, sizeof scal->alpha);
    status = sc_device_kernel_host(blas_symbol, &first);
    return status || !alpha ? status : sc_device_kernel_host(blas_symbol, &second);
}

/* --- levels 2 and 3 --------------------------------------------------------------------------------------------- */

static bool fits(int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; }

static bool all_fit(const struct sc_kernel *k)
{
    return fits(k->m) && fits(k->n) && fits(k->k) && fits(k->kl) && fits(k->ku) && fits(k->lda) && fits(k->ldb) &&
           fits(k->ldc);
}

static enum sc_status level23(const struct sc_kernel *k, routine f)
{
    struct arguments g = {
        .m = k->m, .n = k->n, .k = k->k, .kl = k->kl, .ku = k->ku, .lda = k->lda, .ldb = k->ldb, .ldc = k->ldc,
        .alpha = scalar(k->type, k->alpha), .beta = scalar(k->type, k->beta), .a = k->a, .b = k->b, .c = k->c,
    };

    if (!all_fit(k) || !calls[k->op])
        return SC_ERR_UNSUPPORTED;
    calls[k->op](f, k, &g);
    return SC_OK;
}

enum sc_status sc_device_kernel_check(resolver blas_symbol, const struct sc_kernel *k)
{
    const char *name;
    struct sc_kernel rows;
    bool fit;

    if ((unsigned)k->op >= SC_OPS_ALL)
        return SC_ERR_INVALID;
    if (sc_op_is_sparse(k->op))
        return sc_device_kernel_sparse_check(k);
    if (sc_op_is_lapack(k->op))
        return sc_device_kernel_lapack_check(blas_symbol, k);
    if (k->conj) {
        if (!sc_kernel_rows(k, &rows))
            return SC_ERR_INVALID;
        k = &rows;
    }
    name = routine_name(k);
    if (!name)
        return SC_ERR_INVALID;
    fit = sc_op_level(k->op) == 1 ? llabs(k->lda) <= INT32_MAX && llabs(k->ldb) <= INT32_MAX : all_fit(k);
    if (fit && find(blas_symbol, k))
        return SC_OK;
    sc_log_once(SC_LOG_WARN, "%s: %s", name,
                fit ? "the host BLAS lacks this routine" : "a dimension or increment passes 2^31");
    return SC_ERR_UNSUPPORTED;
}

enum sc_status sc_device_kernel_host(resolver blas_symbol, const struct sc_kernel *k)
{
    enum sc_status status = sc_device_kernel_check(blas_symbol, k);
    struct sc_kernel rows;
    routine f;

    if (status)
        return status;
    if (sc_op_is_sparse(k->op))
        return sc_device_kernel_sparse(k);
    if (sc_op_is_lapack(k->op))
        return sc_device_kernel_lapack(blas_symbol, k);
    if (k->op == SC_OP_AXPBY)
        return axpby(blas_symbol, k);
    if (k->conj && sc_kernel_rows(k, &rows))
        k = &rows;
    if (k->batch.count) {
        for (int64_t i = 0; i < k->batch.count && status == SC_OK; i++) {
            const struct sc_kernel one = sc_kernel_of_batch(k, i);

            status = sc_device_kernel_host(blas_symbol, &one);
        }
        return status;
    }
    f = find(blas_symbol, k);
    /* The host BLAS may call back BLAS names interposed by the library (D5 of device/README.md). */
    sc_inside_enter();
    status = sc_op_level(k->op) == 1 ? level1(k, f) : level23(k, f);
    sc_inside_leave();
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
