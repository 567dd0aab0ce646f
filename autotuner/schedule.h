/* Strategies: the device of each block of a result. A strategy gives two answers: the cut of a new matrix
 * (sc_schedule_grid), and the place of each block of a result (sc_schedule_assign). The result is correct for any
 * answer, because coherence/ brings the inputs of a block to its place.
 *
 * Pure functions, thread safe. A new strategy is a row of the table in schedule.c. */
#ifndef SC_AUTOTUNER_SCHEDULE_H
#define SC_AUTOTUNER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "autotuner/linkmap.h"
#include "base/config.h"
#include "base/fence.h"

/* A call as rows x cols blocks of its result. Blocks of a row (column) share the inputs of the row (column). Unknown
 * fields are 0 or NULL. */
struct sc_schedule {
    enum sc_strategy strategy;
    int devices;
    int rows, cols;
    const double *work;            /* [i + j * rows]: work of the block; 0: not a block of the call */
    const int *owner;              /* [i + j * rows]: device with most of the block, else its home */
    const int *home;               /* [i + j * rows]: device by the distribution of the matrix */
    const double *block_bytes;     /* [i + j * rows]: bytes of the block as an input, for a move to a different device;
                                    * NULL: 0 */
    const double *result_bytes;    /* [i + j * rows]: bytes on the owner, to which they return; NULL: 0 */
    const double *host_bytes;      /* [i + j * rows]: input bytes of the block that no device has; NULL: 0 */
    const double *row_bytes, *col_bytes; /* [i], [j]: bytes of the shared inputs */
    const uint32_t *row_at, *col_at;     /* bit d: device d has the inputs; NULL: none */
    double share[SC_DEVICES_MAX];  /* of the work, by device; all 0: equal shares */
    double rate[SC_DEVICES_MAX];   /* work per second; 0: equal rates */
    double link;                   /* bytes per second into a device; 0: transfers are not counted */
    const struct sc_linkmap *map;  /* better rates than `link`; NULL: unknown */
    int *device;                   /* [i + j * rows]: filled in */
};

/* Fills in device[]; -1: a block without work. Requires a strategy that assigns blocks (sc_schedule_owns is false). */
void sc_schedule_assign(const struct sc_schedule *call);

/* True if blocks run in place without an assignment: strategy owner. */
bool sc_schedule_owns(enum sc_strategy strategy);

/* True if places are predictions only, and devices take blocks as they finish other blocks: strategy dynamic. */
bool sc_schedule_steals(enum sc_strategy strategy);

/* Progress of a call whose devices take blocks as they finish blocks. Numbers of blocks. */
struct sc_schedule_progress {
    int devices;
    int waiting[SC_DEVICES_MAX];  /* enqueued and not finished */
    int finished[SC_DEVICES_MAX];
    bool failed[SC_DEVICES_MAX];  /* takes no more blocks */
};
/* Number of first blocks that stay at their places, of `blocks`. */
int sc_schedule_certain(int blocks);
/* The device of the next block: the planned device, unless a device with less work left would be done much earlier.
 * -1: that device has its blocks, and the caller waits until a block is finished. */
int sc_schedule_take(const struct sc_schedule_progress *progress, int planned);

/* True for devices of one speed with about equal work: no other assignment gains anything. work NULL: compares the
 * speeds only. */
bool sc_schedule_is_even(const double *work, const double *rate, int devices);

/* Whether devices should have parts of the sum of a product (m x k times k x n) and add up partial results, instead of
 * blocks of the result. New operands are strips along the sum then. */
bool sc_schedule_sums(enum sc_strategy strategy, int devices, int64_t m, int64_t n, int64_t k, bool any_size);

/* Number of tiles of a new matrix in both directions. 0, 0: one strip per device, in the direction of the call.
 *
 * Strategy auto takes strips, too, unless a row of the grid has two tiles per device: then blocks need fewer bytes of
 * the other devices. Fast links between devices make tiles unprofitable. peers: bandwidth of the slowest link between
 * two devices over a link of the host (0: no link or unknown). any_size: tiles may be tiny (SEMCACHE_OFFLOAD=always).
 */
void sc_schedule_grid(enum sc_strategy strategy, int devices, double peers, int64_t rows, int64_t cols, bool any_size,
                      int *tile_rows, int *tile_cols);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
