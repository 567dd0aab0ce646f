/* What the fault half of host/ shares among its own files. */
#ifndef SC_HOST_FAULT_INT_H
#define SC_HOST_FAULT_INT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/host.h"

/* protect.c: counts every successful change of protection; mappings beyond one that the arena is split into. */
extern uint32_t sc_host_prot_changes;
extern size_t sc_host_mappings, sc_host_mappings_budget, sc_host_mappings_limit;

void sc_host_pause_end(void); /* tests: the next ask of sc_host_can_close is answered again */

/* pager.c: the thread that serves the desk of fault_sig.h. */
enum sc_status sc_host_pager_start(const struct sc_host_callbacks *callbacks);
void sc_host_pager_stop(void);
/* Pages were closed: a fault may come soon.  Costs a load, and a system call when the pager sleeps. */
void sc_host_pager_rouse(void);

/* read_ahead.c: how much to bring home at a fault.  Used by the pager thread only. */
struct sc_host_bounds {
    uintptr_t first, end; /* of the block that the fault lies in: no window and no stream leaves it */
};
size_t sc_host_window(uintptr_t addr, enum sc_access access, struct sc_host_bounds bounds);
/* After the fault was served.  True: the touching is sequential and goes on at *next with *bytes. */
bool sc_host_window_served(uintptr_t addr, enum sc_access access, uintptr_t *next, size_t *bytes);
void sc_host_window_reset(void);

/* signals.c: libc's own functions behind the ones this library interposes. */
int sc_host_real_sigaction(int sig, const struct sigaction *action, struct sigaction *old);
int sc_host_real_sigmask(int how, const sigset_t *set, sigset_t *old); /* masks.c */
bool sc_host_masks_kept(void); /* free of SIGSEGV; masks.c */
void sc_host_mask_open(sigset_t *set); /* takes SIGSEGV out of a set of the program's */
/* The same for a system call by its number: its mask without SIGSEGV is in *opened, and that its argument. */
void sc_host_mask_open_raw(long number, long argument[6], uint64_t *opened);
void sc_host_unblock(void); /* SIGSEGV, for the calling thread; async-signal safe */
/* Takes SIGSEGV over from `theirs`, which becomes the handler for the faults that are not ours; and gives it back. */
enum sc_status sc_host_signals_take(void (*handler)(int, siginfo_t *, void *), const struct sigaction *theirs);
void sc_host_signals_give_back(void);

#endif
