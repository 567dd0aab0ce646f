/* Blocks for idle devices: strategy dynamic of a level 3 call while the call runs (BLASX, section IV-C).  The plan's
 * places are predictions.  A device has at most two blocks at a time: one that the device computes, and one whose
 * operands travel meanwhile.  A block that is placed on a device that has fallen behind goes to the device that will
 * be idle first, by the blocks that the devices have finished so far. */
#include <stdlib.h>

#include "blas/run/tasks.h"

#define CERTAIN 3  /* one block of so many stays at its place: a device may take so many times its predicted time */
#define BLOCKS 2   /* that a device has at a time, after these blocks */
#define BEHIND 1.2 /* times the wait on the best device: then a block leaves its place */

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
    int waiting[SC_DEVICES_MAX], finished[SC_DEVICES_MAX]; /* blocks */
    int first[SC_DEVICES_MAX], last[SC_DEVICES_MAX];       /* of the waiting blocks */
    bool failed[SC_DEVICES_MAX];
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
    s->row_joined = row_joined;
    s->result = result;
    for (size_t b = 0; b < blocks; b++)
        s->certain += device[b] >= 0 && !row_joined[b % (size_t)rows];
    s->certain /= CERTAIN;
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
        s->failed[d] = true;
        return;
    }
    if (s->waiting[d]++)
        s->running[s->last[d]].next = at;
    else
        s->first[d] = at;
    s->last[d] = at;
}

static void retire(struct sc_blas_steal *s)
{
    for (int d = 0; d < sc_coherence_devices(); d++)
        while (s->waiting[d] && sc_coherence_reached(s->running[s->first[d]].end)) {
            s->waiting[d]--;
            s->finished[d]++;
            s->first[d] = s->running[s->first[d]].next;
        }
}

static void wait_for_any(struct sc_blas_steal *s)
{
    struct sc_fence first[SC_DEVICES_MAX];
    int count = 0;

    for (int d = 0; d < sc_coherence_devices(); d++)
        if (s->waiting[d])
            first[count++] = s->running[s->first[d]].end;
    sc_coherence_wait_any(first, count);
}

static bool has_room(const struct sc_blas_steal *s, int d) { return s->waiting[d] < BLOCKS && !s->failed[d]; }

/* When the device would finish one more block, in units that all devices share: all have begun together. */
static double wait_of(const struct sc_blas_steal *s, int d) { return (s->waiting[d] + 1.0) / (s->finished[d] + 1.0); }

/* The planned device, unless a different device would be done much earlier.  -1: that device has its blocks. */
static int choose(const struct sc_blas_steal *s, int planned)
{
    int best = -1;

    for (int d = 0; d < sc_coherence_devices(); d++)
        if (!s->failed[d] && (best < 0 || wait_of(s, d) < wait_of(s, best)))
            best = d;
    if (best < 0 || (has_room(s, planned) && wait_of(s, planned) <= BEHIND * wait_of(s, best)))
        best = planned;
    return best >= 0 && s->waiting[best] < BLOCKS ? best : -1;
}

static bool all_failed(const struct sc_blas_steal *s)
{
    for (int d = 0; d < sc_coherence_devices(); d++)
        if (!s->failed[d])
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
    while ((chosen = choose(s, planned)) < 0 && !all_failed(s)) {
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
