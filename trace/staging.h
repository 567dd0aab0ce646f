/* Operands that cannot be watched: calls work on a copy, and the copy is a separate matrix in the trace. */
#ifndef SC_TRACE_STAGING_H
#define SC_TRACE_STAGING_H

#include "trace/read.h"

#define SC_STAGINGS 64

struct sc_staging {
    struct {
        uint64_t base, bytes;
        uint32_t thread; /* the thread whose call uses the copy */
        uint8_t memory, kept;
    } last[SC_STAGINGS]; /* the last copies */
    unsigned count;
    uint8_t *of; /* by number of the matrix: 0, or 1 + enum sc_trace_memory, and KEPT */
    size_t room;
};

/* Takes the next event, in the order of time. */
void sc_staging_next(struct sc_staging *staging, const struct sc_event *event);
void sc_staging_end(struct sc_staging *staging);

/* Whether the matrix is such a copy; if so, the kind of the operand's memory, and whether the copy is kept from call
 * to call. */
bool sc_staging_of(const struct sc_staging *staging, uint32_t matrix, enum sc_trace_memory *memory, bool *kept);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
