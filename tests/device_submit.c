/* Submission threads (device/submit.h) over a back end that records what it gets, can be held back, and can fail. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/inside.h"
#include "device/submit.h"
#include "tests/tap.h"

#define DEVICES 3
#define MOST 4096

/* What the back end got, in the order of its calls. */
static struct record {
    char what; /* C copy, K kernel, M mark, W wait, F free */
    int device;
    enum sc_stream stream;
    uint64_t seq; /* of a mark, or of the fence of a wait; copies: width */
    pthread_t by;
} records[MOST];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the records */
static atomic_uint_fast64_t marked[DEVICES][SC_STREAMS];
static atomic_int held = -1;       /* device whose operations wait */
static atomic_int refused = -1;    /* device whose kernels fail, */
static _Atomic enum sc_status how; /* with this status, */
static atomic_int times;           /* so many times */
static atomic_int spared, closed;
static int freed_after;

static void note(char what, int device, enum sc_stream stream, uint64_t seq)
{
    while (atomic_load(&held) == device)
        usleep(100);
    pthread_mutex_lock(&lock);
    records[count++ % MOST] = (struct record){what, device, stream, seq, pthread_self()};
    pthread_mutex_unlock(&lock);
}

static enum sc_status copy(int device, enum sc_stream stream, const struct sc_copy2d *c)
{
    note('C', device, stream, c->width);
    return SC_OK;
}

static enum sc_status launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    note('K', device, stream, (uint64_t)kernel->n);
    return atomic_load(&refused) == device && atomic_fetch_sub(&times, 1) > 0 ? atomic_load(&how) : SC_OK;
}

static bool certain(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    (void)device, (void)stream;
    return kernel->op == SC_OP_GEMM;
}

static enum sc_status mark(int device, enum sc_stream stream, struct sc_fence *fence)
{
    note('M', device, stream, atomic_load(&marked[device][stream]) + 1);
    *fence = (struct sc_fence){.seq = atomic_fetch_add(&marked[device][stream], 1) + 1, .device = (uint16_t)device,
                               .stream = (uint16_t)stream};
    return SC_OK;
}

static enum sc_status wait(int device, enum sc_stream stream, struct sc_fence fence)
{
    if (fence.seq > atomic_load(&marked[fence.device][fence.stream]))
        tap_ok(0, "a stream waits for a fence that the back end does not know");
    note('W', device, stream, fence.seq);
    return SC_OK;
}

static enum sc_status sync_with(struct sc_fence fence)
{
    (void)fence;
    return SC_OK;
}

static bool done(struct sc_fence fence)
{
    (void)fence;
    return true;
}

static bool undone(struct sc_fence fence)
{
    (void)fence;
    return false;
}

static enum sc_status alloc(int device, size_t bytes, void **memory, struct sc_fence *ready)
{
    static char block[64];

    (void)bytes;
    *memory = block;
    return mark(device, SC_STREAM_MEMORY, ready);
}

static void free_block(int device, void *memory, const struct sc_fence *after, int fences)
{
    (void)memory;
    for (int i = 0; i < fences; i++)
        if (after[i].seq > atomic_load(&marked[after[i].device][after[i].stream]))
            tap_ok(0, "memory is freed behind a fence that the back end does not know");
    freed_after = fences;
    note('F', device, SC_STREAM_MEMORY, 0);
}

static char addresses[4096];

static enum sc_status zone(size_t bytes, void **base)
{
    *base = addresses;
    return bytes <= sizeof addresses ? SC_OK : SC_ERR_UNSUPPORTED;
}

static void spare(int device, uint64_t bytes)
{
    (void)device, (void)bytes;
    atomic_fetch_add(&spared, 1);
}

static enum sc_status properties(int device, struct sc_device_properties *out)
{
    memset(out, 0, sizeof *out);
    for (int from = 0; from < DEVICES; from++)
        out->peer[from] = from != device;
    return SC_OK;
}

static void close_all(void) { atomic_fetch_add(&closed, 1); }

static struct sc_device_ops inner = {.abi = SC_DEVICE_ABI, .size = sizeof inner, .name = "records",
                                     .properties = properties, .close = close_all, .alloc = alloc, .free = free_block,
                                     .copy = copy, .launch = launch, .certain = certain, .mark = mark, .wait = wait,
                                     .sync = sync_with, .done = done, .spare = spare,
                                     .zone = zone};
static struct sc_config config;
static const struct sc_device_host host = {.config = &config, .log = sc_log, .thread_enter = sc_inside_enter};
static const struct sc_device_ops *ops;

static void open_table(void)
{
    count = 0; /* no thread runs */
    ops = sc_submit_beside(&host, &inner, DEVICES);
    if (!ops)
        tap_skip_all("no threads");
}

static enum sc_status copied(int device, enum sc_stream stream, int from, int to, size_t width)
{
    static char bytes[64];

    return ops->copy(device, stream, &(struct sc_copy2d){.dst = bytes, .src = bytes, .width = width, .height = 1,
                                                         .src_device = from, .dst_device = to});
}

static enum sc_status kernel(int device, enum sc_op op, int64_t n)
{
    return ops->launch(device, SC_STREAM_COMPUTE, &(struct sc_kernel){.op = op, .type = SC_D, .n = n});
}

static struct sc_fence marked_on(int device, enum sc_stream stream)
{
    struct sc_fence f = SC_FENCE_NONE;

    ops->mark(device, stream, &f);
    return f;
}

/* The record of a kind on a device whose `seq` is given; -1: none. */
static int find(char what, int device, uint64_t seq)
{
    int at = -1;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < count && at < 0; i++)
        if (records[i].what == what && records[i].device == device && records[i].seq == seq)
            at = i;
    pthread_mutex_unlock(&lock);
    return at;
}

static void test_choice(void)
{
    config.submit = SC_SUBMIT_CALLER;
    tap_ok(!sc_submit_beside(&host, &inner, DEVICES), "the setting caller: no threads");
    config.submit = SC_SUBMIT_AUTO;
    tap_ok(!sc_submit_beside(&host, &inner, 1), "one device: no threads");
    open_table();
    tap_ok(ops != NULL, "several devices: threads");
    tap_ok(!sc_submit_beside(&host, &inner, DEVICES), "one table at a time");
    ops->close();
    tap_ok(atomic_load(&closed) == 1, "close closes the back end");
}

static void test_one_device(void)
{
    bool mine = true;
    int at;

    open_table();
    for (int i = 0; i < 100; i++) /* the first device of a process is a change of the device, too */
        copied(0, SC_STREAM_H2D, SC_HOST, 0, 1);
    ops->sync(marked_on(0, SC_STREAM_H2D));
    for (int i = 0; i < 10; i++)
        copied(0, SC_STREAM_H2D, SC_HOST, 0, (size_t)(1000 + i));
    for (int i = 0; i < 10; i++) {
        at = find('C', 0, (uint64_t)(1000 + i));
        mine = mine && at >= 0 && pthread_equal(records[at].by, pthread_self());
    }
    tap_ok(mine, "a program that uses one device submits itself");
    kernel(0, SC_OP_GEMM, 2000);
    ops->sync(marked_on(0, SC_STREAM_COMPUTE));
    at = find('K', 0, 2000);
    tap_ok(at >= 0 && !pthread_equal(records[at].by, pthread_self()), "but no first kernel of its kind");
    ops->close();
}

/* The calling thread goes on while a device's driver is slow, and fences are known before they are submitted. */
static void test_beside(void)
{
    struct sc_fence a, b;
    bool ahead;

    open_table();
    atomic_store(&held, 1);
    copied(0, SC_STREAM_H2D, SC_HOST, 0, 1);
    copied(1, SC_STREAM_H2D, SC_HOST, 1, 2);
    a = marked_on(1, SC_STREAM_H2D);
    ops->wait(2, SC_STREAM_COMPUTE, a);
    kernel(2, SC_OP_GEMM, 3);
    b = marked_on(2, SC_STREAM_COMPUTE);
    usleep(20000);
    ahead = find('C', 0, 1) >= 0 && find('C', 1, 2) < 0 && find('K', 2, 3) < 0;
    tap_ok(ahead && !ops->done(a) && !ops->done(b), "a slow driver holds up its device and what waits for it");
    tap_ok(a.seq && b.seq && a.device == 1 && b.device == 2, "fences are known at once");
    atomic_store(&held, -1);
    tap_ok(!ops->sync(b) && ops->done(a) && find('C', 1, 2) < find('K', 2, 3), "then all goes in order");
    ops->close();
}

static void *go_on(void *none)
{
    usleep(20000);
    atomic_store(&held, -1);
    return none;
}

/* Before a fork or an exit. */
static void test_settle(void)
{
    pthread_t thread;
    bool early;

    open_table();
    atomic_store(&held, 1);
    copied(0, SC_STREAM_H2D, SC_HOST, 0, 1);
    copied(1, SC_STREAM_H2D, SC_HOST, 1, 2);
    kernel(1, SC_OP_GEMM, 3);
    sc_submit_settle(0);
    early = find('K', 1, 3) < 0;
    pthread_create(&thread, NULL, go_on, NULL);
    sc_submit_settle(100);
    tap_ok(early && find('C', 1, 2) >= 0 && find('K', 1, 3) >= 0, "a wait until the driver has all, or until a time");
    pthread_join(thread, NULL);
    ops->close();
    sc_submit_settle(100);
}

static void test_order(void)
{
    enum { ROUNDS = 200 };
    int good = 1, last = -1, at;

    open_table();
    for (int i = 0; i < ROUNDS; i++)
        for (int d = 0; d < DEVICES; d++) {
            kernel(d, i % 7 ? SC_OP_GEMM : SC_OP_TRSM, 10 + i); /* every seventh is not certain */
            if (i % 3 == 0)
                marked_on(d, SC_STREAM_COMPUTE);
        }
    for (int d = 0; d < DEVICES; d++)
        ops->sync(marked_on(d, SC_STREAM_COMPUTE));
    for (int d = 0; d < DEVICES; d++, last = -1)
        for (int i = 0; i < ROUNDS; i++, last = at) {
            at = find('K', d, (uint64_t)(10 + i));
            good = good && at > last;
        }
    tap_ok(good, "the operations of a device keep their order, whoever submits them");
    ops->close();
}

/* Copies out of one device's memory are submitted in the order of the calls. */
static void test_turns(void)
{
    open_table();
    copied(0, SC_STREAM_H2D, SC_HOST, 0, 1);
    atomic_store(&held, 2);
    copied(2, sc_stream_peer(1), 1, 2, 21); /* device 2 fetches from device 1 */
    copied(1, SC_STREAM_D2H, 1, SC_HOST, 22);
    copied(0, SC_STREAM_D2H, 0, SC_HOST, 23);
    usleep(20000);
    tap_ok(find('C', 1, 22) < 0 && find('C', 0, 23) >= 0, "a copy waits for its turn at its source only");
    atomic_store(&held, -1);
    for (int d = 0; d < DEVICES; d++)
        ops->sync(marked_on(d, SC_STREAM_D2H));
    tap_ok(find('C', 2, 21) >= 0 && find('C', 2, 21) < find('C', 1, 22), "the turns keep the order of the calls");
    ops->close();
}

static void test_memory(void)
{
    struct sc_fence ready = SC_FENCE_NONE, used;
    void *memory;

    inner.done = undone;
    open_table();
    copied(0, SC_STREAM_H2D, SC_HOST, 0, 1);
    tap_ok(!ops->alloc(1, 64, &memory, &ready) && ready.seq && ready.stream == SC_STREAM_MEMORY &&
               !ops->wait(1, SC_STREAM_COMPUTE, ready),
           "memory that is not ready comes with a fence");
    atomic_store(&held, 1);
    kernel(1, SC_OP_GEMM, 31);
    used = marked_on(1, SC_STREAM_COMPUTE);
    ops->free(1, memory, &used, 1);
    usleep(10000);
    tap_ok(find('F', 1, 0) < 0, "memory is not freed before its last use is submitted");
    atomic_store(&held, -1);
    ops->sync(marked_on(1, SC_STREAM_COMPUTE));
    ops->close();
    tap_ok(find('F', 1, 0) > find('K', 1, 31) && freed_after == 1, "memory is freed behind its last use");
    inner.done = done;
}

/* A caller looks at the addresses as soon as their memory has been freed. */
static void test_zone(void)
{
    struct sc_fence used;
    void *base = NULL;

    inner.done = undone;
    open_table();
    tap_ok(!ops->zone(sizeof addresses, &base) && base == addresses, "the back end chooses addresses");
    copied(0, SC_STREAM_H2D, SC_HOST, 0, 1);
    for (int i = 0; i < 50; i++)
        kernel(1, SC_OP_GEMM, 31);
    used = marked_on(1, SC_STREAM_COMPUTE);
    ops->free(1, addresses + 64, &used, 1);
    tap_ok(find('F', 1, 0) > find('K', 1, 31) && freed_after == 1, "memory at such an address is free at once");
    ops->close();
    inner.done = done;
}

static void test_memory_short(void)
{
    struct sc_fence f;

    open_table();
    copied(0, SC_STREAM_H2D, SC_HOST, 0, 1);
    atomic_store(&refused, 1);
    atomic_store(&how, SC_ERR_DEVICE_MEMORY);
    atomic_store(&times, 1);
    kernel(1, SC_OP_GEMM, 41);
    f = marked_on(1, SC_STREAM_COMPUTE);
    tap_ok(!ops->sync(f) && atomic_load(&spared) == 1 && !kernel(1, SC_OP_GEMM, 42),
           "a driver without memory gets memory, and the kernel is tried again");
    ops->close();
}

/* Only what depends on the failed kernel fails. */
static void test_failure(void)
{
    struct sc_fence before, failed, dependent, other;

    open_table();
    copied(0, SC_STREAM_H2D, SC_HOST, 0, 1);
    kernel(1, SC_OP_GEMM, 50);
    before = marked_on(1, SC_STREAM_COMPUTE);
    ops->sync(before);
    atomic_store(&refused, 1);
    atomic_store(&how, SC_ERR_DEVICE);
    atomic_store(&times, 1);
    copied(0, SC_STREAM_H2D, SC_HOST, 0, 1);
    kernel(1, SC_OP_GEMM, 51);
    failed = marked_on(1, SC_STREAM_COMPUTE);
    ops->wait(2, SC_STREAM_PEER, failed);
    copied(2, SC_STREAM_PEER, 1, 2, 52);
    dependent = marked_on(2, SC_STREAM_PEER);
    copied(2, SC_STREAM_H2D, SC_HOST, 2, 53);
    other = marked_on(2, SC_STREAM_H2D);
    tap_ok(ops->sync(failed) == SC_ERR_DEVICE && ops->done(failed), "a late failure shows at the fence");
    tap_ok(ops->sync(dependent) == SC_ERR_DEVICE && find('C', 2, 52) < 0, "and at the fences of what waits for it");
    tap_ok(!ops->sync(before) && !ops->sync(other) && find('C', 2, 53) >= 0, "earlier and other work is right");
    tap_ok(kernel(1, SC_OP_GEMM, 54) == SC_ERR_DEVICE && kernel(1, SC_OP_TRSM, 55) == SC_ERR_DEVICE,
           "the device takes no more kernels");
    tap_ok(!copied(1, SC_STREAM_D2H, 1, SC_HOST, 56) && !ops->sync(marked_on(1, SC_STREAM_D2H)) &&
               find('C', 1, 56) >= 0,
           "its earlier data still comes home");
    ops->close();
}

int main(void)
{
    sc_log_threshold = SC_LOG_WARN;
    test_choice();
    test_one_device();
    test_beside();
    test_settle();
    test_order();
    test_turns();
    test_memory();
    test_zone();
    test_memory_short();
    test_failure();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
