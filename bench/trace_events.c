/* trace_events COUNT FILE [THREADS]: processor time for writing COUNT events, by threads that take turns, and for
 * reading and sorting the events. */
#include <config.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/config.h"
#include "trace/read.h"
#include "trace/trace.h"

enum { THREADS = 64, TURN = 64 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long each; /* events of a thread */

/* Turns are short: the blocks of all threads overlap in time. */
static void *write_events(void *unused)
{
    (void)unused;
    for (long i = 0; i < each; i++) {
        sc_trace(.kind = SC_EVENT_STATE, .matrix = 1, .tile = (uint32_t)i, .sectors = 1);
        if (i % TURN == 0)
            sched_yield();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10000000;
    const char *path = argc > 2 ? argv[2] : "/tmp/semcache-trace";
    int threads = argc > 3 ? atoi(argv[3]) : 1;
    pthread_t thread[THREADS];
    struct sc_trace_reading trace;
    double start;

    threads = threads < 1 ? 1 : threads > THREADS ? THREADS : threads;
    sc_config.trace_limit = 0;
    if (sc_trace_start(path) != SC_OK)
        return EXIT_FAILURE;
    each = count / threads;
    start = now();
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, write_events, NULL) != 0)
            return EXIT_FAILURE;
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("%ld events of %d threads written: %.1f ns each\n", each * threads, threads,
           (now() - start) / (double)(each * threads) * 1e9);
    sc_trace_stop();
    start = now();
    if (sc_trace_read(path, &trace) != SC_OK)
        return EXIT_FAILURE;
    printf("%zu events read: %.2f s\n", trace.event_count, now() - start);
    sc_trace_read_end(&trace);
    return EXIT_SUCCESS;
}
/* SPDX-License-Identifier: BSD-2-Clause */
