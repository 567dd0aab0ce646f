/* The cache when the program forks. */
#ifndef SC_HOST_FORK_H
#define SC_HOST_FORK_H

#include <stdbool.h>

/* Both are idempotent.  The first is called before memory is tracked, the second when devices are open. */
void sc_host_fork_start(void);
void sc_host_fork_protocol_start(void);

/* For a fork that began before the protocol's handlers were registered, while a call of a second thread opened the
 * devices.  libc has then passed the place of the protocol's handlers.  The handler that held the fork up during the
 * opening calls make_up before the fork and made_up after the fork, in both processes. */
void sc_host_fork_make_up(void);
void sc_host_fork_made_up(bool in_child);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
