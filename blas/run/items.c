/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches of products whose operands are not equally far apart: pools of matrices, blocks of a matrix, groups of
 * different shapes.
 *
 * The A of all products lie in one range of memory, and so do the B and the C.  Each range is an operand, a vector, and
 * goes up in one transfer.  The products are dealt out to the devices by the places of their results: a device gets one
 * task, with the ranges of its products. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/page.h"
#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"

enum { OPERANDS = 3, RESULT = 2, ATTEMPTS = 3 };

#define DENSE 2 /* a range has at most so many times the elements of its matrices */

/* Addresses or elements. */
struct range {
    int64_t from, end;
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static bool overlap(struct range a, struct range b) { return a.from < b.end && b.from < a.end; }
static struct range both(struct range a, struct range b)
{
    return (struct range){least(a.from, b.from), most(a.end, b.end)};
}

/* --- places ------------------------------------------------------------------------------------------------------- */

static int64_t place_of(const struct sc_batch_item *p, int i) { return i == 0 ? p->a : i == 1 ? p->b : p->c; }
static int64_t ld_of(const struct sc_batch_item *p, int i) { return i == 0 ? p->lda : i == 1 ? p->ldb : p->ldc; }

static int64_t rows_of(const struct sc_batch_item *p, int i)
{
    return i == 1 ? (p->transb == 'N' ? p->k : p->n) : i == 0 && p->transa != 'N' ? p->k : p->m;
}

static int64_t cols_of(const struct sc_batch_item *p, int i)
{
    return i == 0 ? (p->transa == 'N' ? p->k : p->m) : i == 1 && p->transb != 'N' ? p->k : p->n;
}

/* The range of operand i of a product; unit: of a place, in elements. */
static struct range range_of(const struct sc_batch_item *item, int i, int64_t unit)
{
    int64_t from = place_of(item, i), span = (cols_of(item, i) - 1) * ld_of(item, i) + rows_of(item, i);

    return (struct range){from, from + span * unit};
}

static struct range hull_of(const struct sc_batch_items *items, int i, int64_t unit)
{
    struct range hull = range_of(&items->item[0], i, unit);

    for (int64_t p = 1; p < items->count; p++)
        hull = both(hull, range_of(&items->item[p], i, unit));
    return hull;
}

static int by_from(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

/* The ranges of operand i, ascending.  Matrices mostly are in this order already. */
static void sort_ranges(const struct sc_batch_items *items, int i, int64_t unit, struct range *sorted)
{
    bool ascending = true;

    for (int64_t p = 0; p < items->count; p++) {
        sorted[p] = range_of(&items->item[p], i, unit);
        ascending = ascending && (p == 0 || sorted[p].from >= sorted[p - 1].from);
    }
    if (!ascending)
        qsort(sorted, (size_t)items->count, sizeof *sorted, by_from);
}

/* Whether the range of addresses may be one operand: little of the range is between matrices, and no page of the range
 * may be missing.  A gap of less than a page has none. */
static bool is_dense(const struct range *sorted, int64_t count, struct range hull)
{
    int64_t covered = sorted[0].end - sorted[0].from, end = sorted[0].end;
    uintptr_t base;
    size_t bytes;
    bool gaps = false;

    for (int64_t p = 1; p < count; p++) {
        gaps |= sorted[p].from - end >= (int64_t)SC_PAGE;
        covered += most(0, sorted[p].end - most(end, sorted[p].from));
        end = most(end, sorted[p].end);
    }
    if (covered < (hull.end - hull.from) / DENSE)
        return false;
    return !gaps || (sc_coherence_block((const void *)(uintptr_t)hull.from, &base, &bytes) &&
                     (uintptr_t)hull.end <= base + bytes);
}

static bool are_apart(const struct range *sorted, int64_t count)
{
    for (int64_t p = 1; p < count; p++)
        if (sorted[p].from < sorted[p - 1].end)
            return false;
    return true;
}

/* --- results in one matrix ---------------------------------------------------------------------------------------- */

struct rectangle {
    struct range rows, cols;
};

static int by_row(const void *a, const void *b)
{
    const struct rectangle *x = a, *y = b;

    return (x->rows.from > y->rows.from) - (x->rows.from < y->rows.from);
}

static int by_column(const void *a, const void *b)
{
    const struct rectangle *x = a, *y = b;

    return (x->cols.from > y->cols.from) - (x->cols.from < y->cols.from);
}

/* The first row of the matrix, in elements from the hull's begin: no result goes over the end of a column.  -1: the
 * results have no such matrix.  rows: of all results, from 0 to ld, ascending. */
static int64_t first_row(const struct rectangle *rows, int64_t count, int64_t ld)
{
    int64_t end = 0;

    for (int64_t p = 0; p < count; p++) /* what goes over the end reaches to here */
        end = most(end, rows[p].rows.end - ld);
    for (int64_t p = 0; p < count; p++) {
        if (rows[p].rows.from >= end)
            return rows[p].rows.from;
        end = most(end, rows[p].rows.end);
    }
    return -1;
}

/* Goes through the rectangles by columns, and keeps those that may reach the present column, ascending by rows and
 * apart. */
static bool rectangles_are_apart(struct rectangle *all, int64_t count, struct rectangle *kept)
{
    int64_t n = 0;

    qsort(all, (size_t)count, sizeof *all, by_column);
    for (int64_t p = 0; p < count; p++) {
        int64_t low = 0, high = n, end;

        while (low < high) { /* the first that ends behind the begin */
            int64_t middle = (low + high) / 2;

            if (kept[middle].rows.end <= all[p].rows.from)
                low = middle + 1;
            else
                high = middle;
        }
        for (end = low; end < n && kept[end].rows.from < all[p].rows.end; end++)
            if (kept[end].cols.end > all[p].cols.from)
                return false;
        memmove(&kept[low + 1], &kept[end], (size_t)(n - end) * sizeof *kept);
        kept[low] = all[p];
        n += 1 - (end - low);
    }
    return true;
}

/* Results that are blocks of one matrix, whose ranges overlap. */
static bool are_blocks(const struct sc_batch_items *items, int64_t unit, int64_t from)
{
    const int64_t ld = items->item[0].ldc, count = items->count;
    struct rectangle *all = malloc(2 * ((size_t)count + 1) * sizeof *all);
    bool good = all != NULL;
    int64_t top;

    for (int64_t p = 0; p < count && good; p++) {
        const struct sc_batch_item *item = &items->item[p];
        int64_t row = (item->c - from) / unit % ld;

        all[p] = (struct rectangle){.rows = {row, row + item->m}};
        good = item->ldc == ld;
    }
    if (good) {
        qsort(all, (size_t)count, sizeof *all, by_row);
        top = first_row(all, count, ld);
        good = top >= 0;
    }
    for (int64_t p = 0; p < count && good; p++) {
        const struct sc_batch_item *item = &items->item[p];
        int64_t at = (item->c - from) / unit - top + ld;

        all[p] = (struct rectangle){{at % ld, at % ld + item->m}, {at / ld, at / ld + item->n}};
    }
    good = good && rectangles_are_apart(all, count, all + count + 1);
    free(all);
    return good;
}

/* --- the record --------------------------------------------------------------------------------------------------- */

/* Whether the operands of the products may be the three ranges. */
static bool suit(const struct sc_batch_items *items, int64_t unit, const struct range hull[OPERANDS])
{
    struct range *sorted;
    bool good = true;

    for (int64_t p = 0; p < items->count; p++)
        for (int i = 0; i < OPERANDS; i++) {
            struct range r = range_of(&items->item[p], i, unit);

            good = good && r.from > 0 && (r.from - hull[i].from) % unit == 0;
        }
    if (!good || overlap(hull[0], hull[RESULT]) || overlap(hull[1], hull[RESULT]))
        return false;
    sorted = malloc((size_t)items->count * sizeof *sorted);
    for (int i = 0; i < OPERANDS && good; i++) {
        if (sorted)
            sort_ranges(items, i, unit, sorted);
        good = sorted && is_dense(sorted, items->count, hull[i]);
    }
    good = good && (are_apart(sorted, items->count) || are_blocks(items, unit, hull[RESULT].from));
    free(sorted);
    return good;
}

/* Factors that lie among each other are one range. */
static void join_factors(struct range hull[OPERANDS])
{
    if (overlap(hull[0], hull[1]))
        hull[0] = hull[1] = both(hull[0], hull[1]);
}

/* The record's sizes: those of one product with the sum of all columns of C. */
static void set_sizes(const struct sc_batch_items *items, struct sc_kernel *k)
{
    double work = 0, area = 0;

    k->n = 0;
    for (int64_t p = 0; p < items->count; p++) {
        const struct sc_batch_item *item = &items->item[p];

        k->n += item->n;
        area += (double)item->m * (double)item->n;
        work += (double)item->m * (double)item->n * (double)item->k;
    }
    k->m = most(1, (int64_t)(area / (double)k->n));
    k->k = most(1, (int64_t)(work / (double)k->m / (double)k->n));
}

static int shapes_of(const struct sc_batch_items *items)
{
    int shapes = 1;

    for (int64_t p = 1; p < items->count; p++)
        shapes += !sc_batch_same_shape(&items->item[p], &items->item[p - 1]);
    return shapes;
}

/* Places become elements behind the ranges' begin.  unit: of the places; base: of the places, NULL for addresses. */
static void set_record(struct sc_batch_items *items, const struct range hull[OPERANDS], int64_t unit,
                       char *const base[OPERANDS], struct sc_kernel *k)
{
    void **const slot[OPERANDS] = {&k->a, &k->b, &k->c};
    const int64_t bytes = (int64_t)sc_type_bytes(k->type);

    for (int64_t p = 0; p < items->count; p++) {
        struct sc_batch_item *item = &items->item[p];

        item->a = (item->a - hull[0].from) / unit;
        item->b = (item->b - hull[1].from) / unit;
        item->c = (item->c - hull[2].from) / unit;
    }
    for (int i = 0; i < OPERANDS; i++) {
        items->extent[i] = (hull[i].end - hull[i].from) / unit;
        *slot[i] = base[i] ? base[i] + hull[i].from * bytes : (char *)(uintptr_t)hull[i].from;
    }
    items->shapes = shapes_of(items);
    set_sizes(items, k);
    k->batch.count = items->count;
    k->batch.items = items;
}

bool sc_blas_items_record(struct sc_batch_items *items, enum sc_type type, struct sc_kernel *k)
{
    const int64_t unit = (int64_t)sc_type_bytes(type);
    char *const addresses[OPERANDS] = {NULL};
    struct range hull[OPERANDS];

    for (int i = 0; i < OPERANDS; i++)
        hull[i] = hull_of(items, i, unit);
    join_factors(hull);
    if (!suit(items, unit, hull))
        return false;
    *k = (struct sc_kernel){.op = SC_OP_GEMM, .type = type, .transa = 'N', .transb = 'N', .alpha = {1}, .beta = {1},
                            .lda = 1, .ldb = 1, .ldc = 1};
    set_record(items, hull, unit, addresses, k);
    return true;
}

/* --- dealing out -------------------------------------------------------------------------------------------------- */

/* A product by the place of its result. */
struct order {
    int64_t from, end, number;
    double work;
};

static int by_place(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

/* The device's run of each product, where results of different runs lie apart: about equal work.  Returns the number
 * of runs. */
static int deal(const struct sc_batch_items *items, int runs, int *run_of)
{
    struct order *order = runs > 1 ? malloc((size_t)items->count * sizeof *order) : NULL;
    double all = 0, done = 0;
    int64_t end = 0;
    int run = 0;

    memset(run_of, 0, (size_t)items->count * sizeof *run_of);
    if (!order)
        return 1;
    for (int64_t p = 0; p < items->count; p++) {
        const struct sc_batch_item *item = &items->item[p];
        struct range r = range_of(item, RESULT, 1);

        order[p] = (struct order){r.from, r.end, p, (double)item->m * (double)item->n * (double)item->k};
        all += order[p].work;
    }
    qsort(order, (size_t)items->count, sizeof *order, by_place);
    for (int64_t p = 0; p < items->count; p++) {
        if (run < runs - 1 && order[p].from >= end && done >= all * (run + 1) / runs)
            run++;
        run_of[order[p].number] = run;
        end = most(end, order[p].end);
        done += order[p].work;
    }
    free(order);
    return run + 1;
}

/* The products of a run, in the order of the call. */
static struct sc_batch_items *take(const struct sc_batch_items *items, const int *run_of, int run)
{
    struct sc_batch_items *taken;
    int64_t count = 0;

    for (int64_t p = 0; p < items->count; p++)
        count += run_of[p] == run;
    taken = malloc(sc_batch_bytes(count));
    if (!taken)
        return NULL;
    taken->count = 0;
    for (int64_t p = 0; p < items->count; p++)
        if (run_of[p] == run)
            taken->item[taken->count++] = items->item[p];
    return taken;
}

/* The ranges of the runs.  Factors that several runs share stay one operand.  joined: A and B are one range. */
static void set_hulls(struct sc_batch_items *const run[], int runs, const struct sc_batch_items *items, bool joined,
                      struct range hull[][OPERANDS])
{
    bool shared = joined;

    for (int r = 0; r < runs; r++) {
        for (int i = 0; i < OPERANDS; i++)
            hull[r][i] = hull_of(run[r], i, 1);
        for (int s = 0; s < r; s++)
            for (int i = 0; i < RESULT; i++)
                shared = shared || overlap(hull[r][i], hull[s][i]);
    }
    for (int r = 0; r < runs && shared; r++)
        for (int i = 0; i < RESULT; i++)
            hull[r][i] = (struct range){0, items->extent[i]};
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

/* Between begin and end. */
struct run {
    struct sc_kernel kernel;
    struct sc_view view[OPERANDS];
    struct sc_operand operand[OPERANDS];
};

/* Sends operands that are cut home.  False: there are none. */
static bool join(struct run *r)
{
    bool cut[OPERANDS], any = false;
    struct sc_cuts cuts;

    for (int i = 0; i < OPERANDS; i++) {
        sc_coherence_row_cuts(&r->operand[i], &cuts);
        cut[i] = cuts.n != 1;
        any |= cut[i];
    }
    if (!any)
        return false;
    sc_coherence_end(r->operand, OPERANDS);
    for (int i = 0; i < OPERANDS; i++)
        if (cut[i])
            sc_coherence_release_range((uintptr_t)r->view[i].ptr, sc_view_span(&r->view[i]));
    return true;
}

static enum sc_status begin(struct run *r)
{
    enum sc_status status = SC_OK;

    for (int attempt = 0; attempt < ATTEMPTS && status == SC_OK; attempt++) {
        sc_kernel_views(&r->kernel, r->view);
        for (int i = 0; i < OPERANDS; i++)
            r->view[i].spread = 1;
        status = sc_coherence_begin(r->view, OPERANDS, r->operand);
        if (status == SC_OK && !join(r))
            return SC_OK;
    }
    return status == SC_OK ? SC_ERR_UNSUPPORTED : status;
}

/* The device that lacks the least; of new data, the device of the run. */
static int device_of(const struct sc_piece piece[OPERANDS], int run)
{
    int devices = sc_coherence_devices(), best = run % devices;
    uint64_t fewest = UINT64_MAX;

    for (int d = 0; d < devices; d++) {
        int device = (run + d) % devices;
        uint64_t missing = 0;

        for (int i = 0; i < OPERANDS; i++)
            missing += sc_coherence_missing(device, &piece[i]);
        if (missing < fewest) {
            fewest = missing;
            best = device;
        }
    }
    return best;
}

static enum sc_status compute(struct run *r, int number, const struct sc_producer *producer)
{
    struct sc_piece piece[OPERANDS];
    enum sc_status status = begin(r);

    if (status != SC_OK)
        return status;
    for (int i = 0; i < OPERANDS; i++)
        piece[i] = sc_blas_vector(&r->operand[i], 0, r->view[i].rows, r->view[i].access);
    status = sc_blas_task(device_of(piece, number), &r->kernel, piece[0], piece[1], piece[2]);
    sc_coherence_push(r->operand, OPERANDS, producer);
    sc_coherence_end(r->operand, OPERANDS);
    if (status != SC_OK)
        sc_log(SC_LOG_ERROR, "a part of a batch could not be computed (%s); results may be wrong",
               sc_status_name(status));
    return SC_OK;
}

static void compute_on_host(struct run *r)
{
    sc_kernel_views(&r->kernel, r->view);
    for (int i = 0; i < OPERANDS; i++)
        sc_coherence_acquire_view(&r->view[i]);
    if (sc_coherence_kernel_on_host(&r->kernel) != SC_OK)
        sc_log(SC_LOG_ERROR, "a part of a batch could not be computed; results may be wrong");
}

static bool compute_runs(const struct sc_blas_job *call, struct sc_batch_items *const items[], int runs)
{
    const struct sc_producer producer = {.seconds = call->plan->exchange.seconds,
                                         .devices = call->plan->exchange.devices};
    char *const base[OPERANDS] = {call->kernel->a, call->kernel->b, call->kernel->c};
    struct range hull[SC_DEVICES_MAX][OPERANDS];

    set_hulls(items, runs, call->kernel->batch.items, base[0] == base[1], hull);
    for (int i = 0; i < runs; i++) {
        struct run run = {.kernel = *call->kernel};

        set_record(items[i], hull[i], 1, base, &run.kernel);
        if (compute(&run, i, &producer) == SC_OK)
            continue;
        if (i == 0)
            return false;
        compute_on_host(&run);
    }
    return true;
}

bool sc_blas_items(struct sc_blas_job *call)
{
    const struct sc_batch_items *items = call->kernel->batch.items;
    struct sc_batch_items *run[SC_DEVICES_MAX] = {NULL};
    int *run_of = malloc((size_t)items->count * sizeof *run_of);
    int spread = call->plan->operand[RESULT].spread, runs;
    bool done = run_of != NULL;

    runs = done ? deal(items, spread < 1 ? 1 : spread, run_of) : 0;
    for (int i = 0; i < runs && done; i++) {
        run[i] = take(items, run_of, i);
        done = run[i] != NULL;
    }
    done = done && compute_runs(call, run, runs);
    for (int i = 0; i < runs; i++)
        free(run[i]);
    free(run_of);
    return done;
}
