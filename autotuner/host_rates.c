#include "autotuner/host_rates.h"

#include <math.h>
#include <string.h>
#include <time.h>

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

static __thread struct timing {
    struct sc_host_mean *mean;
    double predicted;
    struct timespec start;
} timing __attribute__((tls_model("initial-exec")));

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
    timing.mean = mean;
    timing.predicted = predicted;
}

void sc_host_rates_start(void) { clock_gettime(CLOCK_MONOTONIC, &timing.start); }

void sc_host_rates_learn(void)
{
    struct sc_host_mean *mean = timing.mean;
    unsigned calls = __atomic_load_n(&mean->calls, __ATOMIC_RELAXED);
    struct timespec now;
    double factor, before;

    sc_host_rates_expected = false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    factor = ((double)(now.tv_sec - timing.start.tv_sec) + 1e-9 * (double)(now.tv_nsec - timing.start.tv_nsec)) /
             timing.predicted;
    factor = factor < 1 / FACTOR_MOST ? 1 / FACTOR_MOST : factor > FACTOR_MOST ? FACTOR_MOST : factor;
    __atomic_load(&mean->factor, &before, __ATOMIC_RELAXED);
    factor = calls ? before + (factor < before ? WEIGHT_FASTER : WEIGHT_SLOWER) * (factor - before) : factor;
    __atomic_store(&mean->factor, &factor, __ATOMIC_RELAXED);
    if (calls < CALLS_LEAST)
        __atomic_store_n(&mean->calls, calls + 1, __ATOMIC_RELAXED);
}

double sc_host_rates_factor(const struct sc_host_mean *mean)
{
    double factor = 1;

    if (mean && __atomic_load_n(&mean->calls, __ATOMIC_RELAXED) >= CALLS_LEAST)
        __atomic_load(&mean->factor, &factor, __ATOMIC_RELAXED);
    return factor;
}

void sc_host_rates_reset(void) { memset(means, 0, sizeof means); }
/* SPDX-License-Identifier: BSD-2-Clause */
