/* Quiet: a thread between sc_quiet_enter and the matching sc_quiet_leave runs no signal handler of the program, and is
 * not cancelled.  Pairs nest.  Without quiet, a handler could interrupt a thread that holds a lock of ours or runs
 * inside a device driver. If the handler then touches a closed page or calls exit, the thread waits forever for itself.
 *
 * Only signals with a handler (sc_quiet_signals) are blocked: a deadly signal still ends a program that waits for a
 * device.  Pending handlers run in sc_quiet_leave and may longjmp out of the function; a thread therefore undoes its
 * other per-thread state (base/inside.h) first.  No system call in a program without handlers.  Async-signal-safe. */
#ifndef SC_BASE_QUIET_H
#define SC_BASE_QUIET_H

#include <stdint.h>

/* Signals with a handler, bit n - 1 for signal n.  Atomic; written by host/signals.c. */
extern uint64_t sc_quiet_signals;

/* Not zero: a new thread of this thread has all signals blocked and never runs a handler of the program. */
extern __thread unsigned sc_quiet_threads __attribute__((tls_model("initial-exec")));

/* Begins the names of the threads of emulated devices, which the host's part knows by their names: a BLAS with names of
 * its own starts threads past the interposed pthread_create. */
#define SC_QUIET_NAME "sc-emu"

/* Not zero only while the signals are blocked: a handler runs with 0 or not at all. */
extern __thread unsigned sc_quiet_depth __attribute__((tls_model("initial-exec")));
void sc_quiet_begin(void);
void sc_quiet_end(void);

static inline void sc_quiet_enter(void)
{
    if (sc_quiet_depth == 0)
        sc_quiet_begin();
    sc_quiet_depth++;
}
static inline void sc_quiet_leave(void)
{
    if (--sc_quiet_depth == 0)
        sc_quiet_end();
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
