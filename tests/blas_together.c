/* Products of which the host BLAS computes some columns while devices compute the rest. Asserts exact results (values
 * are small integers), which bytes move, and when the host takes no part. */
#include <math.h>
#include <pthread.h>

#include "base/config.h"
#include "blas/blas.h"
#include "device/emu/emu.h"
#include "tests/blas_random.h"
#include "tests/coherence_env.h"

enum { N = 300 };

void *reference_symbol(const char *name) { return env_symbol(name); }

struct call {
    struct sc_kernel kernel;
    double *array[3], *want[3];
    size_t elements[3];
};

/* Small integers. A triangle to solve with has ones on the diagonal, and few nonzeros off the diagonal: exact
 * solves. */
static double value(const struct sc_kernel *k, int slot, int64_t i, int64_t j)
{
    if (slot == 0 && (k->op == SC_OP_TRSM || k->op == SC_OP_TRMM))
        return i == j ? 1 : i % 2 && j % 2 == 0 ? (double)((i + 3 * j) % 3 - 1) : 0;
    return (double)((i * 7 + j * 3 + slot) % 5) - 2;
}

/* `pad`: rows between the columns; with an odd number columns begin anywhere on a page. */
static void make(struct call *c, struct sc_kernel kernel, int64_t pad)
{
    struct slot_shape shape;

    *c = (struct call){.kernel = kernel};
    for (int slot = 0; slot < 3; slot++) {
        if (!slot_shape(&c->kernel, slot, &shape))
            continue;
        *slot_ld(&c->kernel, slot) = shape.rows + pad;
        c->elements[slot] = (size_t)((shape.rows + pad) * shape.cols);
        c->array[slot] = malloc(c->elements[slot] * sizeof(double));
        c->want[slot] = malloc(c->elements[slot] * sizeof(double));
        for (size_t e = 0; e < c->elements[slot]; e++)
            c->array[slot][e] = c->want[slot][e] =
                value(&kernel, slot, (int64_t)e % (shape.rows + pad), (int64_t)e / (shape.rows + pad));
    }
}

static struct sc_kernel with(const struct call *c, double *const *array)
{
    struct sc_kernel k = c->kernel;

    for (int slot = 0; slot < 3; slot++)
        *slot_pointer(&k, slot) = array[slot];
    return k;
}

static bool offload(const struct call *c)
{
    struct sc_kernel k = with(c, c->array);

    return sc_blas_offload(1, &k, false, NULL);
}

/* Computes the call on the host, into `want`. */
static void expect(const struct call *c)
{
    struct sc_kernel k = with(c, c->want);

    sc_inside_enter();
    sc_device_kernel_host(env_symbol, &k);
    sc_inside_leave();
}

static bool is_right(const struct call *c)
{
    size_t wrong = 0;

    for (int slot = 0; slot < 3; slot++)
        for (size_t e = 0; e < c->elements[slot]; e++)
            wrong += c->array[slot][e] != c->want[slot][e];
    if (wrong)
        tap_diag("%s: %zu elements are wrong", sc_op_name(c->kernel.op), wrong);
    return !wrong;
}

static void release(struct call *c)
{
    for (int slot = 0; slot < 3; slot++) {
        free(c->array[slot]);
        free(c->want[slot]);
    }
}

static struct sc_kernel product(char transa, char transb, double beta)
{
    return (struct sc_kernel){.op = SC_OP_GEMM, .type = SC_D, .transa = transa, .transb = transb, .m = N, .n = N + 20,
                              .k = N - 50, .alpha = {1, 0}, .beta = {beta, 0}};
}

static struct sc_kernel left(enum sc_op op, char side)
{
    return (struct sc_kernel){.op = op, .type = SC_D, .side = side, .uplo = 'L', .transa = 'N', .diag = 'N', .m = N,
                              .n = N, .alpha = {1, 0}, .beta = {1, 0}};
}

struct seen {
    uint64_t together, faults, home, up;
};

static struct seen look(void)
{
    return (struct seen){sc_stats.together, sc_stats.faults_read + sc_stats.faults_write, sc_stats.bytes[SC_D2H],
                         sc_stats.bytes[SC_H2D]};
}

/* --- numbers, and what moves -------------------------------------------------------------------------------------- */

/* Arrays stay until the end: the pager may still be reading ahead of the last fault. */
static struct call kept[64];
static int keeps;

static void test_one(struct sc_kernel kernel, int64_t pad, const char *what)
{
    struct call *c = &kept[keeps++];
    struct seen before, after;
    bool done;

    make(c, kernel, pad);
    before = look();
    done = offload(c);
    after = look();
    expect(c);
    tap_ok(done && after.together == before.together + 1 && is_right(c), "%s, columns %d elements apart: done together",
           what, N + (int)pad);
    if (!tap_ok(after.faults == before.faults && after.home == before.home, "without a fault, nothing goes to and fro"))
        tap_diag("%d faults, %d bytes home", (int)(after.faults - before.faults), (int)(after.home - before.home));
}

static void test_numbers(void)
{
    static const int64_t pads[] = {0, 1, 212}; /* 212: columns of a whole page */

    for (int i = 0; i < 3; i++) {
        test_one(product('N', 'N', 1), pads[i], "A B");
        test_one(product('T', 'T', 1), pads[i], "A^T B^T");
        test_one(product('N', 'N', 0), pads[i], "A B, C overwritten");
        test_one(left(SC_OP_SYMM, 'L'), pads[i], "a symmetric A");
        test_one(left(SC_OP_TRMM, 'L'), pads[i], "a triangular one");
        test_one(left(SC_OP_TRSM, 'L'), pads[i], "a solve");
    }
}

/* The host's columns of B and C stay at home. (A column of C is a page: no page has columns of two sides.) */
static void test_bytes(void)
{
    enum { PAGE = 512 };
    struct sc_kernel kernel = product('N', 'N', 1);
    double matrices = sizeof(double) * PAGE * (double)(N - 50), columns = sizeof(double) * (double)(PAGE + N - 50);
    struct seen before;
    struct call c;
    double up;

    kernel.m = PAGE;
    make(&c, kernel, 0);
    before = look();
    offload(&c);
    up = (double)(look().up - before.up);
    tap_ok(up > matrices && up < matrices + 0.75 * columns * (N + 20), "30%% of C and B are not sent: %g of %g bytes",
           up, matrices + columns * (N + 20));
    offload(&c);
    tap_ok(look().together == before.together + 2 && (double)(look().up - before.up) == up,
           "nor the next time, when nothing is sent any more");
    expect(&c);
    expect(&c);
    tap_ok(is_right(&c), "C += A B, twice");
    release(&c);
}

/* --- when it does not --------------------------------------------------------------------------------------------- */

static void test_not(void)
{
    struct call first, second;
    struct seen before;
    double *own;

    make(&first, left(SC_OP_SYMM, 'R'), 0);
    before = look();
    tap_ok(offload(&first) && look().together == before.together, "not where the columns depend on each other");
    make(&second, product('N', 'N', 0), 0);
    sc_config.host_share = 0;
    offload(&second); /* C is on devices */
    sc_config.host_share = 30;
    first.kernel = second.kernel, first.kernel.k = N + 20, first.kernel.ldb = N + 20;
    own = first.array[0], first.array[0] = second.array[2], first.kernel.lda = N;
    free(first.array[1]), free(first.array[2]);
    first.array[1] = calloc((N + 20) * (N + 20), sizeof(double));
    first.array[2] = calloc(N * (N + 20), sizeof(double));
    tap_ok(offload(&first) && look().together == before.together, "nor where an operand would have to come home");
    tap_ok(look().home == before.home, "which it does not");
    expect(&second);
    tap_ok(is_right(&second), "its values are there");
    first.array[0] = own;
    release(&first);
    release(&second);
}

/* --- again and again ---------------------------------------------------------------------------------------------- */

/* New shares in each round, with accesses of the CPU and further calls in between. */
static void test_again(int64_t pad)
{
    struct call c;
    bool right = true;
    struct seen before = look();

    make(&c, product('N', 'N', 1), pad);
    for (int i = 0; i < 12; i++) {
        sc_config.host_share = i * 37 % 90;
        offload(&c);
        expect(&c);
        if (i % 3 == 2) {
            int64_t at = (i * 1117) % (int64_t)c.elements[2];

            right &= c.array[2][at] == c.want[2][at];
            c.array[2][at] = c.want[2][at] = i;
        }
        if (i % 2)
            right &= is_right(&c);
    }
    sc_config.host_share = 30;
    tap_ok(right && is_right(&c) && look().together > before.together + 2, "sums with other shares and writes between");
    release(&c);
}

/* --- devices fail ------------------------------------------------------------------------------------------------- */

static void test_failures(int devices)
{
    int wrong = 0, rounds = 0;

    for (unsigned nth = 1; nth <= 12; nth++)
        for (int lost = 0; lost < 2; lost++) {
            struct call c;
            bool done;

            make(&c, product('N', 'N', 1), 1);
            sc_emu_inject(devices - 1, (struct sc_emu_fault){.kind = SC_EMU_ANY, .nth = nth, .lost = lost});
            done = offload(&c);
            expect(&c);
            wrong += !done || !is_right(&c);
            rounds++;
            release(&c);
            sc_coherence_stop();
            env_start("emu:h200x8:3", 0);
        }
    tap_ok(!wrong, "operations of a device that fail, one after the other: %d of %d results are wrong", wrong, rounds);
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

static double *shared;

static void *multiply(void *seed)
{
    struct call c;
    double *own;
    bool right = true;

    make(&c, product('N', 'N', 1), (int64_t)(intptr_t)seed);
    own = c.array[0];
    c.array[0] = shared;
    for (int i = 0; i < 6; i++) {
        right &= offload(&c);
        expect(&c);
    }
    right &= is_right(&c);
    c.array[0] = own;
    release(&c);
    return (void *)(intptr_t)right;
}

static void test_threads(void)
{
    pthread_t thread[3];
    struct call c;
    bool right = true;
    void *result;

    make(&c, product('N', 'N', 1), 0);
    shared = c.array[0];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread[i], NULL, multiply, (void *)(intptr_t)0))
            exit(99);
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], &result);
        right &= result != NULL;
    }
    tap_ok(right, "threads whose calls read one A");
    release(&c);
}

int main(void)
{
    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    sc_config.host_share = 30;
    sc_config.push = 1;
    for (int devices = 1; devices <= 3; devices += 2) {
        char name[32];

        snprintf(name, sizeof name, "emu:h200x8:%d", devices);
        devices = env_start(name, 0) < devices ? 3 : devices;
        sc_directory_limits.unit_bytes = 4096;
        tap_diag("%d devices", sc_coherence_devices());
        test_numbers();
        test_bytes();
        test_not();
        test_again(0);
        test_again(1);
        test_threads();
        while (keeps)
            release(&kept[--keeps]);
        if (env_is_emulated() && devices == 3)
            test_failures(devices);
        sc_coherence_stop();
    }
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
