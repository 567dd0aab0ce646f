/* The return addresses on the stack of the calling thread. */
#ifndef SC_TRACE_WALK_H
#define SC_TRACE_WALK_H

#include <stdint.h>

#include "trace/chain.h"

#define SC_WALK_FRAMES (SC_CHAIN_FRAMES + 8) /* with the library's own */

struct sc_walk {
    int count;
    uint64_t ip[SC_WALK_FRAMES]; /* innermost first, from the caller of sc_walk_here on */
};

/* Once, from a harmless place: loads the unwinder. */
void sc_walk_prepare(void);
/* Takes the file lock. No frames without an unwinder. Thread safe. */
void sc_walk_here(struct sc_walk *to);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
