/* A call as a veneer makes it, for tests that link the host's kernels (tests/coherence_env.h). */
#ifndef SC_TESTS_OFFLOADED_H
#define SC_TESTS_OFFLOADED_H

#include "blas/blas.h"
#include "tests/coherence_env.h"

/* Whether the call ran on devices; else the host has done the call. */
static inline bool offloaded(struct sc_kernel k)
{
    struct sc_view operands[SC_VIEWS_MAX];

    if (sc_blas_offload(1, &k, false, NULL))
        return true;
    sc_blas_host_operands(operands, sc_kernel_views(&k, operands));
    sc_inside_enter();
    sc_device_kernel_host(env_symbol, &k);
    sc_inside_leave();
    return false;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
