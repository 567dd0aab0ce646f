/* Tasks whose kernels the program brings, and copies between pieces and temporaries for such tasks. */
#include "coherence/protocol.h"

/* What a task enqueues on the compute stream once its pieces are there. */
struct work {
    int device, count;
    const struct sc_piece *pieces;
    struct sc_target targets[SC_OWN_PIECES];
    enum sc_status (*enqueue)(struct work *w);
    uint8_t op;                        /* for the trace */
    struct sc_own_slot *slots;         /* of a function */
    const struct sc_device_call *call;
    char *temporary;                   /* of a copy; of a diagonal: memory of the host */
    bool outwards;                     /* from the piece to the temporary */
    struct sc_fence fence;             /* behind the work */
};

static void pin(struct work *w, int by)
{
    for (int i = 0; i < w->count; i++)
        if (w->pieces[i].operand)
            w->targets[i].t->copy[w->device].lru.pins += (uint32_t)by;
}

static char *on_device(const struct work *w, int i)
{
    const struct sc_target *x = &w->targets[i];

    return (char *)x->t->copy[w->device].memory + x->offset * (int64_t)x->m->elem;
}

/* Everything but the states. */
static enum sc_status launch(struct work *w)
{
    enum sc_status status = SC_OK, enqueued;

    for (int i = 0; i < w->count && status == SC_OK; i++)
        if (w->pieces[i].operand)
            status = sc_task_acquire(w->device, &w->pieces[i], &w->targets[i]);
    if (status != SC_OK)
        return status;
    enqueued = w->enqueue(w);
    if (enqueued != SC_OK && enqueued != SC_ERR_INVALID)
        return enqueued;
    if (sc_mark(w->device, SC_STREAM_COMPUTE, &w->fence) != SC_OK) { /* as in task.c */
        sc_device_lost(w->device, "a kernel cannot be waited for");
        return SC_ERR_DEVICE;
    }
    return enqueued;
}

/* SC_ERR_INVALID: a part of the function's work has been enqueued; pieces count as written. */
static enum sc_status run(struct work *w)
{
    enum sc_status status;
    bool ran;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(w->device);
    sc_assert(w->count <= SC_OWN_PIECES);
    if (sc_protocol.failed[w->device])
        return SC_ERR_DEVICE;
    for (int i = 0; i < w->count; i++)
        if (w->pieces[i].operand)
            sc_piece_target(&w->pieces[i], &w->targets[i]);
    pin(w, 1);
    w->fence = SC_FENCE_NONE;
    status = launch(w);
    ran = status == SC_OK || status == SC_ERR_INVALID;
    for (int i = 0; i < w->count && ran; i++)
        if (w->pieces[i].operand)
            sc_task_trace(w->device, &w->pieces[i], &w->targets[i], 0);
    for (int i = 0; i < w->count && ran; i++)
        if (w->pieces[i].operand)
            sc_task_release(w->device, &w->pieces[i], &w->targets[i], w->fence);
    pin(w, -1);
    if (ran)
        sc_trace(.kind = SC_EVENT_KERNEL, .device = (int16_t)w->device, .op = w->op);
    if (status == SC_ERR_DEVICE)
        sc_device_gave_up(w->device, "running a task of the program");
    return status;
}

/* --- functions ---------------------------------------------------------------------------------------------------- */

static enum sc_status enqueue_call(struct work *w)
{
    for (int i = 0; i < w->count; i++)
        if (w->pieces[i].operand)
            w->slots[i] = (struct sc_own_slot){on_device(w, i), w->targets[i].ld};
    return sc_protocol.ops->call(w->device, SC_STREAM_COMPUTE, w->call);
}

enum sc_status sc_coherence_own_task(int device, const struct sc_piece *pieces, int count, struct sc_own_slot *slots,
                                     const struct sc_device_call *call)
{
    struct work w = {.device = device, .count = count, .pieces = pieces, .enqueue = enqueue_call, .op = SC_OP_OWN,
                     .slots = slots, .call = call};

    return sc_protocol.ops->call ? run(&w) : SC_ERR_UNSUPPORTED;
}

static void note_stream(int device, void *stream, void *record)
{
    *(void **)record = stream;
    (void)device;
}

/* A module makes a new mark only after work that went through the module. */
enum sc_status sc_coherence_own_stream(int device, void **stream)
{
    struct sc_device_call call = {.run = note_stream, .record = stream, .bytes = sizeof *stream};

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(!sc_protocol.properties[device].emulated);
    if (!sc_protocol.ops->call)
        return SC_ERR_UNSUPPORTED;
    return sc_protocol.failed[device] ? SC_ERR_DEVICE : sc_protocol.ops->call(device, SC_STREAM_COMPUTE, &call);
}

enum sc_status sc_coherence_own_mark(int device, struct sc_fence *fence)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    return sc_protocol.failed[device] ? SC_ERR_DEVICE : sc_mark(device, SC_STREAM_COMPUTE, fence);
}

/* --- leases ------------------------------------------------------------------------------------------------------- */

/* Memory of one address stays: the driver has no other memory for the tile. */
static bool may_lease(int device, const struct sc_piece *piece, const struct sc_target *x)
{
    return sc_coherence_contiguous(device, piece) && !sc_host_is_united((const void *)x->m->base);
}

enum sc_status sc_coherence_lease(int device, const struct sc_piece *piece, struct sc_lease **lease, void **memory)
{
    struct sc_target x;
    struct sc_copy *c;
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(piece->access == SC_READ);
    sc_piece_target(piece, &x);
    if (!may_lease(device, piece, &x))
        return SC_ERR_UNSUPPORTED;
    if (sc_protocol.failed[device])
        return SC_ERR_DEVICE;
    c = &x.t->copy[device];
    c->lru.pins++;
    status = sc_task_acquire(device, piece, &x);
    c->lru.pins--;
    if (status == SC_ERR_DEVICE)
        sc_device_gave_up(device, "bringing a region of the program");
    if (status != SC_OK)
        return status;
    *lease = sc_lease_begin(device, c);
    if (!*lease)
        return SC_ERR_MEMORY;
    sc_task_trace(device, piece, &x, 0);
    sc_trace(.kind = SC_EVENT_KERNEL, .device = (int16_t)device, .op = SC_OP_OWN);
    *memory = (char *)c->memory + x.offset * (int64_t)x.m->elem;
    return SC_OK;
}

void sc_coherence_lease_end(struct sc_lease *lease)
{
    int device;
    void *stream;

    sc_protocol_lock();
    device = sc_lease_device(lease);
    if (device >= 0 && !sc_protocol.properties[device].emulated)
        sc_coherence_own_stream(device, &stream); /* the mark comes behind the program's work */
    sc_lease_end(lease);
    sc_protocol_unlock();
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

/* Elements of a vector with an increment are rows of one element. */
static enum sc_status enqueue_copy(struct work *w)
{
    const struct sc_piece *p = &w->pieces[0];
    const struct sc_target *x = &w->targets[0];
    bool vector = p->operand->view.vector;
    size_t elem = x->m->elem, width = (vector ? 1 : (size_t)p->rows) * elem;
    size_t pitch[2] = {(size_t)sc_step(x->ld) * elem, (size_t)p->temporary_ld * elem};
    char *end[2] = {on_device(w, 0), w->temporary};
    int from = w->outwards ? 0 : 1;
    struct sc_copy2d copy = {.dst = end[!from], .src = end[from], .dst_pitch = pitch[!from], .src_pitch = pitch[from],
                             .width = width, .height = (size_t)(vector ? p->rows : p->cols),
                             .dst_device = w->device, .src_device = w->device};

    if (pitch[0] == width && pitch[1] == width) {
        copy.width = copy.dst_pitch = copy.src_pitch = width * copy.height;
        copy.height = 1;
    }
    return sc_protocol.ops->copy(w->device, SC_STREAM_COMPUTE, &copy);
}

enum sc_status sc_coherence_own_copy(int device, const struct sc_piece *piece, void *temporary, bool outwards)
{
    struct work w = {.device = device, .count = 1, .pieces = piece, .enqueue = enqueue_copy, .op = SC_OP_COPY,
                     .temporary = temporary, .outwards = outwards};

    sc_assert(piece->operand && temporary && piece->temporary_ld > 0);
    sc_assert(piece->access == (outwards ? SC_READ : SC_WRITE));
    return run(&w);
}

/* Elements of a diagonal are ld + 1 elements apart. */
static enum sc_status enqueue_diagonal(struct work *w)
{
    const struct sc_target *x = &w->targets[0];
    size_t elem = x->m->elem;
    struct sc_copy2d copy = {.dst = w->temporary, .src = on_device(w, 0), .dst_pitch = elem,
                             .src_pitch = (size_t)(x->ld + 1) * elem, .width = elem,
                             .height = (size_t)w->pieces[0].rows, .dst_device = SC_HOST, .src_device = w->device};

    return sc_protocol.ops->copy(w->device, SC_STREAM_COMPUTE, &copy);
}

enum sc_status sc_coherence_diagonal(int device, const struct sc_piece *piece, void *diagonal, struct sc_fence *fence)
{
    struct work w = {.device = device, .count = 1, .pieces = piece, .enqueue = enqueue_diagonal, .op = SC_OP_COPY,
                     .temporary = diagonal};
    enum sc_status status;

    sc_assert(piece->operand && piece->access == SC_READ && piece->rows == piece->cols);
    status = run(&w);
    *fence = w.fence;
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
