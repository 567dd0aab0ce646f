/* Why calls ran where they ran: decisions are added up by routine, sizes and what was on the devices, with what was
 * predicted and what it took, and written as a table at the end (SEMCACHE_EXPLAIN; format: doc/decisions.md).  Thread
 * safe. */
#ifndef SC_AUTOTUNER_EXPLAIN_H
#define SC_AUTOTUNER_EXPLAIN_H

#include <stdio.h>

#include "autotuner/autotuner.h"

extern bool sc_explain_on; /* set before there are calls */

/* A decision of this thread; `loss`: of its operand, before. */
void sc_explain_decision(const struct sc_autotuner_call *call, const struct sc_autotuner_prediction *prediction,
                         double loss, bool devices);
/* Seconds that the devices took for the call that this thread decided on last. */
void sc_explain_measured(double seconds);
/* Nothing where nothing was decided. */
void sc_explain_write(FILE *out);

#endif
