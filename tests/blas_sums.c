/* Products with a long sum and a small result: each device computes a part of the sum, and the parts are added up.
 * Asserts right results, that each device receives only its part of A and B, and that a failing operation changes no
 * result. Values are small integers, so results are exact in any order. */
#include <math.h>

#include "base/config.h"
#include "blas/blas.h"
#include "device/emu/emu.h"
#include "tests/coherence_env.h"

enum { M = 30, N = 24, K = 6000, DEVICES = 4 };

static double *a, *b, *c, *want;

static void fill(double *x, int64_t n, int64_t modulus)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (double)(i * 7 % modulus) - (double)(modulus / 2);
}

static struct sc_kernel product(char transa, char transb, double beta, int64_t ldc)
{
    return (struct sc_kernel){.op = SC_OP_GEMM, .type = SC_D, .transa = transa, .transb = transb, .m = M, .n = N,
                              .k = K, .alpha = {3, 0}, .beta = {beta, 0}, .a = a, .b = b, .c = c,
                              .lda = transa == 'N' ? M : K, .ldb = transb == 'N' ? K : N, .ldc = ldc};
}

/* New arrays, unknown to the autotuner and the directory. */
static void renew(int64_t ldc, double beta)
{
    free(a);
    free(b);
    free(c);
    free(want);
    a = malloc(sizeof *a * M * K);
    b = malloc(sizeof *b * K * N);
    c = malloc(sizeof *c * (size_t)ldc * N);
    want = malloc(sizeof *want * (size_t)ldc * N);
    fill(a, M * K, 17);
    fill(b, K * N, 13);
    fill(c, ldc * N, 11);
    for (int64_t i = 0; i < ldc * N && beta == 0; i++)
        c[i] = i % ldc < M ? NAN : c[i]; /* not to be read */
}

/* Makes the call on the devices, and on the host with C's values before the call. */
static bool is_right(struct sc_kernel k)
{
    struct sc_kernel host = k;
    bool right = true;

    memcpy(want, c, sizeof *want * (size_t)k.ldc * N);
    if (!sc_blas_offload(1, &k, false, NULL))
        return false;
    host.c = want;
    sc_inside_enter();
    sc_device_kernel_host(env_symbol, &host);
    sc_inside_leave();
    for (int64_t i = 0; i < k.ldc * N; i++)
        right = right && c[i] == want[i];
    return right;
}

static uint64_t seen[DEVICES + 1][DEVICES];

static uint64_t since(int from, int to)
{
    uint64_t now = sc_emu_link_bytes(from, to), bytes = now - seen[from + 1][to];

    seen[from + 1][to] = now;
    return bytes;
}

/* Whether each device has received, since the previous question, its part of A and B and at most three results. */
static bool was_shared(void)
{
    uint64_t part = sizeof *a * K * (M + N) / DEVICES, result = sizeof *c * M * N;
    bool shared = true;

    for (int to = 0; to < DEVICES; to++) {
        uint64_t bytes = 0;

        for (int from = SC_HOST; from < DEVICES; from++)
            bytes += since(from, to);
        shared = shared && bytes > part / 2 && bytes < part + part / 4 + 3 * result;
    }
    return shared;
}

static void test_shapes(void)
{
    static const char letters[2] = {'N', 'T'};

    for (int i = 0; i < 12; i++) {
        char ta = letters[i & 1], tb = letters[i >> 1 & 1];
        double beta = i >> 2;
        struct sc_kernel k;
        bool right;

        renew(M, beta);
        k = product(ta, tb, beta, M);
        was_shared();
        right = is_right(k);
        if (env_is_emulated())
            tap_ok(right && was_shared(), "%c%c, beta %g: right, and the inputs in parts", ta, tb, beta);
        else
            tap_ok(right, "%c%c, beta %g", ta, tb, beta);
        tap_ok(is_right(k), "once more, from where they are");
    }
}

static void test_others(void)
{
    renew(M + 5, 2);
    tap_ok(is_right(product('T', 'N', 2, M + 5)), "C in a larger array, of which the rest stays");
    renew(M, 1);
    sc_config.schedule = SC_STRATEGY_OWNER;
    was_shared();
    tap_ok(is_right(product('T', 'N', 1, M)) && (!env_is_emulated() || !was_shared()),
           "strategies that have blocks of C keep them");
    sc_config.schedule = SC_STRATEGY_AUTO;
}

/* Bytes between devices since the previous question. */
static uint64_t between_devices(void)
{
    uint64_t bytes = 0;

    for (int to = 0; to < DEVICES; to++)
        for (int from = 0; from < DEVICES; from++)
            bytes += since(from, to);
    return bytes;
}

/* Vectors that the devices have made: v := x. */
static bool make_vector(const double *x, double *v, int64_t n)
{
    struct sc_kernel copy = {.op = SC_OP_COPY, .type = SC_D, .n = n, .a = (void *)x, .b = v, .lda = 1, .ldb = 1};

    return sc_blas_offload(1, &copy, false, NULL);
}

/* Tall matrices stored by rows are wide matrices by columns, and lie in the memory of vectors that the devices have
 * parts of.  X (rows x TALL) starts at element `from` of its vector. */
enum { TALL = 60000 };

static void test_in_vector(int64_t rows, int64_t from)
{
    int64_t room = rows * TALL + from;
    double *x = malloc(sizeof *x * (size_t)room), *v = malloc(sizeof *v * (size_t)room);
    double *z = calloc((size_t)room, sizeof *z), *w = malloc(sizeof *w * (size_t)room), sum[64], small[64];
    struct sc_kernel gram = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'T', .m = rows, .n = rows,
                             .k = TALL, .alpha = {1, 0}, .a = v + from, .b = w + from, .c = sum, .lda = rows,
                             .ldb = rows, .ldc = rows};
    struct sc_kernel turn = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = rows, .n = TALL,
                             .k = rows, .alpha = {1, 0}, .a = small, .b = v + from, .c = w + from, .lda = rows,
                             .ldb = rows, .ldc = rows};
    uint64_t least = sizeof *v * (size_t)room, moved;
    int wrong = 0;

    fill(x, room, 13);
    fill(small, rows * rows, 5);
    tap_ok(make_vector(x, v, room) && make_vector(z, w, room), "two vectors of %d elements", (int)room);
    between_devices();
    tap_ok(sc_blas_offload(1, &turn, false, NULL) && sc_blas_offload(1, &gram, false, NULL), "products with them");
    moved = between_devices();
    /* A device's part may end inside a sector of the next device: then such sectors move. */
    tap_ok(!env_is_emulated() || moved < least / (from ? 4 : 500),
           "hardly anything moves between devices (%d of %d bytes)", (int)moved, (int)least);
    for (int64_t j = 0; j < TALL; j++)
        for (int64_t i = 0; i < rows; i++) {
            double s = 0;

            for (int64_t l = 0; l < rows; l++)
                s += small[i + l * rows] * x[from + l + j * rows];
            wrong += w[from + i + j * rows] != s;
        }
    for (int64_t i = 0; i < from; i++)
        wrong += w[i] != 0;
    tap_ok(!wrong, "the wide result is right");
    for (int64_t i = 0; i < rows * rows; i++) {
        double s = 0;

        for (int64_t j = 0; j < TALL; j++)
            s += x[from + i % rows + j * rows] * w[from + i / rows + j * rows];
        wrong += sum[i] != s;
    }
    tap_ok(!wrong, "the small result is right");
    free(x);
    free(v);
    free(z);
    free(w);
}

/* One operation of each kind fails, at different places of the call. */
static void test_failures(const char *machine)
{
    static const enum sc_emu_kind kinds[3] = {SC_EMU_ALLOC, SC_EMU_COPY, SC_EMU_LAUNCH};
    static const char *const names[3] = {"allocation", "copy", "launch"};

    for (int i = 0; i < (failures_come_late() ? 2 : 3); i++) {
        int wrong = 0;

        for (int nth = 1; nth <= 12; nth++) {
            sc_coherence_stop();
            env_start(machine, 0);
            renew(M, 2);
            sc_emu_inject(nth % DEVICES, (struct sc_emu_fault){.kind = kinds[i], .nth = (uint64_t)(nth + 1) / 2});
            wrong += !is_right(product(nth & 1 ? 'T' : 'N', 'N', 2, M));
        }
        tap_ok(!wrong, "a device's %s fails: right all the same", names[i]);
    }
}

int main(void)
{
    static const char machine[] = "emu:h200x8:4";
    int devices;

    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    devices = env_start(machine, 0);
    if (devices != DEVICES)
        tap_skip_all("takes four devices");
    test_shapes();
    test_others();
    for (int64_t rows = 2; rows <= 5; rows++)
        for (int64_t from = 0; from < 8; from += 7)
            test_in_vector(rows, from);
    if (env_is_emulated())
        test_failures(machine);
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
