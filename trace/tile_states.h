/* The states of a tile's sectors, as the events of a trace tell. */
#ifndef SC_TRACE_TILE_STATES_H
#define SC_TRACE_TILE_STATES_H

#include "trace/trace.h"

struct sc_tile_states {
    uint64_t all, state[3]; /* sectors: all, and those in each state (enum sc_msi) */
};

/* Of an event SC_EVENT_TILE: a tile begins on the host. */
struct sc_tile_states sc_tile_states_new(const struct sc_event *event);
/* Follows an event SC_EVENT_STATE. Returns the sectors of the event that the tile has; 0: the file is damaged. */
uint64_t sc_tile_states_follow(struct sc_tile_states *tile, const struct sc_event *event);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
