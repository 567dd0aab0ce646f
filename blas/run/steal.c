/* Blocks for idle devices: strategy dynamic of a level 3 call while the call runs (BLASX, section IV-C).  The plan's
 * places are predictions.  This file notes which blocks the devices have and have finished; autotuner/schedule.h
 * chooses the device of the next block. */
#include <stdlib.h>

#include "blas/run/tasks.h"

/* A block whose tasks are enqueued. */
struct running {
    struct sc_fence end;
    int next; /* on the same device */
};

struct block {
    int planned; /* device */
    bool taken;
    bool later; /* left by sc_blas_steal_keep */
};

struct sc_blas_steal {
    int rows, blocks;         /* blocks in a column, and in all */
    int count, certain;       /* blocks taken, and taken at their places */
    int open;                 /* device of the last block, whose end is not marked; -1: none */
    int turn, next[SC_DEVICES_MAX]; /* sc_blas_steal_next: the device of the last block, and where to look on */
    const bool *row_joined;   /* blocks (i - 1, j) and (i, j) run on one device */
    const struct sc_operand *result;
    struct sc_schedule_progress at;
    int first[SC_DEVICES_MAX], last[SC_DEVICES_MAX]; /* of the waiting blocks */
    struct running *running; /* [order of the blocks] */
    struct block block[];    /* [i + j * rows] */
};

struct sc_blas_steal *sc_blas_steal_new(int rows, int cols, const int *device, const bool *row_joined,
                                        const struct sc_operand *result)
{
    size_t blocks = (size_t)rows * (size_t)cols;
    struct sc_blas_steal *s = calloc(1, sizeof *s + blocks * sizeof s->block[0]);

    if (!s)
        return NULL;
    s->running = calloc(blocks, sizeof *s->running);
    if (!s->running)
        return free(s), NULL;
    s->rows = rows;
    s->blocks = (int)blocks;
    s->open = -1;
    s->at.devices = sc_coherence_devices();
    s->row_joined = row_joined;
    s->result = result;
    for (size_t b = 0; b < blocks; b++) {
        s->block[b].planned = device[b];
        s->certain += device[b] >= 0 && !row_joined[b % (size_t)rows];
    }
    s->certain = sc_schedule_certain(s->certain);
    return s;
}

void sc_blas_steal_free(struct sc_blas_steal *steal)
{
    free(steal->running);
    free(steal);
}

/* Marks the end of the last block, whose tasks are enqueued.  A failed device takes no more blocks: the host computes
 * the tasks of such a device at once. */
static void mark_last(struct sc_blas_steal *s)
{
    int d = s->open, at = s->count - 1;

    s->open = -1;
    if (d < 0)
        return;
    if (sc_coherence_own_mark(d, &s->running[at].end) != SC_OK) {
        s->at.failed[d] = true;
        return;
    }
    if (s->at.waiting[d]++)
        s->running[s->last[d]].next = at;
    else
        s->first[d] = at;
    s->last[d] = at;
}

static void retire(struct sc_blas_steal *s)
{
    for (int d = 0; d < s->at.devices; d++)
        while (s->at.waiting[d] && sc_coherence_reached(s->running[s->first[d]].end)) {
            s->at.waiting[d]--;
            s->at.finished[d]++;
            s->first[d] = s->running[s->first[d]].next;
        }
}

static void wait_for_any(struct sc_blas_steal *s)
{
    struct sc_fence first[SC_DEVICES_MAX];
    int count = 0;

    for (int d = 0; d < s->at.devices; d++)
        if (s->at.waiting[d])
            first[count++] = s->running[s->first[d]].end;
    sc_coherence_wait_any(first, count);
}

static bool all_failed(const struct sc_blas_steal *s)
{
    for (int d = 0; d < s->at.devices; d++)
        if (!s->at.failed[d])
            return false;
    return true;
}

static int decide(struct sc_blas_steal *s, int planned)
{
    int chosen;

    mark_last(s);
    if (s->count < s->certain)
        return planned;
    retire(s);
    while ((chosen = sc_schedule_take(&s->at, planned)) < 0 && !all_failed(s)) {
        wait_for_any(s);
        retire(s);
        sc_coherence_send_home(s->result);
    }
    return chosen < 0 ? planned : chosen;
}

int sc_blas_steal_take(struct sc_blas_steal *s, int *device, int i, int j)
{
    int *column = &device[j * s->rows], from = i, end = i + 1, chosen;

    if (s->block[i + j * s->rows].taken || column[i] < 0)
        return column[i];
    chosen = decide(s, column[i]);
    while (s->row_joined[from] && from > 0)
        from--;
    while (end < s->rows && s->row_joined[end])
        end++;
    for (i = from; i < end; i++) {
        column[i] = column[i] < 0 ? -1 : chosen;
        s->block[i + j * s->rows].taken = true;
    }
    s->count++;
    return s->open = chosen;
}
/* --- operands in transit ------------------------------------------------------------------------------------------ */

bool sc_blas_steal_keep(struct sc_blas_steal *s)
{
    int of[SC_DEVICES_MAX] = {0}, kept[SC_DEVICES_MAX] = {0};
    bool any = false;

    for (int b = 0; b < s->blocks; b++)
        if (s->block[b].planned >= 0)
            of[s->block[b].planned]++;
    for (int b = 0; b < s->blocks; b++) {
        struct block *block = &s->block[b];
        int d = block->planned;

        if (d < 0)
            continue;
        block->later = b % s->rows && s->row_joined[b % s->rows] ? block[-1].later : kept[d] >= (of[d] + 1) / 2;
        block->taken = !block->later;
        kept[d] += block->taken;
        any = any || block->later;
    }
    return any;
}

bool sc_blas_steal_is_later(const struct sc_blas_steal *s, int i, int j) { return s->block[i + j * s->rows].later; }

void sc_blas_steal_behind(struct sc_blas_steal *s)
{
    bool has[SC_DEVICES_MAX] = {false};

    for (int b = 0; b < s->blocks; b++)
        if (s->block[b].taken)
            has[s->block[b].planned] = true;
    s->certain = 0;
    for (int d = 0; d < s->at.devices; d++)
        if (has[d]) {
            s->count++;
            s->open = d;
            mark_last(s);
        }
}

bool sc_blas_steal_next(struct sc_blas_steal *s, int *i, int *j)
{
    for (int turns = 0; turns < s->at.devices; turns++) {
        int d = s->turn, b = s->next[d];

        while (b < s->blocks && !(s->block[b].later && s->block[b].planned == d))
            b++;
        s->next[d] = b + 1;
        s->turn = (d + 1) % s->at.devices;
        if (b < s->blocks) {
            *i = b % s->rows;
            *j = b / s->rows;
            return true;
        }
    }
    return false;
}
/* SPDX-License-Identifier: BSD-2-Clause */
