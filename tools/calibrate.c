/* What calls take beside kernels and bytes: small calls are timed, and what is left of them is put down to the call, to
 * the operands that are brought, to the results whose pages are closed, and to the wait for a scalar, by least squares
 * of relative errors.  None of these is negative. */
#include <config.h>

#include "tools/tool.h"
#include "tools/trial.h"

enum { CALL, ARRIVAL, CLOSING, SCALAR, FEATURES };
#define SWEEPS 1000

static const struct {
    enum sc_op op;
    int64_t m, n, k;
} small[] = {{SC_OP_AXPY, 0, 20000, 0},  {SC_OP_AXPY, 0, 100000, 0}, {SC_OP_SCAL, 0, 50000, 0},
             {SC_OP_DOT, 0, 50000, 0},   {SC_OP_NRM2, 0, 100000, 0}, {SC_OP_GEMV, 300, 300, 0},
             {SC_OP_GEMV, 700, 500, 0},  {SC_OP_GER, 400, 400, 0},   {SC_OP_GEMM, 128, 128, 128},
             {SC_OP_GEMM, 256, 256, 256}, {SC_OP_SYRK, 0, 256, 256},  {SC_OP_TRSM, 256, 256, 0}};
#define SMALL ((int)(sizeof small / sizeof *small))

struct equation {
    double feature[FEATURES], rest, weight;
};

static double *value_of(struct sc_database_calls *calls, int feature)
{
    double *values[FEATURES] = {&calls->start, &calls->arrival, &calls->closing, &calls->scalar};

    return values[feature];
}

/* One value after the other is set to what is best for it, until nothing changes any more. */
static void solve(const struct equation *e, int count, struct sc_database_calls *calls)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int f = 0; f < FEATURES; f++) {
            double above = 0, below = 0;

            *value_of(calls, f) = 0;
            for (int i = 0; i < count; i++) {
                double left = e[i].rest;

                for (int g = 0; g < FEATURES; g++)
                    left -= e[i].feature[g] * *value_of(calls, g);
                above += left * e[i].feature[f] * e[i].weight * e[i].weight;
                below += e[i].feature[f] * e[i].feature[f] * e[i].weight * e[i].weight;
            }
            if (below > 0 && above > 0)
                *value_of(calls, f) = above / below;
        }
}

/* Predictions are made with what is sought set to nothing. */
static struct equation equation_of(const struct sc_trial *t)
{
    const struct sc_autotuner_prediction *p = &t->predicted;

    return (struct equation){
        .feature = {[CALL] = 1, [ARRIVAL] = t->call.arrivals, [CLOSING] = t->call.closings,
                    [SCALAR] = sc_op_is_reduction(t->op)},
        .rest = t->device - (p->device + p->move - p->overlap), .weight = 1 / t->device};
}

/* How much of what can be hidden the clock shows to be: by least squares over some products of operands that arrive. */
static double hidden(const struct sc_trial *trial, int count)
{
    double above = 0, below = 0;

    for (int i = 0; i < count; i++) {
        struct sc_trial t = trial[i];
        const struct sc_autotuner_prediction *p = &t.predicted;
        double shorter, possible;

        if (!sc_trial_run(&t) || t.device <= 0)
            continue;
        shorter = p->device < p->move ? p->device : p->move;
        possible = sc_autotuner_hideable(&t.call) * shorter / t.device;
        above += (p->device + p->move - t.device) / t.device * possible;
        below += possible * possible;
    }
    return above <= 0 || below <= 0 ? 0 : above > below ? 1 : above / below;
}

static void calibrate_products(struct sc_database_calls *calls)
{
    static const struct sc_trial gemm[] = {{.op = SC_OP_GEMM, .type = SC_D, .m = 5000, .n = 5000, .k = 5000},
                                           {.op = SC_OP_GEMM, .type = SC_D, .m = 3000, .n = 3000, .k = 3000},
                                           {.op = SC_OP_GEMM, .type = SC_S, .m = 4000, .n = 4000, .k = 1000}},
                                 other[] = {{.op = SC_OP_SYMM, .type = SC_D, .m = 2500, .n = 2500},
                                            {.op = SC_OP_SYMM, .type = SC_D, .m = 3000, .n = 1000,
                                             .there = SC_TRIAL_LARGEST},
                                            {.op = SC_OP_SYRK, .type = SC_D, .n = 3000, .k = 2000},
                                            {.op = SC_OP_TRSM, .type = SC_D, .m = 3000, .n = 3000}};

    calls->hidden[0] = hidden(gemm, sizeof gemm / sizeof *gemm);
    calls->hidden[1] = hidden(other, sizeof other / sizeof *other);
}

bool sc_tool_calibrate(struct sc_database *db)
{
    struct equation equations[3 * SMALL];
    int count = 0;

    db->calls = (struct sc_database_calls){.known = true};
    for (int i = 0; i < 3 * SMALL; i++) {
        struct sc_trial t = {.op = small[i / 3].op, .type = SC_D, .m = small[i / 3].m, .n = small[i / 3].n,
                             .k = small[i / 3].k, .there = (enum sc_trial_there)(i % 3)};

        if (sc_trial_run(&t) && t.device > 0)
            equations[count++] = equation_of(&t);
    }
    solve(equations, count, &db->calls);
    calibrate_products(&db->calls);
    db->calls.known = count > 0;
    return count > 0;
}
