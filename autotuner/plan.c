#include "autotuner/plan.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "autotuner/columns.h"
#include "autotuner/decide.h"
#include "autotuner/demand.h"
#include "autotuner/explain.h"
#include "autotuner/host_rates.h"
#include "autotuner/opening.h"
#include "autotuner/policy.h"
#include "autotuner/schedule.h"
#include "autotuner/strips.h"
#include "base/page.h"

/* --- predictions that are remembered ------------------------------------------------------------------------------ */

#define PLANS 64 /* 6 bits: entry_of */
#define KEY_BYTES offsetof(struct sc_autotuner_call, want)

static struct plan_entry {
    bool used;
    uint16_t policy;
    struct sc_autotuner_call question; /* as far as KEY_BYTES */
    struct sc_autotuner_prediction predicted;
} plans[PLANS];
static unsigned plans_epoch; /* number of resets */
static char plans_busy; /* threads that find the flag set plan without memory, so no thread waits */

static struct plan_entry *entry_of(const struct sc_autotuner_call *q)
{
    static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = (uint64_t)q->op * SC_TYPES + q->type;

    hash = (hash * odd + (uint64_t)q->m) * odd + (uint64_t)q->n;
    hash = (hash * odd + (uint64_t)q->k) * odd + q->device_bytes;
    hash = (hash * odd + q->device_only) * odd;
    return &plans[hash >> 58];
}

/* The prediction without history, remembered by question and settings. */
static void look_up(const struct sc_autotuner_call *q, struct sc_autotuner_prediction *out)
{
    struct plan_entry *e = entry_of(q);

    if (__atomic_test_and_set(&plans_busy, __ATOMIC_ACQUIRE)) {
        sc_predict_anew(q, out);
        return;
    }
    if (!e->used || e->policy != sc_autotuner_policy(q->metric) || memcmp(&e->question, q, KEY_BYTES) != 0) {
        sc_predict_anew(q, &e->predicted);
        memcpy(&e->question, q, KEY_BYTES);
        e->policy = sc_autotuner_policy(q->metric);
        e->used = true;
    }
    *out = e->predicted;
    __atomic_clear(&plans_busy, __ATOMIC_RELEASE);
}

void sc_autotuner_predict(const struct sc_autotuner_call *q, struct sc_autotuner_prediction *out)
{
    look_up(q, out);
    sc_predict_history(q, out);
    if (!sc_op_is_sparse(q->op))
        out->alone *= sc_host_rates_factor(sc_host_rates_of(q));
    out->host += out->alone;
}

void sc_plans_reset(void)
{
    memset(plans, 0, sizeof plans);
    __atomic_fetch_add(&plans_epoch, 1, __ATOMIC_RELEASE);
}

void sc_autotuner_reset(void)
{
    sc_plans_reset();
    sc_decide_reset();
    sc_opening_reset();
    sc_host_rates_reset();
    sc_trials_reset();
    sc_demand_reset();
}

/* --- new matrices ------------------------------------------------------------------------------------------------- */

/* Cuts thin operands along C, because blocks of a C in both directions need rows of A and columns of B. */
static void cut_thin(const struct sc_autotuner_call *q, struct sc_plan *plan)
{
    for (int i = 0; i < 2; i++)
        if (!plan->operand[i].tile_rows)
            sc_schedule_grid(SC_STRATEGY_CYCLIC, plan->operand[i].spread, 0, q->view[i].rows, q->view[i].cols,
                             false, &plan->operand[i].tile_rows, &plan->operand[i].tile_cols);
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

/* Strips of rows of a triangular result over all devices. In an upper triangle the columns of many short strips are
 * finished late (bench/strips -r syrk, -l LU). */
#define STRIPS_OF_LOWER 16
#define STRIPS_OF_UPPER 8
#define PARTS 4           /* of a sum that all blocks use part by part */
#define PARTS_OF_LOWER 3  /* with one factor */
#define PARTS_ADDED 2     /* of a lower triangle with one factor that goes up, too */
#define ADDED_LEAST 16384 /* width of such a part */
#define ONE_FACTOR_FOR 4  /* devices at most */
#define STRIPS_FOR_TWO 4  /* factors and each device, at most: the last strips are wide enough for efficient kernels */
#define STRIP_LEAST 1024 /* rows: shorter columns are slow on the host's links */
/* Blocks of a result for each device, for strategies that deal blocks out. A strip of trmm or trsm is one block. */
#define BLOCKS_A_DEVICE 2
#define STRIPS_A_DEVICE 4
#define LITTLE 4          /* times fewer elements to add up than to upload: then devices share a sum */
#define SUM_LEAST 512     /* width of a strip of C while devices share the sum and A or B arrives by columns */

/* Whether all blocks of a rank update use a part of the sum before the next part arrives.  The result then goes home
 * behind the last part: line by line is faster where its transfers take longest, with a short sum, or with a single
 * factor on many devices or in few strips. */
static bool goes_by_sum(const struct sc_autotuner_call *q)
{
    int devices = q->machine.devices, last = q->operands - 1;
    bool rank = sc_op_level(q->op) == 3 && !sc_op_has_side(q->op) && last > 0 && q->view[last].half;

    for (int i = 0; i < last && rank; i++)
        rank = q->view[i].split == SC_SPLIT_ROWS;
    return rank && devices > 1 && (devices > 2 ? q->k : 2 * q->k) >= q->n &&
           (last > 1 || (devices <= ONE_FACTOR_FOR && q->n >= 2 * devices * STRIP_LEAST));
}

/* `parts` parts of the sum, in whole strips. */
static int64_t width_of_part(int64_t sum, int parts)
{
    int64_t strips = (sum + parts * SC_STRIPS_USUAL - 1) / (parts * SC_STRIPS_USUAL);

    return strips * SC_STRIPS_USUAL;
}

/* Width of the parts of a sum that all blocks use, a part before the next.  Narrow parts let kernels start early.  Wide
 * parts let finished lines of a lower triangle go home while other blocks are computed: with one factor, and more so if
 * the result goes up, too, and the kernels take no longer than the transfers. */
static void set_parts(const struct sc_autotuner_call *q, struct sc_plan *plan)
{
    bool lower = q->operands == 2 && q->uplo != 'U'; /* of one factor */
    int64_t added = width_of_part(q->k, lower ? PARTS_ADDED : PARTS);

    plan->arriving.part = width_of_part(q->k, lower ? PARTS_OF_LOWER : PARTS);
    plan->arriving.part_added = lower && added < ADDED_LEAST ? ADDED_LEAST : added;
}

/* With several devices a triangular result is cut into the devices' parts already, and a schedule of its strips assumes
 * that strips stay on their device. */
static void set_arriving(const struct sc_autotuner_call *q, struct sc_plan *plan)
{
    bool several = q->machine.devices > 1;

    plan->arriving.bytes = plan->larger.room ? UINT64_MAX : SC_PIPELINE_BYTES;
    plan->arriving.sum = SC_STRIPS_USUAL;
    plan->arriving.part = plan->arriving.part_added = 0;
    if (goes_by_sum(q))
        set_parts(q, plan);
    plan->arriving.triangle = sc_op_has_side(q->op) || !several ? SC_STRIPS_BLOCK : 0;
}

#define TILES_ALONG 20 /* in a direction, of the tiles of matrices that do not fit, while a device is full */

/* Tiles of whole pages (rule D3). */
static int tiles_of(int64_t extent, double edge, size_t element)
{
    int64_t pages = (int64_t)(edge * (double)element) / SC_PAGE, all = (extent * (int64_t)element - 1) / SC_PAGE + 1;

    return (int)((all - 1) / (pages > 0 ? pages : 1) + 1);
}

/* With A on the right side, the rows of B have nothing in common: a device keeps its rows, unless links between the
 * devices bring the parts of B.  trmm reads slices of B before the products overwrite the slices: in a grid of one
 * row of devices, slices would evict each other. */
static void deal_rows(const struct sc_autotuner_call *q, double edge, struct sc_plan *plan)
{
    const int64_t page = SC_PAGE / (int64_t)sc_type_bytes(q->type);
    int last = q->operands - 1, down, across;

    if (!sc_op_has_side(q->op) || q->side != 'R' || q->machine.devices < 2 || sc_config.schedule != SC_STRATEGY_AUTO)
        return;
    sc_device_grid(q->machine.devices, &down, &across);
    if (!plan->larger.apart && (q->op != SC_OP_TRMM || down > 1))
        return;
    plan->larger.by_rows = true;
    plan->operand[last].width = edge < 1 ? 1 : (int64_t)edge;
    plan->operand[last].strip = edge < (double)page ? page : (int64_t)edge / page * page;
}

/* A device needs its part of the result, and the other operands.  A call that needs more room runs in parts
 * (blas/run/larger.c), for which its new matrices are cut into squares. */
static void set_larger(const struct sc_autotuner_call *q, struct sc_plan *plan)
{
    uint64_t room = sc_machine_room(&q->machine), need = 0;
    size_t element = sc_type_bytes(q->type);
    double edge;

    for (int i = 0; i < q->operands; i++) {
        uint64_t bytes = sc_view_bytes(&q->view[i]) / (q->view[i].half ? 2 : 1);

        need += q->view[i].access & SC_WRITE ? bytes / (uint64_t)q->machine.devices : bytes;
    }
    plan->larger.by_rows = false;
    plan->larger.apart = q->machine.devices > 1 && q->peers <= 0;
    if (need <= room) {
        plan->larger.room = 0;
        return;
    }
    plan->larger.room = sc_machine_room_in_parts(&q->machine);
    plan->sums = false;
    edge = sqrt((double)plan->larger.room / (double)element) / TILES_ALONG;
    for (int i = 0; i < q->operands; i++) {
        plan->operand[i].tile_rows = tiles_of(q->view[i].rows, edge, element);
        plan->operand[i].tile_cols = tiles_of(q->view[i].cols, edge, element);
        plan->operand[i].strip = 0;
    }
    deal_rows(q, edge, plan);
}

static int blocks_a_device(enum sc_op op)
{
    return op == SC_OP_TRMM || op == SC_OP_TRSM ? STRIPS_A_DEVICE : BLOCKS_A_DEVICE;
}

static void set_limits(const struct sc_autotuner_call *q, enum sc_offload mode, struct sc_plan *plan)
{
    bool always = mode == SC_OFFLOAD_ALWAYS;
    int devices = q->machine.devices;

    set_larger(q, plan);
    set_arriving(q, plan);
    plan->assigns = devices > 1 && !sc_schedule_owns(sc_config.schedule);
    plan->blocks.count = plan->assigns && sc_config.schedule != SC_STRATEGY_AUTO ? blocks_a_device(q->op) * devices : 0;
    plan->blocks.least = always ? 1 : SC_STRIPS_USUAL / 2;
    plan->sum.whole = q->op == SC_OP_GEMM && !plan->larger.room &&
                      sc_schedule_sums(sc_config.schedule, devices, q->m, q->n, q->k, always);
    plan->sum.little = LITTLE;
    plan->sum.least = SUM_LEAST;
}

/* Factorizations of LAPACK: the matrix is dealt out by blocks of columns. */
static void lay_columns(const struct sc_autotuner_call *q, enum sc_offload mode, struct sc_plan *plan)
{
    bool always = mode == SC_OFFLOAD_ALWAYS;
    int devices = plan->predicted.devices;
    struct sc_column_blocks columns;

    if (sc_column_blocks_solve(q->op))
        devices = sc_column_blocks_of_factors(q);
    if (!devices || always)
        devices = sc_plan_spread(sc_view_bytes(&q->view[0]), q->machine.devices, mode);
    sc_column_blocks_on(q, devices, always, &columns);
    plan->columns.block = columns.block;
    plan->columns.group = columns.group;
    plan->columns.at_blocks = columns.at_blocks;
    if (columns.block)
        plan->operand[0].spread = devices;
    if (columns.block && !columns.at_blocks)
        plan->operand[1].spread = devices;
}

/* Rows of the strips that a triangular result and its factors are dealt out in; 0: one strip for each device. One strip
 * for each device would give the last device of D the (2 D - 1)-fold work of the first.  More than two devices prefer
 * fewer strips to one strip each (virtual time, n = 8192, four H200s: dsyrk 7.07 to 6.38 ms, dsyr2k 12.56 to 11.88; two
 * H200s: dsyr2k 18.5 to 20.3). */
static int64_t rows_of_strips(const struct sc_autotuner_call *q, bool by_sum, bool any_size)
{
    const struct sc_view *result = &q->view[q->operands - 1];
    int devices = q->machine.devices, strips = q->uplo == 'U' ? STRIPS_OF_UPPER : STRIPS_OF_LOWER;

    if ((devices > 2 || by_sum) && !any_size && result->rows / STRIP_LEAST < strips)
        strips = (int)(result->rows / STRIP_LEAST) / devices * devices;
    if (by_sum && q->operands > 2 && strips > STRIPS_FOR_TWO * devices)
        strips = STRIPS_FOR_TWO * devices;
    if (strips < 2 * devices)
        strips = 2 * devices;
    return result->rows / strips >= (any_size ? 1 : STRIP_LEAST) ? (result->rows + strips - 1) / strips : 0;
}

/* Rows of the strips that a triangle on the left comes in, over the links of all devices; 0: one strip for each device.
 * One strip each would give the last link (2 D - 1) times the bytes of the first, and the part of A that the first
 * tasks read would come over one link.  Tasks on resident data are smaller with strips: symm then takes 1.05 times as
 * long, and gains no more than this on more than two devices. */
static int64_t rows_of_triangle(const struct sc_autotuner_call *q, bool any_size)
{
    int strips = 2 * q->machine.devices;
    int64_t rows = (q->view[0].rows + strips - 1) / strips;
    bool gains = q->op == SC_OP_TRMM || q->op == SC_OP_TRSM || q->machine.devices == 2;

    return gains && rows >= (any_size ? 1 : STRIP_LEAST) ? rows : 0;
}

static void deal_strips(const struct sc_autotuner_call *q, bool any_size, struct sc_plan *plan)
{
    bool deals = sc_op_level(q->op) == 3 && q->operands > 0 && sc_config.schedule == SC_STRATEGY_AUTO;
    bool by_sum = goes_by_sum(q), triangle = deals && sc_op_has_side(q->op) && q->side == 'L';
    int64_t rows = 0;

    if (deals && q->view[q->operands - 1].half)
        rows = rows_of_strips(q, by_sum, any_size);
    for (int i = 0; i < q->operands; i++) {
        bool dealt = plan->operand[i].spread > 1 && !plan->operand[i].tile_rows && q->view[i].split == SC_SPLIT_ROWS;

        plan->operand[i].strip = !dealt ? 0 : triangle && !i ? rows_of_triangle(q, any_size) : rows;
        plan->operand[i].reflected = by_sum;
        plan->operand[i].width = 0;
    }
}

/* A vector is spread as the matrix of its call, so that the boundaries agree (rule D3). */
void sc_plan_layout(const struct sc_autotuner_call *q, enum sc_offload mode, struct sc_plan *plan)
{
    bool always = mode == SC_OFFLOAD_ALWAYS;
    uint64_t most = 0;

    for (int i = 0; i < q->operands; i++) {
        uint64_t bytes = sc_view_bytes(&q->view[i]);

        most = bytes > most ? bytes : most;
    }
    for (int i = 0; i < q->operands; i++) {
        uint64_t bytes = q->view[i].vector ? most : sc_view_bytes(&q->view[i]);
        int *rows = &plan->operand[i].tile_rows, *cols = &plan->operand[i].tile_cols;

        plan->operand[i].spread = plan->spread                ? plan->spread
                                  : sc_op_level(q->op) == 1 ? sc_plan_spread_vector(bytes, q->machine.devices, mode)
                                                            : sc_plan_spread(bytes, q->machine.devices, mode);
        if (sc_op_is_lapack(q->op)) /* one task, or lay_columns */
            plan->operand[i].spread = 1;
        *rows = *cols = 0;
        if (!q->view[i].vector && sc_op_level(q->op) == 3)
            sc_schedule_grid(sc_config.schedule, plan->operand[i].spread, q->peers, q->view[i].rows,
                             q->view[i].cols, always, rows, cols);
    }
    deal_strips(q, always, plan);
    plan->sums = q->op == SC_OP_GEMM &&
                 sc_schedule_sums(sc_config.schedule, plan->operand[0].spread, q->m, q->n, q->k, always);
    for (int i = 0; i < q->operands && plan->sums; i++) /* every device has a C of its own */
        plan->operand[i].tile_rows = plan->operand[i].tile_cols = 0;
    if (q->op == SC_OP_GEMM && !plan->sums && plan->operand[2].tile_rows)
        cut_thin(q, plan);
    plan->exchange.devices = q->machine.devices;
    if (q->machine.devices > 1)
        plan->exchange.seconds = plan->predicted.kernels > 0
                                     ? plan->predicted.kernels
                                     : sc_predict_kernels(q, q->m, q->n, q->k, q->machine.devices);
    if (sc_op_level(q->op) == 3)
        set_limits(q, mode, plan);
    if (sc_op_is_lapack(q->op))
        lay_columns(q, mode, plan);
}

/* --- the host beside the devices ---------------------------------------------------------------------------------- */

#define PAYS 1.05       /* times as long without the host; a smaller gain is noise */
#define LEAST_SHARE 0.01
#define LEAST_SECONDS 1e-3 /* shorter calls end before the host BLAS has woken its threads */
#define LEAST_FLOPS 1e8    /* every device is faster with less work */

/* Seconds of the host without fetches: the host takes part only if all operands are at home. */
static double host_seconds(const struct sc_autotuner_prediction *p) { return p->host - p->fetch; }

/* The devices' kernels shrink with their share, together with the hidden transfers. The other transfers stay, mostly of
 * operands that every column needs. */
void sc_autotuner_together(const struct sc_autotuner_prediction *p, double share, struct sc_autotuner_together *out)
{
    out->share = share;
    out->alone = p->device + p->move - p->overlap;
    out->devices = out->alone - share * (p->device - p->overlap);
    out->host = share * host_seconds(p);
    if (p->kept) /* the host's part of a resident result is uploaded later */
        out->devices += share * p->result;
}

/* The share for which host and devices end at the same time. */
double sc_autotuner_balance(const struct sc_autotuner_prediction *p)
{
    double alone = p->device + p->move - p->overlap, back = p->kept ? p->result : 0;
    double per_share = host_seconds(p) + p->device - p->overlap - back;

    return per_share > alone ? alone / per_share : 0;
}

/* False for several ranks: they share the processors that one process alone has measured. */
static bool by_itself(const struct sc_autotuner_call *call)
{
    return !call->machine.emulated && call->metric == SC_METRIC_PERF && sc_config.ranks < 2 &&
           sc_autotuner_flops(call) >= LEAST_FLOPS;
}

double sc_autotuner_host_share(const struct sc_autotuner_call *call, enum sc_offload mode,
                               const struct sc_autotuner_prediction *p)
{
    struct sc_autotuner_together t;
    bool forced = sc_config.host_share >= 0;

    if (sc_config.host_share == 0 || (!forced && !by_itself(call)))
        return 0;
    if (mode != SC_OFFLOAD_AUTO)
        return forced ? sc_config.host_share / 100.0 : 0;
    sc_autotuner_together(p, forced ? sc_config.host_share / 100.0 : sc_autotuner_balance(p), &t);
    if (!forced && (t.share < LEAST_SHARE || t.alone < LEAST_SECONDS || t.alone < PAYS * t.devices))
        return 0;
    if (__builtin_expect(sc_explain_on, 0))
        sc_explain_together(&t);
    return t.share;
}

/* --- the plan ----------------------------------------------------------------------------------------------------- */

void sc_plan(const struct sc_autotuner_call *q, enum sc_offload mode, struct sc_plan *plan)
{
    *plan = (struct sc_plan){0};
    if (mode == SC_OFFLOAD_NEVER || q->machine.devices < 1 || q->absent)
        return;
    plan->devices = mode == SC_OFFLOAD_ALWAYS;
    if (!plan->devices) {
        sc_autotuner_predict(q, &plan->predicted);
        plan->devices = sc_decide(q, &plan->predicted);
    }
    if (!plan->devices)
        return;
    plan->want = q->once ? 0 : sc_autotuner_wants(&plan->predicted, q->want);
    plan->spread = plan->predicted.planned;
    sc_plan_layout(q, mode, plan);
    if (q->divides)
        plan->host_share = sc_autotuner_host_share(q, mode, &plan->predicted);
}

/* --- calls that stay on the host ---------------------------------------------------------------------------------- */

/* True when nothing but the call's shape, the copies on devices and the machine decides, as for all later calls with
 * operands at home. */
static bool is_plain(const struct sc_autotuner_call *q)
{
    return !(q->device_only | q->reshaped) && !q->back && !q->openings && !q->want &&
           !q->account && !q->stays;
}

bool sc_plan_remember(const struct sc_autotuner_call *q, struct sc_plan_home *out)
{
    out->epoch = __atomic_load_n(&plans_epoch, __ATOMIC_ACQUIRE);
    out->database = q->machine.database;
    out->policy = sc_autotuner_policy(q->metric);
    out->metric = q->metric;
    out->once = q->once;
    out->absent = q->absent;
    out->chosen = q->chosen;
    if (q->absent)
        return true;
    if (!is_plain(q))
        return false;
    look_up(q, &out->predicted);
    out->mean = sc_host_rates_of(q);
    return true;
}

bool sc_plan_stays(const struct sc_plan_home *home, uint64_t array)
{
    struct sc_autotuner_prediction p;

    if (home->epoch != __atomic_load_n(&plans_epoch, __ATOMIC_ACQUIRE) || home->database != sc_autotuner_database() ||
        home->policy != sc_autotuner_policy(home->metric))
        return false;
    if (home->absent)
        return true;
    p = home->predicted;
    p.alone *= sc_host_rates_factor(home->mean);
    p.host += p.alone;
    p.chosen = home->chosen;
    if (!sc_decide_stays(sc_autotuner_keyed(array, home->metric), home->once, &p))
        return false;
    sc_host_rates_expect(home->mean, home->predicted.alone);
    return true;
}
/* SPDX-License-Identifier: BSD-2-Clause */
