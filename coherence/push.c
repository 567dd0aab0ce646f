/* Results that go to where they will be read before anybody asks (PROACT: the producer pushes what its consumers have
 * been seen to read), part after part as their kernels finish.
 *
 * Home: when the host has looked at a matrix after each of the last calls that wrote it.  Its pages stay closed until
 * they are touched, and open without a transfer.
 * To other devices: sectors that one has read after each of the last two calls that wrote them elsewhere; what it has
 * written itself since, and read, does not count.  One that does not read what it was sent gets no more.  What goes to
 * several devices goes together (exchange.c). */
#include "base/config.h"
#include "coherence/protocol.h"

#define LEAST_BYTES ((size_t)1 << 20) /* below, a transfer takes no longer than its fault */
#define LOOKS       2                 /* calls after which the host must have looked */

/* --- does the host look ------------------------------------------------------------------------------------------- */

/* Sectors that the devices have just written: all, but for the host's part of a call (blas/together.c). */
static int written_of(const struct sc_matrix *m)
{
    int sectors = 0;

    for (int j = 0; j < m->col_parts; j++) {
        const struct sc_tile *t = sc_matrix_tile((struct sc_matrix *)m, 0, j);

        sectors += __builtin_popcountll(sc_sectors_all(t->sectors) & ~t->host_valid);
    }
    return sectors;
}

/* It has been written once more. */
static bool is_wanted(struct sc_matrix *m)
{
    bool looked = m->opened >= written_of(m) / 4 * 3 + 1;

    m->opened = 0;
    m->looks = !looked ? 0 : m->looks < LOOKS ? m->looks + 1 : LOOKS;
    return m->looks == LOOKS && sc_config.push;
}

static bool is_whole(const struct sc_operand *o)
{
    uintptr_t lo, hi;

    sc_view_extent(&o->view, &lo, &hi);
    return lo == o->matrix->base && hi == sc_matrix_end(o->matrix);
}

/* --- to devices --------------------------------------------------------------------------------------------------- */

/* The first time in this call that a sector is written what has been read of it is history. */
void sc_push_written(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors)
{
    if (sc_protocol.devices < 2)
        return;
    if (t->written_by != sc_protocol.calls) {
        t->written_by = sc_protocol.calls;
        t->written = 0;
    }
    sectors &= ~t->written;
    t->written |= sectors;
    for (int d = 0; d < sc_protocol.devices && sectors; d++) {
        struct sc_copy *c = &t->copy[d];
        uint64_t read = c->read & sectors;

        if (d == device) { /* what it has read of others' stands until they write again */
            c->own |= sectors;
            continue;
        }
        c->own &= ~sectors;
        c->wanted = (c->wanted & ~sectors) | (read & c->was_read);
        c->was_read = (c->was_read & ~sectors) | read;
        c->read &= ~sectors;
        m->shared = m->shared || c->wanted;
    }
}

/* What of the call's results the device will read, as far as there is room for it. */
static void send(struct sc_matrix *m, struct sc_tile *t, int device, struct sc_moves *moves)
{
    const struct sc_copy *c = &t->copy[device];
    uint64_t there = 0;

    for (int d = 0; d < sc_protocol.devices; d++)
        there |= d == device ? 0 : t->copy[d].valid;
    there &= c->wanted & t->written & ~c->valid;
    if (there && !sc_protocol.failed[device] && sc_memory_spare(device, m, t) == SC_OK)
        sc_transfer_collect(device, m, t, there, moves); /* a failure shows in a task */
}

static void send_all(struct sc_matrix *m)
{
    uint64_t before = sc_stats.bytes[SC_D2D];
    struct sc_moves moves; /* large */

    moves.count = 0;
    m->shared = false;
    for (int i = 0; i < m->row_parts * m->col_parts; i++)
        for (int d = 0; d < sc_protocol.devices; d++) {
            struct sc_tile *t = &m->tiles[i];

            m->shared = m->shared || t->copy[d].wanted;
            if (t->written_by == sc_protocol.calls)
                send(m, t, d, &moves);
        }
    sc_moves_issue(&moves);
    sc_count(&sc_stats.pushed_d2d, sc_stats.bytes[SC_D2D] - before);
}

/* --- home, and all ------------------------------------------------------------------------------------------------ */

void sc_coherence_push(const struct sc_operand *operands, int count)
{
    for (int i = 0; i < count; i++)
        if (operands[i].matrix && operands[i].view.access & SC_WRITE && operands[i].matrix->shared && sc_config.push)
            send_all(operands[i].matrix);
    for (int i = 0; i < count; i++) {
        struct sc_matrix *m = operands[i].matrix;
        uint64_t before;

        if (!m || !(operands[i].view.access & SC_WRITE) || m->bytes < LEAST_BYTES || !is_whole(&operands[i]) ||
            !is_wanted(m))
            continue;
        before = sc_stats.bytes[SC_D2H];
        sc_access_start(m);
        sc_count(&sc_stats.pushed, sc_stats.bytes[SC_D2H] - before);
    }
}
