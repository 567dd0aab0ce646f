/* Lists that grow: of events, and of what is found in them. */
#ifndef SC_TRACE_LIST_H
#define SC_TRACE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for `more` elements of `each` bytes behind `count`: at least twice as many as there was room for.  list:
 * the address of the pointer to them, from malloc or NULL.  False: no memory, and nothing has changed. */
bool sc_trace_list_reserve(void *list, size_t *room, size_t count, size_t more, size_t each);

/* The threads that a reader of a trace follows.  Each has a slot; when all are taken, a new thread
 * takes the first. */
#define SC_TRACE_THREADS 256
struct sc_trace_threads {
    uint32_t id[SC_TRACE_THREADS];
    int count;
};

/* The slot of a thread; -1: the thread has none. */
int sc_trace_thread_find(const struct sc_trace_threads *threads, uint32_t id);
/* The same; a thread without a slot gets one.  *fresh: the slot is new for this thread. */
int sc_trace_thread_slot(struct sc_trace_threads *threads, uint32_t id, bool *fresh);

#endif
