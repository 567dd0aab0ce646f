/* Widths of strips that the model hardly tells apart are tried in turn by calls that repeat, and the fastest is kept
 * (CoCoPeLia's idea; A13).  Remembered by shape, as plans are.  Thread safe; no thread waits for another. */
#ifndef SC_AUTOTUNER_TRIALS_H
#define SC_AUTOTUNER_TRIALS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "autotuner/strips.h"
#include "ops/ops.h"

/* What makes a call the same again. */
struct sc_trial_shape {
    enum sc_op op;
    enum sc_type type;
    char letters[4]; /* side, triangle, transpositions, as far as the routine has them; unused: 0 */
    int devices;
    int64_t m, n, k;
    uint64_t missing; /* bytes that are to be brought */
};

/* A call's part in it; a value. */
struct sc_trial_turn {
    int64_t width;   /* what it uses, */
    double first;    /* with this share of the columns first (sc_strips_choice) */
    int slot;        /* -1: nobody wants to know how long it takes */
    uint32_t number; /* of the shape in its slot */
    int candidate;
};

/* A call begins: `choice` is the model's for it. */
void sc_trial_begin(const struct sc_trial_shape *shape, const struct sc_strips_choice *choice,
                    struct sc_trial_turn *trial);
/* It took so long, until its result was at home (`home`) or computed.  A call of which nobody can tell is left out;
 * after some of those in a row there are no more trials of its shape. */
void sc_trial_took(const struct sc_trial_turn *trial, double seconds, bool home);

/* All that is known, for SEMCACHE_EXPLAIN. */
void sc_trials_write(FILE *out);
void sc_trials_reset(void); /* forgets it */

#endif
