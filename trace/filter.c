/* The events that a filter selects, as text or JSON. */
#include <inttypes.h>
#include <string.h>

#include "trace/filter.h"

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

bool sc_trace_filter_takes(const struct sc_trace_filter *f, const struct sc_trace_reading *trace,
                           const struct sc_event *event)
{
    double seconds = (double)(int64_t)(event->nanoseconds - trace->header.start_monotonic) * 1e-9;
    const char *kind = sc_trace_kind_name(event->kind);
    struct sc_trace_text routine = {"", 0};

    if (event->routine < SC_TRACE_ROUTINES_MAX && trace->routines[event->routine].at)
        routine = trace->routines[event->routine];
    return (!f->kind || (kind && strcmp(kind, f->kind) == 0)) && (!f->routine || is_named(routine, f->routine)) &&
           (f->matrix < 0 || (event->matrix == f->matrix && event->kind != SC_EVENT_OPERAND)) &&
           (f->thread < 0 || event->thread == f->thread) &&
           (f->device < -1 || event->device == f->device || event->peer == f->device) &&
           (!f->address || has_address(event, f->address)) && seconds >= f->from && (f->to <= 0 || seconds <= f->to);
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
