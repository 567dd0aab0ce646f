/* A trace as JSON for Perfetto and chrome://tracing ("ts" and "dur" in microseconds).  Threads of the program show
 * their calls and faults; links and devices show transfers and kernels at the time of their enqueueing; an arrow leads
 * from a fault or a call to each of its transfers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "trace/list.h"
#include "trace/perfetto.h"
#include "trace/totals.h"

enum { PROGRAM = 1, DEVICES, LINKS }; /* processes: groups of tracks */
/* Numbers of tracks that are no threads: above every thread id of Linux, because Perfetto may look for a thread by its
 * number alone. */
enum { DEVICE_TRACKS = 5000000, LINK_TRACKS = 5001000 };

struct open {
    uint32_t thread;
    const struct sc_event *call, *fault;
    uint64_t line; /* of the call */
    uint64_t last; /* nanoseconds: last event of the fault's service */
};

struct export {
    const struct sc_trace_reading *trace;
    const struct sc_trace_names *names;
    FILE *out;
    struct open open[SC_TRACE_THREADS];
    struct sc_trace_threads threads;
    uint64_t arrows;
    bool first;
};

static struct open *open_of(struct export *x, uint32_t thread)
{
    bool fresh;
    struct open *open = &x->open[sc_trace_thread_slot(&x->threads, thread, &fresh)];

    if (fresh)
        *open = (struct open){.thread = thread};
    return open;
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static double micros(const struct export *x, uint64_t nanoseconds)
{
    return (double)(int64_t)(nanoseconds - x->trace->header.start_monotonic) * 1e-3;
}

/* The common beginning of objects. */
static void begin(struct export *x, const char *phase, int process, uint64_t thread, uint64_t nanoseconds)
{
    fprintf(x->out, "%s{\"ph\": \"%s\", \"pid\": %d, \"tid\": %" PRIu64 ", \"ts\": %.3f", x->first ? "" : ",\n", phase,
            process, thread, micros(x, nanoseconds));
    x->first = false;
}

static bool is_plain(char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; }

static void put_name(struct export *x, struct sc_trace_text text, const char *if_none)
{
    fputs(", \"name\": \"", x->out);
    for (size_t i = 0; i < text.bytes; i++)
        putc(is_plain(text.at[i]) ? text.at[i] : '?', x->out);
    fprintf(x->out, "%s\"", text.bytes ? "" : if_none);
}

static struct sc_trace_text text_of(const char *text) { return (struct sc_trace_text){text, strlen(text)}; }

static struct sc_trace_text routine_of(const struct export *x, const struct sc_event *event)
{
    return event->routine < SC_TRACE_ROUTINES_MAX ? x->trace->routines[event->routine] : (struct sc_trace_text){0};
}

/* The line of the program, as an argument; nothing for an unknown line. */
static void put_line(struct export *x, uint64_t line)
{
    char *text = sc_trace_line_text(x->names, x->trace, line);

    if (!text)
        return;
    fputs(", \"line\": ", x->out);
    sc_stats_put_string(x->out, text);
    free(text);
}

/* The name of a track, or of a group of tracks. */
static void put_title(struct export *x, const char *what, int process, uint64_t thread, const char *title)
{
    begin(x, "M", process, thread, x->trace->header.start_monotonic);
    put_name(x, text_of(what), "");
    fprintf(x->out, ", \"args\": {\"name\": \"%s\"}}", title);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static void end_fault(struct export *x, struct open *open)
{
    const struct sc_event *fault = open->fault;

    open->fault = NULL;
    if (!fault)
        return;
    begin(x, "X", PROGRAM, open->thread, fault->nanoseconds);
    put_name(x, text_of(fault->access & SC_WRITE ? "write fault" : "read fault"), "");
    fprintf(x->out, ", \"cat\": \"fault\", \"dur\": %.3f", (double)(open->last - fault->nanoseconds) * 1e-3);
    fprintf(x->out, ", \"args\": {\"address\": \"0x%" PRIx64 "\", \"ip\": \"0x%" PRIx64 "\"", fault->touch.address,
            fault->touch.ip);
    put_line(x, fault->touch.line);
    fputs("}}", x->out);
}

static void end_call(struct export *x, struct open *open, const struct sc_event *done)
{
    const struct sc_event *call = open->call;

    open->call = NULL;
    if (!call)
        return;
    begin(x, "X", PROGRAM, open->thread, call->nanoseconds);
    put_name(x, routine_of(x, call), "call");
    fprintf(x->out, ", \"cat\": \"%s\", \"dur\": %.3f", done->device < 0 ? "host" : "devices",
            (double)(done->nanoseconds - call->nanoseconds) * 1e-3);
    fprintf(x->out, ", \"args\": {\"m\": %" PRId64 ", \"n\": %" PRId64 ", \"k\": %" PRId64, call->call.m,
            call->call.n, call->call.k);
    put_line(x, open->line);
    fputs("}}", x->out);
}

/* A track for each pair of places. */
static uint64_t link_of(const struct sc_event *event)
{
    return LINK_TRACKS + (uint64_t)(event->peer + 1) % 64 * 64 + (uint64_t)(event->device + 1) % 64;
}

/* Perfetto binds an end of an arrow to the slice that began last on the track. The slice of the call has the same time
 * and is printed later, so the arrow begins a nanosecond after it. */
static void put_arrow(struct export *x, const struct open *open, const struct sc_event *event)
{
    const struct sc_event *from = open->fault ? open->fault : open->call;

    if (!from)
        return;
    begin(x, "s", PROGRAM, event->thread, from->nanoseconds + 1);
    fprintf(x->out, ", \"name\": \"needs\", \"cat\": \"needs\", \"id\": %" PRIu64 "}", ++x->arrows);
    begin(x, "f", LINKS, link_of(event), event->nanoseconds);
    fprintf(x->out, ", \"bp\": \"e\", \"name\": \"needs\", \"cat\": \"needs\", \"id\": %" PRIu64 "}", x->arrows);
}

static void put_transfer(struct export *x, const struct open *open, const struct sc_event *event)
{
    begin(x, "X", LINKS, link_of(event), event->nanoseconds);
    fprintf(x->out, ", \"name\": \"matrix %" PRIu32 "\", \"cat\": \"transfer\", \"dur\": 0", event->matrix);
    fprintf(x->out, ", \"args\": {\"bytes\": %" PRIu64 ", \"tile\": %" PRIu32 ", \"sectors\": \"0x%" PRIx64 "\"}}",
            event->bytes, event->tile, event->sectors);
    put_arrow(x, open, event);
}

static void put_kernel(struct export *x, const struct sc_event *event)
{
    begin(x, "X", DEVICES, DEVICE_TRACKS + (uint64_t)(event->device + 1), event->nanoseconds);
    put_name(x, routine_of(x, event), "kernel");
    fputs(", \"cat\": \"kernel\", \"dur\": 0}", x->out);
}

static void put_event(struct export *x, const struct sc_event *event)
{
    struct open *open = open_of(x, event->thread);

    switch (event->kind) {
    case SC_EVENT_CALL:
        end_fault(x, open);
        open->call = event;
        open->line = 0;
        break;
    case SC_EVENT_SITE: open->line = event->site.program ? event->site.program : event->site.ip; break;
    case SC_EVENT_DONE: end_call(x, open, event); break;
    case SC_EVENT_FAULT:
        end_fault(x, open);
        open->fault = event;
        open->last = event->nanoseconds;
        break;
    case SC_EVENT_TRANSFER:
        open->last = event->nanoseconds;
        put_transfer(x, open, event);
        break;
    case SC_EVENT_STATE:
    case SC_EVENT_PROTECT: open->last = event->nanoseconds; break;
    case SC_EVENT_KERNEL: put_kernel(x, event); break;
    }
}

static const char *place_name(uint64_t place, char name[24])
{
    snprintf(name, 24, place ? "device %d" : "host", (int)place - 1);
    return name;
}

/* Names of all used tracks. */
static void put_titles(struct export *x)
{
    bool links[64 * 64] = {false}, devices[65] = {false};

    put_title(x, "process_name", PROGRAM, 0, "program");
    put_title(x, "process_name", DEVICES, 0, "devices (when enqueued)");
    put_title(x, "process_name", LINKS, 0, "links (when enqueued)");
    for (size_t i = 0; i < x->trace->event_count; i++) {
        const struct sc_event *event = &x->trace->events[i];
        char from[24], to[24], title[64];
        uint64_t link;

        if (event->kind == SC_EVENT_KERNEL && event->device >= 0 && event->device < 64 && !devices[event->device + 1]) {
            devices[event->device + 1] = true;
            put_title(x, "thread_name", DEVICES, DEVICE_TRACKS + (uint64_t)event->device + 1,
                      place_name((uint64_t)event->device + 1, to));
        }
        link = link_of(event) - LINK_TRACKS;
        if (event->kind != SC_EVENT_TRANSFER || links[link])
            continue;
        links[link] = true;
        snprintf(title, sizeof title, "%s to %s", place_name(link / 64, from), place_name(link % 64, to));
        put_title(x, "thread_name", LINKS, link_of(event), title);
    }
}

enum sc_status sc_trace_perfetto(const char *path, FILE *out, const struct sc_trace_names *names)
{
    struct sc_trace_reading trace;
    struct export *x = calloc(1, sizeof *x);
    enum sc_status status = x ? sc_trace_read(path, &trace) : SC_ERR_MEMORY;

    if (status == SC_OK) {
        names->prepare(&trace);
        *x = (struct export){.trace = &trace, .names = names, .out = out, .first = true};
        fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n", out);
        put_titles(x);
        for (size_t i = 0; i < trace.event_count; i++)
            put_event(x, &trace.events[i]);
        for (int i = 0; i < x->threads.count; i++)
            end_fault(x, &x->open[i]);
        fputs("\n]}\n", out);
        status = fflush(out) == 0 && !ferror(out) ? SC_OK : SC_ERR_IO;
        sc_trace_read_end(&trace);
    }
    free(x);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
