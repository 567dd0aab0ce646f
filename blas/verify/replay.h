/* Repeats a call from its record in a trace (record.c writes the record).  For programs outside the library:
 * routines are looked up by name, so the call reaches the process's BLAS. */
#ifndef SC_BLAS_REPLAY_H
#define SC_BLAS_REPLAY_H

#include <stdbool.h>

#include "blas/blas_int.h"
#include "trace/trace.h"

/* True when events[0] (SC_EVENT_CALL) and the next `count` events describe a valid call of the routine `name`
 * ("dgemm") with its operands.  The events are not trusted. */
bool sc_blas_replayable(const char *name, const struct sc_event *events, int count);

/* Makes such a call with the memory of the i-th operand at operands[i].  False: the process has no such routine. */
bool sc_blas_replay(const char *name, const struct sc_event *events, int count, void *const *operands);

/* Makes a call through `fn`: the routine's Fortran form, or its CBLAS form according to call->order (complex
 * functions: always the CBLAS form).  Integers are passed as 64 bits; a 32-bit form reads the lower halves.  False
 * for rotg and rotmg, which struct sc_blas_call cannot describe. */
bool sc_blas_again(struct sc_blas_call *call, sc_blas_fn fn);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
