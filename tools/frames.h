/* The chains of calls of a trace, in words of the program's source. */
#ifndef SC_TOOLS_FRAMES_H
#define SC_TOOLS_FRAMES_H

#include "trace/read.h"

/* Sets the program's line of every event with a chain: the innermost line that a reader of the program knows. */
void sc_tool_set_lines(struct sc_trace_reading *trace);

/* Prints " <- caller file:line" for the callers of the line `ip` in the chain, innermost first; nothing if unknown. */
void sc_tool_put_callers(FILE *out, const struct sc_trace_reading *trace, uint32_t chain, uint64_t ip);

/* tools/lines.c. Prints the function around an address (false: unknown), and the text of its line of source. */
bool sc_tool_put_function(FILE *out, const struct sc_trace_reading *trace, uint64_t ip);
void sc_tool_put_source(FILE *out, const struct sc_trace_reading *trace, uint64_t ip);
/* Before each trace: drops the names of another trace. */
void sc_tool_forget_lines(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
