/* Opening of the devices.  A driver takes 0.25 to 0.5 s; a separate thread can open the driver while the program
 * continues with the host BLAS.  Thread safe. */
#ifndef SC_LIBSEMCACHE_OPENER_H
#define SC_LIBSEMCACHE_OPENER_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "device/device.h"

/* Starts an opening in a thread, once.  Returns true if no opening is in progress; sc_opener_take then does not wait.
 * Never waits. */
bool sc_opener_ready(const struct sc_device_host *host);
/* Whether the thread is opening the devices. */
bool sc_opener_busy(void);
/* As sc_opener_busy, but the first caller in a process waits for the end of the opening, at most sc_opener_wait_seconds
 * (0.5; tests change it), and ends the measurements after it. */
bool sc_opener_busy_long(void);
extern double sc_opener_wait_seconds;

/* Takes the devices opened by the thread, or else opens them; *ops is NULL without devices.  Call once, without a lock,
 * and not while the thread is opening.  The caller closes the devices. */
enum sc_status sc_opener_take(const struct sc_device_host *host, const struct sc_device_ops **ops, int *count);

/* Waits until the thread is done, or until a time limit.  Returns at once in the opening thread. */
void sc_opener_wait(void);
/* Longest wait, in seconds, of a thread that ends or forks the process.  The thread waited for may itself wait for the
 * loader's lock, which a caller in a constructor holds. */
#define SC_OPENER_PATIENCE 10.0
/* Called on the main thread: a return from main then waits for the opening. */
void sc_opener_know_thread(void);
/* Sets what the end of the main thread calls instead, before any handler of exit; `wait` includes sc_opener_wait. */
void sc_opener_at_end(void (*wait)(void));
/* Whether the thread may be started; true at first.  If it may not, an opening in progress ends at its next step, and
 * may be tried again when the thread may be started again. */
void sc_opener_permit(bool permitted);
bool sc_opener_is_unwanted(void); /* for struct sc_device_host: the thread shall end an opening */
/* Closes devices opened but not taken. */
void sc_opener_end(void);

/* Whether the caller is the opening thread or a thread of a device implementation.  A driver may fork in these threads,
 * and such a fork must not wait. */
bool sc_opener_is_me(void);
/* First call in every thread of a device implementation (struct sc_device_host). */
void sc_opener_thread_enter(void);
/* Brackets around a fork by another thread: no opening starts in between.  sc_opener_fork_child returns true if devices
 * were open or being opened. */
void sc_opener_fork_prepare(void);
void sc_opener_fork_parent(void);
bool sc_opener_fork_child(void);

/* Blocks the program's signals with handlers while the calling thread opens the devices. */
void sc_opener_hold_signals(sigset_t *before);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
