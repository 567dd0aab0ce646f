/* The promises of device.h on the device under test (SEMCACHE_TEST_DEVICE): memory, copies, order, results. Kernels are
 * tested in device_kernels.c. Some checks need an emulated device: garbage, refusals, delays. */
#include "device_common.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <unistd.h>

#include "device/emu/emu.h"

#define MIB ((size_t)1 << 20)
#define TRIALS 40

static const struct sc_device_ops *ops;
static int devices;
static struct sc_device_properties properties[SC_DEVICES_MAX];

static void test_open(void)
{
    int again, good = 1;

    ops = device_open(&devices);
    tap_ok(devices > 0 && devices <= SC_DEVICES_MAX, "%d devices", devices);
    ops->close();
    tap_ok(!sc_device_open(device_host(), device_setting(), &ops, &again) && again == devices,
           "open again after close");
    for (int d = 0; d < devices; d++)
        good = good && !ops->properties(d, &properties[d]) && *properties[d].name && properties[d].memory > 0 &&
               properties[d].gemm_flops > 0 && properties[d].memory_bandwidth > 0 && properties[d].host_bandwidth > 0;
    tap_ok(good, "properties: %s", properties[0].name);
    tap_ok(ops->properties(devices, &properties[0]) != SC_OK && !ops->properties(0, &properties[0]),
           "no properties of a device that is not there");
    tap_ok((ops->virtual_seconds != NULL) == properties[0].emulated, "virtual time on emulated devices only");
}

static void test_alloc(void)
{
    struct sc_fence ready;
    void *a = NULL, *b = NULL, *c = NULL;

    tap_ok(!ops->alloc(0, 40 * MIB, &a, &ready) && a && (uintptr_t)a % 256 == 0 && !ops->sync(ready), "40 of 64 MiB");
    tap_ok(ops->alloc(0, 40 * MIB, &b, &ready) == SC_ERR_DEVICE_MEMORY, "40 MiB more: SC_ERR_DEVICE_MEMORY");
    tap_ok(!ops->alloc(0, 100, &b, &ready) && b != a && (uintptr_t)b % 256 == 0, "a small block still fits");
    ops->free(0, a, NULL, 0);
    tap_ok(!ops->alloc(0, 40 * MIB, &c, &ready) && !ops->sync(ready), "40 MiB again after free");
    ops->free(0, b, NULL, 0);
    ops->free(0, c, NULL, 0);
    tap_ok(ops->alloc(0, (size_t)1 << 60, &c, &ready) == SC_ERR_DEVICE_MEMORY, "an exabyte");
}

/* --- copies ----------------------------------------------------------------------------------------------------- */

static void number_bytes(unsigned char *p, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)((i * 31 + (i >> 8) * 7 + seed) & 0xff);
}

static void test_copy(size_t bytes)
{
    unsigned char *from = pinned_new(ops, 4 * MIB), *to = pinned_new(ops, 4 * MIB);
    void *a = block_new(ops, 0, 4 * MIB);

    number_bytes(from, bytes, 1);
    tap_ok(!move_now(ops, a, 0, from, SC_HOST, bytes) && !move_now(ops, to, SC_HOST, a, 0, bytes) &&
           !memcmp(from, to, bytes), "%zu bytes there and back", bytes);
    ops->free(0, a, NULL, 0);
    pinned_free(ops, from, 4 * MIB);
    pinned_free(ops, to, 4 * MIB);
}

/* A pitched copy to the device and back with different pitches: the gaps keep their contents. */
static void test_copy_2d(size_t width, size_t height, size_t from_pitch, size_t device_pitch, size_t to_pitch)
{
    size_t room = 4 * MIB;
    unsigned char *from = pinned_new(ops, room), *to = pinned_new(ops, room);
    char *a = block_new(ops, 0, room);
    struct sc_copy2d up = {a + 512, from + 24, device_pitch, from_pitch, width, height, 0, SC_HOST};
    struct sc_copy2d down = {to + 40, a + 512, to_pitch, device_pitch, width, height, SC_HOST, 0};
    int good;

    number_bytes(from, room, 2);
    memset(to, 0x77, room);
    good = !ops->copy(0, SC_STREAM_H2D, &up) && !ops->wait(0, SC_STREAM_D2H, mark(ops, 0, SC_STREAM_H2D)) &&
           !ops->copy(0, SC_STREAM_D2H, &down) && !ops->sync(mark(ops, 0, SC_STREAM_D2H));
    for (size_t row = 0; row < height && good; row++) {
        good = !memcmp(to + 40 + row * to_pitch, from + 24 + row * from_pitch, width);
        for (size_t i = width; i < to_pitch && good; i++)
            good = to[40 + row * to_pitch + i] == 0x77;
    }
    tap_ok(good && to[39] == 0x77, "%zu x %zu bytes, pitches %zu, %zu, %zu", width, height, from_pitch, device_pitch,
           to_pitch);
    ops->free(0, a, NULL, 0);
    pinned_free(ops, from, room);
    pinned_free(ops, to, room);
}

static void test_fill(void)
{
    unsigned char *to = pinned_new(ops, MIB), expected[64];
    void *a = block_new(ops, 0, 4096);

    memset(expected, 0x11, sizeof expected);
    for (int row = 0; row < 4; row++)
        memset(expected + 16 * row, 0x22, 5);
    tap_ok(!ops->fill(0, SC_STREAM_H2D, a, 64, 0x11, 64, 1) && !ops->fill(0, SC_STREAM_H2D, a, 16, 0x22, 5, 4) &&
           !ops->sync(mark(ops, 0, SC_STREAM_H2D)) && !move_now(ops, to, SC_HOST, a, 0, 64) &&
           !memcmp(to, expected, 64), "fill");
    ops->free(0, a, NULL, 0);
    pinned_free(ops, to, MIB);
}

static void test_peer(void)
{
    unsigned char *from, *to;
    void *a, *b;
    struct sc_copy2d pass;

    if (devices < 2 || !properties[1].peer[0]) {
        tap_ok(1, "peer copy # SKIP no second device that reaches the first");
        return;
    }
    from = pinned_new(ops, MIB);
    to = pinned_new(ops, MIB);
    a = block_new(ops, 0, MIB);
    b = block_new(ops, 1, MIB);
    pass = (struct sc_copy2d){b, a, 1000, 2000, 1000, 300, 1, 0};
    number_bytes(from, MIB, 3);
    tap_ok(!move_now(ops, a, 0, from, SC_HOST, MIB) && !ops->copy(1, SC_STREAM_PEER, &pass) &&
           !ops->sync(mark(ops, 1, SC_STREAM_PEER)) && !move_now(ops, to, SC_HOST, b, 1, 300000), "peer copy is done");
    for (int row = 0; row < 300; row++)
        if (memcmp(to + 1000 * row, from + 2000 * row, 1000)) {
            tap_ok(0, "peer copy, row %d", row);
            return;
        }
    tap_ok(1, "peer copy, pitched");
    ops->free(0, a, NULL, 0);
    ops->free(1, b, NULL, 0);
    pinned_free(ops, from, MIB);
    pinned_free(ops, to, MIB);
}

/* Whether the page is closed, as the kernel sees it. */
static int closed(const void *page)
{
    int ends[2], answer;

    if (pipe(ends))
        return 0;
    answer = write(ends[1], page, 1) < 0 && errno == EFAULT;
    close(ends[0]);
    close(ends[1]);
    return answer;
}

static void test_closed_pages(void)
{
    unsigned char *from = pinned_new(ops, 3 * MIB), *to = pinned_new(ops, 3 * MIB);
    void *a = block_new(ops, 0, 3 * MIB);
    int good;

    number_bytes(from, 3 * MIB, 5);
    mprotect(from, 3 * MIB, PROT_NONE);
    mprotect(to, 3 * MIB, PROT_NONE);
    good = !move_now(ops, a, 0, from, SC_HOST, 3 * MIB);
    tap_ok(good && closed(from), "read from closed pages, which stay closed");
    good = !move_now(ops, to, SC_HOST, a, 0, 3 * MIB);
    tap_ok(good && closed(to) && closed(to + 2 * MIB), "written to closed pages, which stay closed");
    mprotect(from, 3 * MIB, PROT_READ | PROT_WRITE);
    mprotect(to, 3 * MIB, PROT_READ);
    tap_ok(!memcmp(from, to, 3 * MIB), "and right when they open");
    number_bytes(from, 3 * MIB, 6);
    tap_ok(!move_now(ops, a, 0, from, SC_HOST, 3 * MIB) && !move_now(ops, to, SC_HOST, a, 0, 3 * MIB) &&
           !memcmp(from, to, 3 * MIB), "written to read-only pages");
    ops->free(0, a, NULL, 0);
    pinned_free(ops, from, 3 * MIB);
    pinned_free(ops, to, 3 * MIB);
}

/* --- order ------------------------------------------------------------------------------------------------------ */

enum { N = 1 << 15 };

static void jitter(uint64_t seed)
{
    if (properties[0].emulated)
        sc_emu_jitter(seed, seed ? 1500 : 0);
}

/* x up, x := 2 x, x down, with or without the waits in between; true when the numbers are right. */
static int chain(double *x, void *a, int waits)
{
    struct sc_copy2d up = plain_copy(a, 0, x, SC_HOST, N * sizeof *x);
    struct sc_copy2d down = plain_copy(x, SC_HOST, a, 0, N * sizeof *x);
    struct sc_kernel scal = {.op = SC_OP_SCAL, .type = SC_D, .n = N, .alpha = {2, 0}, .a = a, .lda = 1};
    int good = 1;

    for (int i = 0; i < N; i++)
        x[i] = i + 1;
    good = !ops->copy(0, SC_STREAM_H2D, &up);
    if (waits)
        good = good && !ops->wait(0, SC_STREAM_COMPUTE, mark(ops, 0, SC_STREAM_H2D));
    good = good && !ops->launch(0, SC_STREAM_COMPUTE, &scal);
    if (waits)
        good = good && !ops->wait(0, SC_STREAM_D2H, mark(ops, 0, SC_STREAM_COMPUTE));
    good = good && !ops->copy(0, SC_STREAM_D2H, &down);
    for (int s = 0; s < SC_STREAMS; s++)
        good = !ops->sync(mark(ops, 0, (enum sc_stream)s)) && good;
    for (int i = 0; i < N && good; i++)
        good = x[i] == 2.0 * (i + 1);
    return good;
}

/* --- functions of the program ----------------------------------------------------------------------------------- */

struct doubling {
    double *x;
    int *calls;
};

/* A GPU would get a kernel that doubles; the memory of an emulated device is the host's. */
static void double_all(int device, void *stream, void *record)
{
    const struct doubling *d = record;

    for (int i = 0; i < N && properties[0].emulated; i++)
        d->x[i] *= 2;
    *d->calls += device == 0 && !(stream && properties[0].emulated);
}

/* x up, x := 4 x by two functions, x down. */
static void test_call(void)
{
    double *x = pinned_new(ops, N * sizeof *x), *a = block_new(ops, 0, N * sizeof *x);
    const struct sc_copy2d up = plain_copy(a, 0, x, SC_HOST, N * sizeof *x);
    const struct sc_copy2d down = plain_copy(x, SC_HOST, a, 0, N * sizeof *x);
    int calls = 0, good = 1, factor = properties[0].emulated ? 4 : 1;

    jitter(3);
    for (int i = 0; i < N; i++)
        x[i] = i;
    good = !ops->copy(0, SC_STREAM_COMPUTE, &up);
    for (int i = 0; i < 2; i++) {
        struct doubling record = {a, &calls};
        const struct sc_device_call call = {double_all, &record, sizeof record, N * sizeof *x};

        good = good && !ops->call(0, SC_STREAM_COMPUTE, &call);
        record.x = NULL; /* a queue has a copy */
    }
    good = good && !ops->copy(0, SC_STREAM_COMPUTE, &down) && !ops->sync(mark(ops, 0, SC_STREAM_COMPUTE));
    jitter(0);
    for (int i = 0; i < N && good; i++)
        good = x[i] == (double)factor * i;
    tap_ok(good && calls == 2, "functions of the program run in the order of the stream");
    ops->free(0, a, NULL, 0);
    pinned_free(ops, x, N * sizeof *x);
}

static void test_order(void)
{
    double *x = pinned_new(ops, N * sizeof *x);
    void *a = block_new(ops, 0, N * sizeof *x);
    int good = 1, wrong = 0;

    jitter(7);
    for (int i = 0; i < TRIALS; i++)
        good = chain(x, a, 1) && good;
    tap_ok(good, "up, kernel, down, ordered by fences");
    for (int i = 0; i < TRIALS && properties[0].emulated; i++)
        wrong += !chain(x, a, 0);
    tap_ok(wrong || !properties[0].emulated, "forgotten waits give wrong numbers on emulated devices");
    jitter(0);
    ops->free(0, a, NULL, 0);
    pinned_free(ops, x, N * sizeof *x);
}

/* Blocks are freed while a copy still reads them, and handed out again at once. */
static void test_reuse(void)
{
    double *x = pinned_new(ops, 2 * N * sizeof *x), *y = x + N;
    int good = 1;

    jitter(11);
    for (int trial = 0; trial < TRIALS && good; trial++) {
        struct sc_fence ready, read;
        struct sc_copy2d up, down;
        void *a, *b;

        for (int i = 0; i < N; i++)
            x[i] = trial + i;
        good = !ops->alloc(0, N * sizeof *x, &a, &ready) && !ops->wait(0, SC_STREAM_H2D, ready);
        up = plain_copy(a, 0, x, SC_HOST, N * sizeof *x);
        down = plain_copy(y, SC_HOST, a, 0, N * sizeof *x);
        good = good && !ops->copy(0, SC_STREAM_H2D, &up) &&
               !ops->wait(0, SC_STREAM_D2H, mark(ops, 0, SC_STREAM_H2D)) && !ops->copy(0, SC_STREAM_D2H, &down);
        read = mark(ops, 0, SC_STREAM_D2H);
        ops->free(0, a, &read, 1);
        good = good && !ops->alloc(0, N * sizeof *x, &b, &ready) && !ops->wait(0, SC_STREAM_COMPUTE, ready) &&
               !ops->fill(0, SC_STREAM_COMPUTE, b, N * sizeof *x, 0, N * sizeof *x, 1) && !ops->sync(read) &&
               !memcmp(x, y, N * sizeof *x) && !ops->sync(mark(ops, 0, SC_STREAM_COMPUTE));
        ops->free(0, b, NULL, 0);
    }
    jitter(0);
    tap_ok(good, "memory is reused only after its readers");
    pinned_free(ops, x, 2 * N * sizeof *x);
}

static void test_fences(void)
{
    double *x = pinned_new(ops, N * sizeof *x);
    void *a = block_new(ops, 0, N * sizeof *x);
    struct sc_copy2d up = plain_copy(a, 0, x, SC_HOST, N * sizeof *x);
    struct sc_fence first, second;

    tap_ok(ops->done(SC_FENCE_NONE) && !ops->sync(SC_FENCE_NONE) && !ops->wait(0, SC_STREAM_COMPUTE, SC_FENCE_NONE),
           "no fence is a fence that is reached");
    ops->copy(0, SC_STREAM_H2D, &up);
    first = mark(ops, 0, SC_STREAM_H2D);
    ops->copy(0, SC_STREAM_H2D, &up);
    second = mark(ops, 0, SC_STREAM_H2D);
    tap_ok(!ops->sync(second) && ops->done(second) && ops->done(first),
           "a later fence of a stream implies the earlier one");
    tap_ok(!ops->wait(0, SC_STREAM_H2D, second), "a stream waits for itself");
    ops->free(0, a, NULL, 0);
    pinned_free(ops, x, N * sizeof *x);
}

/* A caller that enqueues without waiting is never ahead by more than the length of a queue. */
static void test_far_ahead(void)
{
    enum { AHEAD = 8192, ALL = 2 * AHEAD };
    static struct sc_fence fences[ALL];
    void *a = block_new(ops, 0, 4096);
    int good = 1, behind = 0;

    sc_emu_jitter(5, 20);
    for (int i = 0; i < ALL; i++) {
        good = !ops->fill(0, SC_STREAM_H2D, a, 64, 0x11, 64, 1) && good;
        fences[i] = mark(ops, 0, SC_STREAM_H2D);
        behind += i >= AHEAD && !ops->done(fences[i - AHEAD]);
    }
    sc_emu_jitter(0, 0);
    tap_ok(good && !ops->sync(fences[ALL - 1]) && !behind, "a queue holds back who fills it (%d)", behind);
    ops->free(0, a, NULL, 0);
}

/* --- results ---------------------------------------------------------------------------------------------------- */

static bool runs(enum sc_op op, enum sc_type type) { return !ops->runs || ops->runs(op, type); }

static void test_refused(void)
{
    struct sc_kernel k = {.alpha = {1, 0}, .transa = 'N', .transb = 'N', .side = 'L', .uplo = 'U', .diag = 'N'};
    int good = 1, refused = 0;

    for (k.op = 0; k.op < SC_OPS; k.op++)
        for (k.type = 0; k.type < SC_TYPES; k.type++)
            if (sc_op_has_type(k.op, k.type) && !runs(k.op, k.type)) {
                good = good && ops->launch(0, SC_STREAM_COMPUTE, &k) == SC_ERR_UNSUPPORTED;
                refused++;
            }
    tap_ok(good, "%d operations that the devices lack are refused", refused);
}

static void test_results(void)
{
    double *x = pinned_new(ops, 4096);
    void *a = block_new(ops, 0, 4096), *slots[512];
    struct sc_kernel k = {.type = SC_D, .a = a, .b = a, .lda = 1, .ldb = 1};
    int good = 1;

    for (int i = 0; i < 500; i++)
        x[i] = i + 1;
    good = !move_now(ops, a, 0, x, SC_HOST, 4000);
    for (int i = 0; i < 500; i++) {
        k.op = i % 2 && runs(SC_OP_IAMAX, SC_D) ? SC_OP_IAMAX : SC_OP_DOT;
        k.n = i + 1;
        k.result = slots[i] = ops->result_slot(0);
        good = good && slots[i] && (uintptr_t)slots[i] % 16 == 0 && !ops->launch(0, SC_STREAM_COMPUTE, &k);
    }
    good = !ops->sync(mark(ops, 0, SC_STREAM_COMPUTE)) && good;
    for (int64_t i = 0; i < 500 && good; i++) {
        double sum = (double)((i + 1) * (i + 2) * (2 * i + 3)) / 6;
        good = i % 2 && runs(SC_OP_IAMAX, SC_D) ? *(int64_t *)slots[i] == i + 1 :
                                                  fabs(*(double *)slots[i] - sum) <= 1e-12 * sum;
    }
    tap_ok(good, "500 results in 500 slots");
    slots[0] = ops->result_slot(0);
    tap_ok(!move_now(ops, slots[0], SC_HOST, (char *)a + 80, 0, 8) && *(double *)slots[0] == 11,
           "a small copy to a slot");
    ops->free(0, a, NULL, 0);
    pinned_free(ops, x, 4096);
}

/* --- emulated devices only -------------------------------------------------------------------------------------- */

static int all_ones(const unsigned char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != 0xff)
            return 0;
    return 1;
}

static void test_garbage(void)
{
    unsigned char *x = pinned_new(ops, MIB);
    void *a = block_new(ops, 0, MIB);

    memset(x, 0, MIB);
    tap_ok(!move_now(ops, x, SC_HOST, a, 0, MIB) && all_ones(x, MIB), "fresh memory is garbage");
    memset(x, 0, MIB);
    move_now(ops, a, 0, x, SC_HOST, MIB);
    ops->free(0, a, NULL, 0);
    a = block_new(ops, 0, MIB);
    tap_ok(!move_now(ops, x, SC_HOST, a, 0, MIB) && all_ones(x, MIB), "and so it is again after free");
    ops->free(0, a, NULL, 0);
    pinned_free(ops, x, MIB);
}

static void test_refusals(void)
{
    static double unpinned[512];
    unsigned char *x = pinned_new(ops, MIB);
    void *a = block_new(ops, 0, MIB);
    struct sc_copy2d copy = plain_copy(a, 0, unpinned, SC_HOST, sizeof unpinned);
    struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .n = MIB / 8 + 1, .alpha = {1, 0}, .a = a, .lda = 1};

    tap_ok(ops->copy(0, SC_STREAM_H2D, &copy) == SC_ERR_DEVICE, "a copy of memory that is not pinned");
    copy = plain_copy(a, 0, x + MIB / 2, SC_HOST, MIB);
    tap_ok(ops->copy(0, SC_STREAM_H2D, &copy) == SC_ERR_DEVICE, "a copy beyond a pinned range");
    copy = plain_copy((char *)a + 1, 0, x, SC_HOST, MIB);
    tap_ok(ops->copy(0, SC_STREAM_H2D, &copy) == SC_ERR_DEVICE, "a copy beyond a block");
    tap_ok(ops->launch(0, SC_STREAM_COMPUTE, &k) == SC_ERR_DEVICE, "a kernel beyond a block");
    copy = plain_copy(x, SC_HOST, x, SC_HOST, 8);
    tap_ok(ops->copy(0, SC_STREAM_H2D, &copy) == SC_ERR_INVALID, "a copy from host to host");
    tap_ok(ops->pin(x + 4096, 4096) != SC_OK, "a range that is pinned already");
    ops->free(0, a, NULL, 0);
    pinned_free(ops, x, MIB);
}

int main(void)
{
    sc_config.memory_limit = 64 * MIB;
    test_open();
    test_alloc();
    test_copy(1);
    test_copy(4095);
    test_copy(3 * MIB + 17);
    test_copy_2d(800, 300, 800, 800, 800);
    test_copy_2d(800, 300, 800, 1024, 800);
    test_copy_2d(800, 300, 4000, 1024, 3000);
    test_copy_2d(8, 2000, 24, 8, 16);
    test_copy_2d(100, 1, 0, 0, 0);
    test_fill();
    test_peer();
    test_closed_pages();
    test_order();
    test_call();
    test_reuse();
    test_fences();
    test_refused();
    test_results();
    if (properties[0].emulated) {
        test_far_ahead();
        test_garbage();
        test_refusals();
    }
    ops->close();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
