/* The calls by which a program forks or ends. */
#ifndef SC_HOST_PROCESS_H
#define SC_HOST_PROCESS_H

#include <stdbool.h>

/* Registers functions for each fork and each exit. The thread of the call runs a function before the handlers of
 * libraries. */
void sc_host_process_before(void (*fork)(void), void (*exit)(void));
/* Registers functions called when the main thread ends and others go on, and before the exit that ends the process
 * after its last thread (threads.c). */
void sc_host_threads_watch(void (*main_left)(void), void (*exit)(void));

/* Called before and after a fork for which libc runs no handlers.  divides: false when preparation is impossible;
 * `divided` is then not called. */
bool sc_host_process_divides(void);
/* True when the system call makes a child with its own memory. */
bool sc_host_is_fork(long number, const long argument[6]);
void sc_host_process_divided(bool in_child);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
