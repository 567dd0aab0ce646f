/* One question, one plan. A call asks once, before sc_coherence_begin, about the decisions that follow from the
 * machine, the call and the residency of its operands: place of the call, number of devices, cuts of new matrices,
 * share of the host. Places of blocks and widths of strips follow after sc_coherence_begin, from the places of the
 * operands (schedule.h, strips.h).
 *
 * Thread safe. Predictions are remembered by question and settings (policy.h): a repeated question costs less than 1 us
 * (bench/decide). */
#ifndef SC_AUTOTUNER_PLAN_H
#define SC_AUTOTUNER_PLAN_H

#include "autotuner/autotuner.h"

struct sc_plan {
    bool devices;  /* true: on devices; false: on the host */
    int want;      /* demand of the call for its operands (demand.h); 0 on the host */
    int spread;    /* devices that new matrices are distributed over; 0: each by its size */
    bool sums;     /* devices have parts of the sum of a product, and add up */
    struct {
        int spread;               /* devices that the operand is distributed over, if it is new */
        int tile_rows, tile_cols; /* tiles of a new matrix, dealt out block-cyclically; 0: one strip per device */
    } operand[3];
    double host_share; /* share of the result's columns for the host BLAS, beside the devices */
    struct sc_autotuner_prediction predicted; /* all zero without a prediction */
};

/* Answers a question, and keeps the account of the question's array. */
void sc_plan(const struct sc_autotuner_call *question, enum sc_offload mode, struct sc_plan *plan);

/* Fills in the layout of new matrices alone, for a call that runs on devices in any case. */
void sc_plan_layout(const struct sc_autotuner_call *question, enum sc_offload mode, struct sc_plan *plan);

/* Number of devices for new matrices of the call, by the database and sc_config.metric, and seconds until the devices
 * have the operands from the host. 0: the size decides. */
int sc_plan_devices(const struct sc_autotuner_call *question, double *in);

/* Predicted seconds on the first n devices, [1] to [the return value]; 0: the number is not planned. */
int sc_plan_candidates(const struct sc_autotuner_call *question, double seconds[SC_DEVICES_MAX + 1]);

/* Number of devices for a new matrix of this size. */
int sc_plan_spread(uint64_t bytes, int devices, enum sc_offload mode);

/* Forgets all predictions. */
void sc_plans_reset(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
