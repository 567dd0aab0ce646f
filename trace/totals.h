/* What a trace adds up to. */
#ifndef SC_TRACE_TOTALS_H
#define SC_TRACE_TOTALS_H

#include "trace/read.h"

struct sc_trace_totals {
    uint64_t calls_devices, calls_host; /* large ones; a call that never returned is in neither */
    uint64_t bytes[SC_TRANSFERS], transfers[SC_TRANSFERS];
    uint64_t faults_read, faults_write, evictions;
    double seconds;         /* from the first call to the last event before the end */
    double seconds_devices; /* in calls that devices did, until they returned: most only enqueue */
    double seconds_host;
    double virtual_seconds; /* 0: not emulated, or the program did not end in good order */
};

/* Up to the end of the program: what comes home after that is left out, as in the statistics. */
void sc_trace_add_up(const struct sc_trace_reading *trace, struct sc_trace_totals *totals);

#endif
