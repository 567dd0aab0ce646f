/* symm, hemm: C := alpha A B + beta C or alpha B A + beta C.  Diagonal blocks of A are symm tasks.  Other blocks are
 * gemm tasks with the stored block or its transpose.  The other triangle is never touched. */
#include "blas/run/tasks.h"

struct symmetric {
    struct sc_blas_job *call;
    struct sc_cuts t, across; /* cuts along A, and of the other dimension of C */
    struct sc_cuts tiles;     /* the cuts in t that no task crosses */
    struct sc_blas_places places;
    bool left, cleared; /* cleared: C is zero on the devices already; only with beta 0 */
    bool joins;         /* the operands are resident: adjacent parts along A may be one task */
    bool by_source;     /* the first part of `across` on a device is computed part by part of A, as A arrives */
};

struct leader {
    int part, device;
};

/* Parts [along, end) of the rows (left) or columns of B or C, in part `across` of the other dimension. */
static struct sc_piece general_block(const struct symmetric *s, const struct sc_operand *m, int along, int end,
                                     int across, enum sc_access access)
{
    int64_t p = s->t.at[along], q = s->across.at[across];
    int64_t np = s->t.at[end] - p, nq = sc_blas_part(&s->across, across);

    return s->left ? sc_blas_matrix(m, p, q, np, nq, access) : sc_blas_matrix(m, q, p, nq, np, access);
}

/* The stored form of A's block [i, i_end) x [j, j_end) off the diagonal; *trans is its transposition. */
static struct sc_piece stored_block(const struct symmetric *s, int i, int i_end, int j, int j_end, char *trans)
{
    const struct sc_kernel *call = s->call->kernel;
    bool stored = (call->uplo == 'U') == (i < j);

    *trans = stored ? 'N' : call->op == SC_OP_HEMM ? 'C' : 'T';
    return sc_blas_op_matrix(&s->call->operand[0], *trans, s->t.at[i], s->t.at[j], s->t.at[i_end] - s->t.at[i],
                             s->t.at[j_end] - s->t.at[j], SC_READ);
}

/* C blocks (parts [i, i_end) along A, q across) += the product with parts [l, l_end) along A: the diagonal block, or
 * blocks beside it.  first: beta C is the first term. */
static enum sc_status multiply(const struct symmetric *s, int device, int i, int i_end, int q, int l, int l_end,
                               bool first)
{
    struct sc_kernel kernel = *s->call->kernel;
    struct sc_piece b = general_block(s, &s->call->operand[1], l, l_end, q, SC_READ), a, c;

    sc_blas_set_beta(&kernel, s->call->kernel->beta, first);
    c = general_block(s, &s->call->operand[2], i, i_end, q, s->cleared ? SC_RDWR : sc_kernel_output(&kernel));
    kernel.m = c.rows;
    kernel.n = c.cols;
    if (l == i) {
        a = sc_blas_matrix(&s->call->operand[0], s->t.at[i], s->t.at[i], sc_blas_part(&s->t, i), sc_blas_part(&s->t, i),
                           SC_READ);
        return sc_blas_task(device, &kernel, a, b, c);
    }
    kernel.op = SC_OP_GEMM;
    kernel.k = s->t.at[l_end] - s->t.at[l];
    kernel.transa = kernel.transb = 'N';
    if (s->left) {
        a = stored_block(s, i, i_end, l, l_end, &kernel.transa);
        return sc_blas_task(device, &kernel, a, b, c);
    }
    a = stored_block(s, l, l_end, i, i_end, &kernel.transb);
    return sc_blas_task(device, &kernel, b, a, c);
}

/* End of the parts, from l on, that may be one task of block i: on the same side of the diagonal and in the same
 * tile. */
static int join(const struct symmetric *s, int i, int l)
{
    int end = l + 1, limit = l < i ? i : s->t.n;

    for (int tile = 0; s->joins && l != i && end < limit; end++) {
        while (s->tiles.at[tile] < s->t.at[end])
            tile++;
        if (s->tiles.at[tile] == s->t.at[end])
            break;
    }
    return end;
}

static enum sc_status multiply_all(const struct symmetric *s, int i, int q)
{
    struct sc_piece target = general_block(s, &s->call->operand[2], i, i + 1, q, SC_RDWR);
    int device = sc_blas_places_take(&s->places, target.r, target.c, &target);
    enum sc_status status = SC_OK;

    for (int l = 0, end; l < s->t.n && status == SC_OK; l = end) {
        end = join(s, i, l);
        status = multiply(s, device, i, i + 1, q, l, end, l == 0);
    }
    return status;
}

/* The device of all blocks of part q; -1: there are several. */
static int device_of_part(const struct symmetric *s, int q)
{
    int device = -1;

    for (int i = 0; i < s->t.n; i++) {
        struct sc_piece block = general_block(s, &s->call->operand[2], i, i + 1, q, SC_RDWR);
        int at = sc_blas_places_at(&s->places, block.r, block.c, &block);

        if (i && at != device)
            return -1;
        device = at;
    }
    return device;
}

/* Blocks by the rows and columns of C. */
static struct sc_piece output_block(const void *of, int i, int j)
{
    const struct symmetric *s = of;
    enum sc_access access = sc_kernel_output(s->call->kernel);

    return s->left ? general_block(s, &s->call->operand[2], i, i + 1, j, access)
                   : general_block(s, &s->call->operand[2], j, j + 1, i, access);
}

static struct sc_piece input_of_a(const struct symmetric *s, int i, int l)
{
    char trans;

    return i == l ? sc_blas_matrix(&s->call->operand[0], s->t.at[i], s->t.at[i], sc_blas_part(&s->t, i),
                                   sc_blas_part(&s->t, i), SC_READ)
                  : stored_block(s, i, i + 1, l, l + 1, &trans);
}

static struct sc_piece row_input(const void *of, int i, int l)
{
    const struct symmetric *s = of;

    return s->left ? input_of_a(s, i, l) : general_block(s, &s->call->operand[1], l, l + 1, i, SC_READ);
}

static struct sc_piece col_input(const void *of, int l, int j)
{
    const struct symmetric *s = of;

    return s->left ? general_block(s, &s->call->operand[1], l, l + 1, j, SC_READ) : input_of_a(s, l, j);
}

static struct sc_blas_blocks blocks_of(const struct symmetric *s)
{
    const struct sc_kernel *kernel = s->call->kernel;

    return (struct sc_blas_blocks){.of = s, .type = kernel->type, .rows = s->left ? &s->t : &s->across,
                                   .cols = s->left ? &s->across : &s->t,
                                   .products = s->left ? kernel->m : kernel->n, .block = output_block,
                                   .depth = s->t.n, .row_input = row_input, .col_input = col_input};
}

static void set_cuts(struct symmetric *s)
{
    const struct sc_operand *a = &s->call->operand[0], *b = &s->call->operand[1], *c = &s->call->operand[2];
    const struct sc_kernel *kernel = s->call->kernel;
    const struct sc_plan *plan = s->call->plan;
    char trans = s->left ? 'N' : 'T';

    sc_coherence_row_cuts(a, &s->t);
    sc_blas_merge_cols(&s->t, a);
    sc_blas_merge_op_rows(&s->t, b, trans);
    sc_blas_merge_op_rows(&s->t, c, trans);
    sc_blas_whole(&s->across, s->left ? kernel->n : kernel->m);
    sc_blas_merge_op_cols(&s->across, b, trans);
    sc_blas_merge_op_cols(&s->across, c, trans);
    s->tiles = s->t;
    s->by_source = false;
    s->joins = sc_blas_missing(s->call) < s->call->plan->arriving.bytes;
    if (!s->joins) {
        sc_blas_arriving(&s->t, a, plan->arriving.triangle);
        s->by_source = s->left;
        if (s->left)
            sc_blas_behind(s->call, &s->across, b, -1);
        else
            sc_blas_arriving(&s->t, b, plan->arriving.triangle);
    }
    if (s->left)
        sc_blas_divide(s->call, &s->across, s->t.n, c);
}

/* Cuts columns of C, and, from the right, columns of A with them.  A block then has three parts: the diagonal block
 * and both sides of the diagonal. */
static void cut_result(struct symmetric *s)
{
    struct sc_blas_blocks blocks = blocks_of(s);
    struct sc_plan_cut cut = {.sum = blocks.products, .tasks = s->left ? 1 : 3, .half = 1};

    if (s->joins && sc_blas_cuts_result(s->call))
        sc_blas_cut_result(s->call, &blocks, &s->places, cut, s->left ? &s->across : &s->t);
}

/* From the left: a part of A is columns of the triangle, used with its transpose when the part has come.  The part with
 * all rows of A comes first, and the shares of the work are those of the bytes. */
static enum sc_status multiply_source(struct symmetric *s, int device, int q, int step)
{
    bool upper = s->call->kernel->uplo == 'U';
    int parts = s->t.n, i = upper ? parts - 1 - step : step, from = upper ? 0 : i + 1, end = upper ? i : parts;
    enum sc_status status = multiply(s, device, i, i + 1, q, i, i + 1, step == 0);

    for (int e = from, e_end; e < end && status == SC_OK; e = e_end) {
        e_end = join(s, i, e);
        status = multiply(s, device, e, e_end, q, i, i + 1, step == 0);
        if (status == SC_OK)
            status = multiply(s, device, i, i + 1, q, e, e_end, false);
    }
    return status;
}

/* The parts of `across` that bring A to a device, and their devices.  Returns their number. */
static int find_leaders(const struct symmetric *s, struct leader leader[SC_DEVICES_MAX])
{
    uint32_t has_a = 0;
    int count = 0;

    for (int q = 0; q < s->across.n && s->left && !s->places.steal; q++) {
        int device = device_of_part(s, q);

        if (sc_blas_first_on(device, &has_a))
            leader[count++] = (struct leader){q, device};
    }
    return count;
}

/* A part of A goes on to all devices before the next part (triangle.c). */
static enum sc_status multiply_leaders(struct symmetric *s, const struct leader *leader, int leaders)
{
    enum sc_status status = SC_OK;

    s->joins = true;
    for (int step = 0; step < s->t.n; step++)
        for (int l = 0; l < leaders && status == SC_OK; l++)
            status = multiply_source(s, leader[l].device, leader[l].part, step);
    return status;
}

/* From the left: requests what the first task reads, before the pages of C are closed, and the first strip of B of each
 * further device.  A comes over all links, in the order of the first device's tasks.  Behind A, the strips of the
 * further devices would come late. */
static void request(const struct symmetric *s, const struct leader *leader, int leaders)
{
    int first = s->call->kernel->uplo == 'U' ? s->t.n - 1 : 0;
    struct sc_piece a = input_of_a(s, first, first);

    for (int i = 0; i < leaders; i++) {
        int q = leader[i].part, l = q ? 0 : first, end = q ? s->t.n : first + 1;

        if (q == 0)
            sc_coherence_prefetch(leader[i].device, &a); /* a failure shows in the tasks */
        for (; l < end; l++) {
            struct sc_piece b = general_block(s, &s->call->operand[1], l, l + 1, q, SC_READ);

            sc_coherence_prefetch(leader[i].device, &b);
        }
    }
}

enum sc_status sc_blas_symm(struct sc_blas_job *call)
{
    const struct sc_operand *c = &call->operand[2];
    struct symmetric s; /* large: not initialised */
    struct sc_blas_blocks blocks;
    enum sc_status status = SC_OK;
    struct leader leader[SC_DEVICES_MAX];
    int leaders;
    bool joins;

    s.call = call;
    s.left = call->kernel->side == 'L';
    sc_coherence_triangle(&call->operand[0], call->kernel->uplo);
    set_cuts(&s);
    blocks = blocks_of(&s);
    sc_blas_place(call, &blocks, &s.places);
    cut_result(&s);
    leaders = find_leaders(&s, leader);
    if (!s.joins)
        request(&s, leader, leaders);
    s.cleared = sc_blas_is_zero(call->kernel->beta) &&
                sc_blas_splits_tiles(c, s.left ? &s.t : &s.across, s.left ? &s.across : &s.t);
    if (s.cleared)
        status = sc_blas_clear(c);
    joins = s.joins;
    if (s.by_source && status == SC_OK)
        status = multiply_leaders(&s, leader, leaders);
    for (int q = 0, l = 0; q < s.across.n && status == SC_OK; q++) {
        bool leads = l < leaders && leader[l].part == q;

        l += leads;
        if (leads && s.by_source)
            continue;
        /* Behind A, B arrives in order: few large tasks wait no longer than many small tasks, and run faster. */
        s.joins = joins || (!leads && s.left && device_of_part(&s, q) >= 0 && !s.places.steal);
        for (int e = 0; e < s.t.n && status == SC_OK; e++)
            /* An order in which the first blocks need few columns of A, or columns of C are finished in order. */
            status = multiply_all(&s, call->kernel->uplo == 'L' || s.joins ? e : s.t.n - 1 - e, q);
    }
    sc_blas_places_free(&s.places);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
