#include "trace/list.h"
#include "trace/totals.h"

#include <string.h>

/* When a thread began its call; 0: the thread is in no call. */
struct open_calls {
    struct sc_trace_threads threads;
    uint64_t since[SC_TRACE_THREADS];
};

static void begin(struct open_calls *open, const struct sc_event *call)
{
    bool fresh;

    open->since[sc_trace_thread_slot(&open->threads, call->thread, &fresh)] = call->nanoseconds;
}

static void count(struct sc_trace_sums *sums, bool on_devices, double seconds)
{
    if (on_devices)
        sums->calls_devices++, sums->seconds_devices += seconds;
    else
        sums->calls_host++, sums->seconds_host += seconds;
}

/* The sums of the routine in which an event happened. */
static struct sc_trace_sums *sums_of(struct sc_trace_totals *totals, const struct sc_event *event)
{
    return &totals->routine[event->routine < SC_TRACE_ROUTINES_MAX ? event->routine : 0];
}

static void end(struct open_calls *open, const struct sc_event *done, struct sc_trace_totals *totals)
{
    int i = sc_trace_thread_find(&open->threads, done->thread);
    double seconds;

    if (i < 0 || !open->since[i])
        return;
    seconds = (double)(done->nanoseconds - open->since[i]) * 1e-9;
    count(&totals->all, done->device >= 0, seconds);
    count(sums_of(totals, done), done->device >= 0, seconds);
    open->since[i] = 0;
}

enum sc_transfer sc_trace_way(const struct sc_event *event)
{
    return event->device < 0 ? SC_D2H : event->peer < 0 ? SC_H2D : SC_D2D;
}

static void transfer(struct sc_trace_sums *sums, const struct sc_event *event)
{
    sums->bytes[sc_trace_way(event)] += event->bytes;
    sums->transfers[sc_trace_way(event)]++;
}

void sc_trace_add_up(const struct sc_trace_reading *trace, struct sc_trace_totals *totals)
{
    struct open_calls open = {.threads = {.count = 0}};
    uint64_t first = 0, last = 0;

    memset(totals, 0, sizeof *totals);
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct sc_event *event = &trace->events[i];

        if (event->kind == SC_EVENT_TIME) {
            totals->virtual_seconds = (double)event->time.virtual_nanoseconds * 1e-9;
            break;
        }
        switch (event->kind) {
        case SC_EVENT_CALL:
            first = first ? first : event->nanoseconds;
            begin(&open, event);
            break;
        case SC_EVENT_DONE: end(&open, event, totals); break;
        case SC_EVENT_TRANSFER:
            transfer(&totals->all, event);
            transfer(sums_of(totals, event), event);
            break;
        case SC_EVENT_FAULT: event->access & SC_WRITE ? totals->faults_write++ : totals->faults_read++; break;
        case SC_EVENT_EVICT: totals->evictions++; break;
        case SC_EVENT_CHOICE:
            if (event->device < 0 && event->reason < SC_REASONS)
                totals->host_reasons[event->reason]++;
            break;
        }
        last = event->nanoseconds;
    }
    totals->seconds = first && last > first ? (double)(last - first) * 1e-9 : 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
