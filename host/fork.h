/* What happens to the cache when the program forks. */
#ifndef SC_HOST_FORK_H
#define SC_HOST_FORK_H

void sc_host_fork_start(void); /* idempotent; before it nothing is tracked and nothing needs doing */

#endif
