/* Opening the devices: a driver takes a quarter to half a second, which a thread of its own can spend while the program
 * goes on with the host BLAS.  Thread safe. */
#ifndef SC_LIBSEMCACHE_OPENER_H
#define SC_LIBSEMCACHE_OPENER_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "device/device.h"

/* Begins to open in a thread, once.  True: nobody is opening now, and sc_opener_take will not wait.  Never waits. */
bool sc_opener_ready(const struct sc_device_host *host);
/* The thread is opening. */
bool sc_opener_busy(void);

/* What the thread has opened, or else opens the devices; *ops is NULL when there are none.  Once, and not while the
 * thread is opening.  The caller closes them, and has no lock. */
enum sc_status sc_opener_take(const struct sc_device_host *host, const struct sc_device_ops **ops, int *count);

/* Waits until the thread is through, but not for ever.  Nothing in the thread itself. */
void sc_opener_wait(void);
/* The time until which such a wait goes on. */
struct timespec sc_opener_patience(void);
/* On the main thread: a return from main waits in time. */
void sc_opener_know_thread(void);
/* Closes what was opened and not taken. */
void sc_opener_end(void);

/* The calling thread is the one that opens, or one that a device implementation has started: a driver may fork in
 * them, and such a fork waits for nobody. */
bool sc_opener_is_me(void);
void sc_opener_thread_enter(void); /* first in each thread of a device implementation (struct sc_device_host) */
/* Around a fork by another thread, in which nobody begins to open.  In the child: true when devices were open, or being
 * opened. */
void sc_opener_fork_prepare(void);
void sc_opener_fork_parent(void);
bool sc_opener_fork_child(void);

/* The program's handlers wait while the calling thread opens the devices. */
void sc_opener_hold_signals(sigset_t *before);

#endif
