/* The events that a filter selects, as text or JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/filter.h"
#include "trace/list.h"

#define LINES 256
#define LOOK_AHEAD 64 /* events between a call and its place */

struct sc_trace_chooser {
    const struct sc_trace_filter *filter;
    const struct sc_trace_reading *trace;
    const struct sc_trace_names *names;
    struct sc_trace_threads threads;
    bool at_line[SC_TRACE_THREADS]; /* the thread's call or touch is of the asked line */
    struct {
        uint64_t ip; /* 0: an empty slot */
        bool is_asked;
    } line[LINES]; /* answers kept for reuse */
};

static bool is_named(struct sc_trace_text text, const char *name)
{
    return text.bytes == strlen(name) && memcmp(text.at, name, text.bytes) == 0;
}

static bool has_address(const struct sc_event *event, uint64_t address)
{
    switch (event->kind) {
    case SC_EVENT_FAULT: return event->touch.address / 4096 == address / 4096;
    case SC_EVENT_MATRIX: return address - event->made.base < event->made.bytes;
    case SC_EVENT_PROTECT:
    case SC_EVENT_ACQUIRE:
    case SC_EVENT_RELEASE:
    case SC_EVENT_FREE: return address - event->range.address < event->range.bytes;
    case SC_EVENT_STAGE:
        return address - event->stage.copy < event->stage.bytes || address - event->stage.original < event->stage.bytes;
    }
    return false;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static bool is_line(struct sc_trace_chooser *c, uint64_t ip)
{
    unsigned slot = (unsigned)(ip * UINT64_C(0x9e3779b97f4a7c15) >> 32) % LINES;
    char *text;

    if (ip && c->line[slot].ip != ip) {
        text = sc_trace_line_text(c->names, c->trace, ip);
        c->line[slot].ip = ip;
        c->line[slot].is_asked = text && strcmp(text, c->filter->line) == 0;
        free(text);
    }
    return ip && c->line[slot].is_asked;
}

/* The place of a call is an event behind the call. */
static bool is_call_of_line(struct sc_trace_chooser *c, const struct sc_event *call)
{
    const struct sc_event *end = c->trace->events + c->trace->event_count;

    for (const struct sc_event *next = call + 1; next < end && next < call + LOOK_AHEAD; next++)
        if (next->thread == call->thread && (next->kind == SC_EVENT_SITE || next->kind == SC_EVENT_CALL))
            return next->kind == SC_EVENT_SITE && is_line(c, next->site.program ? next->site.program : next->ip);
    return false;
}

static bool is_at_line(struct sc_trace_chooser *c, const struct sc_event *event)
{
    bool fresh, *at_line = &c->at_line[sc_trace_thread_slot(&c->threads, event->thread, &fresh)];
    bool is_taken;

    if (fresh)
        *at_line = false;
    switch (event->kind) {
    case SC_EVENT_CALL: *at_line = is_call_of_line(c, event); break;
    case SC_EVENT_FAULT: *at_line = is_line(c, event->touch.line ? event->touch.line : event->ip); break;
    case SC_EVENT_ACQUIRE: *at_line = is_line(c, event->ip); break;
    case SC_EVENT_ALLOC: return is_line(c, event->ip);
    case SC_EVENT_FREE:
    case SC_EVENT_RELEASE:
    case SC_EVENT_HOME: *at_line = false; break;
    }
    is_taken = *at_line;
    if (event->kind == SC_EVENT_DONE || event->kind == SC_EVENT_WAIT)
        *at_line = false;
    return is_taken;
}

struct sc_trace_chooser *sc_trace_chooser_new(const struct sc_trace_filter *filter,
                                              const struct sc_trace_reading *trace,
                                              const struct sc_trace_names *names)
{
    struct sc_trace_chooser *c = calloc(1, sizeof *c);

    if (c) {
        c->filter = filter;
        c->trace = trace;
        c->names = names;
    }
    return c;
}

void sc_trace_chooser_free(struct sc_trace_chooser *chooser) { free(chooser); }

/* --- the other filters -------------------------------------------------------------------------------------------- */

static bool has_matrix(const struct sc_event *event)
{
    return event->kind != SC_EVENT_OPERAND && event->kind != SC_EVENT_PREFETCH;
}

static bool takes(const struct sc_trace_filter *f, const struct sc_trace_reading *trace, const struct sc_event *event)
{
    double seconds = (double)(int64_t)(event->nanoseconds - trace->header.start_monotonic) * 1e-9;
    const char *kind = sc_trace_kind_name(event->kind);
    struct sc_trace_text routine = {"", 0};

    if (event->routine < SC_TRACE_ROUTINES_MAX && trace->routines[event->routine].at)
        routine = trace->routines[event->routine];
    return (!f->kind || (kind && strcmp(kind, f->kind) == 0)) && (!f->routine || is_named(routine, f->routine)) &&
           (f->matrix < 0 || (event->matrix == f->matrix && has_matrix(event))) &&
           (f->tile < 0 || (event->tile == f->tile && sc_trace_kind_has_tile(event->kind))) &&
           (f->thread < 0 || event->thread == f->thread) &&
           (f->device < -1 || event->device == f->device || event->peer == f->device) &&
           (!f->address || has_address(event, f->address)) && seconds >= f->from && (f->to <= 0 || seconds <= f->to);
}

/* The line is followed through all events, taken or not. */
bool sc_trace_chooser_takes(struct sc_trace_chooser *c, const struct sc_event *event)
{
    bool of_line = !c->filter->line || is_at_line(c, event);

    return takes(c->filter, c->trace, event) && of_line;
}

static void put_string(FILE *out, struct sc_trace_text text)
{
    putc('"', out);
    for (size_t i = 0; i < text.bytes; i++)
        putc(text.at[i] >= ' ' && text.at[i] < 0x7f && text.at[i] != '"' && text.at[i] != '\\' ? text.at[i] : '?', out);
    putc('"', out);
}

void sc_trace_put_json(FILE *out, const struct sc_trace_reading *trace, const struct sc_event *event)
{
    const char *kind = sc_trace_kind_name(event->kind);
    int64_t since = (int64_t)(event->nanoseconds - trace->header.start_monotonic);

    fprintf(out, "{\"nanoseconds\": %" PRId64 ", \"thread\": %" PRIu32 ", \"event\": \"%s\", \"routine\": ", since,
            event->thread, kind ? kind : "?");
    put_string(out, event->routine < SC_TRACE_ROUTINES_MAX ? trace->routines[event->routine]
                                                           : (struct sc_trace_text){0});
    fprintf(out, ", \"matrix\": %" PRIu32 ", \"tile\": %" PRIu32 ", \"sectors\": \"0x%" PRIx64 "\", \"old\": %d, "
            "\"new\": %d, \"device\": %d, \"peer\": %d, \"bytes\": %" PRIu64,
            event->matrix, event->tile, event->sectors,
            event->old_state, event->new_state, event->device, event->peer, event->bytes);
    fprintf(out, ", \"a\": \"0x%" PRIx64 "\", \"b\": \"0x%" PRIx64 "\", \"c\": \"0x%" PRIx64 "\", \"ip\": \"0x%" PRIx64
            "\"}\n", event->word[0], event->word[1], event->word[2], event->ip);
}
/* SPDX-License-Identifier: BSD-2-Clause */
