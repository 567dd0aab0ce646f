/* Free space on the calling thread's stack. */
#ifndef SC_BASE_STACK_H
#define SC_BASE_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Stack needed by an offloaded call, bytes.  Drivers use most of the stack and do not document how much. */
#define SC_STACK_OF_A_CALL (256 << 10)

/* True if `bytes` are free.  False on any stack except the thread's own (alternate signal stacks, coroutines), because
 * the end of such a stack is unknown. */
bool sc_stack_has(unsigned long bytes);

/* Whether the address is on the thread's own stack. */
bool sc_stack_is(uintptr_t address);
/* As sc_stack_is, without a system call: false until the thread has called sc_stack_is or sc_stack_has.
 * Async-signal-safe. */
bool sc_stack_holds(uintptr_t address);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
