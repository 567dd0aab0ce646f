/* Explanation of decisions (SEMCACHE_EXPLAIN; format: doc/deciding.md). Decisions are added up by call site, routine,
 * sizes and residency, with predicted and measured times, and written as a table at the end. Thread safe. */
#ifndef SC_AUTOTUNER_EXPLAIN_H
#define SC_AUTOTUNER_EXPLAIN_H

#include <stdio.h>

#include "autotuner/autotuner.h"

extern bool sc_explain_on; /* set before the first call */

/* Enters a decision of this thread into the table and the trace; `loss`: of the account, before the decision. */
void sc_explain_decision(const struct sc_autotuner_call *call, const struct sc_autotuner_prediction *prediction,
                         double loss, enum sc_trace_reason reason, bool devices);
/* Enters the host's share in the last decision of this thread. */
void sc_explain_together(const struct sc_autotuner_together *together);
/* The clock for device calls, in seconds: the devices' own time, or the real clock if virtual_seconds < 0. */
double sc_explain_clock(double virtual_seconds);
/* Enters the measured seconds of the devices for the last decision of this thread. */
void sc_explain_measured(double seconds);
/* Ends the last decision of this thread after its call on the host, if the host was the decision. */
void sc_explain_host_done(void);
/* Writes the table, if there are decisions. */
void sc_explain_write(FILE *out);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
