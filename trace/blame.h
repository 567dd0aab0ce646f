/* Time that lines of the program cost by data movement, added up: for the printers of blame and diff. */
#ifndef SC_TRACE_BLAME_H
#define SC_TRACE_BLAME_H

#include "trace/causes.h"

/* A reason to blame a line. */
struct sc_blame_row {
    uint32_t place, other; /* line: writer before an upload, or toucher of a result */
    enum sc_why why;
    uint32_t matrix; /* the first one; 0: unknown */
    bool more;       /* other arrays, too */
    uint64_t bytes, copies, faults;
    double seconds;
};

struct sc_blame;

/* Reads a trace; NULL after a log line. Owned by the caller. */
struct sc_blame *sc_blame_read(const char *path, const struct sc_trace_names *names);
void sc_blame_end(struct sc_blame *blame);

const struct sc_trace_reading *sc_blame_trace(const struct sc_blame *blame);
/* The rows, most expensive first. */
const struct sc_blame_row *sc_blame_rows(const struct sc_blame *blame, size_t *count);
const struct sc_array_of *sc_blame_array(const struct sc_blame *blame, uint32_t matrix); /* NULL: unknown */
double sc_blame_lost(const struct sc_blame *blame); /* seconds of all rows */
#define SC_BLAME_UNKNOWN ", by the emulated devices' clock; whole time unknown"
/* Seconds of the program: virtual on emulated devices, and 0 if the program has not told the virtual time at its
 * end. */
double sc_blame_whole(const struct sc_blame *blame, bool *is_virtual);
const char *sc_blame_remedy(const struct sc_blame *blame, const struct sc_blame_row *row);

/* The parts of a row's text. */
enum sc_blame_part { SC_BLAME_LINE, SC_BLAME_CAUSE, SC_BLAME_CALLERS, SC_BLAME_SOURCE, SC_BLAME_ARRAY,
                     SC_BLAME_ALLOCATION, SC_BLAME_PARTS };
/* Text from malloc; NULL: none, or no memory. */
char *sc_blame_text(const struct sc_blame *blame, const struct sc_blame_row *row, enum sc_blame_part part,
                    const struct sc_trace_names *names);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
