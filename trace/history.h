/* What moved and what devices held over time, in bins of equal time: for the pictures of a report. */
#ifndef SC_TRACE_HISTORY_H
#define SC_TRACE_HISTORY_H

#include "trace/read.h"

#define SC_HISTORY_BINS 120
#define SC_HISTORY_ARRAYS 12
#define SC_HISTORY_ROWS 24 /* of a picture of tiles: a row is a tile, or several neighbours */

struct sc_history_array {
    uint32_t matrix;
    uint64_t bytes[SC_TRANSFERS];
    uint8_t percent[SC_HISTORY_BINS]; /* of the sectors that devices have, at the end of the bin */
    uint32_t tiles;
    uint32_t rows;
    /* Of `rows` rows: bit s if a sector was in state s (enum sc_msi) within the bin; 0: there was no tile. */
    uint8_t (*seen)[SC_HISTORY_BINS];
};

struct sc_history_link {
    int from, to; /* devices; -1: the host */
    uint64_t all, bytes[SC_HISTORY_BINS];
};

struct sc_history {
    uint64_t first, last; /* nanoseconds */
    struct sc_history_array arrays[SC_HISTORY_ARRAYS]; /* those with most moved bytes, in order */
    size_t array_count, other_count; /* other_count: arrays that are not among `arrays` */
    uint64_t other_bytes[SC_TRANSFERS];
    struct sc_history_link *links; /* used links; most bytes first */
    size_t link_count, link_room;
    uint64_t traffic[SC_TRANSFERS][SC_HISTORY_BINS], faults[SC_HISTORY_BINS];
};

/* Owned by the caller; NULL: no memory. */
struct sc_history *sc_history_new(const struct sc_trace_reading *trace);
void sc_history_free(struct sc_history *history);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
