/* The second part of a plan (rule A1): places of blocks and widths of strips, from the cuts of existing matrices and
 * the residency of each block. Pure, except for the trials of widths (trials.h) and the rates of the database. */
#include <string.h>

#include "autotuner/decide.h"
#include "autotuner/plan.h"

static double smaller(double a, double b) { return a < b ? a : b; }

/* --- places of blocks --------------------------------------------------------------------------------------------- */

/* True if the blocks are spread evenly over devices of the same speed, or, where a block is several pieces, if the
 * pieces are at home. A search for better places would then gain nothing. */
static bool is_in_place(const struct sc_plan_found *found)
{
    const struct sc_schedule *b = &found->blocks;
    double work[SC_DEVICES_MAX] = {0}, rate[SC_DEVICES_MAX];
    bool at_home = true;

    for (int d = 0; d < b->devices; d++)
        rate[d] = sc_machine_products(found->device[d], found->kernel->type);
    for (int at = 0; at < b->rows * b->cols; at++) {
        at_home = at_home && b->owner[at] == b->home[at];
        work[b->owner[at]] += b->work[at];
    }
    return sc_schedule_is_even(found->several ? NULL : work, rate, b->devices) && (!found->several || at_home);
}

/* Gives blocks in the same columns of a tile to the same device. A sector has every row of its tile, and would travel
 * between two devices that write to the sector. */
static void keep_together(const struct sc_plan_found *found)
{
    const struct sc_schedule *b = &found->blocks;

    for (int j = 0; j < b->cols; j++)
        for (int i = 1; i < b->rows; i++) {
            int *here = &b->device[i + j * b->rows];

            if (*here >= 0 && here[-1] >= 0 && found->row_joined[i])
                *here = here[-1];
        }
}

/* Work is counted in elements of the result; an element takes found->products products. */
static void assign(const struct sc_plan_found *found)
{
    const struct sc_database *db = found->call->machine.database;
    double products = found->products > 0 ? found->products : 1;
    struct sc_schedule s = found->blocks;
    struct sc_linkmap map;

    s.strategy = sc_config.schedule;
    s.link = found->device[0]->host_bandwidth;
    for (int d = 0; d < s.devices; d++)
        s.rate[d] = sc_machine_products(found->device[d], found->kernel->type) / products;
    if (db) {
        sc_places all = sc_place_bit(s.devices) - 1;

        sc_linkmap_load(&map, db);
        sc_linkmap_share(&map, db, all, all | sc_place_bit(SC_PLACE_HOST), 0);
        sc_linkmap_route(&map, sc_config.max_hops);
        s.map = &map;
    }
    sc_schedule_assign(&s);
    if (!found->stays)
        keep_together(found);
}

static bool place(const struct sc_plan_found *found, struct sc_plan *plan)
{
    plan->placed = plan->assigns && found->blocks.rows * found->blocks.cols > 0 &&
                   (sc_config.schedule != SC_STRATEGY_AUTO || !is_in_place(found));
    plan->steals = plan->placed && !found->stays && sc_schedule_steals(sc_config.schedule);
    if (!plan->placed)
        return true;
    if (!found->known)
        return false;
    assign(found);
    return true;
}

/* --- widths of strips --------------------------------------------------------------------------------------------- */

static int device_of(const struct sc_plan_found *found, const struct sc_plan *plan, int at)
{
    int device = plan->placed ? found->blocks.device[at] : -1;

    return device >= 0 ? device : found->blocks.owner[at];
}

/* Describes the device with the most blocks. The other devices finish no later. */
static void look_at_blocks(const struct sc_plan_found *found, const struct sc_plan *plan, struct sc_strips *s)
{
    const struct sc_schedule *b = &found->blocks;
    int blocks[SC_DEVICES_MAX] = {0}, parts[SC_DEVICES_MAX] = {0}, most = 0;
    int64_t columns[SC_DEVICES_MAX] = {0};

    for (int j = 0; j < b->cols; j++) {
        bool has[SC_DEVICES_MAX] = {false};

        for (int at = j * b->rows; at < (j + 1) * b->rows; at++) {
            int d = device_of(found, plan, at);

            if (b->work[at] <= 0)
                continue;
            blocks[d]++;
            parts[d] += !has[d];
            columns[d] += has[d] ? 0 : found->col_from[j + 1] - found->col_from[j];
            has[d] = true;
        }
    }
    for (int d = 1; d < b->devices; d++)
        most = blocks[d] > blocks[most] ? d : most;
    for (int d = 0; d < b->devices; d++)
        s->devices += blocks[d] > 0;
    s->columns = columns[most];
    s->parts[0] = found->cut->depth > 1 ? found->cut->depth : 1;
    s->parts[1] = parts[most];
    s->blocks = (blocks[most] + parts[most] - 1) / parts[most];
    s->rows = found->row_from[b->rows] / b->rows;
    s->tiles = s->blocks * found->cut->tiles / b->rows > 1 ? s->blocks * found->cut->tiles / b->rows : 1;
}

/* The parts of these routines take longer than the whole. */
static int64_t least_of_result(enum sc_op op)
{
    switch (op) {
    case SC_OP_GEMM:
    case SC_OP_SYMM:
    case SC_OP_HEMM: return 0;
    case SC_OP_TRMM:
    case SC_OP_TRSM: return SC_STRIPS_USUAL;
    default: return SC_STRIPS_BLOCK;
    }
}

/* Adds what is special to operands of a gemm on their way. If both are transposed, the rows of C and the sum are cut,
 * and columns hardly. Otherwise a column of C needs the whole of A and a column of B. */
static void describe_operands(const struct sc_plan_found *found, struct sc_strips *s)
{
    const struct sc_kernel *k = found->kernel;

    s->least = (k->k > k->n ? k->k : k->n) / SC_STRIPS_OPERANDS;
    s->half = k->transa == 'N' ? s->half : 0;
    s->apart = k->transa == 'N' && k->transb == 'N';
}

/* The call as the device with the most blocks sees the call. */
static void describe(const struct sc_plan_found *found, const struct sc_plan *plan, struct sc_strips *s)
{
    const struct sc_plan_cut *cut = found->cut;
    const struct sc_machine *machine = &found->call->machine;
    double missing = (double)cut->missing, result = (double)cut->result;

    *s = (struct sc_strips){.sum = cut->sum, .least = least_of_result(found->kernel->op), .half = cut->half};
    s->least = cut->least > s->least ? cut->least : s->least;
    if (cut->missing)
        describe_operands(found, s);
    look_at_blocks(found, plan, s);
    s->kernel = sc_predict_kernels(found->call, found->kernel->m, found->kernel->n, found->kernel->k, s->devices);
    s->strip = sc_solve_seconds(found->kernel->op, found->kernel->side, found->kernel->m, found->kernel->n,
                                found->device[0]->solve);
    s->again = 2 * result / s->devices / sc_machine_memory_bandwidth(machine);
    sc_strips_machine(s, machine, missing, s->apart ? smaller((double)cut->all, missing) : 0, result);
    s->blocks *= cut->tasks * (cut->missing ? 1 : s->parts[0]);
}

static struct sc_trial_shape shape_of(const struct sc_plan_found *found, int devices)
{
    const struct sc_kernel *k = found->kernel;
    struct sc_trial_shape shape = {.op = k->op, .type = k->type, .metric = found->call->metric, .m = k->m, .n = k->n,
                                   .k = k->k, .missing = found->cut->missing, .devices = devices};
    char *next = shape.letters;

    if (sc_ops[k->op].side)
        *next++ = k->side;
    if (sc_ops[k->op].uplo)
        *next++ = k->uplo;
    if (sc_ops[k->op].transa)
        *next++ = k->transa;
    if (sc_ops[k->op].transb)
        *next = k->transb;
    return shape;
}

/* The width by the model (strips.h), or the width whose turn it is (trials.h). */
static void choose(const struct sc_plan_found *found, struct sc_plan *plan)
{
    struct sc_strips_choice choice;
    struct sc_trial_shape shape;
    struct sc_strips s;

    describe(found, plan, &s);
    sc_strips_choose(&s, &choice);
    shape = shape_of(found, s.devices);
    sc_trial_begin(&shape, &choice, &plan->strips.trial);
    plan->strips.width = plan->strips.trial.width;
    plan->strips.first = plan->strips.trial.first;
    plan->strips.last = sc_strips_last(&s, plan->strips.width, plan->strips.first);
}

/* The model does not cover two transposed operands; the usual width is within a few percent of the best. */
static void take_usual(const struct sc_kernel *k, struct sc_plan *plan)
{
    int64_t most = k->k > k->n ? k->k : k->n;

    plan->strips.width = most / SC_STRIPS_FEW > SC_STRIPS_USUAL ? most / SC_STRIPS_FEW : SC_STRIPS_USUAL;
    plan->strips.first = 1;
}

/* Widths of a gemm's operands. A C that is cut in both directions has wider strips; if the strips of B lie along the
 * sum, columns of C are cut coarsely, to be finished in order. */
static void cut_operands(const struct sc_kernel *k, struct sc_plan *plan)
{
    int64_t width = plan->strips.width, block = k->transa == 'N' ? width : 2 * width;

    plan->strips.a = block;
    plan->strips.b = k->transb == 'N' ? block : width;
    if (k->transb != 'N')
        plan->strips.c = k->n / 4 > block ? k->n / 4 : block;
}

bool sc_plan_refine(const struct sc_plan_found *found, struct sc_plan *plan)
{
    const struct sc_kernel *k = found->kernel;

    if (!found->cut) {
        if (k->n != found->call->n && plan->exchange.devices > 1) /* the host computes some columns */
            plan->exchange.seconds = sc_predict_kernels(found->call, k->m, k->n, k->k, plan->exchange.devices);
        return place(found, plan);
    }
    memset(&plan->strips, 0, sizeof plan->strips);
    if (found->cut->missing && k->transa != 'N' && k->transb != 'N')
        take_usual(k, plan);
    else
        choose(found, plan);
    if (found->cut->missing)
        cut_operands(k, plan);
    return true;
}
/* SPDX-License-Identifier: BSD-2-Clause */
