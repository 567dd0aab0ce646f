/* Queues of operations and their threads, one pair per stream: streams run in parallel, and only fences order them.
 *
 * A queue of small operations only is not worth a switch of threads.  Its thread stays asleep until another thread
 * waits for a fence; the waiting thread then executes the operations up to the fence itself.  A program that offloads
 * vectors of ten elements thus waits for the arithmetic only, not for five threads to wake up.  Without a wait, a fence
 * may be reached late or never.  device.h promises no more, and a program that forgets to wait gets visibly wrong
 * results. */
#include <config.h> /* GNU extensions: pthread_setname_np */

#include "base/libc_versions.h"
#include "base/quiet.h"
#include "device/device_int.h"
#include "device/emu/emu_int.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct stream {
    /* Protects the members below.  Taken last; a thread holds at most one lock of a stream. */
    pthread_mutex_t lock;
    pthread_cond_t work;  /* signals work for the thread */
    pthread_cond_t progress;
    struct sc_emu_op *head, **tail;
    unsigned length;      /* of the queue */
    bool roused;          /* true: the thread executes the queue; false: a waiting thread does */
    bool busy;            /* a thread is executing an operation */
    unsigned polls;       /* polls of unreached fences since the last completed operation */
    uint64_t last, completed;
    uint64_t failed; /* number of the first failed operation, 0: none */
    bool running;
    pthread_t thread;
};

static struct {
    int devices;
    bool inline_only;
    enum sc_status (*run)(const struct sc_emu_op *op);
    void (*thread_enter)(void);
    uint64_t jitter_seed;
    unsigned jitter_us; /* atomic */
    struct stream stream[SC_DEVICES_MAX][SC_STREAMS];
} all;

/* Limits of small operations: bytes of copies, fills and kernel operands, and flop of kernels. */
#define SMALL_BYTES  ((size_t)64 << 10)
#define SMALL_FLOPS  1e6
#define LENGTH_MOST  256 /* a longer queue wakes the thread */
#define QUEUE_MOST   4096
#define POLLS_MOST   16  /* so do this many polls, because a polling thread may never wait */

static struct stream *find(int device, int stream) { return &all.stream[device][stream]; }

void sc_emu_streams_start(int devices, enum sc_status (*run)(const struct sc_emu_op *op), void (*thread_enter)(void),
                          bool inline_only)
{
    memset(&all, 0, sizeof all);
    all.devices = devices;
    all.run = run;
    all.thread_enter = thread_enter;
    all.inline_only = inline_only;
    for (int d = 0; d < devices; d++)
        for (int s = 0; s < SC_STREAMS; s++) {
            pthread_mutex_init(&find(d, s)->lock, NULL);
            pthread_cond_init(&find(d, s)->work, NULL);
            pthread_cond_init(&find(d, s)->progress, NULL);
            find(d, s)->tail = &find(d, s)->head;
        }
}

void sc_emu_streams_jitter(uint64_t seed, unsigned microseconds)
{
    all.jitter_seed = seed;
    __atomic_store_n(&all.jitter_us, microseconds, __ATOMIC_RELEASE);
}

static void jitter(int device, int stream, uint64_t seq)
{
    unsigned most = __atomic_load_n(&all.jitter_us, __ATOMIC_ACQUIRE);
    uint64_t x;
    struct timespec t = {0, 0};

    if (!most)
        return;
    x = (uint64_t)(device * SC_STREAMS + stream + 1);
    x = all.jitter_seed * 0x9e3779b97f4a7c15u + x * 0xbf58476d1ce4e5b9u + seq;
    x = (x ^ x >> 31) * 0x94d049bb133111ebu;
    x = (x ^ x >> 29) % (most + 1u);
    t.tv_sec = (time_t)(x / 1000000);
    t.tv_nsec = (long)(x % 1000000) * 1000;
    nanosleep(&t, NULL);
}

static enum sc_status perform(const struct sc_emu_op *op)
{
    if (op->skips)
        return SC_OK;
    if (op->action == SC_EMU_DO_WAIT)
        return sc_emu_stream_wait(op->fence);
    return op->fails ? SC_ERR_DEVICE : all.run(op);
}

static bool is_small(const struct sc_emu_op *op)
{
    size_t bytes = 0;

    switch (op->action) {
    case SC_EMU_DO_COPY:
        return op->copy.width * op->copy.height <= SMALL_BYTES;
    case SC_EMU_DO_EXCHANGE:
        for (int i = 0; i < op->exchange.count; i++)
            bytes += op->exchange.pieces[i].width * op->exchange.pieces[i].height;
        return bytes <= SMALL_BYTES;
    case SC_EMU_DO_FILL:
        return op->fill.width * op->fill.height <= SMALL_BYTES;
    case SC_EMU_DO_KERNEL:
        return sc_kernel_bytes(&op->kernel) <= (double)SMALL_BYTES &&
               sc_kernel_flops(&op->kernel) <= SMALL_FLOPS;
    default:
        return op->action == SC_EMU_DO_WAIT;
    }
}

/* Lock held. */
static void rouse(struct stream *s)
{
    if (!s->running)
        return;
    s->roused = true;
    pthread_cond_signal(&s->work);
}

/* Operations for use when malloc fails: hardware needs no memory of the program to send data to the host. */
#define SPARE 512
static struct {
    struct sc_emu_op op;
    bool used; /* atomic */
} spare[SPARE];

static struct sc_emu_op *take_spare(void)
{
    for (int i = 0; i < SPARE; i++)
        if (!__atomic_exchange_n(&spare[i].used, true, __ATOMIC_ACQUIRE))
            return &spare[i].op;
    return NULL;
}

static void op_release(struct sc_emu_op *op)
{
    size_t offset = (size_t)((char *)op - (char *)spare);

    if (offset < sizeof spare)
        __atomic_store_n(&spare[offset / sizeof *spare].used, false, __ATOMIC_RELEASE);
    else
        free(op);
}

/* A copy of the operation for the queue, or NULL without memory. */
static struct sc_emu_op *op_new(const struct sc_emu_op *op)
{
    struct sc_emu_op *memory = malloc(sizeof *memory), *copy = memory ? memory : take_spare();
    bool exchanges = op->action == SC_EMU_DO_EXCHANGE, calls = op->action == SC_EMU_DO_CALL;
    const struct sc_batch_items *items = op->action == SC_EMU_DO_KERNEL ? op->kernel.batch.items : NULL;
    size_t bytes = exchanges ? (size_t)op->exchange.count * sizeof *op->exchange.pieces
                   : calls   ? op->call.bytes
                   : items   ? sc_batch_bytes(items->count)
                             : 0;
    void *kept = bytes ? malloc(bytes) : NULL;

    if (!copy || (bytes && !kept)) {
        free(kept);
        if (copy)
            op_release(copy);
        return NULL;
    }
    *copy = *op;
    if (exchanges && bytes)
        copy->exchange.pieces = memcpy(kept, op->exchange.pieces, bytes);
    if (calls && bytes)
        copy->call.record = memcpy(kept, op->call.record, bytes);
    if (items)
        copy->kernel.batch.items = memcpy(kept, items, bytes);
    return copy;
}

static void op_free(struct sc_emu_op *op)
{
    if (op->action == SC_EMU_DO_EXCHANGE)
        free((void *)op->exchange.pieces);
    if (op->action == SC_EMU_DO_CALL)
        free(op->call.record);
    if (op->action == SC_EMU_DO_KERNEL)
        free((void *)op->kernel.batch.items);
    op_release(op);
}

/* Runs the first operation of a nonempty queue and returns its action.  No second thread may be running an operation.
 * The lock is held at entry and exit, and released during the operation. */
static enum sc_emu_action do_next(struct stream *s)
{
    struct sc_emu_op *op = s->head;
    enum sc_emu_action action = op->action;
    int index = (int)(s - &all.stream[0][0]);
    bool failed = false;

    s->head = op->next;
    if (!s->head)
        s->tail = &s->head;
    s->length--;
    s->busy = true;
    pthread_mutex_unlock(&s->lock);
    if (action != SC_EMU_DO_STOP) {
        jitter(index / SC_STREAMS, index % SC_STREAMS, op->seq);
        failed = perform(op) != SC_OK;
    }
    pthread_mutex_lock(&s->lock);
    s->busy = false;
    if (failed && !s->failed)
        s->failed = op->seq;
    s->completed = op->seq;
    s->polls = 0;
    pthread_cond_broadcast(&s->progress);
    op_free(op);
    return action;
}

static void *worker(void *argument)
{
    struct stream *s = argument;
    bool stop = false;

    all.thread_enter();
    pthread_mutex_lock(&s->lock);
    while (!stop) {
        while (!s->roused || s->busy)
            pthread_cond_wait(&s->work, &s->lock);
        if (s->head)
            stop = do_next(s) == SC_EMU_DO_STOP;
        if (!s->head)
            s->roused = false;
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

void sc_emu_block_signals(sigset_t *before)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t block;

    sigfillset(&block);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&block, own[i]);
    pthread_sigmask(SIG_SETMASK, &block, before);
}

/* A device does not depend on the program's limits: without a thread, waiting or polling threads do the work. */
static void start_worker(struct stream *s)
{
    static const char *const names[SC_STREAMS] = {"kernel", "h2d", "d2h", "peer0", "peer1", "peer2", "peer3",
                                                   "exch", "memory"};
    int index = (int)(s - &all.stream[0][0]), error;
    sigset_t before;
    char name[32];

    sc_emu_block_signals(&before);
    error = pthread_create(&s->thread, NULL, worker, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        sc_log_once(SC_LOG_INFO, "emulated device: cannot start a thread: %s", strerror(error));
        return;
    }
    snprintf(name, sizeof name, SC_QUIET_NAME "%d-%s", index / SC_STREAMS,
             names[index % SC_STREAMS]); /* 15 characters */
    pthread_setname_np(s->thread, name);
    s->running = true;
}

static enum sc_status push_locked(struct stream *s, const struct sc_emu_op *op)
{
    struct sc_emu_op *copy;

    if (!s->running)
        start_worker(s);
    copy = op_new(op);
    if (!copy)
        return SC_ERR_MEMORY;
    copy->seq = ++s->last;
    copy->next = NULL;
    *s->tail = copy;
    s->tail = &copy->next;
    if (++s->length > LENGTH_MOST || !is_small(op) || __atomic_load_n(&all.jitter_us, __ATOMIC_RELAXED))
        rouse(s);
    return SC_OK;
}

enum sc_status sc_emu_stream_push(int device, int stream, const struct sc_emu_op *op, uint64_t *seq)
{
    struct stream *s = find(device, stream);
    enum sc_status status = SC_OK;

    pthread_mutex_lock(&s->lock);
    if (all.inline_only) {
        s->completed = ++s->last;
        if (op->fails && !s->failed)
            s->failed = s->last;
    } else {
        status = push_locked(s, op);
    }
    *seq = s->last;
    /* As with real drivers, a thread that far ahead of a device waits for the device. */
    while (s->length > QUEUE_MOST)
        pthread_cond_wait(&s->progress, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return status;
}

uint64_t sc_emu_stream_last(int device, int stream)
{
    struct stream *s = find(device, stream);
    uint64_t last;

    pthread_mutex_lock(&s->lock);
    last = s->last;
    pthread_mutex_unlock(&s->lock);
    return last;
}

bool sc_emu_stream_done(struct sc_fence fence)
{
    struct stream *s = find(fence.device, fence.stream);
    bool done;

    pthread_mutex_lock(&s->lock);
    done = s->completed >= fence.seq;
    if (!done && ++s->polls > POLLS_MOST) {
        rouse(s);
        if (!s->running && s->head && !s->busy)
            do_next(s);
    }
    pthread_mutex_unlock(&s->lock);
    return done;
}

enum sc_status sc_emu_stream_wait(struct sc_fence fence)
{
    struct stream *s = find(fence.device, fence.stream);
    bool failed;

    pthread_mutex_lock(&s->lock);
    while (s->completed < fence.seq)
        if (s->roused || s->busy || !s->head) {
            pthread_cond_wait(&s->progress, &s->lock);
        } else {
            do_next(s);
            if (s->roused) /* in the meantime */
                pthread_cond_signal(&s->work);
        }
    failed = s->failed && s->failed <= fence.seq;
    pthread_mutex_unlock(&s->lock);
    return failed ? SC_ERR_DEVICE : SC_OK;
}

static void stop_stream(struct stream *s)
{
    struct sc_emu_op op = {.action = SC_EMU_DO_STOP};
    enum sc_status status;

    pthread_mutex_lock(&s->lock);
    while (!s->running && s->head)
        do_next(s);
    if (!s->running) {
        pthread_mutex_unlock(&s->lock);
        return;
    }
    while ((status = push_locked(s, &op)) != SC_OK) { /* no memory: retry after queued operations have freed some */
        pthread_mutex_unlock(&s->lock);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
}

void sc_emu_streams_stop(bool forked)
{
    for (int d = 0; d < all.devices && !forked; d++)
        for (int s = 0; s < SC_STREAMS; s++)
            stop_stream(find(d, s));
    memset(&all, 0, sizeof all);
}
/* SPDX-License-Identifier: BSD-2-Clause */
