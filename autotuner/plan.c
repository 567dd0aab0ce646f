#include "autotuner/plan.h"

#include <stddef.h>
#include <string.h>

#include "autotuner/decide.h"
#include "autotuner/demand.h"
#include "autotuner/policy.h"
#include "autotuner/schedule.h"

/* Bytes of a matrix that are worth a device of their own. A kernel of fewer bytes ends before the other devices have
 * their tasks, and a second link does not help a transfer of half a millisecond. */
#define BYTES_PER_DEVICE (UINT64_C(32) << 20)

/* --- predictions that are remembered ------------------------------------------------------------------------------ */

#define PLANS 64 /* 6 bits: entry_of */
#define KEY_BYTES offsetof(struct sc_autotuner_call, want)

static struct plan_entry {
    bool used;
    uint16_t policy;
    struct sc_autotuner_call question; /* as far as KEY_BYTES */
    struct sc_autotuner_prediction predicted;
} plans[PLANS];
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
    if (!e->used || e->policy != sc_autotuner_policy() || memcmp(&e->question, q, KEY_BYTES) != 0) {
        sc_predict_anew(q, &e->predicted);
        memcpy(&e->question, q, KEY_BYTES);
        e->policy = sc_autotuner_policy();
        e->used = true;
    }
    *out = e->predicted;
    __atomic_clear(&plans_busy, __ATOMIC_RELEASE);
}

void sc_autotuner_predict(const struct sc_autotuner_call *q, struct sc_autotuner_prediction *out)
{
    look_up(q, out);
    sc_predict_history(q, out);
}

void sc_plans_reset(void) { memset(plans, 0, sizeof plans); }

/* --- new matrices ------------------------------------------------------------------------------------------------- */

int sc_plan_spread(uint64_t bytes, int devices, enum sc_offload mode)
{
    uint64_t worth = bytes / BYTES_PER_DEVICE;

    if (devices < 1)
        return 1;
    if (mode == SC_OFFLOAD_ALWAYS || worth >= (uint64_t)devices)
        return devices;
    return worth < 1 ? 1 : (int)worth;
}

/* Cuts thin operands along C, because blocks of a C in both directions need rows of A and columns of B. */
static void cut_thin(const struct sc_autotuner_call *q, struct sc_plan *plan)
{
    for (int i = 0; i < 2; i++)
        if (!plan->operand[i].tile_rows)
            sc_schedule_grid(SC_STRATEGY_CYCLIC, plan->operand[i].spread, 0, q->view[i].rows, q->view[i].cols,
                             false, &plan->operand[i].tile_rows, &plan->operand[i].tile_cols);
}

/* A vector is spread as the matrix of its call, so that the boundaries agree (rule D3). */
void sc_plan_layout(const struct sc_autotuner_call *q, enum sc_offload mode, struct sc_plan *plan)
{
    bool always = mode == SC_OFFLOAD_ALWAYS;
    uint64_t most = 0;

    for (int i = 0; i < q->operands; i++)
        most = sc_view_bytes(&q->view[i]) > most ? sc_view_bytes(&q->view[i]) : most;
    for (int i = 0; i < q->operands; i++) {
        uint64_t bytes = q->view[i].vector ? most : sc_view_bytes(&q->view[i]);
        int *rows = &plan->operand[i].tile_rows, *cols = &plan->operand[i].tile_cols;

        plan->operand[i].spread = plan->spread ? plan->spread : sc_plan_spread(bytes, q->machine.devices, mode);
        *rows = *cols = 0;
        if (!q->view[i].vector && sc_op_level(q->op) == 3)
            sc_schedule_grid(sc_config.schedule, plan->operand[i].spread, q->peers, q->view[i].rows,
                             q->view[i].cols, always, rows, cols);
    }
    plan->sums = q->op == SC_OP_GEMM &&
                 sc_schedule_sums(sc_config.schedule, plan->operand[0].spread, q->m, q->n, q->k, always);
    for (int i = 0; i < q->operands && plan->sums; i++) /* every device has a C of its own */
        plan->operand[i].tile_rows = plan->operand[i].tile_cols = 0;
    if (q->op == SC_OP_GEMM && !plan->sums && plan->operand[2].tile_rows)
        cut_thin(q, plan);
}

/* --- the plan ----------------------------------------------------------------------------------------------------- */

void sc_plan(const struct sc_autotuner_call *q, enum sc_offload mode, struct sc_plan *plan)
{
    *plan = (struct sc_plan){0};
    plan->devices = sc_decide(q, mode, &plan->predicted);
    if (!plan->devices)
        return;
    plan->want = q->once ? 0 : sc_autotuner_wants(&plan->predicted, q->want);
    plan->spread = plan->predicted.planned;
    sc_plan_layout(q, mode, plan);
    if (q->divides)
        plan->host_share = sc_autotuner_host_share(q, mode, &plan->predicted);
}
/* SPDX-License-Identifier: BSD-2-Clause */
