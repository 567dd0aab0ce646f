/* Selection of events of a trace. */
#ifndef SC_TRACE_FILTER_H
#define SC_TRACE_FILTER_H

#include "trace/read.h"

struct sc_trace_filter {
    const char *kind, *routine; /* names; NULL: any */
    int64_t matrix, thread;     /* -1: any */
    int device;                 /* -1: the host, -2: any */
    uint64_t address;           /* an address of the program that the event concerns; 0: any */
    double from, to;            /* seconds since tracing began; to 0: the end */
    bool json;                  /* print one JSON object a line, with the fields of doc/trace-format.md */
};
#define SC_TRACE_FILTER_ALL {.matrix = -1, .thread = -1, .device = -2}

bool sc_trace_filter_takes(const struct sc_trace_filter *filter, const struct sc_trace_reading *trace,
                           const struct sc_event *event);
void sc_trace_put_json(FILE *out, const struct sc_trace_reading *trace, const struct sc_event *event);

/* dump.c */
const char *sc_trace_kind_name(uint16_t kind); /* NULL: unknown */
enum sc_status sc_trace_dump_some(const char *path, FILE *out, const struct sc_trace_filter *filter);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
