/* trace_events COUNT FILE: processor time of one thread for writing COUNT events, and for reading and sorting the
 * events. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/config.h"
#include "trace/read.h"
#include "trace/trace.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10000000;
    const char *path = argc > 2 ? argv[2] : "/tmp/semcache-trace";
    struct sc_trace_reading trace;
    double start;

    sc_config.trace_limit = 0;
    if (sc_trace_start(path) != SC_OK)
        return EXIT_FAILURE;
    start = now();
    for (long i = 0; i < count; i++)
        sc_trace(.kind = SC_EVENT_STATE, .matrix = 1, .tile = (uint32_t)i, .sectors = 1);
    printf("%ld events written: %.1f ns each\n", count, (now() - start) / (double)count * 1e9);
    sc_trace_stop();
    start = now();
    if (sc_trace_read(path, &trace) != SC_OK)
        return EXIT_FAILURE;
    printf("%zu events read: %.2f s\n", trace.event_count, now() - start);
    sc_trace_read_end(&trace);
    return EXIT_SUCCESS;
}
/* SPDX-License-Identifier: BSD-2-Clause */
