/* Calls of level 3 that are larger than the devices' memory.  The call becomes a sequence of calls on parts that fit.
 *
 * A part of the result stays on the devices while the other operands pass by in slices along the sum.  With square
 * parts of c x c elements a product of order n moves 2 n^3 / c elements of its factors.  No order moves less than
 * 2 n^3 / sqrt(elements in memory) (Smith, Lowery, Langou, van de Geijn 2019, "A tight I/O lower bound for matrix
 * multiplication").  The part of the result takes FOR_RESULT of the room, and the slices take the rest twice: the least
 * recently used tiles are then those of the slice before the last.
 *
 * Boundaries of parts and slices are boundaries of tiles where possible.  The plan cuts new matrices of such a call
 * into small square tiles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blas/run/triangle.h"

#define FOR_RESULT 0.8
#define LEAST_RESULT 0.2 /* of the room, where tiles are wide */
#define DIAGONAL 1.1 /* times half of a square, for a triangle in tiles */
#define FOR_TRIANGLE 0.18 /* the diagonal block of a triangular matrix, beside a part of the result */

struct range {
    int64_t from, end;
};

struct larger {
    const struct sc_blas_job *call;
    int terms;
    struct sc_blas_term term[2];
    char symmetric;            /* 'x' or 'y': this factor is a stored triangle of A; 0: none */
    double beta[2];
    struct sc_cuts rows, cols; /* parts of the result */
    struct sc_cuts sum;        /* slices */
};

/* The four kinds of operations, by their row of ops/operations.tab. */
static bool is_product(enum sc_op op) { return op == SC_OP_GEMM; }
static bool is_triangular(enum sc_op op) { return sc_ops[op].diag; }
static bool is_symmetric(enum sc_op op) { return sc_op_has_side(op) && !is_triangular(op); }
static bool is_rank(enum sc_op op) { return sc_ops[op].uplo && !sc_op_has_side(op); }

static const struct sc_operand *result_of(const struct larger *l) { return &l->call->operand[l->call->operands - 1]; }
static bool is_left(const struct larger *l) { return l->call->kernel->side == 'L'; }
static int64_t length(struct range r) { return r.end - r.from; }
static struct range part(const struct sc_cuts *cuts, int i) { return (struct range){cuts->at[i], cuts->at[i + 1]}; }

/* --- the call as products of matrices ----------------------------------------------------------------------------- */

/* A call with a triangular or symmetric A: A and B are x and y, or y and x. */
static void set_sided_term(struct larger *l)
{
    const struct sc_kernel *k = l->call->kernel;
    const struct sc_operand *a = &l->call->operand[0], *b = &l->call->operand[1];
    char trans = is_triangular(k->op) ? k->transa : 'N';
    const double *alpha = k->op == SC_OP_TRSM ? (const double[2]){-1, 0} : k->alpha;

    l->term[0] = is_left(l) ? (struct sc_blas_term){a, b, trans, 'N', {alpha[0], alpha[1]}}
                            : (struct sc_blas_term){b, a, 'N', trans, {alpha[0], alpha[1]}};
    l->symmetric = is_triangular(k->op) ? 0 : is_left(l) ? 'x' : 'y';
    if (is_triangular(k->op))
        memcpy(l->beta, k->op == SC_OP_TRSM ? k->alpha : (const double[2]){1, 0}, sizeof l->beta);
}

static void set_terms(struct larger *l)
{
    const struct sc_kernel *k = l->call->kernel;

    l->terms = 1;
    l->symmetric = 0;
    memcpy(l->beta, k->beta, sizeof l->beta);
    if (is_rank(k->op))
        l->terms = sc_blas_rank_terms(l->call, l->term, l->beta);
    else if (is_product(k->op))
        l->term[0] = (struct sc_blas_term){&l->call->operand[0], &l->call->operand[1], k->transa, k->transb,
                                           {k->alpha[0], k->alpha[1]}};
    else
        set_sided_term(l);
}

/* --- parts and slices --------------------------------------------------------------------------------------------- */

/* Cuts an extent into so many parts of nearly equal length, at boundaries of tiles where possible. */
static void divide(const struct sc_cuts *tiles, int64_t extent, int64_t parts, struct sc_cuts *cuts)
{
    parts = parts < SC_CUTS_MAX ? parts : SC_CUTS_MAX;
    cuts->n = 0;
    cuts->at[0] = 0;
    for (int64_t i = 1; i <= parts && cuts->at[cuts->n] < extent; i++) {
        int64_t want = extent / parts * i, at = cuts->at[cuts->n], best = at;

        for (int t = 1; t < tiles->n; t++)
            if (tiles->at[t] > at && llabs(tiles->at[t] - want) < llabs(best - want))
                best = tiles->at[t];
        best = i == parts ? extent : best > at ? best : want;
        if (best > at) /* a tile may reach beyond the next part */
            cuts->at[++cuts->n] = best;
    }
}

/* Adds cuts of a range into slices of at most `most`: as many tiles as fit, and a tile where none fits. */
static void slice(const struct sc_cuts *tiles, struct range all, int64_t most, struct sc_cuts *cuts)
{
    int64_t at = all.from, next;

    for (int t = 0; at < all.end && cuts->n < SC_CUTS_MAX; at = next) {
        while (tiles->at[t] <= at)
            t++;
        while (t < tiles->n && tiles->at[t + 1] <= at + most)
            t++;
        next = tiles->at[t] < all.end ? tiles->at[t] : all.end;
        if (cuts->n == SC_CUTS_MAX - 1)
            next = all.end;
        cuts->at[++cuts->n] = next;
    }
}

static int64_t parts_of(int64_t extent, double most)
{
    return most >= (double)extent ? 1 : most <= 1 ? extent : (int64_t)ceil((double)extent / most);
}

/* The devices as the tiles of the result are dealt out to them. */
struct grid {
    int down, across;
};

static struct grid grid_of(const struct larger *l)
{
    struct grid g = {sc_coherence_devices(), 1};

    if (!l->call->plan->larger.by_rows)
        sc_device_grid(sc_coherence_devices(), &g.down, &g.across);
    return g;
}

/* The numbers of parts of an m x n result, of at most `most` elements each, for which the fewest bytes pass by: the
 * rows' factor once for each part of the columns and for each device of a row of the grid, and the columns' factor
 * likewise.  rows, cols: at least so many. */
static void choose(int64_t m, int64_t n, double most, struct grid g, int64_t *rows, int64_t *cols)
{
    int64_t least_rows = *rows, least_cols = *cols;
    double best = INFINITY;

    for (int64_t r = least_rows; r <= m && r <= SC_CUTS_MAX; r++) {
        int64_t c = parts_of(n, most / ceil((double)m / (double)r));
        double passes;

        c = c > least_cols ? c : least_cols;
        passes = (double)m * (double)c * g.across + (double)n * (double)r * g.down;
        if (passes < best) {
            best = passes;
            *rows = r;
            *cols = c;
        }
    }
}

/* One part is a triangle; of more, the largest are squares.  Links between devices bring the factors to squares
 * faster. */
static int64_t parts_of_triangle(const struct larger *l, int64_t n, double most)
{
    if (!l->call->plan->larger.apart)
        return parts_of(n, sqrt(most));
    return DIAGONAL / 2 * (double)n * (double)n <= most ? 1 : parts_of(n, sqrt(most));
}

/* Numbers of parts of the result, and the length of slices in elements. */
struct sizes {
    int64_t rows, cols, slice;
};

/* share: of the room, for a part of the result. */
static struct sizes sizes_with(const struct larger *l, double share)
{
    const struct sc_kernel *k = l->call->kernel;
    const struct sc_view *c = &result_of(l)->view;
    double room = (double)l->call->plan->larger.room / (double)sc_type_bytes(k->type), around, length;
    double result = share * room * sc_coherence_devices();
    struct grid g = grid_of(l);
    int64_t rows = 1, cols = 1;

    if (is_triangular(k->op))
        *(is_left(l) ? &rows : &cols) = parts_of(is_left(l) ? c->rows : c->cols, sqrt(2 * FOR_TRIANGLE * room));
    if (is_rank(k->op))
        rows = cols = parts_of_triangle(l, c->rows, result);
    else
        choose(c->rows, c->cols, result, l->call->plan->larger.apart ? g : (struct grid){1, 1}, &rows, &cols);
    if (!l->call->plan->larger.apart)
        g = (struct grid){1, 1};
    around = (double)c->rows / (double)rows / g.down + (double)c->cols / (double)cols / g.across;
    length = (1 - share) * room / (2 * around);
    return (struct sizes){rows, cols, length < 1 ? 1 : (int64_t)length};
}

/* A slice has at least a tile: smaller parts of the result leave room for wide tiles. */
static struct sizes sizes_of(const struct larger *l, const struct sc_cuts *tiles)
{
    struct sizes sizes = sizes_with(l, FOR_RESULT);
    int64_t widest = 0;

    for (int i = 0; i < tiles->n; i++)
        widest = sc_blas_part(tiles, i) > widest ? sc_blas_part(tiles, i) : widest;
    for (double share = FOR_RESULT; sizes.slice < widest && share > LEAST_RESULT; share *= 0.9)
        sizes = sizes_with(l, share);
    return sizes;
}

static void set_cuts(struct larger *l)
{
    const struct sc_operand *c = result_of(l);
    const struct sc_blas_term *t = &l->term[0];
    struct sc_cuts rows, cols, sum;
    struct sizes sizes;
    const struct sc_cuts *along;
    bool rank = is_rank(l->call->kernel->op);

    sc_coherence_row_cuts(c, &rows);
    sc_blas_merge_op_rows(&rows, t->x, t->tx);
    sc_coherence_col_cuts(c, &cols);
    sc_blas_merge_op_cols(&cols, t->y, t->ty);
    sc_blas_whole(&sum, t->tx == 'N' ? t->x->view.cols : t->x->view.rows);
    sc_blas_merge_op_cols(&sum, t->x, t->tx);
    sc_blas_merge_op_rows(&sum, t->y, t->ty);
    sizes = sizes_of(l, &sum);
    divide(&rows, c->view.rows, sizes.rows, &l->rows);
    divide(rank ? &rows : &cols, c->view.cols, sizes.cols, &l->cols);
    along = rank || is_product(l->call->kernel->op) ? NULL : is_left(l) ? &l->rows : &l->cols;
    l->sum.n = 0;
    l->sum.at[0] = 0;
    for (int i = 0; i < (along ? along->n : 1); i++) /* slices within the parts */
        slice(&sum, along ? part(along, i) : (struct range){0, sum.at[sum.n]}, sizes.slice, &l->sum);
}

/* --- calls on parts ----------------------------------------------------------------------------------------------- */

/* A call on parts of the call's operands, with a plan of its own for places and strips. */
static enum sc_status run(const struct larger *l, enum sc_status (*function)(struct sc_blas_job *),
                          const struct sc_kernel *kernel, struct sc_operand *operand, int operands)
{
    struct sc_plan plan = *l->call->plan;
    struct sc_blas_job job = *l->call;
    struct sc_view view[3];
    enum sc_status status;

    for (int i = 0; i < operands; i++) {
        operand[i].view.access = i < operands - 1 ? SC_READ : SC_RDWR;
        view[i] = operand[i].view;
    }
    plan.placed = false;
    job.kernel = kernel;
    job.operand = operand;
    job.operands = operands;
    job.view = view;
    job.plan = &plan;
    status = function(&job);
    if (job.tried.trial.width)
        sc_blas_tried_end(&job.tried);
    return status;
}

static void take(const struct sc_operand *whole, struct range rows, struct range cols, struct sc_operand *taken)
{
    sc_coherence_part(whole, rows.from, cols.from, length(rows), length(cols), taken);
}

/* Rows and columns of op(factor).  Returns the transposition of the stored part. */
static char take_factor(const struct larger *l, const struct sc_operand *factor, char trans, bool stored_triangle,
                        struct range rows, struct range cols, struct sc_operand *taken)
{
    const struct sc_kernel *k = l->call->kernel;

    if (stored_triangle && (k->uplo == 'U') != (rows.from < cols.from))
        trans = k->op == SC_OP_HEMM ? 'C' : 'T';
    if (trans == 'N')
        take(factor, rows, cols, taken);
    else
        take(factor, cols, rows, taken);
    return trans;
}

static char take_x(const struct larger *l, int term, struct range rows, struct range sum, struct sc_operand *taken)
{
    const struct sc_blas_term *t = &l->term[term];

    return take_factor(l, t->x, t->tx, l->symmetric == 'x', rows, sum, taken);
}

static char take_y(const struct larger *l, int term, struct range sum, struct range cols, struct sc_operand *taken)
{
    const struct sc_blas_term *t = &l->term[term];

    return take_factor(l, t->y, t->ty, l->symmetric == 'y', sum, cols, taken);
}

/* Result part := slice of the products + beta * result part, where beta is 1 unless `first`. */
static enum sc_status add_products(const struct larger *l, struct range rows, struct range cols, struct range sum,
                                   bool first)
{
    enum sc_status status = SC_OK;

    if (!length(rows) || !length(cols))
        return SC_OK;
    for (int e = 0; e < l->terms && status == SC_OK; e++) {
        struct sc_kernel kernel = *l->call->kernel;
        struct sc_operand operand[3];

        kernel.op = SC_OP_GEMM;
        kernel.m = length(rows);
        kernel.n = length(cols);
        kernel.k = length(sum);
        kernel.transa = take_x(l, e, rows, sum, &operand[0]);
        kernel.transb = take_y(l, e, sum, cols, &operand[1]);
        take(result_of(l), rows, cols, &operand[2]);
        memcpy(kernel.alpha, l->term[e].alpha, sizeof kernel.alpha);
        sc_blas_set_beta(&kernel, l->beta, first && e == 0);
        status = run(l, sc_blas_gemm, &kernel, operand, 3);
    }
    return status;
}

/* A slice of a part on the diagonal of a rank update. */
static enum sc_status add_to_triangle(const struct larger *l, struct range t, struct range sum, bool first)
{
    struct sc_kernel kernel = *l->call->kernel;
    struct sc_operand operand[3];
    int operands = l->call->operands;

    kernel.n = length(t);
    kernel.k = length(sum);
    sc_blas_set_beta(&kernel, l->call->kernel->beta, first);
    take_x(l, 0, t, sum, &operand[0]);
    if (operands == 3 && l->terms == 2)
        take_x(l, 1, t, sum, &operand[1]);
    else if (operands == 3)
        take_y(l, 0, sum, t, &operand[1]);
    take(result_of(l), t, t, &operand[operands - 1]);
    return run(l, sc_blas_rank, &kernel, operand, operands);
}

/* A slice of a symmetric matrix that meets the diagonal in the rows (left) or columns of the part: what is beside the
 * diagonal block, and the block. */
static enum sc_status add_symmetric(const struct larger *l, struct range rows, struct range cols, struct range sum,
                                    bool first)
{
    struct range along = is_left(l) ? rows : cols, before = {along.from, sum.from}, after = {sum.end, along.end};
    struct sc_kernel kernel = *l->call->kernel;
    struct sc_operand operand[3];
    enum sc_status status = add_products(l, is_left(l) ? before : rows, is_left(l) ? cols : before, sum, first);

    if (status == SC_OK)
        status = add_products(l, is_left(l) ? after : rows, is_left(l) ? cols : after, sum, first);
    if (status != SC_OK)
        return status;
    *(is_left(l) ? &rows : &cols) = sum;
    kernel.m = length(rows);
    kernel.n = length(cols);
    sc_blas_set_beta(&kernel, l->beta, first);
    take(&l->call->operand[0], sum, sum, &operand[0]);
    take(&l->call->operand[1], rows, cols, &operand[1]);
    take(result_of(l), rows, cols, &operand[2]);
    return run(l, sc_blas_symm, &kernel, operand, 3);
}

static enum sc_status add_slice(const struct larger *l, struct range rows, struct range cols, struct range sum,
                                bool first)
{
    enum sc_op op = l->call->kernel->op;
    struct range along = is_left(l) ? rows : cols;

    if (is_rank(op) && rows.from == cols.from)
        return add_to_triangle(l, rows, sum, first);
    if (is_symmetric(op) && sum.from >= along.from && sum.end <= along.end)
        return add_symmetric(l, rows, cols, sum, first);
    return add_products(l, rows, cols, sum, first);
}

/* --- orders ------------------------------------------------------------------------------------------------------- */

/* gemm, symm, rank updates: parts of the result in any order. */
static enum sc_status by_result(const struct larger *l)
{
    bool triangle = is_rank(l->call->kernel->op), upper = l->call->kernel->uplo == 'U';
    enum sc_status status = SC_OK;

    for (int j = 0; j < l->cols.n; j++)
        for (int i = 0; i < l->rows.n; i++)
            for (int s = 0; s < l->sum.n && status == SC_OK && !(triangle && (upper ? i > j : i < j)); s++)
                status = add_slice(l, part(&l->rows, i), part(&l->cols, j), part(&l->sum, s), s == 0);
    return status;
}

/* The call's operation on the diagonal block `along`, and the same rows (left) or columns of B. */
static enum sc_status diagonal(const struct larger *l, struct range along, struct range rows, struct range cols,
                               bool with_alpha)
{
    struct sc_kernel kernel = *l->call->kernel;
    struct sc_operand operand[2];

    kernel.m = length(rows);
    kernel.n = length(cols);
    if (!with_alpha) {
        kernel.alpha[0] = 1;
        kernel.alpha[1] = 0;
    }
    take(&l->call->operand[0], along, along, &operand[0]);
    take(result_of(l), rows, cols, &operand[1]);
    return run(l, kernel.op == SC_OP_TRSM ? sc_blas_trsm : sc_blas_trmm, &kernel, operand, 2);
}

/* A part of trmm or trsm: the diagonal block, and the slices before or behind it.  trsm subtracts solved
 * slices and then solves.  trmm multiplies and then adds slices that still have their old values. */
static enum sc_status triangular_part(const struct larger *l, struct range along, struct range rows, struct range cols,
                                      bool before)
{
    bool solves = l->call->kernel->op == SC_OP_TRSM, first = true;
    enum sc_status status = solves ? SC_OK : diagonal(l, along, rows, cols, true);

    for (int s = 0; s < l->sum.n && status == SC_OK; s++) {
        struct range sum = part(&l->sum, s);

        if (before ? sum.end > along.from : sum.from < along.end)
            continue;
        status = add_products(l, rows, cols, sum, solves && first);
        first = false;
    }
    return solves && status == SC_OK ? diagonal(l, along, rows, cols, first) : status;
}

static enum sc_status by_triangle(const struct larger *l)
{
    const struct sc_cuts *along = is_left(l) ? &l->rows : &l->cols, *across = is_left(l) ? &l->cols : &l->rows;
    bool before = sc_blas_op_is_lower(l->call->kernel) == is_left(l);
    bool ascending = before == (l->call->kernel->op == SC_OP_TRSM);
    enum sc_status status = SC_OK;

    for (int q = 0; q < across->n; q++)
        for (int step = 0; step < along->n && status == SC_OK; step++) {
            struct range here = part(along, ascending ? step : along->n - 1 - step), other = part(across, q);

            status = triangular_part(l, here, is_left(l) ? here : other, is_left(l) ? other : here, before);
        }
    return status;
}

enum sc_status sc_blas_larger(struct sc_blas_job *call)
{
    struct larger l; /* large: not initialised */

    l.call = call;
    set_terms(&l);
    set_cuts(&l);
    return is_triangular(call->kernel->op) ? by_triangle(&l) : by_result(&l);
}
/* SPDX-License-Identifier: BSD-2-Clause */
