/* The calls of sparse.h: checks of arguments, and the choice between host and devices. */
#include <string.h>

#include "autotuner/explain.h"
#include "autotuner/demand.h"
#include "autotuner/opening.h"
#include "autotuner/plan.h"
#include "base/config.h"
#include "coherence/devices.h"
#include "sparse/sparse_int.h"
#include "trace/trace.h"

bool (*sc_sparse_start)(bool now);

#define SMALL 8192 /* stored bytes: the place of the vectors decides */

/* --- profitability ------------------------------------------------------------------------------------------------ */

/* The stored bytes, approximately: for line formats, only the last end is read. */
static double stored_bytes(const struct sc_sparse_call *call)
{
    const struct sc_sparse_matrix *m = call->matrix;
    const struct sc_sparse_arrays *a = &m->arrays;
    int64_t lines = sc_sparse_lines(a), entries = a->count;

    if (a->format == SC_SPARSE_DIA)
        entries *= a->rows;
    else if (a->format != SC_SPARSE_COO)
        entries = lines ? sc_sparse_at(a->end, a->index_bytes, lines - 1) - a->base : 0;
    if (a->format == SC_SPARSE_BSR)
        entries *= a->block * a->block;
    return (double)(entries > 0 ? entries : 0) * (double)(sc_type_bytes(a->type) + (size_t)a->index_bytes) +
           (double)lines * a->index_bytes;
}

static bool is_resident(const struct sc_sparse_call *call)
{
    const struct sc_sparse_matrix *m = call->matrix;

    for (int i = 0; i < m->variants; i++) {
        const struct sc_sparse_variant *v = &m->variant[i];

        if (v->analysed && memcmp(&v->use, &call->use, sizeof v->use) == 0)
            return true;
    }
    return false;
}

/* A matrix with parts on devices stays on the devices. */
static struct sc_autotuner_call question_of(const struct sc_sparse_call *call)
{
    uint64_t elem = sc_type_bytes(call->matrix->arrays.type);
    struct sc_autotuner_call q = {.op = call->op, .type = call->matrix->arrays.type, .metric = sc_config.metric,
                                  .m = call->outputs, .n = call->inputs, .k = call->columns,
                                  .account = &call->matrix->account, .stays = is_resident(call)};

    q.bytes = (uint64_t)stored_bytes(call) + (uint64_t)((call->inputs + call->outputs) * call->columns) * elem;
    q.device_bytes = q.stays ? q.bytes : 0;
    return q;
}

/* A small matrix moves in no time, but long vectors do not. */
static void add_vectors(const struct sc_sparse_call *call, struct sc_autotuner_call *q)
{
    const struct sc_view views[] = {
        sc_sparse_dense_view(call, call->x, call->inputs, call->ldx, SC_READ),
        sc_sparse_dense_view(call, call->y, call->outputs, call->ldy,
                             call->beta[0] == 0 && call->beta[1] == 0 ? SC_WRITE : SC_RDWR)};
    struct sc_residency residency;

    sc_coherence_residency(views, 2, &residency);
    q->device_bytes = residency.device_bytes + (q->stays ? (uint64_t)stored_bytes(call) : 0);
    q->device_only = residency.device_only;
    q->untracked = residency.untracked;
    q->overwritten = residency.overwritten;
    q->closings = residency.closings;
    q->stays = false;
}

/* Records the call for decisions about BLAS calls.  want: 0 on the host. */
static void note(const struct sc_sparse_call *call, int want)
{
    sc_demand_read(call->x, want);
    if (call->beta[0] != 0 || call->beta[1] != 0)
        sc_demand_read(call->y, want);
    sc_demand_written(call->y, call->op, want > 0 ? (uintptr_t)call->matrix : 0);
}

static bool pays(const struct sc_sparse_call *call, struct sc_autotuner_call *question)
{
    struct sc_plan plan;

    sc_machine_describe(sc_coherence_device_properties(0), sc_coherence_devices(), 1, &question->machine);
    sc_plan(question, sc_config.offload, &plan);
    if (sc_config.offload == SC_OFFLOAD_AUTO)
        note(call, plan.want);
    return plan.devices;
}

/* Records the calling site for trace and explanation; after the devices have opened, because tracing starts then. */
static void note_site(void)
{
    if (__builtin_expect(sc_trace_on || sc_explain_on, 0)) {
        sc_trace_site = sc_trace_site_here();
        sc_trace_put_site();
    }
}

bool sc_sparse_opened(double host_seconds)
{
    enum sc_autotuner_opening opening;

    if (sc_coherence_devices() > 0)
        return true;
    opening = sc_sparse_start ? sc_autotuner_opens_for_sparse(host_seconds) : SC_OPENS_NOT;
    if (opening == SC_OPENS_NOT || !sc_sparse_start(opening == SC_OPENS_NOW))
        return false;
    note_site();
    return true;
}

/* False if a dense operand is larger than any address space, for example a single column with a huge leading dimension.
 * The host's loops compute only addresses of elements. */
static bool has_room(int64_t rows, int64_t columns, int64_t ld, enum sc_type type)
{
    return ((__int128)ld * columns + rows) * (int64_t)sc_type_bytes(type) < (__int128)1 << 56;
}
static bool dense_fit(const struct sc_sparse_call *c)
{
    const enum sc_type type = c->matrix->arrays.type;
    const bool vectors = c->op == SC_OP_CSRMV || c->op == SC_OP_CSRSV;
    const int64_t x = vectors && c->ldx < 0 ? -c->ldx : c->ldx, y = vectors && c->ldy < 0 ? -c->ldy : c->ldy;

    if (vectors || c->by_rows)
        return has_room(c->columns, c->inputs, x, type) && has_room(c->columns, c->outputs, y, type);
    return has_room(c->inputs, c->columns, x, type) && has_room(c->outputs, c->columns, y, type);
}

/* Rows that a device solves one after another; 0: not known yet. */
static int64_t chain_of(const struct sc_sparse_call *call)
{
    struct sc_sparse_matrix *m = call->matrix;
    int64_t *chain = &m->chain[call->use.descr.uplo == 'U'];
    struct sc_sparse_csr csr;

    if (call->use.descr.kind == SC_SPARSE_DIAGONAL)
        return 1;
    if (*chain || !call->offered)
        return *chain;
    sc_sparse_bring_home(m);
    if (sc_sparse_measure(m) == SC_OK) {
        if (sc_sparse_make_csr(&m->arrays, &call->use, &csr) == SC_OK)
            sc_sparse_chain_of(m, &call->use, &csr);
        sc_sparse_free_csr(&csr);
    }
    return *chain;
}

static bool solves(const struct sc_sparse_call *call)
{
    return call->op == SC_OP_CSRSV || call->op == SC_OP_CSRSM;
}

/* Whether the call goes to the devices; opens the devices if necessary. */
static bool to_devices(const struct sc_sparse_call *call)
{
    bool small = sc_config.offload != SC_OFFLOAD_ALWAYS && stored_bytes(call) < SMALL;
    struct sc_autotuner_call question;

    if (sc_config.offload == SC_OFFLOAD_NEVER || (small && !sc_coherence_devices()) ||
        !sc_coherence_stack_fits() || !dense_fit(call))
        return false;
    question = question_of(call);
    if (solves(call) && sc_config.offload == SC_OFFLOAD_AUTO) {
        question.chain = chain_of(call);
        if (!question.chain)
            return false;
    }
    if (small)
        add_vectors(call, &question);
    if (small && !question.device_only)
        return false;
    return sc_sparse_opened(sc_autotuner_estimate(&question)) && pays(call, &question);
}

/* Runs the call column by column, for dense operands in several tiles.  Any status except SC_OK: nothing has been
 * written. */
static enum sc_status by_columns(const struct sc_sparse_call *call)
{
    int64_t elem = (int64_t)sc_type_bytes(call->matrix->arrays.type);
    struct sc_sparse_call column = *call;
    enum sc_status status = SC_OK;

    column.op = call->op == SC_OP_CSRMM ? SC_OP_CSRMV : SC_OP_CSRSV;
    column.columns = 1;
    column.by_rows = false;
    if (!call->by_rows)
        column.ldx = column.ldy = 1;
    sc_sparse_claim_matrix(call);
    for (int64_t j = 0; j < call->columns && status == SC_OK; j++) {
        column.x = (const char *)call->x + j * (call->by_rows ? 1 : call->ldx) * elem;
        column.y = (char *)call->y + j * (call->by_rows ? 1 : call->ldy) * elem;
        status = sc_sparse_on_devices(&column);
        if (status != SC_OK && j > 0)
            status = sc_sparse_on_host(&column);
    }
    return status;
}

/* Counts the call, and the traffic if all operands were copied in and out in the call. */
static void count_offloaded(const struct sc_sparse_call *call, int routine)
{
    uint64_t each = (uint64_t)call->columns * sc_type_bytes(call->matrix->arrays.type);

    sc_count(&sc_stats.offloaded[routine], 1);
    sc_count(&sc_stats.percall_in, (uint64_t)stored_bytes(call) + (uint64_t)call->inputs * each);
    sc_count(&sc_stats.percall_out, (uint64_t)call->outputs * each);
}

static enum sc_status on_devices(const struct sc_sparse_call *call)
{
    enum sc_status status = sc_sparse_on_devices(call);

    if (status == SC_ERR_UNSUPPORTED && (call->op == SC_OP_CSRMM || call->op == SC_OP_CSRSM))
        status = by_columns(call);
    return status;
}

/* Measures the time between two idle states of the devices. */
static enum sc_status run_explained(const struct sc_sparse_call *call)
{
    enum sc_status status;
    double start;

    sc_coherence_drain();
    start = sc_explain_clock(sc_coherence_virtual_seconds());
    status = on_devices(call);
    sc_coherence_drain();
    if (status == SC_OK)
        sc_explain_measured(sc_explain_clock(sc_coherence_virtual_seconds()) - start);
    return status;
}

static enum sc_status run_locked(const struct sc_sparse_call *call, int routine)
{
    enum sc_status status = SC_ERR_UNSUPPORTED;

    if (to_devices(call)) {
        status = __builtin_expect(sc_config.verify, 0)  ? sc_sparse_run_verified(call, on_devices)
                 : __builtin_expect(sc_explain_on, 0) ? run_explained(call)
                                                      : on_devices(call);
        if (status == SC_OK)
            count_offloaded(call, routine);
    }
    if (status != SC_OK && status != SC_ERR_INVALID) {
        if (call->offered)
            sc_sparse_acquire_dense(call);
        status = call->offered ? SC_ERR_UNSUPPORTED : sc_sparse_on_host(call);
        sc_count(&sc_stats.host[routine], 1);
        if (__builtin_expect(sc_explain_on, 0) && !call->offered)
            sc_explain_host_done();
    }
    return status;
}

static enum sc_status run(const struct sc_sparse_call *call)
{
    static const uint16_t routines[] = {SC_TRACE_SPARSE_MV, SC_TRACE_SPARSE_MM, SC_TRACE_SPARSE_SV, SC_TRACE_SPARSE_SM};
    uint16_t routine = routines[call->op - SC_OP_CSRMV], outer = sc_trace_routine;
    enum sc_status status;

    if (!call->outputs || !call->columns)
        return SC_OK;
    sc_inside_enter();
    sc_trace_routine = routine;
    note_site();
    pthread_mutex_lock(&call->matrix->lock);
    status = run_locked(call, routine);
    pthread_mutex_unlock(&call->matrix->lock);
    sc_trace_routine = outer;
    sc_inside_leave();
    return status;
}

/* --- arguments ---------------------------------------------------------------------------------------------------- */

static enum sc_status refuse(const char *what)
{
    sc_log(SC_LOG_ERROR, "sparse product: %s", what);
    return SC_ERR_INVALID;
}

/* Sets letters without effect to a common value, so that equal uses compare equal. */
enum sc_status sc_sparse_make_use(struct sc_sparse_use *use, const struct sc_sparse_matrix *m, char trans,
                                  const struct sc_sparse_descr *d, bool solve)
{
    bool of_triangle = d->kind != SC_SPARSE_GENERAL && d->kind != SC_SPARSE_DIAGONAL;

    if ((trans != 'N' && trans != 'T' && trans != 'C') || (unsigned)d->kind > SC_SPARSE_DIAGONAL)
        return refuse("an operation or a kind of matrix that there is not");
    if (of_triangle && d->uplo != 'L' && d->uplo != 'U')
        return refuse("a triangle is neither L nor U");
    if ((of_triangle || solve) && m->arrays.rows != m->arrays.cols)
        return refuse("a symmetric or triangular matrix is not square");
    if (solve && d->kind != SC_SPARSE_TRIANGULAR && d->kind != SC_SPARSE_DIAGONAL)
        return refuse("a solve with a matrix that is not triangular");
    memset(use, 0, sizeof *use); /* compared as bytes */
    use->trans = trans == 'C' && !sc_type_is_complex(m->arrays.type) ? 'T' : trans;
    use->descr.kind = d->kind;
    use->descr.uplo = of_triangle ? d->uplo : 'L';
    use->descr.diag = d->kind != SC_SPARSE_GENERAL && d->diag == 'U' ? 'U' : 'N';
    use->descr.inverse = d->inverse;
    use->solve = solve;
    if (d->kind == SC_SPARSE_HERMITIAN && !sc_type_is_complex(m->arrays.type))
        use->descr.kind = SC_SPARSE_SYMMETRIC;
    if (use->descr.kind == SC_SPARSE_SYMMETRIC && (use->trans == 'T' || !sc_type_is_complex(m->arrays.type)))
        use->trans = 'N';
    return SC_OK;
}

static void set_sizes(struct sc_sparse_call *call, char trans)
{
    const struct sc_sparse_arrays *a = &call->matrix->arrays;

    call->outputs = trans == 'N' ? a->rows : a->cols;
    call->inputs = trans == 'N' ? a->cols : a->rows;
}

static void set_scalar(double to[2], const double from[2], enum sc_type type)
{
    to[0] = from[0];
    to[1] = sc_type_is_complex(type) ? from[1] : 0;
}

static enum sc_status start(struct sc_sparse_call *call, char trans, const struct sc_sparse_descr *descr, bool solve,
                            const double alpha[2], const double beta[2])
{
    enum sc_type type = call->matrix->arrays.type;
    enum sc_status status = sc_sparse_make_use(&call->use, call->matrix, trans, descr, solve);
    bool vectors = call->op == SC_OP_CSRMV || call->op == SC_OP_CSRSV;

    if (status != SC_OK)
        return status;
    set_sizes(call, trans);
    if ((!call->x && call->inputs && call->columns) || (!call->y && call->outputs && call->columns))
        return refuse("a vector or a matrix is missing");
    if (vectors ? !call->ldx || !call->ldy
                : call->columns < 0 || call->ldx < (call->by_rows ? call->columns : call->inputs) ||
                      call->ldy < (call->by_rows ? call->columns : call->outputs))
        return refuse(vectors ? "an increment is 0" : "a leading dimension is too small, or a size negative");
    set_scalar(call->alpha, alpha, type);
    set_scalar(call->beta, beta, type);
    return SC_OK;
}

enum sc_status sc_sparse_mv(struct sc_sparse_matrix *m, char trans, const struct sc_sparse_descr *descr,
                            const double alpha[2], const void *x, int64_t incx, const double beta[2], void *y,
                            int64_t incy)
{
    struct sc_sparse_call call = {.matrix = m, .op = SC_OP_CSRMV, .columns = 1, .x = x, .y = y, .ldx = incx,
                                  .ldy = incy};
    enum sc_status status = start(&call, trans, descr, false, alpha, beta);

    return status == SC_OK ? run(&call) : status;
}

enum sc_status sc_sparse_mm(struct sc_sparse_matrix *m, char trans, const struct sc_sparse_descr *descr, bool by_rows,
                            int64_t columns, const double alpha[2], const void *b, int64_t ldb, const double beta[2],
                            void *c, int64_t ldc)
{
    struct sc_sparse_call call = {.matrix = m, .op = SC_OP_CSRMM, .by_rows = by_rows, .columns = columns, .x = b,
                                  .y = c,
                                  .ldx = ldb, .ldy = ldc};
    enum sc_status status = start(&call, trans, descr, false, alpha, beta);

    return status == SC_OK ? run(&call) : status;
}

enum sc_status sc_sparse_try(struct sc_sparse_matrix *m, char trans, const struct sc_sparse_descr *descr, bool by_rows,
                             int64_t columns, const double alpha[2], const void *b, int64_t ldb, const double beta[2],
                             void *c, int64_t ldc)
{
    const bool vectors = columns == 1;
    struct sc_sparse_call call = {.matrix = m, .op = vectors ? SC_OP_CSRMV : SC_OP_CSRMM, .offered = true,
                                  .by_rows = by_rows && !vectors, .columns = columns, .x = b, .y = c,
                                  .ldx = vectors && !by_rows ? 1 : ldb, .ldy = vectors && !by_rows ? 1 : ldc};
    enum sc_status status = start(&call, trans, descr, false, alpha, beta);

    return status == SC_OK ? run(&call) : status;
}

static const double nothing[2];

enum sc_status sc_sparse_sv(struct sc_sparse_matrix *m, char trans, const struct sc_sparse_descr *descr,
                            const double alpha[2], const void *x, int64_t incx, void *y, int64_t incy)
{
    struct sc_sparse_call call = {.matrix = m, .op = SC_OP_CSRSV, .columns = 1, .x = x, .y = y, .ldx = incx,
                                  .ldy = incy};
    enum sc_status status = start(&call, trans, descr, true, alpha, nothing);

    return status == SC_OK ? run(&call) : status;
}

enum sc_status sc_sparse_try_solve(struct sc_sparse_matrix *m, char trans, const struct sc_sparse_descr *descr,
                                   const double alpha[2], const void *x, void *y)
{
    struct sc_sparse_call call = {.matrix = m, .op = SC_OP_CSRSV, .offered = true, .columns = 1, .x = x, .y = y,
                                  .ldx = 1, .ldy = 1};
    enum sc_status status = start(&call, trans, descr, true, alpha, nothing);

    return status == SC_OK ? run(&call) : status;
}

enum sc_status sc_sparse_sm(struct sc_sparse_matrix *m, char trans, const struct sc_sparse_descr *descr, bool by_rows,
                            int64_t columns, const double alpha[2], const void *b, int64_t ldb, void *c, int64_t ldc)
{
    struct sc_sparse_call call = {.matrix = m, .op = SC_OP_CSRSM, .by_rows = by_rows, .columns = columns, .x = b,
                                  .y = c,
                                  .ldx = ldb, .ldy = ldc};
    enum sc_status status = start(&call, trans, descr, true, alpha, nothing);

    return status == SC_OK ? run(&call) : status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
