/* ?geevx: eigenvalues of a balanced matrix.  The devices have the operation of ?geev, and the host's ?gebal balances a
 * copy of A in O(n^2) operations.  Calls for vectors are the host's, because ?geevx leaves the Schur form in A.  Calls
 * for condition numbers, which LAPACK computes from that form, are the host's as well. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/lapack/whole.h"
#include "coherence/access.h"

static bool is_single(enum sc_type type) { return type == SC_S || type == SC_C; }

static double size_of(enum sc_type type, const void *a, size_t i)
{
    switch (type) {
    case SC_S: return fabsf(((const float *)a)[i]);
    case SC_D: return fabs(((const double *)a)[i]);
    case SC_C: return cabsf(((const float complex *)a)[i]);
    default: return cabs(((const double complex *)a)[i]);
    }
}

/* The largest sum of absolute values of a column; not a number if an element is none. */
static double norm_of(const struct sc_kernel *k)
{
    double most = 0;

    for (int64_t j = 0; j < k->n; j++) {
        double sum = 0;

        for (int64_t i = 0; i < k->n; i++)
            sum += size_of(k->type, k->a, (size_t)(i + j * k->lda));
        most = sum > most || isnan(sum) ? sum : most;
    }
    return most;
}

static bool copy(struct sc_kernel *k, struct sc_lapack_balanced *b)
{
    size_t column = (size_t)k->n * sc_type_bytes(k->type);
    struct sc_view view = {.ptr = k->a, .type = k->type, .rows = k->n, .cols = k->n, .ld = k->lda, .access = SC_READ};

    b->copy = sc_coherence_host_alloc((size_t)k->n * column);
    b->scale = malloc((size_t)k->n * sizeof(double));
    if (!b->copy || !b->scale)
        return false;
    sc_blas_host_operands(&view, 1);
    for (int64_t j = 0; j < k->n; j++)
        memcpy((char *)b->copy + (size_t)j * column,
               (const char *)k->a + (size_t)(j * k->lda) * sc_type_bytes(k->type), column);
    k->a = b->copy;
    k->lda = k->n;
    return true;
}

bool sc_lapack_balance(const struct sc_lapack_call *g, struct sc_kernel *k, struct sc_lapack_balanced *b)
{
    typedef void gebal(const char *, const void *n, void *a, const void *lda, void *low, void *high, void *scale,
                       void *info, size_t);
    static void *slot[2][SC_TYPES];
    static const char *const names[2][SC_TYPES] = {{"sgebal_", "dgebal_", "cgebal_", "zgebal_"},
                                                   {"sgebal_64_", "dgebal_64_", "cgebal_64_", "zgebal_64_"}};
    gebal *fn = (gebal *)sc_lapack_routine(&slot[g->wide][k->type], NULL, names[g->wide][k->type]);
    int64_t info = 0;

    if (!fn || !copy(k, b))
        return false;
    fn(g->jobbal, g->n, b->copy, g->n, &b->low, &b->high, b->scale, &info, 1);
    b->norm = norm_of(k);
    return info == 0 && isfinite(b->norm);
}

static void give(void *to, const void *from, size_t bytes)
{
    sc_coherence_acquire_host((uintptr_t)to, bytes, SC_WRITE);
    memcpy(to, from, bytes);
}

void sc_lapack_balance_give(const struct sc_lapack_call *g, const struct sc_kernel *k,
                            const struct sc_lapack_balanced *b)
{
    size_t integer = g->wide || sc_blas_wide ? 8 : 4, real = is_single(k->type) ? 4 : 8;
    float single = (float)b->norm;

    give(g->ilo, &b->low, integer);
    give(g->ihi, &b->high, integer);
    give(g->scale, b->scale, (size_t)k->n * real);
    give(g->abnrm, is_single(k->type) ? (const void *)&single : &b->norm, real);
}

void sc_lapack_balance_end(struct sc_lapack_balanced *b)
{
    if (b->copy)
        sc_coherence_host_free(b->copy);
    free(b->scale);
}
/* SPDX-License-Identifier: BSD-2-Clause */
