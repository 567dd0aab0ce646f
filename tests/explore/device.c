/* Devices whose streams are queues: the scheduler decides when a stream does its next piece of work. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/page.h"
#include "host/host.h"
#include "tests/explore/device.h"

struct explore_stream explore_streams[DEVICES][SC_STREAMS];
double explore_memory[DEVICES][SLOTS][SLOT_ELEMENTS];
bool explore_taken[DEVICES][SLOTS];
static int rooms;
static uint64_t shortages;

static bool dead[DEVICES];
static int refused[DEVICES]; /* countdown to the request that is refused; 0: no request is refused */
static uint64_t reached_alive[DEVICES][SC_STREAMS]; /* of a dead device: the last fences reached */

int explore_allocation(const void *p)
{
    return p ? (int)(((const char *)p - (const char *)explore_memory) / (ptrdiff_t)SLOT_BYTES) : -1;
}

uint64_t explore_device_shortages(void) { return shortages; }

static struct explore_work *put(int device, enum sc_stream stream, int kind)
{
    struct explore_stream *s = &explore_streams[device][stream];
    struct explore_work *w = &s->queue[s->tail++ % QUEUE];

    if (s->tail - s->head > QUEUE)
        __builtin_trap();
    memset(w, 0, sizeof *w);
    w->kind = kind;
    return w;
}

/* --- the host's memory under any protection ----------------------------------------------------------------------- */

/* The descriptor stays open: base/self_mem.h would look at it at each of many accesses. */
static int self_mem(void)
{
    static int fd = -1;

    if (fd < 0 && (fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC)) < 0)
        abort();
    return fd;
}

static bool may(uintptr_t address, size_t bytes, enum sc_prot worst)
{
    for (uintptr_t page = sc_page_floor(address); page < address + bytes; page += SC_PAGE)
        if (sc_host_prot(page) > worst)
            return false;
    return true;
}

void explore_peek(void *to, const void *host, size_t bytes)
{
    if (may((uintptr_t)host, bytes, SC_PROT_R))
        memcpy(to, host, bytes);
    else if (pread(self_mem(), to, bytes, (off_t)(uintptr_t)host) != (ssize_t)bytes)
        abort();
}

void explore_poke(void *host, const void *from, size_t bytes)
{
    if (may((uintptr_t)host, bytes, SC_PROT_RW))
        memcpy(host, from, bytes);
    else if (pwrite(self_mem(), from, bytes, (off_t)(uintptr_t)host) != (ssize_t)bytes)
        abort();
}

/* --- devices that break ------------------------------------------------------------------------------------------- */

static bool refuses(int device)
{
    return dead[device] || (refused[device] && --refused[device] == 0);
}

int explore_device_health(int device) { return dead[device] ? -1 : refused[device]; }

void explore_device_refuse(int device, int nth) { refused[device] = nth; }

/* Data that a dying device was writing into another device's memory become undefined, like the device's own memory. */
static void spoil_pushed(int device, const struct explore_stream *s)
{
    for (unsigned i = s->head; i != s->tail; i++) {
        const struct explore_work *w = &s->queue[i % QUEUE];
        double *to = w->copy.dst;

        if (w->kind == COPY && w->copy.dst_device != SC_HOST && w->copy.dst_device != device)
            for (size_t j = 0; j < w->copy.width * w->copy.height / sizeof *to; j++)
                to[j] = EXPLORE_GONE;
    }
}

/* Stops a copy home half-way. A wait for unfinished work fails, and only sync reports the failure. */
void explore_device_kill(int device)
{
    const struct explore_stream *home = &explore_streams[device][SC_STREAM_D2H];
    const struct explore_work *first = &home->queue[home->head % QUEUE];

    if (home->head != home->tail && first->kind == COPY)
        explore_poke(first->copy.dst, first->copy.src, first->copy.width / 2);
    for (int i = 0; i < SC_STREAMS; i++) {
        struct explore_stream *s = &explore_streams[device][i];

        spoil_pushed(device, s);
        reached_alive[device][i] = s->done;
        s->head = s->tail;
        s->done = s->marked;
    }
    for (int i = 0; i < SLOTS * SLOT_ELEMENTS; i++)
        explore_memory[device][i / SLOT_ELEMENTS][i % SLOT_ELEMENTS] = EXPLORE_GONE;
    dead[device] = true;
}

bool explore_fence_failed(struct sc_fence f)
{
    return f.seq && dead[f.device] && f.seq > reached_alive[f.device][f.stream];
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static bool done(struct sc_fence f) { return explore_streams[f.device][f.stream].done >= f.seq; }

static void put_mark(int device, enum sc_stream stream, struct sc_fence *f)
{
    *f = (struct sc_fence){++explore_streams[device][stream].marked, (uint16_t)device, (uint16_t)stream};
    put(device, stream, MARK)->fence = *f;
}

static enum sc_status mark(int device, enum sc_stream stream, struct sc_fence *f)
{
    if (refuses(device))
        return SC_ERR_DEVICE;
    put_mark(device, stream, f);
    return SC_OK;
}

/* Whether the protocol asks for a wait that is over depends on earlier waits (coherence/order.c), which are not part of
 * a state. Such a wait is no work, and only a dead device refuses it. */
static enum sc_status wait(int device, enum sc_stream stream, struct sc_fence f)
{
    if (!dead[device] && done(f))
        return SC_OK;
    if (refuses(device))
        return SC_ERR_DEVICE;
    put(device, stream, WAIT)->fence = f;
    return SC_OK;
}

static enum sc_status copy(int device, enum sc_stream stream, const struct sc_copy2d *c)
{
    if (refuses(device))
        return SC_ERR_DEVICE;
    put(device, stream, COPY)->copy = *c;
    return SC_OK;
}

/* One piece of work per copy, so that a second stream may see a part of the copies. */
static enum sc_status exchange(int device, enum sc_stream stream, const struct sc_copy2d *copies, int count)
{
    if (refuses(device))
        return SC_ERR_DEVICE;
    for (int i = 0; i < count; i++)
        put(device, stream, COPY)->copy = copies[i];
    return SC_OK;
}

static enum sc_status launch(int device, enum sc_stream stream, const struct sc_kernel *k)
{
    if (refuses(device))
        return SC_ERR_DEVICE;
    put(device, stream, KERNEL)->kernel = *k;
    return SC_OK;
}

/* As a GPU: the function enqueues its kernels now. */
static enum sc_status call(int device, enum sc_stream stream, const struct sc_device_call *function)
{
    (void)stream;
    if (refuses(device))
        return SC_ERR_DEVICE;
    function->run(device, NULL, function->record);
    return SC_OK;
}

static void put_fill(int device, enum sc_stream stream, void *p, size_t bytes)
{
    struct explore_work *w = put(device, stream, FILL);

    w->fill.memory = p;
    w->fill.bytes = bytes;
}

static enum sc_status fill(int device, enum sc_stream stream, void *p, size_t pitch, int byte, size_t width,
                           size_t height)
{
    (void)pitch, (void)byte;
    if (refuses(device))
        return SC_ERR_DEVICE;
    put_fill(device, stream, p, width * height);
    return SC_OK;
}

/* A freed allocation is handed out again at once: only the fence `ready` separates the new user from earlier users. */
static enum sc_status alloc(int device, size_t bytes, void **out, struct sc_fence *ready)
{
    (void)bytes;
    if (refuses(device))
        return SC_ERR_DEVICE;
    for (int i = 0; i < rooms; i++)
        if (!explore_taken[device][i]) {
            explore_taken[device][i] = true;
            *out = explore_memory[device][i];
            put_mark(device, SC_STREAM_MEMORY, ready);
            return SC_OK;
        }
    shortages++;
    return SC_ERR_DEVICE_MEMORY;
}

static void release(int device, void *p, const struct sc_fence *after, int count)
{
    for (int i = 0; i < count && !dead[device]; i++)
        if (!done(after[i]))
            put(device, SC_STREAM_MEMORY, WAIT)->fence = after[i];
    if (!dead[device])
        put_fill(device, SC_STREAM_MEMORY, p, SLOT_BYTES); /* late work sees the garbage */
    explore_taken[device][explore_allocation(p) % SLOTS] = false;
}

static enum sc_status sync_fence(struct sc_fence f)
{
    if (!dead[f.device] && refuses(f.device))
        return SC_ERR_DEVICE;
    while (!done(f)) {
        int enabled[DEVICES * SC_STREAMS];

        if (!explore_streams_enabled(enabled))
            return SC_ERR_DEVICE; /* nobody will ever */
        explore_await(f);
    }
    return explore_fence_failed(f) ? SC_ERR_DEVICE : SC_OK;
}

static enum sc_status properties(int device, struct sc_device_properties *out)
{
    *out = (struct sc_device_properties){.name = "a queue", .memory = 8 * SLOT_BYTES, .gemm_flops = 1e9,
                                         .memory_bandwidth = 1e9, .host_bandwidth = 1e9, .emulated = true};
    for (int d = 0; d < DEVICES; d++)
        out->peer[d] = out->reach[d] = d != device;
    return SC_OK;
}

static enum sc_status pin(void *base, size_t bytes) { return (void)base, (void)bytes, SC_OK; }
static void unpin(void *base, size_t bytes) { (void)base, (void)bytes; }
static void *result_slot(int device) { return (void)device, NULL; }
static void close_all(void) {}

const struct sc_device_ops explore_device = {
    .abi = SC_DEVICE_ABI, .size = sizeof explore_device, .name = "explore", .close = close_all,
    .properties = properties, .alloc = alloc, .free = release, .pin = pin, .unpin = unpin, .copy = copy, .fill = fill,
    .exchange = exchange, .launch = launch, .call = call, .result_slot = result_slot, .mark = mark, .wait = wait,
    .sync = sync_fence, .done = done};

void explore_device_reset(int room)
{
    int enabled[DEVICES * SC_STREAMS];

    while (explore_streams_enabled(enabled))
        explore_stream_step(enabled[0]);
    memset(explore_memory, 0xff, sizeof explore_memory);
    memset(explore_taken, 0, sizeof explore_taken);
    memset(dead, 0, sizeof dead);
    memset(refused, 0, sizeof refused);
    rooms = room < SLOTS ? room : SLOTS;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static void do_copy(const struct sc_copy2d *c)
{
    for (size_t i = 0; i < c->height; i++) {
        char *to = (char *)c->dst + i * c->dst_pitch;
        const char *from = (const char *)c->src + i * c->src_pitch;

        if (c->dst_device == SC_HOST)
            explore_poke(to, from, c->width);
        else if (c->src_device == SC_HOST)
            explore_peek(to, from, c->width);
        else
            memcpy(to, from, c->width);
    }
}

static void perform(struct explore_stream *s, const struct explore_work *w)
{
    switch (w->kind) {
    case COPY: do_copy(&w->copy); break;
    case KERNEL: explore_kernel(&w->kernel); break;
    case FILL: memset(w->fill.memory, 0xff, w->fill.bytes); break;
    case MARK: s->done = w->fence.seq; break;
    case WAIT: break;
    }
}

static const struct explore_work *next(const struct explore_stream *s) { return &s->queue[s->head % QUEUE]; }

static bool can_step(const struct explore_stream *s)
{
    return s->head != s->tail && (next(s)->kind != WAIT || done(next(s)->fence));
}

int explore_streams_enabled(int *enabled)
{
    int n = 0;

    for (int i = 0; i < DEVICES * SC_STREAMS; i++)
        if (can_step(&explore_streams[0][0] + i))
            enabled[n++] = i;
    return n;
}

/* Takes one piece of work, with the waits before and the marks behind it. The moment when waits and marks are passed is
 * visible only by the work between them. */
void explore_stream_step(int i)
{
    struct explore_stream *s = &explore_streams[0][0] + i;
    bool worked = false, marked = false;

    while (can_step(s) && (next(s)->kind == MARK || (!worked && !marked))) {
        const struct explore_work *w = &s->queue[s->head++ % QUEUE];

        worked |= w->kind <= FILL;
        marked |= w->kind == MARK;
        perform(s, w);
    }
}

bool explore_streams_idle(void)
{
    for (int i = 0; i < DEVICES * SC_STREAMS; i++)
        if ((&explore_streams[0][0])[i].head != (&explore_streams[0][0])[i].tail)
            return false;
    return true;
}
/* SPDX-License-Identifier: BSD-2-Clause */
