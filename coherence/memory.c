/* Device memory: tiles get it when first needed there and lose it, least recently used first, when it is short. */
#include "coherence/protocol.h"

uint64_t sc_memory_steps;

/* --- which copy was used last: a list for each device, so that neither a use nor an eviction looks at others ------ */

static struct {
    struct sc_copy *oldest, *newest;
} lru[SC_DEVICES_MAX];

static void link_copy(int device, struct sc_copy *c)
{
    c->older = lru[device].newest;
    c->newer = NULL;
    *(c->older ? &c->older->newer : &lru[device].oldest) = c;
    lru[device].newest = c;
    c->last_use = ++sc_protocol.tick;
}

static void unlink_copy(int device, struct sc_copy *c)
{
    *(c->older ? &c->older->newer : &lru[device].oldest) = c->newer;
    *(c->newer ? &c->newer->older : &lru[device].newest) = c->older;
    c->older = c->newer = NULL;
}

void sc_memory_touch(int device, struct sc_copy *c)
{
    c->last_use = ++sc_protocol.tick;
    if (lru[device].newest == c)
        return;
    unlink_copy(device, c);
    link_copy(device, c);
}

/* --- release ------------------------------------------------------------------------------------------------------ */

/* Everything that may still use a copy's memory, one fence for each stream at most: of its device, and of others that
 * write here by kernels of theirs. */
#define USERS_MAX (SC_STREAMS + 2 * SC_DEVICES_MAX + 2)

static int users_of(int device, const struct sc_tile *t, struct sc_fence users[USERS_MAX])
{
    const struct sc_copy *c = &t->copy[device];
    struct sc_fence own[SC_STREAMS] = {{0}}, pushed[SC_DEVICES_MAX] = {{0}};
    int n = 0;

    for (int s = 0; s < t->sectors; s++) {
        struct sc_fence *last = c->ready[s].device == device ? &own[c->ready[s].stream] : &pushed[c->ready[s].device];

        if (c->ready[s].seq > last->seq)
            *last = c->ready[s];
    }
    if (c->last_used.seq > own[SC_STREAM_COMPUTE].seq)
        own[SC_STREAM_COMPUTE] = c->last_used;
    for (int s = 0; s < SC_STREAMS; s++)
        if (own[s].seq)
            users[n++] = own[s];
    for (int d = 0; d < SC_DEVICES_MAX; d++)
        if (pushed[d].seq)
            users[n++] = pushed[d];
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
    unlink_copy(device, c);
    sc_protocol.ops->free(device, c->memory, users, users_of(device, t, users));
    *c = (struct sc_copy){.ready = c->ready, .used = c->used, .matrix = m, .tile = t};
    for (int s = 0; s < t->sectors; s++)
        c->ready[s] = c->used[s] = SC_FENCE_NONE;
}

/* --- eviction ----------------------------------------------------------------------------------------------------- */

/* Only what a task in progress has pinned is passed over: a few copies, however many there are. */
static struct sc_copy *oldest(int device)
{
    struct sc_copy *c = lru[device].oldest;

    sc_memory_steps++;
    while (c && c->pins) {
        c = c->newer;
        sc_memory_steps++;
    }
    return c;
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

/* The one of both that was used longest ago; NULL: there is none. */
static enum sc_status evict_older(int device, struct sc_derived *form, struct sc_copy *c)
{
    struct sc_matrix *m;
    struct sc_tile *t;

    if (!c && !form)
        return SC_ERR_DEVICE_MEMORY;
    if (form && (!c || form->last_use < c->last_use)) {
        sc_derived_evict(form);
        return SC_OK;
    }
    m = c->matrix;
    t = c->tile;
    sc_transfer_evicted(m, t, only_here(device, t));
    if (sc_protocol.lost[device])
        return SC_ERR_DEVICE;
    sc_count(&sc_stats.evictions, 1);
    sc_trace(.kind = SC_EVENT_EVICT, .matrix = m->id, .tile = sc_matrix_tile_index(m, t), .device = (int16_t)device,
             .bytes = (uint64_t)(t->rows * t->cols) * m->elem);
    sc_memory_release(device, m, t);
    return SC_OK;
}

enum sc_status sc_memory_evict(int device)
{
    return evict_older(device, sc_derived_evictable(device, false), oldest(device));
}

/* A program that goes round over forms that do not all fit needs the oldest next: each would be evicted just before
 * it is needed.  It does so when a form that had memory before, and was used last at `since` then, needs it again, and
 * even what has been used least recently has been used after that.  Then the newest form goes, which is needed last;
 * and for all that is allocated in the course of a round (since 0), where it would be a form that goes. */
static enum sc_status evict_for(int device, uint64_t since)
{
    struct sc_derived *form = sc_derived_evictable(device, false);
    struct sc_copy *c = oldest(device);
    bool form_is_next = form && form->last_use && (!c || form->last_use < c->last_use);

    if (since)
        sc_protocol.round[device] = form && form->last_use >= since && (!c || c->last_use >= since);
    if (!sc_protocol.round[device] || !(since || form_is_next))
        return evict_older(device, form, c);
    sc_derived_evict(sc_derived_evictable(device, true));
    return SC_OK;
}

enum sc_status sc_memory_alloc(int device, size_t bytes, uint64_t since, void **memory, struct sc_fence *ready)
{
    for (;;) {
        enum sc_status status = sc_protocol.ops->alloc(device, bytes, memory, ready);

        if (status != SC_ERR_DEVICE_MEMORY)
            return status;
        status = evict_for(device, since);
        if (status != SC_OK)
            return status;
    }
}

/* It has just got memory. */
static void start_copy(int device, struct sc_tile *t, struct sc_fence ready)
{
    struct sc_copy *c = &t->copy[device];

    link_copy(device, c);
    for (int s = 0; s < t->sectors; s++)
        c->ready[s] = ready;
    c->pending = sc_sectors_all(t->sectors);
}

static size_t bytes_of(const struct sc_matrix *m, const struct sc_tile *t)
{
    return (size_t)(t->rows * t->cols) * m->elem;
}

enum sc_status sc_memory_spare(int device, struct sc_matrix *m, struct sc_tile *t)
{
    struct sc_copy *c = &t->copy[device];
    struct sc_fence ready;
    enum sc_status status;

    if (c->memory)
        return SC_OK;
    status = sc_protocol.ops->alloc(device, bytes_of(m, t), &c->memory, &ready);
    if (status == SC_OK)
        start_copy(device, t, ready);
    else
        c->memory = NULL;
    return status;
}

enum sc_status sc_memory_ensure(int device, struct sc_matrix *m, struct sc_tile *t)
{
    struct sc_copy *c = &t->copy[device];
    struct sc_fence ready;
    enum sc_status status;

    if (c->memory) {
        sc_memory_touch(device, c);
        return SC_OK;
    }
    status = sc_memory_alloc(device, bytes_of(m, t), 0, &c->memory, &ready);
    if (status == SC_OK)
        start_copy(device, t, ready);
    else
        c->memory = NULL;
    return status;
}
