/* The calls of semcache.h for libraries with loops of their own. */
#include <config.h>

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "semcache/semcache.h"

#include "base/config.h"
#include "blas/blas.h"
#include "libsemcache/library.h"
#include "sparse/sparse.h"

static const double one[2] = {1, 0}, zero[2];

static bool equals(const double value[2], double real) { return value[0] == real && value[1] == 0; }

/* y := 0, by a copy of zeros, which stay on the devices. */
static bool clear(int64_t n, enum sc_type type, void *y, const void *caller)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static void *zeros;
    static size_t room;
    const size_t bytes = (size_t)n * sc_type_bytes(type);
    bool done;

    if (sc_config.offload == SC_OFFLOAD_NEVER || pthread_mutex_trylock(&lock) != 0) /* held by a fork's other thread? */
        return false;
    if (bytes > room) {
        free(zeros);
        zeros = calloc(1, bytes); /* pages that no one has touched need no memory */
        room = zeros ? bytes : 0;
    }
    done = zeros && sc_blas_try(SC_OP_COPY, type, n, one, zeros, zero, y, NULL, caller);
    pthread_mutex_unlock(&lock);
    return done;
}

/* y := alpha x + beta y. */
static bool update(int64_t n, enum sc_type type, const double alpha[2], const void *x, const double beta[2], void *y,
                   const void *caller)
{
    enum sc_op op = equals(beta, 1) ? SC_OP_AXPY : equals(beta, 0) && equals(alpha, 1) ? SC_OP_COPY : SC_OP_AXPBY;

    if (!equals(alpha, 0))
        return sc_blas_try(op, type, n, alpha, x, beta, y, NULL, caller);
    if (equals(beta, 0)) /* as in the BLAS, whatever x has */
        return clear(n, type, y, caller);
    return equals(beta, 1) || sc_blas_try(SC_OP_SCAL, type, n, beta, y, one, NULL, NULL, caller);
}

/* w := alpha x + beta y in two calls, of which the first needs the vector that is already on a device.  If the second
 * is declined, the caller overwrites all of w. */
static bool combine(int64_t n, enum sc_type type, const double alpha[2], const void *x, const double beta[2],
                    const void *y, void *w, const void *caller)
{
    if (update(n, type, alpha, x, zero, w, caller))
        return update(n, type, beta, y, one, w, caller);
    return update(n, type, beta, y, zero, w, caller) && update(n, type, alpha, x, one, w, caller);
}

int semcache_try_axpby(int64_t n, enum semcache_type kind, const double alpha[2], const void *x, const double beta[2],
                       const void *y, void *w)
{
    const void *caller = __builtin_return_address(0);
    enum sc_type type = (enum sc_type)kind;

    if (n <= 0 || (unsigned)kind >= SC_TYPES || !x || !w || x == y ||
        (sc_blas_try_stays(type, n, x, y) && sc_blas_try_stays(type, n, w, NULL)))
        return false;
    if (equals(alpha, 0) && (!y || equals(beta, 0)))
        return clear(n, type, w, caller);
    if (!y)
        return x == w ? sc_blas_try(SC_OP_SCAL, type, n, alpha, w, one, NULL, NULL, caller)
                      : update(n, type, alpha, x, zero, w, caller);
    if (y == w)
        return update(n, type, alpha, x, beta, w, caller);
    if (x == w)
        return update(n, type, beta, y, alpha, w, caller);
    return combine(n, type, alpha, x, beta, y, w, caller);
}

static enum sc_op dot_of(enum semcache_type kind, int conjugate)
{
    return conjugate && sc_type_is_complex((enum sc_type)kind) ? SC_OP_DOTC : SC_OP_DOT;
}

int semcache_try_dot(int64_t n, enum semcache_type kind, int conjugate, const void *x, const void *y, double result[2])
{
    return n > 0 && (unsigned)kind < SC_TYPES && x && y &&
           sc_blas_try(dot_of(kind, conjugate), (enum sc_type)kind, n, one, x, zero, (void *)y, result,
                       __builtin_return_address(0));
}

int semcache_try_dots(int64_t n, enum semcache_type kind, int conjugate, int count, const void *const x[],
                      const void *const y[], double result[][2])
{
    bool valid = n > 0 && count > 0 && (unsigned)kind < SC_TYPES && x && y && result;

    for (int i = 0; i < count && valid; i++)
        valid = x[i] && y[i];
    return valid &&
           sc_blas_try_dots(dot_of(kind, conjugate), (enum sc_type)kind, n, count, x, y, result,
                            __builtin_return_address(0));
}

int semcache_try_largest(int64_t n, enum semcache_type type, const void *x, double *result)
{
    return n > 0 && (type == SEMCACHE_FLOAT32 || type == SEMCACHE_FLOAT64) && x &&
           sc_blas_try_largest((enum sc_type)type, n, x, result, __builtin_return_address(0));
}

static bool is_product(const struct semcache_product *p)
{
    return p && p->size >= sizeof *p && (unsigned)p->type < SC_TYPES && p->m > 0 && p->n > 0 && p->k > 0 && p->a &&
           p->b && p->c && strchr("NTC", p->op_a) && strchr("NTC", p->op_b) && p->op_a && p->op_b;
}

int semcache_try_product(const struct semcache_product *p)
{
    return is_product(p) && sc_config.offload != SC_OFFLOAD_NEVER &&
           sc_blas_try_product((enum sc_type)p->type,
                               &(struct sc_blas_product){.op_a = p->op_a, .op_b = p->op_b, .m = p->m, .n = p->n,
                                                         .k = p->k, .alpha = {p->alpha[0], p->alpha[1]},
                                                         .beta = {p->beta[0], p->beta[1]}, .a = p->a, .lda = p->lda,
                                                         .b = p->b, .ldb = p->ldb, .c = p->c, .ldc = p->ldc},
                               __builtin_return_address(0));
}

/* A caller with an older header has the structure without `stored`. */
static bool arrays_of(const struct semcache_sparse_arrays *matrix, struct sc_sparse_arrays *out,
                      struct sc_sparse_descr *descr)
{
    static const enum sc_sparse_format formats[] = {SC_SPARSE_CSR, SC_SPARSE_CSC, SC_SPARSE_BSR, SC_SPARSE_DIA,
                                                     SC_SPARSE_BSR};
    static const struct sc_sparse_descr stored[] = {
        {SC_SPARSE_GENERAL, 'L', 'N', false}, {SC_SPARSE_SYMMETRIC, 'L', 'N', false},
        {SC_SPARSE_SYMMETRIC, 'U', 'N', false}, {SC_SPARSE_HERMITIAN, 'L', 'N', false},
        {SC_SPARSE_HERMITIAN, 'U', 'N', false}};
    struct semcache_sparse_arrays m = {0};

    if (!matrix || matrix->size < offsetof(struct semcache_sparse_arrays, stored))
        return false;
    memcpy(&m, matrix, matrix->size < sizeof m ? matrix->size : sizeof m);
    if ((unsigned)m.format >= sizeof formats / sizeof *formats || (unsigned)m.stored >= sizeof stored / sizeof *stored)
        return false;
    *descr = stored[m.stored];
    *out = (struct sc_sparse_arrays){.format = formats[m.format], .type = (enum sc_type)m.type,
                                     .index_bytes = m.index_bytes, .base = m.base, .rows = m.rows, .cols = m.cols,
                                     .start = m.start, .index = m.index, .values = m.values};
    if (out->format == SC_SPARSE_BSR) {
        out->block = m.block;
        out->block_by_rows = m.format == SEMCACHE_SPARSE_BSR;
    } else if (m.format == SEMCACHE_SPARSE_DIA) {
        out->count = m.diagonals;
        out->ld = m.ld;
    }
    return true;
}

static bool offer(const struct sc_sparse_arrays *arrays, const struct sc_sparse_descr *descr, char op, bool by_rows,
                  int64_t columns, const double alpha[2], const void *b, int64_t ldb, const double beta[2], void *c,
                  int64_t ldc)
{
    struct sc_sparse_matrix *found;
    enum sc_status status;

    if (sc_config.offload == SC_OFFLOAD_NEVER || !sc_sparse_start || sc_sparse_find(&found, arrays) != SC_OK)
        return false;
    status = sc_sparse_try(found, op, descr, by_rows, columns, alpha, b, ldb, beta, c, ldc);
    sc_sparse_destroy(found);
    return status == SC_OK;
}

int semcache_try_sparse(const struct semcache_sparse_arrays *matrix, char op, int64_t columns, const double alpha[2],
                        const void *b, int64_t ldb, const double beta[2], void *c, int64_t ldc)
{
    struct sc_sparse_arrays arrays;
    struct sc_sparse_descr descr;

    return arrays_of(matrix, &arrays, &descr) &&
           offer(&arrays, &descr, op, true, columns, alpha, b, ldb, beta, c, ldc);
}

int semcache_try_sparse_columns(const struct semcache_sparse_arrays *matrix, char op, int64_t columns,
                                const double alpha[2], const void *b, int64_t ldb, const double beta[2], void *c,
                                int64_t ldc)
{
    struct sc_sparse_arrays arrays;
    struct sc_sparse_descr descr;

    return arrays_of(matrix, &arrays, &descr) &&
           offer(&arrays, &descr, op, false, columns, alpha, b, ldb, beta, c, ldc);
}

int semcache_try_solve(const struct semcache_sparse_arrays *matrix, char op, char uplo, int unit,
                       const double alpha[2], const void *x, void *y)
{
    const struct sc_sparse_descr triangle = {.kind = SC_SPARSE_TRIANGULAR, .uplo = uplo, .diag = unit ? 'U' : 'N'};
    struct sc_sparse_arrays arrays;
    struct sc_sparse_descr stored;
    struct sc_sparse_matrix *found;
    enum sc_status status;

    if (sc_config.offload == SC_OFFLOAD_NEVER || !sc_sparse_start || !arrays_of(matrix, &arrays, &stored) ||
        stored.kind != SC_SPARSE_GENERAL || sc_sparse_find(&found, &arrays) != SC_OK)
        return false;
    status = sc_sparse_try_solve(found, op, &triangle, alpha, x, y);
    sc_sparse_destroy(found);
    return status == SC_OK;
}

/* w := D x + beta w, or D^-1 x + beta w.  The copies of a diagonal on the devices serve later calls until the diagonal
 * is written. */
static bool scale(int64_t n, enum semcache_type type, const void *diagonal, bool inverse, const void *x,
                  const double beta[2], void *w)
{
    static const int32_t main_diagonal = 0;
    const struct sc_sparse_arrays matrix = {.format = SC_SPARSE_DIA, .type = (enum sc_type)type, .index_bytes = 4,
                                            .rows = n, .cols = n, .index = &main_diagonal, .values = diagonal,
                                            .count = 1, .ld = n};
    const struct sc_sparse_descr descr = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N', .inverse = inverse};

    return !sc_blas_try_stays((enum sc_type)type, n, x, w) &&
           offer(&matrix, &descr, 'N', true, 1, one, x, 1, beta, w, 1);
}

int semcache_try_multiply(int64_t n, enum semcache_type type, const void *diagonal, const void *x, void *w)
{
    return scale(n, type, diagonal, false, x, zero, w);
}

int semcache_try_divide(int64_t n, enum semcache_type type, const void *diagonal, const void *x, const double beta[2],
                        void *w)
{
    return scale(n, type, diagonal, true, x, beta, w);
}
/* SPDX-License-Identifier: BSD-2-Clause */
