/* Sequences of calls on the real protocol with emulated devices: each call uses the results of previous calls wherever
 * they are. Asserts right numbers, and that the sequences stay on the devices. A missing transfer would give a wrong
 * number, since emulated devices have separate memory. Values are small integers, so results are exact in any order. */
#include <unistd.h>

#include "base/config.h"
#include "blas/blas.h"
#include "coherence/protocol.h"
#include "tests/blas_random.h"
#include "tests/coherence_env.h"

#define N 300

static double *a, *b, *c, *d, *want;

void *reference_symbol(const char *name)
{
    return env_symbol(name);
}

static void on_host(struct sc_kernel k)
{
    sc_inside_enter();
    sc_device_kernel_host(reference_symbol, &k);
    sc_inside_leave();
}

static int refused;

static bool on_devices(struct sc_kernel k)
{
    bool done = sc_blas_offload(1, &k, false, NULL);

    refused += !done;
    return done;
}

static void run(bool reference, struct sc_kernel k)
{
    if (reference)
        on_host(k);
    else
        on_devices(k);
}

static double *array(int64_t n, int64_t modulus)
{
    double *p = malloc((size_t)n * sizeof *p);

    for (int64_t i = 0; i < n; i++)
        p[i] = (double)(i * 7 % modulus) - (double)(modulus / 2);
    return p;
}

static bool equal(const double *x, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (x[i] != y[i]) {
            tap_diag("element %lld: %g, not %g", (long long)i, x[i], y[i]);
            return false;
        }
    return true;
}

static struct sc_kernel gemm(double *p, double *q, double *r, double beta)
{
    return (struct sc_kernel){.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = N, .n = N, .k = N,
                              .alpha = {1, 0}, .beta = {beta, 0}, .a = p, .b = q, .c = r, .lda = N, .ldb = N, .ldc = N};
}

static struct sc_kernel gemv(double *m)
{
    static double x[N], y[N];

    return (struct sc_kernel){.op = SC_OP_GEMV, .type = SC_D, .transa = 'N', .m = N, .n = N, .alpha = {1, 0}, .a = m,
                              .b = x, .c = y, .lda = N, .ldb = 1, .ldc = 1};
}

static struct sc_kernel vectors(enum sc_op op, double alpha, double *x, double *y, int64_t n, void *result)
{
    return (struct sc_kernel){.op = op, .type = SC_D, .n = n, .alpha = {alpha, 0}, .a = x, .b = y, .lda = 1, .ldb = 1,
                              .result = result};
}

static void make_arrays(void)
{
    a = array(N * N, 5);
    b = array(N * N, 7);
    c = array(N * N, 11);
    d = array(N * N, 3);
    want = array(N * N, 3);
}

static void free_arrays(void)
{
    free(a), free(b), free(c), free(d), free(want);
}

/* D = A B; C = A C (through a second product's array); D += C as one long vector; reductions over D. */
static void test_abac(const char *machine, bool rows_first)
{
    double *e = array(N * N, 3), *copy = array(N * N, 13), sum, want_sum, norm, want_norm;
    int64_t index, want_index;
    bool all = true;

    make_arrays();
    if (rows_first) { /* the first call cuts the matrices into bands of rows */
        all &= on_devices(gemv(d));
        all &= on_devices(gemv(e));
    }
    all &= on_devices(gemm(a, b, d, 0));
    all &= on_devices(gemm(a, c, e, 0));
    all &= on_devices(vectors(SC_OP_AXPY, 2, e, d, N * N, NULL));
    all &= on_devices(vectors(SC_OP_COPY, 0, d, copy, N * N, NULL));
    all &= on_devices(vectors(SC_OP_DOT, 0, d, e, N * N, &sum));
    all &= on_devices(vectors(SC_OP_NRM2, 0, d, NULL, N * N, &norm));
    all &= on_devices(vectors(SC_OP_IAMAX, 0, d, NULL, N * N, &index));
    all &= on_devices(vectors(SC_OP_SCAL, -1, copy, NULL, N * N, NULL));
    tap_ok(all, "%s: two products and operations on N * N elements stay on the devices", machine);
    on_host(gemm(a, b, want, 0));
    on_host(gemm(a, c, b, 0));
    on_host(vectors(SC_OP_AXPY, 2, b, want, N * N, NULL));
    on_host(vectors(SC_OP_DOT, 0, want, b, N * N, &want_sum));
    on_host(vectors(SC_OP_NRM2, 0, want, NULL, N * N, &want_norm));
    on_host(vectors(SC_OP_IAMAX, 0, want, NULL, N * N, &want_index));
    tap_ok(equal(d, want, N * N), "%s: D = A B + 2 A C", machine);
    on_host(vectors(SC_OP_SCAL, -1, want, NULL, N * N, NULL));
    tap_ok(equal(copy, want, N * N), "%s: its negated copy", machine);
    tap_ok(sum == want_sum && norm > want_norm * (1 - 1e-12) && norm < want_norm * (1 + 1e-12) && index == want_index,
           "%s: dot, norm and first maximum of N * N elements", machine);
    free_arrays();
    free(e), free(copy);
}

/* The same matrix by columns, rows, blocks and as a whole, with the CPU in between. */
static void test_blocks(const char *machine)
{
    double *x = array(N, 5), *y = array(N, 9), *want_y = array(N, 9);
    struct sc_kernel mv = {.op = SC_OP_GEMV, .type = SC_D, .transa = 'T', .m = N, .n = N, .alpha = {1, 0},
                           .beta = {1, 0}, .lda = N, .ldb = 1, .ldc = 1, .b = x};
    struct sc_kernel block = gemm(NULL, NULL, NULL, 1), rank = {.op = SC_OP_GER, .type = SC_D, .m = N, .n = N,
                                                               .alpha = {1, 0}, .lda = 1, .ldb = -1, .ldc = N, .a = x};

    make_arrays();
    memcpy(want, a, N * N * sizeof *want);
    refused = 0;
    for (int side = 0; side < 2; side++) {
        double *m = side ? want : a, *v = side ? want_y : y;

        mv.a = m, mv.c = v;
        run(side, mv);
        block.m = N - 77, block.n = N - 131, block.k = 77;
        /* m[77:, 131:] += m[77:, :77] m[:77, 131:] */
        block.a = m + 77, block.b = m + 131 * N, block.c = m + 77 + 131 * N;
        run(side, block);
        m[5 + 5 * N] += 3;
        rank.b = v, rank.c = m;
        run(side, rank);
        run(side, vectors(SC_OP_SWAP, 0, m + 3 * N, m + 200 * N, N, NULL));
        m[N * N - 1] = 2;
        mv.transa = 'N';
        run(side, mv);
        mv.transa = 'T';
    }
    tap_ok(!refused, "%s: all on the devices", machine);
    tap_ok(equal(a, want, N * N), "%s: blocks, rows and columns of one matrix", machine);
    tap_ok(equal(y, want_y, N), "%s: and a vector with it", machine);
    free_arrays();
    free(x), free(y), free(want_y);
}

/* --- the last strips ---------------------------------------------------------------------------------------------- */

#define TALL 8192 /* 256 columns of this height occupy a device */
#define WIDE 2048

/* A machine with devices so slow that a result goes home under its kernels. */
static const char slow_machine[] =
    "semcache-machine 1\ndevice 0-1\nmemory 1G\nbandwidth 1T\nlaunch 1u\ngemm s 20G\ngemm d 10G\n"
    "link host <-> 0-1\nlatency 1u\nbandwidth 50G\nlink 0 <-> 1\nlatency 1u\nbandwidth 100G\n";

static int64_t narrowest; /* width of the narrowest kernel launched */
static const struct sc_device_ops *below;

static enum sc_status note(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    if (kernel->op == SC_OP_GEMM && kernel->k)
        narrowest = kernel->n < narrowest ? kernel->n : narrowest;
    return below->launch(device, stream, kernel);
}

/* C := A B + 2 C, first with the operands on the host, later with every operand but C resident; B plain or
 * transposed. */
static void test_halves(const char *machine, char trans)
{
    const struct sc_device_ops *ops = sc_protocol.ops;
    struct sc_device_ops noting = *ops;
    double *p = array(TALL * 8, 5), *q = array(8 * WIDE, 7), *r = array(TALL * WIDE, 11), *s = array(TALL * WIDE, 11);
    struct sc_kernel k = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = trans, .m = TALL, .n = WIDE, .k = 8,
                          .alpha = {1, 0}, .beta = {2, 0}, .a = p, .b = q, .c = r, .lda = TALL,
                          .ldb = trans == 'N' ? 8 : WIDE, .ldc = TALL};

    below = ops;
    noting.launch = note;
    __atomic_store_n(&sc_protocol.ops, &noting, __ATOMIC_RELEASE); /* the pager reads it */
    refused = 0;
    for (int i = 0; i < 2; i++) {
        narrowest = WIDE;
        k.c = r;
        on_devices(k);
        k.c = s;
        on_host(k);
        tap_ok(!refused && narrowest == 256, "%s %c: the last strip is in halves, down to 256 columns", machine, trans);
    }
    tap_ok(equal(r, s, TALL * WIDE), "%s %c: and the product right", machine, trans);
    __atomic_store_n(&sc_protocol.ops, ops, __ATOMIC_RELEASE); /* the pager reads it */
    free(p), free(q), free(r), free(s);
}

static void test_all_halves(void)
{
    char path[] = "/tmp/semcache-chains-XXXXXX.machine", machine[64];
    int file = mkstemps(path, 8);

    if (file < 0 || write(file, slow_machine, strlen(slow_machine)) < 0)
        tap_ok(0, "a machine file");
    close(file);
    for (int devices = 1; devices <= 2; devices++) {
        snprintf(machine, sizeof machine, "emu:%s:%d", path, devices);
        env_start(machine, 0);
        test_halves(devices == 1 ? "one device" : "two devices", 'N');
        test_halves(devices == 1 ? "one device" : "two devices", 'T');
        sc_coherence_stop();
    }
    unlink(path);
}

int main(void)
{
    static const struct {
        const char *machine;
        uint64_t limit;
        size_t unit;
    } setups[] = {{"emu:h200x8:1", 0, 4096}, {"emu:h200x8:2", 0, 256}, {"emu:h200x8:3", 700000, 256},
                  {"emu:k20x2", 300000, 64}};
    unsigned broken = sc_coherence_broken();

    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++) {
        env_start(setups[i].machine, setups[i].limit);
        sc_directory_limits.unit_bytes = setups[i].unit;
        test_abac(setups[i].machine, false);
        test_abac(setups[i].machine, true);
        test_blocks(setups[i].machine);
        sc_coherence_stop();
    }
    if (env_is_emulated())
        test_all_halves();
    tap_ok(broken == sc_coherence_broken(), "no invariant broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
