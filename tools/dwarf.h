/* Debug information of the program files of a trace: lines of source with inline functions, and unwinding. With libdw;
 * without libdw addr2line gives lines, and nothing is unwound. */
#ifndef SC_TOOLS_DWARF_H
#define SC_TOOLS_DWARF_H

#include "trace/read.h"

/* A place in a source file. Without debug information `line` is 0 and `file` is the program file. */
struct sc_tool_place {
    char file[1024], function[256];
    int line;
};

/* Before each trace: drops what is known of another trace, which may have been at the same address. */
void sc_dwarf_forget(void);

/* The places of an address: the innermost inline function first, then the places where it was inlined. An inline
 * function of a system header counts for its caller. Returns the number of places, 0: the address is in no known
 * file. */
int sc_dwarf_places(const struct sc_trace_reading *trace, uint64_t ip, struct sc_tool_place *places, int most);

/* Unwinds a recorded stack: addresses of code inside the call instructions, innermost first. Returns their number. */
int sc_dwarf_unwind(const struct sc_trace_reading *trace, const struct sc_trace_chain *chain, uint64_t *frames,
                    int most);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
