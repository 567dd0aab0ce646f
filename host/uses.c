/* System calls under way on tracked memory: a few notes of ranges, read by the protocol at the beginning of each call
 * of the BLAS.  More calls at once than notes: the others are only acquired. */
#define _GNU_SOURCE
#include "host/uses.h"

#include <limits.h>

#include "base/inside.h"

#define NOTES 64

/* lo is 0 in a free note.  The owner writes hi and access before lo, and then looks whether the block is tracked; who
 * makes it tracked does so before it looks for notes.  Readers hold the protocol's lock, which an acquisition takes
 * after its note was written: a call of the BLAS that does not see the note is over before the acquisition. */
static struct note {
    uintptr_t lo, hi;
    enum sc_access access;
} notes[NOTES];
static uint64_t taken;

static unsigned take(void)
{
    uint64_t old = __atomic_load_n(&taken, __ATOMIC_RELAXED);

    while (~old) {
        unsigned i = (unsigned)__builtin_ctzl(~old);

        if (__atomic_compare_exchange_n(&taken, &old, old | UINT64_C(1) << i, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return i + 1;
    }
    return 0;
}

static void drop(unsigned i)
{
    __atomic_store_n(&notes[i].lo, 0, __ATOMIC_SEQ_CST);
    __atomic_fetch_and(&taken, ~(UINT64_C(1) << i), __ATOMIC_RELEASE);
}

/* A note is one range: that of a vector covers what lies between its parts, too. */
static void extend(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    struct note *n;

    if (!use->note && !(use->note = take()))
        return;
    n = &notes[use->note - 1];
    if (n->lo && n->lo < lo)
        lo = n->lo;
    if (n->lo && n->hi > hi)
        hi = n->hi;
    __atomic_store_n(&n->hi, hi, __ATOMIC_RELAXED);
    __atomic_store_n(&n->access, access, __ATOMIC_RELAXED);
    __atomic_store_n(&n->lo, lo, __ATOMIC_SEQ_CST);
}

void sc_host_use_end(struct sc_host_use *use)
{
    if (__builtin_expect(use->note != 0, 0))
        drop(use->note - 1);
}

void sc_host_uses_forget(uintptr_t addr, size_t bytes)
{
    for (unsigned i = 0; i < NOTES && __atomic_load_n(&taken, __ATOMIC_RELAXED); i++) {
        uintptr_t lo = __atomic_load_n(&notes[i].lo, __ATOMIC_SEQ_CST);

        if (lo && lo - addr < bytes)
            drop(i);
    }
}

bool sc_host_in_use(uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    for (unsigned i = 0; i < NOTES && __atomic_load_n(&taken, __ATOMIC_SEQ_CST); i++) {
        uintptr_t first = __atomic_load_n(&notes[i].lo, __ATOMIC_SEQ_CST);

        if (first && first < hi && __atomic_load_n(&notes[i].hi, __ATOMIC_RELAXED) > lo &&
            ((__atomic_load_n(&notes[i].access, __ATOMIC_RELAXED) | access) & SC_WRITE))
            return true;
    }
    return false;
}

/* --- what is touched --------------------------------------------------------------------------------------------- */

void sc_host_touch_arena(struct sc_host_use *use, uintptr_t addr, size_t bytes, enum sc_access access)
{
    const void *p = (const void *)addr;
    struct sc_host_block block;

    if (sc_inside() || !sc_host_block_of(p, &block))
        return;
    if (bytes > block.base + block.bytes - addr) /* the rest is no memory of this block: the kernel will say so */
        bytes = block.base + block.bytes - addr;
    if (!bytes)
        return;
    extend(use, addr, addr + bytes, access); /* also when it is not tracked yet: it may become so meanwhile */
    if (sc_host_arena_tracked(p))
        sc_host_acquire(addr, bytes, access);
}

bool sc_host_anything_tracked(void)
{
    return __atomic_load_n(&sc_host_callbacks, __ATOMIC_RELAXED) != NULL && !sc_inside();
}

void sc_host_touch_vector(struct sc_host_use *use, const struct iovec *v, size_t count, enum sc_access access)
{
    if (!sc_host_anything_tracked() || count > IOV_MAX)
        return;
    for (size_t i = 0; i < count; i++)
        sc_host_touch(use, v[i].iov_base, v[i].iov_len, access);
}

void sc_host_touch_message(struct sc_host_use *use, const struct msghdr *m, enum sc_access access)
{
    if (sc_host_anything_tracked() && m)
        sc_host_touch_vector(use, m->msg_iov, m->msg_iovlen, access);
}

void sc_host_touch_messages(struct sc_host_use *use, const struct mmsghdr *m, size_t count, enum sc_access access)
{
    if (!sc_host_anything_tracked() || !m)
        return;
    for (size_t i = 0; i < count && i < IOV_MAX; i++)
        sc_host_touch_message(use, &m[i].msg_hdr, access);
}
