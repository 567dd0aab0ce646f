/* Eviction: when a device's memory is short, the least recently used copy or derived copy goes. */
#include "coherence/protocol.h"

/* Sectors valid on the device alone. */
static uint64_t only_here(int device, const struct sc_tile *t)
{
    uint64_t only = t->copy[device].valid & ~t->host_valid;

    for (int d = 0; d < sc_protocol.devices; d++)
        if (d != device)
            only &= ~t->copy[d].valid;
    return only;
}

/* Evicts the less recently used of the two; NULL: no candidate of this kind. */
static enum sc_status evict_older(int device, struct sc_derived *form, struct sc_copy *c)
{
    struct sc_matrix *m;
    struct sc_tile *t;
    uint64_t used;

    if (!c && !form)
        return SC_ERR_DEVICE_MEMORY;
    if (form && (!c || form->lru.last_use < c->lru.last_use)) {
        sc_derived_evict(form);
        return SC_OK;
    }
    m = c->matrix;
    t = c->tile;
    if (sc_lent_any() && sc_host_is_united(c->memory)) /* only while lending: work of the program may use the tile */
        return SC_ERR_DEVICE_MEMORY;
    sc_assert(!c->lru.pins && c == &t->copy[device]);
    sc_transfer_evicted(m, t, only_here(device, t));
    if (sc_protocol.lost[device])
        return SC_ERR_DEVICE;
    sc_count(&sc_stats.evictions, 1);
    sc_trace(.kind = SC_EVENT_EVICT, .matrix = m->id, .tile = sc_matrix_tile_index(m, t), .device = (int16_t)device,
             .bytes = sc_tile_bytes(m, t));
    used = sc_host_is_united(c->memory) ? c->lru.last_use : 0;
    sc_protocol.loans_compete |= used != 0;
    sc_memory_release(device, m, t);
    c->lru.last_use = used;
    return SC_OK;
}

enum sc_status sc_memory_evict(int device)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    return evict_older(device, sc_derived_oldest(device), sc_memory_oldest(device));
}

/* A program that walks round over more derived copies than fit needs the oldest copy next: LRU would evict each copy
 * just before its use.  A round is detected when a derived copy that was evicted after its last use (tick `since`)
 * is needed again, and even the oldest candidates have been used after this tick.  During a round the newest derived
 * copy is evicted, whose next use is farthest.  Other allocations (since = 0) evict likewise when a derived copy is
 * the oldest candidate. */
static enum sc_status evict_for(int device, uint64_t since)
{
    struct sc_derived *form = sc_derived_oldest(device);
    struct sc_copy *c = sc_memory_oldest(device);
    bool form_is_next = form && form->lru.last_use && (!c || form->lru.last_use < c->lru.last_use);

    if (since)
        sc_protocol.round[device] = form && form->lru.last_use >= since && (!c || c->lru.last_use >= since);
    if (!sc_protocol.round[device] || !(since || form_is_next))
        return evict_older(device, form, c);
    sc_derived_evict(sc_derived_newest(device));
    return SC_OK;
}

enum sc_status sc_memory_alloc(int device, size_t bytes, uint64_t since, void **memory, struct sc_fence *ready)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    for (;;) {
        enum sc_status status = sc_protocol.ops->alloc(device, bytes, memory, ready);

        if (status != SC_ERR_DEVICE_MEMORY)
            return status;
        status = evict_for(device, since);
        if (status != SC_OK)
            return status;
    }
}

/* Of the two copies with the farthest next uses one goes, if possible a copy without data of its own.  The data of the
 * second copy, of lent memory without work of the program, begins its way home: the next eviction waits for no
 * transfer, and the transfer home takes place beside the upload at hand. */
static enum sc_status evict_farthest(int device, uint64_t before)
{
    struct sc_copy *first = sc_memory_farthest(device, before, NULL), *second;
    enum sc_status status;

    if (!first)
        return sc_memory_evict(device);
    second = sc_memory_farthest(device, before, first);
    if (second && !only_here(device, second->tile)) {
        struct sc_copy *dirty = first;

        first = second;
        second = dirty;
    }
    status = evict_older(device, NULL, first);
    if (status == SC_OK && second && sc_host_is_united(second->memory) && !sc_lent_any()) /* no work writes the data */
        sc_transfer_evicted(second->matrix, second->tile, only_here(device, second->tile));
    return status;
}

/* For a tile of lent memory.  Kernels that walk round over more blocks than fit need the oldest block next: the times
 * between uses decide.  Memory of the launch at hand stays. */
static enum sc_status evict_for_loan(int device, const struct sc_matrix *m, struct sc_copy *c)
{
    struct sc_derived *form = sc_derived_oldest(device);
    struct sc_copy *oldest = sc_memory_oldest(device);

    if (c->lru.last_use && c->lru.last_use < m->lending)
        c->interval = sc_protocol.came_back = m->lending - c->lru.last_use;
    if (oldest && (!form || oldest->lru.last_use <= form->lru.last_use))
        return evict_farthest(device, m->lending);
    return sc_memory_evict(device);
}

enum sc_status sc_memory_ensure(int device, struct sc_matrix *m, struct sc_tile *t)
{
    struct sc_copy *c = &t->copy[device];
    struct sc_fence ready;
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(sc_tile_bytes(m, t) > 0);
    if (c->memory) {
        sc_memory_touch(device, c);
        return SC_OK;
    }
    do
        status = sc_memory_place(device, m, t, &ready);
    while (status == SC_ERR_DEVICE_MEMORY &&
           (m->lending ? evict_for_loan(device, m, c) : sc_memory_evict(device)) == SC_OK);
    if (status == SC_ERR_UNSUPPORTED)
        status = sc_memory_alloc(device, sc_tile_bytes(m, t), 0, &c->memory, &ready);
    return sc_memory_start(device, t, status, ready);
}
/* SPDX-License-Identifier: BSD-2-Clause */
