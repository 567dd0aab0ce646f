/* The time at which a call was done: the end of the wait, by any thread, during which the last work of the call
 * ended.  Nobody waits for the sake of the time; without a wait the time stays unknown.  Thread safe.  Only locks of
 * the callback are taken after the lock of this file. */
#include "coherence/protocol.h"

#include "base/locks.h"

#include <pthread.h>

bool sc_completion_awaited; /* atomic */

static struct sc_lock lock = SC_LOCK(SC_RANK_DONE);
static struct {
    struct sc_fence fence[2 * SC_DEVICES_MAX];
    int count;
    void (*done)(void *of);
    void *of;
} watched;

void sc_completion_drop(void)
{
    sc_lock(&lock);
    __atomic_store_n(&sc_completion_awaited, false, __ATOMIC_RELEASE);
    sc_unlock(&lock);
}

void sc_completion_reset(void)
{
    sc_lock_init(&lock, SC_RANK_DONE);
    __atomic_store_n(&sc_completion_awaited, false, __ATOMIC_RELAXED);
}

void sc_coherence_on_completion(void (*done)(void *of), void *of)
{
    sc_completion_drop();
    if (!done)
        return;
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_lock(&lock);
    watched.count = 0;
    watched.done = done;
    watched.of = of;
    for (int d = 0; d < sc_protocol.devices; d++) {
        static const enum sc_stream streams[2] = {SC_STREAM_COMPUTE, SC_STREAM_D2H};

        for (int s = 0; s < 2 && !sc_protocol.failed[d]; s++)
            if (sc_mark(d, streams[s], &watched.fence[watched.count]) == SC_OK)
                watched.count++;
    }
    __atomic_store_n(&sc_completion_awaited, watched.count > 0, __ATOMIC_RELEASE);
    sc_unlock(&lock);
}

static bool all_done(const struct sc_device_ops *ops)
{
    for (int i = 0; i < watched.count; i++)
        if (!ops->done(watched.fence[i]))
            return false;
    return true;
}

bool sc_completion_look(const struct sc_device_ops *ops)
{
    bool pending;

    sc_lock(&lock);
    pending = __atomic_load_n(&sc_completion_awaited, __ATOMIC_RELAXED) && !all_done(ops);
    if (!pending)
        __atomic_store_n(&sc_completion_awaited, false, __ATOMIC_RELEASE); /* too late: nobody saw when */
    sc_unlock(&lock);
    return pending;
}

void sc_completion_after(const struct sc_device_ops *ops)
{
    sc_lock(&lock);
    if (__atomic_load_n(&sc_completion_awaited, __ATOMIC_RELAXED) && all_done(ops)) {
        __atomic_store_n(&sc_completion_awaited, false, __ATOMIC_RELEASE);
        watched.done(watched.of);
    }
    sc_unlock(&lock);
}
/* SPDX-License-Identifier: BSD-2-Clause */
