/* Selection of events of a trace. */
#ifndef SC_TRACE_FILTER_H
#define SC_TRACE_FILTER_H

#include "trace/read.h"

struct sc_trace_filter {
    const char *kind, *routine;   /* names; NULL: any */
    const char *line;             /* "solver.c:12" or what the reports print for a line; NULL: any */
    int64_t matrix, tile, thread; /* -1: any */
    int device;                 /* -1: the host, -2: any */
    uint64_t address;           /* an address of the program that the event concerns; 0: any */
    double from, to;            /* seconds since tracing began; to 0: the end */
    bool json;                  /* print one JSON object a line, with the fields of doc/trace-format.md */
};
#define SC_TRACE_FILTER_ALL {.matrix = -1, .tile = -1, .thread = -1, .device = -2}

/* Takes the events in the order of time. `names` and a filter with a line: the events of a line's calls and touches. */
struct sc_trace_chooser;
struct sc_trace_chooser *sc_trace_chooser_new(const struct sc_trace_filter *filter,
                                              const struct sc_trace_reading *trace,
                                              const struct sc_trace_names *names); /* NULL: no memory */
bool sc_trace_chooser_takes(struct sc_trace_chooser *chooser, const struct sc_event *event);
void sc_trace_chooser_free(struct sc_trace_chooser *chooser);
void sc_trace_put_json(FILE *out, const struct sc_trace_reading *trace, const struct sc_event *event);

/* dump.c */
const char *sc_trace_kind_name(uint16_t kind); /* NULL: unknown */
bool sc_trace_kind_has_tile(uint16_t kind);
/* names: for a filter with a line; otherwise NULL. */
enum sc_status sc_trace_dump_some(const char *path, FILE *out, const struct sc_trace_filter *filter,
                                  const struct sc_trace_names *names);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
