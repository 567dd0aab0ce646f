/* Device memory: tiles get it when first needed there and lose it, least recently used first, when it is short. */
#include "coherence/protocol.h"

#include <stdlib.h>

/* --- release ------------------------------------------------------------------------------------------------------ */

/* Everything that may still use a copy's memory, one fence for each stream at most. */
#define USERS_MAX (SC_STREAMS + SC_DEVICES_MAX + 2)

static int users_of(int device, const struct sc_tile *t, struct sc_fence users[USERS_MAX])
{
    const struct sc_copy *c = &t->copy[device];
    struct sc_fence own[SC_STREAMS] = {{0}};
    int n = 0;

    for (int s = 0; s < t->sectors; s++)
        if (c->ready[s].seq > own[c->ready[s].stream].seq)
            own[c->ready[s].stream] = c->ready[s];
    if (c->last_used.seq > own[SC_STREAM_COMPUTE].seq)
        own[SC_STREAM_COMPUTE] = c->last_used;
    for (int s = 0; s < SC_STREAMS; s++)
        if (own[s].seq)
            users[n++] = own[s];
    for (int i = 0; i <= SC_DEVICES_MAX; i++)
        if (c->reader[i].seq)
            users[n++] = c->reader[i];
    return n;
}

void sc_memory_release(int device, struct sc_matrix *m, struct sc_tile *t)
{
    struct sc_copy *c = &t->copy[device];
    struct sc_fence users[USERS_MAX];

    if (!c->memory)
        return;
    if (c->valid)
        sc_protocol_dropped(m, t, device, c->valid);
    sc_protocol.ops->free(device, c->memory, users, users_of(device, t, users));
    *c = (struct sc_copy){.ready = c->ready, .used = c->used};
    for (int s = 0; s < t->sectors; s++)
        c->ready[s] = c->used[s] = SC_FENCE_NONE;
}

/* --- eviction ----------------------------------------------------------------------------------------------------- */

static bool oldest(int device, struct sc_matrix **matrix, struct sc_tile **tile)
{
    uint64_t age = UINT64_MAX;

    *tile = NULL;
    for (size_t i = 0; i < sc_directory_count(); i++) {
        struct sc_matrix *m = sc_directory_at(i);

        for (int k = 0; k < m->row_parts * m->col_parts; k++) {
            const struct sc_copy *c = &m->tiles[k].copy[device];

            if (c->memory && !c->pins && c->last_use < age) {
                age = c->last_use;
                *matrix = m;
                *tile = &m->tiles[k];
            }
        }
    }
    return *tile != NULL;
}

/* Sectors that this device alone has. */
static uint64_t only_here(int device, const struct sc_tile *t)
{
    uint64_t only = t->copy[device].valid & ~t->host_valid;

    for (int d = 0; d < sc_protocol.devices; d++)
        if (d != device)
            only &= ~t->copy[d].valid;
    return only;
}

static enum sc_status evict_one(int device)
{
    struct sc_matrix *m;
    struct sc_tile *t;
    enum sc_status status;

    if (!oldest(device, &m, &t))
        return SC_ERR_DEVICE_MEMORY;
    status = sc_transfer_to_host(m, t, only_here(device, t));
    if (status != SC_OK)
        return status;
    sc_count(&sc_stats.evictions, 1);
    sc_trace(.kind = SC_EVENT_EVICT, .matrix = m->id, .tile = sc_matrix_tile_index(m, t), .device = (int16_t)device,
             .bytes = (uint64_t)(t->rows * t->cols) * m->elem);
    sc_memory_release(device, m, t);
    return SC_OK;
}

enum sc_status sc_memory_alloc(int device, size_t bytes, void **memory, struct sc_fence *ready)
{
    for (;;) {
        enum sc_status status = sc_protocol.ops->alloc(device, bytes, memory, ready);

        if (status != SC_ERR_DEVICE_MEMORY)
            return status;
        status = evict_one(device);
        if (status != SC_OK)
            return status;
    }
}

enum sc_status sc_memory_ensure(int device, struct sc_matrix *m, struct sc_tile *t)
{
    struct sc_copy *c = &t->copy[device];
    struct sc_fence ready;
    enum sc_status status;

    c->last_use = ++sc_protocol.tick;
    if (c->memory)
        return SC_OK;
    status = sc_memory_alloc(device, (size_t)(t->rows * t->cols) * m->elem, &c->memory, &ready);
    if (status != SC_OK) {
        c->memory = NULL;
        return status;
    }
    for (int s = 0; s < t->sectors; s++)
        c->ready[s] = ready;
    c->pending = sc_sectors_all(t->sectors);
    return SC_OK;
}
