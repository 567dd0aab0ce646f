/* Submission threads.
 *
 * A call of a driver takes 2 to 6 us of the thread that makes it.  A call of the BLAS on four devices makes hundreds,
 * and one thread cannot keep four devices busy with small tasks.  Here every device has a queue and a thread that
 * submits the queue's operations in their order.
 *
 * Direct: a thread submits an operation itself while it works with one device only (`is_beside`) and the device's queue
 * is empty.  A program that uses one device of several therefore never waits for another thread.
 *
 * Fences.  A mark gives the next number of its stream at once.  The thread of the device makes the back end's fence
 * later and puts it into slot (number % RING): a number up to `recorded` has a fence of the back end.  As in a back
 * end, a reused slot holds a later point of the same stream, which implies the earlier point.  A wait for a number that
 * is not recorded waits for the other device's thread.  That thread never waits for a later point of this queue,
 * because a fence is handed out before any wait for the fence enters a queue.
 *
 * Turns.  A driver may carry out the copies out of a device's memory in the order of their submission, on whatever
 * streams.  In a measurement a copy to the host waited for its kernel, and held up later copies to other devices.
 * Such copies therefore have turns, in the order in which they were enqueued.  A thread waits for its turn only on
 * operations that were enqueued earlier.
 *
 * Failures.  A queue takes only operations that the back end does not refuse (`certain`).  A late failure breaks the
 * stream: later operations are left out, and later fences fail.  A stream that waits for a failed fence breaks, too.
 * `sync` reports the failure, and the protocol treats the data as that of a lost device (coherence/loss.c). */
#include "device/submit.h"

#include "base/libc_versions.h"
#include "base/slice.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    QUEUE = 512,     /* operations of a queue; a power of two */
    RING = 16384,    /* fences of a stream: more than operations in a driver's queues */
    FREE_FENCES = 24, /* of a queued free; a free with more waits for the others */
    BESIDE = 64,     /* operations after a change of the device that go through the queues */
    SPIN_NS = 100 * 1000,       /* an idle thread looks for work without a pause, */
    YIELD_NS = 2 * 1000 * 1000, /* then yields between two looks, then sleeps */
};

enum kind { COPY, FILL, EXCHANGE, LAUNCH, MARK, WAIT, WAIT_INNER, FREE, STOP };

struct work {
    enum kind kind;
    enum sc_stream stream;
    uint64_t turn;             /* of a copy out of a device's memory; else 0 */
    union {
        struct sc_copy2d copy;
        struct {
            void *memory;
            size_t pitch, width, height;
            int byte;
        } fill;
        struct {
            struct sc_copy2d *copies; /* owned */
            int count;
        } exchange;
        struct sc_kernel kernel;
        uint64_t seq;          /* MARK */
        struct sc_fence fence; /* WAIT: of this table; WAIT_INNER: of the back end */
        struct {
            void *memory;
            int count;
            struct sc_fence after[FREE_FENCES];
        } free;
    };
};

struct stream {
    uint64_t marked;   /* number of the newest mark */
    bool unmarked;     /* there was an operation after the newest mark */
    /* Atomic, written by the submitting thread: */
    uint64_t recorded; /* every number up to this has a fence of the back end */
    bool broken;
    uint64_t failed_from; /* this number and all later ones failed; 0: none */
    uint64_t inner[RING]; /* numbers of the back end's fences */
};

struct device {
    int index;
    pthread_mutex_t lock; /* protects the end of the queue, marks of SC_STREAM_MEMORY, and sleep */
    pthread_cond_t work;
    bool asleep;          /* the thread waits for `work` */
    uint64_t pushed;      /* atomic; written under the lock */
    uint64_t submitted;   /* atomic; written by the thread */
    struct work *queue;   /* QUEUE places */
    pthread_t thread;
    bool broken;          /* atomic: a stream is broken, the device gets no new kernel */
    uint64_t turns;       /* atomic: copies out of this device's memory that were enqueued, */
    uint64_t turned;      /* and submitted */
    bool had[SC_OPS_ALL][SC_TYPES]; /* atomic: kernels launched so far */
    struct stream stream[SC_STREAMS];
};

static struct {
    const struct sc_device_ops *ops; /* of the back end; NULL: not in use */
    const struct sc_device_host *host;
    struct sc_device_ops table;
    int devices;
    struct device *device;
    bool apart[SC_DEVICES_MAX][SC_DEVICES_MAX]; /* [to][from]: no direct copies, which the back end may refuse */
    char *zone;        /* of memory at the host's addresses */
    size_t zone_bytes; /* 0: none */
    /* Hints without order, atomic: */
    int last;   /* device of the newest operation */
    int beside; /* operations left for the queues */
} all;

static struct device *device_at(int index) { return &all.device[index]; }
static struct stream *stream_of(struct sc_fence f) { return &device_at(f.device)->stream[f.stream]; }

/* --- waiting for the threads -------------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Between two looks at what another thread does within microseconds. */
static void pause_between(unsigned looks)
{
    if (looks % 64)
        __builtin_ia32_pause();
    else
        sched_yield();
}

static bool is_empty(const struct device *d)
{
    return __atomic_load_n(&d->submitted, __ATOMIC_ACQUIRE) == __atomic_load_n(&d->pushed, __ATOMIC_ACQUIRE);
}

/* Returns when the thread has submitted what was enqueued before, or at the time `until`. */
static void drain_until(const struct device *d, int64_t until)
{
    uint64_t last = __atomic_load_n(&d->pushed, __ATOMIC_ACQUIRE);

    for (unsigned i = 1; __atomic_load_n(&d->submitted, __ATOMIC_ACQUIRE) < last && now_ns() < until; i++)
        pause_between(i);
}

static void drain(const struct device *d) { drain_until(d, INT64_MAX); }

static void drain_all(void)
{
    for (int i = 0; i < all.devices; i++)
        drain(device_at(i));
}

void sc_submit_settle(double seconds)
{
    int64_t until = now_ns() + (int64_t)(seconds * 1e9);

    for (int i = 0; all.ops && i < all.devices; i++)
        drain_until(device_at(i), until);
}

static bool is_recorded(struct sc_fence f)
{
    return f.seq <= __atomic_load_n(&stream_of(f)->recorded, __ATOMIC_ACQUIRE);
}

static bool is_failed(struct sc_fence f)
{
    uint64_t from = __atomic_load_n(&stream_of(f)->failed_from, __ATOMIC_ACQUIRE);

    return from && f.seq >= from;
}

/* The back end's fence of a recorded fence. */
static struct sc_fence inner_of(struct sc_fence f)
{
    struct sc_fence inner = f;

    inner.seq = f.seq ? __atomic_load_n(&stream_of(f)->inner[f.seq % RING], __ATOMIC_RELAXED) : 0;
    return inner;
}

static struct sc_fence await(struct sc_fence f)
{
    for (unsigned i = 1; !is_recorded(f); i++)
        pause_between(i);
    return inner_of(f);
}

/* --- submitting --------------------------------------------------------------------------------------------------- */

static void break_stream(struct device *d, enum sc_stream stream, enum sc_status status)
{
    if (__atomic_exchange_n(&d->stream[stream].broken, true, __ATOMIC_RELEASE))
        return;
    if (!__atomic_exchange_n(&d->broken, true, __ATOMIC_RELEASE))
        all.host->log(SC_LOG_INFO, "device %d: an operation failed after its call had returned: %s", d->index,
                      sc_status_name(status));
}

static enum sc_status submit_mark(struct device *d, enum sc_stream stream, uint64_t seq)
{
    struct stream *s = &d->stream[stream];
    struct sc_fence inner;
    enum sc_status status = all.ops->mark(d->index, stream, &inner);

    if (status != SC_OK)
        return status;
    __atomic_store_n(&s->inner[seq % RING], inner.seq, __ATOMIC_RELAXED);
    __atomic_store_n(&s->recorded, seq, __ATOMIC_RELEASE);
    return SC_OK;
}

static enum sc_status submit_wait(struct device *d, enum sc_stream stream, struct sc_fence fence)
{
    struct sc_fence inner = await(fence);

    return is_failed(fence) ? SC_ERR_DEVICE : all.ops->wait(d->index, stream, inner);
}

/* Without exchange kernels for these ends the copies go by copy engines. */
static enum sc_status submit_exchange(struct device *d, enum sc_stream stream, const struct sc_copy2d *copies,
                                      int count)
{
    enum sc_status status = all.ops->exchange(d->index, stream, copies, count);

    if (status != SC_ERR_UNSUPPORTED)
        return status;
    status = SC_OK;
    for (int i = 0; i < count && status == SC_OK; i++)
        status = all.ops->copy(d->index, stream, &copies[i]);
    return status;
}

/* A failed device's memory may be in use for ever: such memory is left. */
static void submit_free(struct device *d, void *memory, const struct sc_fence *after, int count)
{
    struct sc_fence inner[FREE_FENCES];

    for (int i = 0; i < count; i++) {
        inner[i] = await(after[i]);
        if (is_failed(after[i]))
            return;
    }
    all.ops->free(d->index, memory, inner, count);
}

/* In the order of the queue, or of the calling thread. */
static void take_turn(struct work *w)
{
    int from = w->kind == COPY ? w->copy.src_device : SC_HOST;

    if (from != SC_HOST && from != w->copy.dst_device)
        w->turn = __atomic_add_fetch(&device_at(from)->turns, 1, __ATOMIC_RELAXED);
}

/* Returns when all copies out of the same memory that were enqueued before have been submitted, or left out. */
static void await_turn(const struct work *w)
{
    if (w->turn)
        for (unsigned i = 1; __atomic_load_n(&device_at(w->copy.src_device)->turned, __ATOMIC_ACQUIRE) != w->turn - 1;
             i++)
            pause_between(i);
}

static void end_turn(const struct work *w)
{
    if (w->turn)
        __atomic_store_n(&device_at(w->copy.src_device)->turned, w->turn, __ATOMIC_RELEASE);
}

static enum sc_status submit(struct device *d, const struct work *w)
{
    switch (w->kind) {
    case COPY: return all.ops->copy(d->index, w->stream, &w->copy);
    case FILL:
        return all.ops->fill(d->index, w->stream, w->fill.memory, w->fill.pitch, w->fill.byte, w->fill.width,
                             w->fill.height);
    case EXCHANGE: return submit_exchange(d, w->stream, w->exchange.copies, w->exchange.count);
    case LAUNCH: return all.ops->launch(d->index, w->stream, &w->kernel);
    case MARK: return submit_mark(d, w->stream, w->seq);
    case WAIT: return submit_wait(d, w->stream, w->fence);
    case WAIT_INNER: return all.ops->wait(d->index, w->stream, w->fence);
    case FREE: submit_free(d, w->free.memory, w->free.after, w->free.count); return SC_OK;
    default: return SC_OK;
    }
}

/* The driver had no memory for a kernel's code or workspace: memory without users goes back to the driver. */
static void relieve(struct device *d)
{
    struct sc_fence f;

    for (int s = 0; s < SC_STREAMS; s++)
        if (all.ops->mark(d->index, (enum sc_stream)s, &f) == SC_OK)
            all.ops->sync(f);
    if (all.ops->spare)
        all.ops->spare(d->index, UINT64_C(256) << 20);
}

static void submit_late(struct device *d, struct work *w)
{
    struct stream *s = &d->stream[w->stream];
    enum sc_status status = SC_OK;

    await_turn(w);
    if (w->kind == FREE || !__atomic_load_n(&s->broken, __ATOMIC_RELAXED))
        status = submit(d, w);
    if (status == SC_ERR_DEVICE_MEMORY)
        relieve(d);
    if (status == SC_ERR_DEVICE_MEMORY || (status != SC_OK && w->kind != LAUNCH))
        status = submit(d, w);
    end_turn(w);
    if (status != SC_OK)
        break_stream(d, w->stream, status);
    if (w->kind == MARK && __atomic_load_n(&s->broken, __ATOMIC_RELAXED)) {
        if (!s->failed_from)
            __atomic_store_n(&s->failed_from, w->seq, __ATOMIC_RELEASE);
        __atomic_store_n(&s->recorded, w->seq, __ATOMIC_RELEASE);
    }
    if (w->kind == EXCHANGE)
        free(w->exchange.copies);
}

/* --- queues ------------------------------------------------------------------------------------------------------- */

/* Lock held; the lock is dropped while the queue is full. */
static void push_locked(struct device *d, const struct work *w)
{
    uint64_t at;

    for (unsigned i = 1; (at = d->pushed) - __atomic_load_n(&d->submitted, __ATOMIC_ACQUIRE) >= QUEUE; i++) {
        pthread_mutex_unlock(&d->lock);
        pause_between(i);
        pthread_mutex_lock(&d->lock);
    }
    d->queue[at % QUEUE] = *w;
    take_turn(&d->queue[at % QUEUE]);
    __atomic_store_n(&d->pushed, at + 1, __ATOMIC_RELEASE);
    if (d->asleep)
        pthread_cond_signal(&d->work);
}

static void push(struct device *d, const struct work *w)
{
    pthread_mutex_lock(&d->lock);
    push_locked(d, w);
    pthread_mutex_unlock(&d->lock);
}

/* To wake a thread takes about 50 us, and a solver calls every millisecond. */
static void sleep_until_work(struct device *d, uint64_t at)
{
    int64_t begin = now_ns(), idle;

    while ((idle = now_ns() - begin) < YIELD_NS) {
        for (int i = 1; i <= 16; i++) {
            if (__atomic_load_n(&d->pushed, __ATOMIC_ACQUIRE) != at)
                return;
            __builtin_ia32_pause();
        }
        if (idle > SPIN_NS)
            sched_yield();
    }
    pthread_mutex_lock(&d->lock);
    d->asleep = true;
    while (d->pushed == at)
        pthread_cond_wait(&d->work, &d->lock);
    d->asleep = false;
    pthread_mutex_unlock(&d->lock);
}

static void *submit_all(void *argument)
{
    struct device *d = argument;
    struct work *w;

    all.host->thread_enter();
    sc_slice_shorten();
    for (uint64_t at = 0;; at++) {
        if (__atomic_load_n(&d->pushed, __ATOMIC_ACQUIRE) == at)
            sleep_until_work(d, at);
        w = &d->queue[at % QUEUE];
        if (w->kind == STOP)
            return NULL;
        submit_late(d, w);
        __atomic_store_n(&d->submitted, at + 1, __ATOMIC_RELEASE);
    }
}

/* Whether the thread works with several devices. */
static bool is_beside(int device)
{
    int left = __atomic_load_n(&all.beside, __ATOMIC_RELAXED);

    if (__atomic_load_n(&all.last, __ATOMIC_RELAXED) != device) {
        __atomic_store_n(&all.last, device, __ATOMIC_RELAXED);
        left = BESIDE;
    } else if (left > 0) {
        left--;
    }
    __atomic_store_n(&all.beside, left, __ATOMIC_RELAXED);
    return left > 0;
}

/* The next operations are for the queues. */
static void expect_beside(void) { __atomic_store_n(&all.beside, BESIDE, __ATOMIC_RELAXED); }

static bool is_direct(const struct device *d, int device) { return !is_beside(device) && is_empty(d); }

/* By the calling thread. */
static enum sc_status submit_in_turn(struct device *d, const struct work *w)
{
    struct work own = *w;
    enum sc_status status;

    take_turn(&own);
    await_turn(&own);
    status = submit(d, &own);
    end_turn(&own);
    return status;
}

static enum sc_status enqueue(int device, const struct work *w)
{
    struct device *d = device_at(device);
    struct stream *s = &d->stream[w->stream];

    if (__atomic_load_n(&s->broken, __ATOMIC_ACQUIRE))
        return SC_ERR_DEVICE;
    __atomic_store_n(&s->unmarked, true, __ATOMIC_RELAXED);
    if (!is_direct(d, device)) {
        push(d, w);
        return SC_OK;
    }
    return submit_in_turn(d, w);
}

/* Before an operation of the back end that the queue does not take. */
static enum sc_status direct(int device, enum sc_stream stream)
{
    struct device *d = device_at(device);

    drain(d);
    if (__atomic_load_n(&d->broken, __ATOMIC_ACQUIRE))
        return SC_ERR_DEVICE;
    __atomic_store_n(&d->stream[stream].unmarked, true, __ATOMIC_RELAXED);
    return SC_OK;
}

/* --- operations --------------------------------------------------------------------------------------------------- */

/* A copy that the back end may refuse is submitted at once, in its turn. */
static enum sc_status copy_apart(int device, enum sc_stream stream, const struct sc_copy2d *c)
{
    struct work w = {.kind = COPY, .stream = stream, .copy = *c};
    enum sc_status status = direct(device, stream);

    return status == SC_OK ? submit_in_turn(device_at(device), &w) : status;
}

static enum sc_status copy(int device, enum sc_stream stream, const struct sc_copy2d *c)
{
    if (c->src_device != SC_HOST && c->dst_device != SC_HOST && all.apart[c->dst_device][c->src_device])
        return copy_apart(device, stream, c);
    return enqueue(device, &(struct work){.kind = COPY, .stream = stream, .copy = *c});
}

static enum sc_status fill(int device, enum sc_stream stream, void *memory, size_t pitch, int byte, size_t width,
                           size_t height)
{
    return enqueue(device, &(struct work){.kind = FILL, .stream = stream,
                                          .fill = {memory, pitch, width, height, byte}});
}

static enum sc_status exchange(int device, enum sc_stream stream, const struct sc_copy2d *copies, int count)
{
    struct device *d = device_at(device);
    struct work w = {.kind = EXCHANGE, .stream = stream, .exchange = {.count = count}};
    enum sc_status status;

    if (__atomic_load_n(&d->stream[stream].broken, __ATOMIC_ACQUIRE))
        return SC_ERR_DEVICE;
    if (is_direct(d, device) || count <= 0 || !(w.exchange.copies = malloc((size_t)count * sizeof *copies))) {
        status = direct(device, stream);
        return status == SC_OK ? all.ops->exchange(device, stream, copies, count) : status;
    }
    memcpy(w.exchange.copies, copies, (size_t)count * sizeof *copies);
    __atomic_store_n(&d->stream[stream].unmarked, true, __ATOMIC_RELAXED);
    push(d, &w);
    return SC_OK;
}

/* Whether the device has had no such kernel yet. */
static bool is_first(struct device *d, const struct sc_kernel *k)
{
    bool *had = &d->had[k->op][k->type];

    return !__atomic_load_n(had, __ATOMIC_RELAXED) && !__atomic_exchange_n(had, true, __ATOMIC_RELAXED);
}

/* The driver loads a kernel at its first launch, and first awaits the copies under way.  The device's thread makes
 * such a launch: the caller goes on to the next device. */
static enum sc_status launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    enum sc_status status;

    if (__atomic_load_n(&device_at(device)->broken, __ATOMIC_ACQUIRE))
        return SC_ERR_DEVICE;
    if (all.ops->certain && !kernel->batch.items && all.ops->certain(device, stream, kernel)) {
        if (is_first(device_at(device), kernel))
            expect_beside();
        return enqueue(device, &(struct work){.kind = LAUNCH, .stream = stream, .kernel = *kernel});
    }
    status = direct(device, stream);
    return status == SC_OK ? all.ops->launch(device, stream, kernel) : status;
}

static enum sc_status call(int device, enum sc_stream stream, const struct sc_device_call *c)
{
    enum sc_status status = direct(device, stream);

    return status == SC_OK ? all.ops->call(device, stream, c) : status;
}

static enum sc_status multiply(int device, struct sc_csr_product *product)
{
    enum sc_status status = direct(device, SC_STREAM_COMPUTE);

    return status == SC_OK ? all.ops->multiply(device, product) : status;
}

static enum sc_status store(int device, struct sc_csr_product *product, void *rows, void *columns, void *values)
{
    enum sc_status status = direct(device, SC_STREAM_COMPUTE), ended;

    ended = all.ops->store(device, product, status == SC_OK ? rows : NULL, columns, values);
    return status == SC_OK ? ended : status;
}

static enum sc_status convert(int device, const struct sc_csr_conversion *conversion)
{
    enum sc_status status = direct(device, SC_STREAM_COMPUTE);

    return status == SC_OK ? all.ops->convert(device, conversion) : status;
}

/* Kernels that use the analysis may still be in this queue. */
static void forget(int device, void *plan)
{
    drain(device_at(device));
    all.ops->forget(device, plan);
}

/* --- fences ------------------------------------------------------------------------------------------------------- */

/* Lock held: several threads mark SC_STREAM_MEMORY without an order. */
static void mark_memory(struct device *d, struct sc_fence *fence)
{
    struct stream *s = &d->stream[SC_STREAM_MEMORY];

    if (__atomic_exchange_n(&s->unmarked, false, __ATOMIC_RELAXED))
        push_locked(d, &(struct work){.kind = MARK, .stream = SC_STREAM_MEMORY, .seq = ++s->marked});
    *fence = (struct sc_fence){.seq = s->marked, .device = (uint16_t)d->index, .stream = SC_STREAM_MEMORY};
}

static enum sc_status mark(int device, enum sc_stream stream, struct sc_fence *fence)
{
    struct device *d = device_at(device);
    struct stream *s = &d->stream[stream];
    enum sc_status status;

    if (stream == SC_STREAM_MEMORY) {
        pthread_mutex_lock(&d->lock);
        mark_memory(d, fence);
        pthread_mutex_unlock(&d->lock);
        return SC_OK;
    }
    if (__atomic_exchange_n(&s->unmarked, false, __ATOMIC_RELAXED)) {
        struct work w = {.kind = MARK, .stream = stream, .seq = s->marked + 1};

        status = SC_OK;
        if (!is_direct(d, device) || __atomic_load_n(&s->broken, __ATOMIC_ACQUIRE))
            push(d, &w);
        else
            status = submit(d, &w);
        if (status != SC_OK) {
            __atomic_store_n(&s->unmarked, true, __ATOMIC_RELAXED);
            return status;
        }
        s->marked = w.seq;
    }
    *fence = (struct sc_fence){.seq = s->marked, .device = (uint16_t)device, .stream = (uint16_t)stream};
    return SC_OK;
}

static enum sc_status wait(int device, enum sc_stream stream, struct sc_fence fence)
{
    if (!fence.seq || (fence.device == device && fence.stream == stream))
        return SC_OK;
    return enqueue(device, &(struct work){.kind = WAIT, .stream = stream, .fence = fence});
}

static enum sc_status sync(struct sc_fence fence)
{
    struct sc_fence inner;

    if (!fence.seq)
        return SC_OK;
    inner = await(fence);
    return is_failed(fence) ? SC_ERR_DEVICE : all.ops->sync(inner);
}

static bool done(struct sc_fence fence)
{
    return !fence.seq || (is_recorded(fence) && (is_failed(fence) || all.ops->done(inner_of(fence))));
}

static enum sc_status behind(int device, void *stream, struct sc_fence fence)
{
    struct sc_fence inner = await(fence);

    return is_failed(fence) ? SC_ERR_UNSUPPORTED : all.ops->behind(device, stream, inner);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Turns a fence of the back end into one of this table. */
static void adopt(int device, struct sc_fence *fence)
{
    struct device *d = device_at(device);
    struct work w = {.kind = WAIT_INNER, .stream = SC_STREAM_MEMORY, .fence = *fence};

    if (!fence->seq || all.ops->done(*fence)) {
        *fence = SC_FENCE_NONE;
        return;
    }
    pthread_mutex_lock(&d->lock);
    __atomic_store_n(&d->stream[SC_STREAM_MEMORY].unmarked, true, __ATOMIC_RELAXED);
    push_locked(d, &w);
    mark_memory(d, fence);
    pthread_mutex_unlock(&d->lock);
}

/* Memory may be on its way back in the queues. */
static enum sc_status alloc(int device, size_t bytes, void **memory, struct sc_fence *ready)
{
    enum sc_status status = all.ops->alloc(device, bytes, memory, ready);

    if (status == SC_ERR_DEVICE_MEMORY && !is_empty(device_at(device))) {
        drain(device_at(device));
        status = all.ops->alloc(device, bytes, memory, ready);
    }
    if (status == SC_OK)
        adopt(device, ready);
    return status;
}

static enum sc_status zone(size_t bytes, void **base)
{
    enum sc_status status = all.ops->zone(bytes, base);

    if (status == SC_OK) {
        all.zone = *base;
        __atomic_store_n(&all.zone_bytes, bytes, __ATOMIC_RELEASE);
    }
    return status;
}

static bool is_in_zone(const void *memory)
{
    size_t bytes = __atomic_load_n(&all.zone_bytes, __ATOMIC_ACQUIRE);

    return bytes && (const char *)memory >= all.zone && (size_t)((const char *)memory - all.zone) < bytes;
}

static enum sc_status place(int device, void *memory, size_t bytes, struct sc_fence *ready)
{
    enum sc_status status;

    drain(device_at(device));
    status = all.ops->place(device, memory, bytes, ready);
    if (status == SC_OK)
        adopt(device, ready);
    return status;
}

/* Memory at the host's addresses is freed now: the caller may ask next where the addresses have memory, or give them to
 * another device. */
static void free_after(int device, void *memory, const struct sc_fence *after, int count)
{
    struct device *d = device_at(device);
    struct work w = {.kind = FREE, .stream = SC_STREAM_MEMORY, .free = {.memory = memory}};
    bool recorded = true;

    if (!memory)
        return;
    for (int i = 0; i < count; i++) {
        if (!after[i].seq || (is_recorded(after[i]) && !is_failed(after[i]) && all.ops->done(inner_of(after[i]))))
            continue;
        if (w.free.count == FREE_FENCES) {
            sync(after[i]);
            continue;
        }
        recorded = recorded && is_recorded(after[i]);
        w.free.after[w.free.count++] = after[i];
    }
    if (recorded || is_in_zone(memory))
        submit_free(d, memory, w.free.after, w.free.count);
    else
        push(d, &w);
}

static void unreserve(void *base, size_t bytes)
{
    drain_all();
    all.ops->unreserve(base, bytes);
}

static void spare(int device, uint64_t bytes)
{
    drain(device_at(device));
    all.ops->spare(device, bytes);
}

static enum sc_status room(int device, uint64_t *bytes)
{
    drain(device_at(device));
    return all.ops->room(device, bytes);
}

static enum sc_status idle(int device)
{
    drain_all();
    return all.ops->idle(device);
}

/* --- open and close ----------------------------------------------------------------------------------------------- */

static enum sc_status open_refused(const struct sc_device_host *host, const char *spec, int *count)
{
    (void)host, (void)spec;
    *count = 0;
    return SC_ERR_UNSUPPORTED;
}

/* Ends `threads` threads and releases the queues. */
static void end(int threads)
{
    for (int i = 0; i < threads; i++)
        push(device_at(i), &(struct work){.kind = STOP});
    for (int i = 0; i < threads; i++)
        pthread_join(device_at(i)->thread, NULL);
    for (int i = 0; i < all.devices; i++) {
        pthread_mutex_destroy(&device_at(i)->lock);
        pthread_cond_destroy(&device_at(i)->work);
        free(device_at(i)->queue);
    }
    free(all.device);
    all.device = NULL;
    all.ops = NULL;
}

static void close_all(void)
{
    const struct sc_device_ops *ops = all.ops;

    end(all.devices);
    ops->close();
}

static bool start(struct device *d)
{
    sigset_t signals, before;
    bool started;

    d->queue = calloc(QUEUE, sizeof *d->queue);
    if (!d->queue)
        return false;
    sigfillset(&signals);
    pthread_sigmask(SIG_SETMASK, &signals, &before); /* inherited by the thread */
    started = pthread_create(&d->thread, NULL, submit_all, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static bool is_wanted(const struct sc_device_host *host, const struct sc_device_ops *ops, int count)
{
    struct sc_device_properties p;

    if (all.ops || host->config->submit == SC_SUBMIT_CALLER)
        return false;
    if (host->config->submit == SC_SUBMIT_THREADS)
        return true;
    return count > 1 && ops->certain && ops->properties(0, &p) == SC_OK && !p.emulated;
}

static void find_apart(void)
{
    struct sc_device_properties p;

    for (int to = 0; to < all.devices; to++) {
        bool known = all.ops->properties(to, &p) == SC_OK;

        for (int from = 0; from < all.devices; from++)
            all.apart[to][from] = from != to && (!known || !p.peer[from]);
    }
}

/* Operations that a back end lacks stay NULL. */
#define OVER(name, function) all.table.name = ops->name ? function : NULL

const struct sc_device_ops *sc_submit_beside(const struct sc_device_host *host, const struct sc_device_ops *ops,
                                             int count)
{
    int threads = 0;

    if (!is_wanted(host, ops, count) || !(all.device = calloc((size_t)count, sizeof *all.device)))
        return NULL;
    all.ops = ops;
    all.host = host;
    all.devices = count;
    all.last = all.beside = 0;
    find_apart();
    for (int i = 0; i < count; i++) {
        device_at(i)->index = i;
        pthread_mutex_init(&device_at(i)->lock, NULL);
        pthread_cond_init(&device_at(i)->work, NULL);
    }
    while (threads < count && start(device_at(threads)))
        threads++;
    if (threads < count) {
        end(threads);
        return NULL;
    }
    all.table = *ops;
    all.table.open = open_refused;
    all.table.close = close_all;
    all.table.alloc = alloc;
    all.table.free = free_after;
    all.table.copy = copy;
    all.table.fill = fill;
    all.table.launch = launch;
    all.table.mark = mark;
    all.table.wait = wait;
    all.table.sync = sync;
    all.table.done = done;
    OVER(zone, zone);
    OVER(unreserve, unreserve);
    OVER(place, place);
    OVER(spare, spare);
    OVER(room, room);
    OVER(idle, idle);
    OVER(behind, behind);
    OVER(exchange, exchange);
    OVER(call, call);
    OVER(forget, forget);
    OVER(multiply, multiply);
    OVER(store, store);
    OVER(convert, convert);
    return &all.table;
}
/* SPDX-License-Identifier: BSD-2-Clause */
