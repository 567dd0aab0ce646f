#include "device/emu/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/device_int.h"

#define SPANS 1024 /* between the transfers of a device lie those of the other devices: 8 GiB are 512 transfers */
#define HISTORY ((uint64_t)1 << 16)
#define LOOK 20e-6 /* s of sleep between two looks at fences */

/* Times at which a shared resource is busy: disjoint spans in ascending order.  If there are too many, the two oldest
 * merge and the free time between them is lost. */
struct lane {
    int count;
    struct span { double from, to; } span[SPANS + 1];
};

struct stream_clock {
    double now;
    uint64_t last;   /* number of the last operation */
    double *history; /* end of operation number i at [i % HISTORY] */
};

static struct {
    const struct sc_emu_machine *machine;
    int devices;
    double host;
    struct stream_clock stream[SC_DEVICES_MAX][SC_STREAMS];
    struct lane units[SC_DEVICES_MAX];
    double busy[SC_DEVICES_MAX]; /* seconds of kernels */
    double slower[SC_DEVICES_MAX]; /* more time of the kernels, as a part of their time */
    struct lane link[SC_EMU_ENDS][SC_EMU_ENDS];
    uint64_t bytes[SC_EMU_ENDS][SC_EMU_ENDS]; /* total over every link */
    struct lane group[SC_EMU_GROUPS_MAX];
} clk;

static double later(double a, double b) { return a > b ? a : b; }

/* Takes `need` seconds of the lane's free time from time `from` on; returns the end of the last second.  All free time
 * in between is taken, so a single span covers the range. */
static double lane_take(struct lane *lane, double from, double need)
{
    double at = from, left = need, done;
    int first = 0, next;
    struct span taken;

    if (need <= 0)
        return from;
    while (first < lane->count && lane->span[first].to < from)
        first++;
    for (next = first; next < lane->count; next++) {
        double gap = lane->span[next].from - at;
        if (gap >= left)
            break;
        left -= later(gap, 0);
        at = later(at, lane->span[next].to);
    }
    done = at + left;
    taken = (struct span){from, done};
    if (next > first && lane->span[first].from < from)
        taken.from = lane->span[first].from;
    if (next < lane->count && lane->span[next].from <= done)
        taken.to = lane->span[next++].to; /* adjacent spans merge */
    memmove(&lane->span[first + 1], &lane->span[next], (size_t)(lane->count - next) * sizeof taken);
    lane->count += 1 - (next - first);
    lane->span[first] = taken;
    if (lane->count > SPANS) {
        lane->span[1].from = lane->span[0].from;
        memmove(&lane->span[0], &lane->span[1], (size_t)--lane->count * sizeof taken);
    }
    return done;
}

static bool lane_busy(const struct lane *lane, double at)
{
    for (int i = lane->count - 1; i >= 0; i--)
        if (lane->span[i].from <= at)
            return at < lane->span[i].to;
    return false;
}

void sc_emu_clock_start(const struct sc_emu_machine *machine, int devices)
{
    memset(&clk, 0, sizeof clk);
    clk.machine = machine;
    clk.devices = devices;
}

void sc_emu_clock_stop(void)
{
    for (int d = 0; d < clk.devices; d++)
        for (int s = 0; s < SC_STREAMS; s++)
            if (clk.stream[d][s].history)
                munmap(clk.stream[d][s].history, HISTORY * sizeof(double));
    memset(&clk, 0, sizeof clk);
}

/* Charges the host for the call; returns the earliest start of the operation. */
static double begin(int device, int stream)
{
    clk.host += clk.machine->call;
    return later(clk.stream[device][stream].now, clk.host);
}

static void end(int device, int stream, uint64_t seq, double at)
{
    struct stream_clock *s = &clk.stream[device][stream];

    if (!s->history) {
        void *p = mmap(NULL, HISTORY * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        s->history = p == MAP_FAILED ? NULL : p;
    }
    s->now = later(s->now, at);
    s->last = seq;
    if (s->history)
        s->history[seq % HISTORY] = s->now;
}

/* A fence older than the history counts as reached at the oldest time in the history, never too early. */
static double reached_at(struct sc_fence fence)
{
    const struct stream_clock *s;

    if (!fence.seq)
        return 0;
    s = &clk.stream[fence.device][fence.stream];
    if (!s->history || fence.seq >= s->last)
        return s->now;
    if (s->last - fence.seq >= HISTORY)
        fence.seq = s->last - HISTORY + 1;
    return s->history[fence.seq % HISTORY];
}

/* Number of busy links in the group, with the link that asks. */
static int crowd(const struct sc_emu_group *g, int from, int to, double at)
{
    int count = 1;

    for (int i = 0; i < SC_EMU_ENDS; i++)
        for (int j = 0; j < SC_EMU_ENDS; j++)
            if (g->carries[i][j] && !(i == from && j == to) && lane_busy(&clk.link[i][j], at))
                count++;
    return count;
}

static double group_bandwidth(const struct sc_emu_group *g, int from, int to, double at)
{
    int step = 0, count = g->steps > 1 ? crowd(g, from, to, at) : 1;

    while (step + 1 < g->steps && count >= g->step[step + 1].from)
        step++;
    return g->step[step].bandwidth;
}

static int end_of(int device) { return device == SC_HOST ? SC_EMU_HOST : device; }

/* Takes the lanes of the link and its groups; returns when every lane has served the bytes. */
static double cross(int from, int to, double start, double bytes, double bandwidth)
{
    const struct sc_emu_machine *m = clk.machine;
    double done = lane_take(&clk.link[from][to], start, bytes / bandwidth);

    clk.bytes[from][to] += (uint64_t)bytes;
    for (int i = 0; i < m->groups; i++)
        if (m->group[i].carries[from][to])
            done = later(done, lane_take(&clk.group[i], start, bytes / group_bandwidth(&m->group[i], from, to, start)));
    return done;
}

void sc_emu_clock_exchange(int device, int stream, uint64_t seq, const struct sc_copy2d *pieces, int count)
{
    double start = begin(device, stream) + clk.machine->device[device].launch, done = start;

    for (int i = 0; i < count; i++) {
        int from = end_of(pieces[i].src_device), to = end_of(pieces[i].dst_device);
        const struct sc_emu_link *link = &clk.machine->link[from][to];

        done = later(done, link->kernel_latency + cross(from, to, start, (double)pieces[i].width *
                                                        (double)pieces[i].height, link->kernel_bandwidth));
    }
    end(device, stream, seq, done);
}

void sc_emu_clock_copy(int device, int stream, uint64_t seq, int from, int to, uint64_t bytes)
{
    const struct sc_emu_machine *m = clk.machine;
    const struct sc_emu_link *link = &m->link[from][to];
    double start = begin(device, stream);

    if (from == to) {
        clk.bytes[from][to] += bytes;
        end(device, stream, seq, start + m->device[device].launch + 2 * (double)bytes / m->device[device].bandwidth);
        return;
    }
    end(device, stream, seq, cross(from, to, start, (double)bytes, link->bandwidth) + link->latency);
}

void sc_emu_clock_slow(int device, double times) { clk.slower[device] = times - 1; }

static void run_units(int device, int stream, uint64_t seq, double seconds)
{
    double start = begin(device, stream);

    seconds *= 1 + clk.slower[device];

    clk.busy[device] += seconds;
    end(device, stream, seq, lane_take(&clk.units[device], start, seconds));
}

void sc_emu_clock_fill(int device, int stream, uint64_t seq, uint64_t bytes)
{
    const struct sc_emu_device *d = &clk.machine->device[device];

    run_units(device, stream, seq, d->launch + (double)bytes / d->bandwidth);
}

void sc_emu_clock_kernel(int device, int stream, uint64_t seq, const struct sc_kernel *kernel)
{
    const struct sc_emu_device *d = &clk.machine->device[device];

    double flops = sc_kernel_flops(kernel), rate = d->gemm[kernel->type];
    double seconds = sc_op_is_lapack(kernel->op) ? sc_device_lapack_seconds(kernel->op, flops, rate) : flops / rate;

    if (kernel->op == SC_OP_CSRSV || kernel->op == SC_OP_CSRSM)
        seconds = later(seconds, (double)kernel->csr.chain * SC_CHAIN_SECONDS);
    run_units(device, stream, seq,
              d->launch + later(seconds, sc_kernel_bytes(kernel) / d->bandwidth) +
                  sc_solve_seconds(kernel->op, kernel->side, kernel->m, kernel->n, d->solve));
}

void sc_emu_clock_wait(int device, int stream, uint64_t seq, struct sc_fence fence)
{
    end(device, stream, seq, reached_at(fence));
}

void sc_emu_clock_nothing(int device, int stream, uint64_t seq) { end(device, stream, seq, 0); }

void sc_emu_clock_sync(struct sc_fence fence)
{
    double reached = reached_at(fence);

    if (reached > clk.host)
        clk.host = reached + clk.machine->sync;
}

double sc_emu_clock_host(enum sc_host_event event)
{
    if (event == SC_HOST_EVENT_FAULT)
        clk.host += clk.machine->fault;
    if (event == SC_HOST_EVENT_LOOK)
        clk.host += LOOK;
    return clk.host;
}

bool sc_emu_clock_done(struct sc_fence fence) { return reached_at(fence) <= clk.host; }

double sc_emu_clock_seconds(void)
{
    double last = clk.host;

    for (int d = 0; d < clk.devices; d++)
        for (int s = 0; s < SC_STREAMS; s++)
            last = later(last, clk.stream[d][s].now);
    return last;
}

uint64_t sc_emu_clock_bytes(int from, int to) { return clk.bytes[from][to]; }

double sc_emu_clock_joules(int device)
{
    const struct sc_emu_device *d = &clk.machine->device[device];

    return sc_emu_clock_seconds() * d->watts_idle + clk.busy[device] * later(d->watts_busy - d->watts_idle, 0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
