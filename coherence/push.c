/* Results are sent to their expected readers before any request, part by part as their kernels finish (PROACT: a
 * producer pushes data that its consumers have read before).
 *
 * Home: a matrix that the host has read after each of the latest writes.  Its pages stay closed until the
 * program touches them, and open without a transfer.
 * To devices: sectors that a device has read after each of the latest two calls with a writer elsewhere.  Reads
 * of sectors that the device itself has written since do not count.  A device that ignores sent sectors gets no more.
 * Sectors for several devices are collected together (exchange.c). */
#include <stdlib.h>

#include "base/config.h"
#include "coherence/protocol.h"
#include "device/exchange.h"

#define LOOKS       2                 /* calls in a row after which the host must have looked */

/* --- does the host look ------------------------------------------------------------------------------------------- */

/* Sectors that the devices have just written: all sectors except the host's part of a call (blas/run/together.c). */
static int written_of(const struct sc_matrix *m)
{
    int sectors = 0;

    for (int j = 0; j < m->col_parts; j++) {
        const struct sc_tile *t = sc_matrix_tile((struct sc_matrix *)m, 0, j);

        sectors += __builtin_popcountll(sc_sectors_all(t->sectors) & ~t->host_valid);
    }
    return sectors;
}

/* After another write: whether the host is expected to read the result. */
static bool is_wanted(struct sc_matrix *m)
{
    int written = written_of(m);
    bool looked = m->push.opened >= written / 4 * 3 + 1;

    m->push.opened = 0;
    m->push.written = written;
    m->push.looks = !looked ? 0 : m->push.looks < LOOKS ? m->push.looks + 1 : LOOKS;
    return (m->push.looks == LOOKS || m->push.advised) && sc_config.push;
}

static bool is_whole(const struct sc_operand *o)
{
    uintptr_t lo, hi;

    sc_view_extent(&o->view, &lo, &hi);
    return lo == o->matrix->base && hi == sc_matrix_end(o->matrix);
}

bool sc_coherence_goes_home(const struct sc_operand *o)
{
    const struct sc_matrix *m = o->matrix;
    int sectors = 0;

    sc_assert_held(SC_RANK_PROTOCOL);
    if (!m || m->bytes < SC_PUSH_BYTES || !is_whole(o) || !sc_config.push || m->push.looks < LOOKS - 1 ||
        m->keep_open.calls) /* comes home with the end of the call */
        return false;
    for (int j = 0; j < m->col_parts; j++)
        sectors += sc_matrix_tile((struct sc_matrix *)m, 0, j)->sectors;
    return m->push.opened >= sectors / 4 * 3 + 1;
}

/* --- to devices --------------------------------------------------------------------------------------------------- */

/* Sends sectors that the device is expected to read, as far as its memory has room. */
static void send(struct sc_matrix *m, struct sc_tile *t, int device, uint64_t sectors, struct sc_moves *moves)
{
    const struct sc_copy *c = &t->copy[device];
    uint64_t there = 0;

    for (int d = 0; d < sc_protocol.devices; d++)
        there |= d == device ? 0 : t->copy[d].valid;
    there &= c->push.wanted & sectors & ~c->valid;
    if (there && !sc_protocol.failed[device] && sc_memory_spare(device, m, t) == SC_OK)
        sc_transfer_collect(device, m, t, there, moves); /* a failure shows in a task */
}

/* --- in chunks ---------------------------------------------------------------------------------------------------- */

/* Sectors of a matrix made by a device in the current call, with expected readers. */
struct made {
    uint64_t first, last; /* kernels, by their fences */
    uint64_t seen;        /* kernel of the previous sector */
    int kernels;
    uint64_t bytes;
    uint32_t readers;     /* devices */
};

/* The fence of the kernel that made a sector; none: made by the host, or on a lost device. */
static struct sc_fence maker(const struct sc_tile *t, int s)
{
    for (int d = 0; d < sc_protocol.devices; d++)
        if (t->copy[d].valid >> s & 1 && t->copy[d].ready[s].stream == SC_STREAM_COMPUTE)
            return t->copy[d].ready[s];
    return SC_FENCE_NONE;
}

/* Sectors of the current call with expected readers; *readers: bits of the readers. */
static uint64_t wanted_of(const struct sc_tile *t, uint32_t *readers)
{
    uint64_t wanted = 0;

    *readers = 0;
    for (int d = 0; d < sc_protocol.devices && t->push.call == sc_protocol.calls; d++) {
        uint64_t by = t->copy[d].push.wanted & t->push.sectors & ~t->copy[d].valid;

        wanted |= by;
        *readers |= (uint32_t)(by != 0) << d;
    }
    return wanted;
}

static void look_at(const struct sc_matrix *m, const struct sc_tile *t, struct made made[SC_DEVICES_MAX])
{
    uint32_t readers;

    for (uint64_t rest = wanted_of(t, &readers); rest; rest &= rest - 1) {
        int s = __builtin_ctzll(rest);
        struct sc_fence f = maker(t, s);
        struct made *by = &made[f.device];

        if (!f.seq)
            continue;
        by->first = by->kernels && by->first < f.seq ? by->first : f.seq;
        by->last = by->last > f.seq ? by->last : f.seq;
        by->kernels += f.seq != by->seen;
        by->seen = f.seq;
        by->bytes += sc_tile_sector_bytes(m, t, s, s + 1);
        by->readers |= readers;
    }
}

/* The device with most bytes stands for all devices. */
static int most_of(const struct made made[SC_DEVICES_MAX])
{
    int most = 0;

    for (int d = 1; d < sc_protocol.devices; d++)
        most = made[d].bytes > made[most].bytes ? d : most;
    return most;
}

static int chunks_of(const struct made made[SC_DEVICES_MAX], const struct sc_producer *producer)
{
    struct sc_result r = {0};
    int most = most_of(made);

    if (made[most].kernels < 2)
        return 1;
    for (int d = 0; d < sc_protocol.devices; d++)
        r.makers += made[d].kernels > 0;
    r.from = most;
    r.to = __builtin_ctz(made[most].readers);
    r.readers = __builtin_popcount(made[most].readers);
    r.kernels = made[most].kernels;
    r.bytes = made[most].bytes;
    r.seconds = producer ? producer->seconds * producer->devices / r.makers : 0;
    return sc_moves_chunks(&r);
}

/* The chunk of a sector: a chunk has the sectors of an equal part of each device's kernels. */
static int chunk_of(const struct sc_tile *t, int s, const struct made made[SC_DEVICES_MAX], int chunks)
{
    struct sc_fence f = maker(t, s);
    const struct made *by = &made[f.device];

    return !f.seq ? chunks - 1 : (int)((f.seq - by->first) * (uint64_t)chunks / (by->last - by->first + 1));
}

/* sectors[tile * chunks + chunk], to be freed; NULL: a single chunk, or no memory. */
static uint64_t *sort(const struct sc_matrix *m, const struct made made[SC_DEVICES_MAX], int chunks)
{
    int tiles = m->row_parts * m->col_parts;
    uint64_t *sectors = chunks > 1 ? calloc((size_t)tiles * (size_t)chunks, sizeof *sectors) : NULL;
    uint32_t readers;

    for (int i = 0; i < tiles && sectors; i++)
        for (uint64_t rest = wanted_of(&m->tiles[i], &readers); rest; rest &= rest - 1) {
            int s = __builtin_ctzll(rest);

            sectors[i * chunks + chunk_of(&m->tiles[i], s, made, chunks)] |= UINT64_C(1) << s;
        }
    return sectors;
}

/* With one tile a device, parts go in a ring: first to the next device, then to the device after the next.  The
 * links are in use at once, and a device receives its parts in turn.  Of several tiles the first tile is sent to all
 * devices, since the next tile may not be made yet.  Many small parts moved by kernels go without a ring too, if too
 * many to be collected: a kernel then moves as many parts as possible. */
static bool is_ring(const struct sc_matrix *m, const struct made made[SC_DEVICES_MAX], int chunks)
{
    int tiles = m->row_parts * m->col_parts, devices = sc_protocol.devices;

    return tiles <= devices && (tiles * (devices - 1) <= SC_MOVES_MAX ||
                                made[most_of(made)].bytes / (uint64_t)chunks >= SC_PUSH_BYTES);
}

static void send_chunk(struct sc_matrix *m, const uint64_t *sectors, int chunk, int chunks, bool ring)
{
    int tiles = m->row_parts * m->col_parts, devices = sc_protocol.devices;
    struct sc_moves moves; /* large */

    moves.count = 0;
    for (int at = 0; at < tiles * devices; at++) {
        int i = ring ? at % tiles : at / devices;
        struct sc_tile *t = &m->tiles[i];
        int to = ring ? (t->home + at / tiles) % devices : at % devices;

        if (t->push.call == sc_protocol.calls)
            send(m, t, to, sectors ? sectors[i * chunks + chunk] : t->push.sectors, &moves);
    }
    sc_moves_issue(&moves);
}

static void send_all(struct sc_matrix *m, const struct sc_producer *producer)
{
    uint64_t before = sc_stats.bytes[SC_D2D], *sectors;
    struct made made[SC_DEVICES_MAX] = {{0}};
    int chunks;

    m->push.shared = false;
    for (int i = 0; i < m->row_parts * m->col_parts; i++) {
        look_at(m, &m->tiles[i], made);
        for (int d = 0; d < sc_protocol.devices; d++)
            m->push.shared = m->push.shared || m->tiles[i].copy[d].push.wanted;
    }
    chunks = chunks_of(made, producer);
    sectors = sort(m, made, chunks);
    for (int chunk = 0; chunk < (sectors ? chunks : 1); chunk++)
        send_chunk(m, sectors, chunk, chunks, is_ring(m, made, chunks));
    free(sectors);
    sc_count(&sc_stats.pushed_d2d, sc_stats.bytes[SC_D2D] - before);
}

/* --- home, and all ------------------------------------------------------------------------------------------------ */

static void push_home(struct sc_matrix *m)
{
    uint64_t before = sc_stats.bytes[SC_D2H];

    sc_access_start(m);
    sc_count(&sc_stats.pushed, sc_stats.bytes[SC_D2H] - before);
}

void sc_coherence_send_home(const struct sc_operand *result)
{
    if (sc_coherence_goes_home(result))
        push_home(result->matrix);
}

void sc_coherence_push(const struct sc_operand *operands, int count, const struct sc_producer *producer)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    for (int i = 0; i < count && sc_config.push; i++)
        if (operands[i].matrix && operands[i].view.access & SC_WRITE && operands[i].matrix->push.shared)
            send_all(operands[i].matrix, producer);
    for (int i = 0; i < count; i++) {
        struct sc_matrix *m = operands[i].matrix;

        if (!m || !(operands[i].view.access & SC_WRITE) || m->bytes < SC_PUSH_BYTES || !is_whole(&operands[i]) ||
            !is_wanted(m) || m->keep_open.calls)
            continue;
        push_home(m);
    }
}

void sc_coherence_advise(const struct sc_operand *operand, bool kept, bool sent)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    if (!operand->matrix)
        return;
    operand->matrix->kept = kept;
    operand->matrix->push.advised = sent;
}

bool sc_coherence_is_sent(const struct sc_operand *operand)
{
    sc_assert_held(SC_RANK_PROTOCOL);
    return operand->matrix && operand->matrix->push.advised && operand->view.access & SC_WRITE;
}
/* SPDX-License-Identifier: BSD-2-Clause */
