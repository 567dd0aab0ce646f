/* The number of devices over which new matrices of a call are distributed: equal parts on the first n devices
 * (PARALiA's prediction, TACO 2023, 3.1 and eq. 5), for a call whose operands are at home. Pure. */
#include <math.h>

#include "autotuner/autotuner.h"
#include "autotuner/linkmap.h"
#include "autotuner/load.h"
#include "autotuner/plan.h"
#include "autotuner/schedule.h"

#define NEARLY 1.15 /* times the least */

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* Bytes of a matrix that are worth a device of their own. A kernel of fewer bytes ends before the other devices have
 * their tasks, and a second link does not help a transfer of half a millisecond. */
#define BYTES_PER_DEVICE (UINT64_C(32) << 20)

/* As above, of vectors in calls that have only vectors.  Solvers multiply vectors by a sparse matrix with at least ten
 * times their bytes.  The product is worth more devices than the sum of two vectors, and the parts have to agree. */
#define BYTES_PER_DEVICE_OF_VECTORS (UINT64_C(8) << 20)

/* As above, of a sparse matrix that has more devices than its vectors.  In each product the vectors move: on two H200s
 * a cycle of BoomerAMG took 1.5 times as long as on one, because coarse matrices of 80 MB had parts on both. */
#define BYTES_PER_DEVICE_OF_SPARSE (UINT64_C(256) << 20)

static int spread(uint64_t worth, int devices, enum sc_offload mode)
{
    if (devices < 1)
        return 1;
    if (mode == SC_OFFLOAD_ALWAYS || worth >= (uint64_t)devices)
        return devices;
    return worth < 1 ? 1 : (int)worth;
}

int sc_plan_spread(uint64_t bytes, int devices, enum sc_offload mode)
{
    return spread(bytes / BYTES_PER_DEVICE, devices, mode);
}

int sc_plan_spread_vector(uint64_t bytes, int devices, enum sc_offload mode)
{
    return spread(bytes / BYTES_PER_DEVICE_OF_VECTORS, devices, mode);
}

int sc_plan_spread_sparse(uint64_t bytes, uint64_t vector_bytes, int devices, enum sc_offload mode)
{
    const int vectors = sc_plan_spread_vector(vector_bytes, devices, mode);
    const int matrix = spread(bytes / BYTES_PER_DEVICE_OF_SPARSE, devices, mode);

    return matrix > vectors ? matrix : vectors;
}

/* --- the call ----------------------------------------------------------------------------------------------------- */

/* Operands as devices read them. `whole`: every device needs the whole operand. */
struct operands {
    int count;
    double bytes[SC_VIEWS_MAX];
    bool whole[SC_VIEWS_MAX];
};

/* Devices own strips of the result and need A as a whole; or they own strips of A and B along the sum, and add up. */
static struct operands operands_of(const struct sc_autotuner_call *call)
{
    const struct sc_kernel k = {.op = call->op, .type = call->type, .transa = 'N', .transb = 'N',
                                .side = call->side, .m = call->m, .n = call->n, .k = call->k,
                                .beta = {!call->overwritten}};
    bool sums = call->op == SC_OP_GEMM &&
                sc_schedule_sums(sc_config.schedule, SC_DEVICES_MAX, call->m, call->n, call->k, false);
    struct sc_view view[SC_VIEWS_MAX];
    struct operands o = {.count = sc_kernel_views(&k, view)};

    for (int i = 0; i < o.count; i++) {
        double used = view[i].half && !(view[i].access & SC_WRITE) ? 0.5 : 1;

        o.bytes[i] = view[i].access & SC_READ ? (double)sc_view_bytes(&view[i]) * used : 0;
        o.whole[i] = view[i].whole && !sums;
    }
    return o;
}

/* --- the first n devices ------------------------------------------------------------------------------------------ */

struct set {
    double seconds; /* until the last device is done */
    double in;      /* until the devices have their operands */
    double watts;   /* of the devices in `seconds`; 0: unknown */
};

/* Average rate from the other devices to a device (eq. 4); 0: no links. */
static double peer_rate(const struct sc_linkmap *map, int n, int to)
{
    double sum = 0;
    int count = 0;

    for (int d = 0; d < n; d++)
        if (d != to && map->shared.rate[d][to] > 0) {
            sum += map->shared.rate[d][to];
            count++;
        }
    return count ? sum / count : 0;
}

/* Seconds until a device has its operands. An operand that every device needs comes from the host once, in parts, and
 * the devices exchange the parts. */
static double seconds_in(const struct sc_linkmap *map, const struct operands *o, int n, int to)
{
    double between = peer_rate(map, n, to), seconds = 0;

    for (int i = 0; i < o->count; i++) {
        bool passed_on = n > 1 && o->whole[i] && between > 0;
        double part = o->bytes[i] / (o->whole[i] && !passed_on ? 1 : n);

        seconds += sc_linkmap_seconds(map, SC_PLACE_HOST, to, part);
        if (passed_on)
            seconds += o->bytes[i] * (n - 1) / n / between;
    }
    return seconds;
}

static double watts_of(const struct sc_autotuner_call *call, double work, int n)
{
    const struct sc_database *db = call->machine.database;
    double sum = db->idle_watts[SC_PLACE_HOST];

    for (int d = 0; d < db->devices; d++) {
        double watts = d < n ? sc_database_watts(db, d, call->op, call->type, work / n) : db->idle_watts[d];

        if (d < n && watts <= 0)
            return 0;
        sum += watts;
    }
    return sum;
}

/* Returns false if the routine or a link was not measured. Changes the shared rates of the map. */
static bool look_at(const struct sc_autotuner_call *call, const struct operands *o, int n, struct sc_linkmap *map,
                    struct set *set)
{
    double work = sc_op_work(call->op, call->side, (double)call->m, (double)call->n, (double)call->k);
    const struct sc_database *db = call->machine.database;
    struct sc_load load[SC_DEVICES_MAX];

    sc_linkmap_share(map, db, sc_place_bit(n) - 1, sc_place_bit(SC_PLACE_HOST), 0);
    *set = (struct set){0};
    for (int d = 0; d < n; d++) {
        double run = sc_database_seconds(db, d, call->op, call->type, work / n), in = seconds_in(map, o, n, d);

        if (run <= 0)
            return false;
        set->in = larger(set->in, in);
        load[d] = (struct sc_load){.run = run, .in = in};
    }
    set->seconds = sc_loads_seconds(load, n);
    set->watts = watts_of(call, work, n);
    return isfinite(set->seconds) && set->seconds > 0;
}

/* --- how many ----------------------------------------------------------------------------------------------------- */

/* FLOPs, FLOPs^2/W, FLOPs/W. Without a meter every active device counts as one watt. */
static double merit(enum sc_metric metric, const struct set *set, int n)
{
    double rate = 1 / set->seconds, watts = set->watts > 0 ? set->watts : n;

    return metric == SC_METRIC_PERF ? rate : metric == SC_METRIC_EDP ? rate * rate / watts : rate / watts;
}

/* Prepares the comparison; false: the number of devices is not planned. */
static bool begin(const struct sc_autotuner_call *call, struct operands *o, struct sc_linkmap *map)
{
    const struct sc_database *db = call->machine.database;

    if (!db || sc_op_level(call->op) != 3 || sc_op_is_sparse(call->op) || call->machine.devices < 2 ||
        call->machine.devices != db->devices)
        return false;
    *o = operands_of(call);
    sc_linkmap_load(map, db);
    return true;
}

int sc_plan_candidates(const struct sc_autotuner_call *call, double seconds[SC_DEVICES_MAX + 1])
{
    struct sc_linkmap map;
    struct operands o;
    struct set set;

    if (!begin(call, &o, &map))
        return 0;
    for (int n = 1; n <= call->machine.devices; n++) {
        if (!look_at(call, &o, n, &map, &set))
            return n - 1;
        seconds[n] = set.seconds;
    }
    return call->machine.devices;
}

/* Later calls find a distributed matrix on its devices, and gain by every device. So the choice is the largest set
 * among the fastest sets. With an energy metric the choice is the best set. */
int sc_plan_devices(const struct sc_autotuner_call *call, double *in)
{
    double least = HUGE_VAL, most = 0;
    struct sc_linkmap map;
    struct operands o;
    int devices = 0;
    struct set set;

    *in = 0;
    if (!begin(call, &o, &map))
        return 0;
    for (int n = 1; n <= call->machine.devices; n++) {
        if (!look_at(call, &o, n, &map, &set))
            continue;
        least = smaller(least, set.seconds);
        if (merit(call->metric, &set, n) <= most && (call->metric != SC_METRIC_PERF || set.seconds > NEARLY * least))
            continue;
        most = merit(call->metric, &set, n);
        devices = n;
        *in = set.in;
    }
    return devices;
}
/* SPDX-License-Identifier: BSD-2-Clause */
