/* The host's access to tracked memory: acquiring, forgetting, allocating, fork, reports.  Called without locks; thread
 * safe.
 * Used by: libsemcache, blas, sparse, tasks. */
#ifndef SC_COHERENCE_ACCESS_H
#define SC_COHERENCE_ACCESS_H

#include <stddef.h>

#include "base/status.h"
#include "coherence/view.h"

/* --- before the host uses memory, before memory goes away --------------------------------------------------------- */

/* Brings bytes home and opens their pages for the access; untracked memory is left alone.  For host BLAS calls on large
 * operands, I/O, the public interface. */
void sc_coherence_acquire_host(uintptr_t addr, size_t bytes, enum sc_access access);
/* Without a lock.  True: no page is closed, and no call is active that could close one.  Memory outside the arena is
 * open. */
bool sc_coherence_all_open(uintptr_t addr, size_t bytes, enum sc_access access);
/* As acquire_host, for a rows x cols view, without the rows in between. */
void sc_coherence_acquire_view(const struct sc_view *view);
/* Starts bringing a view home, and returns without waiting.  A later acquisition or fault opens the pages. */
void sc_coherence_start_home(const struct sc_view *view);
/* Drops the matrices of memory that goes away; writes nothing back. */
void sc_coherence_forget(uintptr_t addr, size_t bytes);
/* Drops the matrices of a range after the host has been made valid, except for matrices that calls have. */
void sc_coherence_release_range(uintptr_t addr, size_t bytes);
/* The same for all matrices of the range: waits for calls of other threads. Not within a call. When the range has no
 * matrices, calls `end` (may be NULL) with the protocol's lock held. */
void sc_coherence_withdraw(uintptr_t addr, size_t bytes, void (*end)(void *arg), void *arg);
/* Brings all matrices home; devices keep their copies. */
void sc_coherence_home_all(void);
/* Pins the block of an address, for a program that hands the block to devices itself.  Devices ignore page
 * protection: the caller acquires the block first.  SC_ERR_UNSUPPORTED: the address lies in no block. */
enum sc_status sc_coherence_pin(const void *ptr);

/* Waits until calls of other threads that are in progress are over, at most so many seconds.  Calls that begin
 * meanwhile wait.  Not within a call. */
void sc_coherence_await_calls(double seconds);
/* Before the process ends: no further call begins (calls run on the host; loans go on).  false takes this back. */
void sc_coherence_leave(bool leaving);

/* --- fork --------------------------------------------------------------------------------------------------------- */

/* prepare: everything is home and readable; other threads cannot offload until parent.  child: the devices are the
 * parent's, all memory is readable and writable. */
void sc_coherence_fork_prepare(void);
void sc_coherence_fork_parent(void);
void sc_coherence_fork_child(void);

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Memory of the library's own that can be tracked; NULL: no such memory is left, and ordinary memory will do. */
void *sc_coherence_host_alloc(size_t bytes);
/* Frees memory of host_alloc and forgets its matrices; false: the address has another origin. */
bool sc_coherence_host_free(void *memory);
bool sc_coherence_is_freed(const void *ptr, size_t bytes); /* the first or the last byte lies in freed memory */
bool sc_coherence_is_tracked(const void *ptr, size_t bytes); /* the bytes can be kept on devices */
bool sc_coherence_may_link(const void *ptr, size_t bytes);   /* the bytes, or a mirror of them, can be so kept */
/* The block of tracked memory that an address lies in; false: none.  For the trace. */
bool sc_coherence_block(const void *ptr, uintptr_t *base, size_t *bytes);

/* --- reports ------------------------------------------------------------------------------------------------------ */

/* Verification mode: logs where an element is and the latest events of its tile. */
void sc_coherence_report_place(const char *what, uintptr_t address, int events);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
