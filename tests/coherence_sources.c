/* The source of a copy to a device, on an emulated machine with fast and slow links. Asserts that the bytes come from
 * the nearest copy, including a copy in transit. With a rule switched off (sc_config.without), as in benchmarks,
 * asserts a farther source. */
#include "device/emu/emu.h"
#include "tests/coherence_env.h"

#define N 1024

static double *a;

/* Prefetches the whole matrix to a device. */
static void fetch(int device)
{
    struct sc_view v = {.ptr = a, .type = SC_D, .rows = N, .cols = N, .ld = N, .access = SC_READ, .spread = 1};
    struct sc_operand o;
    struct sc_piece piece = {.operand = &o, .rows = N, .cols = N, .access = SC_READ};

    if (sc_coherence_begin(&v, 1, &o) != SC_OK || sc_coherence_prefetch(device, &piece) != SC_OK)
        tap_ok(0, "prefetch to %d", device);
    else
        sc_coherence_end(&o, 1);
}

/* Whether the device has just received the whole matrix from `from`, and no byte from elsewhere. */
static bool came_from(int from, int device)
{
    static uint64_t before[SC_DEVICES_MAX + 1][SC_DEVICES_MAX];
    bool good = true;

    env_submitted();
    for (int f = SC_HOST; f < 8; f++) {
        uint64_t now = sc_emu_link_bytes(f, device), bytes = now - before[f + 1][device];

        before[f + 1][device] = now;
        good = good && bytes == (f == from ? (uint64_t)N * N * 8 : 0);
    }
    return good;
}

/* Drops the matrix from every device. */
static void start_again(void)
{
    sc_coherence_release_range((uintptr_t)a, (size_t)N * N * 8);
}

/* Devices 0 to 3 are linked with each other, and 4 to 7. 0-3, 0-4 and 1-2 are double links, 0-1 and 0-2 single links.
 * Devices 5, 6 and 7 are connected with 0 by PCIe, which is slower than the host's link. */
int main(void)
{
    env_init();
    sc_config.emu_timing = 1;
    if (!env_is_emulated())
        tap_skip_all("the routes of an emulated machine");
    env_start("emu:dgx1", 0);
    a = malloc((size_t)N * N * sizeof *a);
    fetch(0);
    tap_ok(came_from(SC_HOST, 0), "the first device: from the host");
    fetch(1);
    tap_ok(came_from(0, 1), "a second one: from its neighbour, though the copy is still on its way there");
    fetch(3);
    tap_ok(came_from(0, 3), "of two the nearer one");
    fetch(2);
    tap_ok(came_from(1, 2) || came_from(3, 2), "not the tile's home, which is farther");
    fetch(7);
    tap_ok(came_from(3, 7), "on the other side: over the only link");
    start_again();
    fetch(0);
    came_from(SC_HOST, 0);
    fetch(6);
    tap_ok(came_from(SC_HOST, 6), "from the host where only slower ways lead to the device that has it");
    start_again();
    sc_config.without = SC_WITHOUT_TRANSIT;
    fetch(0);
    came_from(SC_HOST, 0);
    fetch(1);
    tap_ok(came_from(SC_HOST, 1), "without transit: from the host, as the neighbour has it only later");
    sc_coherence_drain();
    fetch(3);
    tap_ok(came_from(0, 3), "until that is over");
    start_again();
    sc_config.without = SC_WITHOUT_TOPOLOGY;
    fetch(0);
    came_from(SC_HOST, 0);
    fetch(6);
    tap_ok(came_from(0, 6), "without topology: from any device");
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
