/* Operands outside the arena.  All but forget with the mirrors' lock held, and without the protocol's. */
#ifndef SC_COHERENCE_MIRROR_H
#define SC_COHERENCE_MIRROR_H

#include "coherence/protocol.h"

/* --- mirrors (mirror.c) ------------------------------------------------------------------------------------------- */

void sc_mirror_lock(void); /* before the protocol's lock */
void sc_mirror_unlock(void);
/* Finds or makes a mirror of the bytes [lo, hi).  The mirror may replace other mirrors: views are looked up after
 * all views of a call are covered. */
bool sc_mirror_cover(uintptr_t lo, uintptr_t hi);
/* The view's place in a mirror; false: there is none. */
bool sc_mirror_view(const struct sc_view *view, struct sc_view *own);
/* Updates the mirror from the program's memory, for a view with a place in the mirror.  False: the memory has been
 * replaced, and the mirror is gone. */
bool sc_mirror_refresh(const struct sc_view *view);
/* Copies the elements of a view that a call has written back to the program's memory. */
void sc_mirror_write_back(const struct sc_view *view, const struct sc_view *own);
/* One could be made, as far as can be told without trying. */
bool sc_mirror_possible(uintptr_t lo, uintptr_t hi);
/* A mirror may meet the bytes; false: no mirror did when the call began.  Takes no lock. */
bool sc_mirror_near(uintptr_t lo, uintptr_t hi);
/* The program gives the memory up, or replaces it.  Takes the lock. */
void sc_mirror_forget(uintptr_t lo, uintptr_t hi);

/* --- operands of a call (untracked.c), without any lock ----------------------------------------------------------- */

/* The views that the protocol will see: views outside of the arena get a place in a mirror or a shadow, with the
 * data that is read.  With a SC_MIRROR among them the mirrors' lock is held until finish or drop. */
enum sc_status sc_untracked_stage(const struct sc_view *views, int count, struct sc_view *own, enum sc_stage *stage);
void sc_untracked_drop(const struct sc_view *own, const enum sc_stage *stage, int count); /* no call came of it */
void sc_untracked_finish(struct sc_operand *operands, int count);                         /* results go back */
/* Waits for uploads from copies that were made for one call. */
void sc_untracked_stop(void);
void sc_untracked_fork_child(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
