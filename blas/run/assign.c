/* The device of each block of a result: describes the blocks for the plan, which is refined once a call
 * (autotuner/plan.h), and finds the device of a piece. */
#include <stdlib.h>
#include <string.h>

#include "blas/blas.h"
#include "blas/run/tasks.h"

/* Makes room for the arrays of the question, all 0. */
static bool make_room(struct sc_blas_places *places, int rows, int cols)
{
    size_t blocks = (size_t)rows * (size_t)cols, lines = (size_t)rows + (size_t)cols;
    struct sc_blas_described *d = &places->described;
    size_t bytes = blocks * (4 * sizeof(double) + 3 * sizeof(int)) + lines * (sizeof(double) + sizeof(uint32_t)) +
                   (size_t)rows * sizeof(bool);

    places->memory = d->work = bytes <= sizeof places->few ? memset(places->few, 0, bytes) : calloc(1, bytes);
    if (!d->work)
        return false;
    d->block_bytes = d->work + blocks;
    d->result_bytes = d->block_bytes + blocks;
    d->host_bytes = d->result_bytes + blocks;
    d->row_bytes = d->host_bytes + blocks;
    d->col_bytes = d->row_bytes + rows;
    d->owner = (int *)(d->col_bytes + cols);
    d->home = d->owner + blocks;
    d->device = d->home + blocks;
    d->row_at = (uint32_t *)(d->device + blocks);
    d->col_at = d->row_at + rows;
    d->row_joined = (bool *)(d->col_at + cols);
    return true;
}

static uint64_t piece_bytes(const struct sc_piece *piece)
{
    return (uint64_t)(piece->rows * piece->cols) * sc_type_bytes(piece->operand->view.type);
}

/* Adds an input to the bytes that a line of blocks reads.  A device that lacks a part of the input does not hold the
 * line. */
static void add_input(const struct sc_piece *piece, double *bytes, uint32_t *at)
{
    *bytes += (double)piece_bytes(piece);
    for (int d = 0; d < sc_coherence_devices(); d++)
        if (*at >> d & 1 && sc_coherence_missing(d, piece))
            *at &= ~(UINT32_C(1) << d);
}

static void look_at_inputs(const struct sc_blas_blocks *b, struct sc_blas_described *q)
{
    for (int l = 0; l < b->depth; l++) {
        for (int i = 0; i < b->rows->n && b->row_input; i++) {
            struct sc_piece piece = b->row_input(b->of, i, l);

            q->row_at[i] |= l == 0 ? ~UINT32_C(0) : 0;
            add_input(&piece, &q->row_bytes[i], &q->row_at[i]);
        }
        for (int j = 0; j < b->cols->n && b->col_input; j++) {
            struct sc_piece piece = b->col_input(b->of, l, j);

            q->col_at[j] |= l == 0 ? ~UINT32_C(0) : 0;
            add_input(&piece, &q->col_bytes[j], &q->col_at[j]);
        }
    }
}

/* True when the owner holds a part of the piece.  Otherwise the piece counts as data of the host. */
static bool on_device(int owner, const struct sc_piece *piece)
{
    return sc_coherence_missing(owner, piece) < piece_bytes(piece);
}

static double work_of(const struct sc_blas_blocks *b, int i, int j)
{
    return b->skips && b->skips(b->of, i, j) ? 0 : (double)(sc_blas_part(b->rows, i) * sc_blas_part(b->cols, j));
}

/* The bytes of blocks, for a plan that moves blocks. */
static void look_at_bytes(const struct sc_blas_blocks *b, struct sc_blas_described *q)
{
    for (int j = 0; j < b->cols->n; j++)
        for (int i = 0; i < b->rows->n; i++) {
            struct sc_piece piece = b->block(b->of, i, j);
            int at = i + j * b->rows->n;
            double held = on_device(q->owner[at], &piece) ? (double)piece_bytes(&piece) : 0;

            q->block_bytes[at] = piece.access & SC_READ ? held : 0;
            q->result_bytes[at] = b->stays ? 0 : held;
            q->host_bytes[at] = piece.access & SC_READ ? (double)piece_bytes(&piece) - held : 0;
        }
}

/* With a single device every block is there. */
static void look_at_blocks(const struct sc_blas_blocks *b, struct sc_blas_described *q)
{
    for (int j = 0; j < b->cols->n; j++)
        for (int i = 0; i < b->rows->n; i++) {
            struct sc_piece piece = b->block(b->of, i, j);
            int at = i + j * b->rows->n;

            q->work[at] = work_of(b, i, j);
            q->owner[at] = sc_coherence_devices() > 1 ? sc_coherence_where(&piece) : 0;
            q->home[at] = sc_coherence_devices() > 1 ? sc_coherence_home(&piece) : 0;
        }
}

/* Finds the rows of blocks that begin inside a tile of the row before. */
static void look_at_tiles(const struct sc_blas_blocks *b, struct sc_blas_described *q)
{
    struct sc_piece first = b->block(b->of, 0, 0);
    struct sc_cuts tiles;

    sc_coherence_row_cuts(first.operand, &tiles);
    for (int i = 1, t = 0; i < b->rows->n; i++) {
        while (t + 1 < tiles.n && tiles.at[t + 1] <= b->rows->at[i])
            t++;
        q->row_joined[i] = tiles.at[t] <= b->rows->at[i - 1];
    }
}

static void describe(struct sc_blas_job *call, const struct sc_blas_blocks *b, struct sc_blas_places *places)
{
    struct sc_blas_described *d = &places->described;

    places->found = (struct sc_plan_found){
        .call = call->question, .kernel = call->kernel, .several = b->several, .stays = b->stays,
        .products = (double)b->products, .row_from = places->rows.at, .col_from = places->cols.at,
        .row_joined = d->row_joined,
        .blocks = {.devices = sc_coherence_devices(), .rows = b->rows->n, .cols = b->cols->n, .work = d->work,
                   .owner = d->owner, .home = d->home, .block_bytes = d->block_bytes,
                   .result_bytes = d->result_bytes, .host_bytes = d->host_bytes, .row_bytes = d->row_bytes,
                   .col_bytes = d->col_bytes, .row_at = d->row_at, .col_at = d->col_at, .device = d->device}};
    for (int i = 0; i < sc_coherence_devices(); i++)
        places->found.device[i] = sc_coherence_device_properties(i);
    look_at_blocks(b, d);
}

void sc_blas_place(struct sc_blas_job *call, const struct sc_blas_blocks *b, struct sc_blas_places *places)
{
    places->device = NULL;
    places->steal = NULL;
    sc_cuts_copy(&places->rows, b->rows);
    sc_cuts_copy(&places->cols, b->cols);
    if (!make_room(places, b->rows->n, b->cols->n))
        return;
    describe(call, b, places);
    if (!sc_plan_refine(&places->found, call->plan)) {
        look_at_bytes(b, &places->described);
        look_at_inputs(b, &places->described);
        if (!b->stays)
            look_at_tiles(b, &places->described);
        places->found.known = true;
        sc_plan_refine(&places->found, call->plan);
    }
    places->device = call->plan->placed ? places->described.device : NULL;
    if (call->plan->steals)
        places->steal = sc_blas_steal_new(b->rows->n, b->cols->n, places->device, places->described.row_joined,
                                          &call->operand[call->operands - 1]);
}

void sc_blas_places_free(struct sc_blas_places *places)
{
    if (places->memory != places->few)
        free(places->memory);
    if (places->steal)
        sc_blas_steal_free(places->steal);
}

static int part_at(const struct sc_cuts *cuts, int64_t position)
{
    int low = 0, high = cuts->n - 1;

    while (low < high) {
        int middle = (low + high + 1) / 2;

        if (cuts->at[middle] <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

int sc_blas_places_at(const struct sc_blas_places *places, int64_t row, int64_t col, const struct sc_piece *piece)
{
    int device = -1;

    if (places->device)
        device = places->device[part_at(&places->rows, row) + part_at(&places->cols, col) * places->rows.n];
    return device >= 0 ? device : sc_coherence_where(piece);
}

int sc_blas_places_take(const struct sc_blas_places *places, int64_t row, int64_t col, const struct sc_piece *piece)
{
    if (places->steal)
        sc_blas_steal_take(places->steal, places->device, part_at(&places->rows, row), part_at(&places->cols, col));
    return sc_blas_places_at(places, row, col, piece);
}

bool sc_blas_places_is_later(const struct sc_blas_places *places, int64_t row, int64_t col)
{
    return sc_blas_steal_is_later(places->steal, part_at(&places->rows, row), part_at(&places->cols, col));
}

bool sc_blas_waits(const struct sc_blas_job *call, const struct sc_blas_blocks *b, const struct sc_blas_places *places)
{
    uint64_t bytes = 0, enough = call->plan->arriving.bytes;

    for (int j = 0; j < b->cols->n && enough < UINT64_MAX; j++)
        for (int i = 0; i < b->rows->n && bytes < enough; i++) {
            struct sc_piece piece = b->block(b->of, i, j);
            int device = sc_blas_places_at(places, piece.r, piece.c, &piece);

            if (b->skips && b->skips(b->of, i, j))
                continue;
            bytes += piece.access & SC_READ ? sc_coherence_missing(device, &piece) : 0;
            for (int l = 0; l < b->depth; l++) {
                struct sc_piece row = b->row_input(b->of, i, l), col = b->col_input(b->of, l, j);

                bytes += sc_coherence_missing(device, &row) + sc_coherence_missing(device, &col);
            }
        }
    return bytes >= enough;
}

/* --- number of blocks --------------------------------------------------------------------------------------------- */

void sc_blas_divide(const struct sc_blas_job *call, struct sc_cuts *cuts, int others, const struct sc_operand *output)
{
    int want = call->plan->blocks.count;
    int64_t least = call->plan->blocks.least;

    if (cuts->n * others >= want)
        return;
    if (output->view.cols / want > least)
        least = output->view.cols / want;
    sc_blas_refine(cuts, output, least);
}
/* SPDX-License-Identifier: BSD-2-Clause */
