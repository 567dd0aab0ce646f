/* Kernels that copy between devices (sc_device_ops.exchange), on the device under test: pull, push, from the host.
 * Asserts the right bytes for every size and alignment, no byte written beside them, and the order that fences
 * promise. */
#include "device_common.h"

#include <stdint.h>

#include "device/emu/emu.h"

#define ROOM ((size_t)1 << 20)
#define PIECES_MOST 150 /* more pieces than one launch takes */
#define TRIALS 40

static const struct sc_device_ops *ops;
static struct sc_device_properties properties;
static unsigned char *from, *to; /* pinned */
static char *there[2];           /* a block on each device */

static unsigned char byte_at(size_t i) { return (unsigned char)(i * 31 + (i >> 8) * 7 + 5); }

/* Device `source` sends pieces to the second device by kernels on `on`; other bytes of the target stay 0x77. Returns
 * whether the target is right. */
static bool exchange(int on, int source, const struct sc_copy2d *pieces, int count)
{
    int target = 1 - source;
    struct sc_copy2d copies[PIECES_MOST];
    bool good;

    memset(to, 0x77, ROOM);
    good = !move_now(ops, there[source], source, from, SC_HOST, ROOM) &&
           !move_now(ops, there[target], target, to, SC_HOST, ROOM);
    for (int i = 0; i < count; i++) {
        copies[i] = pieces[i];
        copies[i].src = there[source] + (uintptr_t)pieces[i].src;
        copies[i].dst = there[target] + (uintptr_t)pieces[i].dst;
        copies[i].src_device = source;
        copies[i].dst_device = target;
        for (size_t y = 0; y < pieces[i].height; y++) /* the expected contents */
            memcpy(to + (uintptr_t)pieces[i].dst + y * pieces[i].dst_pitch,
                   from + (uintptr_t)pieces[i].src + y * pieces[i].src_pitch, pieces[i].width);
    }
    good = good && !ops->exchange(on, SC_STREAM_EXCHANGE, copies, count) &&
           !ops->sync(mark(ops, on, SC_STREAM_EXCHANGE));
    memset(from, 0, ROOM);
    good = good && !move_now(ops, from, SC_HOST, there[target], target, ROOM) && !memcmp(from, to, ROOM);
    for (size_t i = 0; i < ROOM; i++)
        from[i] = byte_at(i);
    return good;
}

/* `count` pieces one after the other, shifted against their places at the source. */
static bool lines(int on, int source, int count, size_t bytes, size_t shift)
{
    struct sc_copy2d pieces[PIECES_MOST];

    for (int i = 0; i < count; i++)
        pieces[i] = (struct sc_copy2d){.dst = (void *)((size_t)i * (bytes + 16) / 16 * 16 + shift), .width = bytes,
                                       .src = (const void *)((size_t)i * (bytes + 48) / 16 * 16), .height = 1,
                                       .dst_pitch = bytes, .src_pitch = bytes};
    return exchange(on, source, pieces, count);
}

static bool pitched(int on, int source, size_t width, size_t pitch)
{
    struct sc_copy2d pieces[2] = {{NULL, NULL, pitch, width, width, 37, 0, 0},
                                  {(void *)(ROOM / 2), (const void *)(ROOM / 2), width, pitch, width, 41, 0, 0}};

    return exchange(on, source, pieces, 2);
}

static void test_pieces(int on, int source)
{
    static const size_t bytes[] = {1, 7, 8, 100, 4096, 61440, 100000, ROOM / 2};
    const char *way = on == source ? "pushed" : "pulled";
    bool good = true;

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        good = lines(on, source, 1, bytes[i], 0) && good;
    tap_ok(good, "%s: one piece of 1 byte to 512 KiB", way);
    tap_ok(lines(on, source, 1, 61440, 8) && lines(on, source, 1, 61440, 4) && lines(on, source, 1, 6143, 1),
           "%s: addresses that are multiples of 8, 4 and 1", way);
    tap_ok(lines(on, source, 3, 61440, 0) && lines(on, source, 15, 800, 8), "%s: 3 pieces, 15", way);
    tap_ok(lines(on, source, PIECES_MOST, 640, 0), "%s: %d pieces", way, PIECES_MOST);
    tap_ok(pitched(on, source, 512, 640) && pitched(on, source, 24, 40) && pitched(on, source, 7, 9) &&
           pitched(on, source, 512, 512), "%s: pitched", way);
}

static void test_host(void)
{
    struct sc_copy2d pull[2] = {plain_copy(there[0], 0, from, SC_HOST, 61440),
                                plain_copy(there[0] + 65536, 0, from + 70000, SC_HOST, 999)};
    enum sc_status status;
    bool good;

    memset(to, 0, ROOM);
    mprotect(from, ROOM, PROT_NONE);
    status = ops->exchange(0, SC_STREAM_EXCHANGE, pull, 2);
    good = !status && !ops->sync(mark(ops, 0, SC_STREAM_EXCHANGE)) &&
           !move_now(ops, to, SC_HOST, there[0], 0, 61440) && !move_now(ops, to + 65536, SC_HOST, there[0] + 65536, 0,
                                                                         999);
    mprotect(from, ROOM, PROT_READ | PROT_WRITE);
    tap_ok(status == SC_ERR_UNSUPPORTED || (good && !memcmp(to, from, 61440) &&
                                            !memcmp(to + 65536, from + 70000, 999)),
           "from the host's closed pages%s", status == SC_ERR_UNSUPPORTED ? " # SKIP out of reach" : "");
}

/* A submission thread finds out after the call that no kernel can do it, and makes copies instead. */
static void test_refusals(void)
{
    struct sc_copy2d home = plain_copy(to, SC_HOST, there[0], 0, 100), inside = plain_copy(there[0], 0, there[0] + 200,
                                                                                            0, 100);
    struct sc_copy2d others = plain_copy(there[1], 1, from, SC_HOST, 100);

    if (failures_come_late())
        return;
    tap_ok(ops->exchange(0, SC_STREAM_EXCHANGE, &home, 1) != SC_OK, "no kernel writes to the host");
    tap_ok(ops->exchange(0, SC_STREAM_EXCHANGE, &inside, 1) != SC_OK, "nor copies on its own device");
    tap_ok(ops->exchange(0, SC_STREAM_EXCHANGE, &others, 1) != SC_OK, "nor between others");
    tap_ok(!ops->exchange(0, SC_STREAM_EXCHANGE, &home, 0), "no pieces: nothing to do");
}

enum { N = 1 << 15 };

/* x := 2 x on device 0; an exchange by `on` copies x to device 1, which multiplies by 3. Returns whether x is right. */
static bool chain(int on, bool waits)
{
    double *x = (double *)from, *y = (double *)to;
    struct sc_kernel twice = {.op = SC_OP_SCAL, .type = SC_D, .n = N, .alpha = {2, 0}, .a = there[0], .lda = 1};
    struct sc_kernel thrice = {.op = SC_OP_SCAL, .type = SC_D, .n = N, .alpha = {3, 0}, .a = there[1], .lda = 1};
    struct sc_copy2d pass = plain_copy(there[1], 1, there[0], 0, N * sizeof *x);
    bool good;

    for (int i = 0; i < N; i++)
        x[i] = i + 1;
    good = !move_now(ops, there[0], 0, x, SC_HOST, N * sizeof *x) && !ops->launch(0, SC_STREAM_COMPUTE, &twice);
    if (waits)
        good = good && !ops->wait(on, SC_STREAM_EXCHANGE, mark(ops, 0, SC_STREAM_COMPUTE));
    good = good && !ops->exchange(on, SC_STREAM_EXCHANGE, &pass, 1);
    if (waits)
        good = good && !ops->wait(1, SC_STREAM_COMPUTE, mark(ops, on, SC_STREAM_EXCHANGE));
    good = good && !ops->launch(1, SC_STREAM_COMPUTE, &thrice);
    for (int d = 0; d < 2; d++)
        for (int s = 0; s < SC_STREAMS; s++)
            good = !ops->sync(mark(ops, d, (enum sc_stream)s)) && good;
    good = good && !move_now(ops, y, SC_HOST, there[1], 1, N * sizeof *x);
    for (int i = 0; i < N && good; i++)
        good = y[i] == 6.0 * (i + 1);
    return good;
}

static void test_order(void)
{
    bool good = true, wrong[2] = {false, false};

    if (properties.emulated)
        sc_emu_jitter(7, 1500);
    for (int i = 0; i < TRIALS; i++)
        good = chain(i % 2, true) && good;
    tap_ok(good, "kernel, exchange, kernel, ordered by fences");
    for (int i = 0; i < TRIALS && properties.emulated; i++)
        wrong[i % 2] |= !chain(i % 2, false);
    tap_ok((wrong[0] && wrong[1]) || !properties.emulated, "forgotten waits give wrong numbers on emulated devices");
    if (properties.emulated)
        sc_emu_jitter(0, 0);
}

static void test_fault(void)
{
    struct sc_copy2d pass = plain_copy(there[1], 1, there[0], 0, 1000);

    if (!properties.emulated || failures_come_late())
        return;
    sc_emu_inject(1, (struct sc_emu_fault){.kind = SC_EMU_COPY, .nth = 1});
    tap_ok(ops->exchange(1, SC_STREAM_EXCHANGE, &pass, 1) == SC_ERR_DEVICE, "an exchange fails like a copy");
    sc_emu_inject(1, (struct sc_emu_fault){.kind = SC_EMU_COPY, .nth = 1, .late = true});
    tap_ok(!ops->exchange(1, SC_STREAM_EXCHANGE, &pass, 1) &&
           ops->sync(mark(ops, 1, SC_STREAM_EXCHANGE)) == SC_ERR_DEVICE, "or when it is done");
}

int main(void)
{
    int devices;

    ops = device_open(&devices);
    if (devices < 2 || !ops->exchange || ops->properties(1, &properties) || !properties.reach[0] ||
        ops->properties(0, &properties) || !properties.reach[1])
        tap_skip_all("no two devices whose kernels reach each other");
    from = pinned_new(ops, ROOM);
    to = pinned_new(ops, ROOM);
    for (int d = 0; d < 2; d++)
        there[d] = block_new(ops, d, ROOM);
    for (size_t i = 0; i < ROOM; i++)
        from[i] = byte_at(i);
    for (int source = 0; source < 2; source++)
        for (int on = 0; on < 2; on++)
            test_pieces(on, source);
    test_host();
    test_refusals();
    test_order();
    test_fault();
    ops->close();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
