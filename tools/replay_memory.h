/* The memory of a recorded program, somewhere else: what overlapped or was shared there does so here. */
#ifndef SC_TOOLS_REPLAY_MEMORY_H
#define SC_TOOLS_REPLAY_MEMORY_H

#include <stdbool.h>

#include "trace/read.h"

/* Looks through the trace: maps the memory that was not tracked there, and remembers what is solved with.  False:
 * there is not so much memory (one line says so).  `trace` must stay. */
bool sc_replay_memory_begin(const struct sc_trace_reading *trace);

/* Can a process have such an operand? */
bool sc_replay_memory_can_be(const struct sc_event *operand);

/* The place of an operand (SC_EVENT_OPERAND, SC_EVENT_PREFETCH); the block that it lies in is allocated and filled when
 * it is new.  NULL: no memory (of a prefetch: none that any call used). */
void *sc_replay_memory_of(const struct sc_event *operand);

/* The place of an address that was touched, and in *bytes how much of that much lies there together; NULL: it is in no
 * memory of a call. */
void *sc_replay_memory_at(uint64_t address, uint64_t *bytes);

/* The recorded program gave memory up. */
void sc_replay_memory_free(uint64_t address, uint64_t bytes);

#endif
