/* SEMCACHE_VERIFY=1: every call that the devices run also runs on the host, on shadows of its operands, and the
 * results are compared.  When they differ by more than rounding explains, a line reports the element, further lines
 * report the recent events of its tile, and the program gets the host's result.  The library waits for each verified
 * call.  The mode therefore finds wrong data and wrong kernels, but no errors that need overlapping calls. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"
#include "blas/verify/verify.h"
#include "trace/trace.h"

#define REPORTS_MAX 20 /* further divergences are only counted */
#define EVENTS 12

uint64_t sc_blas_verified, sc_blas_diverged;

/* --- shadows ------------------------------------------------------------------------------------------------------ */

static int64_t elements_of(const struct sc_view *v) { return sc_view_empty(v) ? 0 : v->rows * v->cols; }

/* A view of the same elements in compact memory, in order of address. */
static struct sc_view compact(const struct sc_view *v, void *data)
{
    struct sc_view own = *v;

    own.ptr = data;
    own.ld = v->vector ? 1 : v->rows;
    return own;
}

/* Copies the program's data to `data`, or back.  Runs without the protocol's lock, like program code. */
static void transfer(const struct sc_view *view, void *data, bool back)
{
    struct sc_view theirs = *view, own = compact(view, data);

    if (sc_view_empty(view))
        return;
    theirs.access = back ? SC_RDWR : SC_READ;
    sc_coherence_acquire_view(&theirs);
    sc_view_copy(back ? &theirs : &own, back ? &own : &theirs);
}

/* Makes shadows of the operands' current values. */
static bool shadow(struct sc_shadow_call *call, const struct sc_kernel *kernel, const struct sc_view *view, int count)
{
    void **const slot[3] = {&call->kernel.a, &call->kernel.b, &call->kernel.c};
    int64_t *const ld[3] = {&call->kernel.lda, &call->kernel.ldb, &call->kernel.ldc};
    int at = 0;

    *call = (struct sc_shadow_call){.kernel = *kernel};
    for (int i = 0; i < count; i++, at++) {
        int64_t n = elements_of(&view[i]);
        void *data = malloc((size_t)n * sc_type_bytes(kernel->type) + !n);

        while (at < 3 && *slot[at] != view[i].ptr)
            at++;
        if (!data || at == 3) {
            free(data);
            sc_blas_shadow_free(call);
            return false;
        }
        call->operand[call->operands++] = (struct sc_shadow){data, n, view[i].access & SC_WRITE};
        transfer(&view[i], data, false);
        *slot[at] = data;
        *ld[at] = view[i].vector ? (view[i].ld < 0 ? -1 : 1) : view[i].rows;
    }
    return true;
}

/* False for a written operand that overlaps a second operand without being identical, because shadows do not
 * overlap. */
static bool has_shadow(const struct sc_view *view, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) {
            const struct sc_view *a = &view[i], *b = &view[j];

            if (!sc_view_empty(a) && !sc_view_empty(b) && (a->access | b->access) & SC_WRITE && sc_view_overlap(a, b) &&
                (a->ptr != b->ptr || a->rows != b->rows || a->cols != b->cols || a->ld != b->ld))
                return false;
        }
    return true;
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

struct divergence {
    int operand; /* < 0: the result */
    int64_t element, count;
    double distance, bound;
};

static void note(struct divergence *d, int operand, int64_t e, double distance, double bound)
{
    if (d->count++ == 0)
        *d = (struct divergence){operand, e, 1, distance, bound};
}

/* An element that is NaN or infinite on the host only has to be NaN or infinite on the devices. */
static void compare_element(struct divergence *d, const struct sc_bound *bound, enum sc_type type, int operand,
                            int64_t e, const void *got, const void *want)
{
    size_t elem = sc_type_bytes(type);
    double scale, distance;

    if (memcmp((const char *)got + (size_t)e * elem, (const char *)want + (size_t)e * elem, elem) == 0)
        return;
    distance = sc_blas_shadow_distance(type, got, want, e);
    if (bound->exact) {
        note(d, operand, e, distance, 0);
        return;
    }
    if (!isfinite(sc_blas_shadow_abs(type, want, e))) {
        if (isfinite(sc_blas_shadow_abs(type, got, e)))
            note(d, operand, e, distance, 0);
        return;
    }
    scale = operand < 0 ? bound->scale.result[0] : sc_blas_shadow_abs(type, bound->scale.operand[operand].data, e);
    if (!(distance <= bound->factor * (scale + bound->tiny)))
        note(d, operand, e, distance, bound->factor * scale);
}

/* The scale is computed as a result.  A single-precision scale is converted to double in place. */
static void compare_result(struct divergence *d, struct sc_bound *bound, const struct sc_shadow_call *got,
                           const struct sc_shadow_call *want)
{
    enum sc_type type = sc_op_result_type(want->kernel.op, want->kernel.type);

    if (type == SC_S || type == SC_C) {
        float scale;

        memcpy(&scale, bound->scale.result, sizeof scale);
        bound->scale.result[0] = (double)scale;
    }
    compare_element(d, bound, type, -1, 0, got->result, want->result);
}

/* Compares the index of a maximum.  In complex types a different index is accepted if the values are equal within
 * rounding. */
static void compare_index(struct divergence *d, const struct sc_shadow_call *got, const struct sc_shadow_call *want)
{
    int64_t g, w, n = want->operand[0].elements;
    double a, b;

    memcpy(&g, got->result, sizeof g);
    memcpy(&w, want->result, sizeof w);
    if (g == w)
        return;
    if (g >= 1 && g <= n && w >= 1 && w <= n) {
        a = sc_blas_shadow_abs(want->kernel.type, want->operand[0].data, g - 1);
        b = sc_blas_shadow_abs(want->kernel.type, want->operand[0].data, w - 1);
        if (!isfinite(a) || !isfinite(b) || (sc_type_is_complex(want->kernel.type) && fabs(a - b) <= 1e-6 * b))
            return;
    }
    note(d, -1, 0, fabs((double)(g - w)), 0);
}

static bool has_infinite(const struct sc_shadow_call *call)
{
    for (int i = 0; i < call->operands; i++)
        for (int64_t e = 0; call->operand[i].written && e < call->operand[i].elements; e++)
            if (!isfinite(sc_blas_shadow_abs(call->kernel.type, call->operand[i].data, e)))
                return true;
    return false;
}

static void compare_operands(struct divergence *d, const struct sc_bound *bound, const struct sc_shadow_call *got,
                             const struct sc_shadow_call *want)
{
    for (int i = 0; i < want->operands; i++)
        for (int64_t e = 0; want->operand[i].written && e < want->operand[i].elements; e++)
            compare_element(d, bound, want->kernel.type, i, e, got->operand[i].data, want->operand[i].data);
}

/* before: operands before the call; want: the host's results.  Returns false when no bound can be computed. */
static bool compare(struct divergence *d, struct sc_shadow_call *before, const struct sc_shadow_call *want,
                    const struct sc_shadow_call *got)
{
    enum sc_op op = want->kernel.op;
    struct sc_shadow_call product;
    struct sc_bound bound;

    *d = (struct divergence){.count = 0};
    if (sc_op_gives_index(op)) {
        compare_index(d, got, want);
        return true;
    }
    if (sc_blas_is_solve(op) && has_infinite(want)) /* the solution of a singular system is undetermined */
        return true;
    if (!sc_blas_bound(&bound, before, got))
        return false;
    if (sc_op_is_reduction(op)) {
        compare_result(d, &bound, got, want);
    } else if (!sc_blas_is_solve(op)) {
        compare_operands(d, &bound, got, want);
    } else if (sc_blas_shadow_copy(&product, got)) {
        if (sc_blas_residual(&product, before) == SC_OK)
            compare_operands(d, &bound, &product, before);
        sc_blas_shadow_free(&product);
    }
    sc_blas_shadow_free(&bound.scale);
    return true;
}

/* --- reporting ---------------------------------------------------------------------------------------------------- */

static void describe_call(char *text, size_t bytes, const struct sc_kernel *k)
{
    const char letters[] = {k->transa, k->transb, k->side, k->uplo, k->diag};
    static const char *const names[] = {"transa", "transb", "side", "uplo", "diag"};
    const char *routine = sc_trace_routine_name(sc_trace_routine);
    int n = snprintf(text, bytes, "%s%s (m %" PRId64 ", n %" PRId64 ", k %" PRId64, routine ? routine : "",
                     routine ? "" : sc_op_name(k->op), k->m, k->n, k->k);

    for (size_t i = 0; i < sizeof letters; i++)
        if (letters[i])
            n += snprintf(text + n, bytes - (size_t)n, ", %s %c", names[i], letters[i]);
    snprintf(text + n, bytes - (size_t)n,
             ", alpha %g%+gi, beta %g%+gi, a %p ld %" PRId64 ", b %p ld %" PRId64 ", c %p ld %" PRId64 ")", k->alpha[0],
             k->alpha[1], k->beta[0], k->beta[1], k->a, k->lda, k->b, k->ldb, k->c, k->ldc);
}

static void put_value(char *text, size_t bytes, enum sc_type type, const void *data, int64_t e)
{
    const float *f = (const float *)data + e * (type == SC_C ? 2 : 1);
    const double *d = (const double *)data + e * (type == SC_Z ? 2 : 1);

    switch (type) {
    case SC_S: snprintf(text, bytes, "%.9g", (double)f[0]); break;
    case SC_C: snprintf(text, bytes, "%.9g%+.9gi", (double)f[0], (double)f[1]); break;
    case SC_D: snprintf(text, bytes, "%.17g", d[0]); break;
    default: snprintf(text, bytes, "%.17g%+.17gi", d[0], d[1]);
    }
}

static const char *const operand_names[] = {"first operand", "second operand", "third operand"};

static void report(const struct divergence *d, const struct sc_kernel *k, const struct sc_view *view,
                   const struct sc_shadow_call *got, const struct sc_shadow_call *want)
{
    char call[512], values[2][64];
    const struct sc_view *v = d->operand < 0 ? NULL : &view[d->operand];
    uintptr_t address;

    describe_call(call, sizeof call, k);
    if (!v) {
        sc_log(SC_LOG_ERROR, "verify: call %" PRIu64 ", %s: the result differs from the host's by %g (bound %g)",
               sc_coherence_calls(), call, d->distance, d->bound);
        return;
    }
    put_value(values[0], sizeof values[0], k->type, got->operand[d->operand].data, d->element);
    put_value(values[1], sizeof values[1], k->type, want->operand[d->operand].data, d->element);
    address = (uintptr_t)v->ptr + (uintptr_t)(v->vector ? d->element * (v->ld < 0 ? -v->ld : v->ld)
                                                        : d->element / v->rows * v->ld + d->element % v->rows) *
                                      sc_type_bytes(k->type);
    sc_log(SC_LOG_ERROR,
           "verify: call %" PRIu64 ", %s: %" PRId64 " of %" PRId64 " elements of the %s differ; element (%"
           PRId64 ", %" PRId64 ") at %#lx is %s, on the host %s, off by %g (bound %g)",
           sc_coherence_calls(), call, d->count, want->operand[d->operand].elements, operand_names[d->operand],
           d->element % v->rows, d->element / v->rows, (unsigned long)address, values[0], values[1], d->distance,
           d->bound);
    sc_coherence_report_place(operand_names[d->operand], address, EVENTS);
    for (int i = 0; i < want->operands; i++) /* the error may lie in an operand that was read */
        if (i != d->operand)
            sc_coherence_report_place(operand_names[i], (uintptr_t)view[i].ptr, EVENTS / 2);
}

static size_t result_bytes(const struct sc_kernel *k)
{
    return sc_op_gives_index(k->op) ? sizeof(int64_t) : sc_type_bytes(sc_op_result_type(k->op, k->type));
}

/* Gives the program the host's result, and drops the devices' copies of the operands that were read. */
static void put_right(const struct sc_kernel *k, const struct sc_view *view, const struct sc_shadow_call *want)
{
    for (int i = 0; i < want->operands; i++) {
        struct sc_view all = view[i];

        all.access = SC_RDWR;
        if (want->operand[i].written)
            transfer(&view[i], want->operand[i].data, true);
        else if (!sc_view_empty(&all))
            sc_coherence_acquire_view(&all);
    }
    if (sc_op_is_reduction(k->op))
        memcpy(k->result, want->result, result_bytes(k));
}

/* --- a call ------------------------------------------------------------------------------------------------------- */

static void verify(const struct sc_kernel *k, const struct sc_view *view, int count, struct sc_shadow_call *before,
                   struct sc_shadow_call *want)
{
    struct sc_shadow_call got;
    struct divergence d;

    if (sc_blas_shadow_run(want) != SC_OK || !shadow(&got, k, view, count)) {
        sc_log_once(SC_LOG_WARN, "verify: the host cannot do it, or has no memory: some calls are not verified");
        return;
    }
    if (sc_op_is_reduction(k->op))
        memcpy(got.result, k->result, result_bytes(k));
    sc_count(&sc_blas_verified, 1);
    if (!compare(&d, before, want, &got)) {
        sc_log_once(SC_LOG_WARN, "verify: no memory for bounds: some calls are not verified");
    } else if (d.count) {
        if (__atomic_fetch_add(&sc_blas_diverged, 1, __ATOMIC_RELAXED) < REPORTS_MAX)
            report(&d, k, view, &got, want);
        put_right(k, view, want);
    }
    sc_blas_shadow_free(&got);
}

/* Whether a routine of LAPACK was right.  With another INFO than 0 the host's routine says which. */
static bool lapack_holds(const struct sc_kernel *k, const struct sc_view *view, int count,
                         const struct sc_shadow_call *before)
{
    struct sc_shadow_call got;
    struct sc_residual residual;
    char call[512];
    bool holds;

    if (*(const int64_t *)k->result != 0)
        return false;
    if (!shadow(&got, k, view, count))
        return true;
    sc_count(&sc_blas_verified, 1);
    holds = sc_blas_lapack_holds(&before->kernel, &got.kernel, &residual);
    sc_blas_shadow_free(&got);
    if (holds || __atomic_fetch_add(&sc_blas_diverged, 1, __ATOMIC_RELAXED) >= REPORTS_MAX)
        return holds;
    describe_call(call, sizeof call, k);
    sc_log(SC_LOG_ERROR, "verify: call %" PRIu64 ", %s: %s differ by %g (bound %g)", sc_coherence_calls(), call,
           residual.what, residual.distance, residual.bound);
    for (int i = 0; i < count; i++)
        sc_coherence_report_place(operand_names[i], (uintptr_t)view[i].ptr, EVENTS / 2);
    return false;
}

/* A routine of LAPACK.  After a wrong result the program's own routine runs on the host, with the operands as they
 * were. */
static bool run_lapack(sc_blas_run *run, const struct sc_blas_order *order, struct sc_shadow_call *before)
{
    if (!run(order))
        return false;
    if (lapack_holds(order->kernel, order->view, order->count, before))
        return true;
    for (int i = 0; i < before->operands; i++)
        if (before->operand[i].written)
            transfer(&order->view[i], before->operand[i].data, true);
    return false;
}

static bool run_verified(sc_blas_run *run, const struct sc_blas_order *order)
{
    const struct sc_kernel *k = order->kernel;
    const struct sc_view *view = order->view;
    int count = order->count;
    struct sc_shadow_call before, want;
    bool done;

    if (!has_shadow(view, count) || !shadow(&before, k, view, count)) {
        sc_log_once(SC_LOG_WARN, "verify: operands that overlap, or no memory: some calls are not verified");
        return run(order);
    }
    if (sc_op_is_lapack(k->op)) {
        done = run_lapack(run, order, &before);
        sc_blas_shadow_free(&before);
        return done;
    }
    done = run(order);
    if (done && sc_blas_shadow_copy(&want, &before)) {
        verify(k, view, count, &before, &want);
        sc_blas_shadow_free(&want);
    }
    sc_blas_shadow_free(&before);
    return done;
}

void sc_blas_verify_start(void)
{
    sc_blas_around = run_verified;
}
/* SPDX-License-Identifier: BSD-2-Clause */
