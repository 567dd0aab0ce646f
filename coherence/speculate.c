/* Speculation: a matrix that a device has written ahead of the program.
 *
 * The protocol's states know nothing of it: after the task the matrix is valid on the device alone (state G), and its
 * pages are closed.  The host's memory still has the older bytes, because only a transfer home would write there, and
 * a transfer needs the lock.  The program's steps take no lock: a step is one compare-and-swap.  sc_protocol_lock ends
 * the speculation before its caller looks at any state (lock.c). */
#include "coherence/protocol.h"

static struct {
    struct sc_matrix *m;
    int64_t row, col, rows, cols; /* of the operand, in the lattice */
    bool by_rows;
} ahead;
static uint64_t last;     /* number of the latest speculation, 32 bits; under the lock */
static uint64_t progress; /* atomic: number << 32 | steps done; 0: no speculation */

/* The device that alone has a tile's sectors after the task. */
static int holder(const struct sc_tile *t, uint64_t sectors)
{
    for (int d = 0; d < sc_protocol.devices; d++)
        if (!(sectors & ~t->copy[d].valid))
            return d;
    return SC_HOST;
}

/* The part of a rectangle of the lattice that lies in a tile. */
static enum sc_status restore_tile(struct sc_tile *t, int64_t r0, int64_t r1, int64_t c0, int64_t c1)
{
    int device;

    r0 = r0 > t->row ? r0 : t->row;
    r1 = r1 < t->row + t->rows ? r1 : t->row + t->rows;
    c0 = c0 > t->col ? c0 : t->col;
    c1 = c1 < t->col + t->cols ? c1 : t->col + t->cols;
    if (r0 >= r1 || c0 >= c1)
        return SC_OK;
    device = holder(t, sc_tile_sectors(ahead.m, t, c0, c1 - c0));
    if (device == SC_HOST) /* the device was lost: the host's older bytes count again */
        return SC_ERR_DEVICE;
    if (sc_transfer_back(device, ahead.m, t, r0, r1, c0, c1) == SC_OK)
        return SC_OK;
    sc_device_lost(device, "older bytes cannot be restored there");
    return SC_ERR_DEVICE;
}

/* Steps [from, end) get the host's bytes back. */
static enum sc_status restore(int64_t from, int64_t end)
{
    int64_t r0 = ahead.row + (ahead.by_rows ? from : 0), r1 = ahead.row + (ahead.by_rows ? end : ahead.rows);
    int64_t c0 = ahead.col + (ahead.by_rows ? 0 : from), c1 = ahead.col + (ahead.by_rows ? ahead.cols : end);
    enum sc_status status = SC_OK;

    for (int i = 0; i < ahead.m->row_parts * ahead.m->col_parts && status == SC_OK && from < end; i++)
        status = restore_tile(&ahead.m->tiles[i], r0, r1, c0, c1);
    return status;
}

static int64_t steps(void) { return ahead.by_rows ? ahead.rows : ahead.cols; }

static void settle(void)
{
    uint64_t was = __atomic_exchange_n(&progress, 0, __ATOMIC_ACQ_REL);
    int64_t done = (int64_t)(was & UINT32_MAX);

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_protocol.settle = NULL;
    if (done < steps())
        sc_count(&sc_stats.rolled_back, 1);
    restore(done, steps());
}

bool sc_coherence_may_speculate(const struct sc_operand *o)
{
    const struct sc_matrix *m = o->matrix;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!m || m->keep_open.calls) /* open pages: a step would not end the speculation */
        return false;
    if (o->stage != SC_IN_ARENA || o->linear || o->view.vector || o->rows >= UINT32_MAX || o->cols >= UINT32_MAX)
        return false;
    for (int i = 0; i < m->row_parts * m->col_parts; i++)
        if (~m->tiles[i].host_valid & sc_sectors_all(m->tiles[i].sectors))
            return false;
    return true;
}

uint64_t sc_coherence_speculate(const struct sc_operand *o, bool by_rows, int64_t done)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(!sc_protocol.settle);
    sc_assert(done >= 0 && done <= (by_rows ? o->rows : o->cols));
    ahead.m = o->matrix;
    ahead.row = o->row;
    ahead.col = o->col;
    ahead.rows = o->rows;
    ahead.cols = o->cols;
    ahead.by_rows = by_rows;
    /* Pages that the system refuses to close get the new bytes at the end of the call (sc_protocol_mend). */
    if (restore(0, sc_protocol.refusals ? steps() : done) != SC_OK || sc_protocol.refusals)
        return 0;
    last = last % UINT32_MAX + 1;
    sc_protocol.settle = settle;
    sc_count(&sc_stats.speculated, 1);
    __atomic_store_n(&progress, last << 32 | (uint64_t)done, __ATOMIC_RELEASE);
    return last;
}

bool sc_coherence_advance(uint64_t speculation, int64_t step)
{
    uint64_t expected = speculation << 32 | (uint64_t)step;

    return __atomic_compare_exchange_n(&progress, &expected, expected + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
/* SPDX-License-Identifier: BSD-2-Clause */
