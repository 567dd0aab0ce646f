/* Ranges of the program's memory that calls are using.  The protocol reads the notes at the beginning of each call
 * of the BLAS.  With more calls at once than notes, a further call only acquires its range. */
#define _GNU_SOURCE
#include "host/syscall_ranges.h"

#include <limits.h>
#include <pthread.h>

#include "base/stack.h"

#define NOTES 256
#define UNNOTED UINT_MAX /* in place of a note's number */

/* A note counts while its serial is odd and lo is not 0.  The owner writes hi and access before lo, and tests
 * afterwards whether the block is tracked.  A call of the BLAS marks the block as tracked before it looks for notes.
 * Readers hold the protocol's lock.  An acquisition takes the lock after writing its note, unless no call is active.
 * A BLAS call that looked for notes before the note was written therefore ends before the acquisition.  A later BLAS
 * call sees the note. */
static struct note {
    uintptr_t lo, hi;
    enum sc_access access;
    unsigned serial;    /* odd: taken */
    int thread;         /* id of the thread; 0: the use may outlast its function */
    uintptr_t frame;    /* frame of the function that uses the range, on the thread's stack */
} notes[NOTES];
static unsigned taken, unnoted; /* number of taken notes; number of uses that found no free note */

/* Called by the owner or by the free of the block; the serial lets only the first call succeed. */
static void drop(unsigned i, unsigned serial)
{
    if (serial & 1 && __atomic_compare_exchange_n(&notes[i].serial, &serial, serial + 1, false, __ATOMIC_SEQ_CST,
                                                  __ATOMIC_RELAXED))
        __atomic_fetch_sub(&taken, 1, __ATOMIC_RELEASE);
}

/* --- calls that a jump has left ----------------------------------------------------------------------------------- */

#define KEYS 32 /* glibc stores values of further keys in memory from malloc, which a signal handler must not call */

static int process;
static pthread_key_t end_of_thread;
static bool hears_ends;

/* Destructor of a thread's value, which is the thread's id.  The kernel still knows the thread. */
static void thread_ends(void *number)
{
    for (unsigned i = 0; i < NOTES && __atomic_load_n(&taken, __ATOMIC_RELAXED); i++) {
        unsigned serial = __atomic_load_n(&notes[i].serial, __ATOMIC_RELAXED);

        if (__atomic_load_n(&notes[i].thread, __ATOMIC_RELAXED) == (int)(intptr_t)number)
            drop(i, serial);
    }
}

static void __attribute__((constructor)) look(void)
{
    process = getpid();
    hears_ends = pthread_key_create(&end_of_thread, thread_ends) == 0 && end_of_thread < KEYS;
}

static bool has_thread(int number)
{
    int saved = errno;
    bool there = sc_host_sys(SYS_tgkill, process, number, 0, 0, 0) == 0 || errno != ESRCH;

    errno = saved;
    return there;
}

/* Cached per thread, except in a vforked child, which shares the thread's memory but has its own id. */
static int this_thread(void)
{
    static __thread int known __attribute__((tls_model("initial-exec")));
    int number = known;

    if (!number) {
        number = (int)sc_host_sys(SYS_gettid, 0, 0, 0, 0, 0);
        if (has_thread(number)) {
            known = number;
            if (hears_ends)
                pthread_setspecific(end_of_thread, (void *)(intptr_t)number);
        }
    }
    return number;
}

/* True when the frame of the note's function lies below `here`, the end of the stack: a signal handler has jumped
 * out of the function.  Says nothing of stacks other than the thread's own. */
static bool is_left(const struct note *n, uintptr_t here)
{
    uintptr_t frame = __atomic_load_n(&n->frame, __ATOMIC_RELAXED);

    return frame < here && sc_stack_holds(frame) && sc_stack_holds(here);
}

static bool is_over(unsigned i, unsigned serial)
{
    int thread = __atomic_load_n(&notes[i].thread, __ATOMIC_RELAXED);

    if (!thread)
        return false;
    if (thread == this_thread() ? !is_left(&notes[i], (uintptr_t)__builtin_frame_address(0)) : has_thread(thread))
        return false; /* otherwise the thread has ended inside the call, without destructors (SYS_exit) */
    drop(i, serial);
    return true;
}

/* --- notes -------------------------------------------------------------------------------------------------------- */

static bool take_note(unsigned i, struct sc_host_use *use)
{
    unsigned serial = __atomic_load_n(&notes[i].serial, __ATOMIC_RELAXED);

    if (serial & 1 || !__atomic_compare_exchange_n(&notes[i].serial, &serial, serial + 1, false, __ATOMIC_ACQUIRE,
                                                   __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&notes[i].lo, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&notes[i].access, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&notes[i].frame, (uintptr_t)use, __ATOMIC_RELAXED);
    __atomic_store_n(&notes[i].thread, this_thread(), __ATOMIC_RELAXED);
    __atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST);
    use->serial = serial + 1;
    use->note = i + 1;
    return true;
}

static bool take(struct sc_host_use *use)
{
    for (unsigned i = 0; i < NOTES; i++)
        if (take_note(i, use))
            return true;
    for (unsigned i = 0; i < NOTES; i++)
        if (is_over(i, __atomic_load_n(&notes[i].serial, __ATOMIC_RELAXED)) && take_note(i, use))
            return true;
    return false;
}

/* Extends the use's note to [lo, hi).  The gap between two ranges of a use (of a vector) is noted, too. */
void sc_host_use(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    struct note *n;

    if (use->note == UNNOTED || (!use->note && !take(use)))
        return;
    n = &notes[use->note - 1];
    if (n->lo && n->lo < lo)
        lo = n->lo;
    if (n->lo && n->hi > hi)
        hi = n->hi;
    __atomic_store_n(&n->hi, hi, __ATOMIC_RELAXED);
    __atomic_store_n(&n->access, n->access | access, __ATOMIC_RELAXED);
    __atomic_store_n(&n->lo, lo, __ATOMIC_SEQ_CST);
}

void sc_host_use_surely(struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    sc_host_use(use, lo, hi, access);
    if (!use->note) {
        use->note = UNNOTED;
        __atomic_fetch_add(&unnoted, 1, __ATOMIC_SEQ_CST);
    }
}

bool sc_host_use_extend(const struct sc_host_use *use, uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    struct sc_host_use same = *use;

    if (use->note == UNNOTED)
        return true;
    if (!use->note || __atomic_load_n(&notes[use->note - 1].serial, __ATOMIC_RELAXED) != use->serial)
        return false;
    sc_host_use(&same, lo, hi, access);
    return true;
}

void sc_host_use_lasts(struct sc_host_use *use)
{
    if (use->note && use->note != UNNOTED)
        __atomic_store_n(&notes[use->note - 1].thread, 0, __ATOMIC_RELAXED);
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

/* Reads the range of a note.  False when the note does not count. */
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

void sc_host_uses_jump(uintptr_t stack)
{
    int thread = __atomic_load_n(&taken, __ATOMIC_RELAXED) ? this_thread() : 0;

    for (unsigned i = 0; thread && i < NOTES; i++) {
        unsigned serial = __atomic_load_n(&notes[i].serial, __ATOMIC_RELAXED);

        if (serial & 1 && __atomic_load_n(&notes[i].thread, __ATOMIC_RELAXED) == thread && is_left(&notes[i], stack))
            drop(i, serial);
    }
}

bool sc_host_in_use(uintptr_t lo, uintptr_t hi, enum sc_access access)
{
    uintptr_t first, last;
    unsigned serial;

    if (__atomic_load_n(&unnoted, __ATOMIC_SEQ_CST))
        return true;
    for (unsigned i = 0; i < NOTES && __atomic_load_n(&taken, __ATOMIC_SEQ_CST); i++)
        if (range_of(&notes[i], &first, &last, &serial) && first < hi && last > lo &&
            (__atomic_load_n(&notes[i].access, __ATOMIC_RELAXED) | access) & SC_WRITE && !is_over(i, serial))
            return true;
    return false;
}
/* SPDX-License-Identifier: BSD-2-Clause */
