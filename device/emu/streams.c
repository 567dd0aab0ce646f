/* Queues of operations and the threads that do them: one of each per stream, so that streams run at the same time
 * and what no fence orders is not ordered. */
#include <config.h> /* GNU extensions: pthread_setname_np */

#include "device/emu/emu_int.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct stream {
    pthread_mutex_t lock; /* of everything below; taken last, never two of them */
    pthread_cond_t work;  /* the queue is no longer empty */
    pthread_cond_t progress;
    struct sc_emu_op *head, **tail;
    uint64_t last, completed;
    uint64_t failed; /* the first operation that failed, 0: none */
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

static struct sc_emu_op *next_op(struct stream *s)
{
    struct sc_emu_op *op;

    pthread_mutex_lock(&s->lock);
    while (!s->head)
        pthread_cond_wait(&s->work, &s->lock);
    op = s->head;
    s->head = op->next;
    if (!s->head)
        s->tail = &s->head;
    pthread_mutex_unlock(&s->lock);
    return op;
}

static void complete(struct stream *s, uint64_t seq, bool failed)
{
    pthread_mutex_lock(&s->lock);
    if (failed && !s->failed)
        s->failed = seq;
    s->completed = seq;
    pthread_cond_broadcast(&s->progress);
    pthread_mutex_unlock(&s->lock);
}

static void *worker(void *argument)
{
    struct stream *s = argument;
    int index = (int)(s - &all.stream[0][0]);
    bool stop = false;

    all.thread_enter();
    while (!stop) {
        struct sc_emu_op *op = next_op(s);

        stop = op->action == SC_EMU_DO_STOP;
        if (!stop)
            jitter(index / SC_STREAMS, index % SC_STREAMS, op->seq);
        complete(s, op->seq, !stop && perform(op) != SC_OK);
        free(op);
    }
    return NULL;
}

/* With all signals blocked but those a thread raises itself: the program's handlers run on the program's threads. */
static enum sc_status start_worker(struct stream *s)
{
    static const char *const names[SC_STREAMS] = {"kernel", "h2d", "d2h", "peer", "memory"};
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    int index = (int)(s - &all.stream[0][0]), error;
    sigset_t block, before;
    char name[32];

    sigfillset(&block);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&block, own[i]);
    pthread_sigmask(SIG_SETMASK, &block, &before);
    error = pthread_create(&s->thread, NULL, worker, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        sc_log(SC_LOG_ERROR, "emulated device: cannot start a thread: %s", strerror(error));
        return SC_ERR_DEVICE;
    }
    snprintf(name, sizeof name, "sc-emu%d-%s", index / SC_STREAMS, names[index % SC_STREAMS]); /* at most 15 */
    pthread_setname_np(s->thread, name);
    s->running = true;
    return SC_OK;
}

static enum sc_status push_locked(struct stream *s, const struct sc_emu_op *op)
{
    struct sc_emu_op *copy;

    if (!s->running && start_worker(s))
        return SC_ERR_DEVICE;
    copy = malloc(sizeof *copy);
    if (!copy)
        return SC_ERR_MEMORY;
    *copy = *op;
    copy->seq = ++s->last;
    copy->next = NULL;
    *s->tail = copy;
    s->tail = &copy->next;
    pthread_cond_signal(&s->work);
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
    pthread_mutex_unlock(&s->lock);
    return done;
}

enum sc_status sc_emu_stream_wait(struct sc_fence fence)
{
    struct stream *s = find(fence.device, fence.stream);
    bool failed;

    pthread_mutex_lock(&s->lock);
    while (s->completed < fence.seq)
        pthread_cond_wait(&s->progress, &s->lock);
    failed = s->failed && s->failed <= fence.seq;
    pthread_mutex_unlock(&s->lock);
    return failed ? SC_ERR_DEVICE : SC_OK;
}

static void stop_stream(struct stream *s)
{
    struct sc_emu_op op = {.action = SC_EMU_DO_STOP};
    enum sc_status status;

    if (!s->running)
        return;
    pthread_mutex_lock(&s->lock);
    while ((status = push_locked(s, &op)) != SC_OK) { /* no memory: until a queued operation gives some back */
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
