/* Stacks that lie in the program's own memory. */
#ifndef SC_HOST_STACKS_H
#define SC_HOST_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For memory that the program uses, or will use, as a stack.  Opens the pages and keeps them open until the free,
 * because a fault on a stack has no room for the signal's frame. */
void sc_host_stack_at(uintptr_t lo, size_t bytes);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
