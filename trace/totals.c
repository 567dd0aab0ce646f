#include "trace/totals.h"

#include <string.h>

/* Threads that are in a call, and since when. */
#define THREADS 256
struct open_calls {
    struct {
        uint32_t thread;
        uint64_t since;
    } call[THREADS];
    int count;
};

static void begin(struct open_calls *open, const struct sc_event *call)
{
    int i = 0;

    while (i < open->count && open->call[i].thread != call->thread)
        i++;
    if (i == THREADS)
        return;
    open->call[i].thread = call->thread;
    open->call[i].since = call->nanoseconds;
    open->count += i == open->count;
}

static void end(struct open_calls *open, const struct sc_event *done, struct sc_trace_totals *totals)
{
    for (int i = 0; i < open->count; i++)
        if (open->call[i].thread == done->thread) {
            double seconds = (double)(done->nanoseconds - open->call[i].since) * 1e-9;

            if (done->device >= 0)
                totals->calls_devices++, totals->seconds_devices += seconds;
            else
                totals->calls_host++, totals->seconds_host += seconds;
            open->call[i] = open->call[--open->count];
            return;
        }
}

static void transfer(const struct sc_event *event, struct sc_trace_totals *totals)
{
    enum sc_transfer way = event->device < 0 ? SC_D2H : event->peer < 0 ? SC_H2D : SC_D2D;

    totals->bytes[way] += event->bytes;
    totals->transfers[way]++;
}

void sc_trace_add_up(const struct sc_trace_reading *trace, struct sc_trace_totals *totals)
{
    struct open_calls open = {.count = 0};
    uint64_t first = 0, last = 0;

    memset(totals, 0, sizeof *totals);
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct sc_event *event = trace->order[i];

        if (event->kind == SC_EVENT_TIME) {
            totals->virtual_seconds = (double)event->b * 1e-9;
            break;
        }
        switch (event->kind) {
        case SC_EVENT_CALL:
            first = first ? first : event->nanoseconds;
            begin(&open, event);
            break;
        case SC_EVENT_DONE: end(&open, event, totals); break;
        case SC_EVENT_TRANSFER: transfer(event, totals); break;
        case SC_EVENT_FAULT: event->old_state & SC_WRITE ? totals->faults_write++ : totals->faults_read++; break;
        case SC_EVENT_EVICT: totals->evictions++; break;
        }
        last = event->nanoseconds;
    }
    totals->seconds = first && last > first ? (double)(last - first) * 1e-9 : 0;
}
