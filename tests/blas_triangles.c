/* Routines that use one triangle of a matrix, and the bytes that travel.
 *
 * Products into a triangle of C (syrk and its kind) with beta = 0, on a C valid only on the host: of C at most the
 * parts of sectors that must survive are uploaded. On one device these are blocks on the diagonal, and the triangle
 * alone goes home. The second triangle and the memory around C must keep their values. The named triangle holds NaN
 * and must not be read.
 *
 * Products and solves with a triangle of A (symm, trmm, ...) on one device: the triangle alone is uploaded. The second
 * triangle holds NaN.
 *
 * Values are small integers: results are exact in any order. */
#include <math.h>

#include "base/config.h"
#include "blas/blas.h"
#include "coherence/protocol.h"
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

/* Bytes of the array around C, percent, that travel at most. On one device: of a diagonal with blocks of a sector, and
 * of a triangle with such a diagonal. */
static unsigned up_most(int devices) { return devices > 1 ? 56 : 3; }
static unsigned down_most(int devices) { return devices > 1 ? 100 : 51; }

/* Bytes. The pager may be reading ahead. */
static uint64_t moved(enum sc_transfer way) { return __atomic_load_n(&sc_stats.bytes[way], __ATOMIC_RELAXED); }

/* Runs the call twice: the second time C is resident. */
static void test(struct sc_kernel k, int devices)
{
    struct arrays x;
    uint64_t before, first, again, down = moved(SC_D2H);
    bool two = k.op == SC_OP_SYR2K || k.op == SC_OP_HER2K || k.op == SC_OP_GEMMT, done, right;

    make(&x, &k);
    k.c = at_c(&x, x.c);
    before = moved(SC_H2D);
    done = sc_blas_offload(1, &k, false, NULL);
    first = moved(SC_H2D) - before;
    done &= sc_blas_offload(1, &k, false, NULL);
    again = moved(SC_H2D) - before - first;
    k.c = at_c(&x, x.want);
    sc_inside_enter();
    sc_device_kernel_host(reference_symbol, &k);
    sc_inside_leave();
    right = equal(&x, k.type);
    down = moved(SC_D2H) - down;
    /* A and B may go to every device. */
    first -= (uint64_t)(N * K) * x.elem * (two ? 2 : 1);
    tap_ok(done && right && again == 0 && first * 100 <= x.bytes * up_most(devices) &&
               down * 100 <= x.bytes * down_most(devices),
           "%s %c%c%c, type %d, %d devices: right, %llu bytes of %zu of C uploaded, %llu in a second call, %llu home",
           sc_op_name(k.op), k.uplo, k.transa, k.transb ? k.transb : '-', k.type, devices, (unsigned long long)first,
           x.bytes, (unsigned long long)again, (unsigned long long)down);
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

/* --- what comes after --------------------------------------------------------------------------------------------- */

static double *doubles(int64_t n, int64_t modulus) { return filled(SC_D, n, modulus); }

/* The program's call on the devices and, with the same values, on the host; the host's result is in `want`. */
static bool both(struct sc_kernel k, void *result, void *want)
{
    bool done = sc_blas_offload(1, &k, false, NULL);

    if (k.c == result)
        k.c = want;
    else
        k.b = want;
    sc_inside_enter();
    sc_device_kernel_host(reference_symbol, &k);
    sc_inside_leave();
    return done;
}

/* beta = 1: the triangle of C alone goes up, and comes home. Then a product reads all of C on the device: the second
 * triangle follows, once. Then the CPU writes a column, and the update is repeated. */
static void test_sequence(char uplo)
{
    double *a = doubles(N * K, 5), *c = doubles(N * N, 11), *want = doubles(N * N, 11), *y = doubles(N * K, 3),
           *y_want = doubles(N * K, 3);
    size_t whole = (size_t)N * N * sizeof *c, thin = (size_t)N * K * sizeof *a;
    struct sc_kernel rank = {.op = SC_OP_SYRK, .type = SC_D, .uplo = uplo, .transa = 'N', .n = N, .k = K,
                             .alpha = {1}, .beta = {1}, .a = a, .lda = N, .c = c, .ldc = N};
    struct sc_kernel product = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = N, .n = K, .k = N,
                                .alpha = {1}, .beta = {0}, .a = c, .lda = N, .b = a, .ldb = N, .c = y, .ldc = N};
    struct sc_kernel on_host = product;
    uint64_t before = moved(SC_H2D), triangle, rest, again, down = moved(SC_D2H);
    bool done = both(rank, c, want), right;

    triangle = moved(SC_H2D) - before - thin;
    on_host.a = want, on_host.c = y_want;
    before = moved(SC_H2D);
    done &= sc_blas_offload(1, &product, false, NULL);
    rest = moved(SC_H2D) - before;
    done &= sc_blas_offload(1, &product, false, NULL);
    again = moved(SC_H2D) - before - rest;
    sc_inside_enter();
    sc_device_kernel_host(reference_symbol, &on_host);
    sc_inside_leave();
    right = memcmp(y, y_want, thin) == 0 && memcmp(c, want, whole) == 0;
    down = moved(SC_D2H) - down;
    for (int64_t i = 0; i < N; i++)
        c[7 * N + i] = want[7 * N + i] = (double)i;
    done &= both(rank, c, want);
    right &= memcmp(c, want, whole) == 0;
    tap_ok(done && right && triangle * 100 <= whole * 52 && triangle + rest == whole && again == 0 &&
               down <= (whole + thin) / 100 * 101,
           "%c: right, %llu bytes up with the update, %llu with a product with all of C, %llu after that; %llu home",
           uplo, (unsigned long long)triangle, (unsigned long long)rest, (unsigned long long)again,
           (unsigned long long)down);
    free(a), free(c), free(want), free(y), free(y_want);
}

/* C is read by the CPU in windows, a page at a time from the end to the beginning, and evicted in between. */
static void test_windows(char uplo)
{
    double *a = doubles(N * K, 5), *c = doubles(N * N, 11), *want = doubles(N * N, 11);
    struct sc_kernel k = {.op = SC_OP_SYRK, .type = SC_D, .uplo = uplo, .transa = 'T', .n = N, .k = K, .alpha = {1},
                          .beta = {0}, .a = a, .lda = K, .c = c, .ldc = N};
    uint64_t down = moved(SC_D2H);
    bool done = both(k, c, want), right = true;

    for (int64_t i = N * N - 1; i >= 0; i -= 300)
        right &= c[i] == want[i];
    right &= memcmp(c, want, (size_t)N * N * sizeof *c) == 0;
    down = moved(SC_D2H) - down;
    tap_ok(done && right && down * 100 <= (uint64_t)N * N * sizeof *c * 53, "%c: read in windows, %llu bytes home",
           uplo, (unsigned long long)down);
    free(a), free(c), free(want);
}

/* --- triangles that are read -------------------------------------------------------------------------------------- */

/* A with NaN in the second triangle, and a diagonal of ones for exact solves. */
static double *triangle(char uplo)
{
    double *a = doubles(N * N, 3);

    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < N; i++)
            a[i + j * N] = i == j ? 1 : (uplo == 'L') == (i > j) ? a[i + j * N] * (double)((i + j) % 97 == 0) : NAN;
    return a;
}

static void test_read(enum sc_op op, char side, char uplo, char trans)
{
    double *a = triangle(uplo), *b = doubles(N * K, 5), *c = doubles(N * K, 7), *want = doubles(N * K, 7);
    bool symmetric = op == SC_OP_SYMM, left = side == 'L', done;
    struct sc_kernel k = {.op = op, .type = SC_D, .side = side, .uplo = uplo, .transa = trans, .diag = 'N',
                          .m = left ? N : K, .n = left ? K : N, .alpha = {1}, .beta = {1}, .a = a, .lda = N,
                          .b = symmetric ? b : c, .ldb = left ? N : K, .c = symmetric ? c : NULL, .ldc = left ? N : K};
    uint64_t up = moved(SC_H2D);

    done = both(k, c, want);
    up = moved(SC_H2D) - up - (uint64_t)(symmetric + 1) * N * K * sizeof *b;
    tap_ok(done && memcmp(c, want, (size_t)N * K * sizeof *c) == 0 && up * 100 <= (uint64_t)N * N * sizeof *a * 52,
           "%s %c%c%c: right, %llu bytes of A uploaded", sc_op_name(op), side, uplo, symmetric ? '-' : trans,
           (unsigned long long)up);
    free(a), free(b), free(c), free(want);
}

/* --- other routines on the same matrices -------------------------------------------------------------------------- */

/* On several devices a product and a rank update want their matrices distributed in two ways. The program writes A
 * between the calls, and reads C. */
static void test_sequence_of_routines(int devices)
{
    double *a = doubles(N * N, 5), *b = doubles(N * N, 3), *c = doubles(N * N, 11), *want = doubles(N * N, 11);
    struct sc_kernel product = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = N, .n = N, .k = N,
                                .alpha = {1}, .a = a, .lda = N, .b = b, .ldb = N, .c = c, .ldc = N};
    struct sc_kernel rank = {.op = SC_OP_SYRK, .type = SC_D, .uplo = 'L', .transa = 'N', .n = N, .k = N, .alpha = {1},
                             .a = a, .lda = N, .c = c, .ldc = N};
    uint64_t anew = sc_stats.reshapes;
    bool done = true, right = true;

    for (int i = 0; i < 4; i++) {
        a[i * 1000] = b[i * 700] = i;
        done &= both(i & 1 ? rank : product, c, want);
        right &= memcmp(c, want, (size_t)N * N * sizeof *c) == 0;
    }
    anew = sc_stats.reshapes - anew;
    tap_ok(done && right && (anew > 0) == (devices > 1), "products and rank updates in turn: right, %llu matrices anew",
           (unsigned long long)anew);
    free(a), free(b), free(c), free(want);
}

static void test_one_device(void)
{
    for (int v = 0; v < 2; v++) {
        test_sequence(v ? 'U' : 'L');
        test_windows(v ? 'U' : 'L');
    }
    for (int v = 0; v < 8; v++) {
        char side = v & 1 ? 'R' : 'L', uplo = v & 2 ? 'U' : 'L', trans = v & 4 ? 'T' : 'N';

        if (trans == 'N')
            test_read(SC_OP_SYMM, side, uplo, trans);
        test_read(SC_OP_TRMM, side, uplo, trans);
        test_read(SC_OP_TRSM, side, uplo, trans);
    }
}

int main(void)
{
    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    sc_piece_share_least = 1; /* every sector of these small matrices has rows of its own */
    for (int devices = 1; devices <= 3; devices++) {
        char machine[32];

        snprintf(machine, sizeof machine, "emu:h200x8:%d", devices);
        env_start(machine, 0);
        test_all(sc_coherence_devices()); /* of GPUs, all that are named */
        test_sequence_of_routines(sc_coherence_devices());
        if (devices == 1 && env_is_emulated())
            test_one_device();
        sc_coherence_stop();
    }
    tap_ok(sc_coherence_broken() == 0, "no invariant broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
