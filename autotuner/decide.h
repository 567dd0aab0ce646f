/* The functions that plan.c consists of: the prediction, and the decision by accounts. */
#ifndef SC_AUTOTUNER_DECIDE_H
#define SC_AUTOTUNER_DECIDE_H

#include "autotuner/autotuner.h"

/* Returns true for the devices. Keeps the account of the call's array. Leaves *prediction as is if nothing is
 * predicted. */
bool sc_decide(const struct sc_autotuner_call *call, enum sc_offload mode, struct sc_autotuner_prediction *prediction);

/* Predicts without history: a pure function of the call up to `want` and the settings. */
void sc_predict_anew(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *out);
/* Adds the history of earlier calls to a prediction. */
void sc_predict_history(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *out);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
