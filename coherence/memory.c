/* Memory of tiles on devices: allocation without eviction, order of use, release (eviction: evict.c). */
#include "coherence/protocol.h"

uint64_t sc_memory_steps;

/* Copies with memory, by device, in the order of last use: uses and evictions look only at the ends. */
static struct sc_lru_list lru[SC_DEVICES_MAX];

void sc_memory_touch(int device, struct sc_copy *c)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(c->memory);
    c->lru.last_use = ++sc_protocol.tick;
    sc_lru_touch(&lru[device], &c->lru);
}

/* Copies of kept matrices become the newest, until a copy of another matrix is the oldest or the first comes again. */
struct sc_copy *sc_memory_oldest(int device)
{
    struct sc_copy *first = NULL;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    for (;;) {
        struct sc_lru *node = sc_lru_oldest(&lru[device], &sc_memory_steps);
        struct sc_copy *c = node ? SC_LRU_OWNER(node, struct sc_copy, lru) : NULL;

        if (!c || !c->matrix->kept || c == first)
            return c;
        first = first ? first : c;
        sc_memory_touch(device, c);
    }
}

/* Ticks (uses of copies) until the next use of a copy, by the ticks between the copy's last two lendings.  Lent memory
 * used once counts as frequent as the block that came back last.  Of an overdue use nothing is known: it counts as far
 * away as the last use. */
static uint64_t ticks_left(const struct sc_copy *c)
{
    uint64_t age = sc_protocol.tick - c->lru.last_use, interval = c->interval;

    if (!interval && sc_host_is_united(c->memory))
        interval = sc_protocol.came_back;
    return age <= interval ? interval - age : age;
}

struct sc_copy *sc_memory_farthest(int device, uint64_t before, const struct sc_copy *but)
{
    struct sc_copy *farthest = NULL;
    uint64_t most = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    for (struct sc_lru *node = lru[device].oldest; node; node = node->newer) {
        struct sc_copy *c = SC_LRU_OWNER(node, struct sc_copy, lru);
        uint64_t left;

        if (c == but || node->last_use >= before || node->pins || c->matrix->kept)
            continue;
        left = ticks_left(c);
        if (farthest && left <= most)
            continue;
        farthest = c;
        most = left;
    }
    return farthest;
}

/* --- release ------------------------------------------------------------------------------------------------------ */

/* Fences of work that may still use a copy's memory, at most one for each stream: streams of the device, and kernels
 * of further devices that write the memory. */
static int users_of(int device, const struct sc_tile *t, struct sc_fence users[SC_USERS_MAX])
{
    const struct sc_copy *c = &t->copy[device];
    struct sc_fence own[SC_STREAMS] = {{0}}, pushed[SC_DEVICES_MAX] = {{0}};
    int n = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
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
    struct sc_fence users[SC_USERS_MAX];
    int count;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(!c->lru.pins);
    if (!c->memory)
        return;
    if (c->valid)
        sc_protocol_dropped(m, t, device, c->valid);
    sc_lru_remove(&lru[device], &c->lru);
    count = users_of(device, t, users);
    if (c->lease)
        sc_lease_keep(c, users, count);
    else
        sc_protocol.ops->free(device, c->memory, users, count);
    sc_level_less(&sc_levels.resident[device], sc_tile_bytes(m, t));
    *c = (struct sc_copy){.ready = c->ready, .used = c->used, .sent = c->sent, .rows = c->rows, .matrix = m, .tile = t};
    for (int s = 0; s < t->sectors; s++)
        c->ready[s] = c->used[s] = SC_FENCE_NONE;
    sc_assert(!c->memory && !c->valid && !c->lru.older && !c->lru.newer);
}

/* --- moving ------------------------------------------------------------------------------------------------------- */

/* The compute stream copies the contents, behind their kernels and transfers. */
static enum sc_status copy_over(int device, const struct sc_copy *c, void *memory, size_t bytes, struct sc_fence ready,
                                struct sc_fence *f)
{
    struct sc_copy2d copy = {.dst = memory, .src = c->memory, .dst_pitch = bytes, .src_pitch = bytes, .width = bytes,
                             .height = 1, .dst_device = device, .src_device = device};
    enum sc_status status = sc_order(device, SC_STREAM_COMPUTE, ready);

    sc_assert_held(SC_RANK_PROTOCOL);
    for (uint64_t rest = c->pending & c->valid; rest && status == SC_OK; rest &= rest - 1)
        status = sc_order(device, SC_STREAM_COMPUTE, c->ready[__builtin_ctzll(rest)]);
    if (status == SC_OK)
        status = sc_protocol.ops->copy(device, SC_STREAM_COMPUTE, &copy);
    return status == SC_OK ? sc_mark(device, SC_STREAM_COMPUTE, f) : status;
}

enum sc_status sc_memory_part(int device, struct sc_matrix *m, struct sc_tile *t)
{
    struct sc_copy *c = &t->copy[device];
    struct sc_fence ready, f, users[SC_USERS_MAX + 1];
    size_t bytes = sc_tile_bytes(m, t);
    enum sc_status status;
    void *memory;
    int count;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    if (!c->lease)
        return SC_OK;
    status = sc_protocol.ops->alloc(device, bytes, &memory, &ready);
    if (status != SC_OK)
        return status;
    f = ready;
    if (c->valid && copy_over(device, c, memory, bytes, ready, &f) != SC_OK) {
        sc_device_gave_up(device, "copying a tile"); /* the new memory may be in use */
        return SC_ERR_DEVICE;
    }
    count = users_of(device, t, users);
    users[count++] = f;
    sc_lease_keep(c, users, count);
    c->memory = memory;
    c->last_used = f;
    for (int s = 0; s < t->sectors; s++)
        c->ready[s] = c->used[s] = f;
    c->pending = sc_sectors_all(t->sectors);
    return SC_OK;
}

/* --- allocation --------------------------------------------------------------------------------------------------- */

enum sc_status sc_memory_start(int device, struct sc_tile *t, enum sc_status status, struct sc_fence ready)
{
    struct sc_copy *c = &t->copy[device];

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    if (status != SC_OK) {
        c->memory = NULL;
        return status;
    }
    sc_assert(c->memory && !c->valid);
    sc_level_add(&sc_levels.resident[device], sc_tile_bytes(c->matrix, t));
    c->lru.last_use = ++sc_protocol.tick;
    sc_lru_add_newest(&lru[device], &c->lru);
    for (int s = 0; s < t->sectors; s++)
        c->ready[s] = ready;
    c->pending = sc_sectors_all(t->sectors);
    return SC_OK;
}

enum sc_status sc_memory_place(int device, struct sc_matrix *m, struct sc_tile *t, struct sc_fence *ready)
{
    void *at = (void *)(m->base + (uintptr_t)(t->col * m->ld) * m->elem);
    size_t bytes = sc_tile_bytes(m, t), left = sc_matrix_end(m) - (uintptr_t)at;
    enum sc_status status = SC_ERR_UNSUPPORTED;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    if (sc_protocol.ops->place && m->rows == m->ld && m->row_parts == 1 && sc_host_is_united(at))
        status = sc_protocol.ops->place(device, at, bytes < left ? bytes : left, ready);
    t->copy[device].memory = status == SC_OK ? at : NULL;
    return status;
}

enum sc_status sc_memory_spare(int device, struct sc_matrix *m, struct sc_tile *t)
{
    struct sc_copy *c = &t->copy[device];
    struct sc_fence ready;
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(sc_tile_bytes(m, t) > 0);
    if (c->memory)
        return SC_OK;
    status = sc_memory_place(device, m, t, &ready);
    if (status == SC_ERR_UNSUPPORTED)
        status = sc_protocol.ops->alloc(device, sc_tile_bytes(m, t), &c->memory, &ready);
    return sc_memory_start(device, t, status, ready);
}
/* SPDX-License-Identifier: BSD-2-Clause */
