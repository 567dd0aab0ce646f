/* Sources and contents of derived copies (rule C9).  Each linked sector has the time of its latest write; the time
 * advances with every such write. */
#include "coherence/protocol.h"

#include <stdlib.h>
#include <string.h>

/* --- links -------------------------------------------------------------------------------------------------------- */

/* Global sectors with elements [first, first + n) of a vector of increment 1. */
static bool sectors_of(const struct sc_operand *v, int64_t first, int64_t n, int *g, int *end)
{
    uintptr_t lo = (uintptr_t)v->view.ptr + (uintptr_t)first * v->matrix->elem;

    return n > 0 && sc_matrix_sectors_at(v->matrix, lo, lo + (uintptr_t)n * v->matrix->elem, g, end);
}

static bool start_history(struct sc_matrix *m)
{
    int sectors = sc_matrix_sectors(m);

    if (m->links.changed)
        return true;
    m->links.changed = malloc((size_t)sectors * sizeof *m->links.changed);
    if (!m->links.changed)
        return false;
    m->links.newest = ++sc_protocol.changes;
    for (int g = 0; g < sectors; g++)
        m->links.changed[g] = m->links.newest;
    return true;
}

uint64_t sc_coherence_derive(const struct sc_operand *v)
{
    struct sc_matrix *m = v->matrix;
    int g, end;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!m || v->view.rows <= 0)
        return ++sc_protocol.changes; /* nothing to be written */
    if (v->stage == SC_SHADOW || !start_history(m) || !sc_host_can_close((size_t)m->col_parts * SC_SECTORS) ||
        !sectors_of(v, 0, v->view.rows, &g, &end))
        return 0;
    for (int e; g < end; g = e) {
        e = (g / SC_SECTORS + 1) * SC_SECTORS;
        e = e < end ? e : end;
        for (int i = 0; i < m->row_parts; i++) {
            struct sc_tile *t = sc_matrix_tile(m, i, g / SC_SECTORS);

            sc_protocol_linked(m, t, sc_sectors_range(g % SC_SECTORS,
                                                      (e - 1) % SC_SECTORS + 1) & sc_sectors_all(t->sectors));
        }
    }
    return sc_protocol.changes;
}

/* *element: the vector's element at the beginning of global sector g (< 0: before the vector).  False: the tile is
 * not full and has no such sector. */
static bool begins_at(const struct sc_operand *v, int g, int64_t *element)
{
    uintptr_t lo, hi;

    if (!sc_matrix_sector_range(v->matrix, g, &lo, &hi))
        return false;
    *element = ((int64_t)lo - (int64_t)(uintptr_t)v->view.ptr) / (int64_t)v->matrix->elem;
    return true;
}

bool sc_coherence_changed_run(const struct sc_operand *v, uint64_t since, int64_t *first, int64_t *end)
{
    const struct sc_matrix *m = v->matrix;
    int64_t at = *first;
    int g, last;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!m || *first >= *end)
        return false;
    if (!m->links.changed)
        return true;
    if (m->links.newest <= since)
        return false;
    if (!sectors_of(v, *first, *end - *first, &g, &last))
        return true;
    while (g < last && (m->links.changed[g] <= since || !begins_at(v, g, &at)))
        g++;
    if (g == last)
        return false;
    *first = at > *first ? at : *first;
    for (g++; g < last; g++)
        if (m->links.changed[g] <= since && begins_at(v, g, &at)) {
            *end = at < *end ? at : *end;
            break;
        }
    return true;
}

bool sc_coherence_changed(const struct sc_operand *v, int64_t first, int64_t n, uint64_t since)
{
    int64_t end = first + n;

    sc_assert_held(SC_RANK_PROTOCOL);
    return sc_coherence_changed_run(v, since, &first, &end);
}

/* --- the memory of forms ------------------------------------------------------------------------------------------ */

enum sc_status sc_coherence_derived_make(struct sc_derived *f, int device, size_t bytes)
{
    uint64_t evicted = f->memory ? 0 : f->lru.last_use;
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_coherence_derived_drop(f);
    if (sc_protocol.failed[device])
        return SC_ERR_DEVICE;
    *f = (struct sc_derived){.device = device, .bytes = bytes, .lru.last_use = ++sc_protocol.tick};
    status = sc_memory_alloc(device, bytes, evicted, &f->memory, &f->ready);
    if (status != SC_OK) {
        *f = (struct sc_derived){.memory = NULL};
        return status;
    }
    sc_derived_start(f);
    sc_assert(f->memory);
    return SC_OK;
}

/* --- their contents ----------------------------------------------------------------------------------------------- */

/* Enqueues a copy from pinned host memory, after what was done with the form before. */
static enum sc_status upload(struct sc_derived *f, size_t at, const void *from, size_t bytes, struct sc_fence *fence)
{
    struct sc_copy2d copy = {.dst = (char *)f->memory + at, .src = sc_host_alias(from), .dst_pitch = bytes,
                             .src_pitch = bytes,
                             .width = bytes, .height = 1, .dst_device = f->device, .src_device = SC_HOST};
    enum sc_status status = sc_order(f->device, SC_STREAM_H2D, f->ready);

    if (status == SC_OK)
        status = sc_order(f->device, SC_STREAM_H2D, f->used);
    if (status == SC_OK)
        status = sc_protocol.ops->copy(f->device, SC_STREAM_H2D, &copy);
    if (status == SC_OK)
        status = sc_mark(f->device, SC_STREAM_H2D, fence);
    if (status == SC_ERR_DEVICE)
        sc_device_gave_up(f->device, "getting a part of a sparse matrix");
    if (status != SC_OK)
        return status;
    f->ready = *fence;
    sc_derived_touch(f);
    sc_count(&sc_stats.bytes[SC_H2D], bytes);
    sc_count(&sc_stats.transfers[SC_H2D], 1);
    return SC_OK;
}

/* The host has sectors [g, end), or will have: the upload waits for that. */
static enum sc_status bring_home(int device, struct sc_matrix *m, int g, int end)
{
    enum sc_status status = SC_OK;

    for (; g < end && status == SC_OK; g++)
        for (int i = 0; i < m->row_parts && status == SC_OK; i++) {
            struct sc_tile *t = sc_matrix_tile(m, i, g / SC_SECTORS);
            int s = g % SC_SECTORS;

            if (s >= t->sectors)
                continue;
            sc_transfer_to_host(m, t, UINT64_C(1) << s);
            status = sc_order(device, SC_STREAM_H2D, t->landed[s]);
        }
    return status;
}

/* Elements [lo, hi) of a matrix (positions in a contiguous lattice) with one source. */
struct run {
    struct sc_matrix *m;
    int64_t lo, hi;
    int g, end; /* its global sectors */
    int from;   /* a device, or SC_HOST */
};

/* The source of a sector for a derived copy on `device`: the device itself, if its copy is valid, else the nearest
 * copy. */
static int source_of(int device, const struct sc_matrix *m, const struct sc_tile *t, int s)
{
    return t->copy[device].valid >> s & 1 ? device : sc_transfer_source(device, m, t, s);
}

/* Elements from `first` on, to `last` at most, with one source and in one tile. */
static struct run next_run(int device, struct sc_matrix *m, int64_t first, int64_t last)
{
    struct run r = {.m = m, .lo = first};
    struct sc_tile *t;
    int s, e;

    sc_matrix_sectors_at(m, m->base + (uintptr_t)first * m->elem, m->base + (uintptr_t)(first + 1) * m->elem, &r.g,
                         &r.end);
    t = sc_matrix_tile(m, 0, r.g / SC_SECTORS);
    s = e = r.g % SC_SECTORS;
    r.from = source_of(device, m, t, s);
    do
        r.hi = sc_tile_sector_end(m, t, ++e) * m->rows;
    while (e < t->sectors && r.hi < last && source_of(device, m, t, e) == r.from);
    r.hi = r.hi < last ? r.hi : last;
    r.end = r.g + e - s;
    sc_assert(r.lo < r.hi && r.g < r.end);
    return r;
}

static enum sc_status after_written(const struct sc_derived *f, const struct run *r)
{
    const struct sc_tile *t = sc_matrix_tile(r->m, 0, r->g / SC_SECTORS);
    enum sc_stream stream = sc_stream_peer(r->from);
    enum sc_status status = sc_order(f->device, stream, f->ready);

    if (status == SC_OK)
        status = sc_order(f->device, stream, f->used);
    for (int g = r->g; g < r->end && status == SC_OK; g++)
        status = sc_order(f->device, stream, t->copy[r->from].ready[g % SC_SECTORS]);
    if (status == SC_OK) /* the predecessor as `reader` may have been on another stream */
        status = sc_order(f->device, stream, t->copy[r->from].reader[f->device]);
    return status;
}

/* Copies from a device, whose copy stays valid. */
static enum sc_status from_device(struct sc_derived *f, size_t at, const struct run *r)
{
    struct sc_tile *t = sc_matrix_tile(r->m, 0, r->g / SC_SECTORS);
    struct sc_copy *c = &t->copy[r->from];
    size_t bytes = (size_t)(r->hi - r->lo) * r->m->elem;
    struct sc_copy2d copy = {.dst = (char *)f->memory + at,
                             .src = (char *)c->memory + (size_t)(r->lo - t->col * r->m->rows) * r->m->elem,
                             .dst_pitch = bytes, .src_pitch = bytes, .width = bytes, .height = 1,
                             .dst_device = f->device, .src_device = r->from};
    enum sc_status status = after_written(f, r);
    struct sc_fence fence;

    sc_memory_touch(r->from, c);
    if (status == SC_OK)
        status = sc_protocol.ops->copy(f->device, sc_stream_peer(r->from), &copy);
    if (status == SC_OK)
        status = sc_mark(f->device, sc_stream_peer(r->from), &fence);
    if (status == SC_ERR_DEVICE)
        sc_device_gave_up(f->device, "copying a part of a sparse matrix");
    if (status != SC_OK)
        return status;
    f->ready = c->reader[f->device] = fence;
    sc_derived_touch(f);
    if (r->from != f->device) {
        sc_count(&sc_stats.bytes[SC_D2D], bytes);
        sc_count(&sc_stats.transfers[SC_D2D], 1);
    }
    return SC_OK;
}

static enum sc_status from_host(struct sc_derived *f, size_t at, const struct run *r)
{
    size_t bytes = (size_t)(r->hi - r->lo) * r->m->elem;
    enum sc_status status = bring_home(f->device, r->m, r->g, r->end);
    struct sc_fence fence;

    if (status == SC_OK)
        status = upload(f, at, (const char *)r->m->base + (size_t)r->lo * r->m->elem, bytes, &fence);
    if (status != SC_OK)
        return status;
    for (int j = r->g / SC_SECTORS; j <= (r->end - 1) / SC_SECTORS; j++)
        for (int i = 0; i < r->m->row_parts; i++) {
            sc_matrix_tile(r->m, i, j)->host_read[f->device] = fence;
            sc_matrix_tile(r->m, i, j)->read_apart[f->device] = fence;
        }
    sc_trace(.kind = SC_EVENT_TRANSFER, .matrix = r->m->id, .device = (int16_t)f->device, .peer = SC_HOST,
             .bytes = bytes);
    return SC_OK;
}

enum sc_status sc_coherence_derived_upload(struct sc_derived *f, size_t at, const struct sc_operand *v, int64_t first,
                                           int64_t n)
{
    struct sc_matrix *m = v->matrix;
    enum sc_status status = SC_OK;
    struct run all = {.m = m, .from = SC_HOST};

    sc_assert_held(SC_RANK_PROTOCOL);
    if (n <= 0)
        return SC_OK;
    if (!f->memory)
        return SC_ERR_DEVICE_MEMORY;
    if (!m || v->stage == SC_SHADOW || !sectors_of(v, first, n, &all.g, &all.end))
        return SC_ERR_INVALID;
    sc_assert(first >= 0 && at + (size_t)n * m->elem <= f->bytes);
    all.lo = (int64_t)(((uintptr_t)v->view.ptr - m->base) / m->elem) + first;
    all.hi = all.lo + n;
    if (!v->linear)
        return from_host(f, at, &all);
    for (int g = all.g; g < all.end && status == SC_OK; g++) /* of a device's copy all rows are read (C11) */
        status = sc_transfer_rest(f->device, m, sc_matrix_tile(m, 0, g / SC_SECTORS), UINT64_C(1) << g % SC_SECTORS);
    for (int64_t lo = all.lo; lo < all.hi && status == SC_OK;) {
        struct run r = next_run(f->device, m, lo, all.hi);

        status = (r.from == SC_HOST ? from_host : from_device)(f, at, &r);
        at += (size_t)(r.hi - r.lo) * m->elem;
        lo = r.hi;
    }
    return status;
}

/* --- through buffers ---------------------------------------------------------------------------------------------- */

#define BUFFER ((size_t)8 << 20)
#define BUFFERS 2

struct buffers {
    char *at[BUFFERS];
    struct sc_fence busy[BUFFERS];
};

static enum sc_status open_buffers(struct buffers *b, size_t bytes)
{
    for (int i = 0; i < BUFFERS; i++) {
        struct sc_host_block block;

        b->at[i] = sc_host_alloc(bytes);
        if (!b->at[i] || !sc_host_block_of(b->at[i], &block) ||
            sc_host_span_pin(&block, sc_protocol.ops->pin, sc_protocol.ops->unpin) != SC_OK)
            return SC_ERR_MEMORY;
    }
    return SC_OK;
}

static void close_buffers(struct buffers *b)
{
    for (int i = 0; i < BUFFERS; i++) {
        sc_coherence_wait(b->busy[i]);
        if (b->at[i])
            sc_host_free(b->at[i]);
    }
}

enum sc_status sc_coherence_derived_send(struct sc_derived *f, size_t at, size_t bytes,
                                         void (*fill)(void *context, size_t from, size_t bytes,
                                                      void *buffer), void *context)
{
    struct buffers b = {.at = {NULL}};
    size_t part = bytes < BUFFER ? bytes : BUFFER;
    enum sc_status status;

    if (!bytes)
        return SC_OK;
    sc_inside_enter();
    status = sc_protocol.ops ? open_buffers(&b, part) : SC_ERR_DEVICE;
    for (size_t from = 0, k = 0; from < bytes && status == SC_OK; from += part, k = (k + 1) % BUFFERS) {
        size_t n = bytes - from < part ? bytes - from : part;

        status = sc_coherence_wait(b.busy[k]);
        if (status != SC_OK)
            break;
        fill(context, from, n, b.at[k]);
        sc_protocol_lock();
        if (!sc_protocol.ops || sc_protocol.stopping)
            status = SC_ERR_DEVICE;
        else
            status = f->memory ? upload(f, at + from, b.at[k], n, &b.busy[k]) : SC_ERR_DEVICE_MEMORY;
        sc_protocol_unlock();
    }
    close_buffers(&b);
    sc_inside_leave();
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
