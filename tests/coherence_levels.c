/* A device's memory as the first level of a cache, the other devices as the second, the host as the last. Asserts which
 * matrix a full device evicts, and the source of a matrix that returns. */
#include "coherence/protocol.h"
#include "device/emu/emu.h"
#include "tests/coherence_env.h"

enum { N = 1024, BYTES = N * N * 8, FIT = 3 }; /* bytes of a matrix; matrices that fit into a device */

static struct sc_view view(double *x, enum sc_access access)
{
    return (struct sc_view){.ptr = x, .type = SC_D, .rows = N, .cols = N, .ld = N, .access = access, .spread = 1};
}

static void fetch(double *x, int device)
{
    struct sc_view v = view(x, SC_READ);
    struct sc_cuts rows, cols;
    struct sc_operand o;

    if (sc_coherence_begin(&v, 1, &o) != SC_OK)
        exit(99);
    sc_coherence_row_cuts(&o, &rows);
    sc_coherence_col_cuts(&o, &cols);
    for (int j = 0; j < cols.n; j++)
        for (int i = 0; i < rows.n; i++)
            sc_coherence_prefetch(device, &(struct sc_piece){.operand = &o, .r = rows.at[i], .c = cols.at[j],
                                                             .rows = rows.at[i + 1] - rows.at[i],
                                                             .cols = cols.at[j + 1] - cols.at[j], .access = SC_READ});
    sc_coherence_end(&o, 1);
}

/* C += A B as one task. */
static void multiply(double *a, double *b, double *c, int device)
{
    struct sc_view v[3] = {view(a, SC_READ), view(b, SC_READ), view(c, SC_RDWR)};
    struct sc_kernel k = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = N, .n = N, .k = N,
                          .alpha = {1}, .beta = {1}};
    struct sc_piece piece[3];
    struct sc_operand o[3];

    if (sc_coherence_begin(v, 3, o) != SC_OK)
        exit(99);
    for (int i = 0; i < 3; i++)
        piece[i] = (struct sc_piece){.operand = &o[i], .rows = N, .cols = N, .access = v[i].access};
    sc_coherence_task(device, &k, piece, NULL, NULL);
    sc_coherence_end(o, 3);
}

/* Matrices received by `device` from `from` since the previous call. */
static double got(int from, int device)
{
    static uint64_t before[SC_DEVICES_MAX + 1][SC_DEVICES_MAX];
    uint64_t now, bytes;

    env_submitted();
    now = sc_emu_link_bytes(from, device);
    bytes = now - before[from + 1][device];
    before[from + 1][device] = now;
    return (double)bytes / BYTES;
}

/* --- copies home of one sector by two devices --------------------------------------------------------------------- */

static struct sc_device_ops slow;
static const struct sc_device_ops *real;
static struct sc_fence last_of_1; /* that the stream D2H of device 1 has waited for on device 0 */

/* Copies home by device 0 are slow. */
static bool never_on_0(struct sc_fence f) { return !(f.device == 0 && f.stream == SC_STREAM_D2H) && real->done(f); }

static enum sc_status noted(int device, enum sc_stream stream, struct sc_fence f)
{
    if (device == 1 && stream == SC_STREAM_D2H && f.device == 0 && f.stream == SC_STREAM_D2H)
        last_of_1 = f;
    return real->wait(device, stream, f);
}

/* The task overwrites x without a look. */
static void overwrite(double *x, int device)
{
    struct sc_view v = view(x, SC_WRITE);
    struct sc_kernel k = {.op = SC_OP_TRMM, .type = SC_D, .side = 'L', .uplo = 'U', .transa = 'N', .diag = 'N', .m = N,
                          .n = N};
    struct sc_operand o;
    struct sc_piece piece[3] = {{0}};

    if (sc_coherence_begin(&v, 1, &o) != SC_OK)
        exit(99);
    piece[0] = piece[1] = (struct sc_piece){.operand = &o, .rows = N, .cols = N, .access = SC_WRITE};
    sc_coherence_task(device, &k, piece, NULL, NULL);
    sc_coherence_end(&o, 1);
}

/* A device's copy home is under way when its memory is given up.  The copy home of a second device, which has
 * overwritten the matrix, must come later. */
static void test_copies_home(double *x)
{
    fetch(x, 0);
    overwrite(x, 0);
    sc_protocol_lock();
    real = sc_protocol.ops;
    slow = *real;
    slow.done = never_on_0;
    slow.wait = noted;
    sc_protocol.ops = &slow;
    while (sc_memory_evict(0) == SC_OK)
        ;
    sc_protocol_unlock();
    overwrite(x, 1);
    sc_coherence_acquire_host((uintptr_t)x, BYTES, SC_READ);
    tap_ok(last_of_1.seq > 0, "a copy home waits for another device's copy of the same data, whose memory is given up");
    sc_protocol_lock();
    sc_protocol.ops = real;
    sc_protocol_unlock();
}

int main(void)
{
    double *a, *b, *c, *d;
    uint64_t evictions;

    env_init();
    sc_config.emu_timing = 1;
    if (!env_is_emulated())
        tap_skip_all("the links of an emulated machine");
    env_start("emu:dgx1:2", FIT * BYTES + BYTES / 4);
    sc_directory_limits.tile_bytes = BYTES;
    a = malloc(BYTES), b = malloc(BYTES), c = malloc(BYTES), d = malloc(BYTES);

    fetch(a, 1);
    fetch(a, 0);
    fetch(b, 0);
    fetch(c, 0);
    tap_ok(got(SC_HOST, 1) == 1 && got(1, 0) == 1 && got(SC_HOST, 0) == 2 && sc_stats.evictions == 0,
           "what another device has comes from there, the rest from the host");
    fetch(a, 0);
    fetch(d, 0);
    tap_ok(got(SC_HOST, 0) == 1 && got(1, 0) == 0 && sc_stats.evictions == 1, "a fourth matrix: one has to leave");
    fetch(a, 0);
    fetch(c, 0);
    tap_ok(got(SC_HOST, 0) == 0 && got(1, 0) == 0, "not one that was used since, nor the one after it");
    fetch(b, 0);
    tap_ok(got(SC_HOST, 0) == 1 && sc_stats.evictions == 2, "but the one that was not used for the longest time");
    fetch(d, 0); /* c is the oldest but a */
    tap_ok(got(SC_HOST, 0) == 1 && got(1, 0) == 0, "the next one in turn");
    fetch(a, 0);
    tap_ok(got(SC_HOST, 0) == 0 && got(1, 0) == 1, "what left this device comes back from the other one");

    evictions = sc_stats.evictions;
    fetch(b, 0);
    fetch(d, 0); /* from oldest to newest: a, b, d */
    got(SC_HOST, 0);
    multiply(a, b, c, 0);
    tap_ok(got(SC_HOST, 0) == 1 && got(1, 0) == 0 && sc_stats.evictions - evictions <= 2,
           "what a task reads stays until it has all, however old it is");
    test_copies_home(d);
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
