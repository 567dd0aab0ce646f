/* Opening the devices: before the first call that makes opening worthwhile. */
#include <unistd.h>

#include "autotuner/autotuner.h"
#include "autotuner/host_rates.h"
#include "blas/blas.h"
#include "coherence/call.h"

bool (*sc_blas_start)(bool now);

int sc_blas_host_cores(void)
{
    static int cores;

    if (!cores)
        cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return cores;
}

static enum sc_autotuner_opening worth_opening(int op, enum sc_type type, char side, int64_t m, int64_t n, int64_t k)
{
    const struct sc_autotuner_call call = {.op = (enum sc_op)op, .type = type, .side = side, .m = m, .n = n, .k = k,
                                           .machine.cores = sc_blas_host_cores()};

    double seconds;

    if (op < 0)
        return SC_OPENS_NOT;
    seconds = sc_autotuner_estimate(&call);
    sc_host_rates_expect(&call, seconds);
    return sc_autotuner_opens(seconds * sc_host_rates_factor(&call));
}

/* After the first opening sc_blas_start alone decides, because the devices may have been closed since. */
bool sc_blas_started(int op, enum sc_type type, char side, int64_t m, int64_t n, int64_t k)
{
    static bool opened;
    enum sc_autotuner_opening opening;

    if (!sc_blas_start)
        return false;
    if (__atomic_load_n(&opened, __ATOMIC_RELAXED))
        return sc_blas_start(true);
    opening = sc_coherence_devices() > 0 ? SC_OPENS_NOW : worth_opening(op, type, side, m, n, k);
    if (opening == SC_OPENS_NOT || (!sc_blas_start(opening == SC_OPENS_NOW) && opening == SC_OPENS_SOON))
        return false;
    __atomic_store_n(&opened, true, __ATOMIC_RELAXED);
    return sc_blas_start(true);
}
/* SPDX-License-Identifier: BSD-2-Clause */
