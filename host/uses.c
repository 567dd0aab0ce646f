/* System calls under way on tracked memory: a few notes of ranges, read by the protocol at the beginning of each call
 * of the BLAS.  More calls at once than notes: the others are only acquired. */
#define _GNU_SOURCE
#include "host/uses.h"

#include <limits.h>

#include "base/inside.h"
#include "host/watch.h"

#define NOTES 256
#define UNNOTED UINT_MAX /* instead of a note's number */

/* A note counts while its serial is odd and lo is not 0.  The owner writes hi and access before lo, and then looks
 * whether the block is tracked; who makes it tracked does so before it looks for notes.  Readers hold the protocol's
 * lock, which an acquisition takes after its note was written, unless no call is active then: a call of the BLAS that
 * does not see the note is over before the acquisition, or begins to look for notes after it. */
static struct note {
    uintptr_t lo, hi;
    enum sc_access access;
    unsigned serial; /* odd: taken */
} notes[NOTES];
static unsigned taken, unnoted; /* notes that are; uses that found none free */

static unsigned take(struct sc_host_use *use)
{
    for (unsigned i = 0; i < NOTES; i++) {
        unsigned serial = __atomic_load_n(&notes[i].serial, __ATOMIC_RELAXED);

        if (serial & 1 || !__atomic_compare_exchange_n(&notes[i].serial, &serial, serial + 1, false, __ATOMIC_ACQUIRE,
                                                       __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(&notes[i].lo, 0, __ATOMIC_RELAXED);
        __atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST);
        use->serial = serial + 1;
        return use->note = i + 1;
    }
    return 0;
}

/* By its owner, or by whoever frees the block: once. */
static void drop(unsigned i, unsigned serial)
{
    if (serial & 1 && __atomic_compare_exchange_n(&notes[i].serial, &serial, serial + 1, false, __ATOMIC_SEQ_CST,
                                                  __ATOMIC_RELAXED))
        __atomic_fetch_sub(&taken, 1, __ATOMIC_RELEASE);
}

/* A note is one range: that of a vector covers what lies between its parts, too. */
static void extend(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    struct note *n;

    if (!use->note && !take(use))
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
    if (__builtin_expect(use->note == 0, 1))
        return;
    if (use->note == UNNOTED)
        __atomic_fetch_sub(&unnoted, 1, __ATOMIC_RELEASE);
    else
        drop(use->note - 1, use->serial);
    use->note = 0;
}

/* The range of a note that counts, or false. */
static bool range_of(const struct note *n, uintptr_t *lo, uintptr_t *hi, unsigned *serial)
{
    *serial = __atomic_load_n(&n->serial, __ATOMIC_SEQ_CST);
    *lo = __atomic_load_n(&n->lo, __ATOMIC_SEQ_CST);
    *hi = __atomic_load_n(&n->hi, __ATOMIC_RELAXED);
    return *serial & 1 && *lo;
}

void sc_host_uses_forget(uintptr_t addr, size_t bytes)
{
    uintptr_t lo, hi;
    unsigned serial;

    for (unsigned i = 0; i < NOTES && __atomic_load_n(&taken, __ATOMIC_RELAXED); i++)
        if (range_of(&notes[i], &lo, &hi, &serial) && lo - addr < bytes && hi - addr <= bytes)
            drop(i, serial);
}

bool sc_host_in_use(uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    uintptr_t first, last;
    unsigned serial;

    if (__atomic_load_n(&unnoted, __ATOMIC_SEQ_CST))
        return true;
    for (unsigned i = 0; i < NOTES && __atomic_load_n(&taken, __ATOMIC_SEQ_CST); i++)
        if (range_of(&notes[i], &first, &last, &serial) && first < hi && last > lo &&
            (__atomic_load_n(&notes[i].access, __ATOMIC_RELAXED) | access) & SC_WRITE)
            return true;
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

/* A note that is not to be done without: if there is none, everything is in use. */
static void extend_surely(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    extend(use, lo, hi, access);
    if (!use->note) {
        use->note = UNNOTED;
        __atomic_fetch_add(&unnoted, 1, __ATOMIC_SEQ_CST);
    }
}

/* Noted before it is opened: who watches those pages again looks for notes after that. */
void sc_host_touch_watched(struct sc_host_use *use, uintptr_t addr, size_t bytes, enum sc_access access)
{
    if (!(access & SC_WRITE) || sc_inside() || !bytes || bytes > UINTPTR_MAX - addr ||
        !sc_watch_meets(addr, addr + bytes))
        return;
    extend_surely(use, addr, addr + bytes, access);
    sc_host_watch_open(addr, addr + bytes);
}

void sc_host_touch_range(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    uintptr_t first = sc_host_arena.base, last = first + sc_host_arena.bytes;
    struct sc_host_block block;

    if (lo < hi)
        sc_host_touch_watched(use, lo, hi - lo, access);
    if (sc_inside() || hi <= first || lo >= last || lo >= hi)
        return;
    lo = lo < first ? first : lo;
    hi = hi > last ? last : hi;
    extend_surely(use, lo, hi, access);
    if (!sc_host_block_of((const void *)lo, &block) || hi > block.base + block.bytes ||
        sc_host_arena_tracked((const void *)lo))
        sc_host_acquire(lo, hi - lo, access);
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
