#include "blas/run/triangle.h"

void sc_blas_triangle_cuts(const struct sc_operand *a, struct sc_cuts *cuts)
{
    sc_coherence_row_cuts(a, cuts);
    sc_blas_merge_cols(cuts, a);
}

struct sc_piece sc_blas_diagonal(const struct sc_operand *a, const struct sc_cuts *t, int i)
{
    return sc_blas_matrix(a, t->at[i], t->at[i], sc_blas_part(t, i), sc_blas_part(t, i), SC_READ);
}

/* The range of blocks [i, i_end) x [j, j_end) of op(A), as a piece. */
static struct sc_piece triangle_blocks(const struct sc_operand *a, char trans, const struct sc_cuts *t, int i,
                                       int i_end, int j, int j_end)
{
    return sc_blas_op_matrix(a, trans, t->at[i], t->at[j], t->at[i_end] - t->at[i], t->at[j_end] - t->at[j], SC_READ);
}

struct sc_piece sc_blas_triangle_block(const struct sc_operand *a, char trans, const struct sc_cuts *t, int i, int j)
{
    return triangle_blocks(a, trans, t, i, i + 1, j, j + 1);
}

/* Parts [i, end) of the strip along the triangle. */
static struct sc_piece strip_block(const struct sc_blas_strip *s, int i, int end, enum sc_access access)
{
    const struct sc_operand *b = &s->call->operand[1];
    int64_t from = s->along.at[i], length = s->along.at[end] - from;

    if (s->left)
        return sc_blas_matrix(b, from, s->first, length, s->n, access);
    return sc_blas_matrix(b, s->first, from, s->n, length, access);
}

static int strip_device(const struct sc_blas_strip *s, const struct sc_piece *block)
{
    return sc_blas_places_take(&s->places, block->r, block->c, block);
}

static bool is_tile_end(const struct sc_blas_strip *s, int part)
{
    for (int i = 0; i < s->tiles.n; i++)
        if (s->tiles.at[i] == s->along.at[part])
            return true;
    return false;
}

struct sc_blas_range sc_blas_strip_take(const struct sc_blas_strip *s, struct sc_blas_range *left, bool from_above)
{
    struct sc_blas_range taken = {left->end - 1, left->end};

    if (from_above) {
        while (s->joins && taken.from > left->from && !is_tile_end(s, taken.from))
            taken.from--;
        left->end = taken.from;
        return taken;
    }
    taken = (struct sc_blas_range){left->from, left->from + 1};
    while (s->joins && taken.end < left->end && !is_tile_end(s, taken.end))
        taken.end++;
    left->from = taken.end;
    return taken;
}

enum sc_status sc_blas_strip_diagonal(const struct sc_blas_strip *s, int i, bool with_alpha)
{
    struct sc_kernel kernel = *s->call->kernel;
    struct sc_piece x = strip_block(s, i, i + 1, SC_RDWR);

    kernel.m = x.rows;
    kernel.n = x.cols;
    if (!with_alpha) {
        kernel.alpha[0] = 1;
        kernel.alpha[1] = 0;
    }
    return sc_blas_task(strip_device(s, &x), &kernel, sc_blas_diagonal(&s->call->operand[0], &s->along, i), x,
                        sc_blas_none());
}

enum sc_status sc_blas_strip_gemm(const struct sc_blas_strip *s, struct sc_kernel *kernel, int i,
                                  struct sc_blas_range l)
{
    const struct sc_operand *a = &s->call->operand[0];
    struct sc_piece x = strip_block(s, l.from, l.end, SC_READ), y = strip_block(s, i, i + 1, SC_RDWR);
    int device = strip_device(s, &y);
    char trans = s->call->kernel->transa;

    kernel->op = SC_OP_GEMM;
    kernel->type = s->call->kernel->type;
    kernel->transa = kernel->transb = 'N';
    kernel->m = y.rows;
    kernel->n = y.cols;
    kernel->k = s->along.at[l.end] - s->along.at[l.from];
    if (s->left) {
        kernel->transa = trans;
        return sc_blas_task(device, kernel, triangle_blocks(a, trans, &s->along, i, i + 1, l.from, l.end), x,
                            y);
    }
    kernel->transb = trans;
    return sc_blas_task(device, kernel, x, triangle_blocks(a, trans, &s->along, l.from, l.end, i, i + 1), y);
}

/* A whole strip is a block for the strategy, because a part depends on the parts before.  The place of its first
 * part is the strip's place. */
struct strips {
    const struct sc_blas_strip *strip;
    const struct sc_cuts *across;
};

static struct sc_piece output_block(const void *of, int i, int j)
{
    const struct strips *s = of;
    struct sc_blas_strip strip; /* large: not initialised */
    int at = s->strip->left ? j : i;

    strip.call = s->strip->call;
    strip.left = s->strip->left;
    strip.along = s->strip->along;
    strip.first = s->across->at[at];
    strip.n = sc_blas_part(s->across, at);
    return strip_block(&strip, 0, 1, SC_RDWR);
}

/* True when A is needed column by column, as it arrives. */
static bool arrives_by_source(const struct sc_blas_strip *s)
{
    return s->left == (s->call->kernel->transa == 'N');
}

static void set_cuts(struct sc_blas_strip *s, struct sc_cuts *across)
{
    const struct sc_operand *a = &s->call->operand[0], *b = &s->call->operand[1];
    const struct sc_plan *plan = s->call->plan;
    char trans = s->left ? 'N' : 'T';

    sc_blas_triangle_cuts(a, &s->along);
    sc_blas_merge_op_rows(&s->along, b, trans);
    sc_blas_whole(across, s->left ? s->call->kernel->n : s->call->kernel->m);
    sc_blas_merge_op_cols(across, b, trans);
    s->tiles = s->along;
    s->by_source = arrives_by_source(s);
    s->joins = false;
    if (sc_blas_missing(s->call) >= plan->arriving.bytes) {
        sc_blas_arriving(&s->along, a, plan->arriving.triangle);
        if (s->left)
            sc_blas_behind(s->call, across, b, s->by_source == (s->call->kernel->op == SC_OP_TRSM) ? -1 : 1);
    } else {
        s->joins = sc_blas_cuts_result(s->call);
    }
    if (s->left)
        sc_blas_divide(s->call, across, 1, b);
}

/* Cuts columns of B, and, from the right, columns of A with them.  Each column block then has a diagonal block and
 * the blocks before the diagonal, and is finished before the next begins. */
static void cut_result(struct sc_blas_strip *s, const struct sc_blas_blocks *blocks, struct sc_cuts *across)
{
    struct sc_plan_cut cut = {.sum = blocks->products, .tasks = s->left ? s->along.n * (s->along.n + 1) / 2 : 2};

    if (!s->joins)
        return;
    sc_blas_cut_result(s->call, blocks, &s->places, cut, s->left ? across : &s->along);
    s->by_source = s->left && s->by_source;
}

/* The device of every block of the strip; -1: there are several. */
static int device_of_strip(const struct sc_blas_strip *s)
{
    int device = -1;

    for (int i = 0; i < s->along.n; i++) {
        struct sc_piece block = strip_block(s, i, i + 1, SC_RDWR);
        int at = strip_device(s, &block);

        if (i && at != device)
            return -1;
        device = at;
    }
    return device;
}

/* --- the order of the strips -------------------------------------------------------------------------------------- */

static void set_strip(struct sc_blas_strip *s, const struct sc_cuts *across, int j)
{
    s->first = across->at[j];
    s->n = sc_blas_part(across, j);
}

/* The first strips of the devices bring A there.  Returns their number; 0: devices take strips when these are visited.
 * *has_a: devices with a strip. */
static int find_leaders(struct sc_blas_strip *s, const struct sc_cuts *across, int leader[SC_DEVICES_MAX],
                        uint32_t *has_a)
{
    int count = 0;

    for (int j = 0; j < across->n && !s->places.steal; j++) {
        set_strip(s, across, j);
        if (sc_blas_first_on(device_of_strip(s), has_a))
            leader[count++] = j;
    }
    return count;
}

/* Requests the first strip of B of each device but the device of strip 0.  A comes over all links, in the order of that
 * device's tasks.  Behind A, the strips of the other devices would come late. */
static void request_strips(struct sc_blas_strip *s, const struct sc_cuts *across, const int *leader, int leaders)
{
    for (int l = 0; l < leaders; l++) {
        if (leader[l] == 0)
            continue;
        set_strip(s, across, leader[l]);
        for (int i = 0; i < s->along.n; i++) {
            struct sc_piece block = strip_block(s, i, i + 1, SC_READ);

            sc_coherence_prefetch(device_of_strip(s), &block); /* a failure shows in the tasks */
        }
    }
}

/* Block by block on all devices in turn: a part of A goes on to all devices before the next part.  With one device
 * after the other, the parts for the second would queue behind all parts for the first. */
static enum sc_status visit_leaders(struct sc_blas_strip *s, const struct sc_cuts *across, const int *leader,
                                    int leaders, sc_blas_visit *visit)
{
    enum sc_status status = SC_OK;

    for (int step = 0; step < s->along.n; step++)
        for (int l = 0; l < leaders && status == SC_OK; l++) {
            set_strip(s, across, leader[l]);
            status = visit(s, step);
        }
    return status;
}

/* On a device that has A, B arrives behind A, so few large tasks wait no longer than many small tasks.  A queue of a
 * GPU is full after about a thousand operations, and the call would wait. */
static enum sc_status visit_later(struct sc_blas_strip *s, uint32_t *has_a, sc_blas_visit *visit)
{
    enum sc_status status = SC_OK;
    int device = device_of_strip(s);

    if (device >= 0 && !sc_blas_first_on(device, has_a)) {
        s->joins = true;
        s->by_source = false;
    }
    for (int step = 0; step < s->along.n && status == SC_OK; step++)
        status = visit(s, step);
    return status;
}

/* Finished columns go home while the call waits: the queue may be full. */
static void send_home(const struct sc_blas_strip *s)
{
    if (s->left)
        sc_coherence_send_home(&s->call->operand[1]);
}

enum sc_status sc_blas_strips(struct sc_blas_job *call, sc_blas_visit *visit)
{
    enum sc_status status;
    struct sc_blas_strip s; /* large: not initialised */
    struct sc_cuts across, whole;
    struct strips strips = {&s, &across};
    struct sc_blas_blocks blocks;
    int leader[SC_DEVICES_MAX], leaders;
    uint32_t has_a = 0;
    bool by_source, joins;
    int64_t order;

    s.call = call;
    s.left = call->kernel->side == 'L';
    order = s.left ? call->kernel->m : call->kernel->n;
    sc_coherence_triangle(&call->operand[0], call->kernel->uplo);
    set_cuts(&s, &across);
    sc_blas_whole(&whole, order);
    blocks = (struct sc_blas_blocks){.of = &strips, .type = call->kernel->type, .rows = s.left ? &whole : &across,
                                     .cols = s.left ? &across : &whole, .products = order / 2, .block = output_block,
                                     .several = true};
    sc_blas_place(call, &blocks, &s.places);
    cut_result(&s, &blocks, &across);
    by_source = s.by_source;
    joins = s.joins;
    leaders = find_leaders(&s, &across, leader, &has_a);
    if (!joins && s.left && sc_coherence_devices() > 1)
        request_strips(&s, &across, leader, leaders);
    status = visit_leaders(&s, &across, leader, leaders, visit);
    for (int j = 0, l = 0; j < across.n && status == SC_OK; j++) {
        if (l < leaders && j == leader[l]) {
            l++;
            continue;
        }
        send_home(&s);
        set_strip(&s, &across, j);
        s.by_source = by_source;
        s.joins = joins;
        status = visit_later(&s, &has_a, visit);
    }
    if (status == SC_OK)
        send_home(&s);
    sc_blas_places_free(&s.places);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
