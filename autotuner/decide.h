/* The functions that plan.c consists of: the prediction, and the decision by accounts. */
#ifndef SC_AUTOTUNER_DECIDE_H
#define SC_AUTOTUNER_DECIDE_H

#include "autotuner/autotuner.h"

/* Returns true for the devices, by a prediction. Adds the state of the account to the prediction, and keeps the account
 * of the call's array. */
bool sc_decide(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *prediction);
/* Decides in the same way on a call whose operands are at home, under the account `key`. Returns true for the host.
 * Returns false, and changes nothing, for the devices or for an array that has moved before. */
bool sc_decide_stays(uint64_t key, bool once, struct sc_autotuner_prediction *prediction);
void sc_decide_reset(void); /* forgets the accounts and the program's balance */

/* Predicts without history: a pure function of the call up to `want` and the settings. */
void sc_predict_anew(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *out);
/* Adds the fetches of earlier calls to a prediction. */
void sc_predict_history(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *out);

/* Predicted seconds of the kernels of a part of a call (sizes m, n, k), divided among devices; 0: unknown. */
double sc_predict_kernels(const struct sc_autotuner_call *call, int64_t m, int64_t n, int64_t k, int devices);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
