/* Kernels that read a derived copy: as tasks (task.c), except that parts of sectors of x are enough. */
#include "coherence/protocol.h"

/* A part of a sector is copied on its own unless the part is most of the sector. */
static bool is_most(int64_t part, int64_t whole)
{
    return part >= whole - whole / 5;
}

/* The elements of sector s that the piece [a, b) of a contiguous lattice meets. */
static void clip(const struct sc_target *x, int s, int64_t a, int64_t b, int64_t *lo, int64_t *hi, int64_t *length)
{
    int64_t from = sc_tile_sector_col(x->m, x->t, s) * x->m->rows, to = sc_tile_sector_end(x->m, x->t,
                                                                                           s + 1) * x->m->rows;

    *length = to - from;
    *lo = a > from ? a : from;
    *hi = b < to ? b : to;
}

/* As sc_task_acquire for reading.  Of sectors that only other devices have, and that the piece meets in part, only
 * the part is copied.  The remaining sectors of the piece become valid. */
static enum sc_status acquire_exactly(int device, const struct sc_piece *p, const struct sc_target *x,
                                      struct sc_moves *moves)
{
    const struct sc_operand *o = p->operand;
    struct sc_copy *c = &x->t->copy[device];
    uint64_t parts = 0, rest;
    struct sc_target whole = *x;
    enum sc_status status = SC_OK;
    int64_t a = o->first + p->r + p->c, b = a + p->rows * p->cols; /* ld = 1: a vector, or a matrix with a single row */
    int64_t lo, hi, length;

    if (o->linear && o->view.ld == 1)
        for (rest = x->sectors & ~c->valid; rest; rest &= rest - 1) {
            int s = __builtin_ctzll(rest);

            clip(x, s, a, b, &lo, &hi, &length);
            if (!is_most(hi - lo, length) && sc_transfer_source(device, x->m, x->t, s) != SC_HOST)
                parts |= UINT64_C(1) << s;
        }
    whole.sectors &= ~parts;
    if (parts)
        status = sc_memory_ensure(device, x->m, x->t);
    for (rest = parts; rest && status == SC_OK; rest &= rest - 1) {
        int s = __builtin_ctzll(rest);

        clip(x, s, a, b, &lo, &hi, &length);
        status = sc_transfer_part(device, x->m, x->t, s, lo, hi, moves);
    }
    return status == SC_OK ? sc_task_acquire(device, p, &whole) : status;
}

/* The compute stream waits for the copied parts. */
static enum sc_status await_parts(int device, const struct sc_target *x)
{
    struct sc_copy *c = &x->t->copy[device];
    uint64_t parts = x->sectors & ~c->valid;
    enum sc_status status = SC_OK;

    for (uint64_t rest = parts; rest && status == SC_OK; rest &= rest - 1)
        status = sc_order(device, SC_STREAM_COMPUTE, c->ready[__builtin_ctzll(rest)]);
    c->pending &= ~parts;
    return status;
}

#define PARTS_MAX 256

struct work {
    struct sc_derived *form;
    struct sc_kernel *kernel;
    const struct sc_piece *x, *y;
    int parts;
    struct sc_target from[PARTS_MAX], to;
};

static bool is_operand(const struct sc_piece *p)
{
    return p->operand != NULL;
}

/* Pinned: eviction for one operand of the task spares the task's other operands. */
static void pin(struct work *w, int by)
{
    int device = w->form->device;

    w->form->lru.pins += (uint32_t)by;
    for (int i = 0; i < w->parts && is_operand(w->x); i++)
        w->from[i].t->copy[device].lru.pins += (uint32_t)by;
    if (is_operand(w->y))
        w->to.t->copy[device].lru.pins += (uint32_t)by;
}

static char *on_device(int device, const struct sc_target *x)
{
    return (char *)x->t->copy[device].memory + x->offset * (int64_t)x->m->elem;
}

/* A column of a matrix in the place of a vector has increment 1. */
static int64_t step_of(const struct sc_kernel *k, const struct sc_piece *p, const struct sc_target *x)
{
    bool of_vectors = k->op == SC_OP_CSRMV || k->op == SC_OP_CSRSV;

    return of_vectors && !p->operand->view.vector ? 1 : x->ld;
}

/* Sets addresses and leading dimensions.  The address of x is the address of the operand's element 0, valid there or
 * not. */
static void set_slots(struct work *w)
{
    struct sc_kernel *k = w->kernel;
    int device = w->form->device;

    k->b = w->x->temporary;
    k->ldb = w->x->temporary_ld;
    k->c = w->y->temporary;
    k->ldc = w->y->temporary_ld;
    if (is_operand(w->x)) {
        k->ldb = step_of(k, w->x, &w->from[0]);
        k->b = on_device(device, &w->from[0]) -
               (w->x->r * (w->x->operand->view.vector ? k->ldb : 1) + w->x->c * k->ldb) * (int64_t)w->from[0].m->elem;
    }
    if (is_operand(w->y)) {
        k->c = on_device(device, &w->to);
        k->ldc = step_of(k, w->y, &w->to);
    }
}

/* Moves of all parts of x from other devices are issued together. */
static enum sc_status acquire_input(struct work *w)
{
    int device = w->form->device;
    enum sc_status status = SC_OK, issued;
    struct sc_moves moves; /* large */

    if (!is_operand(w->x))
        return SC_OK;
    moves.count = 0;
    for (int i = 0; i < w->parts && status == SC_OK; i++)
        status = acquire_exactly(device, &w->x[i], &w->from[i], &moves);
    issued = sc_moves_issue(&moves);
    status = status == SC_OK ? issued : status;
    for (int i = 0; i < w->parts && status == SC_OK; i++)
        status = await_parts(device, &w->from[i]);
    return status;
}

static enum sc_status launch(struct work *w, struct sc_fence *f)
{
    const struct sc_device_ops *ops = sc_protocol.ops;
    int device = w->form->device;
    enum sc_status status = sc_order(device, SC_STREAM_COMPUTE, w->form->ready);

    if (status == SC_OK)
        status = acquire_input(w);
    if (is_operand(w->y) && status == SC_OK)
        status = sc_task_acquire(device, w->y, &w->to);
    if (status != SC_OK)
        return status;
    set_slots(w);
    w->kernel->csr.plan = &w->form->plan;
    do /* the device may need memory of its own for the analysis */
        status = ops->launch(device, SC_STREAM_COMPUTE, w->kernel);
    while (status == SC_ERR_DEVICE_MEMORY && sc_memory_evict(device) == SC_OK);
    if (status != SC_OK)
        return status;
    status = sc_mark(device, SC_STREAM_COMPUTE, f);
    if (status != SC_OK) /* as in task.c */
        sc_device_lost(device, "a kernel cannot be waited for");
    return status;
}

static void release(struct work *w, struct sc_fence f)
{
    w->form->used = f;
    sc_derived_touch(w->form);
    for (int i = 0; i < w->parts && is_operand(w->x); i++)
        sc_task_trace(w->form->device, &w->x[i], &w->from[i],
                      w->from[i].sectors & ~w->from[i].t->copy[w->form->device].valid);
    if (is_operand(w->y))
        sc_task_trace(w->form->device, w->y, &w->to, 0);
    for (int i = 0; i < w->parts && is_operand(w->x); i++)
        sc_task_release(w->form->device, &w->x[i], &w->from[i], f);
    if (is_operand(w->y))
        sc_task_release(w->form->device, w->y, &w->to, f);
}

enum sc_status sc_coherence_derived_task(struct sc_derived *form, struct sc_kernel *kernel, const struct sc_piece *x,
                                         int parts,
                                         const struct sc_piece *y)
{
    struct work w; /* large */
    struct sc_fence f;
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!form->memory)
        return SC_ERR_DEVICE_MEMORY;
    if (sc_protocol.failed[form->device])
        return SC_ERR_DEVICE;
    if (parts < 1 || parts > PARTS_MAX)
        return SC_ERR_INVALID;
    sc_assert_device(form->device);
    w.form = form;
    w.kernel = kernel;
    w.x = x;
    w.y = y;
    w.parts = parts;
    for (int i = 0; i < parts && is_operand(x); i++)
        sc_piece_target(&x[i], &w.from[i]);
    if (is_operand(y))
        sc_piece_target(y, &w.to);
    pin(&w, 1);
    status = launch(&w, &f);
    if (status == SC_OK)
        release(&w, f);
    pin(&w, -1);
    if (status == SC_OK)
        sc_trace(.kind = SC_EVENT_KERNEL, .device = (int16_t)form->device, .op = (uint8_t)kernel->op,
                 .type = (uint8_t)kernel->type, .kernel = {kernel->m, kernel->n, kernel->k});
    else if (status == SC_ERR_DEVICE)
        sc_device_gave_up(form->device, "running a sparse kernel");
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
