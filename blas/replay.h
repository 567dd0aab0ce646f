/* A recorded call made again: the other end of what the library writes to the trace (record.c).  For programs that are
 * not the library: routines are looked for by name, so the call comes to whoever provides the BLAS there. */
#ifndef SC_BLAS_REPLAY_H
#define SC_BLAS_REPLAY_H

#include <stdbool.h>

#include "trace/trace.h"

/* Makes the call that events[0] (SC_EVENT_CALL) and the `count` that follow it describe, of the routine `name`
 * ("dgemm"), with the i-th operand event's memory at operands[i].  False: there is no
 * such routine. */
bool sc_blas_replay(const char *name, const struct sc_event *events, int count, void *const *operands);

#endif
