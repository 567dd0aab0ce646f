/* The table of inner.h. */
#include <config.h>

#include <string.h>

#include "base/config.h"
#include "blas/blas.h"
#include "coherence/access.h"
#include "coherence/call.h"
#include "host/host.h"
#include "libsemcache/inner.h"
#include "libsemcache/library.h"
#include "libsemcache/public.h"

static bool computes(void) { return sc_blas_host_open(sc_config.host_blas) == SC_OK; }

static bool armed(void) { return __atomic_load_n(&sc_blas_start, __ATOMIC_ACQUIRE) == sc_library_start; }

static bool emulated(void) { return strncmp(sc_config.device, "emu", 3) == 0; }

static bool pin(const void *memory) { return armed() && sc_library_start(true) && sc_coherence_pin(memory) == SC_OK; }

static void *united_alloc(size_t bytes)
{
    return armed() && sc_library_start(true) ? sc_coherence_united_alloc(bytes) : NULL;
}

static enum sc_um_kernels kernels(void) { return sc_config.um_kernels; }

static const struct sc_library_inner inner = {.abi = SC_LIBRARY_INNER_ABI,
                                              .size = sizeof inner,
                                              .log = sc_log,
                                              .computes = computes,
                                              .armed = armed,
                                              .emulated = emulated,
                                              .holds = sc_host_in_arena,
                                              .pin = pin,
                                              .alias = sc_host_alias,
                                              .united_alloc = united_alloc,
                                              .separate = sc_coherence_separate,
                                              .lends = sc_coherence_lends,
                                              .lend = sc_coherence_lend,
                                              .lend_again = sc_coherence_lend_again,
                                              .spare = sc_coherence_spare,
                                              .kernels = kernels,
                                              .serve = sc_library_serve,
                                              .calls = sc_coherence_calls,
                                              .sparse_find = sc_sparse_find,
                                              .sparse_destroy = sc_sparse_destroy,
                                              .sparse_mv = sc_sparse_mv,
                                              .sparse_mm = sc_sparse_mm,
                                              .sparse_sv = sc_sparse_sv,
                                              .sparse_sm = sc_sparse_sm};

const struct sc_library_inner *sc_library_inner(void) { return &inner; }
/* SPDX-License-Identifier: BSD-2-Clause */
