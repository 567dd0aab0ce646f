/* History of the reads of results, by which push.c decides. */
#include "coherence/protocol.h"

/* At the first write to a sector in a call, the sector's reads since the last write become history. */
void sc_push_written(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    sc_assert_device(device);
    sc_assert_sectors(t, sectors);
    if (sc_protocol.devices < 2)
        return;
    if (t->push.call != sc_protocol.calls) {
        t->push.call = sc_protocol.calls;
        t->push.sectors = 0;
    }
    sectors &= ~t->push.sectors;
    t->push.sectors |= sectors;
    for (int d = 0; d < sc_protocol.devices && sectors; d++) {
        struct sc_copy *c = &t->copy[d];
        uint64_t read = c->push.read & sectors;

        if (d == device) { /* reads of other devices' data stay until their next write */
            c->push.own |= sectors;
            continue;
        }
        c->push.own &= ~sectors;
        c->push.wanted = (c->push.wanted & ~sectors) | (read & c->push.was_read);
        c->push.was_read = (c->push.was_read & ~sectors) | read;
        c->push.read &= ~sectors;
        m->push.shared = m->push.shared || c->push.wanted;
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
