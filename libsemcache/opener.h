/* Opening the devices: a driver takes a quarter to half a second, which a thread of its own can spend while the program
 * goes on with the host BLAS.  Thread safe. */
#ifndef SC_LIBSEMCACHE_OPENER_H
#define SC_LIBSEMCACHE_OPENER_H

#include <signal.h>
#include <stdbool.h>

#include "device/device.h"

/* Begins to open, once.  True: sc_opener_take will not have to wait for long. */
bool sc_opener_ready(const struct sc_device_host *host);

/* Waits for the thread, if there is one, but not for ever: false when it is not through after ten seconds. */
bool sc_opener_come(void);

/* The devices, waited for or opened if need be; *ops is NULL when there are none.  The caller closes them. */
enum sc_status sc_opener_take(const struct sc_device_host *host, const struct sc_device_ops **ops, int *count);

/* Waits until nobody is opening any more.  Nothing in the opening thread itself. */
void sc_opener_wait(void);
/* An exit by the calling thread waits in time; of use for the main thread, which ends the program by returning. */
void sc_opener_know_thread(void);
/* Closes what was opened and not taken. */
void sc_opener_end(void);

/* The calling thread is the one that opens, or one that a device implementation has started: a driver may fork in
 * them, and such a fork waits for nobody. */
bool sc_opener_is_me(void);
void sc_opener_thread_enter(void); /* first in each thread of a device implementation (struct sc_device_host) */
/* A forked child: its driver stayed with the parent.  True when there was one. */
bool sc_opener_child(void);

/* Threads that are started meanwhile, by us or by a driver, must not run the program's signal handlers. */
void sc_opener_block_signals(sigset_t *before);

#endif
