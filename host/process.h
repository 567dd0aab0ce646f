/* The calls by which a program divides or ends. */
#ifndef SC_HOST_PROCESS_H
#define SC_HOST_PROCESS_H

/* `wait` is called before each of them, by the thread that makes it: sooner than anything that libraries have
 * registered for a fork or an exit. */
void sc_host_process_before(void (*wait)(void));

#endif
