/* Kernels that copy between devices (sc_device_ops.exchange), and the host's cost of a copy between devices. */
#include "autotuner/measure_int.h"

struct exchange {
    int on, other;
    bool push;
    size_t bytes;
};

static bool await(const struct sc_bench *b, int device, enum sc_stream stream)
{
    struct sc_fence fence;

    return b->how->ops->mark(device, stream, &fence) == SC_OK && b->how->ops->sync(fence) == SC_OK;
}

static struct sc_copy2d copy_of(const struct sc_bench *b, int from, int to, size_t bytes)
{
    return (struct sc_copy2d){.dst = b->chunk[to] + SC_BENCH_CHUNK, .src = b->chunk[from], .dst_pitch = bytes,
                              .src_pitch = bytes, .width = bytes, .height = 1, .dst_device = to, .src_device = from};
}

static double once(struct sc_bench *b, void *what)
{
    const struct exchange *x = what;
    struct sc_copy2d copy = copy_of(b, x->push ? x->on : x->other, x->push ? x->other : x->on, x->bytes);
    double start = sc_bench_now(b);

    if (b->how->ops->exchange(x->on, SC_STREAM_EXCHANGE, &copy, 1) != SC_OK || !await(b, x->on, SC_STREAM_EXCHANGE))
        return 0;
    return sc_bench_now(b) - start;
}

static void measure(struct sc_bench *b, int on, int other, bool push, struct sc_database_link *link)
{
    static const size_t sizes[] = {8, 64 << 10, 1 << 20, 8 << 20};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    double bytes[COUNT], seconds[COUNT], latency, per_byte;

    for (int i = 0; i < COUNT; i++) {
        struct exchange x = {on, other, push, sizes[i]};

        bytes[i] = (double)sizes[i];
        seconds[i] = sc_bench_mean(b, once, &x, false);
        if (seconds[i] <= 0)
            return;
    }
    if (!sc_sample_line(bytes, seconds, COUNT, &latency, &per_byte) || per_byte <= 0)
        return;
    link->latency = latency > 0 ? latency : seconds[0];
    link->bandwidth = 1 / per_byte;
}

/* True for links of one kind, with equal rates by copy engines. */
static bool is_alike(const struct sc_database_link *a, const struct sc_database_link *b)
{
    return a->bandwidth < 1.15 * b->bandwidth && b->bandwidth < 1.15 * a->bandwidth;
}

/* Takes over the rates of a link of the same kind, in the quick version. Returns false if no link of the kind was
 * measured. */
static bool take_over(const struct sc_bench *b, struct sc_database_link links[SC_PLACES][SC_PLACES], int from, int to)
{
    for (int i = 0; i < SC_LINKS && b->how->quick; i++) {
        int f = i / SC_PLACES, t = i % SC_PLACES;

        if (f != SC_PLACE_HOST && t != SC_PLACE_HOST && links[f][t].bandwidth > 0 &&
            is_alike(&b->db->link[f][t], &b->db->link[from][to])) {
            links[from][to] = links[f][t];
            return true;
        }
    }
    return false;
}

static void measure_way(struct sc_bench *b, int from, int to, bool push)
{
    struct sc_database_link (*links)[SC_PLACES] = push ? b->db->push : b->db->pull;
    int on = push ? from : to, other = push ? to : from;

    if (links[from][to].bandwidth > 0 || !b->properties[on].reach[other] || take_over(b, links, from, to))
        return;
    if (sc_bench_step(b, "%s %s -> %d", push ? "push" : "pull", sc_database_place_name(from), to))
        measure(b, on, other, push, &links[from][to]);
}

/* --- the host's time ---------------------------------------------------------------------------------------------- */

enum { FEW = 1, MANY = 9 };

/* Enqueues several small copies to device 0, with a wait for a kernel and a mark for each copy, as the library does. */
static double several(struct sc_bench *b, void *what)
{
    const struct sc_device_ops *ops = b->how->ops;
    struct sc_copy2d copy = copy_of(b, 1, 0, 8);
    struct sc_fence used, fence;
    double start;

    if (ops->fill(1, SC_STREAM_COMPUTE, b->chunk[1], 8, 0, 8, 1) != SC_OK)
        return 0;
    start = sc_bench_now(b);
    for (int i = 0; i < *(int *)what; i++) {
        enum sc_stream stream = (enum sc_stream)(SC_STREAM_PEER + i % SC_PEER_STREAMS);

        if (ops->mark(1, SC_STREAM_COMPUTE, &used) != SC_OK || ops->wait(0, stream, used) != SC_OK ||
            ops->copy(0, stream, &copy) != SC_OK || ops->mark(0, stream, &fence) != SC_OK)
            return 0;
    }
    for (int i = 0; i < SC_PEER_STREAMS; i++)
        if (!await(b, 0, (enum sc_stream)(SC_STREAM_PEER + i)))
            return 0;
    return sc_bench_now(b) - start;
}

static void measure_enqueueing(struct sc_bench *b)
{
    int few = FEW, many = MANY;
    double first, all;

    if (b->db->enqueue > 0 || b->how->devices < 2 || !b->properties[0].peer[1] ||
        !sc_bench_step(b, "copies between devices"))
        return;
    first = sc_bench_mean(b, several, &few, false);
    all = sc_bench_mean(b, several, &many, false);
    if (first > 0 && all > first)
        b->db->enqueue = (all - first) / (MANY - FEW);
}

void sc_bench_exchanges(struct sc_bench *b)
{
    measure_enqueueing(b);
    if (!b->how->ops->exchange)
        return;
    for (int from = 0; from < b->how->devices; from++)
        for (int to = 0; to < b->how->devices; to++)
            for (int push = 0; push < 2 && from != to; push++)
                measure_way(b, from, to, push);
}
/* SPDX-License-Identifier: BSD-2-Clause */
