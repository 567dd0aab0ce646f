/* Results are pushed to the devices that have read the results of the last writing calls. Asserts that further devices
 * and results get no push. */
#include "tests/coherence_env.h"

enum { N = 1 << 16 }; /* elements: 512 KiB */

static double *x, factor;

static struct sc_view view(enum sc_access access)
{
    return (struct sc_view){.ptr = x, .type = SC_D, .vector = true, .rows = N, .cols = 1, .ld = 1, .access = access,
                            .spread = 1};
}

/* A call that writes x on a device in two tasks (the second task must not look like a second call). */
static void write_on(int device)
{
    struct sc_view v = view(SC_RDWR);
    struct sc_operand o;

    if (sc_coherence_begin(&v, 1, &o) != SC_OK)
        exit(99);
    for (int i = 0; i < 2; i++) {
        struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .alpha = {2}, .m = N, .n = N};
        struct sc_piece piece = {.operand = &o, .rows = N, .cols = 1, .access = SC_RDWR};

        sc_coherence_task(device, &k, (struct sc_piece[3]){piece}, NULL, NULL);
        factor *= 2;
    }
    sc_coherence_push(&o, 1, NULL);
    sc_coherence_end(&o, 1);
}

static bool reads_right(int device) { return env_reads(device, view(SC_READ), factor * factor * N); }

static uint64_t between(void) { return sc_stats.bytes[SC_D2D]; }

/* Bytes between devices: pushed in a call that writes on device 0, and pulled by the reads of `readers` (a bit
 * each). */
static void round_of(unsigned readers, double *pushed, double *pulled, bool *right)
{
    uint64_t start = between(), sent;

    write_on(0);
    sent = between();
    for (int d = 0; d < sc_coherence_devices(); d++)
        if (readers >> d & 1)
            *right = *right && reads_right(d);
    *pushed = (double)(sent - start) / (N * sizeof *x);
    *pulled = (double)(between() - sent) / (N * sizeof *x);
}

static void fill(void)
{
    factor = 1;
    for (int i = 0; i < N; i++)
        x[i] = 1;
}

/* By copy engines, by kernels. */
static void test(enum sc_exchange_by by)
{
    double pushed, pulled;
    uint64_t counted;
    bool right = true;

    sc_config.push = 1;
    sc_config.exchange = by;
    if (env_start("emu:h200x8:4", 0) < 4)
        tap_skip_all("fewer than four devices");
    x = malloc(N * sizeof *x);
    fill();
    for (int i = 0; i < 2; i++) {
        round_of(1 << 1 | 1 << 2, &pushed, &pulled, &right);
        tap_ok(pushed == 0 && pulled == 2 && right, "call %d: what others read of it they fetch", i + 1);
    }
    counted = sc_stats.pushed_d2d;
    round_of(1 << 1 | 1 << 2, &pushed, &pulled, &right);
    tap_ok(pushed == 2 && pulled == 0 && right, "read twice by two devices: the next goes to both by itself");
    tap_ok(sc_stats.pushed_d2d - counted == 2 * N * sizeof *x, "which is counted");
    round_of(1 << 1, &pushed, &pulled, &right);
    tap_ok(pushed == 2 && pulled == 0 && right, "and once more");
    round_of(1 << 1 | 1 << 3, &pushed, &pulled, &right);
    tap_ok(pushed == 1 && pulled == 1 && right, "to one that did not read it no longer; a third one fetches it");
    sc_config.push = 0;
    round_of(1 << 1, &pushed, &pulled, &right);
    tap_ok(pushed == 0 && pulled == 1 && right, "SEMCACHE_PUSH=0: no more");
    sc_config.push = 1;
    round_of(1 << 1, &pushed, &pulled, &right);
    tap_ok(pushed == 1 && pulled == 0 && right, "nothing was forgotten meanwhile");
    x[0] = factor;
    fill();
    round_of(1 << 1, &pushed, &pulled, &right);
    tap_ok(pushed == 1 && pulled == 0 && right, "nor by a write of the host in between");
    write_on(1);
    write_on(0);
    round_of(0, &pushed, &pulled, &right);
    tap_ok(pushed == 0 && right, "another device writes: who shares it is learned anew");
    free(x);
    sc_coherence_stop();
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
}

int main(void)
{
    env_init();
    for (int by = SC_EXCHANGE_COPY; by <= SC_EXCHANGE_PUSH; by++)
        test((enum sc_exchange_by)by);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
