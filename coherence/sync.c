/* Waiting for fences, with or without the lock. */
#include "coherence/protocol.h"

#include <time.h>

#define LOOK 20000 /* ns between two looks at fences */

unsigned sc_syncing;

/* Before the operations are looked at: a stop waits for the end. */
void sc_coherence_results_begin(void) { __atomic_add_fetch(&sc_syncing, 1, __ATOMIC_SEQ_CST); }
void sc_coherence_results_end(void) { __atomic_sub_fetch(&sc_syncing, 1, __ATOMIC_RELEASE); }

static enum sc_status sync_counted(struct sc_fence f)
{
    const struct sc_device_ops *ops = sc_protocol_ops(); /* NULL: stopped meanwhile, after waiting for all work */
    enum sc_status status;
    bool watched;

    if (!ops)
        return SC_OK;
    if (__atomic_load_n(&sc_protocol.lost[f.device], __ATOMIC_RELAXED))
        return SC_ERR_DEVICE;
    watched = sc_watch_before(ops);
    status = ops->sync(f);
    if (status != SC_OK) /* retry: the wait itself may have failed */
        status = ops->sync(f);
    if (status != SC_OK)
        __atomic_or_fetch(&sc_protocol.bad, 1u << f.device, __ATOMIC_RELEASE);
    if (watched)
        sc_completion_after(ops);
    return status;
}

enum sc_status sc_sync(struct sc_fence f)
{
    enum sc_status status;

    if (!f.seq)
        return SC_OK;
    sc_coherence_results_begin();
    status = sync_counted(f);
    sc_coherence_results_end();
    return status;
}

/* On the pager thread: readers whose data has landed go on, while another reader's data is in transit.  In timing mode
 * the virtual clock moves only in sc_sync. */
static void serve_until(struct sc_fence f)
{
    for (int looks = 0; !sc_config.emu_timing && sc_protocol_ops() && !sc_reached(f); looks++)
        if (!sc_host_serve_landed(looks))
            return;
}

void sc_fences_sync(const struct sc_fences *set)
{
    sc_quiet_enter();
    sc_inside_enter();
    for (int i = 0; i < set->count; i++) {
        serve_until(set->f[i]);
        sc_sync(set->f[i]);
    }
    sc_inside_leave();
    sc_quiet_leave();
}

enum sc_status sc_coherence_wait(struct sc_fence fence)
{
    enum sc_status status;

    sc_quiet_enter(); /* a wait is a cancellation point, and has the device's locks */
    status = sc_sync(fence);
    sc_quiet_leave();
    return status;
}

bool sc_coherence_reached(struct sc_fence fence)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    return sc_reached(fence);
}

/* Stopped meanwhile: all work is over. */
static bool any_reached(const struct sc_fence *fences, int count)
{
    for (int i = 0; i < count; i++)
        if (!sc_protocol_ops() || sc_reached(fences[i]))
            return true;
    return !count;
}

/* No device waits for several fences, so the thread looks from time to time. */
void sc_coherence_wait_any(const struct sc_fence *fences, int count)
{
    sc_protocol_unlock();
    sc_quiet_enter();
    sc_inside_enter();
    while (!any_reached(fences, count)) {
        sc_wait_clock(SC_HOST_EVENT_LOOK);
        if (!sc_config.emu_timing)
            nanosleep(&(struct timespec){.tv_nsec = LOOK}, NULL);
    }
    sc_inside_leave();
    sc_quiet_leave();
    sc_protocol_lock();
}
/* SPDX-License-Identifier: BSD-2-Clause */
