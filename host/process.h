/* The calls by which a program divides or ends. */
#ifndef SC_HOST_PROCESS_H
#define SC_HOST_PROCESS_H

#include <stdbool.h>

/* `wait` is called before each of them, by the thread that makes it: sooner than anything that libraries have
 * registered for a fork or an exit. */
void sc_host_process_before(void (*wait)(void));

/* Around the fork of a program that libc runs no handlers for.  False: nothing can be done, and the second is not
 * called. */
bool sc_host_process_divides(void);
bool sc_host_is_fork(long number, const long argument[6]); /* the system call makes one with a memory of its own */
void sc_host_process_divided(bool in_child);

#endif
