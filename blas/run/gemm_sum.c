/* gemm with a long sum and a small C (an inner product of tall matrices).  The devices share the sum instead of C,
 * so no device needs all of A or B.  Each device adds its parts up in a temporary of C's size.  The owners of C's
 * tiles then add the temporaries to the tiles, in parallel. */
#include "blas/run/partials.h"
#include "blas/run/product.h"

struct sum {
    const struct sc_product *g;
    int device_of[SC_CUTS_MAX]; /* by part of the sum */
    struct sc_partials partials;
};

static size_t elem_of(const struct sum *s) { return sc_type_bytes(s->g->call->kernel->type); }
static int64_t rows_of(const struct sum *s) { return s->g->call->kernel->m; }

/* --- conditions and places ---------------------------------------------------------------------------------------- */

/* True when C has a single row of tiles with whole columns: a part of a temporary can then be added to a tile as a
 * vector. */
static bool is_simple(const struct sc_operand *c)
{
    struct sc_cuts rows, cols;

    sc_coherence_row_cuts(c, &rows);
    sc_coherence_col_cuts(c, &cols);
    for (int j = 0; j < cols.n && rows.n == 1; j++) {
        struct sc_piece tile = sc_blas_matrix(c, 0, cols.at[j], rows.at[1], sc_blas_part(&cols, j), SC_RDWR);

        if (!sc_coherence_contiguous(0, &tile))
            return false;
    }
    return rows.n == 1;
}

/* An operand whose rows lie along the sum can only be shared by whole tiles, because a transfer brings all rows of a
 * tile (rule D5). */
static bool has_parts(const struct sc_operand *o, bool along_rows)
{
    struct sc_cuts rows;

    if (!along_rows)
        return true;
    sc_coherence_row_cuts(o, &rows);
    return rows.n >= sc_coherence_devices();
}

/* True when the owner of most of C has to add up far less than it would otherwise upload of A and B. */
static bool is_little(const struct sc_product *g)
{
    const struct sc_kernel *k = g->call->kernel;
    const struct sc_operand *c = sc_product_operand(g, 2);
    int64_t columns[SC_DEVICES_MAX] = {0}, most = 0;
    struct sc_cuts cols;

    sc_coherence_col_cuts(c, &cols);
    for (int j = 0; j < cols.n; j++) {
        struct sc_piece tile = sc_blas_matrix(c, 0, cols.at[j], k->m, sc_blas_part(&cols, j), SC_RDWR);
        int64_t *owned = &columns[sc_coherence_where(&tile)];

        *owned += tile.cols;
        most = *owned > most ? *owned : most;
    }
    return g->call->plan->sum.little * most * k->m * sc_coherence_devices() <= (k->m + k->n) * k->k;
}

static bool is_possible(const struct sc_product *g)
{
    const struct sc_kernel *k = g->call->kernel;

    return has_parts(sc_product_operand(g, 0), k->transa != 'N') &&
           has_parts(sc_product_operand(g, 1), k->transb == 'N') && is_simple(sc_product_operand(g, 2)) &&
           is_little(g);
}

static void merge_homes(struct sc_cuts *into, const struct sc_operand *o)
{
    struct sc_cuts homes;

    sc_coherence_home_cuts(o, &homes);
    sc_cuts_merge(into, &homes);
}

static void cut(struct sc_product *g)
{
    const struct sc_kernel *k = g->call->kernel;
    int64_t sum = g->call->plan->arriving.sum, least = g->call->plan->sum.least;

    sc_blas_merge_op_rows(sc_blas_whole(&g->m, k->m), sc_product_operand(g, 0), k->transa);
    sc_blas_merge_op_cols(sc_blas_whole(&g->n, k->n), sc_product_operand(g, 1), k->transb);
    sc_blas_whole(&g->k, k->k);
    sc_blas_merge_op_cols(&g->k, sc_product_operand(g, 0), k->transa);
    sc_blas_merge_op_rows(&g->k, sc_product_operand(g, 1), k->transb);
    if (k->transa == 'N')
        merge_homes(&g->k, sc_product_operand(g, 0));
    if (k->transb != 'N')
        merge_homes(&g->k, sc_product_operand(g, 1));
    sc_blas_refine(k->transa == 'N' ? &g->k : &g->m, sc_product_operand(g, 0), k->transa == 'N' ? sum : least);
    sc_blas_refine(k->transb == 'N' ? &g->n : &g->k, sc_product_operand(g, 1), k->transb == 'N' ? least : sum);
}

/* Parts of the sum as blocks for the strategy: a part runs where A's part is, or is assigned to another device. */
static struct sc_piece part_of_a(const void *of, int i, int l)
{
    (void)i;
    return sc_product_a(of, 0, l, l + 1);
}

static struct sc_piece part_of_b(const void *of, int i, int l)
{
    (void)i;
    return sc_product_b(of, l, l + 1, 0);
}

/* Returns the number of devices that have a part. */
static int place(struct sum *s, struct sc_product *g)
{
    const struct sc_kernel *k = g->call->kernel;
    uint32_t devices = 0;
    struct sc_cuts one;

    sc_blas_place(g->call,
                  &(struct sc_blas_blocks){.of = g, .type = k->type, .rows = sc_blas_whole(&one, 1), .cols = &g->k,
                                           .products = k->m * k->n, .block = part_of_a, .stays = true, .depth = 1,
                                           .col_input = part_of_b},
                  &g->places);
    for (int l = 0; l < g->k.n; l++) {
        struct sc_piece a = sc_product_a(g, 0, l, l + 1);

        s->device_of[l] = sc_blas_places_at(&g->places, 0, g->k.at[l], &a);
        devices |= UINT32_C(1) << s->device_of[l];
    }
    sc_blas_places_free(&g->places);
    return __builtin_popcount(devices);
}

/* --- partial sums ------------------------------------------------------------------------------------------------- */

/* temporary := (0 or 1) temporary + part l of the sum, on the part's device. */
static enum sc_status add_to_partial(struct sum *s, int l)
{
    const struct sc_product *g = s->g;
    struct sc_kernel kernel = *g->call->kernel;
    int device = s->device_of[l], at = sc_partials_on(&s->partials, device);
    enum sc_status status = SC_OK;

    kernel.beta[0] = at >= 0;
    kernel.beta[1] = 0;
    kernel.k = sc_blas_part(&g->k, l);
    if (at < 0) {
        status = sc_partials_add(&s->partials, device, (size_t)(kernel.m * kernel.n) * elem_of(s));
        at = s->partials.count - 1;
    }
    for (int j = 0; j < g->n.n && status == SC_OK; j++)
        for (int i = 0; i < g->m.n && status == SC_OK; i++) {
            size_t offset = (size_t)(g->m.at[i] + g->n.at[j] * rows_of(s)) * elem_of(s);
            struct sc_piece c = {.rows = sc_blas_part(&g->m, i), .cols = sc_blas_part(&g->n, j),
                                 .access = sc_kernel_output(&kernel), .temporary_ld = rows_of(s)};

            c.temporary = (char *)s->partials.memory[at] + offset;
            kernel.m = c.rows;
            kernel.n = c.cols;
            status = sc_blas_task(device, &kernel, sc_product_a(g, i, l, l + 1), sc_product_b(g, l, l + 1, j), c);
        }
    return status;
}

/* The next part of a device, from `l` on; g->k.n when there is none. */
static int next_part(const struct sum *s, int device, int l)
{
    while (l < s->g->k.n && s->device_of[l] != device)
        l++;
    return l;
}

/* Takes a part of each device in turn, so the devices begin together. */
static enum sc_status add_all_to_partials(struct sum *s)
{
    int next[SC_DEVICES_MAX] = {0};
    enum sc_status status = SC_OK;

    for (int left = s->g->k.n; left && status == SC_OK;)
        for (int d = 0; d < sc_coherence_devices() && status == SC_OK; d++) {
            int l = next_part(s, d, next[d]);

            if (l == s->g->k.n)
                continue;
            status = add_to_partial(s, l);
            next[d] = l + 1;
            left--;
        }
    return status;
}

/* --- C ------------------------------------------------------------------------------------------------------------ */

/* Replaces a device's lost share of columns [c, c + cols): computes it again from A and B, directly into C. */
static enum sc_status add_directly(const struct sum *s, int owner, int lost, int64_t c, int64_t cols,
                                   const double beta[2])
{
    const struct sc_product *g = s->g;
    struct sc_kernel kernel = *g->call->kernel;
    enum sc_status status = SC_OK;
    bool first = true;

    for (int l = 0; l < g->k.n && status == SC_OK; l++) {
        if (s->device_of[l] != lost)
            continue;
        for (int j = 0; j < g->n.n && status == SC_OK; j++)
            for (int i = 0; i < g->m.n && status == SC_OK; i++) {
                int64_t from = g->n.at[j] > c ? g->n.at[j] : c, end = g->n.at[j + 1] < c + cols ? g->n.at[j + 1]
                                                                                               : c + cols;

                if (from >= end)
                    continue;
                sc_blas_set_beta(&kernel, beta, first);
                kernel.m = sc_blas_part(&g->m, i);
                kernel.n = end - from;
                kernel.k = sc_blas_part(&g->k, l);
                /* RDWR even if beta is 0, because the task does not write the whole tile. */
                status = sc_blas_task(owner, &kernel, sc_product_a(g, i, l, l + 1),
                                      sc_blas_op_matrix(sc_product_operand(g, 1), kernel.transb, g->k.at[l], from,
                                                        kernel.k, kernel.n, SC_READ),
                                      sc_blas_matrix(sc_product_operand(g, 2), g->m.at[i], from, kernel.m, kernel.n,
                                                     SC_RDWR));
            }
        first = false;
    }
    return status;
}

/* A tile of C, and the devices' partial sums for the tile. */
struct share {
    int owner;
    int64_t c, cols;
    struct sc_partial part[SC_DEVICES_MAX];
};

/* C := beta C + one partial sum, for a tile on its owner. */
static enum sc_status add_partial(const struct sum *s, const struct share *x, int i, const double beta[2])
{
    struct sc_kernel add = {.op = sc_blas_is_zero(beta) ? SC_OP_COPY : sc_blas_is_one(beta) ? SC_OP_AXPY : SC_OP_AXPBY,
                            .type = s->g->call->kernel->type, .n = rows_of(s) * x->cols, .alpha = {1, 0},
                            .beta = {beta[0], beta[1]}, .lda = 1, .ldb = 1};
    enum sc_status status = sc_partials_task(x->owner, &x->part[i], &add,
                                             sc_blas_matrix(sc_product_operand(s->g, 2), 0, x->c, rows_of(s), x->cols,
                                                            add.op == SC_OP_COPY ? SC_WRITE : SC_RDWR));

    return status == SC_OK ? SC_OK : add_directly(s, x->owner, s->partials.device[i], x->c, x->cols, beta);
}

/* Starts all copies first, because copies wait only for the partial sums.  In each round a device sends to a single
 * owner. */
static void gather(struct sum *s, struct share *shares, int count)
{
    struct sc_partials *p = &s->partials;

    for (int round = 0; round < p->count; round++)
        for (int j = 0; j < count; j++) {
            struct share *x = &shares[j];
            int i = (round + j) % p->count;
            size_t column = (size_t)rows_of(s) * elem_of(s);

            x->part[i] = sc_partials_fetch(p, i, x->owner, (size_t)x->c * column, (size_t)x->cols * column);
        }
}

static enum sc_status add_shares(struct sum *s, struct share *shares, int count)
{
    static const double one[2] = {1, 0};
    enum sc_status status = SC_OK;

    gather(s, shares, count);
    for (int i = 0; i < s->partials.count; i++)
        for (int j = 0; j < count; j++) {
            struct share *x = &shares[j];

            if (status == SC_OK)
                status = add_partial(s, x, i, i ? one : s->g->call->kernel->beta);
            sc_partials_drop(x->owner, &x->part[i]);
        }
    return status;
}

static enum sc_status add_up(struct sum *s)
{
    struct share shares[SC_DEVICES_MAX]; /* one for each owner, usually the whole of C */
    const struct sc_operand *c = sc_product_operand(s->g, 2);
    enum sc_status status = SC_OK;
    struct sc_cuts cols;
    int count = 0;

    sc_coherence_col_cuts(c, &cols);
    for (int j = 0; j < cols.n && status == SC_OK; j++) {
        struct sc_piece tile = sc_blas_matrix(c, 0, cols.at[j], rows_of(s), sc_blas_part(&cols, j), SC_RDWR);

        shares[count++] = (struct share){.owner = sc_coherence_where(&tile), .c = tile.c, .cols = tile.cols};
        if (count == SC_DEVICES_MAX || j == cols.n - 1) {
            status = add_shares(s, shares, count);
            count = 0;
        }
    }
    return status;
}

bool sc_product_sum(struct sc_product *g, enum sc_status *status)
{
    struct sum s; /* large: not initialised */
    bool started;

    if (!is_possible(g))
        return false;
    cut(g);
    s.g = g;
    s.partials.count = 0;
    if (place(&s, g) < 2)
        return false;
    started = add_all_to_partials(&s) == SC_OK; /* on failure C is untouched */
    if (started)
        *status = add_up(&s);
    sc_partials_free(&s.partials);
    return started;
}
/* SPDX-License-Identifier: BSD-2-Clause */
