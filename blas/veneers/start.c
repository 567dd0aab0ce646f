/* Opening the devices: before the first call that makes opening worthwhile. */
#include <string.h>
#include <unistd.h>

#include "autotuner/autotuner.h"
#include "autotuner/host_rates.h"
#include "autotuner/linkmap.h"
#include "autotuner/opening.h"
#include "autotuner/start.h"
#include "base/config.h"
#include "blas/blas.h"
#include "coherence/call.h"
#include "coherence/devices.h"

bool (*sc_blas_start)(bool now);

int sc_blas_host_cores(void)
{
    static int cores;

    if (!cores)
        cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return cores;
}

static struct sc_autotuner_call call_of(int op, enum sc_type type, char side, int64_t m, int64_t n, int64_t k)
{
    return (struct sc_autotuner_call){.op = (enum sc_op)op, .type = type, .side = side, .m = m, .n = n, .k = k,
                                      .machine.cores = sc_blas_host_cores()};
}

static enum sc_autotuner_opening worth_opening(int op, enum sc_type type, char side, int64_t m, int64_t n, int64_t k)
{
    const struct sc_autotuner_call call = call_of(op, type, side, m, n, k);

    return op < 0 ? SC_OPENS_NOT : sc_autotuner_opens(&call);
}

/* A GPU's library for LAPACK takes 0.12 s to load (bench/lapack_rates), as much as the routines before have taken. */
#define LAPACK_SECONDS 0.12

bool sc_blas_lapack_started(const struct sc_kernel *k)
{
    static bool loaded;
    static double spent; /* racing updates lose some */
    const struct sc_autotuner_call call = call_of(k->op, k->type, k->side, k->m, k->n, k->k);
    double sum;

    if (!sc_blas_started(k->op, k->type, k->side, k->m, k->n, k->k))
        return false;
    if (__atomic_load_n(&loaded, __ATOMIC_RELAXED))
        return true;
    __atomic_load(&spent, &sum, __ATOMIC_RELAXED);
    sum += sc_autotuner_estimate(&call);
    __atomic_store(&spent, &sum, __ATOMIC_RELAXED);
    if (sc_config.offload == SC_OFFLOAD_AUTO && sum < LAPACK_SECONDS &&
        !(sc_config.device && strncmp(sc_config.device, "emu", 3) == 0))
        return false;
    __atomic_store_n(&loaded, true, __ATOMIC_RELAXED);
    return true;
}

/* After the first opening sc_blas_start alone decides, because the devices may have been closed since. */
bool sc_blas_started(int op, enum sc_type type, char side, int64_t m, int64_t n, int64_t k)
{
    static bool opened;
    enum sc_autotuner_opening opening;

    sc_host_rates_cancel(); /* of a call that did not run on the host */
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

void sc_blas_links(void)
{
    static struct sc_exchange_rates rates;
    struct sc_linkmap map;

    sc_machine_exchange(sc_autotuner_database(), &rates);
    sc_coherence_exchanges(&rates);
    if (sc_autotuner_database()) {
        sc_linkmap_load(&map, sc_autotuner_database());
        sc_coherence_links(&map.shared);
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
