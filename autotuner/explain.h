/* Why calls ran where they ran: decisions are added up by line of the program, routine, sizes and what was on the
 * devices, with what was predicted and what it took, and written as a table at the end (SEMCACHE_EXPLAIN; format:
 * doc/deciding.md).  Thread safe. */
#ifndef SC_AUTOTUNER_EXPLAIN_H
#define SC_AUTOTUNER_EXPLAIN_H

#include <stdio.h>

#include "autotuner/autotuner.h"

extern bool sc_explain_on; /* set before there are calls */

/* A decision of this thread, for the table and the trace; `loss`: of its operand, before. */
void sc_explain_decision(const struct sc_autotuner_call *call, const struct sc_autotuner_prediction *prediction,
                         double loss, enum sc_trace_reason reason, bool devices);
/* The host takes part in what this thread decided on last. */
void sc_explain_together(const struct sc_autotuner_together *together);
/* Seconds by which calls on devices are timed: the devices' own, or, where these are negative, those of the clock. */
double sc_explain_clock(double virtual_seconds);
/* Seconds that the devices took for the call that this thread decided on last. */
void sc_explain_measured(double seconds);
/* The host has done the call that this thread decided on last, if that was to be. */
void sc_explain_host_done(void);
/* Nothing where nothing was decided. */
void sc_explain_write(FILE *out);

#endif
