/* Every operation on 1, 2 and 4 devices. Asserts that every device takes part, and that the result equals the host's.
 * Calls with banded and packed matrices run on the device that holds the matrix, otherwise on the host; the matrix is
 * never uploaded for a single product. Values are small integers: results are exact. */
#include "base/config.h"
#include "blas/blas.h"
#include "tests/blas_definition.h"
#include "tests/blas_random.h"
#include "tests/coherence_env.h"

enum { N = 192, LONG = 40000 };

static const struct sc_device_ops *real;
static unsigned launched[SC_DEVICES_MAX];

static enum sc_status count_launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    __atomic_fetch_add(&launched[device], 1, __ATOMIC_RELAXED);
    return real->launch(device, stream, kernel);
}

/* As env_start, with the launches counted. */
static int start(const char *emulated)
{
    static struct sc_device_ops counted;
    int count = 0;

    if (!env_is_emulated())
        emulated = getenv("SEMCACHE_TEST_DEVICE");
    if (sc_device_open(&env_host, emulated, &real, &count) != SC_OK || !real)
        tap_skip_all_for_gpu("no such device here");
    counted = *real;
    counted.launch = count_launch;
    if (sc_coherence_start(&counted, count, &env_host) != SC_OK || sc_host_faults_start(&env_callbacks) != SC_OK)
        tap_ok(0, "start on %s", emulated);
    sc_directory_limits.unit_bytes = 64; /* small matrices in several tiles */
    return count;
}

void *reference_symbol(const char *name)
{
    return env_symbol(name);
}

/* --- operands ---------------------------------------------------------------------------------------------------- */

struct call {
    struct sc_kernel kernel;
    double *array[3], *want[3];
    size_t elements[3];
    double result[2][2];
};

static bool is_solve(enum sc_op op)
{
    return op == SC_OP_TRSM || op == SC_OP_TRSV || op == SC_OP_TBSV || op == SC_OP_TPSV;
}

/* The inverse of a triangle has small integers: see blas_calls.c. */
static double of_triangle(int64_t row, int64_t col)
{
    return row == col ? 1 : row % 2 && col % 2 == 0 ? (double)((row + 3 * col) % 3 - 1) : 0;
}

static void fill(struct call *c, int slot)
{
    const struct sc_kernel *k = &c->kernel;

    for (size_t i = 0; i < c->elements[slot]; i++)
        c->array[slot][i] = (double)((i * 7 + (size_t)slot) % 5) - 2;
    for (int64_t col = 0; slot == 0 && is_solve(k->op) && col < k->n; col++)
        for (int64_t row = 0; row < k->n; row++) {
            int64_t at = definition_index(k, k->lda, row, col);

            if (at >= 0)
                c->array[0][at] = of_triangle(row, col);
        }
    memcpy(c->want[slot], c->array[slot], c->elements[slot] * sizeof(double));
}

static void make(struct call *c)
{
    struct slot_shape shape;

    for (int i = 0; i < 3; i++) {
        if (!slot_shape(&c->kernel, i, &shape))
            continue;
        *slot_ld(&c->kernel, i) = shape.vector ? 1 : shape.rows;
        c->elements[i] = (size_t)(shape.rows * (shape.vector ? 1 : shape.cols));
        c->array[i] = malloc(c->elements[i] * sizeof(double));
        c->want[i] = malloc(c->elements[i] * sizeof(double));
    }
    for (int i = 0; i < 3; i++)
        if (c->array[i])
            fill(c, i);
}

static struct sc_kernel place(struct call *c, double *const *arrays, double *result)
{
    struct sc_kernel k = c->kernel;

    for (int i = 0; i < 3; i++)
        *slot_pointer(&k, i) = arrays[i];
    k.result = result;
    return k;
}

static void release(struct call *c)
{
    for (int i = 0; i < 3; i++)
        free(c->array[i]), free(c->want[i]);
}

static bool call(struct call *c)
{
    struct sc_kernel k = place(c, c->array, c->result[0]);

    return sc_blas_offload(1, &k, false, NULL);
}

static bool is_right(struct call *c)
{
    struct sc_kernel k = place(c, c->want, c->result[1]);
    bool right = true;

    sc_inside_enter();
    sc_device_kernel_host(reference_symbol, &k);
    sc_inside_leave();
    for (int i = 0; i < 3; i++)
        for (size_t at = 0; c->array[i] && at < c->elements[i]; at++)
            right &= c->array[i][at] == c->want[i][at];
    return right && (!sc_op_is_reduction(k.op) || k.op == SC_OP_NRM2 ||
                     memcmp(c->result[0], c->result[1], sizeof(double)) == 0);
}

/* --- on all devices ---------------------------------------------------------------------------------------------- */

static int working(int devices)
{
    int count = 0;

    for (int i = 0; i < devices; i++)
        count += launched[i] > 0;
    return count;
}

static bool on_all(const struct sc_kernel *kernel, int devices)
{
    struct call c = {.kernel = *kernel};
    bool done, right;
    int count;

    make(&c);
    memset(launched, 0, sizeof launched);
    done = call(&c);
    count = working(devices);
    right = is_right(&c);
    release(&c);
    if (!done || !right || count != devices)
        tap_diag("%s side %c uplo %c trans %c diag %c: %s, %s, by %d of %d devices", sc_op_name(kernel->op),
                 kernel->side, kernel->uplo, kernel->transa, kernel->diag, done ? "offloaded" : "left to the host",
                 right ? "right" : "wrong", count, devices);
    return done && right && count == devices;
}

/* Every combination of letters; unused letters make no difference. (dsdot has type SC_S: read as SC_S, the numbers of
 * `fill` are small multiples of 1/8 and zeros.) */
static void all_letters(enum sc_op op, int devices)
{
    struct sc_kernel k = {.op = op, .type = sc_op_has_type(op, SC_D) ? SC_D : SC_S, .m = N, .n = N, .k = N,
                          .alpha = {1, 0}, .beta = {1, 0}, .param = {-1, 1, 1, -1, 1}, .transb = 'N'};
    int bad = 0;

    if (sc_op_level(op) == 1)
        k.n = LONG;
    for (int i = 0; i < (sc_op_level(op) == 1 ? 1 : 16); i++) {
        k.side = "LR"[i & 1];
        k.uplo = "UL"[i >> 1 & 1];
        k.transa = "NT"[i >> 2 & 1];
        if (k.transa == 'T' && (op == SC_OP_HERK || op == SC_OP_HER2K))
            k.transa = 'C';
        k.diag = "NU"[i >> 3 & 1];
        bad += !on_all(&k, devices);
    }
    tap_ok(!bad, "%s: right, and all of %d devices work on it", sc_op_name(op), devices);
}

/* --- banded and packed ------------------------------------------------------------------------------------------- */

/* In auto mode; afterwards a call that must run on the device brings the matrix there, and the first call is repeated.
 * On emulated devices only: the speed of real devices at these sizes is unknown. */
static void in_place(enum sc_op op)
{
    struct sc_kernel kernel = {.op = op, .type = SC_D, .m = LONG, .n = LONG, .k = 20, .kl = 10, .ku = 10,
                               .alpha = {1, 0}, .beta = {1, 0}, .transa = 'N', .uplo = 'L', .diag = 'N'};
    bool packed = sc_op_is_packed(op), cold, brought, there, right = true;
    uint64_t up;

    if (packed)
        kernel.m = kernel.n = 1500;
    struct call c = {.kernel = kernel};

    make(&c);
    sc_config.offload = SC_OFFLOAD_AUTO;
    up = sc_stats.bytes[SC_H2D];
    cold = call(&c);
    up = sc_stats.bytes[SC_H2D] - up;
    right &= cold || (fill(&c, 0), true);
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    brought = call(&c);
    right &= is_right(&c);
    sc_config.offload = SC_OFFLOAD_AUTO;
    there = call(&c);
    right &= is_right(&c);
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    tap_ok(!cold && up == 0 && brought && there && right,
           "%s: on the host (%d, %llu bytes uploaded), on the device when the matrix is there (%d, %d)", sc_op_name(op),
           !cold, (unsigned long long)up, brought, there);
    release(&c);
}

int main(void)
{
    static const enum sc_op whole[] = {SC_OP_GBMV, SC_OP_SBMV, SC_OP_TBMV, SC_OP_TBSV, SC_OP_SPMV, SC_OP_TPMV,
                                       SC_OP_TPSV};
    unsigned broken = sc_coherence_broken();

    env_init();
    for (int devices = 1; devices <= 4; devices *= 2) {
        char machine[32];
        int count;

        snprintf(machine, sizeof machine, "emu:h200x8:%d", devices);
        count = start(machine);
        sc_config.offload = SC_OFFLOAD_ALWAYS;
        for (int op = 0; op < SC_OPS; op++)
            if (!sc_op_is_banded((enum sc_op)op) && !sc_op_is_packed((enum sc_op)op))
                all_letters((enum sc_op)op, count);
        for (size_t i = 0; i < sizeof whole / sizeof *whole && count == 1 && env_is_emulated(); i++)
            in_place(whole[i]);
        sc_coherence_stop();
        if (!env_is_emulated())
            break;
    }
    tap_ok(broken == sc_coherence_broken(), "no invariant broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
