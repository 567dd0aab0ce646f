/* Memory of the program that calls of libc are using.  A range is noted while its call runs, so that no BLAS call of
 * a second thread closes the pages in the meantime (rule M8). */
#ifndef SC_HOST_SYSCALL_RANGES_H
#define SC_HOST_SYSCALL_RANGES_H

#include "host/arena.h"

/* A use of memory by one call; note is 0 without a note.  Initialise with {0}. */
struct sc_host_use {
    unsigned note;
    unsigned serial; /* serial of the note: an end after the block's free must not drop a newer note */
};

/* Notes [lo, hi).  The range of a use grows to cover every range noted for it.  Without a free note, does nothing. */
void sc_host_use(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access);
/* The same, but without a free note all memory counts as in use until the use ends. */
void sc_host_use_surely(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access);
/* The use outlasts the frame of the function that began it. */
void sc_host_use_lasts(struct sc_host_use *use);

/* Extends the note of a use to [lo, hi), too; false: the use has no note, or the note has ended with its block. */
bool sc_host_use_extend(const struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access);
void sc_host_use_end(struct sc_host_use *use);
/* Called before this thread jumps to a frame with the stack pointer `stack`: ends the uses of frames below
 * (host/jumps.c).  A use that was left by other means ends when its thread ends or calls the BLAS with a shorter
 * stack. */
void sc_host_uses_jump(uintptr_t stack);
/* Drops the notes of a block that is being freed. */
void sc_host_uses_forget(uintptr_t addr, size_t bytes);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
