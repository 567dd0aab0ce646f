/* A recorded call made again: the other end of what the library writes to the trace (record.c).  For programs that are
 * not the library: routines are looked for by name, so the call comes to whoever provides the BLAS there. */
#ifndef SC_BLAS_REPLAY_H
#define SC_BLAS_REPLAY_H

#include <stdbool.h>

#include "trace/trace.h"

/* Do events[0] (SC_EVENT_CALL) and the `count` that follow it describe a call of the routine `name` ("dgemm") that the
 * BLAS allows, with the operands that such a call has?  Nothing in them is trusted. */
bool sc_blas_replayable(const char *name, const struct sc_event *events, int count);

/* Makes such a call, with the i-th operand's memory at operands[i].  False: the process has no such routine. */
bool sc_blas_replay(const char *name, const struct sc_event *events, int count, void *const *operands);

#endif
