/* Memory of the program that a system call is about to use: acquired before, and noted for as long as the call runs, so
 * that no other thread's BLAS call closes those pages under it (rule M8). */
#ifndef SC_HOST_USES_H
#define SC_HOST_USES_H

#include <sys/socket.h>
#include <sys/uio.h>

#include "host/arena.h"

struct mmsghdr; /* of <sys/socket.h>, for programs that ask for it */

/* One system call: the note it left, 0 for none.  Begins as {0}. */
struct sc_host_use {
    unsigned note;
    unsigned serial; /* of that note: whoever ends a use whose block was freed meanwhile must not end another's */
};

void sc_host_touch_arena(struct sc_host_use *use, uintptr_t addr, size_t bytes, enum sc_access access);
void sc_host_touch_watched(struct sc_host_use *use, uintptr_t addr, size_t bytes, enum sc_access access);
void sc_host_touch_vector(struct sc_host_use *use, const struct iovec *v, size_t count, enum sc_access access);
void sc_host_touch_message(struct sc_host_use *use, const struct msghdr *m, enum sc_access access);
void sc_host_touch_messages(struct sc_host_use *use, const struct mmsghdr *m, size_t count, enum sc_access access);

/* Any range, also one that begins or ends outside of blocks or covers several (MPI's datatypes).  When there is no note
 * left, all of the program's memory counts as in use until it ends: unlike a system call it may last. */
void sc_host_touch_range(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access);

/* What a system call with these arguments touches, as far as its number is known (host/raw.c). */
void sc_host_touch_system_call(struct sc_host_use *use, long number, const long argument[6]);

/* Lists are looked at only when something can be tracked: a wrong pointer must give EFAULT, as without us. */
bool sc_host_anything_tracked(void);

/* Buffers elsewhere cost these comparisons. */
static inline void sc_host_touch(struct sc_host_use *use, const void *p, size_t bytes, enum sc_access access)
{
    if (__builtin_expect(sc_host_within(p), 0))
        sc_host_touch_arena(use, (uintptr_t)p, bytes, access);
    else if (__builtin_expect(sc_host_within_watched(p), 0))
        sc_host_touch_watched(use, (uintptr_t)p, bytes, access);
}

/* The call is over.  One that ends by a jump out of a signal handler leaves its note until the block is freed; until
 * then calls on that part of it run on the host. */
void sc_host_use_end(struct sc_host_use *use);
/* Drops the notes of a block that is being freed. */
void sc_host_uses_forget(uintptr_t addr, size_t bytes);

#endif
