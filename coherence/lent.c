/* Work of the program on devices, unseen by the protocol, on memory of one address.  lend.c lends the memory.  Here the
 * work waits for data on the way, and threads wait for the end of the work before a look at states. */
#include "coherence/protocol.h"

/* Per device: `lent` counts lendings; `ended` is the value of `lent` before the last wait for the device. */
static uint64_t lent[SC_DEVICES_MAX], ended[SC_DEVICES_MAX];

/* Number of looks for such work, from 1.  A thread that looks counts the look first, and a thread that begins work
 * without the lock counts the work before it reads `looks`.  One of two such threads sees the other. */
static uint64_t looks = 1;

bool sc_lent_begun;

void sc_lent_begins(int device)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_lent_begun = true;
    __atomic_fetch_add(&lent[device], 1, __ATOMIC_SEQ_CST);
}

static bool is_lent(int device)
{
    return __atomic_load_n(&lent[device], __ATOMIC_SEQ_CST) != __atomic_load_n(&ended[device], __ATOMIC_ACQUIRE);
}

bool sc_lent_begins_again(int device, uint64_t since)
{
    sc_assert(device >= 0 && device < SC_DEVICES_MAX);
    if (__atomic_load_n(&looks, __ATOMIC_RELAXED) != since)
        return false;
    __atomic_fetch_add(&lent[device], 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&looks, __ATOMIC_SEQ_CST) == since;
}

static bool any(void)
{
    for (int d = 0; d < SC_DEVICES_MAX; d++)
        if (is_lent(d))
            return true;
    return false;
}

bool sc_lent_any(void)
{
    __atomic_fetch_add(&looks, 1, __ATOMIC_SEQ_CST);
    return any();
}

/* A failed device ends its work: its data counts as lost elsewhere (loss.c). */
static void wait_for(const struct sc_device_ops *ops, int device)
{
    uint64_t before = __atomic_load_n(&lent[device], __ATOMIC_SEQ_CST), known;

    if (ops->idle(device) != SC_OK)
        __atomic_or_fetch(&sc_protocol.bad, 1u << device, __ATOMIC_RELEASE);
    known = __atomic_load_n(&ended[device], __ATOMIC_RELAXED);
    while (known < before &&
           !__atomic_compare_exchange_n(&ended[device], &known, before, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static void wait_for_all(void)
{
    const struct sc_device_ops *ops;

    if (!any())
        return;
    __atomic_add_fetch(&sc_syncing, 1, __ATOMIC_SEQ_CST); /* the devices stay open */
    ops = sc_protocol_ops();
    sc_quiet_enter();
    sc_inside_enter();
    for (int d = 0; ops && d < SC_DEVICES_MAX; d++)
        if (is_lent(d))
            wait_for(ops, d);
    sc_inside_leave();
    sc_quiet_leave();
    __atomic_sub_fetch(&sc_syncing, 1, __ATOMIC_RELEASE);
}

void sc_lent_await(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    while (sc_lent_any() && sc_protocol.ops) {
        sc_protocol_unlock();
        wait_for_all();
        sc_protocol_lock();
    }
}

/* --- data on its way to the work ---------------------------------------------------------------------------------- */

static struct sc_fences arriving; /* under the lock */

void sc_lent_behind(struct sc_fence f)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_fences_add(&arriving, f);
}

bool sc_lent_is_behind(struct sc_fence f)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < arriving.count; i++)
        if (arriving.f[i].device == f.device && arriving.f[i].stream == f.stream && arriving.f[i].seq >= f.seq)
            return true;
    return sc_reached(f);
}

void sc_lent_order(int device, void *const *stream, struct sc_fences *wait)
{
    const struct sc_device_ops *ops = sc_protocol.ops;
    int count = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    wait->count = 0;
    for (int i = 0; i < arriving.count; i++) {
        struct sc_fence f = arriving.f[i];

        if (sc_reached(f))
            continue;
        arriving.f[count++] = f; /* work on other streams follows */
        if (!stream || !ops->behind || ops->behind(device, *stream, f) != SC_OK)
            sc_fences_add(wait, f);
    }
    arriving.count = count;
}

uint64_t sc_lent_looks(void)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    return arriving.count ? 0 : __atomic_load_n(&looks, __ATOMIC_RELAXED);
}

void sc_lent_reset(void)
{
    arriving.count = 0;
    __atomic_fetch_add(&looks, 1, __ATOMIC_SEQ_CST);
    for (int d = 0; d < SC_DEVICES_MAX; d++)
        __atomic_store_n(&ended[d], lent[d], __ATOMIC_RELEASE);
}
/* SPDX-License-Identifier: BSD-2-Clause */
