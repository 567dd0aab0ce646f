/* The protocol's state as followed in a trace, for check.c and check_state.c. */
#ifndef SC_TRACE_CHECK_H
#define SC_TRACE_CHECK_H

#include "base/fence.h"
#include "trace/read.h"

#define SC_CHECK_LOCATIONS (SC_DEVICES_MAX + 1)

/* Index of a location: the host is device -1. */
static inline int sc_check_at(int device) { return device + 1; }

struct sc_check_tile {
    uint64_t sectors; /* that it has */
    uint64_t valid[SC_CHECK_LOCATIONS]; /* valid by the recorded states */
    uint64_t has[SC_CHECK_LOCATIONS];   /* with the newest data, by a write or a copy of newest data */
    uint64_t part[SC_CHECK_LOCATIONS];  /* with the needed parts of sectors that are needed in part */
    uint64_t owed; /* valid on the host without a transfer: right only if the host overwrites them */
    const struct sc_event *owes; /* since when */
    uint64_t given_up; /* lost with a failing device */
    uint64_t base, column, columns, step, width; /* as in SC_EVENT_TILE */
    uint64_t end; /* end of the matrix: the last column may be cut short */
};

struct sc_check_matrix {
    const struct sc_event *made;
    bool live;
    bool kept; /* calls leave the pages open */
    struct sc_check_tile *tiles;
    uint32_t count, room;
    const struct sc_event *lost; /* sectors became valid nowhere: right only if the matrix is being forgotten */
};

/* Pages [lo, hi) with one protection. */
struct sc_check_run {
    uint64_t lo, hi;
    uint8_t prot;
};

struct sc_check_state {
    struct sc_check_matrix *matrices; /* by number, ascending */
    size_t count, room;
    uint32_t *live; /* positions in `matrices`, by address */
    size_t live_count, live_room;
    struct sc_check_run *runs; /* by address; pages outside the runs have full access */
    size_t run_count, run_room;
};

/* The functions return false when memory is short. */
bool sc_check_matrix_add(struct sc_check_state *state, const struct sc_event *event);
bool sc_check_tile_add(struct sc_check_matrix *matrix, const struct sc_event *event);
void sc_check_matrix_forget(struct sc_check_state *state, struct sc_check_matrix *matrix);
bool sc_check_protect(struct sc_check_state *state, uint64_t lo, uint64_t hi, uint8_t prot);
void sc_check_state_end(struct sc_check_state *state);

/* Returns NULL if no matrix has this number. */
struct sc_check_matrix *sc_check_matrix_numbered(struct sc_check_state *state, uint32_t number);
/* Live matrices that meet [lo, hi), ascending: position of the first matrix in state->live, and their number. */
size_t sc_check_matrices_at(const struct sc_check_state *state, uint64_t lo, uint64_t hi, size_t *first);
static inline struct sc_check_matrix *sc_check_live(const struct sc_check_state *state, size_t position)
{
    return &state->matrices[state->live[position]];
}

/* The given sectors that have a byte in [lo, hi). */
uint64_t sc_check_sectors_at(const struct sc_check_tile *tile, uint64_t sectors, uint64_t lo, uint64_t hi);
/* The given sectors that have a byte on a page with a protection below `prot`. */
uint64_t sc_check_sectors_below(const struct sc_check_state *state, const struct sc_check_tile *tile, uint64_t sectors,
                                uint8_t prot);

/* Sectors valid on any device. */
static inline uint64_t sc_check_on_devices(const struct sc_check_tile *tile)
{
    uint64_t any = 0;

    for (int i = sc_check_at(0); i < SC_CHECK_LOCATIONS; i++)
        any |= tile->valid[i];
    return any;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
