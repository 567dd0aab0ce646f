/* The memory of a recorded program at other addresses, with the same overlaps and sharing. */
#ifndef SC_TOOLS_REPLAY_MEMORY_H
#define SC_TOOLS_REPLAY_MEMORY_H

#include <stdbool.h>

#include "trace/read.h"

/* Reads the trace: maps the memory of untracked operands, and notes the triangular operands of solves. Returns false
 * for lack of memory, with one line. `trace` must stay valid. */
bool sc_replay_memory_begin(const struct sc_trace_reading *trace);

/* Whether an operand of these sizes fits into a process. */
bool sc_replay_memory_can_be(const struct sc_event *operand);

/* The address of an operand (SC_EVENT_OPERAND, SC_EVENT_PREFETCH). Allocates and fills the operand's block, if new.
 * NULL: no memory (of a prefetch: memory that no call used). */
void *sc_replay_memory_of(const struct sc_event *operand);

/* The address of touched memory, and in *bytes the contiguous part of the requested bytes; NULL: no call used the
 * memory. */
void *sc_replay_memory_at(uint64_t address, uint64_t *bytes);

/* For a FREE event: releases memory as the recorded program did. */
void sc_replay_memory_free(uint64_t address, uint64_t bytes);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
