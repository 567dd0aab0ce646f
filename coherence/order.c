/* Order on the devices: waits of streams for fences, marks, sets of fences; devices that have failed. */
#include "coherence/protocol.h"

/* Fences already waited for by streams; the steady state enqueues no wait: [device][stream][of device][stream]. */
static uint64_t waited[SC_DEVICES_MAX][SC_STREAMS][SC_DEVICES_MAX][SC_STREAMS];

void sc_order_reset(void)
{
    for (int d = 0; d < SC_DEVICES_MAX; d++)
        for (int s = 0; s < SC_STREAMS; s++)
            for (int e = 0; e < SC_DEVICES_MAX; e++)
                for (int r = 0; r < SC_STREAMS; r++)
                    waited[d][s][e][r] = 0;
}

enum sc_status sc_order(int device, enum sc_stream stream, struct sc_fence fence)
{
    uint64_t *seen = &waited[device][stream][fence.device][fence.stream];
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(stream < SC_STREAMS && fence.device < SC_DEVICES_MAX && fence.stream < SC_STREAMS);
    if (!fence.seq || *seen >= fence.seq || (fence.device == device && fence.stream == stream) ||
        sc_protocol.lost[fence.device])
        return SC_OK;
    status = sc_protocol.ops->wait(device, stream, fence);
    if (status != SC_OK)
        status = sc_protocol.ops->wait(device, stream, fence);
    if (status == SC_OK)
        *seen = fence.seq;
    return status;
}

enum sc_status sc_mark(int device, enum sc_stream stream, struct sc_fence *f)
{
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(stream < SC_STREAMS);
    status = sc_protocol.ops->mark(device, stream, f);
    if (status != SC_OK)
        status = sc_protocol.ops->mark(device, stream, f);
    return status;
}

void sc_fences_add(struct sc_fences *set, struct sc_fence f)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < set->count; i++)
        if (set->f[i].device == f.device && set->f[i].stream == f.stream) {
            set->f[i].seq = f.seq > set->f[i].seq ? f.seq : set->f[i].seq;
            return;
        }
    if (!sc_reached(f))
        set->f[set->count++] = f;
    sc_assert(set->count <= SC_DEVICES_MAX * SC_STREAMS);
}

enum sc_status sc_order_sent(int on, enum sc_stream stream, const struct sc_copy *c, uint64_t sectors)
{
    enum sc_status status = SC_OK;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (sc_reached(c->reader[SC_DEVICES_MAX]))
        return SC_OK;
    for (uint64_t rest = sectors; rest && status == SC_OK; rest &= rest - 1)
        status = sc_order(on, stream, c->sent[__builtin_ctzll(rest)]);
    return status;
}

enum sc_status sc_order_overwriting(int device, int on, enum sc_stream stream, const struct sc_tile *t, int s, int e)
{
    const struct sc_copy *c = &t->copy[device];
    enum sc_status status = SC_OK;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_run(t, s, e);
    for (int i = s; i < e && status == SC_OK; i++) {
        status = sc_order(on, stream, c->ready[i]);
        if (status == SC_OK)
            status = sc_order(on, stream, c->used[i]);
    }
    for (int i = 0; i < SC_DEVICES_MAX && status == SC_OK; i++)
        status = sc_order(on, stream, c->reader[i]);
    return status == SC_OK ? sc_order_sent(on, stream, c, sc_sectors_range(s, e)) : status;
}

void sc_device_gave_up(int device, const char *doing)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    if (sc_protocol.failed[device])
        return;
    sc_protocol.failed[device] = true;
    sc_log(SC_LOG_WARN, "device %d (%s) failed while %s: it gets no more work, calls go on elsewhere", device,
           sc_protocol.properties[device].name, doing);
}
/* SPDX-License-Identifier: BSD-2-Clause */
