/* Kernels on pieces: acquire, launch, release; and the fallback when a device fails. */
#include "coherence/protocol.h"

#define PIECES 3

/* --- acquire and release ------------------------------------------------------------------------------------------ */

/* Runs of sectors that a task closes at most, when its pieces are shared and when written. */
#define RUNS_MAX ((size_t)PIECES * SC_SECTORS)

/* No pages have to be closed on the host for the access, or they can be (else a write there would go unnoticed). */
static bool can_close(const struct sc_copy *c, const struct sc_target *x, uint64_t need, enum sc_access access)
{
    uint64_t closed = (need & ~c->valid) | (access & SC_WRITE ? x->t->host_valid & x->sectors : 0);

    return !closed || sc_host_can_close(RUNS_MAX);
}

/* Sectors whose contents the kernel reads or leaves. */
static uint64_t needed(const struct sc_piece *p, const struct sc_target *x)
{
    return p->access == SC_WRITE ? x->sectors & ~x->full : x->sectors;
}

/* Brings `missing` sectors.  Of a triangle's sectors on the host only the rows of the triangle come. */
static enum sc_status bring_missing(int device, const struct sc_piece *p, const struct sc_target *x, uint64_t missing)
{
    uint64_t few = 0;
    enum sc_status status = SC_OK;

    if (p->operand && p->operand->triangle.uplo && sc_protocol_may_be_partial(x->t, device))
        few = missing & x->t->host_valid;
    while (few && status == SC_OK) {
        int s = __builtin_ctzll(few), e = s + 1;
        struct sc_rows rows = sc_piece_share(p, x, s);

        while (e < x->t->sectors && few >> e & 1 && sc_rows_equal(sc_piece_share(p, x, e), rows))
            e++;
        few &= ~sc_sectors_range(s, e);
        if (!sc_rows_equal(rows, sc_tile_rows(x->t)))
            status = sc_transfer_rows(device, x->m, x->t, s, e, rows, (struct sc_rows){0, 0});
    }
    return status == SC_OK ? sc_transfer_to_device(device, x->m, x->t, missing) : status;
}

/* Partial sectors without rows that the task may touch (C11). */
static uint64_t lacking_rows(const struct sc_copy *c, const struct sc_piece *p, const struct sc_target *x,
                             uint64_t sectors)
{
    uint64_t lacking = 0;

    for (uint64_t rest = sectors & c->partial; rest; rest &= rest - 1)
        if (!sc_rows_have(c->rows[__builtin_ctzll(rest)], sc_piece_rows(p, x, __builtin_ctzll(rest))))
            lacking |= rest & -rest;
    return lacking;
}

/* Brings the parts of sectors that the task may touch. */
static enum sc_status bring(int device, const struct sc_piece *p, const struct sc_target *x, uint64_t need)
{
    const struct sc_copy *c = &x->t->copy[device];
    enum sc_status status = need & ~c->valid ? bring_missing(device, p, x, need & ~c->valid) : SC_OK;
    uint64_t lacking = status == SC_OK ? lacking_rows(c, p, x, need) : 0;

    return lacking ? sc_transfer_rest(device, x->m, x->t, lacking) : status;
}

/* A leased copy moves to other memory. */
static enum sc_status part(int device, struct sc_matrix *m, struct sc_tile *t)
{
    struct sc_lru *place = &t->copy[device].lru;
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    place->pins++;
    do
        status = sc_memory_part(device, m, t);
    while (status == SC_ERR_DEVICE_MEMORY && sc_memory_evict(device) == SC_OK);
    place->pins--;
    return status;
}

enum sc_status sc_task_acquire(int device, const struct sc_piece *p, const struct sc_target *x)
{
    struct sc_copy *c = &x->t->copy[device];
    uint64_t need = needed(p, x);
    enum sc_status status = can_close(c, x, need, p->access) ? sc_memory_ensure(device, x->m, x->t) : SC_ERR_MEMORY;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_sectors(x->t, x->sectors);
    if (status == SC_OK && c->lease && (p->access & SC_WRITE || need & (~c->valid | c->partial)))
        status = part(device, x->m, x->t);
    if (status != SC_OK)
        return status;
    sc_count(need & ~c->valid ? &sc_stats.misses : &sc_stats.hits, 1);
    status = bring(device, p, x, need);
    for (uint64_t rest = c->pending & x->sectors; rest && status == SC_OK; rest &= rest - 1)
        status = sc_order(device, SC_STREAM_COMPUTE, c->ready[__builtin_ctzll(rest)]);
    if (status != SC_OK)
        return status;
    c->pending &= ~x->sectors;
    c->push.read |= p->access & SC_READ ? need & ~c->push.own : 0;
    if (p->access & SC_WRITE)
        for (int i = 0; i < SC_DEVICES_MAX && status == SC_OK; i++)
            status = sc_order(device, SC_STREAM_COMPUTE, c->reader[i]);
    if (p->access & SC_WRITE && status == SC_OK)
        status = sc_order_sent(device, SC_STREAM_COMPUTE, c, x->sectors);
    sc_assert(status != SC_OK || (c->memory && !(need & ~c->valid) && !(c->pending & x->sectors)));
    return status;
}

void sc_task_trace(int device, const struct sc_piece *p, const struct sc_target *x, uint64_t parts)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_trace(.kind = SC_EVENT_USE, .matrix = x->m->id, .tile = sc_matrix_tile_index(x->m, x->t),
             .use = {.needed = needed(p, x) & ~parts, .parts = parts, .sectors = x->sectors},
             .device = (int16_t)device, .access = (uint8_t)p->access);
}

void sc_task_release(int device, const struct sc_piece *p, const struct sc_target *x, struct sc_fence f)
{
    struct sc_copy *c = &x->t->copy[device];

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert(c->memory);
    sc_assert(!(needed(p, x) & ~c->valid) || !(p->access & SC_WRITE));
    c->last_used = f;
    for (uint64_t rest = x->sectors; rest; rest &= rest - 1)
        c->used[__builtin_ctzll(rest)] = f;
    if (!(p->access & SC_WRITE))
        return;
    for (uint64_t rest = x->sectors; rest; rest &= rest - 1)
        c->ready[__builtin_ctzll(rest)] = f;
    sc_protocol_written(x->m, x->t, device, x->sectors);
    if (p->access == SC_WRITE)
        sc_protocol_completed(x->t, device, x->full);
}

/* For comparison (SC_WITHOUT_REUSE): drops inputs of a launched task with a copy elsewhere. */
static void drop_inputs(int device, const struct sc_piece pieces[PIECES], const struct sc_target targets[PIECES])
{
    for (int i = 0; i < PIECES; i++) {
        const struct sc_target *x = &targets[i];
        uint64_t elsewhere;

        if (!pieces[i].operand || pieces[i].access != SC_READ)
            continue;
        elsewhere = x->t->host_valid;
        for (int d = 0; d < sc_protocol.devices; d++)
            elsewhere |= d != device ? x->t->copy[d].valid : 0;
        sc_protocol_dropped(x->m, x->t, device, x->sectors & elsewhere & x->t->copy[device].valid);
    }
}

static void set_slot(struct sc_kernel *k, int slot, void *memory, int64_t ld)
{
    *(slot == 0 ? &k->a : slot == 1 ? &k->b : &k->c) = memory;
    *(slot == 0 ? &k->lda : slot == 1 ? &k->ldb : &k->ldc) = ld;
}

/* --- on the host instead ------------------------------------------------------------------------------------------ */

/* Results of reductions on the host; as many slots as a device's ring. */
static void *host_slot(void)
{
    static _Alignas(16) char slots[SC_RESULT_SLOTS][16];
    static unsigned next;

    return slots[next++ % SC_RESULT_SLOTS];
}

/* The piece as a view of host memory. */
static struct sc_view host_view(const struct sc_piece *p, const struct sc_target *x)
{
    bool vector = p->operand->view.vector;

    return (struct sc_view){.ptr = (const void *)x->host, .type = p->operand->view.type, .vector = vector,
                            .rows = p->rows, .cols = p->cols, .ld = x->host_ld, .access = p->access};
}

/* A matrix walked as one long vector (sc_coherence_as_matrix): contiguous on a device. */
static bool is_flattened(const struct sc_kernel *k, const struct sc_piece *p)
{
    return sc_op_level(k->op) == 1 && p->operand && !p->operand->view.vector;
}

/* On the host a flattened piece of several columns is contiguous only with all rows.  Otherwise the kernel runs
 * column by column.  A reduction would need its partial results combined: SC_ERR_DEVICE, and the caller runs the
 * whole call on the host. */
static enum sc_status kernel_on_host(const struct sc_kernel *kernel, const struct sc_piece pieces[PIECES],
                                     const struct sc_target targets[PIECES])
{
    struct sc_kernel k = *kernel;
    int64_t cols = 1, rows = k.n;
    enum sc_status status = SC_OK;

    for (int i = 0; i < PIECES; i++)
        if (is_flattened(&k, &pieces[i]) && pieces[i].cols > 1 && pieces[i].rows != targets[i].host_ld) {
            cols = pieces[i].cols;
            rows = pieces[i].rows;
        }
    if (cols > 1 && sc_op_is_reduction(k.op))
        return SC_ERR_DEVICE;
    for (int64_t j = 0; j < cols && status == SC_OK; j++) {
        for (int i = 0; i < PIECES; i++)
            if (is_flattened(&k, &pieces[i]))
                set_slot(&k, i, (char *)targets[i].host + (size_t)(j * targets[i].host_ld) * targets[i].m->elem, 1);
        k.n = rows;
        status = sc_device_kernel_host(sc_protocol.host->blas_symbol, &k);
    }
    return status;
}

/* Drops the lock: the kernel touches user memory (C6) and faults like the program where another thread has closed a
 * page.  The call's matrices stay in place (users > 0). */
static enum sc_status on_host(struct sc_kernel *kernel, const struct sc_piece pieces[PIECES],
                              const struct sc_target targets[PIECES], void **result)
{
    struct sc_kernel k = *kernel;
    enum sc_status status;

    for (int i = 0; i < PIECES; i++) {
        if (!pieces[i].operand && pieces[i].temporary)
            return SC_ERR_DEVICE;
        if (pieces[i].operand)
            set_slot(&k, i, (void *)targets[i].host, targets[i].host_ld);
    }
    if (sc_op_is_reduction(k.op))
        k.result = *result = host_slot();
    sc_protocol_unlock();
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].operand) {
            struct sc_view v = host_view(&pieces[i], &targets[i]);

            v.access |= SC_READ; /* faults open whole pages anyway */
            sc_coherence_acquire_view(&v);
        }
    sc_inside_enter();
    status = kernel_on_host(&k, pieces, targets);
    sc_inside_leave();
    sc_protocol_lock();
    return status;
}

enum sc_status sc_coherence_host_task(const struct sc_kernel *kernel, const struct sc_view *views, int count)
{
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_protocol_unlock();
    for (int i = 0; i < count; i++)
        sc_coherence_acquire_view(&views[i]);
    status = sc_coherence_kernel_on_host(kernel);
    sc_protocol_lock();
    return status;
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

static enum sc_status launch(int device, struct sc_kernel *kernel, const struct sc_piece pieces[PIECES],
                             const struct sc_target targets[PIECES], struct sc_fence *f, void **result)
{
    enum sc_status status = SC_OK;

    for (int i = 0; i < PIECES && status == SC_OK; i++)
        if (pieces[i].operand)
            status = sc_task_acquire(device, &pieces[i], &targets[i]);
    if (status != SC_OK)
        return status;
    for (int i = 0; i < PIECES; i++) {
        const struct sc_target *x = &targets[i];

        if (pieces[i].operand)
            set_slot(kernel, i, (char *)x->t->copy[device].memory + x->offset * (int64_t)x->m->elem,
                     is_flattened(kernel, &pieces[i]) ? 1 : x->ld);
        else if (pieces[i].temporary)
            set_slot(kernel, i, pieces[i].temporary, pieces[i].temporary_ld);
    }
    if (sc_op_is_reduction(kernel->op)) {
        kernel->result = sc_protocol.ops->result_slot(device);
        if (!kernel->result)
            return SC_ERR_DEVICE;
        *result = kernel->result;
    }
    status = sc_protocol.ops->launch(device, SC_STREAM_COMPUTE, kernel);
    if (status != SC_OK)
        return status;
    status = sc_mark(device, SC_STREAM_COMPUTE, f);
    if (status != SC_OK) /* the kernel runs, and must not run again on its own result */
        sc_device_lost(device, "a kernel cannot be waited for");
    return status;
}

static int working_device(int device)
{
    for (int i = 0; i < sc_protocol.devices; i++)
        if (!sc_protocol.failed[(device + i) % sc_protocol.devices])
            return (device + i) % sc_protocol.devices;
    return SC_HOST;
}

static void pin(int device, const struct sc_piece pieces[PIECES], struct sc_target targets[PIECES], int by)
{
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].operand)
            targets[i].t->copy[device].lru.pins += (uint32_t)by;
}

static enum sc_status on_device(int device, struct sc_kernel *kernel, const struct sc_piece pieces[PIECES],
                                struct sc_target targets[PIECES], struct sc_fence *fence, void **result)
{
    enum sc_status status;

    pin(device, pieces, targets, 1);
    status = launch(device, kernel, pieces, targets, fence, result);
    for (int i = 0; i < PIECES && status == SC_OK; i++)
        if (pieces[i].operand)
            sc_task_trace(device, &pieces[i], &targets[i], 0);
    for (int i = 0; i < PIECES && status == SC_OK; i++)
        if (pieces[i].operand)
            sc_task_release(device, &pieces[i], &targets[i], *fence);
    if (status == SC_OK && sc_config.without & SC_WITHOUT_REUSE)
        drop_inputs(device, pieces, targets);
    pin(device, pieces, targets, -1);
    if (status == SC_OK)
        sc_trace(.kind = SC_EVENT_KERNEL, .device = (int16_t)device, .op = (uint8_t)kernel->op,
                 .type = (uint8_t)kernel->type, .kernel = {kernel->m, kernel->n, kernel->k});
    else if (status == SC_ERR_DEVICE)
        sc_device_gave_up(device, "running a kernel");
    return status;
}

enum sc_status sc_coherence_device_task(int device, struct sc_kernel *kernel, const struct sc_piece pieces[PIECES],
                                        struct sc_fence *fence, void **result)
{
    struct sc_target targets[PIECES];

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    if (sc_protocol.failed[device])
        return SC_ERR_DEVICE;
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].operand)
            sc_piece_target(&pieces[i], &targets[i]);
    return on_device(device, kernel, pieces, targets, fence, result);
}

enum sc_status sc_coherence_task(int device, struct sc_kernel *kernel, const struct sc_piece pieces[PIECES],
                                 struct sc_fence *fence, void **result)
{
    struct sc_target targets[PIECES];
    struct sc_fence f = SC_FENCE_NONE;
    enum sc_status status = SC_ERR_DEVICE;
    bool temporaries = false;
    void *slot = NULL;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    for (int i = 0; i < PIECES; i++) {
        if (pieces[i].operand)
            sc_piece_target(&pieces[i], &targets[i]);
        else
            temporaries |= pieces[i].temporary != NULL;
    }
    if (!temporaries)
        device = working_device(device);
    if (device != SC_HOST)
        status = on_device(device, kernel, pieces, targets, &f, &slot);
    if (status != SC_OK && sc_op_is_lapack(kernel->op)) /* the caller has a better routine for the host */
        return status;
    if (status != SC_OK) {
        if (status == SC_ERR_DEVICE_MEMORY)
            sc_log_once(SC_LOG_WARN, "a task does not fit into device %d: it runs on the host", device);
        f = SC_FENCE_NONE;
        status = on_host(kernel, pieces, targets, &slot);
    }
    if (fence)
        *fence = f;
    if (result)
        *result = slot;
    return status;
}

/* Brings the sectors of a piece, or the part of them that `bring` selects. */
static enum sc_status fetch(int device, const struct sc_piece *piece, char uplo,
                            enum sc_status (*bring)(int device, const struct sc_piece *piece, char uplo,
                                                    const struct sc_target *x))
{
    struct sc_target x;
    enum sc_status status;

    sc_assert_device(device);
    if (sc_protocol.failed[device])
        return SC_ERR_DEVICE;
    sc_piece_target(piece, &x);
    x.t->copy[device].lru.pins++;
    status = SC_ERR_MEMORY;
    if (can_close(&x.t->copy[device], &x, x.sectors, SC_READ))
        status = sc_memory_ensure(device, x.m, x.t);
    if (status == SC_OK)
        status = bring(device, piece, uplo, &x);
    x.t->copy[device].lru.pins--;
    return status;
}

static enum sc_status bring_all(int device, const struct sc_piece *piece, char uplo, const struct sc_target *x)
{
    (void)uplo;
    return bring(device, piece, x, x->sectors);
}

enum sc_status sc_coherence_prefetch(int device, const struct sc_piece *piece)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    return fetch(device, piece, 0, bring_all);
}

/* Rows of the lattice that the triangle, or the piece, covers in every column of a sector.  False: no row.  Also false
 * for a triangle with all rows of `share`: nothing else is to come. */
static bool claimed_rows(const struct sc_piece *p, char uplo, const struct sc_target *x, int s, struct sc_rows share,
                         struct sc_rows *claimed)
{
    const struct sc_operand *o = p->operand;
    int64_t first = sc_tile_sector_col(x->m, x->t, s) - o->col, end = sc_tile_sector_end(x->m, x->t, s + 1) - o->col;
    int64_t top = p->r, bottom = p->r + p->rows;

    if (first < p->c || end > p->c + p->cols)
        return false;
    if (uplo == 'L')
        top = top > end - 1 ? top : end - 1;
    else if (uplo == 'U')
        bottom = bottom < first + 1 ? bottom : first + 1;
    *claimed = (struct sc_rows){top + o->row, bottom + o->row};
    return top < bottom && (uplo == 'A' || !sc_rows_equal(*claimed, share));
}

/* One past the last of the missing sectors from s on of which nothing is to come: their pages close together. */
static int end_of_claimed(const struct sc_piece *p, const struct sc_target *x, int s, uint64_t missing)
{
    struct sc_rows all = sc_tile_rows(x->t), claimed;
    int e = s;

    while (e < x->t->sectors && missing >> e & 1 && claimed_rows(p, 'A', x, e, all, &claimed) &&
           sc_rows_equal(claimed, all))
        e++;
    return e;
}

static enum sc_status bring_rest(int device, const struct sc_piece *p, char uplo, const struct sc_target *x)
{
    bool partial = p->operand->triangle.uplo && sc_protocol_may_be_partial(x->t, device);
    enum sc_status status = SC_OK;
    struct sc_rows claimed;

    for (uint64_t rest = x->sectors & ~x->t->copy[device].valid; rest && status == SC_OK;) {
        int s = __builtin_ctzll(rest), e = uplo == 'A' && !partial ? end_of_claimed(p, x, s, rest) : s;
        struct sc_rows share = partial && x->t->host_valid >> s & 1 ? sc_piece_share(p, x, s) : sc_tile_rows(x->t);

        if (e > s)
            status = sc_transfer_rows(device, x->m, x->t, s, e, share, share);
        else if (claimed_rows(p, uplo, x, s, share, &claimed))
            status = sc_transfer_rows(device, x->m, x->t, s, s + 1, share, claimed);
        rest &= ~sc_sectors_range(s, e > s ? e : s + 1);
    }
    return status;
}

enum sc_status sc_coherence_claim(int device, const struct sc_piece *piece, char uplo)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    return piece->operand->linear || piece->operand->view.vector ? SC_OK : fetch(device, piece, uplo, bring_rest);
}

void sc_coherence_keep_triangle(int device, const struct sc_piece *piece)
{
    struct sc_target x;
    uint64_t both;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    if (!piece->operand->triangle.uplo)
        return;
    sc_piece_target(piece, &x);
    if (!sc_protocol_may_be_partial(x.t, device))
        return;
    both = x.sectors & x.t->host_valid & x.t->copy[device].valid & ~x.t->copy[device].partial;
    for (; both; both &= both - 1)
        sc_protocol_partial(x.t, device, both & -both, sc_piece_share(piece, &x, __builtin_ctzll(both)));
}

/* --- temporaries -------------------------------------------------------------------------------------------------- */

enum sc_status sc_coherence_temporary(int device, size_t bytes, void **memory)
{
    struct sc_fence ready;
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    *memory = NULL;
    if (sc_protocol.failed[device])
        return SC_ERR_DEVICE;
    status = sc_memory_alloc(device, bytes, 0, memory, &ready);
    if (status == SC_OK && (status = sc_order(device, SC_STREAM_COMPUTE, ready)) != SC_OK)
        sc_protocol.ops->free(device, *memory, &ready, 1);
    if (status != SC_OK)
        *memory = NULL;
    return status;
}

void sc_coherence_temporary_free(int device, void *memory)
{
    struct sc_fence f;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    if (sc_mark(device, SC_STREAM_COMPUTE, &f) == SC_OK)
        sc_protocol.ops->free(device, memory, &f, 1);
    else /* it may be in use: nobody gets it any more */
        sc_device_gave_up(device, "ordering its work");
}

enum sc_status sc_coherence_temporary_send(int to, void *dst, int from, const void *src, size_t bytes,
                                           struct sc_fence *sent)
{
    struct sc_copy2d copy = {.dst = dst, .src = src, .dst_pitch = bytes, .src_pitch = bytes, .width = bytes,
                             .height = 1, .dst_device = to, .src_device = from};
    const struct sc_device_ops *ops = sc_protocol.ops;
    enum sc_stream peer = sc_stream_peer(from);
    struct sc_fence written, free_at;
    enum sc_status status;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(to);
    sc_assert_device(from);
    sc_assert(dst && src && bytes > 0);
    *sent = SC_FENCE_NONE;
    if (to == from)
        return ops->copy(to, SC_STREAM_COMPUTE, &copy);
    if ((status = sc_mark(from, SC_STREAM_COMPUTE, &written)) != SC_OK ||
        (status = sc_mark(to, SC_STREAM_COMPUTE, &free_at)) != SC_OK ||
        (status = sc_order(to, peer, written)) != SC_OK || (status = sc_order(to, peer, free_at)) != SC_OK ||
        (status = ops->copy(to, peer, &copy)) != SC_OK || (status = sc_mark(to, peer, sent)) != SC_OK)
        return status;
    sc_count(&sc_stats.bytes[SC_D2D], bytes);
    sc_count(&sc_stats.transfers[SC_D2D], 1);
    return SC_OK;
}

enum sc_status sc_coherence_temporary_wait(int device, struct sc_fence sent)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    return sc_order(device, SC_STREAM_COMPUTE, sent);
}

enum sc_status sc_coherence_temporary_copy(int to, void *dst, int from, const void *src, size_t bytes)
{
    struct sc_fence sent;
    enum sc_status status = sc_coherence_temporary_send(to, dst, from, src, bytes, &sent);

    sc_assert_held(SC_RANK_PROTOCOL);
    if (status == SC_OK)
        status = sc_coherence_temporary_wait(to, sent);
    return status == SC_OK ? sc_coherence_temporary_wait(from, sent) : status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
