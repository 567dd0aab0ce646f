/* Products of operands that other devices have just made and sent. Asserts right numbers, and that a device begins with
 * resident operands. Values are integers, so results are exact in any order. */
#include <stdlib.h>

#include "autotuner/strips.h"
#include "base/config.h"
#include "blas/blas.h"
#include "device/emu/emu.h"
#include "tests/coherence_env.h"

/* A device's part of the columns is 512 (rule D3). */
enum { M = 32, K = 8, N = 2048, DEVICES = 4, STRIP = 128, ROUNDS = 6 };

static struct sc_device_ops watching;
static const struct sc_device_ops *real_ops;
static bool on;
static int products[DEVICES];     /* launched */
static int before, after; /* waits of devices for copies from other devices: before, and after, their first product */

static enum sc_status watch_launch(int device, enum sc_stream stream, const struct sc_kernel *k)
{
    products[device] += on && k->op == SC_OP_GEMM;
    return real_ops->launch(device, stream, k);
}

static bool making;               /* C */
static int copies; /* of C between devices; from, to: devices at the ends of the first copies, a bit each */
static unsigned from, to;

static enum sc_status watch_copy(int device, enum sc_stream stream, const struct sc_copy2d *c)
{
    bool of_c = c->width * c->height > M * K * sizeof(double); /* A goes round, too */

    if (making && of_c && c->src_device != SC_HOST && c->dst_device != SC_HOST && copies++ < DEVICES) {
        from |= 1u << c->src_device;
        to |= 1u << c->dst_device;
    }
    return real_ops->copy(device, stream, c);
}

static enum sc_status watch_wait(int device, enum sc_stream stream, struct sc_fence fence)
{
    if (on && stream == SC_STREAM_COMPUTE && fence.stream >= SC_STREAM_PEER)
        *(products[device] ? &after : &before) += 1;
    return real_ops->wait(device, stream, fence);
}

/* --- matrices ----------------------------------------------------------------------------------------------------- */

static double *matrix(int rows, int cols, int seed)
{
    double *m = malloc(sizeof *m * (size_t)rows * (size_t)cols);

    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            m[j * rows + i] = (double)((i * 7 + j * 3 + i * j * seed) % 5) - 2;
    return m;
}

/* a b, of M x k and k x N. */
static double *plainly(const double *a, const double *b, int k)
{
    double *c = calloc((size_t)M * N, sizeof *c);

    for (int j = 0; j < N; j++)
        for (int l = 0; l < k; l++)
            for (int i = 0; i < M; i++)
                c[j * M + i] += a[l * M + i] * b[j * k + l];
    return c;
}

static bool multiply(double alpha, double *a, double *b, int k, double beta, double *c)
{
    return sc_blas_offload(1, &(struct sc_kernel){.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = M,
                                                  .n = N, .k = k, .alpha = {alpha, 0}, .beta = {beta, 0}, .a = a,
                                                  .b = b, .c = c, .lda = M, .ldb = k, .ldc = M}, false, NULL);
}

static bool is_multiple(const volatile double *m, const double *of, double factor)
{
    bool same = true;

    for (int i = 0; i < M * N; i++)
        same = same && m[i] == factor * of[i];
    return same;
}

/* --- the test ----------------------------------------------------------------------------------------------------- */

static void start(uint64_t seed)
{
    int count = 0;

    if (sc_device_open(&env_host, "emu:h200x8:4", &real_ops, &count) != SC_OK || count != DEVICES)
        tap_skip_all("no host BLAS");
    watching = *real_ops;
    watching.launch = watch_launch;
    watching.wait = watch_wait;
    watching.copy = watch_copy;
    if (sc_coherence_start(&watching, count, &env_host) != SC_OK || sc_host_faults_start(&env_callbacks) != SC_OK)
        tap_ok(0, "start");
    sc_blas_links();
    sc_emu_jitter(seed, 100);
}

/* C := i A B, E := C D + beta E, in round i. */
static void chain(uint64_t seed, double beta, enum sc_exchange_by by)
{
    double *a = matrix(M, K, 1), *b = matrix(K, N, 2), *c = matrix(M, N, 3), *d = matrix(N, N, 4);
    double *e = calloc((size_t)M * N, sizeof *e), *ab = plainly(a, b, K), *abd = plainly(ab, d, N), factor = 0;
    bool right = true, sent = true, early = true, ring = true;

    sc_config.exchange = by;
    start(seed);
    for (int i = 1; i <= ROUNDS; i++) {
        uint64_t pushed = sc_stats.pushed_d2d;

        copies = 0;
        from = to = 0;
        making = true;
        right = multiply(i, a, b, K, 0, c) && right;
        making = false;
        pushed = sc_stats.pushed_d2d - pushed;
        memset(products, 0, sizeof products);
        before = after = 0;
        on = true;
        right = multiply(1, c, d, N, beta, e) && right;
        on = false;
        factor = i + beta * factor;
        if (i > 2) {
            sent = sent && pushed == (DEVICES - 1) * M * N * sizeof *c;
            early = early && before == 0 && after >= DEVICES;
            ring = ring && (!copies || (from == (1u << DEVICES) - 1 && to == from));
        }
        if (i % 2 == 0) /* or C is in turn somewhere else, too */
            right = is_multiple(c, ab, i) && right;
        right = is_multiple(e, abd, factor) && right;
    }
    tap_ok(right, "seed %llu, beta %g, exchanges %d: right numbers", (unsigned long long)seed, beta, (int)by);
    tap_ok(sent, "after two rounds C goes to who reads it before it is asked for");
    tap_ok(early, "and every device begins with what it has");
    tap_ok(ring && (by != SC_EXCHANGE_COPY || copies > 0),
           "copies go round: each device sends one, and gets one, first");
    sc_coherence_stop();
    free(a), free(b), free(c), free(d), free(e), free(ab), free(abd);
}

int main(void)
{
    if (!env_is_emulated()) {
        printf("1..0 # SKIP watches what four emulated devices are asked for\n");
        return 0;
    }
    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    sc_config.push = 1;
    sc_config.schedule = SC_STRATEGY_OWNER; /* makes each column of C on its owner, in spite of the little work */
    sc_strips_fixed = STRIP; /* several kernels for each device */
    for (int i = 0; i < 4; i++)
        chain((uint64_t)i + 1, i % 2, i < 2 ? SC_EXCHANGE_AUTO : i == 2 ? SC_EXCHANGE_COPY : SC_EXCHANGE_PUSH);
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
