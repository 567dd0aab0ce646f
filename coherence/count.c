/* Statistics and trace events of transfers. */
#include "coherence/protocol.h"

void sc_transfer_count(struct sc_matrix *m, const struct sc_tile *t, uint64_t sectors, int from, int to, uint64_t bytes,
                       enum sc_transfer_what what)
{
    enum sc_transfer kind = from == SC_HOST ? SC_H2D : to == SC_HOST ? SC_D2H : SC_D2D;

    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert(from != to);
    sc_assert_sectors(t, sectors);
    sc_count(&sc_stats.bytes[kind], bytes);
    sc_count(&sc_stats.transfers[kind], 1);
    if (kind == SC_D2H && what != SC_TRANSFER_EVICTED) {
        m->wait.fetches++;
        m->wait.fetched_bytes += bytes;
        m->wait.home_bytes += bytes;
        sc_noted_fetched(m, true);
    }
    sc_trace(.kind = SC_EVENT_TRANSFER, .matrix = m->id, .tile = sc_matrix_tile_index(m, t), .sectors = sectors,
             .device = (int16_t)to, .peer = (int16_t)from, .bytes = bytes,
             .is_part = what == SC_TRANSFER_BACK ? 2 : what == SC_TRANSFER_PART);
}
/* SPDX-License-Identifier: BSD-2-Clause */
