/* The device of each block of a result: the strategy is asked once for a call (autotuner/schedule.h). */
#include <stdlib.h>

#include "autotuner/schedule.h"
#include "autotuner/start.h"
#include "base/config.h"
#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/devices.h"

/* A call as the strategy sees it.  The arrays share one allocation. */
struct question {
    struct sc_schedule schedule;
    const struct sc_blas_blocks *blocks;
    double *work, *block_bytes, *result_bytes, *host_bytes, *row_bytes, *col_bytes;
    struct sc_linkmap map;
    uint32_t *row_at, *col_at;
    int *owner, *home;
};

static bool make_room(struct question *q, int rows, int cols)
{
    size_t blocks = (size_t)rows * (size_t)cols, lines = (size_t)rows + (size_t)cols;

    q->work = calloc(4 * blocks + lines, sizeof *q->work);
    q->owner = calloc(2 * blocks + lines, sizeof *q->owner);
    if (!q->work || !q->owner)
        return false;
    q->block_bytes = q->work + blocks;
    q->result_bytes = q->block_bytes + blocks;
    q->host_bytes = q->result_bytes + blocks;
    q->row_bytes = q->host_bytes + blocks;
    q->col_bytes = q->row_bytes + rows;
    q->home = q->owner + blocks;
    q->row_at = (uint32_t *)(q->home + blocks);
    q->col_at = q->row_at + rows;
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

static void look_at_inputs(struct question *q)
{
    const struct sc_blas_blocks *b = q->blocks;

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

static void look_at_blocks(struct question *q)
{
    const struct sc_blas_blocks *b = q->blocks;

    for (int j = 0; j < b->cols->n; j++)
        for (int i = 0; i < b->rows->n; i++) {
            struct sc_piece piece = b->block(b->of, i, j);
            int at = i + j * b->rows->n;
            double held;

            q->work[at] = work_of(b, i, j);
            q->owner[at] = sc_coherence_where(&piece);
            q->home[at] = sc_coherence_home(&piece);
            held = on_device(q->owner[at], &piece) ? (double)piece_bytes(&piece) : 0;
            q->block_bytes[at] = piece.access & SC_READ ? held : 0;
            q->result_bytes[at] = b->stays ? 0 : held;
            q->host_bytes[at] = piece.access & SC_READ ? (double)piece_bytes(&piece) - held : 0;
        }
}

/* True when the blocks are spread evenly over devices of the same speed, or, where a block is several pieces, when
 * the pieces are at home.  A search for better places would then gain nothing. */
static bool in_place(const struct sc_blas_blocks *b)
{
    double work[SC_DEVICES_MAX] = {0}, rate[SC_DEVICES_MAX];
    bool at_home = true;

    for (int d = 0; d < sc_coherence_devices(); d++)
        rate[d] = sc_blas_products_per_second(d, b->type);
    for (int j = 0; j < b->cols->n; j++)
        for (int i = 0; i < b->rows->n; i++) {
            struct sc_piece piece = b->block(b->of, i, j);
            int at = sc_coherence_where(&piece);

            at_home = at_home && at == sc_coherence_home(&piece);
            work[at] += work_of(b, i, j);
        }
    return sc_schedule_is_even(b->several ? NULL : work, rate, sc_coherence_devices()) && (!b->several || at_home);
}

/* Work is counted in elements of the result; an element takes b->products products. */
static void describe(struct question *q)
{
    const struct sc_blas_blocks *b = q->blocks;
    struct sc_schedule *s = &q->schedule;

    *s = (struct sc_schedule){.strategy = sc_config.schedule, .devices = sc_coherence_devices(), .rows = b->rows->n,
                              .cols = b->cols->n, .work = q->work, .owner = q->owner, .home = q->home,
                              .block_bytes = q->block_bytes, .result_bytes = q->result_bytes,
                              .host_bytes = q->host_bytes,
                              .row_bytes = q->row_bytes, .col_bytes = q->col_bytes,
                              .row_at = q->row_at, .col_at = q->col_at,
                              .link = sc_coherence_device_properties(0)->host_bandwidth};
    for (int d = 0; d < s->devices; d++)
        s->rate[d] = sc_blas_products_per_second(d, b->type) / (double)(b->products > 0 ? b->products : 1);
    if (sc_autotuner_database()) {
        sc_places all = sc_place_bit(s->devices) - 1;

        sc_linkmap_load(&q->map, sc_autotuner_database());
        sc_linkmap_share(&q->map, sc_autotuner_database(), all, all | sc_place_bit(SC_PLACE_HOST), 0);
        sc_linkmap_route(&q->map, sc_config.max_hops);
        s->map = &q->map;
    }
    look_at_blocks(q);
    look_at_inputs(q);
}

/* Gives blocks in the same columns of a tile to the same device.  A sector has every row of its tile, and would
 * travel between two devices that write to the sector. */
static void keep_together(const struct sc_blas_blocks *b, int *device)
{
    struct sc_piece first = b->block(b->of, 0, 0);
    struct sc_cuts tiles;

    sc_coherence_row_cuts(first.operand, &tiles);
    for (int j = 0; j < b->cols->n; j++)
        for (int i = 1, t = 0; i < b->rows->n; i++) {
            int *here = &device[i + j * b->rows->n];

            while (t + 1 < tiles.n && tiles.at[t + 1] <= b->rows->at[i])
                t++;
            if (*here >= 0 && here[-1] >= 0 && tiles.at[t] <= b->rows->at[i - 1])
                *here = here[-1];
        }
}

void sc_blas_place(const struct sc_blas_blocks *blocks, struct sc_blas_places *places)
{
    struct question q = {.blocks = blocks};
    int count = blocks->rows->n * blocks->cols->n;

    places->device = NULL;
    places->rows = *blocks->rows;
    places->cols = *blocks->cols;
    if (sc_coherence_devices() < 2 || sc_schedule_owns(sc_config.schedule) || !count ||
        (sc_config.schedule == SC_STRATEGY_AUTO && in_place(blocks)))
        return;
    places->device = calloc((size_t)count, sizeof *places->device);
    if (places->device && make_room(&q, blocks->rows->n, blocks->cols->n)) {
        describe(&q);
        q.schedule.device = places->device;
        sc_schedule_assign(&q.schedule);
        if (!blocks->stays)
            keep_together(blocks, places->device);
    } else {
        sc_blas_places_free(places); /* blocks run where they are, which is slower at most */
    }
    free(q.work);
    free(q.owner);
}

void sc_blas_places_free(struct sc_blas_places *places)
{
    free(places->device);
    places->device = NULL;
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

bool sc_blas_waits(const struct sc_blas_blocks *b, const struct sc_blas_places *places)
{
    uint64_t bytes = 0;

    for (int j = 0; j < b->cols->n; j++)
        for (int i = 0; i < b->rows->n && bytes < SC_PIPELINE_BYTES; i++) {
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
    return bytes >= SC_PIPELINE_BYTES;
}

void sc_blas_links(void)
{
    static struct sc_exchange_rates rates;
    struct sc_linkmap map;

    sc_machine_exchange(sc_autotuner_database(), &rates);
    sc_coherence_exchanges(&rates);
    if (sc_autotuner_database()) {
        sc_linkmap_load(&map, sc_autotuner_database());
        sc_coherence_links(&map.shared);
    }
}

double sc_blas_products_per_second(int device, enum sc_type type)
{
    return sc_machine_products(sc_coherence_device_properties(device), type);
}

double sc_blas_kernel_seconds(const struct sc_blas_job *call, int devices)
{
    struct sc_autotuner_call part = *call->question;

    if (sc_op_level(part.op) < 3 && !part.machine.database)
        return 0;
    part.m = call->kernel->m;
    part.n = call->kernel->n;
    part.k = call->kernel->k;
    return sc_autotuner_kernels(&part, devices);
}

/* --- number of blocks --------------------------------------------------------------------------------------------- */

void sc_blas_divide(struct sc_cuts *cuts, int others, const struct sc_operand *output)
{
    enum { BLOCKS_A_DEVICE = 2 };
    int want = BLOCKS_A_DEVICE * sc_coherence_devices();
    int64_t least = sc_config.offload == SC_OFFLOAD_ALWAYS ? 1 : SC_STRIPS_USUAL / 2;

    if (sc_config.schedule == SC_STRATEGY_AUTO || sc_schedule_owns(sc_config.schedule) || sc_coherence_devices() < 2 ||
        cuts->n * others >= want)
        return;
    if (output->view.cols / want > least)
        least = output->view.cols / want;
    sc_blas_refine(cuts, output, least);
}
/* SPDX-License-Identifier: BSD-2-Clause */
