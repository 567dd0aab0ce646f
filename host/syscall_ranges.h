/* Memory of the program that calls are using: noted for as long as a call runs, so that no other thread's BLAS call
 * closes those pages under it (rule M8). */
#ifndef SC_HOST_SYSCALL_RANGES_H
#define SC_HOST_SYSCALL_RANGES_H

#include "host/arena.h"

/* One call: the note it left, 0 for none.  Begins as {0}. */
struct sc_host_use {
    unsigned note;
    unsigned serial; /* of that note: whoever ends a use whose block was freed meanwhile must not end another's */
};

/* Notes [lo, hi); a use is one range, which grows to cover all that is noted for it.  Nothing where no note is free. */
void sc_host_use(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access);
/* The same; when no note is free, all memory counts as in use until it ends. */
void sc_host_use_surely(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access);
/* It does not end with the frame of the function that began it. */
void sc_host_use_lasts(struct sc_host_use *use);

void sc_host_use_end(struct sc_host_use *use);
/* This thread jumps to where its stack ends at `stack`: what it used below is over (host/jumps.c).  Left by other
 * means, a use is over when the thread has ended, or calls the BLAS with a shorter stack. */
void sc_host_uses_jump(uintptr_t stack);
/* Drops the notes of a block that is being freed. */
void sc_host_uses_forget(uintptr_t addr, size_t bytes);

#endif
