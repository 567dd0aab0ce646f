/* Follows a trace event by event, and says for each transfer who needed it, and why. */
#ifndef SC_TRACE_CAUSES_H
#define SC_TRACE_CAUSES_H

#include "trace/totals.h"

/* Places of a program: a line that calls a routine, or one that touches memory. */
struct sc_place_of {
    uint64_t line, caller; /* the program's own code, and what called the library (both 0: unknown); of a touch: line */
    uint16_t routine;      /* 0: a touch */
};

enum sc_why {
    SC_WHY_FIRST,   /* to a device: it has not been on any */
    SC_WHY_WROTE,   /* the CPU wrote it, at `by`, since it was on one */
    SC_WHY_HOST,    /* the host's routine wrote it, in the call at `by` */
    SC_WHY_NO_ROOM, /* it had been evicted; or (to the host) is being so */
    SC_WHY_ANOTHER, /* another device has it, or had */
    SC_WHY_RESHAPE, /* it was forgotten in another shape */
    SC_WHY_TOUCH,   /* to the host: the CPU touched it; `by`: the call that had written it */
    SC_WHY_RUN,     /* the host's routine needs it */
    SC_WHY_COPY,    /* a copy for one call, of what cannot be watched: of no malloc; on a stack; static; small */
    SC_WHY_COPY_STACK,
    SC_WHY_COPY_STATIC,
    SC_WHY_COPY_SMALL,
    SC_WHY_UNSEEN,  /* the CPU wrote it, in memory of no malloc, whose writers are not known */
    SC_WHY_AHEAD,   /* results that are sent home as they are made */
    SC_WHYS
};
extern const char *const sc_why_names[SC_WHYS]; /* in words */

/* A part of a transfer. */
struct sc_flow {
    enum sc_transfer way;
    uint32_t needed, by; /* places; 0: nobody */
    enum sc_why why;
    uint64_t bytes;
};
#define SC_FLOWS_MAX 64

struct sc_causes;

/* NULL without memory. */
struct sc_causes *sc_causes_new(const struct sc_trace_reading *trace);
void sc_causes_free(struct sc_causes *causes);

/* Takes the next event, in the order of time.  Returns how many parts it has moved, at most SC_FLOWS_MAX; 0 unless it
 * is a transfer. */
int sc_causes_next(struct sc_causes *causes, const struct sc_event *event, struct sc_flow *flow);

/* Where the thread of an event is now: its call, or its last touch; 0: unknown. */
uint32_t sc_causes_place(const struct sc_causes *causes, const struct sc_event *event);
/* Prints a place: its line, its routine, what of a library it is in. */
void sc_causes_put_place(FILE *out, const struct sc_trace_reading *trace, const struct sc_causes *causes,
                         uint32_t number, sc_trace_line *show);
uint32_t sc_causes_places(const struct sc_causes *causes); /* all numbers are below */

#endif
