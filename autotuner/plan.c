#include "autotuner/plan.h"

#include <math.h>
#include <string.h>

#define BALANCED 1.05 /* slowest over fastest */
#define ROUNDS 40
#define NEARLY 1.15   /* times the least */
#define EXHAUSTIVE 4  /* devices: 15 sets */

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* --- one device of a set ------------------------------------------------------------------------------------------ */

/* Average rate at which a device gets from the other active ones (eq. 4); 0: there are no links. */
static double peer_rate(const struct sc_linkmap *map, sc_places active, int to)
{
    double sum = 0;
    int count = 0;

    for (int d = 0; d < map->devices; d++)
        if (d != to && (active & sc_place_bit(d)) && map->shared.rate[d][to] > 0) {
            sum += map->shared.rate[d][to];
            count++;
        }
    return count ? sum / count : 0;
}

/* Seconds to bring `bytes` of an operand to a place, from the nearest copies; each is good for what it has. */
static double fetch(const struct sc_linkmap *map, const struct sc_plan_operand *o, int to, double bytes)
{
    sc_places tried = sc_place_bit(to);
    double seconds = 0;

    while (bytes > 0) {
        int best = -1;
        double part;

        for (int p = 0; p < SC_PLACES; p++)
            if (!(tried & sc_place_bit(p)) && o->on[p] > 0 &&
                (best < 0 || map->shared.rate[p][to] > map->shared.rate[best][to]))
                best = p;
        if (best < 0)
            return seconds;
        tried |= sc_place_bit(best);
        part = smaller(bytes, o->on[best]);
        seconds += sc_linkmap_seconds(map, best, to, part);
        bytes -= part;
    }
    return seconds;
}

/* What every device needs as a whole comes from where it is once, in parts, and goes on between the devices. */
static double fetch_whole(const struct sc_linkmap *map, const struct sc_plan *plan, const struct sc_plan_operand *o,
                          int to)
{
    double missing = o->bytes - o->on[to], between = peer_rate(map, plan->active, to);

    if (missing <= 0)
        return 0;
    if (plan->count == 1 || between <= 0)
        return fetch(map, o, to, missing);
    return fetch(map, o, to, missing / plan->count) + missing * (plan->count - 1) / plan->count / between;
}

static double seconds_in(const struct sc_linkmap *map, const struct sc_plan_problem *p, const struct sc_plan *plan,
                         int at)
{
    double seconds = 0;

    for (int i = 0; i < p->operands; i++) {
        const struct sc_plan_operand *o = &p->operand[i];
        double need = plan->share[at] * o->bytes;

        if (!o->read)
            continue;
        seconds += o->whole ? fetch_whole(map, plan, o, at)
                            : fetch(map, o, at, need - smaller(need, o->on[at]));
    }
    return seconds;
}

static double seconds_out(const struct sc_linkmap *map, const struct sc_plan_problem *p, const struct sc_plan *plan,
                          int at)
{
    double seconds = 0;

    for (int i = 0; i < p->operands; i++)
        if (p->operand[i].written && p->operand[i].goes_home)
            seconds += sc_linkmap_seconds(map, at, SC_PLACE_HOST, plan->share[at] * p->operand[i].bytes);
    return seconds;
}

/* Eq. 5.  Products hide the shorter of the three; other calls go through their data once, one after the other. */
static double seconds_of(const struct sc_database *db, const struct sc_linkmap *map, const struct sc_plan_problem *p,
                         const struct sc_plan *plan, int at)
{
    double run = sc_database_seconds(db, at, p->op, p->type, p->work * plan->share[at]);
    double in = seconds_in(map, p, plan, at), out = seconds_out(map, p, plan, at);

    return sc_op_level(p->op) == 3 ? larger(run, larger(in, out)) : run + in + out;
}

/* --- a set -------------------------------------------------------------------------------------------------------- */

static sc_places sources_of(const struct sc_plan_problem *p)
{
    sc_places sources = 0;

    for (int i = 0; i < p->operands; i++)
        for (int at = 0; at < SC_PLACES; at++)
            if (p->operand[i].read && p->operand[i].on[at] > 0)
                sources |= sc_place_bit(at);
    return sources;
}

static bool goes_home(const struct sc_plan_problem *p)
{
    for (int i = 0; i < p->operands; i++)
        if (p->operand[i].written && p->operand[i].goes_home)
            return true;
    return false;
}

static void predict(const struct sc_database *db, const struct sc_linkmap *map, const struct sc_plan_problem *p,
                    struct sc_plan *plan, double *fastest)
{
    plan->seconds = plan->in = 0;
    *fastest = HUGE_VAL;
    for (int d = 0; d < SC_PLACES; d++)
        if (plan->active & sc_place_bit(d)) {
            plan->each[d] = seconds_of(db, map, p, plan, d);
            plan->in = larger(plan->in, seconds_in(map, p, plan, d));
            plan->seconds = larger(plan->seconds, plan->each[d]);
            *fastest = smaller(*fastest, plan->each[d]);
        }
}

/* Shares in proportion to the speeds that the last shares gave.  The best that was seen is kept: costs that do not
 * depend on the share may keep the times apart. */
static void balance(const struct sc_database *db, const struct sc_linkmap *map, const struct sc_plan_problem *p,
                    struct sc_plan *plan)
{
    struct sc_plan trial = *plan;
    double fastest;

    predict(db, map, p, plan, &fastest);
    trial = *plan;
    for (int round = 0; round < ROUNDS && !p->even && trial.seconds > BALANCED * fastest; round++) {
        double sum = 0;

        for (int d = 0; d < SC_PLACES; d++)
            if (trial.active & sc_place_bit(d)) {
                trial.share[d] *= sqrt(trial.seconds / trial.each[d]); /* the root: half way, so as not to swing */
                sum += trial.share[d];
            }
        for (int d = 0; d < SC_PLACES; d++)
            trial.share[d] /= sum;
        predict(db, map, p, &trial, &fastest);
        if (trial.seconds < plan->seconds)
            *plan = trial;
    }
}

static double watts_of(const struct sc_database *db, const struct sc_plan_problem *p, const struct sc_plan *plan)
{
    double sum = 0;

    for (int d = 0; d < SC_PLACES; d++) {
        bool active = plan->active & sc_place_bit(d);
        double busy = active ? sc_database_watts(db, d, p->op, p->type, p->work * plan->share[d]) : 0;

        if (active && busy <= 0)
            return 0;
        sum += active ? busy : db->idle_watts[d];
    }
    return sum;
}

bool sc_plan_for(const struct sc_database *db, const struct sc_plan_problem *p, sc_places active, struct sc_plan *plan)
{
    struct sc_linkmap map;

    memset(plan, 0, sizeof *plan);
    plan->active = active;
    plan->count = __builtin_popcount(active);
    for (int d = 0; d < SC_PLACES; d++) {
        if (!(active & sc_place_bit(d)))
            continue;
        if (sc_database_seconds(db, d, p->op, p->type, p->work) <= 0)
            return false;
        plan->share[d] = 1.0 / plan->count;
    }
    sc_linkmap_load(&map, db);
    sc_linkmap_share(&map, db, active, sources_of(p), goes_home(p) ? sc_place_bit(SC_PLACE_HOST) : 0);
    if (p->max_hops > 0)
        sc_linkmap_route(&map, p->max_hops);
    balance(db, &map, p, plan);
    plan->watts = watts_of(db, p, plan);
    return plan->count > 0 && isfinite(plan->seconds) && plan->seconds > 0;
}

/* --- which set ---------------------------------------------------------------------------------------------------- */

/* FLOPs, FLOPs^2/W, FLOPs/W; without a meter every active device counts the same. */
static double merit(const struct sc_plan_problem *p, const struct sc_plan *plan)
{
    double rate = 1 / plan->seconds, watts = plan->watts > 0 ? plan->watts : plan->count;

    return p->metric == SC_METRIC_PERF ? rate : p->metric == SC_METRIC_EDP ? rate * rate / watts : rate / watts;
}

bool sc_plan_is_better(const struct sc_plan_problem *p, const struct sc_plan *plan, const struct sc_plan *than)
{
    return !than->active || merit(p, plan) > merit(p, than);
}

static void offer(const struct sc_database *db, const struct sc_plan_problem *p, sc_places set, struct sc_plan *best)
{
    struct sc_plan plan;

    if (set && sc_plan_for(db, p, set, &plan) && sc_plan_is_better(p, &plan, best))
        *best = plan;
}

/* Beyond a few devices: the best one, with the one that goes best with it, and so on to all of them, whether each step
 * is a gain or not; the best on the way is taken. */
static void grow(const struct sc_database *db, const struct sc_plan_problem *p, struct sc_plan *best)
{
    sc_places set = 0;

    for (int n = 0; n < db->devices; n++) {
        struct sc_plan next = {0};

        for (int d = 0; d < db->devices; d++)
            if (!(set & sc_place_bit(d)))
                offer(db, p, set | sc_place_bit(d), &next);
        if (!next.active)
            return;
        set = next.active;
        if (sc_plan_is_better(p, &next, best))
            *best = next;
    }
}

/* What is distributed stays so, and later calls find it where it is and gain by every device: among the fastest, the
 * largest set.  Where energy counts, just the best. */
static void first_devices(const struct sc_database *db, const struct sc_plan_problem *p, struct sc_plan *best)
{
    double least = HUGE_VAL;
    struct sc_plan plan;

    for (int n = 1; n <= db->devices; n++) {
        if (!sc_plan_for(db, p, sc_place_bit(n) - 1, &plan))
            continue;
        least = smaller(least, plan.seconds);
        if (sc_plan_is_better(p, &plan, best) || (p->metric == SC_METRIC_PERF && plan.seconds <= NEARLY * least))
            *best = plan;
    }
}

bool sc_plan_best(const struct sc_database *db, const struct sc_plan_problem *p, struct sc_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    if (p->even)
        first_devices(db, p, plan);
    else if (db->devices <= EXHAUSTIVE)
        for (sc_places set = 1; set < sc_place_bit(db->devices); set++)
            offer(db, p, set, plan);
    else
        grow(db, p, plan);
    return plan->active != 0;
}
