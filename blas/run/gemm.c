/* gemm: C := alpha op(A) op(B) + beta C.  C is computed block by block on the devices of its blocks; k is divided
 * where A or B is cut.
 *
 * Resident operands: a task for each block and tile of k.  A single device runs the product as one task, unless the
 * host can use the first columns during a long product.
 *
 * Operands still on the host: finer strips at sector boundaries, uploaded in an order that gives the devices work
 * early, and blocks in the order of autotuner/pipeline.h. */
#include <math.h>

#include "blas/run/product.h"

struct sc_piece sc_product_a(const struct sc_product *g, int i, int l, int l_end)
{
    return sc_blas_op_matrix(sc_product_operand(g, 0), g->call->kernel->transa, g->m.at[i], g->k.at[l],
                             sc_blas_part(&g->m, i), g->k.at[l_end] - g->k.at[l], SC_READ);
}

struct sc_piece sc_product_b(const struct sc_product *g, int l, int l_end, int j)
{
    return sc_blas_op_matrix(sc_product_operand(g, 1), g->call->kernel->transb, g->k.at[l], g->n.at[j],
                             g->k.at[l_end] - g->k.at[l], sc_blas_part(&g->n, j), SC_READ);
}

static struct sc_piece block_c(const struct sc_product *g, int i, int j, enum sc_access access)
{
    return sc_blas_matrix(sc_product_operand(g, 2), g->m.at[i], g->n.at[j], sc_blas_part(&g->m, i),
                          sc_blas_part(&g->n, j), access);
}

/* Block (i, j) of C += parts [l, l_end) of the sum.  `first`: the block's first task, which applies beta. */
static enum sc_status multiply(const struct sc_product *g, int device, int i, int j, int l, int l_end, bool first)
{
    struct sc_kernel kernel = *g->call->kernel;

    sc_blas_set_beta(&kernel, g->call->kernel->beta, first);
    kernel.m = sc_blas_part(&g->m, i);
    kernel.n = sc_blas_part(&g->n, j);
    kernel.k = g->k.at[l_end] - g->k.at[l];
    return sc_blas_task(device, &kernel, sc_product_a(g, i, l, l_end), sc_product_b(g, l, l_end, j),
                        block_c(g, i, j, g->cleared ? SC_RDWR : sc_kernel_output(&kernel)));
}

/* The planned device of block (i, j) of C. */
static int device_of(const struct sc_product *g, int i, int j)
{
    struct sc_piece c = block_c(g, i, j, SC_RDWR);

    return sc_blas_places_at(&g->places, c.r, c.c, &c);
}

/* The same, for a block whose tasks come next. */
static int take(const struct sc_product *g, int i, int j)
{
    struct sc_piece c = block_c(g, i, j, SC_RDWR);

    return sc_blas_places_take(&g->places, c.r, c.c, &c);
}

bool sc_product_schedules(const struct sc_product *g)
{
    return g->m.n <= SC_PRODUCT_PARTS_MAX && g->n.n <= SC_PRODUCT_PARTS_MAX && g->k.n <= SC_PRODUCT_PARTS_MAX;
}

void sc_product_blocks(const struct sc_product *g, struct sc_pipeline *p)
{
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->m; i++)
            p->device[i + j * p->m] = device_of(g, i, j);
}

enum sc_status sc_product_until(const struct sc_product *g, struct sc_pipeline *p, double when)
{
    struct sc_pipeline_task task;
    enum sc_status status = SC_OK;
    int device = 0;

    while (status == SC_OK && sc_pipeline_next(p, when, &task)) {
        if (task.device >= 0)
            device = task.device;
        else if (task.starts)
            device = take(g, task.i, task.j);
        status = multiply(g, device, task.i, task.j, task.l, task.l_end, task.starts);
    }
    return status;
}

static struct sc_piece output_block(const void *g, int i, int j)
{
    return block_c(g, i, j, sc_kernel_output(((const struct sc_product *)g)->call->kernel));
}

static struct sc_piece row_input(const void *g, int i, int l) { return sc_product_a(g, i, l, l + 1); }
static struct sc_piece col_input(const void *g, int l, int j) { return sc_product_b(g, l, l + 1, j); }

static struct sc_blas_blocks blocks_of(const struct sc_product *g)
{
    const struct sc_kernel *kernel = g->call->kernel;

    return (struct sc_blas_blocks){.of = g, .type = kernel->type, .rows = &g->m, .cols = &g->n, .products = kernel->k,
                                   .block = output_block, .depth = g->k.n, .row_input = row_input,
                                   .col_input = col_input};
}

/* Resident operands, operands that other devices have just computed, or too many parts for a schedule. */
static enum sc_status compute(const struct sc_product *g)
{
    struct sc_pipeline p; /* large: not initialised */
    enum sc_status status;

    if (!g->places.steal && sc_coherence_devices() > 1 && g->k.n > 1 && sc_product_as_it_comes(g, &status))
        return status;
    sc_pipeline_by_block(&p, g->m.n, g->n.n, g->k.n);
    return sc_product_until(g, &p, INFINITY);
}

static void tile_cuts(struct sc_product *g)
{
    const struct sc_kernel *kernel = g->call->kernel;

    sc_coherence_row_cuts(sc_product_operand(g, 2), &g->m);
    sc_blas_merge_op_rows(&g->m, sc_product_operand(g, 0), kernel->transa);
    sc_coherence_home_cuts(sc_product_operand(g, 2), &g->n);
    sc_blas_merge_op_cols(&g->n, sc_product_operand(g, 1), kernel->transb);
    sc_blas_whole(&g->k, kernel->k);
    sc_blas_merge_op_cols(&g->k, sc_product_operand(g, 0), kernel->transa);
    sc_blas_merge_op_rows(&g->k, sc_product_operand(g, 1), kernel->transb);
}

/* A C that is only written need not be uploaded, if its tiles are written as a whole. */
static enum sc_status clear(struct sc_product *g)
{
    g->cleared = sc_blas_is_zero(g->call->kernel->beta) && sc_blas_splits_tiles(sc_product_operand(g, 2), &g->m, &g->n);
    return g->cleared ? sc_blas_clear(sc_product_operand(g, 2)) : SC_OK;
}

/* --- strips ------------------------------------------------------------------------------------------------------- */

static void cut_result(struct sc_product *g)
{
    struct sc_blas_blocks blocks = blocks_of(g);

    sc_blas_cut_result(g->call, &blocks, &g->places,
                       (struct sc_plan_cut){.sum = g->call->kernel->k, .tasks = 1, .half = 1}, &g->n);
}

/* The home devices may have everything, but not the devices of the blocks: at least one byte is missing. */
static void ask_widths(struct sc_product *g, struct sc_blas_last *last)
{
    struct sc_blas_blocks blocks = blocks_of(g);
    uint64_t missing = sc_blas_missing(g->call);
    struct sc_plan_cut cut = {.sum = g->call->kernel->k, .tasks = 1, .half = 1, .missing = missing ? missing : 1,
                              .all = sc_blas_missing_of(sc_product_operand(g, 0), 0)};

    sc_blas_widths(g->call, &blocks, &g->places, &cut, last);
}

/* Halves the last strips, as far as a schedule has room. */
static void halve_last(struct sc_product *g, const struct sc_blas_last *last)
{
    g->strips = g->n;
    sc_blas_halve(&g->n, sc_product_operand(g, 2), last);
    if (g->n.n > SC_PRODUCT_PARTS_MAX)
        g->n = g->strips;
}

/* Cuts partly missing operands: devices compute on strips in the order of arrival. */
static void cut_operands(struct sc_product *g)
{
    const struct sc_kernel *kernel = g->call->kernel;
    const struct sc_plan *plan = g->call->plan;
    struct sc_blas_last last;

    ask_widths(g, &last);
    sc_blas_cut(kernel->transa == 'N' ? &g->k : &g->m, sc_product_operand(g, 0), plan->strips.a, plan->strips.a);
    sc_blas_cut(kernel->transb != 'N' ? &g->k : &g->n, sc_product_operand(g, 1), plan->strips.b, plan->strips.b);
    if (plan->strips.c)
        sc_blas_refine(&g->n, sc_product_operand(g, 2), plan->strips.c);
    halve_last(g, &last);
}

/* --- operands on their way ---------------------------------------------------------------------------------------- */

/* The order of a device's strips.  In the first rounds, strips of A and the first `with` strips of B arrive in
 * proportion to their numbers: k strips of A and of B allow about k^2 blocks.  The remaining strips of B follow.
 * Each finishes a part of C, and the part is pushed home in the meantime (autotuner/strips.h). */
struct arrivals {
    int columns[SC_PRODUCT_PARTS_MAX], n; /* columns of C of which the device has a block */
    int a, b, with;                       /* numbers of strips */
    int first, rounds;
};

/* Requests of strips, with their expected arrival. */
struct requests {
    const struct sc_product *g;
    struct sc_pipeline *p;
    double link[SC_DEVICES_MAX]; /* time in seconds from now when the link to a device is free again */
    bool read_c;
    struct arrivals arrivals[SC_DEVICES_MAX];
};

/* The piece extended to all rows of its tile, the unit of a transfer (rule D5). */
static struct sc_piece whole_rows(const struct sc_piece *piece)
{
    struct sc_piece whole = *piece;
    struct sc_cuts rows;
    int i = 0;

    sc_coherence_row_cuts(piece->operand, &rows);
    while (rows.at[i + 1] <= piece->r)
        i++;
    whole.r = rows.at[i];
    whole.rows = sc_blas_part(&rows, i);
    return whole;
}

/* Requests a piece of a strip.  Each byte crosses the host link once, to the piece's home, and goes on from there.
 * expected[d * stride] is the expected arrival on device d.  *arrival is the latest expected arrival of the strip's
 * pieces so far.  A piece already requested takes that time, because an earlier piece may have brought the same
 * data. */
static double request(struct requests *r, int device, const struct sc_piece *piece, double *expected, size_t stride,
                      double *arrival)
{
    struct sc_piece whole = whole_rows(piece);
    uint64_t bytes = sc_coherence_missing(device, &whole);
    int home = sc_coherence_home(piece);
    double *at_home = &expected[(size_t)home * stride], come;

    if (!bytes)
        return *arrival;
    if (home == device || sc_coherence_missing(home, &whole)) {
        sc_coherence_prefetch(home, piece);
        *at_home = r->link[home] += (double)bytes / sc_machine_link(sc_coherence_device_properties(home), SC_HOST);
    }
    come = *at_home < INFINITY ? *at_home : 0; /* resident before this call */
    if (home != device) {
        sc_coherence_prefetch(device, piece); /* a failure shows in the task, which falls back */
        come += (double)bytes / sc_machine_link(sc_coherence_device_properties(device), home);
    }
    return *arrival = come > *arrival ? come : *arrival;
}

static void request_a(struct requests *r, int d, int i, int l, double *arrival)
{
    struct sc_pipeline *p = r->p;
    struct sc_piece piece = sc_product_a(r->g, i, l, l + 1);
    double *expected = &p->a[(size_t)l * (size_t)p->m + (size_t)i];
    size_t stride = (size_t)p->k * (size_t)p->m;

    if (sc_pipeline_reads(p, d, i, -1))
        expected[(size_t)d * stride] = request(r, d, &piece, expected, stride, arrival);
}

static void request_b(struct requests *r, int d, int l, int j, double *arrival)
{
    struct sc_pipeline *p = r->p;
    struct sc_piece piece = sc_product_b(r->g, l, l + 1, j);
    double *expected = &p->b[(size_t)j * (size_t)p->k + (size_t)l];
    size_t stride = (size_t)p->n * (size_t)p->k;

    if (sc_pipeline_reads(p, d, -1, j))
        expected[(size_t)d * stride] = request(r, d, &piece, expected, stride, arrival);
}

/* The part of k that comes t-th in a device's order. */
static int turn(const struct sc_pipeline *p, int d, int t)
{
    return p->order[(size_t)d * (size_t)p->k + (size_t)t];
}

/* Request strip s of A or B in the device's order (the pieces of a part of its columns), or a strip of C. */
static void request_strip_a(struct requests *r, int d, int s)
{
    double arrival = 0;

    if (r->g->call->kernel->transa == 'N')
        for (int i = 0; i < r->p->m; i++)
            request_a(r, d, i, turn(r->p, d, s), &arrival);
    else
        for (int t = 0; t < r->p->k; t++)
            request_a(r, d, s, turn(r->p, d, t), &arrival);
}

static void request_strip_b(struct requests *r, int d, int s, const int *columns, int count)
{
    double arrival = 0;

    if (r->g->call->kernel->transb == 'N')
        for (int t = 0; t < r->p->k; t++)
            request_b(r, d, turn(r->p, d, t), columns[s], &arrival);
    else
        for (int j = 0; j < count; j++)
            request_b(r, d, turn(r->p, d, s), columns[j], &arrival);
}

static void request_strip_c(struct requests *r, int d, int j)
{
    double arrival = 0;

    for (int i = 0; i < r->p->m && r->read_c; i++) {
        struct sc_piece piece = block_c(r->g, i, j, SC_READ);

        if (r->p->device[i + j * r->p->m] == d)
            r->p->c[i + j * r->p->m] = request(r, d, &piece, &r->p->c[i + j * r->p->m], 0, &arrival);
    }
}

static int columns_of(const struct sc_pipeline *p, int d, int columns[SC_PRODUCT_PARTS_MAX])
{
    int n = 0;

    for (int j = 0; j < p->n; j++)
        if (sc_pipeline_reads(p, d, -1, j))
            columns[n++] = j;
    return n;
}

/* The first of `strips` that is due in a round.  Rounded up, because a block can begin only when the first round has
 * brought some of each operand. */
static int due(int strips, int round, int rounds)
{
    return (round * strips + rounds - 1) / rounds;
}

/* Number of strips that the first `parts` of a device's columns belong to.  Halves of a strip count as one strip. */
static int strips_of(const struct requests *r, const struct arrivals *o, int parts)
{
    const struct sc_cuts *strips = &r->g->strips;
    int count = 0;

    for (int part = 0, strip = 0, last = -1; part < parts; part++, last = strip) {
        while (strips->at[strip + 1] <= r->g->n.at[o->columns[part]])
            strip++;
        count += strip != last;
    }
    return count;
}

/* Number of a device's strips of B that arrive together with A. */
static int strips_with(const struct requests *r, const struct arrivals *o)
{
    int first, parts = 1;

    if (r->g->call->kernel->transb != 'N')
        return o->b;
    first = (int)ceil(r->g->call->plan->strips.first * strips_of(r, o, o->n));
    while (parts < o->n && strips_of(r, o, parts + 1) <= first)
        parts++;
    return parts;
}

static void set_arrivals(struct requests *r, int d, int rounds)
{
    const struct sc_kernel *kernel = r->g->call->kernel;
    struct arrivals *o = &r->arrivals[d];

    o->n = columns_of(r->p, d, o->columns);
    o->a = kernel->transa == 'N' ? r->p->k : r->p->m;
    o->b = kernel->transb == 'N' ? o->n : r->p->k;
    o->rounds = rounds;
    o->with = o->n ? strips_with(r, o) : 0;
    o->first = (rounds * (o->a + o->with) + o->a + o->b - 1) / (o->a + o->b);
}

/* Of `strips` strips of B or C, `with` arrive together with A.  Returns the number due before `round`. */
static int columns_due(const struct arrivals *o, int strips, int with, int round)
{
    if (round == o->rounds)
        return strips;
    if (round <= o->first)
        return due(with, round, o->first);
    return with + due(strips - with, round - o->first, o->rounds - o->first);
}

static void request_round(struct requests *r, int d, int s)
{
    const struct arrivals *o = &r->arrivals[d];
    int c_with = o->b == o->n ? o->with : o->n;

    if (!o->n)
        return;
    for (int i = columns_due(o, o->n, c_with, s); i < columns_due(o, o->n, c_with, s + 1); i++)
        request_strip_c(r, d, o->columns[i]);
    for (int i = columns_due(o, o->b, o->with, s); i < columns_due(o, o->b, o->with, s + 1); i++)
        request_strip_b(r, d, i, o->columns, o->n);
    for (int i = s < o->first ? due(o->a, s, o->first) : o->a; i < o->a && i < due(o->a, s + 1, o->first); i++)
        request_strip_a(r, d, i);
}

/* A device begins with the first part of k whose strip of A has the device as home and arrives over the device's own
 * link.  The first parts of the other devices follow, then the second parts, and so on.  A therefore arrives over
 * all links at the same time, and B beside A. */
static void set_order(const struct sc_product *g, struct sc_pipeline *p)
{
    int home[SC_PRODUCT_PARTS_MAX], rank[SC_PRODUCT_PARTS_MAX], of_home[SC_DEVICES_MAX] = {0}, ranks = 0;

    for (int l = 0; l < p->k; l++) {
        struct sc_piece piece = sc_product_a(g, 0, l, l + 1);

        home[l] = sc_coherence_home(&piece);
        rank[l] = of_home[home[l]]++;
        ranks = rank[l] < ranks ? ranks : rank[l] + 1;
    }
    for (int d = 0; d < p->devices; d++) {
        int *next = p->order + (size_t)d * (size_t)p->k;

        for (int of = 0; of < ranks * p->devices; of++)
            for (int l = 0; l < p->k; l++)
                if (rank[l] == of / p->devices && home[l] == (d + of) % p->devices)
                    *next++ = l;
    }
}

/* The earliest time at which a strip that is requested later can arrive. */
static double horizon(const struct requests *r)
{
    double least = INFINITY;

    for (int d = 0; d < r->p->devices; d++)
        if (r->link[d] > 0 && r->link[d] < least)
            least = r->link[d];
    return least < INFINITY ? least : 0;
}

/* Allows parts of k to be joined up to the next tile boundary. */
static void limit_joins(struct sc_pipeline *p, const struct sc_cuts *tiles)
{
    int t = 0;

    for (int l = 0; l < p->k; l++) {
        while (tiles->at[t + 1] <= p->depth.at[l])
            t++;
        for (p->join_end[l] = l + 1; p->join_end[l] < p->k && p->depth.at[p->join_end[l]] < tiles->at[t + 1];)
            p->join_end[l]++;
    }
}

/* The first blocks of each device are in the schedule; the others count as done. */
static void leave_later(const struct sc_product *g, struct sc_pipeline *p)
{
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->m; i++) {
            struct sc_piece c = block_c(g, i, j, SC_RDWR);

            if (sc_blas_places_is_later(&g->places, c.r, c.c))
                p->done[i + j * p->m] = p->k;
        }
}

/* Enqueues blocks between the requests, because requesting every strip first takes longer than the first strips do. */
static enum sc_status run_schedule(const struct sc_product *g, struct sc_pipeline *p)
{
    struct requests r = {.g = g, .p = p, .read_c = !sc_blas_is_zero(g->call->kernel->beta)};
    int rounds = p->m > p->n ? p->m : p->n;
    enum sc_status status = SC_OK;

    rounds = 2 * (rounds > p->k ? rounds : p->k); /* doubled, so that strips of A and B can take turns */
    sc_product_blocks(g, p);
    if (g->places.steal)
        leave_later(g, p);
    set_order(g, p);
    sc_pipeline_expect_nothing(p, r.read_c);
    p->rate = sc_machine_products(sc_coherence_device_properties(0), g->call->kernel->type);
    for (int d = 0; d < p->devices; d++)
        set_arrivals(&r, d, rounds);
    for (int s = 0; s < rounds && status == SC_OK; s++) {
        for (int d = 0; d < p->devices; d++)
            request_round(&r, d, s);
        status = sc_product_until(g, p, horizon(&r));
    }
    return status == SC_OK ? sc_product_until(g, p, INFINITY) : status;
}

/* The other blocks, for idle devices.  Their operands have been requested to the planned devices. */
static enum sc_status run_later(struct sc_product *g)
{
    enum sc_status status = SC_OK;
    int i, j;

    sc_blas_steal_behind(g->places.steal);
    while (status == SC_OK && sc_blas_steal_next(g->places.steal, &i, &j)) {
        int device = take(g, i, j);

        for (int l = 0; l < g->k.n && status == SC_OK; l++)
            status = multiply(g, device, i, j, l, l + 1, l == 0);
    }
    return status;
}

/* False, with nothing done: not worthwhile, or impossible. */
static bool pipelined(struct sc_product *g, const struct sc_blas_blocks *blocks, enum sc_status *status)
{
    struct sc_product fine; /* g with finer cuts */
    struct sc_pipeline p;
    bool later;

    if (!g->places.memory || !sc_blas_waits(g->call, blocks, &g->places))
        return false;
    fine = *g;
    cut_operands(&fine);
    if (!sc_product_schedules(&fine))
        return false;
    if (sc_pipeline_init(&p, sc_product_parts(&fine.m), sc_product_parts(&fine.n), sc_product_parts(&fine.k),
                         sc_coherence_devices()) != SC_OK)
        return false;
    limit_joins(&p, &g->k);
    later = g->places.steal && sc_blas_steal_keep(g->places.steal);
    *status = clear(&fine);
    if (*status == SC_OK)
        *status = run_schedule(&fine, &p);
    sc_pipeline_free(&p);
    g->cleared = fine.cleared;
    if (later && *status == SC_OK)
        *status = run_later(g);
    return true;
}

enum sc_status sc_blas_gemm(struct sc_blas_job *call)
{
    struct sc_product g; /* large: not initialised */
    struct sc_blas_blocks blocks;
    enum sc_status status;

    g.call = call;
    if (call->plan->sum.whole && sc_product_sum(&g, &status))
        return status;
    tile_cuts(&g);
    sc_blas_divide(call, &g.n, g.m.n, sc_product_operand(&g, 2));
    blocks = blocks_of(&g);
    sc_blas_place(call, &blocks, &g.places);
    if (!pipelined(&g, &blocks, &status)) {
        if (!g.places.steal)
            cut_result(&g);
        status = clear(&g);
        if (status == SC_OK)
            status = compute(&g);
    }
    sc_blas_places_free(&g.places);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
