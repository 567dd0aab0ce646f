/* Products into one triangle (syrk and its kind) with beta = 0, on a C valid only on the host. Asserts that of C
 * at most the parts of sectors that must survive are uploaded. The second triangle and the memory around C must keep
 * their values. The named triangle holds NaN and must not be read. Values are small integers: results are exact in any
 * order. */
#include <math.h>

#include "base/config.h"
#include "blas/blas.h"
#include "tests/blas_random.h"
#include "tests/coherence_env.h"

#define N 500 /* order of C, the block at (OFF, OFF) of an array of LD x LD */
#define K 40
#define OFF 6
#define LD 512

void *reference_symbol(const char *name)
{
    return env_symbol(name);
}

struct arrays {
    void *a, *b, *c, *want;
    size_t elem, bytes; /* of an element; of the array around C */
};

static double value(int64_t i, int64_t modulus) { return (double)(i * 7 % modulus) - (double)(modulus / 2); }

static void put(enum sc_type type, void *array, int64_t at, double re, double im)
{
    switch (type) {
    case SC_S: ((float *)array)[at] = (float)re; break;
    case SC_D: ((double *)array)[at] = re; break;
    case SC_C: ((float *)array)[2 * at] = (float)re, ((float *)array)[2 * at + 1] = (float)im; break;
    default: ((double *)array)[2 * at] = re, ((double *)array)[2 * at + 1] = im;
    }
}

static void *filled(enum sc_type type, int64_t n, int64_t modulus)
{
    void *array = malloc((size_t)n * sc_type_bytes(type));

    for (int64_t i = 0; i < n; i++)
        put(type, array, i, value(i, modulus), value(i + 3, modulus));
    return array;
}

/* Fills the triangle to be overwritten with NaN. */
static void spoil(const struct sc_kernel *k, void *array)
{
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < N; i++)
            if (k->uplo == 'L' ? i >= j : i <= j)
                put(k->type, array, OFF + i + (OFF + j) * LD, NAN, NAN);
}

static void make(struct arrays *x, struct sc_kernel *k)
{
    x->elem = sc_type_bytes(k->type);
    x->bytes = LD * LD * x->elem;
    x->a = filled(k->type, N * K, 5);
    x->b = filled(k->type, N * K, 7);
    x->c = filled(k->type, LD * LD, 11);
    x->want = filled(k->type, LD * LD, 11);
    k->a = x->a;
    k->b = x->b;
    spoil(k, x->c);
    spoil(k, x->want);
}

static void *at_c(const struct arrays *x, void *array)
{
    return (char *)array + (size_t)(OFF + OFF * LD) * x->elem;
}

/* Compares as numbers (zeros may differ in sign). NaN is left only if part of the triangle was not overwritten. */
static bool equal(const struct arrays *x, enum sc_type type)
{
    bool single = type == SC_S || type == SC_C;
    size_t n = x->bytes / (single ? sizeof(float) : sizeof(double));

    for (size_t i = 0; i < n; i++)
        if (single ? ((float *)x->c)[i] != ((float *)x->want)[i] : ((double *)x->c)[i] != ((double *)x->want)[i])
            return false;
    return true;
}

/* Runs the call twice: the second time C is resident. */
static void test(struct sc_kernel k, int devices)
{
    struct arrays x;
    uint64_t before, first, again;
    bool two = k.op == SC_OP_SYR2K || k.op == SC_OP_HER2K || k.op == SC_OP_GEMMT, done, right;

    make(&x, &k);
    k.c = at_c(&x, x.c);
    before = sc_stats.bytes[SC_H2D];
    done = sc_blas_offload(1, &k, false, NULL);
    first = sc_stats.bytes[SC_H2D] - before;
    done &= sc_blas_offload(1, &k, false, NULL);
    again = sc_stats.bytes[SC_H2D] - before - first;
    k.c = at_c(&x, x.want);
    sc_inside_enter();
    sc_device_kernel_host(reference_symbol, &k);
    sc_inside_leave();
    right = equal(&x, k.type);
    /* A and B may go to every device. */
    first -= (uint64_t)(N * K) * x.elem * (two ? 2 : 1);
    tap_ok(done && right && again == 0 && first * 100 <= x.bytes * 56,
           "%s %c%c%c, type %d, %d devices: right, %llu bytes of %zu of C uploaded, %llu in a second call",
           sc_op_name(k.op), k.uplo, k.transa, k.transb ? k.transb : '-', k.type, devices, (unsigned long long)first,
           x.bytes, (unsigned long long)again);
    free(x.a), free(x.b), free(x.c), free(x.want);
}

static void test_all(int devices)
{
    static const struct {
        enum sc_op op;
        enum sc_type type[2];
        const char *trans; /* of A; GEMMT: of A and B */
    } cases[] = {{SC_OP_SYRK, {SC_S, SC_D}, "N"},  {SC_OP_SYRK, {SC_C, SC_Z}, "T"},  {SC_OP_HERK, {SC_C, SC_Z}, "C"},
                 {SC_OP_SYR2K, {SC_D, SC_Z}, "T"}, {SC_OP_SYR2K, {SC_S, SC_C}, "N"}, {SC_OP_HER2K, {SC_Z, SC_C}, "N"},
                 {SC_OP_GEMMT, {SC_D, SC_C}, "NN"}, {SC_OP_GEMMT, {SC_S, SC_Z}, "TC"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int v = 0; v < 4; v++) {
            const char *trans = cases[i].trans;
            char across = cases[i].op == SC_OP_GEMMT ? trans[1] : trans[0] == 'N' ? 'T' : 'N';
            struct sc_kernel k = {.op = cases[i].op, .type = cases[i].type[v >> 1], .uplo = v & 1 ? 'U' : 'L',
                                  .transa = trans[0], .transb = trans[1], .n = N, .k = K, .alpha = {1, 0},
                                  .lda = trans[0] == 'N' ? N : K, .ldb = across == 'N' ? K : N, .ldc = LD};

            test(k, devices);
        }
}

int main(void)
{
    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    for (int devices = 1; devices <= 3; devices++) {
        char machine[32];

        snprintf(machine, sizeof machine, "emu:h200x8:%d", devices);
        env_start(machine, 0);
        test_all(devices);
        sc_coherence_stop();
    }
    tap_ok(sc_coherence_broken() == 0, "no invariant broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
