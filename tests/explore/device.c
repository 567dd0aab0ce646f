/* Devices whose streams are queues: work is done when the scheduler says so, a piece at a time. */
#include <string.h>

#include "host/host.h"
#include "tests/explore/explore.h"

#define SLOTS      4   /* allocations of a device */
#define SLOT_BYTES (ELEMENTS * sizeof(double))
#define QUEUE      256

struct work {
    enum { COPY, KERNEL, FILL, MARK, WAIT } kind;
    union {
        struct sc_copy2d copy;
        struct sc_kernel kernel;
        struct sc_fence fence;
        struct {
            void *memory;
            size_t bytes;
        } fill;
    };
};

static struct stream {
    struct work queue[QUEUE];
    unsigned head, tail;
    uint64_t marked, done; /* fences handed out, and reached */
} streams[DEVICES][SC_STREAMS];

static double memory[DEVICES][SLOTS][ELEMENTS];
static bool taken[DEVICES][SLOTS];
static int rooms;

int explore_allocation(const void *p)
{
    return p ? (int)(((const char *)p - (const char *)memory) / (ptrdiff_t)SLOT_BYTES) : -1;
}

static struct work *put(int device, enum sc_stream stream, int kind)
{
    struct stream *s = &streams[device][stream];
    struct work *w = &s->queue[s->tail++ % QUEUE];

    if (s->tail - s->head > QUEUE)
        __builtin_trap();
    memset(w, 0, sizeof *w);
    w->kind = kind;
    return w;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static bool done(struct sc_fence f) { return streams[f.device][f.stream].done >= f.seq; }

static enum sc_status mark(int device, enum sc_stream stream, struct sc_fence *f)
{
    *f = (struct sc_fence){++streams[device][stream].marked, (uint16_t)device, (uint16_t)stream};
    put(device, stream, MARK)->fence = *f;
    return SC_OK;
}

static enum sc_status wait(int device, enum sc_stream stream, struct sc_fence f)
{
    put(device, stream, WAIT)->fence = f;
    return SC_OK;
}

static enum sc_status copy(int device, enum sc_stream stream, const struct sc_copy2d *c)
{
    put(device, stream, COPY)->copy = *c;
    return SC_OK;
}

static enum sc_status launch(int device, enum sc_stream stream, const struct sc_kernel *k)
{
    put(device, stream, KERNEL)->kernel = *k;
    return SC_OK;
}

static enum sc_status fill(int device, enum sc_stream stream, void *p, size_t pitch, int byte, size_t width,
                           size_t height)
{
    struct work *w = put(device, stream, FILL);

    (void)pitch, (void)byte;
    w->fill.memory = p;
    w->fill.bytes = width * height;
    return SC_OK;
}

/* A freed allocation is handed out again at once: only `ready` keeps the new user from the old ones. */
static enum sc_status alloc(int device, size_t bytes, void **out, struct sc_fence *ready)
{
    (void)bytes;
    for (int i = 0; i < rooms; i++)
        if (!taken[device][i]) {
            taken[device][i] = true;
            *out = memory[device][i];
            return mark(device, SC_STREAM_MEMORY, ready);
        }
    return SC_ERR_DEVICE_MEMORY;
}

static void release(int device, void *p, const struct sc_fence *after, int count)
{
    for (int i = 0; i < count; i++)
        if (!done(after[i]))
            wait(device, SC_STREAM_MEMORY, after[i]);
    fill(device, SC_STREAM_MEMORY, p, 0, 0xff, SLOT_BYTES, 1); /* what comes too late sees it */
    taken[device][explore_allocation(p) % SLOTS] = false;
}

static enum sc_status sync(struct sc_fence f)
{
    struct sc_fences one = {.f = {f}, .count = 1};

    if (!done(f) && explore_inside())
        explore_await(&one);
    while (!done(f)) { /* the end of a run: in any order */
        int enabled[DEVICES * SC_STREAMS];

        if (!explore_streams_enabled(enabled))
            return SC_ERR_DEVICE;
        explore_stream_step(enabled[0]);
    }
    return SC_OK;
}

static enum sc_status properties(int device, struct sc_device_properties *out)
{
    *out = (struct sc_device_properties){.name = "a queue", .memory = 8 * SLOT_BYTES, .gemm_flops = 1e9,
                                         .memory_bandwidth = 1e9, .host_bandwidth = 1e9, .emulated = true};
    for (int d = 0; d < DEVICES; d++)
        out->peer[d] = d != device;
    return SC_OK;
}

static enum sc_status pin(void *base, size_t bytes) { return (void)base, (void)bytes, SC_OK; }
static void unpin(void *base, size_t bytes) { (void)base, (void)bytes; }
static void *result_slot(int device) { return (void)device, NULL; }
static void close_all(void) {}

const struct sc_device_ops explore_device = {
    .abi = SC_DEVICE_ABI, .size = sizeof explore_device, .name = "explore", .close = close_all,
    .properties = properties, .alloc = alloc, .free = release, .pin = pin, .unpin = unpin, .copy = copy, .fill = fill,
    .launch = launch, .result_slot = result_slot, .mark = mark, .wait = wait, .sync = sync, .done = done};

void explore_device_reset(int room)
{
    int enabled[DEVICES * SC_STREAMS];

    while (explore_streams_enabled(enabled))
        explore_stream_step(enabled[0]);
    memset(memory, 0xff, sizeof memory);
    memset(taken, 0, sizeof taken);
    rooms = room < SLOTS ? room : SLOTS;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static void do_copy(const struct sc_copy2d *c)
{
    for (size_t i = 0; i < c->height; i++) {
        char *to = (char *)c->dst + i * c->dst_pitch;
        const char *from = (const char *)c->src + i * c->src_pitch;

        if (c->dst_device == SC_HOST)
            sc_host_write(to, from, c->width);
        else if (c->src_device == SC_HOST)
            sc_host_read(to, from, c->width);
        else
            memcpy(to, from, c->width);
    }
}

static void do_kernel(const struct sc_kernel *k)
{
    double *x = k->a, *y = k->op == SC_OP_SCAL ? x : k->b;

    for (int64_t i = 0; i < k->n; i++)
        y[i] = explore_computed(k, x[i], y[i]);
}

static void perform(struct stream *s, const struct work *w)
{
    switch (w->kind) {
    case COPY: do_copy(&w->copy); break;
    case KERNEL: do_kernel(&w->kernel); break;
    case FILL: memset(w->fill.memory, 0xff, w->fill.bytes); break;
    case MARK: s->done = w->fence.seq; break;
    case WAIT: break;
    }
}

static const struct work *next(const struct stream *s) { return &s->queue[s->head % QUEUE]; }

static bool can_step(const struct stream *s)
{
    return s->head != s->tail && (next(s)->kind != WAIT || done(next(s)->fence));
}

int explore_streams_enabled(int *enabled)
{
    int n = 0;

    for (int i = 0; i < DEVICES * SC_STREAMS; i++)
        if (can_step(&streams[0][0] + i))
            enabled[n++] = i;
    return n;
}

/* A piece of work, if there is one, with the waits before and the marks behind it: nobody can tell when these are
 * passed but by the work between them. */
void explore_stream_step(int i)
{
    struct stream *s = &streams[0][0] + i;
    bool worked = false, marked = false;

    while (can_step(s) && (next(s)->kind == MARK || (!worked && !marked))) {
        const struct work *w = &s->queue[s->head++ % QUEUE];

        worked |= w->kind <= FILL;
        marked |= w->kind == MARK;
        perform(s, w);
    }
}

bool explore_streams_idle(void)
{
    for (int i = 0; i < DEVICES * SC_STREAMS; i++)
        if ((&streams[0][0])[i].head != (&streams[0][0])[i].tail)
            return false;
    return true;
}

/* --- state -------------------------------------------------------------------------------------------------------- */

static void hash_address(const void *p, int device)
{
    uintptr_t base = device == SC_HOST ? (uintptr_t)explore_data[0] : (uintptr_t)memory;

    explore_hash((uint64_t)((uintptr_t)p - base));
}

static void hash_work(const struct work *w)
{
    explore_hash(w->kind);
    switch (w->kind) {
    case COPY:
        hash_address(w->copy.dst, w->copy.dst_device);
        hash_address(w->copy.src, w->copy.src_device);
        explore_hash(w->copy.width << 8 | w->copy.height);
        break;
    case KERNEL:
        hash_address(w->kernel.a, 0);
        hash_address(w->kernel.b ? w->kernel.b : w->kernel.a, 0);
        explore_hash((uint64_t)w->kernel.op << 32 | (uint64_t)w->kernel.n);
        explore_hash((uint64_t)(w->kernel.alpha[0] + 1000 * w->kernel.alpha[1]));
        break;
    case FILL:
        hash_address(w->fill.memory, 0);
        break;
    default:
        explore_hash_fence(w->fence);
    }
}

void explore_hash_devices(void)
{
    for (int d = 0; d < DEVICES; d++)
        for (int i = 0; i < SLOTS; i++) {
            explore_hash(taken[d][i]);
            explore_hash_elements(memory[d][i]);
        }
    for (int i = 0; i < DEVICES * SC_STREAMS; i++) {
        const struct stream *s = &streams[0][0] + i;

        explore_hash(s->marked - s->done);
        for (unsigned k = s->head; k != s->tail; k++)
            hash_work(&s->queue[k % QUEUE]);
        explore_hash(~UINT64_C(0));
    }
}
