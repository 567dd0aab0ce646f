/* States of one array over time. */
#ifndef SC_TRACE_STATES_H
#define SC_TRACE_STATES_H

#include "trace/filter.h"

/* Prints the arrays of a trace (`array` NULL), or a table of the states of an array: its number, an address in it
 * ("0x..."), or the line of its allocation ("solver.c:12"). Of `filter` only the times count. */
enum sc_status sc_trace_states(const char *path, FILE *out, const char *array, const struct sc_trace_filter *filter,
                               const struct sc_trace_names *names);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
