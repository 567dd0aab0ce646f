/* A trace file in memory. */
#ifndef SC_TRACE_READ_H
#define SC_TRACE_READ_H

#include "trace/format.h"
#include "trace/trace.h"

struct sc_trace_text {
    const char *at; /* in the file, not terminated, any bytes */
    size_t bytes;
};

struct sc_trace_module {
    struct sc_trace_module_head head;
    struct sc_trace_text path;
};

/* A chain of calls: words and stack as the head describes, at any alignment. */
struct sc_trace_chain {
    struct sc_trace_chain_head head;
    const char *words, *stack;
    size_t stack_bytes;
};

struct sc_trace_python {
    struct sc_trace_python_head head;
    struct sc_trace_text file, function;
};

struct sc_trace_reading {
    const char *bytes; /* the whole file */
    size_t size;
    struct sc_trace_header header;
    struct sc_event *events; /* in the order of time; a group is neighbours */
    size_t event_count;
    struct sc_trace_module *modules;
    size_t module_count, module_room;
    struct sc_trace_chain *chains;
    size_t chain_count, chain_room;
    struct sc_trace_python *python;
    size_t python_count, python_room;
    struct sc_trace_text *settings;
    size_t setting_count, setting_room;
    struct sc_trace_text routines[SC_TRACE_ROUTINES_MAX];
};

/* On failure one line is logged, and sc_trace_read_end must not be called. */
enum sc_status sc_trace_read(const char *path, struct sc_trace_reading *trace);
void sc_trace_read_end(struct sc_trace_reading *trace);

/* The program file with this address of code, or NULL. */
const struct sc_trace_module *sc_trace_module_of(const struct sc_trace_reading *trace, uint64_t ip);

/* The line of Python that a word of a chain stands for, or NULL. */
const struct sc_trace_python *sc_trace_python_of(const struct sc_trace_reading *trace, uint64_t word);
/* Word `i` of a chain: addresses, then registers. */
uint64_t sc_trace_chain_word(const struct sc_trace_chain *chain, size_t i);
/* The number of the chain of an event (call, fault, acquisition, allocation); NULL: an event without a chain. */
uint64_t *sc_trace_chain_field(struct sc_event *event);
/* The field with the program's line of the same event. */
uint64_t *sc_trace_line_field(struct sc_event *event);

/* Prints text of the file without control characters and blanks. */
void sc_trace_put_text(FILE *out, struct sc_trace_text text, const char *if_none);
/* dump.c: the first and the last lines of a printed trace. */
void sc_trace_put_heading(FILE *out, const struct sc_trace_reading *trace);
void sc_trace_put_ending(FILE *out, const struct sc_trace_reading *trace);
/* Prints the line of an event; columns without a meaning for its kind are "-". */
void sc_trace_put_event(FILE *out, const struct sc_trace_reading *trace, const struct sc_event *event);

/* Number of events that belong to a call (SC_EVENT_SCALARS, SC_EVENT_OPERAND): call[1], call[2]... -1: the file is
 * damaged. */
int sc_trace_group(const struct sc_trace_reading *trace, const struct sc_event *call);

/* Whether a call is of a whole routine of LAPACK. */
bool sc_trace_is_lapack(const struct sc_event *call);

/* The newest events in the rings with the tile, by time (rings.c). */
int sc_trace_collect(uint32_t matrix, uint32_t tile, struct sc_event *out, int most);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
