/* Results that the host has read after each of the last calls are pushed home. Asserts that further results stay on the
 * devices. */
#include <time.h>

#include "tests/coherence_env.h"

enum { N = 1 << 18, SMALL = 1 << 14 }; /* elements: 2 MiB, 128 KiB */

static double factor;

/* x := 2 x on every device, with the steps at the end of a call. */
static void scal(double *x, int64_t n, int devices)
{
    struct sc_view v = {.ptr = x, .type = SC_D, .vector = true, .rows = n, .cols = 1, .ld = 1, .access = SC_RDWR,
                        .spread = devices};
    struct sc_operand o;
    int64_t run;

    if (sc_coherence_begin(&v, 1, &o) != SC_OK)
        exit(99);
    for (int64_t r = 0; r < n; r += run) {
        struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .alpha = {2}};
        struct sc_piece piece = {.operand = &o, .r = r, .cols = 1, .access = SC_RDWR};
        int device;

        run = sc_coherence_run(&o, r, n - r, &device);
        piece.rows = k.m = k.n = run;
        sc_coherence_task(sc_coherence_where(&piece), &k, (struct sc_piece[3]){piece}, NULL, NULL);
    }
    sc_coherence_push(&o, 1, NULL);
    sc_coherence_end(&o, 1);
    factor *= 2;
}

static int64_t differing(const volatile double *x, int64_t n)
{
    int64_t wrong = 0;

    for (int64_t i = 0; i < n; i++)
        wrong += x[i] != factor * (double)(i % 1000);
    return wrong;
}

/* Bytes; the pager counts, too. */
static uint64_t sent_home(void) { return __atomic_load_n(&sc_stats.bytes[SC_D2H], __ATOMIC_RELAXED); }

/* Bytes sent home by the call: before the host looks, and after the host has looked at the whole of x.  During the
 * pause the pager ends its read-ahead for the preceding look. */
static bool look(double *x, int64_t n, int devices, uint64_t *before, uint64_t *all)
{
    uint64_t start;

    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    start = sent_home();
    scal(x, n, devices);
    *before = sent_home() - start;
    if (differing(x, n))
        return false;
    *all = sent_home() - start;
    return true;
}

static double *array(int64_t n)
{
    double *x = malloc((size_t)n * sizeof *x);

    factor = 1;
    for (int64_t i = 0; i < n; i++)
        x[i] = (double)(i % 1000);
    return x;
}

static void test_large(int devices)
{
    double *x = array(N);
    uint64_t before, all, bytes = N * sizeof *x, pushed;
    bool right = look(x, N, devices, &before, &all);

    tap_ok(right && before == 0 && all == bytes, "%d devices: a first result comes when it is asked for", devices);
    right = look(x, N, devices, &before, &all);
    tap_ok(right && before == 0, "so does the second");
    look(x, N, devices, &before, &all);
    pushed = sc_stats.pushed;
    right = look(x, N, devices, &before, &all);
    tap_ok(right && before == bytes && all == bytes, "once it has been looked at twice the next comes by itself, once");
    tap_ok(sc_stats.pushed - pushed == bytes, "which is counted");
    scal(x, N, devices);
    scal(x, N, devices);
    right = look(x, N, devices, &before, &all);
    tap_ok(right && before == 0, "after one that nobody looked at that ends");
    look(x, N, devices, &before, &all);
    sc_config.push = 0;
    right = look(x, N, devices, &before, &all) && look(x, N, devices, &before, &all);
    tap_ok(right && before == 0 && all == bytes, "and when it is switched off");
    sc_config.push = 1;
    for (int i = 0; i < 3; i++)
        look(x, N, devices, &before, &all);
    scal(x, N, devices);
    x[N / 2] = -1; /* while x is on its way home */
    tap_ok(differing(x, N) == 1 && x[N / 2] == -1, "a write meanwhile is not lost");
    x[N / 2] = factor * (double)(N / 2 % 1000);
    scal(x, N, devices);
    tap_ok(differing(x, N) == 0, "nor is what the next call does with it");
    sc_coherence_release_range((uintptr_t)x, bytes);
    free(x);
}

static void test_small(int devices)
{
    double *x = array(SMALL);
    uint64_t before = 0, all;
    bool right = true;

    for (int i = 0; i < 5; i++)
        right = look(x, SMALL, devices, &before, &all) && right;
    tap_ok(right && before == 0, "small ones come when they are asked for");
    sc_coherence_release_range((uintptr_t)x, SMALL * sizeof *x);
    free(x);
}

int main(void)
{
    int devices;

    env_init();
    sc_config.push = 1;
    devices = env_start("emu:h200x8:2", 0);
    test_large(1);
    test_large(devices);
    test_small(devices);
    sc_coherence_stop();
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
