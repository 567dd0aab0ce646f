/* Links: alone, in sets, in pairs. */
#include <time.h>

#include "autotuner/measure_int.h"

struct transfer {
    int from, to;
    size_t bytes;
};

static bool is_place(const struct sc_bench *b, int place) { return place < b->how->devices || place == SC_PLACE_HOST; }

static bool is_there(const struct sc_bench *b, int from, int to)
{
    if (from == to || !is_place(b, from) || !is_place(b, to))
        return false;
    return from == SC_PLACE_HOST || to == SC_PLACE_HOST || b->properties[to].peer[from];
}

/* Device and stream of a transfer in the library (coherence/transfer.c). */
static int device_of(int from, int to) { return to == SC_PLACE_HOST ? from : to; }

static enum sc_stream stream_of(int from, int to)
{
    return from == SC_PLACE_HOST ? SC_STREAM_H2D : to == SC_PLACE_HOST ? SC_STREAM_D2H : sc_stream_peer(from);
}

/* Enqueues a copy of the link's own memory. The two directions have different chunks. */
static bool enqueue(const struct sc_bench *b, int from, int to, size_t bytes, enum sc_stream stream)
{
    int device = device_of(from, to);
    char *up = b->pinned + (size_t)2 * SC_BENCH_CHUNK * (size_t)device;
    struct sc_copy2d copy = {.dst_pitch = bytes, .src_pitch = bytes, .width = bytes, .height = 1};

    copy.src_device = from == SC_PLACE_HOST ? SC_HOST : from;
    copy.dst_device = to == SC_PLACE_HOST ? SC_HOST : to;
    copy.src = from == SC_PLACE_HOST ? up : b->chunk[from];
    copy.dst = to == SC_PLACE_HOST ? up + SC_BENCH_CHUNK : b->chunk[to] + SC_BENCH_CHUNK;
    return b->how->ops->copy(device, stream, &copy) == SC_OK;
}

static bool await(const struct sc_bench *b, int device, enum sc_stream stream)
{
    struct sc_fence fence;

    return b->how->ops->mark(device, stream, &fence) == SC_OK && b->how->ops->sync(fence) == SC_OK;
}

/* --- alone -------------------------------------------------------------------------------------------------------- */

static double once(struct sc_bench *b, void *what)
{
    const struct transfer *t = what;
    double start = sc_bench_now(b);

    if (!enqueue(b, t->from, t->to, t->bytes, stream_of(t->from, t->to)) ||
        !await(b, device_of(t->from, t->to), stream_of(t->from, t->to)))
        return 0;
    return sc_bench_now(b) - start;
}

static void measure_link(struct sc_bench *b, int from, int to)
{
    static const size_t sizes[] = {8, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, SC_BENCH_CHUNK};
    static const int count = (int)(sizeof sizes / sizeof *sizes);
    struct sc_database_link *link = &b->db->link[from][to];
    double bytes[sizeof sizes / sizeof *sizes], seconds[sizeof sizes / sizeof *sizes], latency, per_byte;
    int n = 0;

    for (int i = 0; i < count; i++) {
        struct transfer t = {from, to, sizes[i]};

        if (b->how->quick && (i == 2 || i == 4))
            continue;
        bytes[n] = (double)sizes[i];
        seconds[n] = sc_bench_mean(b, once, &t, false);
        if (seconds[n] <= 0)
            return;
        n++;
    }
    if (!sc_sample_line(bytes, seconds, n, &latency, &per_byte) || per_byte <= 0)
        return;
    link->latency = latency > 0 ? latency : seconds[0];
    link->bandwidth = 1 / per_byte;
}

static void link_name(char *text, size_t bytes, int from, int to)
{
    snprintf(text, bytes, "%s -> %s", sc_database_place_name(from), sc_database_place_name(to));
}

void sc_bench_links(struct sc_bench *b)
{
    char name[32];

    for (int i = 0; i < SC_LINKS; i++) {
        int from = i / SC_PLACES, to = i % SC_PLACES;

        if (!is_there(b, from, to) || b->db->link[from][to].bandwidth > 0)
            continue;
        link_name(name, sizeof name, from, to);
        if (sc_bench_step(b, "link %s", name))
            measure_link(b, from, to);
    }
}

/* --- at once ------------------------------------------------------------------------------------------------------ */

#define PIECES 8
#define SHARE_SECONDS 4e-3 /* time of a link's share alone */
#define QUICK_SHARE_SECONDS 2e-3

struct together {
    int count;
    int link[2 * SC_DEVICES_MAX];
};

struct share {
    int from, to;
    enum sc_stream stream;
    size_t bytes; /* of a piece */
    int pieces, sent;
};

static struct share share_of(const struct sc_bench *b, int link)
{
    struct share s = {.from = link / SC_PLACES, .to = link % SC_PLACES, .pieces = PIECES};
    double seconds = b->how->quick ? QUICK_SHARE_SECONDS : SHARE_SECONDS;
    double bytes = b->db->link[s.from][s.to].bandwidth * seconds;

    s.stream = stream_of(s.from, s.to);
    if (bytes / s.pieces > SC_BENCH_CHUNK)
        s.pieces = (int)(bytes / SC_BENCH_CHUNK) + 1;
    s.bytes = (size_t)(bytes / s.pieces) / 256 * 256 + 256;
    if (s.bytes > SC_BENCH_CHUNK)
        s.bytes = SC_BENCH_CHUNK;
    return s;
}

/* Runs the shares of the links together. The shares take the same time alone, and their pieces are enqueued in turn.
 * Two links into one device need two streams, because copies in one stream wait regardless of the hardware. */
static double once_together(struct sc_bench *b, void *what)
{
    const struct together *t = what;
    struct share share[2 * SC_DEVICES_MAX];
    bool good = true, left = true;
    double start;

    for (int i = 0; i < t->count; i++) {
        share[i] = share_of(b, t->link[i]);
        for (int j = 0; j < i; j++)
            if (share[j].stream == share[i].stream &&
                device_of(share[j].from, share[j].to) == device_of(share[i].from, share[i].to))
                share[i].stream = SC_STREAM_COMPUTE;
    }
    start = sc_bench_now(b);
    while (left && good) {
        struct share *next = NULL;

        for (int i = 0; i < t->count; i++)
            if (share[i].sent < share[i].pieces &&
                (!next || share[i].sent * next->pieces < next->sent * share[i].pieces))
                next = &share[i];
        left = next != NULL;
        if (left)
            good = enqueue(b, next->from, next->to, next->bytes, next->stream);
        if (left)
            next->sent++;
    }
    for (int i = 0; i < t->count; i++)
        good = await(b, device_of(share[i].from, share[i].to), share[i].stream) && good;
    return good ? sc_bench_now(b) - start : 0;
}

static double bytes_together(const struct sc_bench *b, const struct together *t)
{
    double bytes = 0;

    for (int i = 0; i < t->count; i++) {
        struct share s = share_of(b, t->link[i]);

        bytes += (double)s.bytes * s.pieces;
    }
    return bytes;
}

static void measure_set(struct sc_bench *b, int set, int devices)
{
    struct together t = {0};
    double seconds;

    for (int d = 0; d < devices; d++) {
        if (set != SC_SET_UP)
            t.link[t.count++] = sc_link(SC_PLACE_HOST, d);
        if (set != SC_SET_DOWN)
            t.link[t.count++] = sc_link(d, SC_PLACE_HOST);
    }
    for (int i = 0; i < t.count; i++)
        if (b->db->link[t.link[i] / SC_PLACES][t.link[i] % SC_PLACES].bandwidth <= 0)
            return;
    seconds = sc_bench_mean(b, once_together, &t, false);
    if (seconds > 0)
        b->db->set[set][devices] = bytes_together(b, &t) / seconds;
}

void sc_bench_sets(struct sc_bench *b)
{
    for (int set = 0; set < SC_SETS; set++)
        for (int n = set == SC_SET_BOTH ? 1 : 2; n <= b->how->devices; n++)
            if (b->db->set[set][n] <= 0 && sc_bench_step(b, "%d devices %s", n, sc_database_set_names[set]))
                measure_set(b, set, n);
}

/* --- pairs (eq. 6) ------------------------------------------------------------------------------------------------ */

static double alone(struct sc_bench *b, int link)
{
    struct together t = {.count = 1, .link = {link}};

    if (b->alone[link] <= 0)
        b->alone[link] = sc_bench_mean(b, once_together, &t, false);
    return b->alone[link];
}

/* The shares of the two links take the same time alone, so the time together is the slow-down. */
static void measure_pair(struct sc_bench *b, int one, int other)
{
    struct together t = {.count = 2, .link = {one, other}};
    double first = alone(b, one), second = alone(b, other);
    double both = first > 0 && second > 0 ? sc_bench_mean(b, once_together, &t, false) : 0;
    double slow = both / (first > second ? first : second);

    if (both <= 0)
        return;
    slow = slow < 1 ? 1 : slow > SC_SLOW_MOST ? SC_SLOW_MOST : slow;
    b->db->slow[one][other] = b->db->slow[other][one] = (float)slow;
}

static bool is_measured(const struct sc_bench *b, int link)
{
    return b->db->link[link / SC_PLACES][link % SC_PLACES].bandwidth > 0;
}

static bool may_be_measured(const struct sc_bench *b, int link)
{
    int from = link / SC_PLACES, to = link % SC_PLACES;

    return is_there(b, from, to) && (b->counting || is_measured(b, link));
}

void sc_bench_pairs(struct sc_bench *b)
{
    char name[32], other[32];

    for (int i = 0; !b->how->quick && i < SC_LINKS; i++)
        for (int j = i + 1; j < SC_LINKS; j++) {
            if (!may_be_measured(b, i) || !may_be_measured(b, j) || b->db->slow[i][j] > 0)
                continue;
            link_name(name, sizeof name, i / SC_PLACES, i % SC_PLACES);
            link_name(other, sizeof other, j / SC_PLACES, j % SC_PLACES);
            if (sc_bench_step(b, "%s with %s", name, other))
                measure_pair(b, i, j);
        }
}
/* SPDX-License-Identifier: BSD-2-Clause */
