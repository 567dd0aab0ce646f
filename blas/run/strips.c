/* Strips of a call of level 3: the description of the call for the choice of a width (autotuner/strips.h), and the
 * time of calls that try a width (autotuner/trials.h). */
#include "autotuner/explain.h"
#include "autotuner/start.h"
#include "autotuner/strips.h"
#include "blas/run/tasks.h"
#include "coherence/devices.h"

/* --- the call ----------------------------------------------------------------------------------------------------- */

static const struct sc_operand *result_of(const struct sc_blas_job *call)
{
    return &call->operand[call->operands - 1];
}

static int device_of(const struct sc_blas_look *look, int i, int j)
{
    struct sc_piece piece = look->blocks->block(look->blocks->of, i, j);

    return sc_blas_places_at(look->places, piece.r, piece.c, &piece);
}

/* Describes the device with the most blocks.  The other devices finish no later. */
static void look_at_blocks(const struct sc_blas_job *call, const struct sc_blas_look *look, struct sc_strips *s)
{
    const struct sc_blas_blocks *b = look->blocks;
    int blocks[SC_DEVICES_MAX] = {0}, parts[SC_DEVICES_MAX] = {0}, most = 0;
    int64_t columns[SC_DEVICES_MAX] = {0};
    struct sc_cuts tiles;

    for (int j = 0; j < b->cols->n; j++) {
        bool has[SC_DEVICES_MAX] = {false};

        for (int i = 0; i < b->rows->n; i++) {
            int d;

            if (b->skips && b->skips(b->of, i, j))
                continue;
            d = device_of(look, i, j);
            blocks[d]++;
            parts[d] += !has[d];
            columns[d] += has[d] ? 0 : sc_blas_part(b->cols, j);
            has[d] = true;
        }
    }
    for (int d = 1; d < sc_coherence_devices(); d++)
        most = blocks[d] > blocks[most] ? d : most;
    for (int d = 0; d < sc_coherence_devices(); d++)
        s->devices += blocks[d] > 0;
    s->columns = columns[most];
    s->parts[0] = b->depth > 1 ? b->depth : 1;
    s->parts[1] = parts[most];
    s->blocks = (blocks[most] + parts[most] - 1) / parts[most];
    s->rows = b->rows->at[b->rows->n] / b->rows->n;
    sc_coherence_row_cuts(result_of(call), &tiles);
    s->tiles = s->blocks * tiles.n / b->rows->n > 1 ? s->blocks * tiles.n / b->rows->n : 1;
}

/* --- the last strips ---------------------------------------------------------------------------------------------- */

/* Finds the parts of the result's columns that some device computes last. */
static void find_last(const struct sc_blas_look *look, struct sc_blas_last *last)
{
    const struct sc_blas_blocks *b = look->blocks;
    bool seen[SC_DEVICES_MAX] = {false};

    last->count = 0;
    for (int j = b->cols->n - 1; j >= 0 && last->count < sc_coherence_devices(); j--) {
        bool any = false;

        for (int i = 0; i < b->rows->n; i++)
            if (!b->skips || !b->skips(b->of, i, j)) {
                int d = device_of(look, i, j);

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

static void add_cut(struct sc_cuts *cuts, int64_t at, int64_t extent)
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
            add_cut(cuts, at, result->view.cols);
        }
    }
}

/* --- the width ---------------------------------------------------------------------------------------------------- */

static struct sc_trial_shape shape_of(const struct sc_kernel *k, uint64_t missing, int devices)
{
    struct sc_trial_shape shape = {.op = k->op, .type = k->type, .m = k->m, .n = k->n, .k = k->k, .missing = missing,
                                   .devices = devices};
    char *next = shape.letters;

    if (sc_ops[k->op].side)
        *next++ = k->side;
    if (sc_ops[k->op].uplo)
        *next++ = k->uplo;
    if (sc_ops[k->op].transa)
        *next++ = k->transa;
    if (sc_ops[k->op].transb)
        *next = k->transb;
    return shape;
}

static double now(void) { return sc_explain_clock(sc_coherence_virtual_seconds()); }

/* The least width of halves.  Sectors are not cut. */
static int64_t half_of(const struct sc_blas_job *call, const struct sc_blas_look *look)
{
    int64_t sector = sc_coherence_next_sector(result_of(call), 1);

    return !look->half ? 0 : look->half > sector ? look->half : sector;
}

int64_t sc_blas_strip_width(struct sc_blas_job *call, const struct sc_blas_look *look, struct sc_blas_last *last)
{
    const struct sc_kernel *k = call->kernel;
    struct sc_strips s = {.sum = look->sum, .least = look->least, .half = half_of(call, look), .apart = look->apart};
    double result = (double)sc_view_bytes(&result_of(call)->view);
    struct sc_blas_tried *tried = &call->tried;
    struct sc_strips_choice choice;
    struct sc_trial_shape shape;

    look_at_blocks(call, look, &s);
    s.kernel = sc_blas_kernel_seconds(call, s.devices);
    s.again = 2 * result / s.devices / sc_machine_memory_bandwidth(&call->question->machine);
    sc_strips_machine(&s, &call->question->machine, (double)look->missing,
                      (double)(look->all < look->missing ? look->all : look->missing), result);
    s.blocks *= look->tasks * (look->missing ? 1 : s.parts[0]);
    sc_strips_choose(&s, &choice);
    shape = shape_of(k, look->missing, s.devices);
    sc_trial_begin(&shape, &choice, &tried->trial);
    tried->start = tried->trial.slot < 0 ? 0 : now();
    tried->missing = look->missing;
    find_last(look, last);
    last->width = sc_strips_last(&s, tried->trial.width, tried->trial.first);
    return tried->trial.width;
}

void sc_blas_cut_result(struct sc_blas_job *call, const struct sc_blas_look *look, struct sc_cuts *cuts)
{
    const struct sc_operand *result = result_of(call);
    int64_t extent = result->view.cols, width;
    struct sc_blas_look narrow = *look;
    struct sc_blas_last last;

    if (narrow.least < (extent + SC_BLAS_STRIPS_MOST - 1) / SC_BLAS_STRIPS_MOST)
        narrow.least = (extent + SC_BLAS_STRIPS_MOST - 1) / SC_BLAS_STRIPS_MOST;
    width = sc_blas_strip_width(call, &narrow, &last);
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
