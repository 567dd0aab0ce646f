/* Growing lists, and slots for threads. */
#ifndef SC_TRACE_LIST_H
#define SC_TRACE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for `more` elements of `each` bytes behind `count`, with at least twice the old room. list: address of the
 * pointer to the elements, from malloc or NULL. False: no memory, and no change. */
bool sc_trace_list_reserve(void *list, size_t *room, size_t count, size_t more, size_t each);

/* Threads followed by a reader of a trace. Every thread has a slot; a new thread beyond the last slot takes the first
 * slot. */
#define SC_TRACE_THREADS 256
struct sc_trace_threads {
    uint32_t id[SC_TRACE_THREADS];
    int count;
};

/* The slot of a thread; -1: the thread has none. */
int sc_trace_thread_find(const struct sc_trace_threads *threads, uint32_t id);
/* As find, but a thread without a slot gets a slot. *fresh: the slot is new for this thread. */
int sc_trace_thread_slot(struct sc_trace_threads *threads, uint32_t id, bool *fresh);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
