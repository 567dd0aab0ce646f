/* "Nothing asynchronous happens to this thread": while the depth is not zero, the program's signal handlers do not run
 * on the thread and it is not cancelled.  A handler that ran while the thread holds one of our locks, or is inside a
 * device's driver, and touched a closed page, would wait for ever for what it interrupted; so would one that calls
 * exit.
 *
 * Only signals that have a handler are held back (sc_quiet_signals): a deadly one still kills, so that a program that
 * waits for a device can be ended.  Handlers run in sc_quiet_leave and may jump out of it: what else a thread has to
 * undo (base/inside.h) comes before it.  Costs no system call in a program without handlers.  Async-signal-safe. */
#ifndef SC_BASE_QUIET_H
#define SC_BASE_QUIET_H

#include <stdint.h>

/* Signals that have a handler, bit n - 1 for signal n; kept by host/signals.c, atomic. */
extern uint64_t sc_quiet_signals;

/* Not zero: threads that this thread starts have all signals blocked: the program's handlers do not run there. */
extern __thread unsigned sc_quiet_threads __attribute__((tls_model("initial-exec")));

void sc_quiet_enter(void);
void sc_quiet_leave(void);

#endif
