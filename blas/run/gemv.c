/* gemv: y := alpha op(A) x + beta y.  symv, hemv: the same with a symmetric or Hermitian A.  Tasks run on the
 * devices of A's tiles.
 *
 * A is cut into parts by output (segments of y) and by input (segments of x).  When a single device holds the tiles
 * of an output part, the tasks add to y directly and in order.  With a single device and tile that is a single task.
 * Otherwise each device sums its tiles into a temporary, and the owner of each segment of y adds the temporaries up.
 *
 * A symmetric A has equal parts in both dimensions.  A part off the diagonal is read from the stored triangle, by
 * gemv, and a stored tile serves two parts. */
#include "blas/run/partials.h"

/* An output part: elements [first, first + n) of y. */
struct output {
    struct sc_blas_job *call;
    const struct sc_cuts *in; /* parts of x */
    int64_t first, n;
    int device_of[SC_CUTS_MAX]; /* device of each input part's tile */
};

static const struct sc_operand *operand_a(const struct output *o) { return &o->call->operand[0]; }
static const struct sc_operand *operand_x(const struct output *o) { return &o->call->operand[1]; }
static const struct sc_operand *operand_y(const struct output *o) { return &o->call->operand[2]; }

static bool is_symmetric(const struct output *o)
{
    return o->call->kernel->op == SC_OP_SYMV || o->call->kernel->op == SC_OP_HEMV;
}

/* The part of A that maps inputs [from, from + inputs) to outputs [first, first + n), and the kernel for it.  For a
 * symmetric A the two ranges are equal or disjoint. */
static struct sc_piece tile_of(const struct output *o, int64_t first, int64_t n, int64_t from, int64_t inputs,
                               struct sc_kernel *kernel)
{
    const struct sc_kernel *call = o->call->kernel;

    kernel->op = call->op;
    kernel->transa = call->transa;
    kernel->conj = call->conj;
    if (is_symmetric(o)) {
        kernel->transa = 'N';
        kernel->n = n;
        if (from == first)
            return sc_blas_matrix(operand_a(o), first, first, n, n, SC_READ);
        kernel->op = SC_OP_GEMV;
        if ((call->uplo == 'U') != (first < from)) { /* conj(A) of a Hermitian A is A^T */
            kernel->transa = call->op == SC_OP_HEMV && !call->conj ? 'C' : 'T';
            kernel->conj = false;
        }
    }
    kernel->m = kernel->transa == 'N' ? n : inputs;
    kernel->n = kernel->transa == 'N' ? inputs : n;
    return sc_blas_op_matrix(operand_a(o), kernel->transa, first, from, n, inputs, SC_READ);
}

static struct sc_piece tile_at(const struct output *o, int q, struct sc_kernel *kernel)
{
    return tile_of(o, o->first, o->n, o->in->at[q], sc_blas_part(o->in, q), kernel);
}

/* y[first, first + n) := beta y + alpha op(A) x over inputs [from, to), on `device`.  For a symmetric A, the range
 * of inputs is divided at the bounds of the outputs. */
static enum sc_status add_inputs(const struct output *o, int device, int64_t first, int64_t n, int64_t from, int64_t to,
                                 const double beta[2])
{
    const int64_t turns[] = {first, first + n};
    struct sc_kernel kernel = *o->call->kernel;
    enum sc_status status = SC_OK;
    bool started = false;

    for (int64_t at = from, end; at < to && status == SC_OK; at = end, started = true) {
        struct sc_piece tile;

        end = to;
        for (int i = 1; i >= 0 && is_symmetric(o); i--)
            end = turns[i] > at && turns[i] < end ? turns[i] : end;
        tile = tile_of(o, first, n, at, end - at, &kernel);
        sc_blas_set_beta(&kernel, beta, !started);
        status = sc_blas_task(device, &kernel, tile, sc_blas_vector(operand_x(o), at, end - at, SC_READ),
                              sc_blas_vector(operand_y(o), first, n, sc_kernel_output(&kernel)));
    }
    return status;
}

/* The first run [*at, return value) of x in [*at, to) that the device has; *at = to if there is none. */
static int64_t first_there(const struct output *o, int device, int64_t *at, int64_t to)
{
    for (int64_t run; *at < to; *at += run) {
        struct sc_piece x;
        int newest;

        run = sc_coherence_run(operand_x(o), *at, to - *at, &newest);
        x = sc_blas_vector(operand_x(o), *at, run, SC_READ);
        if (!sc_coherence_missing(device, &x))
            return *at + run;
    }
    return to;
}

/* add_inputs for a large tile on a device that has only a part of x: begins with that part while the rest is in
 * transit (as in an iteration y := A x, x := y on several devices). */
#define LONG_BYTES (INT64_C(128) << 20)
static enum sc_status add_as_it_comes(const struct output *o, int device, int64_t first, int64_t n, int64_t from,
                                      int64_t to, const double beta[2])
{
    static const double one[2] = {1, 0};
    int64_t here = from, end = to;
    enum sc_status status;

    if (sc_coherence_devices() > 1 && operand_x(o)->view.ld > 0 &&
        n * (to - from) * (int64_t)sc_type_bytes(o->call->kernel->type) >= LONG_BYTES)
        end = first_there(o, device, &here, to);
    if (here >= to || (here == from && end == to))
        return add_inputs(o, device, first, n, from, to, beta);
    status = add_inputs(o, device, first, n, here, end, beta);
    if (status == SC_OK && end < to)
        status = add_inputs(o, device, first, n, end, to, one);
    if (status == SC_OK && from < here)
        status = add_inputs(o, device, first, n, from, here, one);
    return status;
}

/* add_inputs over the input parts with tiles on the device `only`, or over all input parts if `only` < 0. */
static enum sc_status add_directly(const struct output *o, int device, int only, int64_t first, int64_t n,
                                   const double beta[2])
{
    static const double one[2] = {1, 0};
    enum sc_status status = SC_OK;
    bool started = false;

    for (int q = 0; q < o->in->n && status == SC_OK; q++) {
        if (only >= 0 && o->device_of[q] != only)
            continue;
        status = add_as_it_comes(o, device, first, n, o->in->at[q], o->in->at[q + 1], started ? one : beta);
        started = true;
    }
    return status;
}

/* --- several devices ---------------------------------------------------------------------------------------------- */

/* temporary := (0 or 1) temporary + alpha op(A) x for a tile, on the tile's device. */
static enum sc_status add_to_partial(const struct output *o, struct sc_partials *p, int q)
{
    struct sc_kernel kernel = *o->call->kernel;
    struct sc_piece tile = tile_at(o, q, &kernel), sum;
    int at = sc_partials_on(p, o->device_of[q]);
    enum sc_status status;

    kernel.beta[0] = at >= 0;
    kernel.beta[1] = 0;
    kernel.ldc = 1;
    if (at < 0) {
        status = sc_partials_add(p, o->device_of[q], (size_t)o->n * sc_type_bytes(kernel.type));
        if (status != SC_OK)
            return status;
        at = p->count - 1;
    }
    sum = sc_blas_temporary(p->memory[at], o->n, sc_kernel_output(&kernel));
    return sc_blas_task(p->device[at], &kernel, tile,
                        sc_blas_vector(operand_x(o), o->in->at[q], sc_blas_part(o->in, q), SC_READ), sum);
}

/* y[at, at + n) := or += a partial sum, on `owner`. */
static enum sc_status add_partial(const struct output *o, const struct sc_partials *p, int i, int owner,
                                  struct sc_partial *part, int64_t at, int64_t n, bool overwrite)
{
    struct sc_kernel add = {.op = overwrite ? SC_OP_COPY : SC_OP_AXPY, .type = o->call->kernel->type, .n = n,
                            .alpha = {1, 0}, .lda = 1, .ldb = operand_y(o)->view.ld};
    enum sc_status status = sc_partials_task(owner, part, &add,
                                             sc_blas_vector(operand_y(o), at, n, overwrite ? SC_WRITE : SC_RDWR));

    sc_partials_drop(owner, part);
    if (status != SC_OK) /* the share is lost: computed again from A, directly into y */
        status = add_directly(o, owner, p->device[i], at, n, overwrite ? (double[2]){0, 0} : (double[2]){1, 0});
    return status;
}

/* y[at, at + n) := beta y + all partial sums, on `owner`. */
static enum sc_status add_up(const struct output *o, struct sc_partials *p, int owner, int64_t at, int64_t n)
{
    const struct sc_kernel *call = o->call->kernel;
    struct sc_kernel scale = {.op = SC_OP_SCAL, .type = call->type, .n = n, .lda = operand_y(o)->view.ld,
                              .alpha = {call->beta[0], call->beta[1]}};
    bool overwrite = sc_blas_is_zero(call->beta);
    size_t elem = sc_type_bytes(call->type);
    struct sc_partial part[SC_DEVICES_MAX];
    enum sc_status status = SC_OK;

    for (int i = 0; i < p->count; i++)
        part[i] = sc_partials_fetch(p, i, owner, (size_t)(at - o->first) * elem, (size_t)n * elem);
    if (!overwrite && !sc_blas_is_one(call->beta))
        status = sc_blas_task(owner, &scale, sc_blas_vector(operand_y(o), at, n, SC_RDWR), sc_blas_none(),
                              sc_blas_none());
    for (int i = 0; i < p->count; i++)
        if (status == SC_OK)
            status = add_partial(o, p, i, owner, &part[i], at, n, overwrite && i == 0);
        else
            sc_partials_drop(owner, &part[i]);
    return status;
}

/* The device to hold y[at, at + n).  Returns the length of the run with the same device, at most `limit`. */
static int64_t owner_run(const struct output *o, int64_t at, int64_t limit, int *owner)
{
    const struct sc_operand *y = operand_y(o);
    struct sc_piece piece;

    if (y->view.ld > 0) {
        int64_t n = sc_coherence_run(y, at, limit, owner);

        if (*owner != SC_HOST)
            return n;
        limit = n;
    }
    piece = sc_blas_vector(y, at, limit, SC_RDWR);
    *owner = sc_coherence_where(&piece);
    return limit;
}

static enum sc_status add_up_all(const struct output *o, struct sc_partials *p)
{
    enum sc_status status = SC_OK;

    for (int64_t at = o->first, n; at < o->first + o->n && status == SC_OK; at += n) {
        int owner;

        n = owner_run(o, at, o->first + o->n - at, &owner);
        status = add_up(o, p, owner, at, n);
    }
    return status;
}

static enum sc_status on_several(const struct output *o)
{
    struct sc_partials p; /* large: not initialised */
    enum sc_status status = SC_OK;

    p.count = 0;
    for (int q = 0; q < o->in->n && status == SC_OK; q++)
        status = add_to_partial(o, &p, q);
    if (status == SC_OK)
        status = add_up_all(o, &p);
    else /* y is untouched */
        status = add_directly(o, o->device_of[0], -1, o->first, o->n, o->call->kernel->beta);
    sc_partials_free(&p);
    return status;
}

/* False when y would have to be scaled separately and its increment is negative, because scal then does nothing. */
static bool can_add_up(const struct output *o)
{
    const double *beta = o->call->kernel->beta;

    return operand_y(o)->view.ld > 0 || sc_blas_is_zero(beta) || sc_blas_is_one(beta);
}

static enum sc_status one_output(struct output *o)
{
    bool same = true;

    for (int q = 0; q < o->in->n; q++) {
        struct sc_kernel kernel = *o->call->kernel;
        struct sc_piece tile = tile_at(o, q, &kernel);

        o->device_of[q] = sc_coherence_where(&tile);
        same &= o->device_of[q] == o->device_of[0];
    }
    if (same || !can_add_up(o))
        return add_directly(o, o->device_of[0], -1, o->first, o->n, o->call->kernel->beta);
    return on_several(o);
}

enum sc_status sc_blas_gemv(struct sc_blas_job *call)
{
    char trans = call->kernel->transa;
    struct sc_cuts in, out;
    struct output o; /* large: not initialised */
    enum sc_status status = SC_OK;

    o.call = call;
    o.in = &in;
    if (is_symmetric(&o))
        trans = 'N';
    sc_blas_vector_cuts(&call->operand[1], &in);
    sc_blas_merge_op_cols(&in, &call->operand[0], trans);
    sc_blas_vector_cuts(&call->operand[2], &out);
    sc_blas_merge_op_rows(&out, &call->operand[0], trans);
    if (is_symmetric(&o)) {
        sc_cuts_merge(&in, &out);
        out = in;
    }
    for (int p = 0; p < out.n && status == SC_OK; p++) {
        o.first = out.at[p];
        o.n = sc_blas_part(&out, p);
        status = one_output(&o);
    }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
