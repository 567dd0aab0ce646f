/* What plan.c is made of: a prediction, and the decision by accounts. */
#ifndef SC_AUTOTUNER_DECIDE_H
#define SC_AUTOTUNER_DECIDE_H

#include "autotuner/autotuner.h"

/* True: on devices.  Keeps the account of the call's array.  *prediction stays as it is where nothing is predicted. */
bool sc_decide(const struct sc_autotuner_call *call, enum sc_offload mode, struct sc_autotuner_prediction *prediction);

/* A prediction without its history: a pure function of the call up to `want` and the settings. */
void sc_predict_anew(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *out);
/* Adds what earlier calls have shown to a prediction. */
void sc_predict_history(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *out);

#endif
