/* Whole routines of LAPACK.  A routine is one task on one device, or a sequence of such tasks.  columns.c has the
 * factorizations that the plan spreads over devices.
 *
 * A matrix in several tiles goes home first and becomes a matrix of one tile.  The call waits for INFO without the
 * protocol's lock (rule C7).
 *
 * Failures:
 * - A device refuses the first task: no operand has changed.  The host runs the program's own routine.
 * - A device refuses a later task: the host's LAPACK runs the rest of the routine.
 * - A device is lost together with a result: INFO is positive, so that the program learns of the loss. */
#include "autotuner/autotuner.h"
#include "base/log.h"
#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"

bool sc_blas_serves(enum sc_op op, enum sc_type type)
{
    const enum sc_op *part = sc_op_parts(op);

    if (sc_op_is_lapack(op)) { /* finds routines that blocks of columns need, before locks are held */
        sc_coherence_runs(SC_OP_LASWP, type);
        sc_coherence_runs(SC_OP_ORMQR, type);
        sc_coherence_runs(SC_OP_TRTRI, type);
        sc_coherence_runs(SC_OP_LAUUM, type);
        sc_coherence_runs(SC_OP_GETRS, type);
    }
    return part ? sc_coherence_runs(part[0], type) && sc_coherence_runs(part[1], type) : sc_coherence_runs(op, type);
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

static bool is_empty(const struct sc_view *v) { return v->rows < 1 || v->cols < 1; }

/* Whether a routine can run on the operand as it is cut; by_columns: blocks of whole columns may be cut. */
static bool suits(const struct sc_operand *o, bool by_columns)
{
    struct sc_cuts cuts;

    if (!by_columns)
        return sc_blas_is_one_part(o);
    sc_coherence_row_cuts(o, &cuts);
    return cuts.n == 1;
}

/* Drops the matrices of operands with unsuitable cuts.  Their data goes home first.  False: there are none. */
static bool join(struct sc_blas_bracket *b, bool by_columns)
{
    bool cut[SC_VIEWS_MAX] = {false}, any = false;

    for (int i = 0; i < b->count; i++) {
        cut[i] = !is_empty(&b->view[i]) && !suits(&b->operand[i], by_columns);
        any |= cut[i];
    }
    if (!any)
        return false;
    sc_coherence_end(b->operand, b->count);
    for (int i = 0; i < b->count; i++)
        if (cut[i])
            sc_coherence_release_range((uintptr_t)b->view[i].ptr, sc_view_span(&b->view[i]));
    return true;
}

/* A routine that only reads a matrix in several tiles: the host's with the matrix at home is as good. */
static bool only_reads_tiles(const struct sc_blas_bracket *b, bool by_columns)
{
    bool cut = false;

    for (int i = 0; i < b->count; i++) {
        if (b->view[i].access != SC_READ)
            return false;
        cut = cut || !suits(&b->operand[i], by_columns);
    }
    return cut;
}

enum sc_status sc_blas_bracket_open(struct sc_blas_bracket *b, bool by_columns)
{
    enum sc_status status = SC_OK;

    for (int attempt = 0; attempt < 3 && status == SC_OK; attempt++) {
        status = sc_coherence_begin(b->view, b->count, b->operand);
        if (status == SC_OK && only_reads_tiles(b, by_columns)) {
            sc_coherence_end(b->operand, b->count);
            return SC_ERR_UNSUPPORTED;
        }
        if (status == SC_OK && !join(b, by_columns))
            return SC_OK;
    }
    return status == SC_OK ? SC_ERR_UNSUPPORTED : status;
}

enum sc_status sc_blas_bracket_begin(const struct sc_kernel *k, const struct sc_plan *plan, struct sc_blas_bracket *b)
{
    b->kernel = *k;
    b->count = sc_kernel_views(k, b->view);
    for (int i = 0; i < b->count; i++)
        b->view[i].spread = 1;
    if (plan) {
        b->view[0].split = SC_SPLIT_COLS;
        b->view[0].spread = plan->operand[0].spread;
        b->view[0].block = plan->columns.block;
        for (int i = 1; i < b->count; i++)
            b->view[i].spread = plan->operand[i].spread;
    }
    return sc_blas_bracket_open(b, plan);
}

void sc_blas_bracket_end(struct sc_blas_bracket *b, bool last)
{
    if (last)
        sc_coherence_push(b->operand, b->count, NULL);
    sc_coherence_end(b->operand, b->count);
}

static struct sc_piece piece_of(const struct sc_blas_bracket *b, int i, enum sc_access access)
{
    return (struct sc_piece){.operand = &b->operand[i], .rows = b->view[i].rows, .cols = b->view[i].cols,
                             .access = access};
}

/* --- one task ----------------------------------------------------------------------------------------------------- */

/* Elements of a workspace on the device, in units of the elements of A. */
static int workspaces(enum sc_op op)
{
    switch (op) {
    case SC_OP_GETRI:
    case SC_OP_SYTRF: return 1;
    case SC_OP_SYEVD:
    case SC_OP_SYGVD:
    case SC_OP_GEEV: return 3;
    case SC_OP_SYEVR:
    case SC_OP_SYGVX:
    case SC_OP_GESVD: return 4;
    case SC_OP_GELSD: return 6;
    default: return 0;
    }
}

/* Makes room for the workspace, which the device takes itself: allocates it, with evictions where memory is short, and
 * frees it at once. */
static void make_room(const struct sc_blas_bracket *b, int device)
{
    size_t bytes = (size_t)workspaces(b->kernel.op) * (size_t)sc_view_bytes(&b->view[0]);
    void *memory;

    if (bytes && sc_coherence_temporary(device, bytes, &memory) == SC_OK)
        sc_coherence_temporary_free(device, memory);
}

/* The task of the bracket's routine, on the device that holds most of the first operand. */
static enum sc_status launch(const struct sc_blas_bracket *b, struct sc_blas_launched *l)
{
    const struct sc_op_info *op = &sc_ops[b->kernel.op];
    struct sc_piece slot[3] = {sc_blas_none(), sc_blas_none(), sc_blas_none()}, first = piece_of(b, 0, SC_RDWR);
    struct sc_kernel k = b->kernel;

    int device = sc_coherence_where(&first);

    for (int i = 0; i < b->count; i++)
        if (!is_empty(&b->view[i]))
            slot[op->slots[i] - 'a'] = piece_of(b, i, b->view[i].access);
    make_room(b, device);
    return sc_coherence_task(device, &k, slot, &l->fence, &l->slot);
}

int64_t sc_blas_info(const struct sc_blas_launched *l)
{
    enum sc_status status = sc_coherence_wait(l->fence);

    if (status == SC_OK)
        return *(int64_t *)l->slot;
    sc_log(SC_LOG_ERROR, "a routine of LAPACK could not be finished (%s): INFO says that it failed",
           sc_status_name(status));
    return 1;
}

/* Runs an operation in its own bracket.  last: no other operation of the routine follows. */
enum sc_status sc_blas_lapack_run(const struct sc_kernel *k, bool last, int64_t *info)
{
    struct sc_blas_launched launched;
    struct sc_blas_bracket b;
    enum sc_status status = sc_blas_bracket_begin(k, NULL, &b);

    if (status != SC_OK)
        return status;
    status = launch(&b, &launched);
    sc_blas_bracket_end(&b, last);
    if (status == SC_OK)
        *info = sc_blas_info(&launched);
    return status;
}

/* Finishes a routine that devices have begun. */
void sc_blas_lapack_on_host(const struct sc_kernel *kernel, int64_t *info)
{
    struct sc_view view[SC_VIEWS_MAX];
    struct sc_kernel k = *kernel;
    int count = sc_kernel_views(&k, view);

    k.result = info;
    sc_blas_host_operands(view, count);
    if (sc_coherence_kernel_on_host(&k) != SC_OK) {
        sc_log(SC_LOG_ERROR, "%s could not be finished: INFO says that it failed", sc_op_name(k.op));
        *info = 1;
    }
}

void sc_blas_lapack_step(const struct sc_kernel *k)
{
    int64_t info;

    if (!sc_blas_on_devices(k))
        sc_blas_lapack_on_host(k, &info);
}

/* --- routines made of several tasks ------------------------------------------------------------------------------- */

static enum sc_status run_part(const struct sc_blas_job *call, const struct sc_kernel *k, bool last, int64_t *info)
{
    return call->plan->columns.block && sc_blas_has_columns(k->op) ? sc_blas_columns(k, call->plan, last, info)
                                                                   : sc_blas_lapack_run(k, last, info);
}

/* Factor and solve: the second part needs the INFO of the first, as B is unchanged when there are no factors. */
static enum sc_status solve(const struct sc_blas_job *call, const enum sc_op part[2], int64_t *info)
{
    const struct sc_kernel *k = call->kernel;
    struct sc_kernel factor = *k, solution = *k;
    enum sc_status status;

    factor.op = part[0];
    factor.m = k->n;
    solution.op = part[1];
    solution.transa = 'N';
    status = run_part(call, &factor, false, info);
    if (status == SC_OK && *info == 0 && run_part(call, &solution, true, info) != SC_OK)
        sc_blas_lapack_on_host(&solution, info);
    return status;
}

/* The inverse by Cholesky factors in blocks of columns: the inverse of the triangle, then its product with its
 * adjoint. */
static enum sc_status invert(const struct sc_blas_job *call, int64_t *info)
{
    struct sc_kernel part = *call->kernel;
    enum sc_status status;

    part.op = SC_OP_TRTRI;
    part.diag = 'N';
    status = sc_blas_columns(&part, call->plan, false, info);
    part.op = SC_OP_LAUUM;
    if (status == SC_OK && *info == 0 && sc_blas_columns(&part, call->plan, true, info) != SC_OK)
        sc_blas_lapack_on_host(&part, info);
    return status;
}

enum sc_status sc_blas_copy_piece(int device, struct sc_piece from, struct sc_piece to)
{
    struct sc_kernel k = {.op = SC_OP_COPY, .type = from.operand->view.type, .n = from.rows * from.cols, .lda = 1,
                          .ldb = 1};
    int64_t cols = from.cols;
    enum sc_status status = SC_OK;

    if (sc_coherence_contiguous(device, &from) && sc_coherence_contiguous(device, &to))
        return sc_blas_task(device, &k, from, to, sc_blas_none());
    k.n = from.rows;
    from.cols = to.cols = 1;
    for (int64_t j = 0; j < cols && status == SC_OK; j++, from.c++, to.c++)
        status = sc_blas_task(device, &k, from, to, sc_blas_none());
    return status;
}

enum sc_status sc_blas_copy_matrix(const struct sc_kernel *k)
{
    struct sc_piece first;
    struct sc_blas_bracket b;
    enum sc_status status = sc_blas_bracket_begin(k, NULL, &b);

    if (status != SC_OK)
        return status;
    first = piece_of(&b, 0, SC_READ);
    status = sc_blas_copy_piece(sc_coherence_where(&first), first, piece_of(&b, 1, SC_WRITE));
    sc_blas_bracket_end(&b, false);
    return status;
}

/* The operands of a routine and its workspace fit into a device. */
static bool has_room(const struct sc_blas_job *call)
{
    uint64_t bytes = (uint64_t)workspaces(call->kernel->op) * sc_view_bytes(&call->view[0]);

    for (int i = 0; i < call->operands; i++)
        bytes += is_empty(&call->view[i]) ? 0 : sc_view_bytes(&call->view[i]);
    return sc_machine_has_room(&call->question->machine, bytes);
}

static enum sc_status run_routine(const struct sc_blas_job *call, int64_t *info)
{
    const struct sc_kernel *k = call->kernel;
    const enum sc_op *part = sc_op_parts(k->op);

    if (k->op == SC_OP_POTRI && call->plan->columns.block)
        return invert(call, info);
    if (k->op == SC_OP_GETRI && call->plan->columns.block)
        return sc_blas_columns_inverse(k, call->plan, info);
    if (!part)
        return run_part(call, k, true, info);
    switch (k->op) {
    case SC_OP_SYEVR:
    case SC_OP_SYGVX: return sc_blas_eigen_range(k, part[1], info);
    case SC_OP_GELS: return sc_blas_least_full(k, info);
    case SC_OP_GELSD: return sc_blas_least_squares(k, info);
    case SC_OP_GECON:
    case SC_OP_POCON: return sc_blas_condition(k, info);
    default: return solve(call, part, info);
    }
}

bool sc_blas_lapack(struct sc_blas_job *call)
{
    const struct sc_kernel *k = call->kernel;
    int64_t info = 0;
    enum sc_status status = SC_ERR_UNSUPPORTED;

    if (call->plan->columns.block || has_room(call))
        status = run_routine(call, &info);
    *(int64_t *)k->result = info;
    return status == SC_OK;
}
/* SPDX-License-Identifier: BSD-2-Clause */
