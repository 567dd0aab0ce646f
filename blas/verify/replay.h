/* A recorded call made again: the other end of what the library writes to the trace (record.c).  For programs that are
 * not the library: routines are looked for by name, so the call comes to whoever provides the BLAS there. */
#ifndef SC_BLAS_REPLAY_H
#define SC_BLAS_REPLAY_H

#include <stdbool.h>

#include "blas/blas_int.h"
#include "trace/trace.h"

/* Do events[0] (SC_EVENT_CALL) and the `count` that follow it describe a call of the routine `name` ("dgemm") that the
 * BLAS allows, with the operands that such a call has?  Nothing in them is trusted. */
bool sc_blas_replayable(const char *name, const struct sc_event *events, int count);

/* Makes such a call, with the i-th operand's memory at operands[i].  False: the process has no such routine. */
bool sc_blas_replay(const char *name, const struct sc_event *events, int count, void *const *operands);

/* Makes any call by `fn`, the routine's Fortran or, where call->order says so, CBLAS form (complex functions: always
 * the CBLAS one). Integers are passed as 64 bits; a form with 32 sees their lower halves. False: rotg and rotmg, which
 * struct sc_blas_call cannot describe. */
bool sc_blas_again(struct sc_blas_call *call, sc_blas_fn fn);

#endif
