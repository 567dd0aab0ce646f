/* When the devices are opened: before the first call that makes it worth while. */
#include <unistd.h>

#include "autotuner/autotuner.h"
#include "blas/blas.h"
#include "coherence/coherence.h"

bool (*sc_blas_start)(void);

int sc_blas_host_cores(void)
{
    static int cores;

    if (!cores)
        cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return cores;
}

static bool worth_opening(int op, enum sc_type type, char side, int64_t m, int64_t n, int64_t k)
{
    const struct sc_autotuner_call call = {.op = (enum sc_op)op, .type = type, .side = side, .m = m, .n = n, .k = k,
                                           .machine.cores = sc_blas_host_cores()};

    return op >= 0 && sc_autotuner_opens(sc_autotuner_estimate(&call));
}

/* Once they were open sc_blas_start knows: they may have been closed since. */
bool sc_blas_started(int op, enum sc_type type, char side, int64_t m, int64_t n, int64_t k)
{
    static bool opened;

    if (!sc_blas_start)
        return false;
    if (!__atomic_load_n(&opened, __ATOMIC_RELAXED) && sc_coherence_devices() < 1 &&
        !worth_opening(op, type, side, m, n, k))
        return false;
    __atomic_store_n(&opened, true, __ATOMIC_RELAXED);
    return sc_blas_start();
}
