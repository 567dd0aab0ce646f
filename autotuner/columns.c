#include "autotuner/columns.h"

#include <math.h>

#define PAYS 1.15  /* times as long with fewer devices; a smaller gain is lost by tasks of the next routine */
#define LEAST 512  /* columns of a block */
#define SAMPLES 16 /* steps of a factorization that stand for all steps */
#define ARRIVALS 6 /* groups of a matrix that arrives */
#define GROUP 0.6 /* of the memory of the devices for operands; the rest is for finished blocks that pass by */

static double larger(double a, double b) { return a > b ? a : b; }

/* The factorization `of` that a routine contains, or the routine itself: a solution.  A product of the factors takes
 * the steps of `of` in another order. */
static const struct {
    enum sc_op op, of;
} routines[] = {
    {SC_OP_POTRF, SC_OP_POTRF}, {SC_OP_POSV, SC_OP_POTRF}, {SC_OP_POTRS, SC_OP_POTRS}, {SC_OP_TRTRI, SC_OP_TRTRI},
    {SC_OP_GETRF, SC_OP_GETRF}, {SC_OP_GESV, SC_OP_GETRF}, {SC_OP_GETRS, SC_OP_GETRS}, {SC_OP_GEQRF, SC_OP_GEQRF},
    {SC_OP_POTRI, SC_OP_TRTRI}, {SC_OP_LAUUM, SC_OP_TRTRI}, {SC_OP_ORGQR, SC_OP_GEQRF},
    {SC_OP_GETRI, SC_OP_GETRI},
};

bool sc_column_blocks_solve(enum sc_op op) { return op == SC_OP_POTRS || op == SC_OP_GETRS; }

/* A factorization in numbers: elements, seconds, flop/s, bytes/s. */
struct shape {
    enum sc_op op;
    double rows, cols, element;
    double flops; /* real operations of a product of two numbers and of a sum */
    double rate, peer, task;
    double update; /* flop/s of updates */
};

static bool describe(const struct sc_autotuner_call *call, struct shape *s)
{
    const struct sc_machine *machine = &call->machine;
    size_t i = 0, count = sizeof routines / sizeof *routines;

    while (i < count && routines[i].op != call->op)
        i++;
    if (i == count || (call->op == SC_OP_ORGQR && call->k < call->n)) /* else Q has columns without reflectors */
        return false;
    *s = (struct shape){.op = routines[i].of, .rows = (double)call->m, .cols = (double)call->n,
                        .element = (double)sc_type_bytes(call->type),
                        .flops = sc_type_is_complex(call->type) ? 8 : 2, .task = sc_machine_task(machine->database),
                        .rate = sc_machine_gemm_flops(machine) * (call->type == SC_S || call->type == SC_C ? 2 : 1)};
    s->update = s->rate * (s->op == SC_OP_GEQRF ? SC_REFLECTORS : 1);
    s->peer = sc_machine_host_rate(machine, SC_SET_DOWN, 1) * (call->peers > 0 ? call->peers : 0.5);
    return true;
}

/* Real operations for the last `cols` columns and their rows. */
static double flops_of(const struct shape *s, double cols)
{
    double rows = s->rows - s->cols + cols;

    return cols > 0 && rows > 0 ? s->flops * sc_op_work(s->op, 'L', rows, cols, 0) : 0;
}

/* Seconds of a block that was updated, with all rows. */
static double panel_seconds(const struct shape *s, double block)
{
    bool square = s->op == SC_OP_POTRF || s->op == SC_OP_TRTRI; /* only the diagonal block is factored */
    double below = square ? s->flops / 2 * block * block * s->rows / s->rate : 0;
    double rows = square ? block : s->rows; /* of LU with all rows */

    return below + sc_device_lapack_seconds(s->op, s->flops * sc_op_work(s->op, 'L', rows, block, 0), s->rate);
}

/* Seconds of all steps.  In a step the devices share the work.  A chain of small works runs beside: the next block is
 * updated and finished, and travels. */
static double step_seconds(const struct shape *s, double block, int devices)
{
    double panel = panel_seconds(s, block), send = devices > 1 ? s->rows * s->element * block / s->peer : 0;
    double steps = ceil(s->cols / block), sum = 0;

    for (int i = 0; i < SAMPLES; i++) {
        double left = s->cols * (1 - (i + 0.5) / SAMPLES), part = larger(s->rows - s->cols + left, 0) / s->rows;
        double work = (flops_of(s, left) - flops_of(s, left - block)) / s->update / devices;
        double next = s->flops * (s->op == SC_OP_GEQRF ? 2 : 1) * block * block * part * s->rows / s->update;
        double chain = panel * part + send + (devices > 1 ? next : work);

        sum += larger(larger(chain, work), 2 * left / block * s->task);
    }
    return sum * steps / SAMPLES;
}

/* Most of a matrix to factor is at home.  Its groups are factored as they arrive. */
static bool arrives(const struct sc_autotuner_call *call, const struct shape *s)
{
    return s->op == SC_OP_POTRF && 2 * call->device_bytes < call->bytes;
}

/* Columns that the devices hold together, and seconds of the finished columns that pass by. */
static int64_t group_of(const struct sc_autotuner_call *call, const struct shape *s, int devices, double *pass)
{
    double column = s->rows * s->element, room = devices * sc_machine_room(&call->machine), groups, columns;

    *pass = 0;
    if (column * s->cols <= room)
        return arrives(call, s) ? (call->n + ARRIVALS - 1) / ARRIVALS : call->n;
    columns = larger(floor(GROUP * room / column), 1);
    groups = ceil(s->cols / columns);
    *pass = column * columns * groups * (groups - 1) / 2 /
            sc_machine_host_rate(&call->machine, SC_SET_DOWN, devices);
    return (int64_t)columns;
}

/* Right sides travel from block to block, and the devices work one after the other; or the devices have parts of the
 * right sides, and the blocks travel. */
static bool is_at_blocks(const struct sc_autotuner_call *call, const struct shape *s, int devices)
{
    double work = s->flops * s->cols * s->cols * (double)call->k / s->rate;

    return work * (devices - 1) / devices <= s->cols * s->cols * s->element / s->peer;
}

/* Seconds of an inverse by LU factors: each device solves for its part of the identity, and has all of the factors. */
static double inverse_seconds(const struct shape *s, int devices)
{
    double matrix = s->cols * s->cols;

    return larger(s->flops * matrix * s->cols / s->rate / devices,
                  matrix * s->element * (devices - 1) / devices / s->peer);
}

/* The operands fit into one device, with the matrix in one piece. */
static bool fits_one(const struct sc_autotuner_call *call, const struct shape *s)
{
    uint64_t matrix = (uint64_t)(s->rows * s->cols * s->element);

    return matrix <= sc_machine_tile(&call->machine) &&
           sc_machine_has_room(&call->machine, call->bytes > matrix ? call->bytes : matrix);
}

void sc_column_blocks_on(const struct sc_autotuner_call *call, int devices, bool any_size, struct sc_column_blocks *out)
{
    struct shape s;
    double pass;

    *out = (struct sc_column_blocks){.seconds = sc_device_lapack_seconds(
                                   call->op, sc_autotuner_flops(call),
                                   sc_machine_gemm_flops(&call->machine) *
                                       (call->type == SC_S || call->type == SC_C ? 2 : 1))};
    if (!describe(call, &s))
        return;
    if (fits_one(call, &s) && (devices < 2 || (!any_size && call->n < 2 * LEAST)))
        return;
    if (s.op == SC_OP_GETRI && 2 * s.rows * s.cols * s.element > devices * sc_machine_room(&call->machine))
        return;
    out->at_blocks = s.op != SC_OP_GETRI && is_at_blocks(call, &s, devices);
    out->group = group_of(call, &s, devices, &pass);
    out->block = LEAST;
    if (!sc_column_blocks_solve(call->op))
        out->seconds = HUGE_VAL;
    for (int64_t block = LEAST; block <= 4 * LEAST && !sc_column_blocks_solve(call->op); block *= 2) {
        double passes = call->op == SC_OP_POTRI ? 2 : 1; /* the inverse of the triangle, then the product */
        double steps = s.op == SC_OP_GETRI ? inverse_seconds(&s, devices) : step_seconds(&s, (double)block, devices);
        double seconds = passes * larger(steps, pass);

        if (seconds < out->seconds) {
            out->seconds = seconds;
            out->block = block;
        }
    }
    if (any_size && call->n / 8 < out->block)
        out->block = call->n < 8 ? 1 : call->n / 8;
    if (out->block > out->group)
        out->block = out->group;
}

/* Seconds with the upload, beside which blocks are computed as they arrive. */
static double seconds_from_home(const struct sc_autotuner_call *call, int devices)
{
    double in = (double)call->bytes / sc_machine_host_rate(&call->machine, SC_SET_DOWN, devices);
    struct sc_column_blocks c;

    sc_column_blocks_on(call, devices, false, &c);
    return c.block ? larger(c.seconds, in) : c.seconds + in;
}

int sc_column_blocks_of_factors(const struct sc_autotuner_call *call)
{
    struct shape s;

    if (call->holders > 1)
        return call->holders;
    return describe(call, &s) && !fits_one(call, &s) ? call->machine.devices : 1;
}

/* With an energy metric a device counts as one watt. */
int sc_column_blocks_devices(const struct sc_autotuner_call *call)
{
    double least = HUGE_VAL;
    struct shape s;
    int best = 1;

    if (!describe(call, &s) || sc_column_blocks_solve(call->op))
        return 1;
    for (int devices = 1; devices <= call->machine.devices; devices++) {
        double seconds = seconds_from_home(call, devices);
        double cost = call->metric == SC_METRIC_PERF ? seconds : seconds * devices;

        cost *= call->metric == SC_METRIC_EDP ? seconds : 1;
        if (cost * PAYS < least) {
            least = cost;
            best = devices;
        }
    }
    return best;
}
/* SPDX-License-Identifier: BSD-2-Clause */
