/* Garbage in invalidated copies, so that a missing transfer gives a wrong answer (SEMCACHE_CHECK=1). */
#include "coherence/protocol.h"

/* Ordered like a kernel that writes the sectors, on the device's compute stream. */
void sc_check_scribble(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors)
{
    const struct sc_device_ops *ops = sc_protocol.ops;
    struct sc_copy *c = &t->copy[device];
    struct sc_fence f;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_sectors(t, sectors);
    if (!c->memory || c->lease || sc_protocol.failed[device])
        return;
    for (int i = 0; i <= SC_DEVICES_MAX; i++)
        sc_order(device, SC_STREAM_COMPUTE, c->reader[i]);
    for (uint64_t rest = sectors; rest; rest &= rest - 1) {
        int s = __builtin_ctzll(rest);
        size_t column = (size_t)t->rows * m->elem;
        int64_t c0 = sc_tile_sector_col(m, t, s), c1 = sc_tile_sector_end(m, t, s + 1);
        char *begin = (char *)c->memory + (size_t)(c0 - t->col) * column;

        size_t bytes = (size_t)(c1 - c0) * column;

        if (m->row_parts == 1 && m->rows == m->ld) { /* a placed copy ends with the matrix */
            size_t left = m->bytes - (size_t)c0 * column;

            bytes = bytes < left ? bytes : left;
        }
        sc_order(device, SC_STREAM_COMPUTE, c->ready[s]);
        ops->fill(device, SC_STREAM_COMPUTE, begin, bytes, 0xff, bytes, 1);
    }
    if (sc_mark(device, SC_STREAM_COMPUTE, &f) != SC_OK) {
        sc_device_gave_up(device, "ordering its work");
        return;
    }
    c->last_used = f;
    for (uint64_t rest = sectors; rest; rest &= rest - 1)
        c->ready[__builtin_ctzll(rest)] = f;
}
/* SPDX-License-Identifier: BSD-2-Clause */
