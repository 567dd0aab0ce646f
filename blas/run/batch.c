/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches of products.  Each operand is one matrix that contains the operands of all products (struct sc_batch).
 *
 * The products of a batch are dealt out to the devices in runs of consecutive products.  New matrices are cut at the
 * same products.  A run is one task: a kernel on a part of the batch.  A matrix that is already cut within a product
 * goes home first and becomes a matrix in one piece. */
#include "base/log.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"

enum { OPERANDS = 3, ATTEMPTS = 3 };

/* A batch between begin and end. */
struct batch {
    const struct sc_kernel *kernel;
    struct sc_view view[OPERANDS];
    struct sc_operand operand[OPERANDS];
    struct sc_cuts cuts[OPERANDS]; /* of columns */
    int64_t rows[OPERANDS], cols[OPERANDS]; /* of the operand of one product */
    struct sc_batch_step step[OPERANDS];
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* One product after the last product whose operand lies in the part of `cuts` where that of product `first` begins;
 * `first` itself if its operand crosses a cut. */
static int64_t end_of_run(const struct batch *b, int i, int64_t first)
{
    const struct sc_cuts *cuts = &b->cuts[i];
    int64_t step = b->step[i].col, from = first * step;
    int part = 0;

    if (cuts->n == 1)
        return b->kernel->batch.count;
    if (!step)
        return first;
    while (cuts->at[part + 1] <= from)
        part++;
    if (cuts->at[part + 1] < from + b->cols[i])
        return first;
    return least((cuts->at[part + 1] - b->cols[i]) / step + 1, b->kernel->batch.count);
}

static bool is_one_row(const struct sc_operand *o)
{
    struct sc_cuts cuts;

    sc_coherence_row_cuts(o, &cuts);
    return cuts.n == 1;
}

/* Whether no operand of a product crosses a cut of operand i. */
static bool suits(struct batch *b, int i)
{
    sc_coherence_col_cuts(&b->operand[i], &b->cuts[i]);
    if (!is_one_row(&b->operand[i]))
        return false;
    for (int64_t at = 0, end; at < b->kernel->batch.count; at = end) {
        end = end_of_run(b, i, at);
        if (end == at)
            return false;
    }
    return true;
}

/* Sends operands with unsuitable cuts home.  False: there are none. */
static bool join(struct batch *b)
{
    bool cut[OPERANDS], any = false;

    for (int i = 0; i < OPERANDS; i++) {
        cut[i] = !suits(b, i);
        any |= cut[i];
    }
    if (!any)
        return false;
    sc_coherence_end(b->operand, OPERANDS);
    for (int i = 0; i < OPERANDS; i++)
        if (cut[i])
            sc_coherence_release_range((uintptr_t)b->view[i].ptr, sc_view_span(&b->view[i]));
    return true;
}

/* How new matrices are cut.  run: products of a device; 0: no cuts. */
static void lay_out(struct batch *b, int devices, int64_t run)
{
    for (int i = 0; i < OPERANDS; i++) {
        b->view[i].tile_rows = b->view[i].tile_cols = 0;
        b->view[i].spread = run && b->step[i].col && !b->step[i].row ? devices : 1;
        b->view[i].block = b->view[i].spread > 1 ? run * b->step[i].col : 0;
    }
}

static enum sc_status begin(struct batch *b, int devices)
{
    const int64_t count = b->kernel->batch.count;
    enum sc_status status = SC_OK;

    for (int attempt = 0; attempt < ATTEMPTS && status == SC_OK; attempt++) {
        lay_out(b, devices, attempt == 0 && devices > 1 ? (count + devices - 1) / devices : 0);
        status = sc_coherence_begin(b->view, OPERANDS, b->operand);
        if (status == SC_OK && !join(b))
            return SC_OK;
    }
    return status == SC_OK ? SC_ERR_UNSUPPORTED : status;
}

static struct sc_piece piece_of(const struct batch *b, int i, int64_t first, int64_t count, enum sc_access access)
{
    const struct sc_batch_step s = b->step[i];

    return (struct sc_piece){.operand = &b->operand[i], .r = first * s.row, .c = first * s.col,
                             .rows = (count - 1) * s.row + b->rows[i], .cols = (count - 1) * s.col + b->cols[i],
                             .access = access};
}

/* End of the products, from `first` on, that one task can compute. */
static int64_t run_end(const struct batch *b, int64_t first)
{
    int64_t end = b->kernel->batch.count;

    for (int i = 0; i < OPERANDS; i++)
        end = least(end, end_of_run(b, i, first));
    return end;
}

/* Whether tasks write whole tiles of a result that they do not read. */
static bool writes_tiles(const struct batch *b)
{
    int parts = 0;

    for (int64_t at = 0; at < b->kernel->batch.count; at = run_end(b, at))
        parts++;
    return parts == b->cuts[2].n;
}

static enum sc_status run_tasks(const struct batch *b)
{
    const struct sc_kernel *k = b->kernel;
    enum sc_access access = b->view[2].access;
    enum sc_status status = SC_OK;

    if (access == SC_WRITE && !writes_tiles(b)) {
        status = sc_blas_clear(&b->operand[2]);
        access = SC_RDWR;
    }
    for (int64_t at = 0, end; at < k->batch.count && status == SC_OK; at = end) {
        struct sc_kernel part = *k;
        struct sc_piece c;

        end = run_end(b, at);
        part.n = k->n / k->batch.count * (end - at);
        part.batch.count = end - at;
        c = piece_of(b, 2, at, end - at, access);
        status = sc_blas_task(sc_coherence_where(&c), &part, piece_of(b, 0, at, end - at, SC_READ),
                              piece_of(b, 1, at, end - at, SC_READ), c);
    }
    return status;
}

bool sc_blas_batch(struct sc_blas_job *call)
{
    const struct sc_kernel *k = call->kernel;
    const struct sc_producer producer = {.seconds = call->plan->exchange.seconds,
                                         .devices = call->plan->exchange.devices};
    const struct sc_kernel one = sc_kernel_of_batch(k, 0);
    struct batch b = {.kernel = k, .step = {k->batch.a, k->batch.b, k->batch.c}};
    enum sc_status status;

    if (sc_blas_is_larger(call))
        return false;
    if (k->batch.items)
        return sc_blas_items(call);
    sc_kernel_views(&one, b.view);
    for (int i = 0; i < OPERANDS; i++) {
        b.rows[i] = b.view[i].rows;
        b.cols[i] = b.view[i].cols;
        b.view[i] = call->view[i];
    }
    if (begin(&b, call->plan->operand[2].spread) != SC_OK)
        return false;
    status = run_tasks(&b);
    sc_coherence_push(b.operand, OPERANDS, &producer);
    sc_coherence_end(b.operand, OPERANDS);
    if (status != SC_OK)
        sc_log(SC_LOG_ERROR, "a part of a batch could not be computed (%s); results may be wrong",
               sc_status_name(status));
    return true;
}
