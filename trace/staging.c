#include "trace/staging.h"

#include <stdlib.h>
#include <string.h>

#include "trace/list.h"

#define KEPT 128
#define MATRICES (UINT32_C(1) << 26) /* larger numbers of a damaged file are ignored */

static void stage(struct sc_staging *s, const struct sc_event *event)
{
    unsigned at = s->count++ % SC_STAGINGS;

    s->last[at].base = event->stage.copy;
    s->last[at].bytes = event->stage.bytes;
    s->last[at].thread = event->thread;
    s->last[at].memory = event->memory;
    s->last[at].kept = event->is_kept;
}

static void see_matrix(struct sc_staging *s, const struct sc_event *event)
{
    size_t before = s->room;

    if (event->matrix >= MATRICES || !sc_trace_list_reserve(&s->of, &s->room, event->matrix, 1, 1))
        return;
    memset(s->of + before, 0, s->room - before);
    s->of[event->matrix] = 0;
    for (unsigned back = 1; back <= SC_STAGINGS && back <= s->count; back++) {
        unsigned at = (s->count - back) % SC_STAGINGS;

        if (event->made.base - s->last[at].base >= s->last[at].bytes)
            continue;
        s->of[event->matrix] = (uint8_t)(1 + s->last[at].memory % SC_MEMORIES + (s->last[at].kept ? KEPT : 0));
        return;
    }
}

/* Later data at the address is different data. */
static void end_call(struct sc_staging *s, const struct sc_event *event)
{
    for (unsigned i = 0; i < SC_STAGINGS && i < s->count; i++)
        if (s->last[i].thread == event->thread && !s->last[i].kept)
            s->last[i].bytes = 0;
}

static void forget(struct sc_staging *s, const struct sc_event *event)
{
    for (unsigned i = 0; i < SC_STAGINGS && i < s->count; i++)
        if (s->last[i].base - event->range.address < event->range.bytes)
            s->last[i].bytes = 0;
}

void sc_staging_next(struct sc_staging *s, const struct sc_event *event)
{
    switch (event->kind) {
    case SC_EVENT_STAGE: stage(s, event); break;
    case SC_EVENT_MATRIX: see_matrix(s, event); break;
    case SC_EVENT_CALL:
    case SC_EVENT_DONE: end_call(s, event); break;
    case SC_EVENT_FREE: forget(s, event); break;
    }
}

void sc_staging_end(struct sc_staging *s) { free(s->of); }

bool sc_staging_of(const struct sc_staging *s, uint32_t matrix, enum sc_trace_memory *memory, bool *kept)
{
    uint8_t of = matrix < s->room ? s->of[matrix] : 0;

    *memory = (enum sc_trace_memory)((of & ~KEPT) - (of != 0));
    *kept = (of & KEPT) != 0;
    return of != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
