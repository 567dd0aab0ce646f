/* Room on the calling thread's stack. */
#ifndef SC_BASE_STACK_H
#define SC_BASE_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* What a call that goes to devices wants: most of it is for drivers, which say nothing of what they need. */
#define SC_STACK_OF_A_CALL (256 << 10)

/* False as well on a stack that is not the thread's own (an alternate one, a coroutine's), whose end nobody knows. */
bool sc_stack_has(unsigned long bytes);

/* Is this address on the thread's own stack? */
bool sc_stack_is(uintptr_t address);
/* The same without asking the system, and so false before the thread has called another function of these.
 * Async-signal-safe. */
bool sc_stack_holds(uintptr_t address);

#endif
