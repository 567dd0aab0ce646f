/* Prediction of a call on the host and on the devices (rule A2): by the database; for routines without measurements by
 * a roofline with latencies, within a factor of two. */
#include "autotuner/columns.h"
#include "autotuner/decide.h"
#include "autotuner/plan.h"
#include "autotuner/strips.h"

#include <math.h>

#define CHAIN 256.0        /* rows of a triangle's block on the diagonal */

static double products(const struct sc_autotuner_call *call)
{
    if (sc_op_is_banded(call->op) || sc_op_is_sparse(call->op))
        return (double)call->bytes / (double)sc_type_bytes(call->type); /* an element is used once or twice */
    return sc_op_work(call->op, call->side, (double)call->m, (double)call->n, (double)call->k);
}

double sc_autotuner_flops(const struct sc_autotuner_call *call)
{
    double rate = sc_op_is_lapack(call->op) ? sc_op_rate[call->op] : 2;

    return products(call) * rate * (sc_type_is_complex(call->type) ? 4 : 1);
}

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

double sc_autotuner_now(const struct sc_autotuner_prediction *p)
{
    return p->device + p->move - p->overlap + (p->kept ? 0 : p->result);
}

/* --- what was measured -------------------------------------------------------------------------------------------- */

/* Blocks of CHAIN rows on the diagonal of a triangle run in sequence, for any width of the other operand. */
static double chain_seconds(const struct sc_autotuner_call *call, int place)
{
    double rows = (double)sc_side_order(call->side, call->m, call->n);
    double work = sc_op_work(call->op, 'L', CHAIN, CHAIN, 0);

    if ((call->op != SC_OP_TRSM && call->op != SC_OP_TRMM) || place == SC_PLACE_HOST)
        return 0;
    return rows / CHAIN * sc_database_seconds_of(call->machine.database, place, call->op, call->type, work,
                                                 call->columns);
}

/* trsm with fewer rows than a quick measurement has. */
static bool is_short_solve(const struct sc_autotuner_call *call)
{
    return call->op == SC_OP_TRSM && call->machine.solve > 0 &&
           sc_side_order(call->side, call->m, call->n) < 2 * SC_SOLVE_ROWS;
}

/* Seconds of a part of a product with one small extent, by thin kernels; 0: no thin kernels. */
static double thin_seconds(const struct sc_autotuner_call *call, int place, int parts)
{
    enum sc_op op = call->op;
    double size, thin;

    switch (op) {
    case SC_OP_GEMM:
        size = call->k < call->m && call->k < call->n ? sqrt((double)call->m * (double)call->n / parts) : 0;
        thin = (double)call->k;
        break;
    case SC_OP_SYRK:
    case SC_OP_HERK:
    case SC_OP_GEMMT:
    case SC_OP_SYR2K:
    case SC_OP_HER2K:
        op = op == SC_OP_SYR2K || op == SC_OP_HER2K ? SC_OP_SYR2K : SC_OP_SYRK;
        size = (double)call->n / sqrt(parts);
        thin = (double)call->k;
        break;
    case SC_OP_SYMM:
    case SC_OP_HEMM:
    case SC_OP_TRMM:
    case SC_OP_TRSM:
        op = op == SC_OP_HEMM ? SC_OP_SYMM : op;
        size = (double)sc_side_order(call->side, call->m, call->n);
        thin = (call->side == 'R' ? (double)call->m : (double)call->n) / parts;
        break;
    default: return 0;
    }
    return sc_database_seconds_of_thin(call->machine.database, place, op, call->type, size, thin, call->columns);
}

/* Seconds of 1 / `parts` of the call at a place; 0: unknown. Memory bounds a product of odd shape, and not a product of
 * the same work with equal extents. */
static double measured(const struct sc_autotuner_call *call, int place, int parts)
{
    const struct sc_database *db = call->machine.database;
    double seconds, rate;

    if (!db || sc_op_is_banded(call->op) || sc_op_is_lapack(call->op) || (call->loops && place == SC_PLACE_HOST))
        return 0;
    if (sc_op_is_sparse(call->op)) /* on the host by loops of the library's own */
        return place == SC_PLACE_HOST || call->terms > 0
                   ? 0 : sc_database_seconds(db, place, SC_OP_GEMV, call->type, products(call) / parts);
    seconds = thin_seconds(call, place, parts);
    if (seconds <= 0) {
        seconds = sc_database_seconds_of(db, place, call->op, call->type, products(call) / parts,
                                         place == SC_PLACE_HOST ? SC_COLUMNS_ANY : call->columns);
        seconds = larger(seconds, chain_seconds(call, place));
    }
    rate = sc_op_level(call->op) == 3 ? sc_database_memory_rate(db, place) : 0;
    return seconds > 0 && rate > 0 ? larger(seconds, (double)call->bytes / parts / rate) : seconds;
}

/* --- predictions -------------------------------------------------------------------------------------------------- */

/* Flops of double precision; single precision has twice the rate. */
static double weighed_flops(const struct sc_autotuner_call *call)
{
    return sc_autotuner_flops(call) / (call->type == SC_S || call->type == SC_C ? 2 : 1);
}

/* Host time by the sizes. For sparse matrices the host has loops on one processor. */
static double host_by_sizes(const struct sc_autotuner_call *call, double bytes)
{
    struct sc_machine one = {.cores = 1};

    if (call->terms > 0)
        return call->terms * SC_TERM_HOST_SECONDS;
    if (call->loops)
        return sc_machine_loop_seconds(bytes);
    return sc_op_is_sparse(call->op) ? sc_machine_host_seconds(&one, 0, bytes)
                                     : sc_machine_host_seconds(&call->machine, weighed_flops(call), bytes);
}

/* Host time of a LAPACK routine: the rate of a matrix product of the same arithmetic, and the memory's rate. */
static double host_of_lapack(const struct sc_autotuner_call *call)
{
    struct sc_autotuner_call product = *call;
    double side = cbrt(sc_autotuner_flops(call) / (sc_type_is_complex(call->type) ? 8 : 2)), seconds;

    product.op = SC_OP_GEMM;
    product.m = product.n = product.k = (int64_t)side + 1;
    product.bytes = 0;
    seconds = measured(&product, SC_PLACE_HOST, 1);
    if (seconds <= 0)
        seconds = host_by_sizes(&product, 0);
    return larger(seconds / sc_machine_host_lapack(call->op), host_by_sizes(&product, (double)call->bytes) -
                                                                 host_by_sizes(&product, 0));
}

/* The prediction before the devices are open, by the sizes. */
double sc_autotuner_estimate(const struct sc_autotuner_call *call)
{
    bool dense = sc_op_level(call->op) == 3 && !sc_op_is_sparse(call->op);

    if (sc_op_is_lapack(call->op))
        return host_of_lapack(call);
    return host_by_sizes(call, dense ? 0 : products(call) * (double)sc_type_bytes(call->type));
}

/* Host time without the learned factor. */
static double host_seconds(const struct sc_autotuner_call *call)
{
    double seconds = sc_op_is_lapack(call->op) ? host_of_lapack(call) : measured(call, SC_PLACE_HOST, 1);

    return seconds > 0 ? seconds : host_by_sizes(call, (double)call->bytes);
}

/* Seconds of fetches; no bytes take no time. */
static double fetch_seconds(uint64_t copies, uint64_t bytes, double link)
{
    return bytes ? (double)copies * SC_FAULT_SECONDS + (double)bytes / link : 0;
}

/* Devices of the call: the holders of the largest operand, or its later holders. `in`: seconds until the devices have
 * the operands from the host. */
struct spread {
    int devices;
    double in;
};

static struct spread spread_of(const struct sc_autotuner_call *call, int planned, double in)
{
    uint64_t bytes = call->largest ? call->largest : call->bytes;
    struct spread spread = {.devices = call->holders};

    if (sc_op_is_lapack(call->op)) /* several devices only for factorizations by blocks of columns */
        return (struct spread){.devices = planned < 2 || !call->device_bytes ? planned : call->holders};
    if (!call->device_bytes)
        spread = (struct spread){planned, in};
    else if (!call->holders && call->largest)
        spread.devices = planned;
    if (!spread.devices)
        spread.devices = (sc_op_level(call->op) == 1 ? sc_plan_spread_vector : sc_plan_spread)(
            bytes, call->machine.devices, SC_OFFLOAD_AUTO);
    if (spread.devices < 2)
        spread.in = 0;
    return spread;
}

/* Seconds until the first bytes of the operands arrive; every device requests its part. */
static double arrival_seconds(const struct sc_autotuner_call *call, int arrivals, int devices)
{
    const struct sc_database *db = call->machine.database;

    return arrivals * (sc_machine_calls(&call->machine).arrival + (devices - 1) * (db ? db->enqueue : 0));
}

/* Threads of the host BLAS spin for 0.1 s after a call, and every closing of pages interrupts the threads. (Jacobi on
 * H200s: r, written by a host with 32 or 64 processors, came 45 and 80 us later than predicted.) */
static double interrupting(const struct sc_autotuner_call *call)
{
    return call->machine.emulated ? 0 : call->machine.cores * SC_INTERRUPT_SECONDS;
}

static double down_rate(const struct sc_autotuner_call *call, const struct spread *spread)
{
    return sc_machine_host_rate(&call->machine, SC_SET_DOWN, spread->devices);
}

/* Seconds for missing operands and for closing of pages. */
static double move_seconds(const struct sc_autotuner_call *call, double missing, const struct spread *spread)
{
    struct sc_database_calls overhead = sc_machine_calls(&call->machine);
    double seconds = call->closings * (overhead.closing + interrupting(call));

    if (missing > 0)
        seconds += arrival_seconds(call, call->arrivals > 1 ? call->arrivals : 1, spread->devices) +
                   larger(missing / (down_rate(call, spread) * overhead.links), spread->in);
    return seconds;
}

/* Consequences of a call on the host: results with a demand are uploaded, and fetched pages are open until a device
 * writes the matrix again. */
static double back_seconds(const struct sc_autotuner_call *call, const struct spread *spread)
{
    struct sc_database_calls overhead = sc_machine_calls(&call->machine);
    double seconds = call->openings * (overhead.closing + interrupting(call));

    if (call->back)
        seconds += arrival_seconds(call, call->back, spread->devices) + call->back * interrupting(call) +
                   (double)call->go_back / (down_rate(call, spread) * overhead.links);
    return seconds;
}

/* Number of strips of at least `width`, limited. */
static int usual_parts(int64_t extent, int64_t width)
{
    int64_t parts = extent / width;

    return parts < 1 ? 1 : parts < SC_STRIPS_FEW ? (int)parts : SC_STRIPS_FEW;
}

/* The missing operand is not known: bytes of the operands that every device needs, unless they are resident. */
static double missing_of_a(const struct sc_autotuner_call *call, double missing)
{
    const struct sc_kernel k = {.op = call->op, .type = call->type, .transa = 'N', .transb = 'N', .side = call->side,
                                .m = call->m, .n = call->n, .k = call->k};
    struct sc_view view[SC_VIEWS_MAX];
    double bytes = 0;

    for (int i = sc_kernel_views(&k, view) - 1; i >= 0; i--)
        bytes += view[i].whole ? (double)sc_view_bytes(&view[i]) : 0;
    if ((double)call->device_bytes >= bytes && bytes >= (double)call->largest)
        return 0;
    return smaller(bytes, missing);
}

/* Describes the part of one device in a gemm: columns of C, and one tile of A along the sum per device. */
static void describe(const struct sc_autotuner_call *call, int devices, double kernel, double missing,
                     struct sc_strips *s)
{
    *s = (struct sc_strips){.kernel = kernel, .devices = devices, .sum = call->k, .columns = call->n / devices,
                            .parts = {devices, 1}, .blocks = 1, .tiles = 1, .rows = call->m,
                            .apart = true, .half = 1,
                            .least = (call->k > call->n ? call->k : call->n) / SC_STRIPS_OPERANDS};
    s->again = 2 * (double)call->result_bytes / devices / sc_machine_memory_bandwidth(&call->machine);
    sc_strips_machine(s, &call->machine, missing, missing_of_a(call, missing), (double)call->result_bytes);
}

/* Seconds until the kernels of other routines are done; `in`: seconds of the missing operands. */
static double others_together(const struct sc_autotuner_call *call, int devices, double kernel, double in,
                              double missing)
{
    double a_in = in * missing_of_a(call, missing) / missing;
    int a = usual_parts(call->k, SC_STRIPS_USUAL), b = 1;

    if (sc_op_has_side(call->op)) {
        a = usual_parts(sc_side_order(call->side, call->m, call->n), SC_STRIPS_BLOCK);
        b = call->side == 'R' || devices > 1 ? 1 : usual_parts(call->n, SC_STRIPS_USUAL);
    }
    return sc_strips_in_turn(kernel, a_in, in - a_in, a > devices ? a : devices, b); /* one tile of A per device */
}

/* The time of kernels and transfers that strips can hide. */
static double hideable(const struct sc_autotuner_call *call, int devices, double device, double missing)
{
    struct sc_strips_choice choice;
    struct sc_strips strips;
    double together;

    if (sc_op_level(call->op) != 3 || sc_op_is_sparse(call->op) || !call->machine.database ||
        missing < SC_PIPELINE_BYTES)
        return 0;
    describe(call, devices, device, missing, &strips);
    if (call->op == SC_OP_GEMM) {
        sc_strips_choose(&strips, &choice);
        together = sc_strips_computed(&strips, choice.width[choice.best], choice.first[choice.best]);
    } else {
        together = others_together(call, devices, device, strips.in, missing);
    }
    return larger(strips.kernel + strips.in - together, 0);
}


/* --- energy ------------------------------------------------------------------------------------------------------- */

/* Energy * time of two places compares as time * sqrt(watts), and energy as time * watts. */
static double weight_of(const struct sc_autotuner_call *call, int devices)
{
    enum sc_op op = sc_op_is_sparse(call->op) ? SC_OP_GEMV : sc_op_is_lapack(call->op) ? SC_OP_GEMM : call->op;
    double there, here;

    if (call->metric == SC_METRIC_PERF)
        return 1;
    there = sc_machine_watts(&call->machine, op, call->type, products(call), devices);
    here = sc_machine_watts(&call->machine, op, call->type, products(call), 0);
    if (there <= 0 || here <= 0)
        return 1;
    return call->metric == SC_METRIC_EDP ? sqrt(there / here) : there / here;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

/* Seconds of the kernels of 1 / `parts` of a call on one device. No other function models kernels. */
static double kernels(const struct sc_autotuner_call *call, int parts)
{
    double seconds = measured(call, 0, parts), flops = weighed_flops(call) / parts;
    double solves = sc_solve_seconds(call->op, call->side, call->m, call->n, call->machine.solve);
    struct sc_column_blocks columns;

    if (call->terms > 0)
        return SC_TERMS_SECONDS + call->terms * SC_TERM_SECONDS;
    if (sc_op_is_lapack(call->op)) {
        sc_column_blocks_on(call, parts, false, &columns);
        return columns.seconds;
    }
    if (seconds <= 0)
        seconds = larger(flops / sc_machine_gemm_flops(&call->machine),
                         (double)call->bytes / parts / sc_machine_memory_bandwidth(&call->machine));
    if (is_short_solve(call))
        seconds = solves + flops / sc_machine_gemm_flops(&call->machine);
    seconds = larger(seconds, solves); /* by the device's own figure: a quick measurement has only some of the types */
    seconds = larger(seconds, (double)call->chain * SC_CHAIN_SECONDS);
    return seconds + call->launches * SC_LAUNCH_SECONDS;
}

double sc_predict_kernels(const struct sc_autotuner_call *call, int64_t m, int64_t n, int64_t k, int devices)
{
    struct sc_autotuner_call part = *call;

    if (sc_op_level(call->op) < 3 && !call->machine.database)
        return 0;
    part.m = m;
    part.n = n;
    part.k = k;
    return kernels(&part, devices);
}

void sc_predict_anew(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *out)
{
    double in = 0, link, missing;
    struct spread spread;

    *out = (struct sc_autotuner_prediction){.metric = call->metric};
    if (sc_op_is_lapack(call->op))
        out->planned = sc_column_blocks_devices(call);
    else if (call->device_bytes < call->bytes) /* else no matrix is new */
        out->planned = sc_plan_devices(call, &in);
    spread = spread_of(call, out->planned, in);
    link = sc_machine_host_rate(&call->machine, SC_SET_UP, spread.devices);
    out->fetch = fetch_seconds(1, call->device_only - call->made_elsewhere, link);
    out->alone = host_seconds(call);
    out->host = fetch_seconds(1, call->device_only, link);
    out->back = back_seconds(call, &spread);
    out->device = sc_machine_start(&call->machine, call->op) + kernels(call, spread.devices);
    if (call->machine.devices > 1)
        out->kernels = sc_predict_kernels(call, call->m, call->n, call->k, call->machine.devices);
    out->device += 2 * (double)call->untracked / SC_PAGEABLE_BANDWIDTH; /* copied in every call */
    missing = (double)call->bytes - (double)call->device_bytes - (double)call->untracked - (double)call->overwritten +
              (double)call->beside;
    out->move = move_seconds(call, missing, &spread) + fetch_seconds(1, call->reshaped, link);
    if (call->chain && !call->stays)
        out->move += SC_ANALYSIS_SOLVES * out->device;
    out->result = fetch_seconds(1, call->result_bytes, link) + (call->result_bytes ? interrupting(call) : 0);
    out->kept = call->device_only > 0;
    out->devices = spread.devices;
    out->hideable = hideable(call, spread.devices, out->device, missing);
    out->overlap = sc_machine_calls(&call->machine).hidden[call->op != SC_OP_GEMM] * out->hideable;
    out->weight = weight_of(call, spread.devices);
}

void sc_predict_history(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *out)
{
    double link = sc_machine_host_rate(&call->machine, SC_SET_UP, out->devices);

    out->fetched = fetch_seconds(call->fetches, call->came_home, link);
    out->waited = call->waited;
}

bool sc_autotuner_gathers(uint64_t bytes, int devices, double peer_rate, enum sc_offload mode)
{
    return mode != SC_OFFLOAD_ALWAYS && peer_rate > 0 && (double)bytes / peer_rate < (devices - 1) * SC_LAUNCH_SECONDS;
}
/* SPDX-License-Identifier: BSD-2-Clause */
