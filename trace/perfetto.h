/* A trace for Perfetto. */
#ifndef SC_TRACE_PERFETTO_H
#define SC_TRACE_PERFETTO_H

#include <stdio.h>

#include "trace/trace.h"

/* Prints a trace in the JSON form of chrome://tracing. `names` prints the lines of calls and faults. */
enum sc_status sc_trace_perfetto(const char *path, FILE *out, const struct sc_trace_names *names);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
