/* Starting and stopping the protocol on a set of open devices. */
#define _GNU_SOURCE /* gettid */
#include "coherence/faults.h"
#include "coherence/mirror.h"

#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Static_assert(offsetof(struct sc_protocol, ops) == 0, "start copies what follows it");

enum sc_status sc_coherence_start(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host)
{
    struct sc_protocol fresh = {.host = host, .devices = devices, .check = host->config->check != 0,
                                .notes = host->config->check != 0,
                                .changes = sc_protocol.changes, .leaver = sc_protocol.leaver};
    uint64_t least = UINT64_MAX;

    /* Copies the members after `ops`: `ops` is NULL and may be read by threads without the lock. */
    memcpy((char *)&sc_protocol + sizeof fresh.ops, (char *)&fresh + sizeof fresh.ops, sizeof fresh - sizeof fresh.ops);
    for (int d = 0; d < devices; d++) {
        enum sc_status status = ops->properties(d, &sc_protocol.properties[d]);

        if (status != SC_OK)
            return status;
        if (sc_protocol.properties[d].memory < least)
            least = sc_protocol.properties[d].memory;
    }
    sc_directory_limits.devices = devices;
    sc_directory_limits.tile_bytes = least / SC_TILES_A_DEVICE;
    sc_order_reset();
    sc_habit_reset();
    sc_transfer_reset();
    sc_route_start();
    sc_device_kernel_prepare(host->blas_symbol);
    sc_levels = (struct sc_levels){.devices = (uint64_t)devices};
    __atomic_store_n(&sc_protocol.ops, ops, __ATOMIC_RELEASE);
    return SC_OK;
}

void sc_coherence_leave(bool leaving)
{
    sc_protocol_lock();
    sc_protocol.leaver = leaving ? gettid() : 0;
    sc_protocol_unlock();
}

void sc_coherence_await_calls(double seconds)
{
    sc_protocol_lock();
    sc_protocol_hold_calls();
    sc_protocol_await_calls(seconds);
    sc_protocol_resume_calls();
    sc_protocol_unlock();
}

void sc_coherence_stop(void)
{
    const struct sc_device_ops *ops = sc_protocol.ops;

    if (!ops)
        return;
    sc_protocol_lock();
    sc_protocol_end_calls(); /* later calls run on the host */
    if (sc_protocol.check)
        sc_check_all("the last call");
    sc_protocol_unlock();
    sc_mirror_forget(0, UINTPTR_MAX);
    sc_coherence_release_range(0, UINTPTR_MAX);
    sc_untracked_stop();
    sc_derived_stop();
    sc_completion_drop();
    sc_host_spans_unpin();
    sc_protocol_lock();
    __atomic_store_n(&sc_protocol.ops, NULL, __ATOMIC_SEQ_CST);
    sc_protocol.devices = 0;
    sc_levels.devices = 0;
    sc_lent_reset();
    sc_lease_stop();
    sc_protocol_unlock();
    /* A fault in progress may still wait for a stream, briefly, because all data is home. */
    while (__atomic_load_n(&sc_syncing, __ATOMIC_SEQ_CST))
        nanosleep(&(struct timespec){0, 100000}, NULL);
    ops->close();
}

int sc_coherence_devices(void)
{
    return sc_protocol.devices;
}

bool sc_coherence_runs(enum sc_op op, enum sc_type type)
{
    if (sc_protocol.devices < 1)
        return false;
    if (sc_op_is_lapack(op)) /* finds the routine that finishes a task on the host */
        sc_device_kernel_has(sc_protocol.host->blas_symbol, op, type);
    return !sc_protocol.ops->runs || sc_protocol.ops->runs(op, type);
}

const struct sc_device_properties *sc_coherence_device_properties(int device)
{
    return &sc_protocol.properties[device];
}

void sc_coherence_drain(void)
{
    struct sc_fence fence[SC_DEVICES_MAX][SC_STREAMS];
    const struct sc_device_ops *ops;
    int devices;
    bool watched;

    sc_protocol_lock();
    ops = sc_protocol.ops;
    devices = sc_protocol.devices;
    watched = ops && sc_watch_before(ops);
    for (int d = 0; d < devices; d++)
        for (int s = 0; s < SC_STREAMS; s++)
            if (ops->mark(d, (enum sc_stream)s, &fence[d][s]) != SC_OK)
                fence[d][s] = SC_FENCE_NONE;
    sc_protocol_unlock();
    for (int d = 0; d < devices; d++)
        for (int s = 0; s < SC_STREAMS; s++)
            ops->sync(fence[d][s]); /* errors show in the next task, which falls back */
    if (watched)
        sc_completion_after(ops);
}

double sc_coherence_virtual_seconds(void)
{
    const struct sc_device_ops *ops = sc_protocol.ops;

    return ops && ops->virtual_seconds ? ops->virtual_seconds() : -1;
}
/* SPDX-License-Identifier: BSD-2-Clause */
