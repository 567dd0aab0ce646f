/* What happens to the cache when the program forks. */
#ifndef SC_HOST_FORK_H
#define SC_HOST_FORK_H

#include <stdbool.h>

/* Idempotent both; the first before anything is tracked, the second when devices are open. */
void sc_host_fork_start(void);
void sc_host_fork_protocol_start(void);

/* A fork that began before the protocol's handlers were registered has passed their place when another thread's call
 * has opened the devices.  Who holds forks up for as long as that takes makes up for them: before, and after in both
 * processes. */
void sc_host_fork_make_up(void);
void sc_host_fork_made_up(bool in_child);

#endif
