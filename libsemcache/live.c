#include <config.h>

#include "libsemcache/live.h"

const struct sc_live sc_library_live = {SC_LIVE_SIZES, .stats = &sc_stats, .levels = &sc_levels,
                                        .blocks = &sc_blas_count_blocks, .collected = sc_blas_counts_collected};
/* SPDX-License-Identifier: BSD-2-Clause */
