/* The calls by which a program forks or ends. */
#ifndef SC_HOST_PROCESS_H
#define SC_HOST_PROCESS_H

#include <stdbool.h>

/* Registers `wait`, called before each fork and exit on the thread that makes the call, and before every handler
 * that libraries have registered. */
void sc_host_process_before(void (*wait)(void));
/* The same for the exit that ends a process after its last thread (threads.c). */
void sc_host_threads_before(void (*wait)(void));

/* Called before and after a fork for which libc runs no handlers.  divides: false when preparation is impossible;
 * `divided` is then not called. */
bool sc_host_process_divides(void);
/* True when the system call makes a child with its own memory. */
bool sc_host_is_fork(long number, const long argument[6]);
void sc_host_process_divided(bool in_child);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
