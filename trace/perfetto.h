/* A trace for Perfetto. */
#ifndef SC_TRACE_PERFETTO_H
#define SC_TRACE_PERFETTO_H

#include <stdio.h>

#include "base/status.h"

/* Prints a trace in the JSON form of chrome://tracing. */
enum sc_status sc_trace_perfetto(const char *path, FILE *out);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
