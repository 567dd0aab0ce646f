/* The newest events of a tile as text, from the rings. */
#include <config.h> /* GNU extensions: open_memstream */

#include <stdlib.h>
#include <string.h>

#include "base/inside.h"
#include "trace/read.h"

enum { MOST = 32 };

/* The name of the event's routine, without a trace file. */
static void name_routine(struct sc_trace_reading *trace, const struct sc_event *event)
{
    const char *name = event->routine < SC_TRACE_ROUTINES_MAX ? sc_trace_routine_name(event->routine) : NULL;

    if (name)
        trace->routines[event->routine] = (struct sc_trace_text){name, strlen(name)};
}

void sc_trace_recent(uint32_t matrix, uint32_t tile, int most, void (*line)(void *context, const char *text),
                     void *context)
{
    struct sc_event events[MOST];
    struct sc_trace_reading *trace;
    int count = sc_trace_collect(matrix, tile, events, most < MOST ? most : MOST);

    sc_inside_enter();
    trace = calloc(1, sizeof *trace);
    for (int i = 0; trace && i < count; i++) {
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);

        if (!out)
            break;
        trace->header.start_monotonic = events[0].nanoseconds;
        name_routine(trace, &events[i]);
        sc_trace_put_event(out, trace, &events[i]);
        fclose(out);
        text[strcspn(text, "\n")] = '\0';
        line(context, text);
        free(text);
    }
    free(trace);
    sc_inside_leave();
}
/* SPDX-License-Identifier: BSD-2-Clause */
