/* syrk, herk, syr2k, her2k, gemmt: a triangle of C := the sum of one or two products op(X) op(Y), plus beta C.
 * Diagonal blocks are tasks of the operation itself.  Blocks off the diagonal are gemm tasks.  The other triangle is
 * never touched. */
#include <math.h>

#include "autotuner/strips.h"
#include "blas/run/tasks.h"

#define FINE 4 /* tiles along the triangle and device, with which data arrive in small parts anyway */
#define SUM_LEAST 4096 /* of a part of the sum, behind the first columns */
#define ACROSS_LEAST 512 /* columns of a strip across the sum */
#define ALONG_LEAST 1024 /* columns of a strip of C, while A and B arrive by strips along the sum */

struct rank {
    struct sc_blas_job *call;
    int terms;
    struct sc_blas_term term[2];
    double beta[2];
    struct sc_cuts t, k; /* cuts along the triangle, and of the sum */
    struct sc_cuts tiles, sums; /* the cuts in t and in k that no task crosses */
    bool by_columns;      /* columns of the triangle are finished in order, because they are pushed home */
    bool by_sum;          /* all blocks use a strip along the sum, as it arrives, before the next strip */
    bool across;          /* on one device: A and B arrive by strips across the sum, each of which completes columns */
    int meanwhile;        /* longest columns that add parts of the sum as they arrive */
    struct sc_blas_places places;
};

static const struct sc_operand *target_operand(const struct rank *r)
{
    return &r->call->operand[r->call->operands - 1];
}

/* A block of the triangle: parts [i, i_end) of its rows and [j, j_end) of its columns. */
struct block {
    int i, i_end, j, j_end;
};

static struct sc_piece piece_x(const struct rank *r, int term, const struct block *b, int l)
{
    const struct sc_blas_term *t = &r->term[term];

    return sc_blas_op_matrix(t->x, t->tx, r->t.at[b->i], r->k.at[l], r->t.at[b->i_end] - r->t.at[b->i],
                             sc_blas_part(&r->k, l), SC_READ);
}

static struct sc_piece piece_y(const struct rank *r, int term, int l, const struct block *b)
{
    const struct sc_blas_term *t = &r->term[term];

    return sc_blas_op_matrix(t->y, t->ty, r->k.at[l], r->t.at[b->j], sc_blas_part(&r->k, l),
                             r->t.at[b->j_end] - r->t.at[b->j], SC_READ);
}

static struct sc_piece target(const struct rank *r, const struct block *b, enum sc_access access)
{
    return sc_blas_matrix(target_operand(r), r->t.at[b->i], r->t.at[b->j], r->t.at[b->i_end] - r->t.at[b->i],
                          r->t.at[b->j_end] - r->t.at[b->j], access);
}

static struct block single(int i, int j) { return (struct block){i, i + 1, j, j + 1}; }

static enum sc_status add_diagonal(const struct rank *r, int device, int i, int l)
{
    struct sc_kernel kernel = *r->call->kernel;
    bool two = r->call->operands == 3; /* A and B */
    struct block b = single(i, i);

    kernel.n = sc_blas_part(&r->t, i);
    kernel.k = sc_blas_part(&r->k, l);
    sc_blas_set_beta(&kernel, r->beta, l == 0);
    /* RDWR for every beta, because the block contains elements of the other triangle.  For beta = 0 only these elements
     * have been uploaded (prepare_result). */
    return sc_blas_task(device, &kernel, piece_x(r, 0, &b, l), two ? piece_y(r, 0, l, &b) : sc_blas_none(),
                        target(r, &b, SC_RDWR));
}

static enum sc_status add_block(const struct rank *r, int device, const struct block *b, int l)
{
    struct sc_kernel kernel = *r->call->kernel;
    enum sc_status status = SC_OK;

    kernel.op = SC_OP_GEMM;
    kernel.m = r->t.at[b->i_end] - r->t.at[b->i];
    kernel.n = r->t.at[b->j_end] - r->t.at[b->j];
    kernel.k = sc_blas_part(&r->k, l);
    for (int e = 0; e < r->terms && status == SC_OK; e++) {
        kernel.transa = r->term[e].tx;
        kernel.transb = r->term[e].ty;
        kernel.alpha[0] = r->term[e].alpha[0];
        kernel.alpha[1] = r->term[e].alpha[1];
        sc_blas_set_beta(&kernel, r->beta, l == 0 && e == 0);
        status = sc_blas_task(device, &kernel, piece_x(r, e, b, l), piece_y(r, e, l, b),
                              target(r, b, sc_kernel_output(&kernel)));
    }
    return status;
}

static int device_of(const struct rank *r, int i, int j)
{
    struct block b = single(i, j);
    struct sc_piece c = target(r, &b, SC_RDWR);

    return sc_blas_places_take(&r->places, c.r, c.c, &c);
}

/* Adds parts [l, l_end) of the sum to a block, or requests the block. */
typedef enum sc_status one_block(const struct rank *r, int device, const struct block *b, int l, int l_end);

static enum sc_status add_sum(const struct rank *r, int device, const struct block *b, int l, int l_end)
{
    enum sc_status status = SC_OK;

    for (; l < l_end && status == SC_OK; l++)
        status = b->i == b->j ? add_diagonal(r, device, b->i, l) : add_block(r, device, b, l);
    return status;
}

static enum sc_status request_block(const struct rank *r, int device, const struct block *b, int l, int l_end)
{
    struct sc_piece c = target(r, b, SC_READ);

    (void)l, (void)l_end;
    sc_coherence_prefetch(device, &c); /* a failure shows in the tasks */
    return SC_OK;
}

static bool is_cut(const struct sc_cuts *cuts, int64_t at)
{
    for (int i = 0; i < cuts->n; i++)
        if (cuts->at[i] == at)
            return true;
    return false;
}

static bool is_tile_end(const struct rank *r, int part) { return is_cut(&r->tiles, r->t.at[part]); }

/* Parts [l, l_end) of the sum, for parts [from, end) of the rows of column `at`, or of the columns of row `at`, in as
 * few blocks as tiles and places allow. */
static enum sc_status line(const struct rank *r, one_block *each, bool column, int at, int from, int end, int l,
                           int l_end)
{
    enum sc_status status = SC_OK;

    for (int e; from < end && status == SC_OK; from = e) {
        int device = column ? device_of(r, from, at) : device_of(r, at, from);

        for (e = from + 1; e < end && !is_tile_end(r, e); e++)
            if ((column ? device_of(r, e, at) : device_of(r, at, e)) != device)
                break;
        status = each(r, device, &(struct block){column ? from : at, column ? e : at + 1, column ? at : from,
                                                 column ? at + 1 : e}, l, l_end);
    }
    return status;
}

static bool is_upper(const struct rank *r) { return r->call->kernel->uplo == 'U'; }

/* Number i of the columns in order of their length. */
static int longest(const struct rank *r, int i) { return is_upper(r) ? r->t.n - 1 - i : i; }
static int shortest(const struct rank *r, int i) { return longest(r, r->t.n - 1 - i); }

/* Parts [l, l_end) of the sum for line i of the triangle, with its diagonal block.  The lines of an upper triangle are
 * its columns, the lines of a lower triangle its rows, or its columns. */
static enum sc_status whole_line(const struct rank *r, one_block *each, bool columns, int i, int l, int l_end)
{
    bool below = columns && !is_upper(r);
    enum sc_status status = line(r, each, columns || is_upper(r), i, below ? i + 1 : 0, below ? r->t.n : i, l, l_end);

    return status == SC_OK ? line(r, each, true, i, i, i + 1, l, l_end) : status;
}

static enum sc_status add_line(const struct rank *r, bool columns, int i, int l, int l_end)
{
    return whole_line(r, add_sum, columns, i, l, l_end);
}

static enum sc_status whole_column(const struct rank *r, int j) { return add_line(r, true, j, 0, r->k.n); }

/* For beta = 0 no task reads C. */
static void request_line(const struct rank *r, bool columns, int i)
{
    if (!sc_blas_is_zero(r->beta))
        whole_line(r, request_block, columns, i, 0, 0);
}

/* The longest columns, as wide blocks, part by part of the sum. */
static enum sc_status add_meanwhile(const struct rank *r)
{
    bool upper = is_upper(r);
    int64_t bound = r->t.at[upper ? r->t.n - r->meanwhile : r->meanwhile];
    enum sc_status status = SC_OK;
    struct rank wide = *r;

    wide.t = r->tiles;
    sc_blas_cut_at(&wide.t, bound, r->call->kernel->n);
    for (int l = 0; l < r->k.n && status == SC_OK; l++)
        for (int j = 0; j < wide.t.n && status == SC_OK; j++)
            for (int i = upper ? 0 : j; i < (upper ? j + 1 : wide.t.n) && status == SC_OK; i++) {
                struct block b = single(i, j);

                if ((wide.t.at[j] < bound) == upper)
                    continue;
                status = i == j ? add_diagonal(&wide, device_of(r, 0, 0), i, l)
                                : add_block(&wide, device_of(r, 0, 0), &b, l);
            }
    return status;
}

/* The later columns have few parts of the sum, because a GPU multiplies long sums faster.  They have
 * several, because the last strips of A may still be in transit. */
static void join_sums(struct rank *r)
{
    int kept = 1;

    for (int l = 1; l <= r->k.n; l++) {
        int64_t at = r->k.at[l], before = at - r->k.at[kept - 1], behind = r->call->kernel->k - at;

        if (behind == 0 || is_cut(&r->sums, at) || (before >= SUM_LEAST && behind >= SUM_LEAST))
            r->k.at[kept++] = at;
    }
    r->k.n = kept - 1;
}

/* The longest columns while A and B arrive, and then the others. */
static enum sc_status add_after(struct rank *r)
{
    enum sc_status status = add_meanwhile(r);

    join_sums(r);
    for (int i = r->meanwhile; i < r->t.n && status == SC_OK; i++)
        status = whole_column(r, longest(r, i));
    return status;
}

/* Line by line, in an order that needs the strips of A and B in sequence, or column by column.  On more than two
 * devices all blocks of a line use a strip of the sum before the next strip: else the first block would hold up the
 * others until the last strip.  On two devices the lines are long, and the first blocks go home early. */
static enum sc_status add_all(const struct rank *r)
{
    bool arrives = sc_coherence_devices() > 2 && r->k.n > r->sums.n && !r->by_columns;
    enum sc_status status = SC_OK;

    for (int i = 0; i < r->t.n && status == SC_OK; i++)
        for (int l = 0, step = arrives ? 1 : r->k.n; l < r->k.n && status == SC_OK; l += step)
            status = add_line(r, r->by_columns, i, l, l + step);
    return status;
}

static enum sc_status add_by_sum(const struct rank *r)
{
    enum sc_status status = SC_OK;

    for (int l = 0; l < r->k.n && status == SC_OK; l++)
        for (int i = 0; i < r->t.n && status == SC_OK; i++)
            status = add_line(r, false, i, l, l + 1);
    return status;
}

/* Of the devices with blocks in row or column i of the triangle, the one with the fewest strips so far. */
static int least_asked(const struct rank *r, int i, const int asked[])
{
    bool upper = is_upper(r);
    int least = -1;

    for (int j = 0; j < r->t.n; j++) {
        struct block b = (j < i) == upper ? single(j, i) : single(i, j);
        struct sc_piece c = target(r, &b, SC_RDWR);
        int device = sc_blas_places_at(&r->places, c.r, c.c, &c);

        if (device >= 0 && (least < 0 || asked[device] < asked[least]))
            least = device;
    }
    return least;
}

static void request_strip(const struct rank *r, int device, int i, int l)
{
    struct block b = single(i, i);
    struct sc_piece x = piece_x(r, 0, &b, l), y = piece_y(r, 0, l, &b);

    sc_coherence_prefetch(device < 0 ? sc_coherence_home(&x) : device, &x); /* a failure shows in the tasks */
    if (r->term[0].y != r->term[0].x) /* the second term has the same operands */
        sc_coherence_prefetch(device < 0 ? sc_coherence_home(&y) : device, &y);
}

/* Strips across the sum, by the order of the columns that they complete. */
static void request_across(const struct rank *r, int from, int end)
{
    for (int i = from; i < end; i++) {
        for (int l = 0; l < r->k.n; l++)
            request_strip(r, device_of(r, 0, 0), shortest(r, i), l);
        request_line(r, true, shortest(r, i));
    }
}

/* The first strips are on their way before the first task closes the pages of C, for as long as that takes.  A
 * further strip is requested behind the tasks of its predecessor, and these tasks do not wait for the strip. */
static int requested_first(const struct rank *r) { return (r->t.n + 3) / 4; }

static enum sc_status add_across(const struct rank *r)
{
    enum sc_status status = SC_OK;

    for (int i = 0; i < r->t.n && status == SC_OK; i++) {
        if (i >= requested_first(r))
            request_across(r, i, i + 1);
        status = whole_column(r, shortest(r, i));
    }
    return status;
}

/* Bytes of A and B that the device lacks. */
static double missing_of(const struct rank *r)
{
    const struct sc_operand *a = r->term[0].x, *b = r->term[0].y;

    return (double)sc_blas_missing_of(a, 0) + (b == a ? 0 : (double)sc_blas_missing_of(b, 0));
}

static struct sc_strips_rank model_of(const struct rank *r)
{
    const struct sc_device_properties *device = sc_coherence_device_properties(0);
    const struct sc_kernel *k = r->call->kernel;
    double link = sc_machine_link(device, SC_HOST), products = 0.5 * (double)k->n * (double)k->n * (double)k->k;
    double home = sc_blas_cuts_result(r->call) ? 0.5 * (double)sc_view_bytes(&target_operand(r)->view) : 0;
    double added_to = sc_blas_is_zero(r->beta) ? 0 : (double)sc_blas_missing_of(target_operand(r), k->uplo);

    return (struct sc_strips_rank){.kernel = products * r->terms / sc_machine_products(device, k->type),
                                   .in = missing_of(r) / link, .out = home / link, .result_in = added_to / link,
                                   .order = k->n, .sum = k->k};
}

/* Requests A, B and the C that is added to, in the order of the tasks, before the first task closes the pages of C. All
 * links to the host are in use from the beginning: strips along the sum come to the devices of their tiles.  Strips
 * across the sum come to the devices in turn; the first task of each line is on few devices.  Where the transfers take
 * longest, all devices have A and B before C: tasks then need no more than their own blocks. */
static void request(const struct rank *r)
{
    struct sc_strips_rank model = model_of(r);
    bool with_lines = r->meanwhile == 0 && model.kernel > model.in + model.result_in;
    int asked[SC_DEVICES_MAX] = {0};

    for (int i = 0; i < r->meanwhile; i++)
        request_line(r, true, longest(r, i));
    for (int l = 0; r->by_sum && l < r->k.n; l++)
        for (int i = 0; i < r->t.n; i++) {
            request_strip(r, -1, i, l);
            if (l == 0)
                request_line(r, false, i);
        }
    for (int i = 0; !r->by_sum && i < r->t.n; i++) {
        int device = r->k.n > r->sums.n ? -1 : least_asked(r, i, asked);

        for (int l = 0; l < r->k.n; l++)
            request_strip(r, device, i, l);
        if (device >= 0)
            asked[device]++;
        if (with_lines)
            request_line(r, r->by_columns, i);
    }
}

static struct sc_piece output_block(const void *r, int i, int j)
{
    struct block b = single(i, j);

    return target(r, &b, SC_RDWR);
}

static struct sc_piece row_input(const void *r, int i, int l)
{
    struct block b = single(i, 0);

    return piece_x(r, 0, &b, l);
}

static struct sc_piece col_input(const void *r, int l, int j)
{
    struct block b = single(0, j);

    return piece_y(r, 0, l, &b);
}

static bool is_other_triangle(const void *r, int i, int j)
{
    return is_upper(r) ? i > j : i < j;
}

static struct sc_blas_blocks blocks_of(const struct rank *r)
{
    const struct sc_kernel *kernel = r->call->kernel;

    return (struct sc_blas_blocks){.of = r, .type = kernel->type, .rows = &r->t, .cols = &r->t,
                                   .products = kernel->k * r->terms, .block = output_block, .skips = is_other_triangle,
                                   .depth = r->k.n, .row_input = row_input, .col_input = col_input};
}

/* A scalar that is real in a complex operation may have any imaginary part, which is ignored. */
int sc_blas_rank_terms(const struct sc_blas_job *call, struct sc_blas_term term[2], double beta[2])
{
    const struct sc_kernel *k = call->kernel;
    const struct sc_operand *a = &call->operand[0], *b = call->operands == 3 ? &call->operand[1] : a;
    bool hermitian = k->op == SC_OP_HERK || k->op == SC_OP_HER2K;
    char flip = hermitian ? 'C' : 'T', ty = k->op == SC_OP_GEMMT ? k->transb : k->transa == 'N' ? flip : 'N';

    term[0] = (struct sc_blas_term){a, b, k->transa, ty, {k->alpha[0], k->op == SC_OP_HERK ? 0 : k->alpha[1]}};
    term[1] = (struct sc_blas_term){b, a, k->transa, ty, {k->alpha[0], hermitian ? -k->alpha[1] : k->alpha[1]}};
    beta[0] = k->beta[0];
    beta[1] = hermitian ? 0 : k->beta[1];
    return k->op == SC_OP_SYR2K || k->op == SC_OP_HER2K ? 2 : 1;
}

/* Cuts at the strips of an operand in transit; strips along the sum of at least `sum` columns. */
static void refine(struct rank *r, const struct sc_operand *operand, bool strips_are_depth, int64_t sum)
{
    sc_blas_arriving(strips_are_depth ? &r->k : &r->t, operand,
                     strips_are_depth ? sum : r->call->plan->arriving.triangle);
}

static void set_cuts(struct rank *r)
{
    const struct sc_operand *c = target_operand(r);
    const struct sc_blas_term *t = &r->term[0];

    sc_coherence_row_cuts(c, &r->t);
    sc_blas_merge_cols(&r->t, c);
    sc_blas_merge_op_rows(&r->t, t->x, t->tx);
    sc_blas_merge_op_cols(&r->t, t->y, t->ty);
    sc_blas_whole(&r->k, r->call->kernel->k);
    sc_blas_merge_op_cols(&r->k, t->x, t->tx);
    sc_blas_merge_op_rows(&r->k, t->y, t->ty);
    sc_blas_divide(r->call, &r->t, 1, c);
    r->tiles = r->t;
    r->sums = r->k;
}

/* The devices have rows of the matrix, as planned.  (It may be a part of an array that was cut in another way.) */
static bool has_rows_each(const struct sc_operand *operand)
{
    struct sc_cuts rows;

    sc_coherence_row_cuts(operand, &rows);
    return rows.n >= sc_coherence_devices();
}

/* C is added to, and a part of it is not on its device. */
static bool brings_result(const struct rank *r)
{
    return !sc_blas_is_zero(r->beta) && sc_blas_missing_of(target_operand(r), r->call->kernel->uplo) > 0;
}

static void cut_operands(struct rank *r)
{
    const struct sc_blas_term *t = &r->term[0];
    const struct sc_plan *plan = r->call->plan;
    int64_t part = brings_result(r) ? plan->arriving.part_added : plan->arriving.part, sum = plan->arriving.sum;

    r->by_sum = part > 0 && has_rows_each(t->x) && has_rows_each(t->y);
    if (r->tiles.n >= FINE * sc_coherence_devices() && !r->by_sum)
        return;
    refine(r, t->x, t->tx == 'N', r->by_sum ? part : sum);
    refine(r, t->y, t->ty != 'N', r->by_sum ? part : sum);
    r->by_sum = r->by_sum && r->k.n > r->sums.n;
}

/* So wide that all columns have strips. */
static int64_t least_width(const struct rank *r, int64_t least)
{
    while (least * SC_BLAS_STRIPS_MOST < r->call->kernel->n)
        least *= 2;
    return least;
}

/* A and B arrive by strips along the sum, and C goes home.  The longest columns of C add the strips as they arrive, for
 * as long as the transfers take.  If C is added to, these columns arrive before A and B.  Each of the other columns
 * adds the whole sum at once.  Finished columns go home in the meantime. */
static void cut_along(struct rank *r)
{
    struct sc_strips_rank model = model_of(r);
    int64_t n = model.order, others;
    struct sc_strips_along way;

    cut_operands(r);
    if (r->k.n == 1 || r->t.n > r->tiles.n || !sc_blas_cuts_result(r->call))
        return;
    way = sc_strips_along_choose(&model, least_width(r, ALONG_LEAST));
    sc_blas_cut(&r->t, target_operand(r), way.width, way.width / 2);
    if (r->t.n == r->tiles.n)
        return;
    others = (int64_t)(sqrt(1 - way.share) * (double)n);
    for (int i = 0; i < r->t.n; i++)
        r->meanwhile += is_upper(r) ? r->t.at[i + 1] > others : r->t.at[i] < n - others;
    if (r->meanwhile == r->t.n)
        r->meanwhile--;
    r->by_columns = true;
}

/* The operands' columns are the rows of A and the columns of B: they arrive by strips across the sum. */
static void cut_across(struct rank *r)
{
    struct sc_strips_rank model = model_of(r);
    int64_t width = sc_strips_across_width(&model, least_width(r, ACROSS_LEAST));

    sc_blas_cut(&r->t, target_operand(r), width, width / 2);
    request_across(r, 0, requested_first(r));
    r->across = true;
}

/* For each term a strip has one or more blocks off the diagonal, and a diagonal block, half of which is computed. */
static void cut_result(struct rank *r)
{
    struct sc_blas_blocks blocks = blocks_of(r);

    if (sc_blas_cuts_result(r->call))
        sc_blas_cut_result(r->call, &blocks, &r->places,
                           (struct sc_plan_cut){.sum = r->call->kernel->k, .tasks = 1 + r->terms}, &r->t);
    r->by_columns = r->t.n > r->tiles.n;
}

/* The device that computes the first diagonal block of a tile of C; of a tile without one, the first block. */
static int device_of_tile(const struct rank *r, const struct sc_piece *tile)
{
    int64_t first = tile->r > tile->c ? tile->r : tile->c;
    bool any = first < tile->r + tile->rows && first < tile->c + tile->cols;

    return sc_blas_places_at(&r->places, any ? first : tile->r, any ? first : tile->c, tile);
}

/* For beta = 0: uploads, from tiles on the host only, just the elements that must survive.  Of a result that goes home
 * the other triangle does not. */
static void prepare_result(const struct rank *r)
{
    const struct sc_operand *c = target_operand(r);
    bool home = sc_blas_cuts_result(r->call), overwritten = sc_blas_is_zero(r->beta);
    struct sc_cuts rows, cols;

    if (!home && !overwritten)
        return;
    sc_coherence_row_cuts(c, &rows);
    sc_coherence_col_cuts(c, &cols);
    for (int j = 0; j < cols.n; j++)
        for (int i = 0; i < rows.n; i++) {
            struct sc_piece tile = sc_blas_matrix(c, rows.at[i], cols.at[j], sc_blas_part(&rows, i),
                                                  sc_blas_part(&cols, j), SC_RDWR);
            int device = device_of_tile(r, &tile);

            if (home)
                sc_coherence_keep_triangle(device, &tile);
            /* A failure shows in the tasks, which upload the missing data or fall back. */
            if (overwritten)
                sc_coherence_claim(device, &tile, r->call->kernel->uplo);
        }
}

enum sc_status sc_blas_rank(struct sc_blas_job *call)
{
    struct rank r; /* large: not initialised */
    struct sc_blas_blocks blocks;
    enum sc_status status;

    r.call = call;
    r.by_columns = r.across = r.by_sum = false;
    r.meanwhile = 0;
    r.terms = sc_blas_rank_terms(call, r.term, r.beta);
    sc_coherence_triangle(&call->operand[call->operands - 1], call->kernel->uplo);
    set_cuts(&r);
    blocks = blocks_of(&r);
    sc_blas_place(call, &blocks, &r.places);
    if (r.places.steal)
        ; /* blocks are tiles */
    else if (sc_blas_waits(call, &blocks, &r.places)) {
        if (sc_coherence_devices() > 1)
            cut_operands(&r);
        else if (r.term[0].tx != 'N' && r.term[0].ty == 'N')
            cut_across(&r);
        else
            cut_along(&r);
        if (!r.across && (r.k.n > r.sums.n || sc_coherence_devices() > 1))
            request(&r);
    } else
        cut_result(&r);
    prepare_result(&r);
    status = r.across ? add_across(&r)
             : r.meanwhile ? add_after(&r)
             : r.by_sum    ? add_by_sum(&r)
                           : add_all(&r);
    sc_blas_places_free(&r.places);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
