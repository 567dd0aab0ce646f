/* What happens to the cache when the program forks. */
#ifndef SC_HOST_FORK_H
#define SC_HOST_FORK_H

/* Idempotent both; the first before anything is tracked, the second when devices are open. */
void sc_host_fork_start(void);
void sc_host_fork_protocol_start(void);

#endif
