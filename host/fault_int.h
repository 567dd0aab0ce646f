/* Declarations that the files of the fault engine share. */
#ifndef SC_HOST_FAULT_INT_H
#define SC_HOST_FAULT_INT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/host.h"

/* protect.c.  sc_host_prot_changes counts the successful changes of protection.  sc_host_mappings is the number of
 * mappings that the arena is split into, beyond the first. */
extern uint32_t sc_host_prot_changes;
extern size_t sc_host_mappings, sc_host_mappings_budget, sc_host_mappings_limit;

void sc_host_pause_end(void); /* tests: ends the pause of sc_host_can_close */

/* pager.c: the thread that serves the desk of fault_sig.h. */
enum sc_status sc_host_pager_start(const struct sc_host_callbacks *callbacks);
void sc_host_pager_stop(void);
/* Called after pages were closed: a fault may come soon.  Costs a load, and a system call if the pager sleeps. */
void sc_host_pager_rouse(void);

/* read_ahead.c: how many bytes to fetch at a fault.  Called by the pager thread only. */
struct sc_host_bounds {
    uintptr_t first, end; /* bounds of the block with the fault; windows and streams stay inside */
};
size_t sc_host_window(uintptr_t addr, enum sc_access access, struct sc_host_bounds bounds);
/* Called after the fault was served.  True: the accesses are sequential, and the next *bytes bytes begin at *next. */
bool sc_host_window_served(uintptr_t addr, enum sc_access access, uintptr_t *next, size_t *bytes);
void sc_host_window_reset(void);

/* signals.c: libc's own functions behind the interposed ones. */
int sc_host_real_sigaction(int sig, const struct sigaction *action, struct sigaction *old);
int sc_host_real_sigmask(int how, const sigset_t *set, sigset_t *old); /* masks.c */
bool sc_host_masks_kept(void); /* true from the arena's start on: masks are kept free of SIGSEGV; masks.c */
void sc_host_mask_open(sigset_t *set); /* removes SIGSEGV from a set of the program */
/* The same for a system call by number.  A mask without SIGSEGV is stored in *opened and replaces the mask argument. */
void sc_host_mask_open_raw(long number, long argument[6], uint64_t *opened);
void sc_host_unblock(void); /* unblocks SIGSEGV for the calling thread; async-signal-safe */
/* Take: replaces the program's action for SIGSEGV, `theirs`, by `handler`.  Faults that do not concern the library
 * still reach `theirs`.  Give back: restores the program's action. */
enum sc_status sc_host_signals_take(void (*handler)(int, siginfo_t *, void *), const struct sigaction *theirs);
void sc_host_signals_give_back(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
