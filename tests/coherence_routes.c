/* Copies over an intermediate device, whose links are faster than the direct link. Asserts that the right bytes arrive
 * and cross each link once. If the intermediate device has no room or fails, the bytes take a different way. */
#include "coherence/protocol.h"
#include "device/emu/emu.h"
#include "device/links.h"
#include "tests/coherence_env.h"

enum { N = 256, DEVICES = 8 };
#define BYTES ((uint64_t)N * N * 8)

static double *a;

/* x := factor x on a device, which then holds the only copy. */
static void scale(int device, double factor)
{
    struct sc_view v = {.ptr = a, .type = SC_D, .rows = N, .cols = N, .ld = N, .access = SC_RDWR, .spread = 1};
    struct sc_operand o;
    struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .alpha = {factor}, .n = N * N};
    struct sc_piece piece = {.operand = &o, .rows = N, .cols = N, .access = SC_RDWR};

    if (sc_coherence_begin(&v, 1, &o) != SC_OK)
        exit(99);
    if (sc_coherence_task(device, &k, (struct sc_piece[3]){piece}, NULL, NULL) != SC_OK)
        tap_ok(0, "a task on %d", device);
    sc_coherence_end(&o, 1);
    env_submitted();
}

static bool is_right(double factor)
{
    for (int i = 0; i < N * N; i++)
        if (a[i] != factor * (i % 1000))
            return false;
    return true;
}

static void fill(void)
{
    for (int i = 0; i < N * N; i++)
        a[i] = i % 1000;
}

static uint64_t bytes_before[DEVICES + 1][DEVICES];

static void look_at_links(void)
{
    for (int from = SC_HOST; from < DEVICES; from++)
        for (int to = 0; to < DEVICES; to++)
            bytes_before[from + 1][to] = sc_emu_link_bytes(from, to);
}

/* Bytes since look_at_links, in matrices: over one link, and over every link to a device. */
static double went(int from, int to)
{
    return (double)(sc_emu_link_bytes(from, to) - bytes_before[from + 1][to]) / (double)BYTES;
}

static double went_anywhere(void)
{
    double sum = 0;

    for (int from = SC_HOST; from < DEVICES; from++)
        for (int to = 0; to < DEVICES; to++)
            sum += went(from, to);
    return sum;
}

/* Devices 0 and 6 have no NVLink; the way 0-2-6 has two. */
static void test_way_round(void)
{
    fill();
    scale(0, 2);
    look_at_links();
    scale(6, 3);
    tap_ok(went(0, 2) == 1 && went(2, 6) == 1 && went_anywhere() == 2, "over the device between");
    tap_ok(is_right(6), "what arrives is right");
    fill();
    scale(0, 2);
    look_at_links();
    scale(3, 3);
    tap_ok(went(0, 3) == 1 && went_anywhere() == 1 && is_right(6), "neighbours: over their link");
    sc_config.max_hops = 0;
    fill();
    scale(0, 2);
    look_at_links();
    scale(6, 3);
    tap_ok(went(0, 6) == 1 && went_anywhere() == 1 && is_right(6), "SEMCACHE_MAX_HOPS=0: over the slow one");
    sc_config.max_hops = 1;
}

static void test_from_the_host(void)
{
    struct sc_view v = {.ptr = a, .type = SC_D, .rows = N, .cols = N, .ld = N, .access = SC_READ, .spread = 1};
    struct sc_operand o;
    struct sc_piece piece = {.operand = &o, .rows = N, .cols = N, .access = SC_READ};
    double host = 0;

    fill();
    look_at_links();
    if (sc_coherence_begin(&v, 1, &o) != SC_OK)
        exit(99);
    for (int d = 0; d < DEVICES; d++)
        sc_coherence_prefetch(d, &piece);
    sc_coherence_end(&o, 1);
    env_submitted();
    for (int d = 0; d < DEVICES; d++)
        host += went(SC_HOST, d);
    tap_ok(host == 1 && went_anywhere() == DEVICES,
           "to all devices: each byte crosses one of the host's links once, and arrives everywhere once");
}

static void test_measured(void)
{
    static struct sc_links slow;

    slow.direct[2][6] = 1e9;
    sc_coherence_links(&slow);
    fill();
    scale(0, 2);
    look_at_links();
    scale(6, 3);
    tap_ok(went(0, 4) == 1 && went(4, 6) == 1 && went_anywhere() == 2 && is_right(6),
           "measurements count, not what devices say: round the other way");
}

/* Device 4 is on the way now. A submission thread finds the failure after the call, too late for another way: the data
 * is then that of a lost device (tests/device_submit). */
static void test_failure(void)
{
    if (failures_come_late())
        return;
    fill();
    scale(0, 2);
    look_at_links();
    sc_emu_inject(4, (struct sc_emu_fault){.kind = SC_EMU_COPY, .nth = 1});
    scale(6, 3);
    tap_ok(went(4, 6) == 0 && is_right(6), "it fails: another way, and right");
    fill();
    scale(0, 2);
    look_at_links();
    scale(6, 3);
    tap_ok(went(0, 4) == 0 && is_right(6), "and no longer asked");
}

/* The device between is full. */
static void test_no_room(void)
{
    enum { OTHERS = 8 };
    double *other[OTHERS], *first = a;
    bool right = true;

    sc_coherence_stop();
    env_start("emu:dgx1", OTHERS * BYTES);
    for (int i = 0; i < OTHERS; i++) {
        a = other[i] = malloc(BYTES);
        fill();
        scale(2, 2);
    }
    a = first;
    fill();
    scale(0, 2);
    look_at_links();
    scale(6, 3);
    tap_ok(went(0, 2) == 0 && is_right(6), "no room: nothing has to go for data that passes by");
    look_at_links();
    for (int i = 0; i < OTHERS; i++) {
        a = other[i];
        scale(2, 2);
    }
    tap_ok(went_anywhere() == 0, "what was there still is");
    for (int i = 0; i < OTHERS; i++) {
        a = other[i];
        right = right && is_right(4);
        free(a);
    }
    tap_ok(right, "and right");
    a = first;
}

int main(void)
{
    env_init();
    sc_config.max_hops = 1;
    if (!env_is_emulated())
        tap_skip_all("emulated devices only");
    env_start("emu:dgx1", 0);
    a = malloc(BYTES);
    test_way_round();
    test_from_the_host();
    test_measured();
    test_failure();
    test_no_room();
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
