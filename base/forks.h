/* Handlers around fork for the library's folders. */
#ifndef SC_BASE_FORKS_H
#define SC_BASE_FORKS_H

/* Registers with pthread_atfork, and also for forks without atfork handlers (host/process.c).  A handler may be
 * NULL. */
void sc_forks_register(void (*prepare)(void), void (*parent)(void), void (*child)(void));

/* Run the registered handlers, in pthread_atfork's order, around a fork without atfork handlers.  The forking thread
 * calls prepare first, then parent in the old process and child in the new process. */
void sc_forks_prepare(void);
void sc_forks_parent(void);
void sc_forks_child(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
