#include "autotuner/host_rates.h"

#include <math.h>
#include <string.h>

#include "autotuner/explain.h"
#include "autotuner/opening.h"

#define CACHE_LINE  64   /* bytes */
#define SIZES       24   /* classes of work by powers of 4 */
/* Weight of the latest call in the mean. A slower call has a small weight: devices may have interrupted the host's
 * threads, and a lower rate of the host would send more calls to the devices. */
#define WEIGHT_FASTER 0.25
#define WEIGHT_SLOWER 0.02
#define CALLS_LEAST 3    /* minimum number for a mean: the first call of a library starts its threads */
#define FACTOR_MOST 8.0

__thread bool sc_host_rates_expected __attribute__((tls_model("initial-exec")));

/* Calls of the BLAS by level, of LAPACK by routine.  Separate factors for predictions by measurements [1] and by
 * constants [0]. */
static struct sc_host_mean {
    double factor;
    unsigned calls;
} means[2][4 + SC_OPS_ALL - SC_OP_POTRF][SC_TYPES][SIZES];

/* Calls of level 3 and of LAPACK before the devices are open, in seconds. The constants of the predictions are for a
 * slow host: a routine's first call is predicted better by the other routines' calls. */
static struct {
    double measured, predicted;
} arithmetic;

static __thread struct sc_host_timing announced __attribute__((tls_model("initial-exec")));

/* A vector with a stride of a cache line or more: its elements may share no line and no page. */
static bool is_spread(const struct sc_view *v)
{
    return v->vector && v->rows > 1 && (size_t)(v->ld < 0 ? -v->ld : v->ld) * sc_type_bytes(v->type) >= CACHE_LINE;
}

/* Calls of level 1 whose time depends on where the elements lie, which devices must fetch from the same places. */
static bool is_apart(const struct sc_autotuner_call *call)
{
    if (sc_op_is_lapack(call->op) || sc_op_level(call->op) != 1)
        return false;
    for (int i = 0; call->view && i < call->operands; i++)
        if (is_spread(&call->view[i]))
            return true;
    return !call->view;
}

struct sc_host_mean *sc_host_rates_of(const struct sc_autotuner_call *call)
{
    double work = sc_autotuner_flops(call);
    int kind = sc_op_is_lapack(call->op) ? 4 + (int)(call->op - SC_OP_POTRF) : sc_op_level(call->op);
    int size = work >= 4 ? ilogb(work) / 2 : 0;

    if (call->machine.emulated || call->loops || is_apart(call))
        return NULL;
    size = size < SIZES ? size : SIZES - 1;
    return &means[call->machine.database != NULL][kind][call->type][size];
}

void sc_host_rates_expect(struct sc_host_mean *mean, double predicted)
{
    sc_host_rates_expected = predicted > 0 && mean;
    announced.mean = mean;
    announced.predicted = predicted;
    announced.counts = false;
}

static double atomic(const double *value)
{
    double copy;

    __atomic_load(value, &copy, __ATOMIC_RELAXED);
    return copy;
}

static void add(double *value, double seconds)
{
    double sum = atomic(value) + seconds;

    __atomic_store(value, &sum, __ATOMIC_RELAXED);
}

static double within(double factor)
{
    return factor < 1 / FACTOR_MOST ? 1 / FACTOR_MOST : factor > FACTOR_MOST ? FACTOR_MOST : factor;
}

static bool is_known(const struct sc_host_mean *mean)
{
    return mean && __atomic_load_n(&mean->calls, __ATOMIC_RELAXED) >= CALLS_LEAST;
}

double sc_host_rates_count(const struct sc_autotuner_call *call, double predicted)
{
    struct sc_host_mean *mean = sc_host_rates_of(call);
    bool is_lapack = sc_op_is_lapack(call->op), is_arithmetic = is_lapack || sc_op_level(call->op) == 3;
    double factor = sc_host_rates_factor(mean), measured = atomic(&arithmetic.measured),
           expected = atomic(&arithmetic.predicted);

    if (is_arithmetic && !is_known(mean) && measured < expected)
        factor = within(measured / expected);
    sc_host_rates_expect(mean, predicted);
    sc_host_rates_expected = predicted > 0; /* without a mean, too */
    announced.counts = true;
    announced.is_arithmetic = is_arithmetic;
    announced.is_lapack = is_lapack;
    return factor * predicted;
}

static void start(struct sc_host_timing *timing)
{
    timing->spent = sc_autotuner_spent();
    timing->begun = sc_explain_clock(-1);
}

void sc_host_rates_start(void) { start(&announced); }

void sc_host_rates_begin_outer(struct sc_host_timing *timing)
{
    timing->predicted = 0;
    if (!sc_host_rates_expected)
        return;
    sc_host_rates_expected = false;
    *timing = announced;
    start(timing);
}

static void learn(struct sc_host_mean *mean, double factor)
{
    unsigned calls = __atomic_load_n(&mean->calls, __ATOMIC_RELAXED);
    double before = atomic(&mean->factor);

    factor = within(factor);
    factor = calls ? before + (factor < before ? WEIGHT_FASTER : WEIGHT_SLOWER) * (factor - before) : factor;
    __atomic_store(&mean->factor, &factor, __ATOMIC_RELAXED);
    if (calls < CALLS_LEAST)
        __atomic_store_n(&mean->calls, calls + 1, __ATOMIC_RELAXED);
}

void sc_host_rates_end_outer(const struct sc_host_timing *timing)
{
    double measured;

    if (timing->predicted <= 0)
        return;
    measured = sc_explain_clock(-1) - timing->begun;
    if (timing->mean)
        learn(timing->mean, measured / timing->predicted);
    if (!timing->counts)
        return;
    sc_opening_ran(timing->spent, measured, timing->is_lapack);
    if (timing->is_arithmetic) {
        add(&arithmetic.measured, measured);
        add(&arithmetic.predicted, timing->predicted);
    }
}

void sc_host_rates_learn(void)
{
    sc_host_rates_expected = false;
    sc_host_rates_end_outer(&announced);
}

double sc_host_rates_factor(const struct sc_host_mean *mean) { return is_known(mean) ? atomic(&mean->factor) : 1; }

void sc_host_rates_reset(void)
{
    memset(means, 0, sizeof means);
    memset(&arithmetic, 0, sizeof arithmetic);
}
/* SPDX-License-Identifier: BSD-2-Clause */
