/* Which device computes which block of a result: strategies behind one interface.  A strategy answers two questions:
 * how a matrix that is new is cut (sc_schedule_grid), and where each block of a result runs (sc_schedule_assign).
 * Correctness does not depend on the answers: coherence/ brings what a block needs to wherever it runs.
 *
 * Pure functions, so thread safe.  A new strategy is a row of the table in schedule.c. */
#ifndef SC_AUTOTUNER_SCHEDULE_H
#define SC_AUTOTUNER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "autotuner/linkmap.h"
#include "base/config.h"
#include "base/fence.h"

/* A call as rows x cols blocks of its result.  Blocks of one row (column) have the inputs of that row (column) in
 * common.  What is not known is 0 or NULL. */
struct sc_schedule {
    enum sc_strategy strategy;
    int devices;
    int rows, cols;
    const double *work;            /* [i + j * rows]: of the block; 0: it is not part of the call */
    const int *owner;              /* [i + j * rows]: where most of it is, else its home */
    const int *home;               /* [i + j * rows]: where the distribution of the matrix puts it */
    const double *block_bytes;     /* [i + j * rows]: of it that is read, and moved when it runs elsewhere; NULL: 0 */
    const double *result_bytes;    /* [i + j * rows]: of what its owner has now, and gets back then; NULL: 0 */
    const double *host_bytes;      /* [i + j * rows]: of it that is read, and that no device has; NULL: 0 */
    const double *row_bytes, *col_bytes; /* [i], [j]: of the inputs in common */
    const uint32_t *row_at, *col_at;     /* bit d: device d has them already; NULL: none */
    double share[SC_DEVICES_MAX];  /* of the work, by device; all 0: equal ones */
    double rate[SC_DEVICES_MAX];   /* work per second; 0: as fast as the others */
    double link;                   /* bytes per second into a device; 0: transfers are not counted */
    const struct sc_linkmap *map;  /* what is better known of that; NULL: nothing */
    int *device;                   /* [i + j * rows]: filled in */
};

/* Fills in device[]; -1 for blocks without work.  Decides nothing for strategies without an answer of their own
 * (sc_schedule_owns). */
void sc_schedule_assign(const struct sc_schedule *call);

/* Blocks run where they are, so that nothing has to be assigned: owner; auto, while nothing is out of place. */
bool sc_schedule_owns(enum sc_strategy strategy);

/* Devices of the same speed that have about the same work each, so that nothing is gained by other places.  work NULL:
 * the speeds alone. */
bool sc_schedule_is_even(const double *work, const double *rate, int devices);

/* Whether the devices should have parts of the sum of a product (m x k times k x n), and add up partial results, rather
 * than blocks of the result: new operands are strips along the sum then. */
bool sc_schedule_sums(enum sc_strategy strategy, int devices, int64_t m, int64_t n, int64_t k, bool any_size);

/* Into how many tiles a new matrix is cut in each direction.  0, 0: a strip for each device, in the direction that
 * suits the call; so does auto, unless there are two tiles for each device of a row of the grid: then blocks need less
 * of what the others have.  That does not pay where devices pass on to each other in little time what they have from
 * the host: peers is the bandwidth of the slowest link between two devices in that of a link to the host (0: none or
 * unknown).  any_size: tiles may be tiny (SEMCACHE_OFFLOAD=always). */
void sc_schedule_grid(enum sc_strategy strategy, int devices, double peers, int64_t rows, int64_t cols, bool any_size,
                      int *tile_rows, int *tile_cols);

#endif
