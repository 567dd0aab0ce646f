/* The rings for start.c, which starts a trace with its chains and places of calls. */
#ifndef SC_TRACE_RINGS_H
#define SC_TRACE_RINGS_H

#include "base/status.h"

/* Opens the trace file and lets the rings write into the file. `forget` is called with the file lock held, when the
 * new file is open and empty. Fails with one log line. */
enum sc_status sc_trace_rings_start(const char *path, void (*forget)(void));
/* In the library's constructor: maps the page that tells the tracing process from its forks. */
void sc_trace_rings_prepare(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
