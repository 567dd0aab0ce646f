/* Memory of derived copies: a list for each device in the order of last use; an eviction looks at its ends. */
#include "coherence/protocol.h"

/* Derived copies that have memory, by device, in the order of last use; under the protocol's lock. */
static struct sc_lru_list lru[SC_DEVICES_MAX];

uint64_t sc_derived_steps;

void sc_derived_start(struct sc_derived *f)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(f->device);
    sc_assert(f->memory);
    sc_level_add(&sc_levels.resident[f->device], f->bytes);
    sc_lru_add_newest(&lru[f->device], &f->lru);
    f->lru.last_use = ++sc_protocol.tick;
}

void sc_derived_touch(struct sc_derived *f)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    f->lru.last_use = ++sc_protocol.tick;
    if (f->memory)
        sc_lru_touch(&lru[f->device], &f->lru);
}

static struct sc_derived *owner(struct sc_lru *node)
{
    return node ? SC_LRU_OWNER(node, struct sc_derived, lru) : NULL;
}

struct sc_derived *sc_derived_oldest(int device)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    return owner(sc_lru_oldest(&lru[device], &sc_derived_steps));
}

struct sc_derived *sc_derived_newest(int device)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    return owner(sc_lru_newest(&lru[device], &sc_derived_steps));
}

void sc_coherence_derived_forget(struct sc_derived *f)
{
    const struct sc_device_ops *ops = sc_protocol.ops;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (f->plan && ops && ops->forget)
        ops->forget(f->device, f->plan);
    f->plan = NULL;
}

void sc_coherence_derived_spare(struct sc_derived *f)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    f->lru.last_use = 0;
    if (!f->memory)
        return;
    sc_lru_remove(&lru[f->device], &f->lru);
    sc_lru_add_oldest(&lru[f->device], &f->lru);
}

void sc_coherence_derived_drop(struct sc_derived *f)
{
    const struct sc_device_ops *ops = sc_protocol.ops;
    struct sc_fence users[2] = {f->ready, f->used};

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(!f->lru.pins);
    f->lru.last_use = 0;
    if (!f->memory)
        return;
    sc_coherence_derived_forget(f);
    if (ops)
        ops->free(f->device, f->memory, users, 2);
    if (ops)
        sc_level_less(&sc_levels.resident[f->device], f->bytes);
    sc_lru_remove(&lru[f->device], &f->lru);
    *f = (struct sc_derived){.memory = NULL};
}

void sc_coherence_derived_discard(struct sc_derived *f)
{
    sc_protocol_lock();
    sc_coherence_derived_drop(f);
    sc_protocol_unlock();
}

void sc_derived_evict(struct sc_derived *f)
{
    uint64_t last_use = f->lru.last_use;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(f->memory && !f->lru.pins);
    sc_count(&sc_stats.evictions, 1);
    sc_trace(.kind = SC_EVENT_EVICT, .device = (int16_t)f->device, .bytes = f->bytes);
    sc_coherence_derived_drop(f);
    f->lru.last_use = last_use;
    sc_assert(!f->memory);
}

void sc_derived_stop(void)
{
    sc_protocol_lock();
    for (int d = 0; d < SC_DEVICES_MAX; d++)
        while (lru[d].oldest)
            sc_coherence_derived_drop(owner(lru[d].oldest));
    sc_protocol_unlock();
}
/* SPDX-License-Identifier: BSD-2-Clause */
