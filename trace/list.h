/* Lists that grow: of events, and of what is found in them. */
#ifndef SC_TRACE_LIST_H
#define SC_TRACE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for `more` elements of `each` bytes behind `count`: at least twice as many as there was room for.  list:
 * the address of the pointer to them, from malloc or NULL.  False: no memory, and nothing has changed. */
bool sc_trace_list_reserve(void *list, size_t *room, size_t count, size_t more, size_t each);

#endif
