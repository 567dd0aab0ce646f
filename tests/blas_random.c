/* Random calls of every offloaded operation against the host BLAS on copies: in every type, with random flags, sizes,
 * leading dimensions and increments. Elements that must not be read hold NaN; elements that must not be written must
 * stay the same to the bit.
 *
 * SEMCACHE_TEST_SEED=N    replays call N (a failure prints its number)
 * SEMCACHE_TEST_CALLS=N   calls for each operation and type */
#include "tests/blas_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "tests/tap.h"

#define MARGIN 5 /* elements before and behind an operand, which no call may touch */

struct buffer {
    char *target, *reference, *before; /* before: the initial contents of the two */
    size_t elements;
};

struct trial {
    struct random random;
    struct sc_kernel kernel;
    struct buffer buffer[3];
    size_t elem;
    bool alias; /* b is a */
    char result[2][16];
};

/* --- elements ---------------------------------------------------------------------------------------------------- */

static bool is_single(enum sc_type t) { return t == SC_S || t == SC_C; }

static double real_at(enum sc_type type, const char *p, size_t i)
{
    float f;
    double d;

    if (is_single(type)) {
        memcpy(&f, p + i * sizeof f, sizeof f);
        return f;
    }
    memcpy(&d, p + i * sizeof d, sizeof d);
    return d;
}

static void real_put(enum sc_type type, char *p, size_t i, double value)
{
    float f = (float)value;

    if (is_single(type))
        memcpy(p + i * sizeof f, &f, sizeof f);
    else
        memcpy(p + i * sizeof value, &value, sizeof value);
}

static int reals(enum sc_type type) { return sc_type_is_complex(type) ? 2 : 1; }

static void put(const struct trial *t, char *memory, int64_t at, double re, double im)
{
    char *p = memory + (size_t)at * t->elem;

    real_put(t->kernel.type, p, 0, re);
    if (reals(t->kernel.type) == 2)
        real_put(t->kernel.type, p, 1, im);
}

static double uniform(struct random *r) { return (double)(random_next(r) >> 11) / 4503599627370496.0 - 1.0; }

/* --- making a call ----------------------------------------------------------------------------------------------- */

static int64_t pick_size(struct random *r, int64_t most)
{
    switch (random_below(r, 12)) {
    case 0: return random_below(r, 3);
    case 1: return 1;
    case 2: case 3: return 1 + random_below(r, most);
    default: return 1 + random_below(r, most / 2);
    }
}

static char pick(struct random *r, const char *letters) { return letters[random_below(r, (int64_t)strlen(letters))]; }

static void pick_scalar(struct random *r, enum sc_type type, double out[2])
{
    static const double values[] = {0, 1, 1, -1, 0.5, -0.75};

    out[0] = values[random_below(r, 6)];
    out[1] = sc_type_is_complex(type) && random_below(r, 2) ? 0.25 : 0;
}

static void pick_flags(struct trial *t)
{
    struct sc_kernel *k = &t->kernel;
    struct random *r = &t->random;
    bool complex_type = sc_type_is_complex(k->type);
    struct sc_kernel rows;
    int64_t most = sc_op_level(k->op) == 1 ? 500 : 60;

    k->transa = pick(r, "NNTC");
    k->transb = pick(r, "NNTC");
    k->side = pick(r, "LR");
    k->uplo = pick(r, "UL");
    k->diag = pick(r, "NU");
    if (k->op == SC_OP_HERK || k->op == SC_OP_HER2K)
        k->transa = pick(r, "NC");
    else if (k->op == SC_OP_SYRK || k->op == SC_OP_SYR2K)
        k->transa = pick(r, complex_type ? "NT" : "NTC");
    k->conj = sc_op_level(k->op) == 2 && complex_type && random_below(r, 4) == 0;
    if (k->conj && (k->op == SC_OP_GEMV || k->op == SC_OP_TRSV || k->op == SC_OP_TRMV))
        k->transa = 'N';
    k->lda = k->ldb = k->ldc = 1;
    if (k->conj && !sc_kernel_rows(k, &rows))
        k->conj = false;
    k->scale_real = k->op == SC_OP_SCAL && complex_type && random_below(r, 2);
    k->m = pick_size(r, most);
    k->n = pick_size(r, most);
    k->k = pick_size(r, most);
    k->kl = random_below(r, 6);
    k->ku = random_below(r, 6);
    if (sc_op_is_banded(k->op))
        k->k = random_below(r, 8);
    pick_scalar(r, k->type, k->alpha);
    pick_scalar(r, k->type, k->beta);
    if (k->op == SC_OP_HERK || k->op == SC_OP_HER || k->op == SC_OP_HPR || k->op == SC_OP_ROT || k->scale_real)
        k->alpha[1] = k->beta[1] = 0;
    if (k->op == SC_OP_HER2K)
        k->beta[1] = 0;
    k->param[0] = (double)random_below(r, 4) - 2;
    for (int i = 1; i < 5; i++)
        k->param[i] = uniform(r);
    if (k->op == SC_OP_TRSM && random_below(r, 8) && k->alpha[0] == 0)
        k->alpha[0] = 1;
}

static void pick_layout(struct trial *t, int slot, const struct slot_shape *s)
{
    static const int64_t increments[] = {1, 1, 1, 1, 2, 3, -1, -2};
    struct random *r = &t->random;
    int64_t *ld = slot_ld(&t->kernel, slot);

    if (s->vector)
        *ld = increments[random_below(r, 8)];
    else
        *ld = (s->rows > 0 ? s->rows : 1) + (random_below(r, 2) ? random_below(r, 4) : 0);
    if (slot_is_packed(&t->kernel, slot))
        *ld = 1;
    if (s->vector && t->kernel.conj && *ld < 0)
        *ld = -*ld;
    /* One-vector operations with negative increments differ between libraries. */
    if (s->vector && (t->kernel.op == SC_OP_SCAL || (t->kernel.op >= SC_OP_NRM2 && t->kernel.op <= SC_OP_IAMIN)) &&
        *ld < 0)
        *ld = -*ld;
}

static bool make_buffer(struct trial *t, int slot, const struct slot_shape *s)
{
    struct buffer *b = &t->buffer[slot];
    int64_t ld = *slot_ld(&t->kernel, slot), extent = s->vector ? s->rows * sc_step(ld) : ld * s->cols;

    b->elements = (size_t)(extent + 2 * MARGIN);
    b->target = target_alloc(b->elements * t->elem, &t->random);
    b->reference = malloc(b->elements * t->elem);
    b->before = malloc(b->elements * t->elem);
    if (!b->target || !b->reference || !b->before)
        return false;
    memset(b->before, 0xff, b->elements * t->elem); /* NaN everywhere else */
    return true;
}

static bool is_triangular(enum sc_op op)
{
    return op == SC_OP_TRMV || op == SC_OP_TRSV || op == SC_OP_TBMV || op == SC_OP_TBSV || op == SC_OP_TPMV ||
           op == SC_OP_TPSV || op == SC_OP_TRMM || op == SC_OP_TRSM;
}

/* Operations that overwrite or update one triangle in slot c. */
static bool is_rank(enum sc_op op)
{
    return op == SC_OP_SYRK || op == SC_OP_HERK || op == SC_OP_SYR || op == SC_OP_HER || op == SC_OP_SYR2 ||
           op == SC_OP_HER2 || op == SC_OP_SPR || op == SC_OP_HPR || op == SC_OP_SPR2 || op == SC_OP_HPR2 ||
           op == SC_OP_SYR2K || op == SC_OP_HER2K || op == SC_OP_GEMMT;
}

static bool is_hermitian_rank(enum sc_op op)
{
    return op == SC_OP_HERK || op == SC_OP_HER2K || op == SC_OP_HER || op == SC_OP_HER2 || op == SC_OP_HPR ||
           op == SC_OP_HPR2;
}

static bool is_symmetric(enum sc_op op)
{
    return op == SC_OP_SYMV || op == SC_OP_HEMV || op == SC_OP_SBMV || op == SC_OP_HBMV || op == SC_OP_SPMV ||
           op == SC_OP_HPMV || op == SC_OP_SYMM || op == SC_OP_HEMM;
}

/* Whether the slot (c, or b of axpby) is updated as beta times its old value plus a term. */
static bool is_scaled_output(enum sc_op op, int slot)
{
    if (op == SC_OP_AXPBY)
        return slot == 1;
    return slot == 2 && sc_op_level(op) > 1 && op != SC_OP_GER && op != SC_OP_GERC && (!is_rank(op) || op > SC_OP_GEMM);
}

/* Row and column of the matrix for the stored element (i, j); false: the element belongs to no row or column. */
static bool unpack(const struct sc_kernel *k, int slot, int64_t i, int64_t j, int64_t *r, int64_t *c)
{
    bool upper = k->uplo == 'U';

    *r = i, *c = j;
    if (slot_is_packed(k, slot)) {
        for (*c = 0; i >= (upper ? *c + 1 : k->n - *c); ++*c)
            i -= upper ? *c + 1 : k->n - *c;
        *r = upper ? i : i + *c;
    } else if (slot == 0 && sc_op_is_banded(k->op)) {
        *r = k->op == SC_OP_GBMV ? i - k->ku + j : upper ? i - k->k + j : i + j;
        return *r >= 0 && *r < (k->op == SC_OP_GBMV ? k->m : k->n);
    }
    return true;
}

/* Sets element (i, j) of a slot; to NaN if the operation must not read the element. */
static void fill_element(struct trial *t, int slot, const struct slot_shape *s, int64_t i, int64_t j)
{
    struct sc_kernel *k = &t->kernel;
    struct random *r = &t->random;
    int64_t ld = *slot_ld(k, slot), at = MARGIN + (s->vector ? i * sc_step(ld) : i + j * ld), row, col;
    double re = uniform(r), im = uniform(r), order = (double)(s->vector ? k->n : s->cols);
    bool matrix = !s->vector || slot_is_packed(k, slot);
    bool half = matrix && slot == 0 && (is_triangular(k->op) || is_symmetric(k->op));
    bool rank = matrix && slot == 2 && is_rank(k->op);

    if (!unpack(k, slot, i, j, &row, &col))
        return;
    if ((half || rank) && row != col && (row < col) != (k->uplo == 'U'))
        return;
    if (half && is_triangular(k->op)) {
        if (row == col && k->diag == 'U')
            return;
        re = row == col ? 2 + re / 2 : re / order;
        im = im / order;
    }
    if (is_hermitian_rank(k->op) && rank && row == col)
        im = 0;
    if (is_scaled_output(k->op, slot) && k->beta[0] == 0 && k->beta[1] == 0)
        return;
    put(t, t->buffer[slot].before, at, re, im);
}

static void fill(struct trial *t, int slot, const struct slot_shape *s)
{
    struct buffer *b = &t->buffer[slot];

    for (int64_t j = 0; j < s->cols; j++)
        for (int64_t i = 0; i < s->rows; i++)
            fill_element(t, slot, s, i, j);
    memcpy(b->target, b->before, b->elements * t->elem);
    memcpy(b->reference, b->before, b->elements * t->elem);
}

/* Whether the two inputs of a product, or the two vectors, may be one array. */
static bool may_alias(const struct trial *t, const struct slot_shape *a, const struct slot_shape *b)
{
    enum sc_op op = t->kernel.op;

    return (op == SC_OP_GEMM || op == SC_OP_SYR2K || op == SC_OP_HER2K || op == SC_OP_GEMMT || op == SC_OP_DOT ||
            op == SC_OP_DOTC) && a->rows == b->rows && a->cols == b->cols;
}

static bool make_trial(struct trial *t, enum sc_op op, enum sc_type type, uint64_t seed)
{
    struct slot_shape shape[3];

    *t = (struct trial){.random = {seed * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252u},
                        .elem = sc_type_bytes(type)};
    t->kernel.op = op;
    t->kernel.type = type;
    target_vary(&t->random);
    pick_flags(t);
    for (int i = 0; i < 3; i++) {
        if (!slot_shape(&t->kernel, i, &shape[i]))
            continue;
        pick_layout(t, i, &shape[i]);
        if (!make_buffer(t, i, &shape[i]))
            return false;
        fill(t, i, &shape[i]);
    }
    t->alias = may_alias(t, &shape[0], &shape[1]) && random_below(&t->random, 3) == 0;
    if (t->alias)
        t->kernel.ldb = t->kernel.lda;
    return true;
}

static void free_trial(struct trial *t)
{
    for (int i = 0; i < 3; i++) {
        target_free(t->buffer[i].target);
        free(t->buffer[i].reference);
        free(t->buffer[i].before);
    }
}

/* --- running and comparing --------------------------------------------------------------------------------------- */

static struct sc_kernel place(struct trial *t, bool target)
{
    struct sc_kernel k = t->kernel;
    size_t skip = MARGIN * t->elem;

    for (int i = 0; i < 3; i++) {
        char *memory = target ? t->buffer[i].target : t->buffer[i].reference;

        *slot_pointer(&k, i) = memory ? memory + skip : NULL;
    }
    if (t->alias)
        k.b = k.a;
    k.result = t->result[target];
    return k;
}

static double tolerance(const struct trial *t)
{
    const struct sc_kernel *k = &t->kernel;
    double depth = (double)(k->m + k->n + k->k) + 8;

    return (is_single(k->type) ? 1.2e-7 : 2.3e-16) * 8 * depth;
}

static bool near_(double a, double b, double bound)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return fabs(a - b) <= bound * (1 + fabs(b));
}

static bool same_buffer(const struct trial *t, int slot)
{
    const struct buffer *b = &t->buffer[slot];
    size_t n = b->elements * (size_t)reals(t->kernel.type), size = t->elem / (size_t)reals(t->kernel.type);

    for (size_t i = 0; i < n && b->target; i++) {
        double x = real_at(t->kernel.type, b->target, i), y = real_at(t->kernel.type, b->reference, i);
        bool untouched = memcmp(b->reference + i * size, b->before + i * size, size) == 0;

        /* An element that the reference left unchanged must be unchanged to the bit, except for a result that happens
         * to be equal. */
        if (untouched && isnan(y) ? memcmp(b->target + i * size, b->before + i * size, size) != 0
                                  : !near_(x, y, tolerance(t))) {
            tap_diag("operand %c, real %zu: %.17g, but the host has %.17g", 'a' + slot, i, x, y);
            return false;
        }
    }
    return true;
}

static bool same_result(const struct trial *t)
{
    enum sc_op op = t->kernel.op;
    enum sc_type type = sc_op_result_type(op, t->kernel.type);

    if (!sc_op_is_reduction(op))
        return true;
    if (sc_op_gives_index(op))
        return memcmp(t->result[0], t->result[1], sizeof(int64_t)) == 0;
    for (int i = 0; i < reals(type); i++)
        if (!near_(real_at(type, t->result[1], (size_t)i), real_at(type, t->result[0], (size_t)i), tolerance(t)))
            return false;
    return true;
}

static void describe(const struct trial *t, uint64_t seed)
{
    const struct sc_kernel *k = &t->kernel;

    tap_diag("SEMCACHE_TEST_SEED=%llu: %c%s trans %c%c side %c uplo %c diag %c m %lld n %lld k %lld (%lld %lld) "
             "ld %lld %lld %lld alpha %g,%g beta %g,%g%s", (unsigned long long)seed, sc_type_letter(k->type),
             sc_op_name(k->op),
             k->transa, k->transb,
             k->side, k->uplo, k->diag, (long long)k->m, (long long)k->n, (long long)k->k, (long long)k->kl,
             (long long)k->ku, (long long)k->lda, (long long)k->ldb, (long long)k->ldc, k->alpha[0],
             k->alpha[1], k->beta[0], k->beta[1],
             t->alias ? ", b is a" : k->conj ? ", conj" : "");
}

/* Returns 1: right on the target; 0: wrong; -1: the target left the call to the host. */
static int one_call(enum sc_op op, enum sc_type type, uint64_t seed)
{
    struct trial t;
    struct sc_kernel target, reference;
    int errors = target_errors(), answer;
    bool good;

    if (!make_trial(&t, op, type, seed))
        return 0;
    target = place(&t, true);
    reference = place(&t, false);
    answer = target_run(&target) ? 1 : -1;
    if (answer < 0) /* the refused call must have changed no element */
        sc_device_kernel_host(reference_symbol, &target);
    sc_device_kernel_host(reference_symbol, &reference);
    good = same_result(&t) && target_errors() == errors;
    for (int i = 0; i < 3; i++)
        good = same_buffer(&t, i) && good;
    if (!good)
        describe(&t, seed);
    free_trial(&t);
    return good ? answer : 0;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* OpenBLAS 0.3.21's scasum is wrong for contiguous vectors on some processors, as the reference and in emulated
 * devices. */
static bool reference_sums(void)
{
    float x[300], sum = 0;
    char result[16];
    struct sc_kernel k = {.op = SC_OP_ASUM, .type = SC_C, .n = 150, .a = x, .lda = 1, .result = result};

    for (int i = 0; i < 300; i++) {
        x[i] = i % 3 ? (float)i : -(float)i;
        sum += (float)i;
    }
    sc_device_kernel_host(reference_symbol, &k);
    return fabs(real_at(SC_C, result, 0) - sum) < 1;
}

int main(void)
{
    uint64_t calls = number("SEMCACHE_TEST_CALLS", 60), only = number("SEMCACHE_TEST_SEED", 0), seed = 0;
    int replayed = 0;

    target_start();
    for (int op = 0; op < SC_OPS; op++)
        for (int type = 0; type < SC_TYPES; type++) {
            bool single = sc_op_is_banded((enum sc_op)op) || sc_op_is_packed((enum sc_op)op); /* only in one tile */
            int bad = 0, offloaded = 0;

            if (!sc_op_has_type((enum sc_op)op, (enum sc_type)type)) {
                seed += calls;
                continue;
            }
            if (op == SC_OP_ASUM && type == SC_C && !only && !reference_sums()) {
                tap_ok(1, "casum # SKIP the host BLAS computes it wrongly");
                seed += calls;
                continue;
            }
            for (uint64_t i = 0; i < calls; i++) {
                int answer;

                if (only && only != ++seed)
                    continue;
                seed += !only;
                answer = one_call((enum sc_op)op, (enum sc_type)type, seed);
                bad += answer == 0;
                offloaded += answer > 0;
            }
            replayed += bad;
            if (only)
                continue;
            tap_ok(!bad, "%c%s: %llu random calls as the host", sc_type_letter((enum sc_type)type),
                   sc_op_name((enum sc_op)op), (unsigned long long)calls);
            tap_ok(single ? offloaded > 0 : offloaded * 2 > (int)calls, "%c%s: %d of them on devices",
                   sc_type_letter((enum sc_type)type), sc_op_name((enum sc_op)op), offloaded);
        }
    if (only)
        tap_ok(!replayed, "replayed");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
