/* One question, one plan.  A call asks once, before sc_coherence_begin, for everything that the machine, the call and
 * the residency of its operands decide: where the call runs, on how many devices, how its new matrices are cut, the
 * host's part, and how long kernels take.  Where blocks of a result run follows from the operands' places, after
 * sc_coherence_begin (schedule.h, strips.h).
 *
 * Thread safe.  Predictions are remembered by question and settings (policy.h): a repeated question costs less than
 * 1 us (bench/decide). */
#ifndef SC_AUTOTUNER_PLAN_H
#define SC_AUTOTUNER_PLAN_H

#include "autotuner/autotuner.h"

struct sc_plan {
    bool devices;  /* where: on devices, else on the host */
    int want;      /* demand of devices for what the call reads (demand.h); 0 on the host */
    int spread;    /* devices that new matrices are distributed over; 0: each by its size */
    bool sums;     /* devices have parts of the sum of a product, and add up */
    struct {
        int spread;               /* devices that the operand is distributed over, if it is new */
        int tile_rows, tile_cols; /* tiles of a new matrix, dealt out block-cyclically; 0: a strip for each device */
    } operand[3];
    double host_share; /* part of the columns of the result that the host BLAS computes meanwhile */
    struct sc_autotuner_prediction predicted; /* all zero where nothing had to be predicted */
};

/* Keeps the account of the question's array. */
void sc_plan(const struct sc_autotuner_call *question, enum sc_offload mode, struct sc_plan *plan);

/* The layout of new matrices alone, for a call that runs on devices whatever the cost. */
void sc_plan_layout(const struct sc_autotuner_call *question, enum sc_offload mode, struct sc_plan *plan);

/* How many devices new matrices of the call are distributed over, by the database and sc_config.metric, and seconds
 * until they have their operands when the host has everything.  0: the size decides. */
int sc_plan_devices(const struct sc_autotuner_call *question, double *in);

/* Predicted seconds on the first n devices, [1] to [the value]; 0: their number is not planned. */
int sc_plan_candidates(const struct sc_autotuner_call *question, double seconds[SC_DEVICES_MAX + 1]);

/* How many devices a matrix of this size is distributed over when it is first seen. */
int sc_plan_spread(uint64_t bytes, int devices, enum sc_offload mode);

/* Forgets all predictions. */
void sc_plans_reset(void);

#endif
