/* Trials of strip widths. Calls that repeat try in turn the widths that the model hardly distinguishes, and the fastest
 * width stays (CoCoPeLia's idea; rule A13). Remembered by shape. Thread safe; no thread waits for another thread. */
#ifndef SC_AUTOTUNER_TRIALS_H
#define SC_AUTOTUNER_TRIALS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "autotuner/strips.h"
#include "ops/ops.h"

/* Two calls with equal shapes are the same call. */
struct sc_trial_shape {
    enum sc_op op;
    enum sc_type type;
    enum sc_metric metric;
    char letters[4]; /* side, triangle and transpositions of the routine; unused: 0 */
    int devices;
    int64_t m, n, k;
    uint64_t missing; /* bytes of missing operands */
};

/* Part of a call in the trials; a value. */
struct sc_trial_turn {
    int64_t width;   /* of the call */
    double first;    /* share of the columns that arrive first (sc_strips_choice) */
    int slot;        /* -1: the call is not timed */
    uint32_t number; /* of the shape in its slot */
    int candidate;
};

/* Begins a call; `choice` is the model's choice for the call. */
void sc_trial_begin(const struct sc_trial_shape *shape, const struct sc_strips_choice *choice,
                    struct sc_trial_turn *trial);
/* Ends a call that took so long, until its result was at home (`home`) or computed. A call whose end nobody has seen
 * does not count; several such calls in sequence end the trials of the shape. */
void sc_trial_took(const struct sc_trial_turn *trial, double seconds, bool home);

/* Writes the trials for SEMCACHE_EXPLAIN. */
void sc_trials_write(FILE *out);
void sc_trials_reset(void); /* forgets the trials */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
