/* One question, one plan. A call asks once, before sc_coherence_begin, about the decisions that follow from the
 * machine, the call and the residency of its operands: place of the call, number of devices, cuts of new matrices,
 * share of the host, the limits that blas/run/ obeys, and the exchange of the result.
 *
 * Two decisions need numbers that only sc_coherence_begin finds: the cuts of existing matrices, and the device of each
 * block. These decisions are the places of blocks and the widths of strips. sc_plan_refine adds them to the plan.
 *
 * Thread safe. Predictions are remembered by question and settings (policy.h): a repeated question costs less than 1 us
 * (bench/decide). */
#ifndef SC_AUTOTUNER_PLAN_H
#define SC_AUTOTUNER_PLAN_H

#include "autotuner/autotuner.h"
#include "autotuner/schedule.h"
#include "autotuner/trials.h"

/* Widths of strips are in columns. */
struct sc_plan {
    bool devices;  /* true: on devices; false: on the host */
    int want;      /* demand of the call for its operands (demand.h); 0 on the host */
    int spread;    /* devices that new matrices are distributed over; 0: each by its size */
    bool sums;     /* devices have parts of the sum of a product, and add up */
    struct {
        int spread;               /* devices that the operand is distributed over, if it is new */
        int tile_rows, tile_cols; /* tiles of a new matrix, dealt out block-cyclically; 0: one strip per device */
        int64_t strip;            /* a new matrix has strips of so many rows, dealt out in turn; 0: no such strips */
        int64_t width;            /* columns of a tile of these strips; 0: all columns */
        bool reflected;           /* every second turn goes from the last device to the first */
    } operand[3];
    double host_share; /* share of the result's columns for the host BLAS, beside the devices */
    struct sc_autotuner_prediction predicted; /* all zero without a prediction */
    bool assigns; /* the strategy may assign blocks to devices; false: blocks run in place */
    struct {
        uint64_t room; /* bytes of a device for a part of a call that does not fit; 0: the call fits */
        bool apart;    /* several devices without links between all pairs: the host's link brings the operands */
        bool by_rows;  /* the devices have rows of a new result; false: a grid of devices has tiles */
    } larger;
    struct {
        int count;     /* blocks that a result should have; 0: any number */
        int64_t least; /* width of the narrowest block for this purpose */
    } blocks;
    struct {
        uint64_t bytes; /* a call with so many missing bytes works on strips of its operands as they arrive */
        /* Least widths of these strips, of routines other than gemm: along the sum, and along a triangular or
         * symmetric matrix. 0: no strips. */
        int64_t sum, triangle;
        /* > 0: all blocks use a strip along the sum, of so many numbers, before the next strip; `part_added` if the
         * result goes up, too. */
        int64_t part, part_added;
    } arriving;
    struct {
        bool whole;    /* the devices may share the sum of a product whose operands are on several devices */
        int little;    /* if the owner of most of C then adds up at most 1 / `little` of the operands' elements */
        int64_t least; /* width of the narrowest strip of C */
    } sum;
    struct {
        int64_t block;  /* a factorization proceeds by blocks of about so many columns; 0: in one task on one device */
        int64_t group;  /* updated by all finished columns, then factored; the devices hold these columns together */
        bool at_blocks; /* right sides travel to the blocks of A; false: the blocks travel to the right sides */
    } columns;
    struct {
        double seconds; /* of the kernels, each device with its part; 0: unknown */
        int devices;
    } exchange; /* computation under which the result is sent to its readers (coherence/push.c) */

    /* By sc_plan_refine: */
    bool placed; /* blocks run on found->blocks.device; false: in place */
    bool steals; /* an idle device takes a block that is placed on a busy device */
    struct {
        int64_t width;   /* of the result, or of the operands along the sum; 0: not asked */
        int64_t a, b, c; /* of a gemm's operands and of its result's columns while operands arrive; 0: no cut */
        double first;    /* fraction of the result's columns whose strips of B arrive together with A */
        int64_t last;    /* least width of the halves of the last strip; 0: no halves */
        struct sc_trial_turn trial; /* width 0: no trial */
    } strips;
};

/* How a call may be cut into strips. */
struct sc_plan_cut {
    int64_t sum;      /* length of the sum, as far as the sum may be cut */
    int depth;        /* parts of the sum by existing tiles */
    int tasks;        /* tasks for each block of a strip (and part of the sum) */
    int tiles;        /* rows of tiles of the result */
    uint64_t result;  /* bytes of the result */
    uint64_t missing; /* bytes to upload; 0: the result is cut, else the operands of a gemm */
    uint64_t all;     /* part of `missing` that belongs to A of a gemm */
    int64_t least;    /* least width that the caller can cut; 0: any */
    int64_t half;     /* least width of the halves of a device's last strip; 0: no halves */
};

/* What only sc_coherence_begin finds. All arrays are the caller's. */
struct sc_plan_found {
    const struct sc_autotuner_call *call; /* the question of the plan */
    const struct sc_kernel *kernel;       /* the devices' part of the call */
    const struct sc_device_properties *device[SC_DEVICES_MAX];
    struct sc_schedule blocks; /* `work`, `owner` and `home` are known; `device` is the answer */
    bool known;       /* the bytes of blocks and inputs are known, too */
    bool several;     /* a block is several pieces, possibly on several devices; `owner` and `home` are of the first */
    bool stays;       /* a block is an input: no result returns to its owner */
    double products;  /* per element of the result */
    const int64_t *row_from, *col_from; /* first row (column) of each row (column) of blocks, and the end */
    const bool *row_joined; /* [i]: blocks of row i lie in the tiles of row i - 1 */
    const struct sc_plan_cut *cut; /* NULL: no widths are asked */
};

/* Answers a question, and keeps the account of the question's array. */
void sc_plan(const struct sc_autotuner_call *question, enum sc_offload mode, struct sc_plan *plan);

/* Adds the places of blocks (while found->cut is NULL) or the widths of strips to the plan. Returns false, and leaves
 * the places open, if they depend on unknown bytes: the caller fills in the bytes and asks again. */
bool sc_plan_refine(const struct sc_plan_found *found, struct sc_plan *plan);

/* A call that sc_plan has left on the host, as remembered for the next call of the same shape: the prediction for
 * operands at home, with the same copies on devices, without history and without the factor of host_rates.h. */
struct sc_plan_home {
    unsigned epoch;
    const struct sc_database *database;
    uint16_t policy;
    enum sc_metric metric;
    bool once, absent, chosen; /* of the question */
    struct sc_autotuner_prediction predicted;
    struct sc_host_mean *mean;
};

/* Remembers a question of the `auto` mode that sc_plan has answered with the host. Returns false if the question was
 * asked with data that is on devices only, or with a demand. */
bool sc_plan_remember(const struct sc_autotuner_call *question, struct sc_plan_home *out);

/* Decides on a call of a remembered shape with all operands at home, the same copies on devices and no demand. array:
 * the key of the question. Returns true for the host, after the account of the array is kept. Returns false when
 * sc_plan has to be asked: for devices, for an array that earlier calls have moved, or after a change of the settings
 * or the machine; nothing has changed then. */
bool sc_plan_stays(const struct sc_plan_home *home, uint64_t array);

/* Fills in the plan of a call that runs on devices in any case. */
void sc_plan_layout(const struct sc_autotuner_call *question, enum sc_offload mode, struct sc_plan *plan);

/* Number of devices for new matrices of the call, by the database and the question's metric, and seconds until the
 * devices have the operands from the host. 0: the size decides. */
int sc_plan_devices(const struct sc_autotuner_call *question, double *in);

/* Predicted seconds on the first n devices, [1] to [the return value]; 0: the number is not planned. */
int sc_plan_candidates(const struct sc_autotuner_call *question, double seconds[SC_DEVICES_MAX + 1]);

/* Number of devices for a new matrix of this size. */
int sc_plan_spread(uint64_t bytes, int devices, enum sc_offload mode);
/* The same for vectors in calls that have only vectors. */
int sc_plan_spread_vector(uint64_t bytes, int devices, enum sc_offload mode);
/* The same for a sparse matrix: the devices of its vectors, unless the matrix is large beside them. */
int sc_plan_spread_sparse(uint64_t bytes, uint64_t vector_bytes, int devices, enum sc_offload mode);

/* Forgets all predictions. */
void sc_plans_reset(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
