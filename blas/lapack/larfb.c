/* LAPACK's ?larfb on devices: applies a block of k reflectors, H = I - V T V^H (V stored by columns) or I - V^H T V
 * (by rows), to C.
 *
 * LAPACK's own routine copies and subtracts, element by element, the k rows or columns of C that meet the triangle
 * of V.  Rows of a matrix on devices would bring the whole matrix home.  Here the triangle is written out as a
 * square, so every step is a product: W := C^H V, W := W T^H, C := C - V W^H, and similarly from the right (rule 24
 * of README.md).
 *
 * W and T have memory of their own.  In LAPACK's workspace T lies among the rows of W: the host's write of the next
 * T would bring the rest of W home. */
#include <stdlib.h>

#include "blas/blas_int.h"
#include "blas/lapack/lapack.h"
#include "coherence/call.h"

/* Description common to the four forms of V and the two sides of C. */
struct block {
    const struct sc_blas_reflectors *r;
    bool left, columns, forward;
    char adjoint;         /* the type's letter for ^H: 'C' or 'T' */
    int64_t length, other; /* length of a reflector; size of C in the other direction: W is other x k */
    void *square;         /* V's triangle, k x k, with its ones and zeros; a copy of T follows */
    void *t, *w;
};

/* A part of V and the matching part of C: the triangle's part, or the rest. */
struct part {
    const void *v;
    void *c;
    int64_t ldv, length;
};

static void *at(const struct block *b, const void *array, int64_t element)
{
    return (char *)array + element * (int64_t)sc_type_bytes(b->r->type);
}

static struct part part_of(const struct block *b, bool triangle)
{
    const struct sc_blas_reflectors *r = b->r;
    int64_t rest = b->length - r->k, first = triangle == b->forward ? 0 : b->forward ? r->k : rest;
    struct part p = {.v = at(b, r->v, b->columns ? first : first * r->ldv), .ldv = r->ldv,
                     .c = at(b, r->c, b->left ? first : first * r->ldc), .length = triangle ? r->k : rest};

    return p;
}

static struct part squared(const struct block *b)
{
    struct part p = part_of(b, true);

    p.v = b->square;
    p.ldv = b->r->k;
    return p;
}

/* Writes out V's triangle, without the numbers of R or L that V's array also holds, and copies T. */
static void write_square(const struct block *b)
{
    int64_t k = b->r->k, elem = (int64_t)sc_type_bytes(b->r->type);
    bool lower = b->columns == b->forward;
    const union sc_blas_scalar one = sc_blas_typed(b->r->type, (double[2]){1});
    struct part p = part_of(b, true);

    memset(b->square, 0, (size_t)(k * k * elem));
    for (int64_t j = 0; j < k; j++) {
        int64_t first = lower ? j + 1 : 0, count = lower ? k - 1 - j : j;

        memcpy(at(b, b->square, j * k + first), at(b, p.v, j * p.ldv + first), (size_t)(count * elem));
        memcpy(at(b, b->square, j * k + j), &one, (size_t)elem);
    }
    for (int64_t j = 0; j < k; j++)
        memcpy(at(b, b->t, j * k), at(b, b->r->t, j * b->r->ldt), (size_t)(k * elem));
}

/* --- products ----------------------------------------------------------------------------------------------------- */

static int routine_of(const char *rest, enum sc_type type)
{
    int routine = sc_blas_routines - 1;

    while (routine > 0 && (sc_blas_rows[routine].type != type || strcmp(sc_blas_rows[routine].name + 1, rest)))
        routine--;
    return routine;
}

/* Calls the host's gemm or trmm.  The routine reads 64-bit integers as 32-bit integers, too. */
static void on_host(const struct sc_blas_call *c)
{
    typedef void gemm(const char *, const char *, const void *, const void *, const void *, const void *, const void *,
                      const void *, const void *, const void *, const void *, void *, const void *, size_t, size_t);
    typedef void trmm(const char *, const char *, const char *, const char *, const void *, const void *, const void *,
                      const void *, const void *, void *, const void *, size_t, size_t, size_t, size_t);
    const union sc_blas_scalar alpha = sc_blas_typed(c->type, c->alpha), beta = sc_blas_typed(c->type, c->beta);
    sc_blas_fn fn = sc_blas_host[SC_BLAS_F77][c->routine];

    sc_blas_enter(c->routine);
    if (c->c)
        ((gemm *)fn)(&c->transa, &c->transb, &c->m, &c->n, &c->k, &alpha, c->a, &c->lda, c->b, &c->ldb, &beta, c->c,
                     &c->ldc, 1, 1);
    else
        ((trmm *)fn)(&c->side, &c->uplo, &c->transa, &c->diag, &c->m, &c->n, &alpha, c->a, &c->lda, c->b, &c->ldb, 1, 1,
                     1, 1);
    sc_blas_leave();
}

/* W := op(C) op(V) for a part; `add`: added to W. */
static struct sc_blas_call gather(const struct block *b, const struct part *p, bool add)
{
    const struct sc_blas_reflectors *r = b->r;

    return (struct sc_blas_call){
        .routine = routine_of("gemm", r->type), .type = r->type, .order = SC_BLAS_FORTRAN,
        .transa = b->left ? b->adjoint : 'N', .transb = b->columns ? 'N' : b->adjoint, .m = b->other, .n = r->k,
        .k = p->length, .a = p->c, .lda = r->ldc, .b = (void *)p->v, .ldb = p->ldv, .c = b->w, .ldc = b->other,
        .alpha = {1}, .beta = {add},
    };
}

/* W := W T or W T^H */
static struct sc_blas_call combine(const struct block *b)
{
    const struct sc_blas_reflectors *r = b->r;

    return (struct sc_blas_call){
        .routine = routine_of("trmm", r->type), .type = r->type, .order = SC_BLAS_FORTRAN, .side = 'R',
        .uplo = b->forward ? 'U' : 'L', .transa = b->left == (r->trans == 'N') ? b->adjoint : 'N', .diag = 'N',
        .m = b->other, .n = r->k, .a = b->t, .lda = r->k, .b = b->w, .ldb = b->other, .alpha = {1},
    };
}

/* C := C - op(V) W^H or C := C - W op(V) for a part. */
static struct sc_blas_call scatter(const struct block *b, const struct part *p)
{
    const struct sc_blas_reflectors *r = b->r;
    struct sc_blas_call call = {
        .routine = routine_of("gemm", r->type), .type = r->type, .order = SC_BLAS_FORTRAN, .k = r->k, .c = p->c,
        .ldc = r->ldc, .alpha = {-1}, .beta = {1},
    };

    if (b->left) {
        call.transa = b->columns ? 'N' : b->adjoint, call.transb = b->adjoint;
        call.m = p->length, call.n = b->other;
        call.a = (void *)p->v, call.lda = p->ldv, call.b = b->w, call.ldb = b->other;
    } else {
        call.transa = 'N', call.transb = b->columns ? b->adjoint : 'N';
        call.m = b->other, call.n = p->length;
        call.a = b->w, call.lda = b->other, call.b = (void *)p->v, call.ldb = p->ldv;
    }
    return call;
}

/* Runs a product on devices or host, by decision.  T, V and the rest of W may have come home since the first
 * product, or lie in untracked memory. */
static void product(struct sc_blas_call call)
{
    if (sc_blas_large(&call) != SC_BLAS_DONE)
        on_host(&call);
}

/* The decision for the first product, which is most of the work, holds for the whole. */
static bool apply(const struct block *b)
{
    struct part rest = part_of(b, false), first = squared(b);
    struct sc_blas_call call = gather(b, rest.length ? &rest : &first, false);

    if (sc_blas_large(&call) != SC_BLAS_DONE)
        return false;
    if (rest.length)
        product(gather(b, &first, true));
    product(combine(b));
    if (rest.length)
        product(scatter(b, &rest));
    product(scatter(b, &first));
    return true;
}

static bool is_valid(const struct sc_blas_reflectors *r)
{
    int64_t length = r->side == 'L' ? r->m : r->n, other = r->side == 'L' ? r->n : r->m;
    char adjoint = sc_type_is_complex(r->type) ? 'C' : 'T';

    return (r->side == 'L' || r->side == 'R') && (r->direct == 'F' || r->direct == 'B') &&
           (r->storev == 'C' || r->storev == 'R') && (r->trans == 'N' || r->trans == adjoint) && r->k > 0 &&
           r->k <= length && other > 0 && r->ldv >= (r->storev == 'C' ? length : r->k) && r->ldt >= r->k &&
           r->ldc >= r->m;
}

static void triangles_home(const struct block *b)
{
    const struct sc_blas_reflectors *r = b->r;
    const struct sc_view triangle[2] = {
        {.ptr = part_of(b, true).v, .rows = r->k, .cols = r->k, .ld = r->ldv, .type = r->type, .access = SC_READ},
        {.ptr = r->t, .rows = r->k, .cols = r->k, .ld = r->ldt, .type = r->type, .access = SC_READ},
    };

    sc_blas_host_operands(triangle, 2);
}

/* Declines unless each product is large enough to be considered. */
bool sc_blas_apply_reflectors(const struct sc_blas_reflectors *r)
{
    struct block b = {.r = r, .left = r->side == 'L', .columns = r->storev == 'C', .forward = r->direct == 'F',
                      .adjoint = sc_type_is_complex(r->type) ? 'C' : 'T'};
    size_t elem = sc_type_bytes(r->type);
    bool done = false, started;

    b.length = b.left ? r->m : r->n;
    b.other = b.left ? r->n : r->m;
    if (!is_valid(r) || sc_blas_small3(3, b.other, r->k, r->k) || !sc_coherence_stack_fits())
        return false;
    started = sc_blas_started(SC_OP_GEMM, r->type, 'L', b.other, r->k, b.length);
    sc_host_rates_cancel(); /* the products are announced one by one */
    if (!started)
        return false;
    b.square = malloc(2 * (size_t)(r->k * r->k) * elem);
    b.w = malloc((size_t)(b.other * r->k) * elem);
    if (b.square && b.w) {
        b.t = at(&b, b.square, r->k * r->k);
        triangles_home(&b);
        write_square(&b);
        done = apply(&b);
    }
    free(b.w);
    free(b.square);
    return done;
}
/* SPDX-License-Identifier: BSD-2-Clause */
