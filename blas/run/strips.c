/* Strips of a call of level 3: asks for their widths (autotuner/plan.h), cuts the result, and times calls that try a
 * width. */
#include "autotuner/explain.h"
#include "autotuner/strips.h"
#include "autotuner/trials.h"
#include "blas/run/tasks.h"
#include "coherence/devices.h"

static const struct sc_operand *result_of(const struct sc_blas_job *call)
{
    return &call->operand[call->operands - 1];
}

/* --- the last strips ---------------------------------------------------------------------------------------------- */

static int device_of(const struct sc_blas_blocks *blocks, const struct sc_blas_places *places, int i, int j)
{
    struct sc_piece piece = blocks->block(blocks->of, i, j);

    return sc_blas_places_at(places, piece.r, piece.c, &piece);
}

/* Finds the parts of the result's columns that some device computes last. */
static void find_last(const struct sc_blas_blocks *b, const struct sc_blas_places *places, struct sc_blas_last *last)
{
    bool seen[SC_DEVICES_MAX] = {false};

    last->count = 0;
    for (int j = b->cols->n - 1; j >= 0 && last->count < sc_coherence_devices(); j--) {
        bool any = false;

        for (int i = 0; i < b->rows->n; i++)
            if (!b->skips || !b->skips(b->of, i, j)) {
                int d = device_of(b, places, i, j);

                any = any || !seen[d];
                seen[d] = true;
            }
        if (any) {
            last->from[last->count] = b->cols->at[j];
            last->end[last->count++] = b->cols->at[j + 1];
        }
    }
}

/* Start of the last strip in [from, end): the last cut, or the cut before if the part beyond the last cut is
 * narrower than a strip. */
static int64_t last_strip(const struct sc_cuts *cuts, int64_t from, int64_t end, int64_t width)
{
    int64_t at = from;

    for (int i = 0; i <= cuts->n; i++)
        at = cuts->at[i] > at && cuts->at[i] <= end - width ? cuts->at[i] : at;
    return at;
}

void sc_blas_cut_at(struct sc_cuts *cuts, int64_t at, int64_t extent)
{
    struct sc_cuts two; /* large: not initialised */

    two.n = 2;
    two.at[0] = 0;
    two.at[1] = at;
    two.at[2] = extent;
    sc_cuts_merge(cuts, &two);
}

void sc_blas_halve(struct sc_cuts *cuts, const struct sc_operand *result, const struct sc_blas_last *last)
{
    for (int i = 0; last->width && i < last->count; i++) {
        int64_t end = last->end[i], from = last_strip(cuts, last->from[i], end, last->width), at;

        for (;; from = at) {
            at = sc_coherence_next_sector(result, from + (end - from) / 2);
            if (at - from < last->width || end - at < last->width)
                break;
            sc_blas_cut_at(cuts, at, result->view.cols);
        }
    }
}

/* --- strips behind A ---------------------------------------------------------------------------------------------- */

/* Times of one of `devices` devices, by its rates: each has a part of the columns.  A comes over the links of all. */
static struct sc_strips_turns turns_of(const struct sc_blas_job *call, int64_t columns, int devices, int growth)
{
    const struct sc_device_properties *device = sc_coherence_device_properties(0);
    const struct sc_kernel *k = call->kernel;
    double link = sc_machine_link(device, SC_HOST) * devices, order = (double)sc_side_order(k->side, k->m, k->n);
    double products = sc_op_work(k->op, k->side, (double)k->m, (double)k->n, 0);
    double result = (double)sc_view_bytes(&result_of(call)->view);

    return (struct sc_strips_turns){
        .kernel = products / sc_machine_products(device, k->type) / devices,
        .strip = sc_solve_seconds(k->op, k->side, k->m, k->n, device->solve),
        .a = (double)sc_blas_missing_of(&call->operand[0], 0) / link,
        .b = (double)sc_blas_missing_of(&call->operand[1], 0) / link, .out = result / link,
        .parts = (int)(order / (double)call->plan->arriving.triangle) + 1, .growth = growth,
        .arrival = !call->operand[0].triangle.uplo ? 0 : growth ? growth : -1, .columns = columns};
}

void sc_blas_behind(struct sc_blas_job *call, struct sc_cuts *cuts, const struct sc_operand *operand, int growth)
{
    int64_t extent = cuts->at[cuts->n], first, width;
    struct sc_strips_turns turns;
    struct sc_cuts parts;
    int devices = cuts->n < sc_coherence_devices() ? cuts->n : sc_coherence_devices();

    parts = *cuts;
    for (int i = 0; i < parts.n; i++) {
        turns = turns_of(call, parts.at[i + 1] - parts.at[i], devices, growth);
        sc_strips_turns_choose(&turns, &first, &width);
        for (int64_t at = parts.at[i] + first; at < parts.at[i + 1] - width / 2; at += width)
            sc_blas_cut_at(cuts, sc_coherence_next_sector(operand, at), extent);
    }
}

/* --- the widths --------------------------------------------------------------------------------------------------- */

static double now(void) { return sc_explain_clock(sc_coherence_virtual_seconds()); }

void sc_blas_widths(struct sc_blas_job *call, const struct sc_blas_blocks *blocks, const struct sc_blas_places *places,
                    struct sc_plan_cut *cut, struct sc_blas_last *last)
{
    struct sc_plan_found found = places->found;
    struct sc_blas_tried *tried = &call->tried;
    struct sc_cuts tiles;

    sc_coherence_row_cuts(result_of(call), &tiles);
    cut->depth = blocks->depth;
    cut->tiles = tiles.n;
    cut->result = sc_view_bytes(&result_of(call)->view);
    if (cut->half) /* sectors are not cut */
        cut->half = sc_coherence_next_sector(result_of(call), 1);
    found.cut = cut;
    sc_plan_refine(&found, call->plan);
    tried->trial = call->plan->strips.trial;
    tried->start = tried->trial.slot < 0 ? 0 : now();
    tried->missing = cut->missing;
    last->width = call->plan->strips.last;
    find_last(blocks, places, last);
}

void sc_blas_cut_result(struct sc_blas_job *call, const struct sc_blas_blocks *blocks,
                        const struct sc_blas_places *places, struct sc_plan_cut cut, struct sc_cuts *cuts)
{
    const struct sc_operand *result = result_of(call);
    int64_t width;
    struct sc_blas_last last;

    if (!places->memory)
        return;
    cut.least = (result->view.cols + SC_BLAS_STRIPS_MOST - 1) / SC_BLAS_STRIPS_MOST;
    sc_blas_widths(call, blocks, places, &cut, &last);
    width = call->plan->strips.width;
    sc_blas_cut(cuts, result, width, width / 2);
    sc_blas_halve(cuts, result, &last);
}

bool sc_blas_cuts_result(const struct sc_blas_job *call)
{
    return sc_strips_fixed || sc_coherence_goes_home(result_of(call));
}

/* --- the time of a call ------------------------------------------------------------------------------------------- */

static struct sc_blas_tried watched; /* written only while no completion is watched */

static void took(void *of)
{
    const struct sc_blas_tried *tried = of;

    sc_trial_took(&tried->trial, sc_explain_clock(-1) - tried->start, tried->home);
}

/* On emulated devices the end of the enqueued work is known.  On other devices the end is noticed when a thread
 * waits for the result.  With resident operands and a result that stays on the devices, strips make no difference. */
void sc_blas_tried_end(const struct sc_blas_tried *tried)
{
    double end;

    if (tried->trial.slot < 0 || (!tried->missing && !tried->home))
        return;
    end = sc_coherence_virtual_seconds();
    if (end >= 0) {
        sc_trial_took(&tried->trial, end - tried->start, tried->home);
        return;
    }
    sc_coherence_on_completion(NULL, NULL);
    watched = *tried;
    sc_coherence_on_completion(took, &watched);
}
/* SPDX-License-Identifier: BSD-2-Clause */
