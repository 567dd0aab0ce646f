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

struct sc_blas_steal {
    int rows, count, certain; /* blocks: in a column, taken, and taken at their places */
    int open;                 /* device of the last block, whose end is not marked; -1: none */
    const bool *row_joined;   /* blocks (i - 1, j) and (i, j) run on one device */
    const struct sc_operand *result;
    struct sc_schedule_progress at;
    int first[SC_DEVICES_MAX], last[SC_DEVICES_MAX]; /* of the waiting blocks */
    struct running *running; /* [order of the blocks] */
    bool taken[];            /* [i + j * rows] */
};

struct sc_blas_steal *sc_blas_steal_new(int rows, int cols, const int *device, const bool *row_joined,
                                        const struct sc_operand *result)
{
    size_t blocks = (size_t)rows * (size_t)cols;
    struct sc_blas_steal *s = calloc(1, sizeof *s + blocks * sizeof s->taken[0]);

    if (!s)
        return NULL;
    s->running = calloc(blocks, sizeof *s->running);
    if (!s->running)
        return free(s), NULL;
    s->rows = rows;
    s->open = -1;
    s->at.devices = sc_coherence_devices();
    s->row_joined = row_joined;
    s->result = result;
    for (size_t b = 0; b < blocks; b++)
        s->certain += device[b] >= 0 && !row_joined[b % (size_t)rows];
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

    if (s->taken[i + j * s->rows] || column[i] < 0)
        return column[i];
    chosen = decide(s, column[i]);
    while (s->row_joined[from] && from > 0)
        from--;
    while (end < s->rows && s->row_joined[end])
        end++;
    for (i = from; i < end; i++) {
        column[i] = column[i] < 0 ? -1 : chosen;
        s->taken[i + j * s->rows] = true;
    }
    s->count++;
    return s->open = chosen;
}
/* SPDX-License-Identifier: BSD-2-Clause */
