/* The trace file being written: a mapped file of blocks (format.h). The caller holds the file lock of rings.c,
 * except for sc_trace_store_lost. Only the process that created the file calls these functions. */
#ifndef SC_TRACE_STORE_H
#define SC_TRACE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "trace/format.h"
#include "trace/trace.h"

#define SC_TRACE_BLOCK_EVENTS \
    ((uint32_t)((SC_TRACE_BLOCK_BYTES - sizeof(struct sc_trace_block_head)) / sizeof(struct sc_event)))

struct sc_trace_block {
    struct sc_trace_block_head head;
    struct sc_event events[];
};

/* rings.c: whether this is the process that was prepared to trace. Forked processes must not take the file lock: a
 * thread that does not exist there may hold the lock. */
bool sc_trace_is_alive(void);
int sc_trace_process(void); /* the number of this process; 0: forked since, or tracing never started */
/* rings.c: the file lock, for the files that write records. sc_trace_lock_file locks only if this process writes a file
 * now; otherwise false, without the lock. */
void sc_trace_lock(void);
bool sc_trace_lock_file(void);
void sc_trace_store_routine(int routine); /* the record of a routine's name, if a file is written; with the lock held */
void sc_trace_unlock(void);

/* Creates the file.  limit: bytes, 0: none.  A failure is logged in one line. */
enum sc_status sc_trace_store_open(const char *path, uint64_t limit);
bool sc_trace_store_is_open(void);

/* A block for events: a new block, or in a full file the oldest released block, whose events are dropped after a call
 * of `taken`.  NULL: no block is free. */
struct sc_trace_block *sc_trace_store_block(void (*taken)(const struct sc_trace_block *block));
/* The block is complete: the owner writes no more events. */
void sc_trace_store_release(struct sc_trace_block *block);

void sc_trace_store_record(enum sc_trace_record_kind kind, const void *head, size_t head_bytes, const char *text,
                           size_t bytes);
/* The program files whose code is in the process now, without the loader's lock. */
void sc_trace_store_modules(bool again); /* again: only new files */

/* Whether the trace file names the program file of this address of code. */
bool sc_trace_store_knows(uint64_t ip);

/* Counts events without a block. */
void sc_trace_store_lost(uint64_t events);

/* Ends the file.  Blocks stay mapped, because a thread may still write an event. */
void sc_trace_store_close(void);
/* In a forked child: the file is the parent's. */
void sc_trace_store_forget(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
