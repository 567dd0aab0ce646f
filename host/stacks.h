/* Stacks of the program that lie in memory of its own. */
#ifndef SC_HOST_STACKS_H
#define SC_HOST_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The program runs on this memory, or is going to: its pages are open and are not closed again before they are freed,
 * because a fault on a stack has no room for the signal's frame. */
void sc_host_stack_at(uintptr_t lo, size_t bytes);

#endif
