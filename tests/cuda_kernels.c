/* Every kernel of the CUDA module against plain loops written from the definition of the BLAS: in four types, with
 * every combination of letters and increments. Whole buffers are compared, so a write outside of the operands is found
 * as well.
 *
 *     cuda_kernels [MODULE] */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "tests/blas_definition.h"
#include "tests/cuda_module.h"
#include "tests/tap.h"

typedef double complex value;

enum { ELEMENTS = 40 * 48, LD = 40, M = 33, N = 29, K = 17, BUFFERS = 3 };

static const struct sc_device_ops *ops;
static char *staging;                  /* pinned, BUFFERS buffers of ELEMENTS elements of the widest type */
static void *memory[BUFFERS];          /* the same on the device */
static value input[BUFFERS][ELEMENTS], expected[BUFFERS][ELEMENTS], result;
static int checked, wrong;

static void store(enum sc_type t, void *at, value v)
{
    float f[2] = {(float)creal(v), (float)cimag(v)};
    double d[2] = {creal(v), cimag(v)};

    memcpy(at, t == SC_S || t == SC_C ? (void *)f : (void *)d, sc_type_bytes(t));
}

static value load(enum sc_type t, const void *at)
{
    float f[2] = {0, 0};
    double d[2] = {0, 0};

    memcpy(t == SC_S || t == SC_C ? (void *)f : (void *)d, at, sc_type_bytes(t));
    return t == SC_S || t == SC_C ? CMPLX(f[0], f[1]) : CMPLX(d[0], d[1]);
}

/* --- the definition of the BLAS --- */

static int64_t position(int64_t i, int64_t n, int64_t inc) { return inc > 0 ? i * inc : (i - n + 1) * inc; }

static value part(char trans, value v) { return trans == 'C' ? conj(v) : v; }

static value general(const value *a, int64_t ld, char trans, int64_t i, int64_t j)
{
    return trans == 'N' ? a[i + j * ld] : part(trans, a[j + i * ld]);
}

static value triangular(const struct sc_kernel *k, const value *a, int64_t i, int64_t j)
{
    int64_t r = k->transa == 'N' ? i : j, c = k->transa == 'N' ? j : i;

    if (r == c && k->diag == 'U')
        return 1;
    if (k->uplo == 'U' ? r > c : r < c)
        return 0;
    return part(k->transa, a[r + c * k->lda]);
}

static value symmetric(const struct sc_kernel *k, const value *a, int64_t i, int64_t j)
{
    bool stored = k->uplo == 'U' ? i <= j : i >= j, hermitian = k->op == SC_OP_HEMM;
    value v = stored ? a[i + j * k->lda] : a[j + i * k->lda];

    if (hermitian && i == j)
        return creal(v);
    return hermitian && !stored ? conj(v) : v;
}

static value scalar(const struct sc_kernel *k, const double s[2], bool real)
{
    return real || !sc_type_is_complex(k->type) ? CMPLX(s[0], 0) : CMPLX(s[0], s[1]);
}

/* beta c + sum; if beta is 0, c is not read. */
static value update(value beta, value c, value sum) { return beta == 0 ? sum : beta * c + sum; }

/* Solves op(A) x = b in place by substitution, or x op(A) = b when from the right. */
static void substitute(const struct sc_kernel *k, const value *a, int64_t n, bool right, value *x, int64_t inc)
{
    bool upper = ((k->uplo == 'U') == (k->transa == 'N')) != right;

    for (int64_t step = 0; step < n; step++) {
        int64_t i = upper ? n - 1 - step : step;
        value sum = x[position(i, n, inc)];

        for (int64_t j = upper ? i + 1 : 0; j < (upper ? n : i); j++)
            sum -= (right ? triangular(k, a, j, i) : triangular(k, a, i, j)) * x[position(j, n, inc)];
        x[position(i, n, inc)] = sum / triangular(k, a, i, i);
    }
}

static void reference_trsm(const struct sc_kernel *k, const value *a, value *b)
{
    for (int64_t j = 0; j < k->n; j++)
        for (int64_t i = 0; i < k->m; i++)
            b[i + j * k->ldb] = update(0, 0, scalar(k, k->alpha, false) * b[i + j * k->ldb]);
    if (k->side == 'L')
        for (int64_t j = 0; j < k->n; j++)
            substitute(k, a, k->m, false, b + j * k->ldb, 1);
    else
        for (int64_t i = 0; i < k->m; i++)
            substitute(k, a, k->n, true, b + i, k->ldb);
}

/* Operations on one triangle of C; is_hermitian_rank: those with a real scalar or diagonal. */
static bool is_rank(enum sc_op op)
{
    return op == SC_OP_SYRK || op == SC_OP_HERK || op == SC_OP_SYR2K || op == SC_OP_HER2K || op == SC_OP_GEMMT;
}

static bool is_hermitian_rank(enum sc_op op) { return op == SC_OP_HERK || op == SC_OP_HER2K; }

static void reference_trmm(const struct sc_kernel *k, const value *a, const value *before, value *b)
{
    bool left = k->side == 'L';

    for (int64_t j = 0; j < k->n; j++)
        for (int64_t i = 0; i < k->m; i++) {
            value sum = 0;

            for (int64_t l = 0; l < (left ? k->m : k->n) && (k->alpha[0] != 0 || k->alpha[1] != 0); l++)
                sum += left ? triangular(k, a, i, l) * before[l + j * k->ldb]
                            : before[i + l * k->ldb] * triangular(k, a, l, j);
            b[i + j * k->ldb] = update(0, 0, scalar(k, k->alpha, false) * sum);
        }
}

/* Element (i, l) of op(X) op(Y) where rank-2k operations have (A, B) and (B, A). */
static value pair(const struct sc_kernel *k, const value *x, int64_t ldx, const value *y, int64_t ldy, int64_t i,
                  int64_t j, int64_t l)
{
    char turned = k->transa != 'N' ? 'N' : k->op == SC_OP_HER2K ? 'C' : 'T';

    return general(x, ldx, k->transa, i, l) * general(y, ldy, turned, l, j);
}

/* The term of the sum with index l, times alpha. */
static value product(const struct sc_kernel *k, const value *a, const value *b, int64_t i, int64_t j, int64_t l)
{
    value alpha = scalar(k, k->alpha, k->op == SC_OP_HERK);

    switch (k->op) {
    case SC_OP_SYR2K: case SC_OP_HER2K:
        return alpha * pair(k, a, k->lda, b, k->ldb, i, j, l) +
               (k->op == SC_OP_HER2K ? conj(alpha) : alpha) * pair(k, b, k->ldb, a, k->lda, i, j, l);
    case SC_OP_GEMM: case SC_OP_GEMMT:
        return alpha * general(a, k->lda, k->transa, i, l) * general(b, k->ldb, k->transb, l, j);
    case SC_OP_SYRK: return alpha * general(a, k->lda, k->transa, i, l) * general(a, k->lda, k->transa, j, l);
    case SC_OP_HERK: return alpha * general(a, k->lda, k->transa, i, l) * conj(general(a, k->lda, k->transa, j, l));
    default: /* symm, hemm */
        return alpha * (k->side == 'L' ? symmetric(k, a, i, l) * b[l + j * k->ldb]
                                       : b[i + l * k->ldb] * symmetric(k, a, l, j));
    }
}

static void reference_level3(const struct sc_kernel *k, const value *a, const value *b, value *c)
{
    bool rank = is_rank(k->op), hermitian = is_hermitian_rank(k->op);
    bool square = k->op == SC_OP_SYMM || k->op == SC_OP_HEMM;
    int64_t rows = rank ? k->n : k->m, depth = !square ? k->k : k->side == 'L' ? k->m : k->n;
    value alpha = scalar(k, k->alpha, k->op == SC_OP_HERK), beta = scalar(k, k->beta, hermitian);

    if (rank && beta == 1 && (alpha == 0 || depth == 0))
        return;
    for (int64_t j = 0; j < k->n; j++)
        for (int64_t i = 0; i < rows; i++) {
            value sum = 0, *cij = &c[i + j * k->ldc];

            if (rank && (k->uplo == 'U' ? i > j : i < j))
                continue;
            for (int64_t l = 0; l < depth && alpha != 0; l++)
                sum += product(k, a, b, i, j, l);
            *cij = update(beta, *cij, sum);
            if (hermitian && sc_type_is_complex(k->type) && i == j)
                *cij = creal(*cij);
        }
}

static void reference(const struct sc_kernel *k, value *a, value *b, value *c)
{
    switch (k->op) {
    case SC_OP_TRSM: reference_trsm(k, a, b); break;
    case SC_OP_TRMM: reference_trmm(k, a, input[1], b); break;
    case SC_OP_GEMM: case SC_OP_SYMM: case SC_OP_HEMM: case SC_OP_SYRK: case SC_OP_HERK: case SC_OP_SYR2K:
    case SC_OP_HER2K: case SC_OP_GEMMT:
        reference_level3(k, a, b, c);
        break;
    default:
        if (sc_op_level(k->op) == 1)
            result = definition_level1(k, a, b);
        else
            definition_level2(k, a, b, c);
    }
}

/* --- running and comparing --- */

static double random_unit(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

/* Random numbers that are exact in single precision; for solves A gets a dominant diagonal. */
static void make_input(enum sc_type t)
{
    for (int b = 0; b < BUFFERS; b++)
        for (int i = 0; i < ELEMENTS; i++) {
            float re = (float)random_unit(), im = sc_type_is_complex(t) ? (float)random_unit() : 0;
            bool diagonal = i % LD == i / LD;

            /* Floats: an upload in single precision is exact */
            input[b][i] = b ? CMPLX(re, im) : CMPLX(diagonal ? re / 8 + 8 : re / 8, im / 8);
        }
}

static bool transfer(enum sc_type t, bool up)
{
    enum sc_stream stream = up ? SC_STREAM_H2D : SC_STREAM_D2H;
    size_t bytes = ELEMENTS * sc_type_bytes(t);
    struct sc_fence fence;
    bool good = true;

    for (int b = 0; b < BUFFERS; b++) {
        char *host = staging + b * ELEMENTS * 16;
        struct sc_copy2d c = {.dst = up ? memory[b] : host, .src = up ? host : memory[b], .width = bytes, .height = 1,
                              .dst_device = up ? 0 : SC_HOST, .src_device = up ? SC_HOST : 0};

        good &= ops->copy(0, stream, &c) == SC_OK;
    }
    good &= ops->mark(0, stream, &fence) == SC_OK;
    return good && (up ? ops->wait(0, SC_STREAM_COMPUTE, fence) : ops->sync(fence)) == SC_OK;
}

static bool execute(struct sc_kernel *k, value *scalar_result)
{
    struct sc_fence fence;

    k->a = memory[0], k->b = memory[1], k->c = memory[2];
    if (sc_op_is_reduction(k->op)) {
        k->result = ops->result_slot(0);
        memset(k->result, 0xff, 16);
    }
    if (ops->launch(0, SC_STREAM_COMPUTE, k) || ops->mark(0, SC_STREAM_COMPUTE, &fence) || ops->sync(fence))
        return false;
    if (!sc_op_is_reduction(k->op))
        return true;
    *scalar_result = sc_op_gives_index(k->op) ? (double)*(int64_t *)k->result
                                              : load(sc_op_result_type(k->op, k->type), k->result);
    return true;
}

static bool near(enum sc_type t, value got, value want)
{
    double limit = t == SC_S || t == SC_C ? 2e-5 : 2e-13;

    if (isnan(creal(want)) || isnan(cimag(want)))
        return isnan(creal(got)) || isnan(cimag(got));
    return cabs(got - want) <= limit * (1 + cabs(want));
}

static void describe(const struct sc_kernel *k, const char *what)
{
    if (wrong++ < 20)
        tap_diag("%s: op %d type %c letters %c%c%c%c%c m n k %ld %ld %ld ld %ld %ld %ld alpha %g,%g beta %g,%g", what,
                 (int)k->op, sc_type_letter(k->type), k->transa, k->transb, k->side, k->uplo, k->diag, (long)k->m,
                 (long)k->n, (long)k->k, (long)k->lda, (long)k->ldb, (long)k->ldc, k->alpha[0], k->alpha[1], k->beta[0],
                 k->beta[1]);
}

/* Runs the record on `input` by the device and by the reference, and compares. */
static void check(struct sc_kernel *k)
{
    value got = 0;

    checked++;
    for (int b = 0; b < BUFFERS; b++)
        for (int i = 0; i < ELEMENTS; i++)
            store(k->type, staging + b * ELEMENTS * 16 + (size_t)i * sc_type_bytes(k->type), input[b][i]);
    memcpy(expected, input, sizeof expected);
    reference(k, expected[0], expected[1], expected[2]);
    if (!transfer(k->type, true) || !execute(k, &got) || !transfer(k->type, false)) {
        describe(k, "does not run");
        return;
    }
    if (sc_op_is_reduction(k->op) && !near(k->op == SC_OP_DSDOT ? SC_D : k->type, got, result)) {
        describe(k, "wrong scalar");
        return;
    }
    for (int b = 0; b < BUFFERS; b++)
        for (int i = 0; i < ELEMENTS; i++)
            if (!near(k->type, load(k->type, staging + b * ELEMENTS * 16 + (size_t)i * sc_type_bytes(k->type)),
                      expected[b][i])) {
                describe(k, "wrong element");
                return;
            }
}

/* Gives a banded or packed A a dominant diagonal, at the places of its storage. */
static void precondition(const struct sc_kernel *k)
{
    if (!definition_is_triangular(k->op))
        return;
    make_input(k->type);
    for (int64_t j = 0; j < k->n; j++)
        for (int64_t i = 0; i < k->n; i++) {
            int64_t at = definition_index(k, k->lda, i, j);

            if (at >= 0)
                input[0][at] = CMPLX((float)random_unit() / 8 + (i == j ? 8 : 0),
                                     sc_type_is_complex(k->type) ? (float)random_unit() / 8 : 0);
        }
}

/* Every variant of an operation and type: the bits of `v` choose letters, increments and special scalars. */
static void variant(enum sc_op op, enum sc_type t, unsigned v)
{
    static const double alphas[][2] = {{1.5, -0.5}, {1, 0}, {0, 0}}, betas[][2] = {{0.5, 0.25}, {0, 0}, {1, 0}};
    static const int64_t steps[] = {1, 2, -1, -3};
    bool rank = is_rank(op), one = op == SC_OP_SCAL || (op >= SC_OP_NRM2 && op <= SC_OP_IAMIN);
    struct sc_kernel k = {.op = op, .type = t, .m = M, .n = N, .k = K, .lda = LD, .ldb = LD, .ldc = LD};

    k.transa = "NTC"[v % 3];
    k.transb = "NTC"[v / 3 % 3];
    k.side = "LR"[v & 1];
    k.uplo = "UL"[v >> 1 & 1];
    k.diag = "NU"[v >> 2 & 1];
    memcpy(k.alpha, alphas[v / 9 % 3], sizeof k.alpha);
    memcpy(k.beta, betas[v / 27 % 3], sizeof k.beta);
    if (rank) {
        if (op != SC_OP_GEMMT)
            k.transa = "NTC"[(v & 1) ? (is_hermitian_rank(op) && sc_type_is_complex(t) ? 2 : 1) : 0];
        k.k = v / 81 % 3 == 2 ? 0 : K;
    }
    if (op == SC_OP_GEMM && v / 81 % 3 == 2)
        k.k = 0;
    if (sc_op_level(op) == 1) {
        k.lda = one ? steps[v & 1] : steps[v & 3];
        k.ldb = steps[v >> 2 & 3];
        k.scale_real = v >> 4 & 1;
        for (int i = 0; i < 5; i++)
            k.param[i] = i ? 0.25 * i : v % 4 - 2.0;
    } else if (sc_op_level(op) == 2) {
        if (op == SC_OP_HER || op == SC_OP_HPR)
            k.alpha[1] = 0;
        if (!definition_variant(&k, v, M, N, LD))
            return;
        precondition(&k);
    }
    check(&k);
}

/* Probes with dsdot, which cuBLAS lacks. */
static bool has_own_kernels(void)
{
    struct sc_kernel k = {.op = SC_OP_DSDOT, .type = SC_S, .n = 1, .lda = 1, .ldb = 1, .a = memory[0], .b = memory[1]};
    struct sc_fence fence;

    k.result = ops->result_slot(0);
    return ops->launch(0, SC_STREAM_COMPUTE, &k) != SC_ERR_UNSUPPORTED && !ops->mark(0, SC_STREAM_COMPUTE, &fence) &&
           !ops->sync(fence);
}

static void all_variants(enum sc_op op)
{
    for (int t = 0; t < SC_TYPES; t++) {
        unsigned variants = sc_op_level(op) == 1 ? 27 : 243;

        if (!sc_op_has_type(op, (enum sc_type)t))
            continue;
        if (op == SC_OP_DSDOT && !has_own_kernels()) {
            tap_ok(1, "dsdot # SKIP the module was built without nvcc");
            continue;
        }
        checked = wrong = 0;
        make_input((enum sc_type)t);
        for (unsigned v = 0; v < variants; v++)
            variant(op, (enum sc_type)t, v);
        tap_ok(!wrong, "operation %d, type %c: %d variants, %d wrong", (int)op, sc_type_letter((enum sc_type)t),
               checked, wrong);
    }
}

/* Leading dimensions, or increments of 1 and -1. */
static void set_steps(struct sc_kernel *k)
{
    int level = sc_op_level(k->op);

    k->k = level == 2 ? 3 : K; /* bands */
    k->kl = 2, k->ku = 1;
    k->transa = k->transb = 'N';
    k->lda = k->ldb = k->ldc = LD;
    if (level == 2)
        definition_variant(k, 6, M, N, LD);
    else if (level == 1)
        k->lda = k->ldb = 1;
}

/* Operands that the BLAS does not read may hold any value. */
static void unread_operands(void)
{
    static const enum sc_op all[] = {
        SC_OP_AXPY, SC_OP_AXPBY, SC_OP_GEMV, SC_OP_GER,  SC_OP_SYMV,  SC_OP_HEMV,  SC_OP_SYR,   SC_OP_HER,
        SC_OP_SYR2, SC_OP_HER2,  SC_OP_GBMV, SC_OP_SBMV, SC_OP_HBMV,  SC_OP_SPMV,  SC_OP_HPMV,  SC_OP_SPR,
        SC_OP_HPR,  SC_OP_SPR2,  SC_OP_HPR2, SC_OP_GEMM, SC_OP_SYMM,  SC_OP_SYRK,  SC_OP_HERK,  SC_OP_SYR2K,
        SC_OP_HER2K, SC_OP_GEMMT, SC_OP_TRMM};
    static const enum sc_op output[] = {
        SC_OP_GEMV, SC_OP_SYMV, SC_OP_HEMV, SC_OP_GBMV, SC_OP_SBMV,  SC_OP_HBMV,  SC_OP_SPMV, SC_OP_HPMV,
        SC_OP_GEMM, SC_OP_SYMM, SC_OP_SYRK, SC_OP_HERK, SC_OP_SYR2K, SC_OP_HER2K, SC_OP_GEMMT};

    for (int t = 0; t < SC_TYPES; t++) {
        struct sc_kernel k = {.type = (enum sc_type)t, .transa = 'N', .transb = 'N', .side = 'L', .uplo = 'U',
                              .diag = 'N', .m = M, .n = N, .k = K, .lda = LD, .ldb = LD, .ldc = LD, .beta = {0.5, 0}};

        wrong = 0;
        make_input((enum sc_type)t);
        for (int i = 0; i < ELEMENTS; i++)
            input[0][i] = NAN;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            k.op = all[i];
            set_steps(&k);
            if (sc_op_has_type(k.op, k.type))
                check(&k);
        }
        tap_ok(!wrong, "type %c: alpha = 0 reads no operand", sc_type_letter((enum sc_type)t));

        wrong = 0;
        make_input((enum sc_type)t);
        for (int i = 0; i < ELEMENTS; i++)
            input[2][i] = NAN;
        k.alpha[0] = 2, k.beta[0] = 0, k.lda = LD;
        for (size_t i = 0; i < sizeof output / sizeof *output; i++) {
            k.op = output[i];
            set_steps(&k);
            if (sc_op_has_type(k.op, k.type))
                check(&k);
        }
        tap_ok(!wrong, "type %c: beta = 0 does not read the output", sc_type_letter((enum sc_type)t));
    }
}

/* The device computes gemmt in blocks. Sizes at and beyond a block are sampled in every block. A is the identity, so C
 * is exact; the unnamed triangle holds NaN, and must keep it. */
static void large_gemmt(char uplo, int64_t n)
{
    struct sc_kernel k = {.op = SC_OP_GEMMT, .type = SC_D, .transa = 'N', .transb = 'N', .uplo = uplo, .n = n, .k = n,
                          .lda = n, .ldb = n, .ldc = n + 3, .alpha = {1, 0}, .beta = {0, 0}};
    size_t bytes = (size_t)(n * (n + 3)) * sizeof(double), all = (3 * bytes + 4095) / 4096 * 4096;
    double *p = aligned_alloc(4096, all), *q = p + n * (n + 3), *r = q + n * (n + 3);
    struct sc_copy2d up = {.src = p, .width = 3 * bytes, .height = 1, .src_device = SC_HOST}, down = {0};
    struct sc_fence ready;
    int64_t bad = 0;
    void *block = NULL;
    bool good = p && !ops->pin(p, all) && !ops->alloc(0, all, &block, &ready) &&
                !ops->wait(0, SC_STREAM_COMPUTE, ready);

    for (int64_t i = 0; good && i < n * (n + 3); i++)
        p[i] = i < n * n && i % n == i / n, q[i] = (double)(i % 1009), r[i] = NAN;
    up.dst = block;
    down = (struct sc_copy2d){.dst = p, .src = block, .width = 3 * bytes, .height = 1, .dst_device = SC_HOST};
    k.a = block, k.b = (double *)block + n * (n + 3), k.c = (double *)block + 2 * n * (n + 3);
    good = good && !ops->copy(0, SC_STREAM_COMPUTE, &up) && !ops->launch(0, SC_STREAM_COMPUTE, &k) &&
           !ops->copy(0, SC_STREAM_COMPUTE, &down) && !ops->mark(0, SC_STREAM_COMPUTE, &ready) && !ops->sync(ready);
    for (int64_t i = 0; good && i < n * (n + 3); i++) {
        int64_t row = i % (n + 3), col = i / (n + 3);
        bool named = row < n && (uplo == 'U' ? row <= col : row >= col);

        bad += named ? r[i] != (double)((row + col * n) % 1009) : !isnan(r[i]);
    }
    tap_ok(good && !bad, "gemmt of order %d, triangle %c: %d wrong", (int)n, uplo, (int)bad);
    if (block)
        ops->free(0, block, &ready, 1);
    ops->unpin(p, all);
    free(p);
}

/* A solve by halves with a triangle of several kernels: B with the rows beyond it unchanged. */
static bool solves(struct sc_kernel *k, int64_t order, int64_t across, char *host, void *device)
{
    const int64_t ld = order + 3, elements = 2 * ld * ld;
    const size_t bytes = sc_type_bytes(k->type);
    value *a = malloc((size_t)elements * sizeof *a), *b = a + ld * ld;
    struct sc_copy2d up = {.dst = device, .src = host, .width = (size_t)elements * bytes, .height = 1,
                           .src_device = SC_HOST};
    struct sc_copy2d down = {.dst = host, .src = device, .width = up.width, .height = 1, .dst_device = SC_HOST};
    struct sc_fence done;
    bool good = a != NULL;

    for (int64_t i = 0; good && i < elements; i++) {
        float re = (float)random_unit(), im = sc_type_is_complex(k->type) ? (float)random_unit() : 0;
        bool in_a = i < ld * ld, diagonal = in_a && i % ld == i / ld;

        a[i] = !in_a ? CMPLX(re, im) : diagonal ? CMPLX(re + 2, im) : CMPLX(re / 16, im / 16);
        store(k->type, host + (size_t)i * bytes, a[i]);
    }
    k->m = k->side == 'L' ? order : across;
    k->n = k->side == 'L' ? across : order;
    k->lda = k->ldb = ld;
    k->a = device;
    k->b = (char *)device + (size_t)(ld * ld) * bytes;
    good = good && !ops->copy(0, SC_STREAM_COMPUTE, &up) && !ops->launch(0, SC_STREAM_COMPUTE, k) &&
           !ops->copy(0, SC_STREAM_COMPUTE, &down) && !ops->mark(0, SC_STREAM_COMPUTE, &done) && !ops->sync(done);
    if (good)
        reference_trsm(k, a, b);
    for (int64_t i = 0; good && i < elements; i++) {
        value got = load(k->type, host + (size_t)i * bytes);
        double limit = k->type == SC_S || k->type == SC_C ? 1e-3 : 1e-11;

        good = cabs(got - a[i]) <= limit * (1 + cabs(a[i]));
    }
    free(a);
    if (!good)
        describe(k, "wrong solve");
    return good;
}

static void large_solves(int64_t order, int64_t across)
{
    size_t all = ((size_t)(2 * (order + 3) * (order + 3)) * 16 + 4095) / 4096 * 4096;
    char *host = aligned_alloc(4096, all);
    struct sc_fence ready;
    void *device = NULL;
    bool made = host && !ops->pin(host, all) && !ops->alloc(0, all, &device, &ready) &&
                !ops->wait(0, SC_STREAM_COMPUTE, ready);

    for (int t = 0; t < SC_TYPES; t++) {
        int good = 0, tried = 0;

        for (int v = 0; made && v < 24; v++) {
            struct sc_kernel k = {.op = SC_OP_TRSM, .type = (enum sc_type)t, .transa = "NTC"[v % 3], .transb = 'N',
                                  .side = "LR"[v / 3 & 1], .uplo = "UL"[v / 6 & 1], .diag = "NU"[v / 12 & 1],
                                  .alpha = {1.5, t == SC_C || t == SC_Z ? -0.5 : 0}};

            good += solves(&k, order, across, host, device);
            tried++;
        }
        tap_ok(tried == 24 && good == tried, "trsm of order %d with %d right sides, type %c: %d of %d", (int)order,
               (int)across, sc_type_letter((enum sc_type)t), good, tried);
    }
    if (device)
        ops->free(0, device, &ready, 1);
    ops->unpin(host, all);
    free(host);
}

/* Empty calls, and calls that are left to the host. */
static void edges(void)
{
    struct sc_kernel k = {.type = SC_D, .transa = 'N', .transb = 'N', .side = 'L', .uplo = 'U', .diag = 'N', .lda = 1,
                          .ldb = 1, .ldc = 1, .alpha = {1, 0}, .beta = {0.5, 0}};

    make_input(SC_D);
    for (int op = 0; op < SC_OPS; op++) {
        wrong = 0;
        k.op = (enum sc_op)op;
        k.type = sc_op_has_type(k.op, SC_D) ? SC_D : SC_S;
        check(&k);
        tap_ok(!wrong, "operation %d of size 0 changes nothing", op);
    }
    k.op = SC_OP_DOT, k.type = SC_D, k.n = 5, k.lda = 0;
    tap_ok(ops->launch(0, SC_STREAM_COMPUTE, &k) == SC_ERR_UNSUPPORTED, "an increment of 0 is left to the host");
    wrong = 0;
    k.op = SC_OP_ASUM, k.n = 0, k.lda = 1;
    check(&k);
    tap_ok(!wrong, "and the device goes on");
}

int main(int argc, char **argv)
{
    static struct sc_config config = {.check = 1};
    static const struct sc_device_host host = {.config = &config, .log = cuda_module_log,
                                               .thread_enter = cuda_module_nothing};
    struct sc_fence ready;
    int count = 0;

    ops = cuda_module_load(argc > 1 ? argv[1] : NULL);
    if (!ops || ops->open(&host, "", &count) || !count)
        tap_skip_all_for_gpu("no CUDA device, or the module was not built");
    staging = aligned_alloc(4096, (BUFFERS * ELEMENTS * 16 + 4095) / 4096 * 4096);
    if (!staging || ops->pin(staging, BUFFERS * ELEMENTS * 16))
        return 1;
    for (int b = 0; b < BUFFERS; b++)
        if (ops->alloc(0, ELEMENTS * 16, &memory[b], &ready) || ops->wait(0, SC_STREAM_H2D, ready))
            return 1;
    for (int op = 0; op < SC_OPS; op++)
        all_variants((enum sc_op)op);
    unread_operands();
    large_gemmt('U', 512);
    large_gemmt('U', 1300);
    large_gemmt('L', 1300);
    large_solves(64, 1);
    large_solves(256, 40);
    large_solves(257, 17);
    large_solves(700, 33);
    edges();
    for (int b = 0; b < BUFFERS; b++)
        ops->free(0, memory[b], NULL, 0);
    ops->unpin(staging, BUFFERS * ELEMENTS * 16);
    ops->close();
    free(staging);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
