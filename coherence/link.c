/* Semantic links (rule C9): device data made from host arrays in another form.  What is kept here is when each linked
 * sector was written last, in a time that advances with every such write, and the memory of the forms. */
#include "coherence/protocol.h"

#include <stdlib.h>
#include <string.h>

/* --- links -------------------------------------------------------------------------------------------------------- */

/* Global sectors that elements [first, first + n) of a vector of increment 1 meet. */
static bool sectors_of(const struct sc_operand *v, int64_t first, int64_t n, int *g, int *end)
{
    uintptr_t lo = (uintptr_t)v->view.ptr + (uintptr_t)first * v->matrix->elem;

    return n > 0 && sc_matrix_sectors_at(v->matrix, lo, lo + (uintptr_t)n * v->matrix->elem, g, end);
}

static bool start_history(struct sc_matrix *m)
{
    int sectors = sc_matrix_sectors(m);

    if (m->changed)
        return true;
    m->changed = malloc((size_t)sectors * sizeof *m->changed);
    if (!m->changed)
        return false;
    m->newest = ++sc_protocol.changes;
    for (int g = 0; g < sectors; g++)
        m->changed[g] = m->newest;
    return true;
}

uint64_t sc_coherence_link(const struct sc_operand *v)
{
    struct sc_matrix *m = v->matrix;
    int g, end;

    if (!m || v->view.rows <= 0)
        return ++sc_protocol.changes; /* nothing to be written */
    if (!start_history(m) || !sc_host_can_close((size_t)m->col_parts * SC_SECTORS) ||
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

bool sc_coherence_changed(const struct sc_operand *v, int64_t first, int64_t n, uint64_t since)
{
    const struct sc_matrix *m = v->matrix;
    int g, end;

    if (!m || n <= 0)
        return false;
    if (!m->changed)
        return true;
    if (m->newest <= since)
        return false;
    if (!sectors_of(v, first, n, &g, &end))
        return true;
    for (; g < end; g++)
        if (m->changed[g] > since)
            return true;
    return false;
}

/* --- the memory of forms ------------------------------------------------------------------------------------------ */

static struct sc_form *forms; /* those that have memory; under the lock */

struct sc_form *sc_link_oldest(int device)
{
    struct sc_form *oldest = NULL;

    for (struct sc_form *f = forms; f; f = f->next)
        if (f->device == device && !f->pins && (!oldest || f->last_use < oldest->last_use))
            oldest = f;
    return oldest;
}

void sc_coherence_form_drop(struct sc_form *f)
{
    const struct sc_device_ops *ops = sc_protocol.ops;
    struct sc_fence users[2] = {f->ready, f->used};

    if (!f->memory)
        return;
    if (f->plan && ops && ops->forget)
        ops->forget(f->device, f->plan);
    if (ops)
        ops->free(f->device, f->memory, users, 2);
    *(f->previous ? &f->previous->next : &forms) = f->next;
    if (f->next)
        f->next->previous = f->previous;
    *f = (struct sc_form){.memory = NULL};
}

void sc_link_evict(struct sc_form *f)
{
    sc_count(&sc_stats.evictions, 1);
    sc_trace(.kind = SC_EVENT_EVICT, .device = (int16_t)f->device, .bytes = f->bytes);
    sc_coherence_form_drop(f);
}

void sc_link_stop(void)
{
    sc_protocol_lock();
    while (forms)
        sc_coherence_form_drop(forms);
    sc_protocol_unlock();
}

enum sc_status sc_coherence_form_make(struct sc_form *f, int device, size_t bytes)
{
    enum sc_status status;

    sc_coherence_form_drop(f);
    if (sc_protocol.failed[device])
        return SC_ERR_DEVICE;
    *f = (struct sc_form){.device = device, .bytes = bytes, .last_use = ++sc_protocol.tick};
    status = sc_memory_alloc(device, bytes, &f->memory, &f->ready);
    if (status != SC_OK) {
        f->memory = NULL;
        return status;
    }
    f->next = forms;
    if (forms)
        forms->previous = f;
    forms = f;
    return SC_OK;
}

/* --- their contents ----------------------------------------------------------------------------------------------- */

/* Enqueues a copy from pinned host memory, after what was done with the form before. */
static enum sc_status upload(struct sc_form *f, size_t at, const void *from, size_t bytes, struct sc_fence *fence)
{
    struct sc_copy2d copy = {.dst = (char *)f->memory + at, .src = from, .dst_pitch = bytes, .src_pitch = bytes,
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
    f->last_use = ++sc_protocol.tick;
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

enum sc_status sc_coherence_form_upload(struct sc_form *f, size_t at, const struct sc_operand *v, int64_t first,
                                        int64_t n)
{
    struct sc_matrix *m = v->matrix;
    size_t bytes = (size_t)n * sc_type_bytes(v->view.type);
    enum sc_status status;
    struct sc_fence fence;
    int g, end;

    if (n <= 0)
        return SC_OK;
    if (!f->memory)
        return SC_ERR_DEVICE_MEMORY;
    if (!m || v->staged.ptr || !sectors_of(v, first, n, &g, &end))
        return SC_ERR_INVALID;
    status = bring_home(f->device, m, g, end);
    if (status == SC_OK)
        status = upload(f, at, (const char *)v->view.ptr + (size_t)first * m->elem, bytes, &fence);
    if (status != SC_OK)
        return status;
    for (int j = g / SC_SECTORS; j <= (end - 1) / SC_SECTORS; j++)
        for (int i = 0; i < m->row_parts; i++)
            sc_matrix_tile(m, i, j)->host_read[f->device] = fence;
    sc_trace(.kind = SC_EVENT_TRANSFER, .matrix = m->id, .device = (int16_t)f->device, .peer = SC_HOST, .bytes = bytes);
    return SC_OK;
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

enum sc_status sc_coherence_form_send(struct sc_form *f, size_t at, size_t bytes,
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
