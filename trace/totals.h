/* Sums over a trace. */
#ifndef SC_TRACE_TOTALS_H
#define SC_TRACE_TOTALS_H

#include "trace/read.h"

struct sc_trace_sums {
    uint64_t calls_devices, calls_host; /* large calls; a call that never returned counts in neither */
    uint64_t bytes[SC_TRANSFERS], transfers[SC_TRANSFERS];
    double seconds_devices; /* seconds in device calls until their return: most calls only enqueue */
    double seconds_host;
};

struct sc_trace_totals {
    struct sc_trace_sums all, routine[SC_TRACE_ROUTINES_MAX]; /* routine[0]: outside of calls */
    uint64_t faults_read, faults_write, evictions;
    uint64_t host_reasons[SC_REASONS]; /* decisions for the host, by reason */
    double seconds;         /* from the first call to the last event before the end */
    double virtual_seconds; /* 0: real devices, or no orderly end of the program */
};

/* Up to the end of the program, without the fetches of the end, as in the statistics. */
void sc_trace_add_up(const struct sc_trace_reading *trace, struct sc_trace_totals *totals);

/* Direction of a transfer. */
enum sc_transfer sc_trace_way(const struct sc_event *transfer);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
