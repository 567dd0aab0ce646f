/* Where the counters of a process are, for `semcache stat`.  The command reads the table and the counters from outside
 * the process, and the process does no work for it. */
#ifndef SC_LIBSEMCACHE_LIVE_H
#define SC_LIBSEMCACHE_LIVE_H

#include <stdint.h>

#include "blas/blas.h"
#include "trace/trace.h"

#define SC_LIVE_NAME "sc_library_live"

struct sc_live {
    char version[24];                            /* of the package */
    uint32_t bytes, stats_bytes, levels_bytes, block_bytes; /* sizes of this struct and of the counters */
    const struct sc_stats *stats;
    const struct sc_levels *levels;
    struct sc_blas_count_block *const *blocks;   /* calls on the host; the part in `collected` is in stats->host, too */
    const uint64_t *collected;
};

#define SC_LIVE_SIZES                                                                                                 \
    .version = PACKAGE_VERSION, .bytes = sizeof(struct sc_live), .stats_bytes = sizeof(struct sc_stats),              \
    .levels_bytes = sizeof(struct sc_levels), .block_bytes = sizeof(struct sc_blas_count_block)

extern const struct sc_live sc_library_live __attribute__((visibility("default")));

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
