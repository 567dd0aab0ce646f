/* How many devices the new matrices of a call are distributed over: the plan for it, made once for each shape. */
#include <string.h>

#include "autotuner/autotuner.h"
#include "autotuner/plan.h"
#include "autotuner/policy.h"
#include "autotuner/schedule.h"

#define PLANS 64 /* remembered */

/* What a plan depends on, and nothing else. */
struct shape {
    enum sc_op op;
    enum sc_type type;
    uint16_t policy;
    int side, c_read;
    int64_t m, n, k;
    const struct sc_database *database;
};

struct planned {
    int devices;
    double in; /* s: until they have their operands, when the host has all */
};

static struct plan_entry {
    struct shape shape;
    struct planned planned;
} plans[PLANS];
static char plans_busy; /* who finds it set does without: no thread waits here */

/* --- the call as a problem ---------------------------------------------------------------------------------------- */

/* Devices own strips of the result, and all need A; or they have strips of A and B, and add up. */
static void add_operands(const struct shape *call, struct sc_plan_problem *p)
{
    const struct sc_kernel k = {.op = call->op, .type = call->type, .transa = 'N', .transb = 'N',
                                .side = (char)call->side, .m = call->m, .n = call->n, .k = call->k,
                                .beta = {call->c_read}};
    struct sc_view view[SC_VIEWS_MAX];
    bool sums = call->op == SC_OP_GEMM &&
                sc_schedule_sums(sc_config.schedule, SC_DEVICES_MAX, call->m, call->n, call->k, false);

    p->operands = sc_kernel_views(&k, view);
    for (int i = 0; i < p->operands; i++) {
        bool written = view[i].access & SC_WRITE;
        double used = view[i].half && !written ? 0.5 : 1;

        p->operand[i] = (struct sc_plan_operand){.bytes = (double)sc_view_bytes(&view[i]) * used,
                                                 .read = view[i].access & SC_READ, .written = written,
                                                 .whole = view[i].whole && !sums};
        p->operand[i].on[SC_PLACE_HOST] = p->operand[i].bytes;
    }
}

static struct sc_plan_problem problem_of(const struct shape *call)
{
    double m = (double)call->m, n = (double)call->n, k = (double)call->k;
    struct sc_plan_problem p = {.op = call->op, .type = call->type, .metric = sc_config.metric, .even = true,
                                .work = sc_op_work(call->op, (char)call->side, m, n, k)};

    add_operands(call, &p);
    return p;
}

static struct planned plan(const struct shape *call)
{
    struct sc_plan_problem p = problem_of(call);
    struct sc_plan best;

    if (!sc_plan_best(call->database, &p, &best))
        return (struct planned){0, 0};
    return (struct planned){best.count, best.in};
}

/* --- remembered --------------------------------------------------------------------------------------------------- */

static bool is_same(const struct shape *a, const struct shape *b)
{
    return a->op == b->op && a->type == b->type && a->policy == b->policy && a->side == b->side &&
           a->c_read == b->c_read && a->m == b->m && a->n == b->n && a->k == b->k && a->database == b->database;
}

static struct plan_entry *entry_of(const struct shape *shape)
{
    uint64_t hash = (uint64_t)shape->op * SC_TYPES + shape->type;

    hash = (hash * 0x9e3779b97f4a7c15 + (uint64_t)shape->m) * 0x9e3779b97f4a7c15 + (uint64_t)shape->n;
    hash = (hash * 0x9e3779b97f4a7c15 + (uint64_t)shape->k) * 0x9e3779b97f4a7c15;
    return &plans[hash >> 58];
}

static bool is_planned(const struct sc_autotuner_call *call)
{
    const struct sc_database *db = call->machine.database;

    return db && sc_op_level(call->op) == 3 && call->machine.devices > 1 && call->machine.devices == db->devices;
}

static struct shape shape_of(const struct sc_autotuner_call *call)
{
    return (struct shape){.op = call->op, .type = call->type, .policy = sc_autotuner_policy(), .side = call->side,
                          .c_read = !call->overwritten, .m = call->m, .n = call->n, .k = call->k,
                          .database = call->machine.database};
}

int sc_autotuner_candidates(const struct sc_autotuner_call *call, double seconds[SC_DEVICES_MAX + 1])
{
    struct shape shape = shape_of(call);
    struct sc_plan_problem p;
    struct sc_plan plan;

    if (!is_planned(call))
        return 0;
    p = problem_of(&shape);
    for (int n = 1; n <= call->machine.devices; n++) {
        if (!sc_plan_for(shape.database, &p, sc_place_bit(n) - 1, &plan))
            return n - 1;
        seconds[n] = plan.seconds;
    }
    return call->machine.devices;
}

int sc_autotuner_planned(const struct sc_autotuner_call *call, double *in)
{
    struct shape shape = shape_of(call);
    struct planned planned = {0, 0};
    struct plan_entry *entry;

    if (is_planned(call) && __atomic_test_and_set(&plans_busy, __ATOMIC_ACQUIRE)) {
        planned = plan(&shape);
    } else if (is_planned(call)) {
        entry = entry_of(&shape);
        if (!is_same(&entry->shape, &shape)) {
            entry->planned = plan(&shape);
            entry->shape = shape;
        }
        planned = entry->planned;
        __atomic_clear(&plans_busy, __ATOMIC_RELEASE);
    }
    *in = planned.in;
    return planned.devices;
}

void sc_plans_reset(void)
{
    memset(plans, 0, sizeof plans);
}

int sc_autotuner_devices(const struct sc_autotuner_call *call)
{
    double in;

    return sc_autotuner_planned(call, &in);
}
