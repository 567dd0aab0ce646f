/* Follows a trace event by event, and gives the reader and the cause of each transfer. */
#ifndef SC_TRACE_CAUSES_H
#define SC_TRACE_CAUSES_H

#include "trace/totals.h"

/* Places of a program: a line that calls a routine, or a line that touches memory. */
struct sc_place_of {
    uint64_t line, caller; /* the program's own code, and the caller of the library (both 0: unknown); of a touch: the
                              first code that touched */
    uint16_t routine;      /* 0: a touch */
    uint32_t chain;        /* of calls, at the first time; 0: unknown */
};

/* The array of a matrix. `line`, `chain`: place of the allocation; 0: unknown. */
struct sc_array_of {
    uint64_t base, bytes;
    int64_t rows, cols;
    uint32_t element_bytes, chain;
    uint64_t line;
    bool is_folded;
};

enum sc_why {
    SC_WHY_FIRST,   /* to a device: first use */
    SC_WHY_WROTE,   /* the CPU wrote the data at `by` after a device had it */
    SC_WHY_HOST,    /* a host routine wrote the data, in the call at `by` */
    SC_WHY_NO_ROOM, /* evicted before; to the host: the eviction itself */
    SC_WHY_ANOTHER, /* another device has or had the data */
    SC_WHY_RESHAPE, /* forgotten because of another shape */
    SC_WHY_TOUCH,   /* to the host: a touch by the CPU; `by`: the call that had written the data */
    SC_WHY_RUN,     /* needed by a host routine */
    SC_WHY_COPY,    /* a copy for one call of memory that cannot be watched: of no malloc; on a stack; static; small */
    SC_WHY_COPY_STACK,
    SC_WHY_COPY_STATIC,
    SC_WHY_COPY_SMALL,
    SC_WHY_SHARED,  /* the CPU used a page at the edge of the array, and no element of the array */
    SC_WHY_UNSEEN,  /* written by the CPU in memory of no malloc, at an unknown line */
    SC_WHY_AHEAD,   /* pushed results */
    SC_WHY_SOLD,    /* brought home by the call on the host at `by` (SC_REASON_SOLD) */
    SC_WHY_GIVEN,   /* given up by semcache_invalidate; events do not tell the line */
    SC_WHYS
};
extern const char *const sc_why_names[SC_WHYS]; /* in words */

/* A part of a transfer. */
struct sc_flow {
    enum sc_transfer way;
    uint32_t needed, by; /* places; 0: nobody */
    enum sc_why why;
    uint32_t matrix;
    uint64_t bytes;
};
#define SC_FLOWS_MAX 64

struct sc_causes;

/* NULL without memory. */
struct sc_causes *sc_causes_new(const struct sc_trace_reading *trace);
void sc_causes_free(struct sc_causes *causes);

/* Takes the next event, in the order of time. Returns the number of moved parts, at most SC_FLOWS_MAX; 0 for other
 * events than transfers. */
int sc_causes_next(struct sc_causes *causes, const struct sc_event *event, struct sc_flow *flow);

/* The place of an event's thread: its call, or its last touch; 0: unknown. */
uint32_t sc_causes_place(const struct sc_causes *causes, const struct sc_event *event);
/* Prints a place: its line, its routine, and the library function. */
void sc_causes_put_place(FILE *out, const struct sc_trace_reading *trace, const struct sc_causes *causes,
                         uint32_t number, const struct sc_trace_names *names);
const struct sc_place_of *sc_causes_place_at(const struct sc_causes *causes, uint32_t number);
/* NULL: an unknown matrix. */
const struct sc_array_of *sc_causes_array(const struct sc_causes *causes, uint32_t matrix);
/* Whether the last touch of the event's thread met a page that an array shares, and not the array. */
bool sc_causes_is_shared(const struct sc_causes *causes, const struct sc_event *event);
uint32_t sc_causes_places(const struct sc_causes *causes); /* one more than the largest number */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
