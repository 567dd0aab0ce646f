/* Overheads of calls beside kernels and bytes. Small calls are timed. The unexplained time is distributed over three
 * causes: the call of its routine (several kernels, or a wait for a scalar), arriving operands, and results whose
 * pages are closed. The distribution has the least sum of relative errors: a single slow size of a vendor's routine
 * then does not affect other sizes, as it would with squares. No overhead is negative. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "tools/tool.h"
#include "tools/trial.h"

#define SWEEPS 1000 /* rounds of least squares, the start of the search for the least sum */
#define SUM_SWEEPS 50

static const struct {
    enum sc_op op;
    int64_t m, n, k;
} small[] = {{SC_OP_AXPY, 0, 20000, 0},  {SC_OP_AXPY, 0, 100000, 0}, {SC_OP_SCAL, 0, 50000, 0},
             {SC_OP_DOT, 0, 50000, 0},   {SC_OP_NRM2, 0, 100000, 0}, {SC_OP_GEMV, 300, 300, 0},
             {SC_OP_GEMV, 700, 500, 0},  {SC_OP_GER, 400, 400, 0},   {SC_OP_GEMM, 128, 128, 128},
             {SC_OP_GEMM, 256, 256, 256}, {SC_OP_SYRK, 0, 256, 256}, {SC_OP_TRSM, 256, 256, 0},
             {SC_OP_COPY, 0, 30000, 0},  {SC_OP_COPY, 0, 200000, 0}, {SC_OP_SCAL, 0, 200000, 0},
             {SC_OP_DOT, 0, 10000, 0},   {SC_OP_NRM2, 0, 30000, 0},  {SC_OP_GEMV, 200, 1500, 0},
             {SC_OP_GER, 900, 150, 0},   {SC_OP_SYMV, 0, 200, 0},    {SC_OP_SYMV, 0, 600, 0},
             {SC_OP_SYMM, 200, 200, 0},  {SC_OP_TRMM, 150, 150, 0},
             {SC_OP_SYMM, 140, 90, 0},   {SC_OP_SYMM, 410, 130, 0},  {SC_OP_TRMM, 300, 120, 0},
             {SC_OP_TRSM, 150, 100, 0},  {SC_OP_TRSM, 400, 80, 0},   {SC_OP_SYRK, 0, 500, 90},
             {SC_OP_SYRK, 0, 130, 130},  {SC_OP_GEMM, 300, 100, 300}};
enum { SMALL = sizeof small / sizeof *small, EQUATIONS = 3 * SMALL };

struct equation {
    enum sc_op op;
    double arrivals, closings, rest, weight;
};

/* The unknowns: a start for each routine, and the common overheads. */
struct unknowns {
    double start[SC_OPS], arrival, closing;
};

static double left_of(const struct equation *e, const struct unknowns *u)
{
    return e->rest - u->start[e->op] - e->arrivals * u->arrival - e->closings * u->closing;
}

/* The factor of an unknown in an equation. */
typedef double share_of(const struct equation *e, int op);

/* The best value of one unknown with the other unknowns fixed, by squares. */
static double by_squares(const struct equation *e, int count, const struct unknowns *u, share_of *share, int op)
{
    double above = 0, below = 0;

    for (int i = 0; i < count; i++) {
        above += left_of(&e[i], u) * share(&e[i], op) * e[i].weight * e[i].weight;
        below += share(&e[i], op) * share(&e[i], op) * e[i].weight * e[i].weight;
    }
    return below > 0 ? above / below : 0;
}

struct vote {
    double value, weight;
};

static int compare_votes(const void *a, const void *b)
{
    const struct vote *x = a, *y = b;

    return (x->value > y->value) - (x->value < y->value);
}

/* The same by the sum of errors: the median of the values that solve the equations. */
static double by_sum(const struct equation *e, int count, const struct unknowns *u, share_of *share, int op)
{
    struct vote vote[EQUATIONS];
    double all = 0, sum = 0;
    int votes = 0;

    for (int i = 0; i < count; i++)
        if (share(&e[i], op) > 0) {
            vote[votes] = (struct vote){left_of(&e[i], u) / share(&e[i], op), share(&e[i], op) * e[i].weight};
            all += vote[votes++].weight;
        }
    qsort(vote, (size_t)votes, sizeof *vote, compare_votes);
    for (int i = 0; i < votes; i++)
        if ((sum += vote[i].weight) >= all / 2)
            return vote[i].value;
    return 0;
}

typedef double best_of(const struct equation *e, int count, const struct unknowns *u, share_of *share, int op);

static void improve(const struct equation *e, int count, struct unknowns *u, double *unknown, best_of *best,
                    share_of *share, int op)
{
    *unknown = 0;
    *unknown = fmax(best(e, count, u, share, op), 0);
}

static double starts(const struct equation *e, int op) { return (int)e->op == op; }
static double arrivals(const struct equation *e, int op) { return (void)op, e->arrivals; }
static double closings(const struct equation *e, int op) { return (void)op, e->closings; }

/* Improves one unknown after another. */
static void sweep(const struct equation *e, int count, struct unknowns *u, best_of *best)
{
    for (int op = 0; op < SC_OPS; op++)
        improve(e, count, u, &u->start[op], best, starts, op);
    improve(e, count, u, &u->arrival, best, arrivals, 0);
    improve(e, count, u, &u->closing, best, closings, 0);
}

static void solve(const struct equation *e, int count, struct unknowns *u)
{
    for (int i = 0; i < SWEEPS; i++)
        sweep(e, count, u, by_squares);
    for (int i = 0; i < SUM_SWEEPS; i++)
        sweep(e, count, u, by_sum);
}

/* The median of the timed routines, taken for untimed routines of the same kind. */
static double typical_start(const struct unknowns *u, bool reductions)
{
    double start[SC_OPS];
    int count = 0;

    for (int op = 0; op < SC_OPS; op++)
        if (u->start[op] > 0 && sc_op_is_reduction((enum sc_op)op) == reductions)
            start[count++] = u->start[op];
    return count ? sc_median(start, (size_t)count) : 0;
}

static void keep(const struct unknowns *u, struct sc_database *db)
{
    memcpy(db->start, u->start, sizeof db->start);
    db->calls.start = typical_start(u, false);
    db->calls.arrival = u->arrival;
    db->calls.closing = u->closing;
    db->calls.scalar = fmax(typical_start(u, true) - db->calls.start, 0);
}

/* Predictions for the equations have all unknowns set to 0. */
static struct equation equation_of(const struct sc_trial *t)
{
    const struct sc_autotuner_prediction *p = &t->predicted;

    return (struct equation){.op = t->op, .arrivals = t->call.arrivals, .closings = t->call.closings,
                             .rest = t->device - (p->device + p->move - p->overlap), .weight = 1 / t->device};
}

/* The measured part of the hideable time that is hidden: by least squares over some products with arriving operands. */
static double hidden(const struct sc_trial *trial, int count)
{
    double above = 0, below = 0;

    for (int i = 0; i < count; i++) {
        struct sc_trial t = trial[i];
        const struct sc_autotuner_prediction *p = &t.predicted;
        double possible;

        if (!sc_trial_run(&t) || t.device <= 0)
            continue;
        possible = p->hideable / t.device;
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

/* The pages are protected meanwhile, and a large operand arrives in several copies. */
static double links(const struct sc_database_calls *calls)
{
    struct sc_trial t = {.op = SC_OP_AXPY, .type = SC_D, .n = 6000000};
    double before, bytes, took;

    if (!sc_trial_run(&t) || t.predicted.move <= 0)
        return 1;
    before = t.call.arrivals * calls->arrival + t.call.closings * calls->closing;
    bytes = t.predicted.move - before;
    took = t.device - t.predicted.device - before;
    return took <= bytes ? 1 : fmax(bytes / took, 0.1);
}

bool sc_tool_calibrate(struct sc_database *db)
{
    struct equation equations[EQUATIONS];
    struct unknowns unknowns = {{0}, 0, 0};
    int count = 0;

    db->calls = (struct sc_database_calls){.known = true, .links = 1};
    memset(db->start, 0, sizeof db->start);
    for (int i = 0; i < EQUATIONS; i++) {
        struct sc_trial t = {.op = small[i / 3].op, .type = SC_D, .m = small[i / 3].m, .n = small[i / 3].n,
                             .k = small[i / 3].k, .there = (enum sc_trial_there)(i % 3)};

        /* Calls with an unmeasured kernel are left out: their unexplained time tells more about the kernel than
         * about the call. */
        if (db->index[0][t.op][t.type].count && sc_trial_run(&t) && t.device > 0)
            equations[count++] = equation_of(&t);
    }
    solve(equations, count, &unknowns);
    keep(&unknowns, db);
    db->calls.links = links(&db->calls);
    calibrate_products(&db->calls);
    db->calls.known = count > 0;
    return count > 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
