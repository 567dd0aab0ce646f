/* SEMCACHE_VERIFY=1 for sparse matrices, like blas/verify/verify.c.  A product or solve of the devices is repeated on
 * the host with copies of its operands, and compared element by element.  The bound of a product is the rounding error
 * of row sums in any order; for a solve the residual is bounded (blas/README.md, rule 26). */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coherence/access.h"
#include "sparse/sparse_int.h"
#include "trace/trace.h"

#define REPORTS_MAX 20 /* further divergences are only counted */
#define EVENTS 12

static uint64_t diverged_; /* verified calls with a wrong result */

/* --- dense operands ----------------------------------------------------------------------------------------------- */

/* An operand of the program, and a compact copy in order of address. */
struct copy {
    struct sc_view theirs, own;
    int64_t elements;
    void *data; /* of the copy; NULL: no memory */
};

static bool is_solve(const struct sc_sparse_call *call) { return call->op == SC_OP_CSRSV || call->op == SC_OP_CSRSM; }

static struct copy make_copy(const struct sc_view *theirs)
{
    struct copy c = {.theirs = *theirs, .own = *theirs,
                     .elements = sc_view_empty(theirs) ? 0 : theirs->rows * theirs->cols};

    c.data = malloc((size_t)c.elements * sc_type_bytes(theirs->type) + 1);
    c.own.ptr = c.data;
    c.own.ld = !theirs->vector ? theirs->rows : theirs->ld < 0 ? -1 : 1;
    if (c.data && c.elements) {
        sc_coherence_acquire_view(theirs);
        sc_view_copy(&c.own, theirs);
    }
    return c;
}

static struct copy copy_of(const struct sc_sparse_call *call, const void *p, int64_t n, int64_t ld)
{
    struct sc_view theirs = sc_sparse_dense_view(call, p, n, ld, SC_READ);

    return make_copy(&theirs);
}

/* Copies the elements back to the operand. */
static void put_back(const struct copy *c)
{
    struct sc_view theirs = c->theirs;

    if (!c->elements)
        return;
    theirs.access = SC_RDWR;
    sc_coherence_acquire_view(&theirs);
    sc_view_copy(&theirs, &c->own);
}

static double complex element(const struct copy *c, int64_t e)
{
    return sc_sparse_value(&(struct sc_sparse_csr){.type = c->own.type, .values = c->data}, e);
}

static double size_of(double complex z) { return fabs(creal(z)) + fabs(cimag(z)); }

static struct copy sizes_of(const struct copy *c)
{
    struct copy sizes = make_copy(&c->own);

    for (int64_t e = 0; sizes.data && e < c->elements; e++)
        sc_sparse_put_value(c->own.type, sizes.data, e, size_of(element(c, e)));
    return sizes;
}

/* The call on copies; y is written. */
static struct sc_sparse_call on_copies(const struct sc_sparse_call *call, const struct copy *x, const struct copy *y)
{
    struct sc_sparse_call c = *call;

    c.x = x->data;
    c.y = y->data;
    c.ldx = x->own.ld;
    c.ldy = y->own.ld;
    return c;
}

/* --- the matrix --------------------------------------------------------------------------------------------------- */

static int64_t longest_row(const struct sc_sparse_csr *a)
{
    int64_t most = 0;

    for (int64_t i = 0; i < a->rows; i++) {
        int64_t n = sc_sparse_first(a, i + 1) - sc_sparse_first(a, i);

        most = n > most ? n : most;
    }
    return most;
}

/* The matrix with absolute values.  Shares the other arrays of `a`; *values is its own array. */
static struct sc_sparse_csr absolute(const struct sc_sparse_csr *a, void **values)
{
    int64_t end = sc_sparse_first(a, a->rows);
    struct sc_sparse_csr sizes = *a;

    sizes.values = *values = malloc((size_t)end * sc_type_bytes(a->type) + 1);
    for (int64_t e = sc_sparse_first(a, 0); *values && e < end; e++)
        sc_sparse_put_value(a->type, *values, e, size_of(sc_sparse_value(a, e)));
    return sizes;
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

struct divergence {
    int64_t element, count;
    double distance, bound;
};

/* Rounding error of row sums, relative to the sum of absolute values. */
static double factor_for(const struct sc_sparse_csr *a, bool solve)
{
    bool single = a->type == SC_S || a->type == SC_C;
    double unit = single ? FLT_EPSILON / 2 : DBL_EPSILON / 2, many = (double)(longest_row(a) + 8);

    return (sc_type_is_complex(a->type) ? 8 : 4) * (solve ? 4 : 1) * many * unit;
}

/* A not-a-number or infinite element on the host must not be finite on the devices. */
static struct divergence compare(const struct copy *got, const struct copy *want, const struct copy *scale,
                                 double factor)
{
    double tiny = got->own.type == SC_S || got->own.type == SC_C ? (double)FLT_MIN : DBL_MIN;
    struct divergence d = {.count = 0};

    for (int64_t e = 0; e < want->elements; e++) {
        double complex w = element(want, e), g = element(got, e);
        double distance = size_of(g - w), bound = factor * (creal(element(scale, e)) + tiny);
        bool good = isfinite(size_of(w)) ? distance <= bound : !isfinite(size_of(g));

        if (!good && d.count++ == 0)
            d = (struct divergence){e, 1, distance, bound};
    }
    return d;
}

/* --- reporting ---------------------------------------------------------------------------------------------------- */

static void describe(char *text, size_t bytes, const struct sc_sparse_call *call)
{
    static const char *const kinds[] = {[SC_SPARSE_GENERAL] = "general", [SC_SPARSE_SYMMETRIC] = "symmetric",
                                        [SC_SPARSE_HERMITIAN] = "hermitian", [SC_SPARSE_TRIANGULAR] = "triangular",
                                        [SC_SPARSE_DIAGONAL] = "diagonal"};
    const struct sc_sparse_arrays *a = &call->matrix->arrays;

    snprintf(text, bytes,
             "%s (%s %c%c, op %c, %" PRId64 " x %" PRId64 ", values %p, columns %p, rows %p, alpha %g%+gi, "
             "beta %g%+gi, x %p ld %" PRId64 ", y %p ld %" PRId64 ", %" PRId64 " columns)",
             sc_trace_routine_name(sc_trace_routine), kinds[call->use.descr.kind], call->use.descr.uplo,
             call->use.descr.diag, call->use.trans, a->rows, a->cols, a->values, a->index, a->start, call->alpha[0],
             call->alpha[1], call->beta[0], call->beta[1], call->x, call->ldx, call->y, call->ldy, call->columns);
}

static uintptr_t address_of(const struct sc_view *v, int64_t e)
{
    int64_t at = v->vector ? e * (v->ld < 0 ? -v->ld : v->ld) : e / v->rows * v->ld + e % v->rows;

    return (uintptr_t)v->ptr + (uintptr_t)at * sc_type_bytes(v->type);
}

static void report(const struct sc_sparse_call *call, const struct divergence *d, const struct copy *got,
                   const struct copy *want)
{
    uintptr_t address = address_of(&got->theirs, d->element);
    double complex g = element(got, d->element), w = element(want, d->element);
    char text[512];

    describe(text, sizeof text, call);
    sc_log(SC_LOG_ERROR,
           "verify: call %" PRIu64 ", %s: %" PRId64 " of %" PRId64 " elements of the result differ; element %" PRId64
           " at %#lx is %.17g%+.17gi, on the host %.17g%+.17gi, %s off by %g (bound %g)",
           sc_coherence_calls(), text, d->count, got->elements, d->element, (unsigned long)address, creal(g), cimag(g),
           creal(w), cimag(w), is_solve(call) ? "the residual" : "it is", d->distance, d->bound);
    sc_coherence_report_place("result", address, EVENTS);
    sc_coherence_report_place("dense operand", (uintptr_t)call->x, EVENTS / 2);
    sc_coherence_report_place("matrix's values", (uintptr_t)call->matrix->arrays.values, EVENTS / 2);
    sc_coherence_report_place("matrix's indices", (uintptr_t)call->matrix->arrays.index, EVENTS / 2);
}

/* The program continues with the host's result; the devices drop their copies of the operands. */
static void put_right(const struct sc_sparse_call *call, const struct copy *want)
{
    struct sc_view views[5];
    int count = sc_sparse_views(call->matrix, views);

    views[count++] = sc_sparse_dense_view(call, call->x, call->inputs, call->ldx, SC_READ);
    for (int i = 0; i < count; i++) {
        views[i].access = SC_RDWR;
        if (!sc_view_empty(&views[i]))
            sc_coherence_acquire_view(&views[i]);
    }
    put_back(want);
}

/* --- a call ------------------------------------------------------------------------------------------------------- */

/* x, and y before the call. */
struct operands {
    struct copy x, y;
};

/* For a product: |alpha| |A| |x| + |beta| |y|.  For a solve: |A| |result| + |alpha| |x|. */
static bool scale_of(const struct sc_sparse_call *call, const struct sc_sparse_csr *a, const struct copy *factors,
                     const struct copy *rest, struct copy *scale)
{
    double alpha = size_of(call->alpha[0] + call->alpha[1] * I), beta = size_of(call->beta[0] + call->beta[1] * I);
    struct copy sizes = sizes_of(factors);
    struct sc_sparse_call c;
    struct sc_sparse_csr all;
    void *values;
    bool good;

    *scale = sizes_of(rest);
    all = absolute(a, &values);
    c = on_copies(call, &sizes, scale);
    c.op = call->op == SC_OP_CSRSV ? SC_OP_CSRMV : call->op == SC_OP_CSRSM ? SC_OP_CSRMM : call->op;
    c.alpha[0] = is_solve(call) ? 1 : alpha;
    c.beta[0] = is_solve(call) ? alpha : beta;
    c.alpha[1] = c.beta[1] = 0;
    good = sizes.data && scale->data && values && sc_sparse_csr_on_host(&c, &all, 0, all.rows) == SC_OK;
    free(sizes.data);
    free(values);
    return good;
}

/* op(A) times the solution, and alpha times the right-hand side, in new copies. */
static bool residual(const struct sc_sparse_call *call, const struct sc_sparse_csr *a, const struct copy *solution,
                     const struct copy *right, struct copy *product, struct copy *wanted)
{
    double complex alpha = call->alpha[0] + call->alpha[1] * I;
    struct sc_sparse_call c;

    *product = make_copy(&solution->own);
    *wanted = make_copy(&right->own);
    if (!product->data || !wanted->data)
        return false;
    for (int64_t e = 0; e < right->elements; e++)
        sc_sparse_put_value(a->type, wanted->data, e, alpha * element(right, e));
    c = on_copies(call, solution, product);
    c.op = call->op == SC_OP_CSRSV ? SC_OP_CSRMV : SC_OP_CSRMM;
    c.alpha[0] = 1;
    c.alpha[1] = c.beta[0] = c.beta[1] = 0;
    return sc_sparse_csr_on_host(&c, a, 0, a->rows) == SC_OK;
}

/* want: the host's result, in the copy of the old y.  False: the comparison is not possible. */
static bool diverges(const struct sc_sparse_call *call, const struct sc_sparse_csr *a, const struct operands *before,
                     const struct copy *got, const struct copy *want, struct divergence *d)
{
    struct copy scale = {.data = NULL}, product = {.data = NULL}, wanted = {.data = NULL};
    bool known;

    if (is_solve(call)) {
        known = residual(call, a, got, &before->x, &product, &wanted) &&
                scale_of(call, a, got, &before->x, &scale);
        *d = known ? compare(&product, &wanted, &scale, factor_for(a, true)) : (struct divergence){.count = 0};
    } else {
        known = scale_of(call, a, &before->x, &before->y, &scale);
        *d = known ? compare(got, want, &scale, factor_for(a, false)) : (struct divergence){.count = 0};
    }
    free(scale.data);
    free(product.data);
    free(wanted.data);
    return known;
}

static void verify(const struct sc_sparse_call *call, const struct operands *before)
{
    struct copy got = copy_of(call, call->y, call->outputs, call->ldy), want = make_copy(&before->y.own);
    struct sc_sparse_call again = on_copies(call, &before->x, &want);
    struct sc_sparse_csr csr;
    struct divergence d = {.count = 0};
    bool known = false;

    want.theirs = got.theirs;
    sc_sparse_bring_home(call->matrix);
    if (got.data && want.data && sc_sparse_make_csr(&call->matrix->arrays, &call->use, &csr) == SC_OK) {
        known = sc_sparse_csr_on_host(&again, &csr, 0, csr.rows) == SC_OK &&
                diverges(call, &csr, before, &got, &want, &d);
        sc_sparse_free_csr(&csr);
    }
    if (!known)
        sc_log_once(SC_LOG_WARN, "verify: no memory: some calls with sparse matrices are not verified");
    if (d.count) {
        if (__atomic_fetch_add(&diverged_, 1, __ATOMIC_RELAXED) < REPORTS_MAX)
            report(call, &d, &got, &want);
        put_right(call, &want);
    }
    free(got.data);
    free(want.data);
}

enum sc_status sc_sparse_run_verified(const struct sc_sparse_call *call,
                                      enum sc_status (*run)(const struct sc_sparse_call *))
{
    struct operands before = {.x = copy_of(call, call->x, call->inputs, call->ldx),
                              .y = copy_of(call, call->y, call->outputs, call->ldy)};
    enum sc_status status = run(call);

    if (status == SC_OK && before.x.data && before.y.data)
        verify(call, &before);
    free(before.x.data);
    free(before.y.data);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
