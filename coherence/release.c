/* Giving matrices up: when their memory goes away, or after their data has come home. */
#include "coherence/protocol.h"

#include <time.h>

#define PATIENCE 8     /* looks; then new calls are held up */
#define LOOK     20000 /* nanoseconds from look to look */

static void wait_tile(const struct sc_tile *t, struct sc_fences *w)
{
    for (int d = 0; d < sc_protocol.devices; d++) {
        sc_fences_add(w, t->host_read[d]);
        sc_fences_add(w, t->host_write[d]);
    }
}

/* Takes a matrix out of the directory; adds the fences of transfers on its host memory to w. */
static void remove_matrix(struct sc_matrix *m, struct sc_fences *w)
{
    uintptr_t lo = m->base, hi = sc_matrix_end(m);

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_habit_leave(m);
    sc_partial_cancel(m, lo, hi);
    for (int i = 0; i < m->row_parts * m->col_parts; i++) {
        struct sc_tile *t = &m->tiles[i];

        wait_tile(t, w);
        for (int d = 0; d < sc_protocol.devices; d++)
            sc_memory_release(d, m, t);
    }
    sc_trace(.kind = SC_EVENT_FORGET, .matrix = m->id, .range = {.address = lo, .bytes = hi - lo});
    sc_directory_remove(m);
    sc_level_less(&sc_levels.matrices, 1);
    sc_protocol_paint(lo, hi);
    sc_noted_forget(m);
    sc_matrix_free(m);
}

void sc_release_begin(uintptr_t addr, size_t bytes, struct sc_fences *transfers)
{
    size_t first;

    transfers->count = 0;
    if (!bytes || !sc_protocol_ops())
        return;
    sc_lent_lock();
    while (sc_directory_find(addr, addr + bytes, &first)) {
        struct sc_matrix *m = sc_directory_at(first);

        m->users = 0; /* no call uses freed memory; sc_coherence_release_range looks for the matrix again */
        remove_matrix(m, transfers);
    }
    sc_protocol_mend();
    sc_protocol_unlock();
}

void sc_release_tracked(uintptr_t addr, size_t bytes)
{
    struct sc_fences transfers;

    sc_release_begin(addr, bytes, &transfers);
    sc_fences_sync(&transfers);
}

/* The matrix seen before the lock was dropped; NULL: the matrix is gone. */
static struct sc_matrix *known(uintptr_t base, uint32_t id)
{
    size_t first;
    struct sc_matrix *m = sc_directory_find(base, base + 1, &first) ? sc_directory_at(first) : NULL;

    return m && m->id == id ? m : NULL;
}

static void do_nothing(void *arg) { (void)arg; }

/* False: calls have matrices of the range, which stay. True: `end` was called. */
static bool release_idle(uintptr_t addr, size_t bytes, void (*end)(void *arg), void *arg)
{
    struct sc_fences w = {.count = 0};
    uintptr_t next = addr;
    struct sc_matrix *m;
    bool all = true;

    if (!bytes || !sc_protocol_ops()) {
        end(arg);
        return true;
    }
    sc_lent_lock();
    while (next < addr + bytes && (m = sc_directory_next(next, addr + bytes))) {
        uintptr_t base = m->base;
        uint32_t id = m->id;

        next = sc_matrix_end(m);
        if (m->users) { /* a call has it */
            all = false;
            continue;
        }
        m->users++; /* keeps the matrix in its place while the lock is dropped, unless its memory is freed */
        sc_access_all(m); /* mending drops the lock once more, and a call could write the matrix again */
        m = known(base, id);
        if (m && --m->users == 0)
            remove_matrix(m, &w);
        else if (m) /* a call has begun meanwhile */
            all = false;
    }
    sc_protocol_mend();
    all = all && !sc_directory_next(addr, addr + bytes); /* mending may drop the lock */
    if (all)
        end(arg);
    sc_protocol_unlock();
    sc_fences_sync(&w);
    return all;
}

void sc_coherence_release_range(uintptr_t addr, size_t bytes)
{
    (void)release_idle(addr, bytes, do_nothing, NULL);
}

/* A matrix may be larger than the range: calls of other threads on the rest of the block hold the matrix, and have
 * results on devices. */
void sc_coherence_withdraw(uintptr_t addr, size_t bytes, void (*end)(void *arg), void *arg)
{
    int rounds = 0;

    for (; !release_idle(addr, bytes, end ? end : do_nothing, arg); rounds++) {
        if (rounds == PATIENCE) {
            sc_protocol_lock();
            sc_protocol_hold_calls();
            sc_protocol_unlock();
        }
        nanosleep(&(struct timespec){.tv_nsec = LOOK}, NULL);
    }
    if (rounds > PATIENCE) {
        sc_protocol_lock();
        sc_protocol_resume_calls();
        sc_protocol_unlock();
    }
}

void sc_coherence_home_all(void)
{
    uintptr_t next = 0;
    struct sc_matrix *m;

    if (!sc_protocol_ops())
        return;
    sc_lent_lock();
    while ((m = sc_directory_next(next, UINTPTR_MAX))) {
        next = sc_matrix_end(m);
        sc_access_range(m->base, next, SC_READ);
    }
    sc_protocol_unlock();
}

enum sc_status sc_coherence_pin(const void *ptr)
{
    enum sc_status status = SC_ERR_UNSUPPORTED;
    struct sc_host_block block;

    if (!sc_protocol_ops())
        return SC_ERR_DEVICE;
    sc_protocol_lock();
    if (sc_host_block_of(ptr, &block))
        status = sc_host_span_pin(&block, sc_protocol.ops->pin, sc_protocol.ops->unpin);
    sc_protocol_unlock();
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
