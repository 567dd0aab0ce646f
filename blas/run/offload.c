/* From a call to tasks: describes the operands, asks for the decision, and runs the call. */
#include "blas/blas.h"

#include "autotuner/plan.h"
#include "autotuner/explain.h"
#include "autotuner/host_rates.h"
#include "autotuner/demand.h"
#include "autotuner/start.h"
#include "base/config.h"
#include "base/inside.h"
#include "base/quiet.h"
#include "blas/home.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"
#include "coherence/devices.h"
#include "trace/trace.h"

typedef enum sc_status run_function(struct sc_blas_job *call);

static run_function *const run_[SC_OPS_ALL] = {SC_OP_DECOMPOSITIONS}; /* NULL: a reduction, or LAPACK */

/* --- its operands ------------------------------------------------------------------------------------------------- */

/* Operations on a single vector do nothing for increments that are not positive. */
static bool views_are_valid(const struct sc_view *view, int count)
{
    for (int i = 0; i < count; i++) {
        if (view[i].rows < 1 || view[i].cols < 1) /* vectors that a routine of LAPACK does not compute */
            continue;
        if (!view[i].ptr || !sc_view_fits(&view[i]))
            return false;
        if (view[i].vector ? view[i].ld == 0 || (count == 1 && view[i].ld < 0) : view[i].ld < view[i].rows)
            return false;
    }
    return true;
}

/* The operands of a call that devices can serve.  Returns their number; 0: the devices cannot serve the call. */
static int operands_of(const struct sc_kernel *k, struct sc_view *view)
{
    int count = sc_kernel_is_work(k) ? sc_kernel_views(k, view) : 0;

    return count && views_are_valid(view, count) && sc_blas_serves(k->op, k->type) ? count : 0;
}

/* --- the decision ------------------------------------------------------------------------------------------------- */

static const struct sc_view *largest_of(const struct sc_view *view, int count)
{
    const struct sc_view *largest = view;

    for (int i = 1; i < count; i++)
        if (sc_view_bytes(&view[i]) > sc_view_bytes(largest))
            largest = &view[i];
    return largest;
}

/* A key for the array that contains the largest operand: a blocked algorithm passes a different block at each call. */
static uint64_t largest_key(const struct sc_view *view, int count)
{
    const struct sc_view *largest = largest_of(view, count);
    uintptr_t base;
    size_t bytes;

    if (!sc_coherence_block(largest->ptr, &base, &bytes)) {
        base = (uintptr_t)largest->ptr;
        bytes = sc_view_bytes(largest);
    }
    return sc_blas_array_key(base, bytes);
}

/* True when the matrix is on the devices.  A banded or packed matrix is not uploaded for a product that reads it
 * once. */
static bool matrix_is_resident(const struct sc_view *view, int count)
{
    struct sc_residency residency;

    sc_coherence_residency(largest_of(view, count), 1, &residency);
    return residency.device_bytes == residency.bytes;
}

static enum sc_columns columns_of(const struct sc_view *view, int count)
{
    for (int i = 0; i < count; i++)
        if (!view[i].vector && (size_t)view[i].ld * sc_type_bytes(view[i].type) % 16)
            return SC_COLUMNS_ODD;
    return SC_COLUMNS_ALIGNED;
}

bool (*sc_blas_around)(sc_blas_run *run, const struct sc_blas_order *order);

bool sc_blas_one_by_one(void) { return sc_blas_around || sc_explain_on; }

/* False for verified calls, which take longer and fetch data that no program would read. */
static bool is_timed(void) { return !sc_blas_around && sc_config.offload == SC_OFFLOAD_AUTO; }

/* Adds the history of an operand, from earlier calls, to the question. */
static void describe_history(const struct sc_view *view, bool away, bool absent, struct sc_autotuner_call *call)
{
    uint64_t maker = view->access & SC_READ ? sc_demand_writer(view->ptr) : 0;
    int want;

    if (maker && absent)
        sc_demand_host_wrote(view->ptr);
    else if (maker && away && maker != call->key)
        call->made_elsewhere += sc_view_bytes(view);
    if (!(view->access & SC_WRITE)) {
        call->openings += maker && away;
        return;
    }
    call->result_bytes += sc_view_bytes(view);
    want = sc_demand_of_result(view->ptr, call->op);
    if (want > 0) {
        call->back++;
        call->go_back += sc_view_bytes(view);
    }
    call->want = want > call->want ? want : call->want;
}

static void describe(const struct sc_view *view, int count, struct sc_autotuner_call *call)
{
    struct sc_residency residency;
    struct sc_fetched fetched;

    sc_coherence_residency(view, count, &residency);
    sc_coherence_fetched(view, count, &fetched);
    call->fetches = fetched.copies;
    call->came_home = fetched.bytes;
    if (is_timed()) {
        call->waited = fetched.seconds;
        sc_autotuner_waited(fetched.of_any);
    }
    call->bytes = residency.bytes;
    call->device_bytes = residency.device_bytes;
    call->device_only = residency.device_only;
    call->untracked = residency.untracked;
    call->overwritten = residency.overwritten;
    call->beside = residency.beside;
    call->reshaped = residency.reshaped;
    call->largest = residency.largest;
    call->holders = residency.holders;
    call->chosen = residency.chosen;
    call->arrivals = residency.arrivals;
    call->closings = residency.closings;
    call->key = largest_key(view, count);
    call->columns = sc_op_level(call->op) == 3 ? columns_of(view, count) : SC_COLUMNS_ANY;
    for (int i = 0; i < count; i++)
        describe_history(&view[i], residency.away >> i & 1, residency.absent >> i & 1, call);
    if (call->made_elsewhere > call->device_only)
        call->made_elsewhere = call->device_only;
}

/* Notes the call for later decisions.  want: the demand for its operands; 0 on the host. */
static void note(const struct sc_kernel *k, const struct sc_view *view, int count, uint64_t key, int want)
{
    for (int i = 0; i < count; i++)
        if (view[i].access & SC_READ)
            sc_demand_read(view[i].ptr, want);
    for (int i = 0; i < count; i++)
        if (view[i].access & SC_WRITE)
            sc_demand_written(view[i].ptr, k->op, want > 0 ? key : 0);
}

/* Fetches the data that a call on the host reads.  The fetch is part of the decision, and no sign of the program's
 * own accesses. */
static void fetch(const struct sc_view *view, int count)
{
    struct sc_fetched fetched;

    for (int i = 0; i < count; i++)
        if (view[i].access & SC_READ)
            sc_coherence_acquire_view(&view[i]);
    sc_coherence_fetched(view, count, &fetched);
    sc_autotuner_waited(fetched.of_any);
}

static struct sc_autotuner_call call_of(const struct sc_kernel *k, const struct sc_view *view, int count)
{
    struct sc_autotuner_call call = {.op = k->op, .type = k->type, .metric = sc_config.metric, .side = k->side,
                                     .launches = k->batch.items ? k->batch.items->shapes - 1 : 0,
                                     .uplo = k->uplo, .loops = k->loops, .m = k->m, .n = k->n, .k = k->k,
                                     .divides = sc_blas_together_possible(k), .operands = count, .view = view,
                                     .peers = sc_coherence_peer_ratio()};

    sc_machine_describe(sc_coherence_device_properties(0), sc_coherence_devices(), sc_blas_host_cores(), &call.machine);
    return call;
}

/* Fetches the array that contains the largest operand at once, instead of piece by piece over several calls. */
static void fetch_array(const struct sc_view *view, int count)
{
    uintptr_t base;
    size_t bytes;

    if (sc_coherence_block(largest_of(view, count)->ptr, &base, &bytes))
        sc_coherence_release_range(base, bytes);
}

static void ask(const struct sc_kernel *k, const struct sc_view *view, int count, bool once,
                struct sc_autotuner_call *call, struct sc_plan *plan)
{
    const struct sc_autotuner_prediction *p = &plan->predicted;
    struct sc_host_mean *mean;

    *call = call_of(k, view, count);
    call->once = once;
    call->absent = sc_config.offload == SC_OFFLOAD_AUTO && run_[k->op] == sc_blas_single &&
                   !matrix_is_resident(view, count);
    if (sc_config.offload == SC_OFFLOAD_AUTO && !call->absent)
        describe(view, count, call);
    sc_plan(call, sc_config.offload, plan);
    note(k, view, count, call->key, plan->want);
    if (call->absent)
        return;
    if (p->sold && !plan->devices)
        fetch_array(view, count);
    mean = sc_host_rates_of(call);
    sc_host_rates_expect(mean, plan->devices ? 0 : p->alone / sc_host_rates_factor(mean));
    if (!plan->devices && call->device_only)
        fetch(view, count);
}

/* Matrices of level 3 may be cut again.  A triangle of the result with beta = 0 has update access, for the blocks on
 * the diagonal. */
static enum sc_recut recut_of(const struct sc_kernel *k, const struct sc_view *view)
{
    bool renewed = view->access == SC_WRITE ||
                   (view->half && view->access != SC_READ && sc_kernel_output(k) == SC_WRITE);

    if (sc_op_level(k->op) != 3 || sc_op_is_sparse(k->op) || view->vector)
        return SC_RECUT_NEVER;
    return renewed ? SC_RECUT_HOME : SC_RECUT_ABSENT;
}

/* Cuts new matrices as planned.  When the devices share the sum, A and B are cut into strips along the sum. */
static void lay_out(const struct sc_kernel *k, struct sc_view *view, int count, const struct sc_plan *plan)
{
    for (int i = 0; i < count; i++) {
        view[i].recut = recut_of(k, &view[i]);
        view[i].passed_on = view[i].whole && view[i].half && k->side == 'L';
        view[i].spread = plan->operand[i].spread;
        view[i].tile_rows = plan->operand[i].tile_rows;
        view[i].tile_cols = plan->operand[i].tile_cols;
        if (plan->operand[i].strip) {
            view[i].block_rows = plan->operand[i].strip;
            view[i].block = plan->operand[i].width ? plan->operand[i].width : view[i].cols;
            view[i].reflected = plan->operand[i].reflected;
            view[i].tile_rows = view[i].spread;
            view[i].tile_cols = 1;
        }
    }
    if (plan->sums)
        view[1].split = k->transb == 'N' ? SC_SPLIT_ROWS : SC_SPLIT_COLS;
}

/* --- run it ------------------------------------------------------------------------------------------------------- */

static void record(int routine, const struct sc_view *view, int count)
{
    for (int i = 0; i < count; i++) {
        if (view[i].access & SC_READ)
            sc_count(&sc_stats.percall_in, sc_view_bytes(&view[i]));
        if (view[i].access & SC_WRITE)
            sc_count(&sc_stats.percall_out, sc_view_bytes(&view[i]));
    }
    sc_count(&sc_stats.offloaded[routine], 1);
}

/* The devices compute a part and push home what the host reads, while the caller's thread computes the rest. */
static enum sc_status run_parts(struct sc_blas_job *call, double host_share)
{
    const struct sc_operand *operand = call->operand;
    struct sc_producer producer;
    struct sc_blas_together together;
    bool larger = sc_blas_is_larger(call);
    bool split = host_share > 0 && !larger && sc_blas_together_begin(call, host_share, &together);
    enum sc_status status = larger ? sc_blas_larger(call) : run_[call->kernel->op](call), host;
    uint64_t pushed = sc_stats.pushed;

    producer = (struct sc_producer){.seconds = call->plan->exchange.seconds, .devices = call->plan->exchange.devices};
    sc_coherence_push(operand, call->operands, &producer);
    if (call->tried.trial.width) {
        call->tried.home = sc_stats.pushed != pushed;
        sc_blas_tried_end(&call->tried);
    }
    if (!split)
        return status;
    sc_count(&sc_stats.together, 1);
    host = sc_blas_together_end(&together);
    return status == SC_OK ? host : status;
}

static bool run(const struct sc_blas_order *order)
{
    const struct sc_kernel *k = order->kernel;
    struct sc_operand operand[3];
    struct sc_blas_job call = {.kernel = k, .operand = operand, .view = order->view, .operands = order->count,
                               .question = order->question, .plan = order->plan};
    enum sc_status status;

    if (sc_op_is_lapack(k->op))
        return sc_blas_lapack(&call);
    if (k->batch.count)
        return sc_blas_batch(&call);
    if (!run_[k->op])
        return sc_blas_reduce(&call, sc_blas_one_by_one());
    if (sc_coherence_begin(order->view, order->count, operand) != SC_OK)
        return false;
    status = run_parts(&call, order->plan->host_share);
    sc_coherence_end(operand, order->count);
    if (status == SC_ERR_UNSUPPORTED && run_[k->op] == sc_blas_single)
        return false;
    /* Tasks fall back to the host by themselves.  A status that is left here has no remedy and must be reported. */
    if (status != SC_OK)
        sc_log(SC_LOG_ERROR, "%s: a part of the call could not be computed (%s); results may be wrong",
               sc_op_name(k->op), sc_status_name(status));
    return true;
}

/* Measures from idle devices to idle devices.  No reduction is recalled: the prediction is for computing one. */
static bool run_explained(const struct sc_blas_order *order)
{
    double start;
    bool done;

    sc_blas_recall_forget();
    sc_coherence_drain();
    start = sc_explain_clock(sc_coherence_virtual_seconds());
    done = run(order);
    sc_coherence_drain();
    if (done)
        sc_explain_measured(sc_explain_clock(sc_coherence_virtual_seconds()) - start);
    return done;
}

/* Brings the operands home and opens their pages for writing in one batch, instead of by faults under the threads of
 * the host's BLAS. */
static void return_operands(const struct sc_view *view, int count)
{
    for (int i = 0; i < count; i++) {
        struct sc_view operand = view[i];

        operand.access = SC_READ | SC_WRITE;
        sc_coherence_acquire_view(&operand);
    }
}

static void remember(const struct sc_kernel *k, const struct sc_view *view, int count,
                     const struct sc_autotuner_call *call, struct sc_blas_home *home)
{
    if (sc_config.offload != SC_OFFLOAD_AUTO || sc_blas_around || !sc_plan_remember(call, &home->plan))
        return;
    home->op = k->op;
    home->count = count;
    home->largest = (int)(largest_of(view, count) - view);
    home->shared = false;
    home->outside = 0;
    for (int i = 0; i < count; i++) {
        enum sc_at_home where = SC_NOT_HOME;
        uintptr_t base;
        size_t bytes;

        home->operand[i] = view[i];
        home->span[i] = sc_view_span(&view[i]);
        if (home->span[i])
            where = sc_coherence_at_home(view[i].ptr, home->span[i], view[i].access, &base, &bytes);
        if (where == SC_NOT_HOME)
            home->count = 0;
        home->shared |= where == SC_SHARED;
        home->outside |= (unsigned)(where == SC_OUTSIDE) << i;
    }
    sc_coherence_residency(view, home->shared ? count : 0, &home->residency);
    if (home->shared && (home->residency.device_bytes != call->device_bytes || home->residency.device_only))
        home->count = 0;
}

static bool offload(int routine, const struct sc_kernel *k, bool once, struct sc_blas_home *home)
{
    struct sc_autotuner_call call;
    struct sc_view view[SC_VIEWS_MAX];
    struct sc_plan plan;
    int count = operands_of(k, view);
    struct sc_blas_order order = {.kernel = k, .view = view, .count = count, .question = &call, .plan = &plan};
    double since;
    bool done;

    if (!count || (sc_blas_around && k->batch.items)) /* verification bounds products one by one */
        return false;
    ask(k, view, count, once, &call, &plan);
    if (!plan.devices && home)
        remember(k, view, count, &call, home);
    if (!plan.devices)
        return false;
    since = sc_coherence_host_clock();
    lay_out(k, view, count, &plan);
    done = sc_blas_around ? sc_blas_around(run, &order) : sc_explain_on ? run_explained(&order) : run(&order);
    if (done && once)
        return_operands(view, count);
    if (done && is_timed())
        sc_autotuner_took(call.key, &plan.predicted, sc_coherence_host_clock() - since);
    if (done)
        record(routine, view, count);
    else
        note(k, view, count, 0, 0);
    return done;
}

bool sc_blas_offload(int routine, const struct sc_kernel *kernel, bool once, struct sc_blas_home *home)
{
    uint16_t outer = sc_trace_routine;
    bool done;

    sc_quiet_enter(); /* for a reduction, longer than the lock is held */
    sc_inside_enter();
    sc_trace_routine = (uint16_t)routine;
    done = offload(routine, kernel, once && sc_config.offload == SC_OFFLOAD_AUTO, home);
    sc_trace_routine = outer;
    sc_inside_leave();
    sc_quiet_leave();
    return done;
}

bool sc_blas_predict(const struct sc_kernel *k, struct sc_autotuner_call *call,
                     struct sc_autotuner_prediction *prediction)
{
    struct sc_view view[SC_VIEWS_MAX];
    int count = operands_of(k, view);

    if (!count)
        return false;
    *call = call_of(k, view, count);
    describe(view, count, call);
    sc_autotuner_predict(call, prediction);
    return true;
}

bool sc_blas_on_devices(const struct sc_kernel *k)
{
    struct sc_autotuner_call call;
    struct sc_plan plan = {0};
    struct sc_view view[SC_VIEWS_MAX];
    int count = operands_of(k, view);
    double in;
    bool done;

    if (!count)
        return false;
    sc_quiet_enter();
    sc_inside_enter();
    call = call_of(k, view, count);
    describe(view, count, &call);
    if (sc_config.offload == SC_OFFLOAD_AUTO)
        plan.spread = sc_plan_devices(&call, &in);
    sc_plan_layout(&call, sc_config.offload, &plan);
    lay_out(k, view, count, &plan);
    done = run(&(struct sc_blas_order){.kernel = k, .view = view, .count = count, .question = &call, .plan = &plan});
    sc_inside_leave();
    sc_quiet_leave();
    return done;
}
/* SPDX-License-Identifier: BSD-2-Clause */
