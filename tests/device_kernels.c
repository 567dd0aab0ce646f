/* Every operation, type and variant on the device under test against the operation's definition, computed by plain
 * loops in double precision. Elements outside of the operands (the unnamed triangle, gaps of a leading dimension or
 * increment) must stay the same to the bit. */
#include "device_common.h"
#include "blas_definition.h"

#include <complex.h>
#include <float.h>
#include <math.h>

typedef double complex number;

#define ROOM 4096 /* elements of an operand's buffer */
#define BYTES (ROOM * sizeof(number))

static const struct sc_device_ops *ops;
static char *host[3], *want[3], *result;
static void *dev[3];
static unsigned long long state = 1;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(long long)(state >> 11) / (double)(1ll << 52) - 1.0;
}

static number get(enum sc_type t, const char *p, int64_t i)
{
    switch (t) {
    case SC_S: return ((const float *)p)[i];
    case SC_D: return ((const double *)p)[i];
    case SC_C: return ((const float complex *)p)[i];
    default: return ((const number *)p)[i];
    }
}

static void put(enum sc_type t, char *p, int64_t i, number v)
{
    switch (t) {
    case SC_S: ((float *)p)[i] = (float)creal(v); break;
    case SC_D: ((double *)p)[i] = creal(v); break;
    case SC_C: ((float complex *)p)[i] = (float complex)v; break;
    default: ((number *)p)[i] = v;
    }
}

static number element(enum sc_type t, const char *p, int64_t ld, char trans, int64_t i, int64_t j)
{
    number v = trans == 'N' ? get(t, p, i + j * ld) : get(t, p, j + i * ld);
    return trans == 'C' ? conj(v) : v;
}

/* Element (i, j) of a symmetric or Hermitian A, of which one triangle is stored. */
static number mirrored(const struct sc_kernel *k, int64_t i, int64_t j)
{
    bool stored = k->uplo == 'U' ? i <= j : i >= j, hermitian = k->op == SC_OP_HEMM;
    number v = stored ? get(k->type, host[0], i + j * k->lda) : get(k->type, host[0], j + i * k->lda);

    if (hermitian && i == j)
        return creal(v);
    return hermitian && !stored ? conj(v) : v;
}

/* Element of op(A) of a triangular A. */
static number triangular(const struct sc_kernel *k, int64_t i, int64_t j)
{
    int64_t r = k->transa == 'N' ? i : j, c = k->transa == 'N' ? j : i;

    if (r == c && k->diag == 'U')
        return 1;
    if (k->uplo == 'U' ? r > c : r < c)
        return 0;
    return element(k->type, host[0], k->lda, k->transa, i, j);
}

/* --- expected values: host[] holds the operands before, want[] gets them after ---------------------------------- */

static number a_of(const struct sc_kernel *k) { return k->alpha[0] + k->alpha[1] * I; }

/* beta y, where y is not read when beta is 0. */
static number scaled(const struct sc_kernel *k, number y)
{
    number beta = k->beta[0] + k->beta[1] * I;
    return beta == 0 ? 0 : beta * y;
}

/* The definition of levels 1 and 2, on the operands as complex numbers. */
static number want_definition(const struct sc_kernel *k)
{
    static number v[3][ROOM];
    number sum = 0;

    for (int s = 0; s < 3; s++)
        for (int64_t i = 0; i < ROOM; i++)
            v[s][i] = get(k->type, host[s], i);
    if (sc_op_level(k->op) == 1)
        sum = definition_level1(k, v[0], v[1]);
    else
        definition_level2(k, v[0], v[1], v[2]);
    for (int s = 0; s < 3; s++)
        for (int64_t i = 0; i < ROOM; i++)
            put(k->type, want[s], i, v[s][i]);
    return sum;
}

/* Operations on one triangle of C. */
static bool is_rank(enum sc_op op)
{
    return op == SC_OP_SYRK || op == SC_OP_HERK || op == SC_OP_SYR2K || op == SC_OP_HER2K || op == SC_OP_GEMMT;
}

static bool is_hermitian_rank(enum sc_op op) { return op == SC_OP_HERK || op == SC_OP_HER2K; }

/* Element (i, j) of alpha times the product; for SYR2K and HER2K the sum of the two products. */
static number product(const struct sc_kernel *k, int64_t i, int64_t j)
{
    int64_t inner = k->op == SC_OP_SYMM || k->op == SC_OP_HEMM ? (k->side == 'L' ? k->m : k->n) : k->k;
    char plain = k->transa, turned = plain != 'N' ? 'N' : is_hermitian_rank(k->op) ? 'C' : 'T';
    number sum = 0, other = 0;

    for (int64_t l = 0; l < inner; l++) {
        if (k->op == SC_OP_GEMM || k->op == SC_OP_GEMMT)
            sum += element(k->type, host[0], k->lda, k->transa, i, l) *
                   element(k->type, host[1], k->ldb, k->transb, l, j);
        else if (k->op == SC_OP_SYMM || k->op == SC_OP_HEMM)
            sum += k->side == 'L' ? mirrored(k, i, l) * get(k->type, host[1], l + j * k->ldb)
                                  : get(k->type, host[1], i + l * k->ldb) * mirrored(k, l, j);
        else if (k->op == SC_OP_SYRK || k->op == SC_OP_HERK)
            sum += element(k->type, host[0], k->lda, plain, i, l) * element(k->type, host[0], k->lda, turned, l, j);
        else {
            sum += element(k->type, host[0], k->lda, plain, i, l) * element(k->type, host[1], k->ldb, turned, l, j);
            other += element(k->type, host[1], k->ldb, plain, i, l) * element(k->type, host[0], k->lda, turned, l, j);
        }
    }
    return a_of(k) * sum + (k->op == SC_OP_HER2K ? conj(a_of(k)) : a_of(k)) * other;
}

static void want_level3(const struct sc_kernel *k)
{
    bool rank_k = is_rank(k->op);
    int64_t rows = rank_k ? k->n : k->m;

    for (int64_t j = 0; j < k->n; j++)
        for (int64_t i = 0; i < rows; i++) {
            number old = get(k->type, host[2], i + j * k->ldc), v;
            if (rank_k && (k->uplo == 'U' ? i > j : i < j))
                continue;
            if (is_hermitian_rank(k->op) && i == j)
                old = creal(old);
            v = product(k, i, j) + scaled(k, old);
            put(k->type, want[2], i + j * k->ldc, is_hermitian_rank(k->op) && i == j ? creal(v) : v);
        }
}

/* Solves by substitution, in the order of the triangle. */
static void solve(const struct sc_kernel *k, char *x, int64_t n, int64_t first, int64_t step, bool right)
{
    bool upper = (k->uplo == 'U') == (k->transa == 'N');
    bool backwards = right ? !upper : upper;

    for (int64_t s = 0; s < n; s++) {
        int64_t i = backwards ? n - 1 - s : s;
        number v = get(k->type, x, first + i * step);
        for (int64_t t = 0; t < s; t++) {
            int64_t j = backwards ? n - 1 - t : t;
            v -= (right ? triangular(k, j, i) : triangular(k, i, j)) * get(k->type, x, first + j * step);
        }
        put(k->type, x, first + i * step, v / triangular(k, i, i));
    }
}

static void want_solve(const struct sc_kernel *k)
{
    for (int64_t j = 0; j < k->n; j++)
        for (int64_t i = 0; i < k->m; i++)
            put(k->type, want[1], i + j * k->ldb, a_of(k) * get(k->type, host[1], i + j * k->ldb));
    for (int64_t s = 0; s < (k->side == 'L' ? k->n : k->m); s++)
        solve(k, want[1], k->side == 'L' ? k->m : k->n, k->side == 'L' ? s * k->ldb : s, k->side == 'L' ? 1 : k->ldb,
              k->side == 'R');
}

static void want_trmm(const struct sc_kernel *k)
{
    for (int64_t j = 0; j < k->n; j++)
        for (int64_t i = 0; i < k->m; i++) {
            number sum = 0;
            for (int64_t l = 0; l < (k->side == 'L' ? k->m : k->n); l++)
                sum += k->side == 'L' ? triangular(k, i, l) * get(k->type, host[1], l + j * k->ldb)
                                      : get(k->type, host[1], i + l * k->ldb) * triangular(k, l, j);
            put(k->type, want[1], i + j * k->ldb, a_of(k) * sum);
        }
}

static void compute_want(const struct sc_kernel *k)
{
    if (sc_op_level(k->op) < 3)
        want_definition(k);
    else if (k->op == SC_OP_TRSM)
        want_solve(k);
    else if (k->op == SC_OP_TRMM)
        want_trmm(k);
    else
        want_level3(k);
}

/* --- one case --------------------------------------------------------------------------------------------------- */

static double epsilon(enum sc_type t) { return t == SC_S || t == SC_C ? FLT_EPSILON : DBL_EPSILON; }

static bool near(enum sc_type t, number got, number expected)
{
    return cabs(got - expected) <= 400 * epsilon(t) * (1 + cabs(expected));
}

/* y of the operations with a beta in levels 1 and 2. */
static void nan_output(const struct sc_kernel *k)
{
    bool general = k->op == SC_OP_GEMV || k->op == SC_OP_GBMV;
    int64_t rows = general && k->transa == 'N' ? k->m : k->n;

    if (k->op == SC_OP_AXPBY)
        for (int64_t i = 0; i < k->n; i++)
            put(k->type, host[1], definition_at(i, k->n, k->ldb), NAN);
    else if (general || k->op == SC_OP_SYMV || k->op == SC_OP_HEMV || k->op == SC_OP_SBMV || k->op == SC_OP_HBMV ||
             k->op == SC_OP_SPMV || k->op == SC_OP_HPMV)
        for (int64_t i = 0; i < rows; i++)
            put(k->type, host[2], definition_at(i, rows, k->ldc), NAN);
}

/* Random operands; well-conditioned triangles; NaN in operands that a beta of 0 leaves unread. */
static void fill_operands(const struct sc_kernel *k)
{
    bool rank_k = is_rank(k->op);

    for (int s = 0; s < 3; s++)
        for (int64_t i = 0; i < ROOM; i++)
            put(k->type, host[s], i, uniform() + uniform() * I);
    if (k->op == SC_OP_TRSM)
        for (int64_t j = 0; j < 40; j++)
            for (int64_t i = 0; i < 40; i++)
                put(k->type, host[0], i + j * k->lda,
                    (i == j ? 2 : 0.05) * (uniform() + (i == j ? 2 : 0) + uniform() * I));
    if (k->beta[0] == 0 && k->beta[1] == 0 && k->op >= SC_OP_GEMM && k->op != SC_OP_TRSM && k->op != SC_OP_TRMM)
        for (int64_t j = 0; j < k->n; j++)
            for (int64_t i = 0; i < (rank_k ? k->n : k->m); i++)
                if (!rank_k || (k->uplo == 'U' ? i <= j : i >= j))
                    put(k->type, host[2], i + j * k->ldc, NAN);
    if (definition_is_triangular(k->op))
        for (int64_t j = 0; j < k->n; j++)
            for (int64_t i = 0; i < k->n; i++) {
                int64_t at = definition_index(k, k->lda, i, j);
                if (at >= 0)
                    put(k->type, host[0], at, (i == j ? 2 : 0.05) * (uniform() + (i == j ? 2 : 0) + uniform() * I));
            }
    if (k->beta[0] == 0 && k->beta[1] == 0)
        nan_output(k);
    for (int s = 0; s < 3; s++)
        memcpy(want[s], host[s], BYTES);
}

static bool same_buffers(const struct sc_kernel *k)
{
    for (int s = 0; s < 3; s++)
        for (int64_t i = 0; i < ROOM; i++) {
            number got = get(k->type, host[s], i), expected = get(k->type, want[s], i);
            if (!near(k->type, got, expected)) {
                tap_diag("operand %d element %lld: %g%+gi, expected %g%+gi", s, (long long)i, creal(got), cimag(got),
                         creal(expected), cimag(expected));
                return false;
            }
        }
    return true;
}

static bool same_result(const struct sc_kernel *k)
{
    enum sc_type t = sc_op_result_type(k->op, k->type);
    int64_t index;
    number got, expected = want_definition(k);

    memcpy(&index, result, sizeof index);
    got = sc_op_gives_index(k->op) ? (number)index : get(t, result, 0);
    if (near(k->op == SC_OP_DSDOT ? SC_S : t, got, expected)) /* hosts add dsdot up in single precision */
        return true;
    tap_diag("result %g%+gi, expected %g%+gi", creal(got), cimag(got), creal(expected), cimag(expected));
    return false;
}

static bool run_case(struct sc_kernel k)
{
    enum sc_status status;
    bool good = true;

    fill_operands(&k);
    for (int s = 0; s < 3 && good; s++)
        good = !move_now(ops, dev[s], 0, host[s], SC_HOST, BYTES);
    if (sc_op_is_reduction(k.op))
        k.result = result = ops->result_slot(0);
    else
        compute_want(&k);
    k.a = dev[0];
    k.b = dev[1];
    k.c = dev[2];
    if (k.op == SC_OP_SYRK || k.op == SC_OP_HERK)
        k.b = NULL;
    status = good ? ops->launch(0, SC_STREAM_COMPUTE, &k) : SC_ERR_DEVICE;
    good = !status && !ops->sync(mark(ops, 0, SC_STREAM_COMPUTE));
    if (k.result)
        good = good && same_result(&k);
    for (int s = 0; s < 3 && good; s++)
        good = !move_now(ops, host[s], SC_HOST, dev[s], 0, BYTES);
    good = good && same_buffers(&k);
    if (!good)
        tap_diag("%c%s (%s) trans %c%c side %c uplo %c diag %c m %lld n %lld k %lld ld %lld %lld %lld beta %g",
                 sc_type_letter(k.type), sc_op_name(k.op), sc_status_name(status), k.transa, k.transb, k.side, k.uplo,
                 k.diag, (long long)k.m, (long long)k.n, (long long)k.k, (long long)k.lda, (long long)k.ldb,
                 (long long)k.ldc, k.beta[0]);
    return good;
}

/* --- the cases of each operation -------------------------------------------------------------------------------- */

static bool all_increments(struct sc_kernel k)
{
    static const int64_t incs[][2] = {{1, 1}, {2, 3}, {-1, 1}, {-2, -3}, {3, -1}};
    bool one = k.op == SC_OP_SCAL || (k.op >= SC_OP_NRM2 && k.op <= SC_OP_IAMIN), good = true;

    for (size_t i = 0; i < sizeof incs / sizeof *incs; i++) {
        k.lda = one ? llabs(incs[i][0]) : incs[i][0];
        k.ldb = one ? 0 : incs[i][1];
        good = run_case(k) && good;
    }
    return good;
}

static bool case_vectors(struct sc_kernel k)
{
    bool good;

    k.n = 1;
    good = all_increments(k);
    k.n = 133;
    return all_increments(k) && good;
}

static bool case_scal(struct sc_kernel k)
{
    bool good = case_vectors(k);

    if (sc_type_is_complex(k.type)) {
        k.scale_real = true;
        k.alpha[1] = 0;
        good = case_vectors(k) && good;
    }
    return good;
}

static bool case_level2(struct sc_kernel k)
{
    bool good = true;

    if (k.op == SC_OP_HER || k.op == SC_OP_HPR)
        k.alpha[1] = 0;
    for (unsigned v = 0; v < 96; v++) {
        struct sc_kernel variant = k;

        if (v >= 48)
            variant.beta[0] = variant.beta[1] = 0;
        if (definition_variant(&variant, v, 37, 29, 41))
            good = run_case(variant) && good;
    }
    return good;
}

static bool case_rotm(struct sc_kernel k)
{
    bool good = true;

    for (int flag = -2; flag < 2; flag++) {
        for (int i = 0; i < 5; i++)
            k.param[i] = i ? uniform() : flag;
        good = case_vectors(k) && good;
    }
    return good;
}

/* beta of 0 leaves y unread, alpha of 0 leaves x unread. */
static bool case_axpby(struct sc_kernel k)
{
    bool good = case_vectors(k);

    k.beta[0] = k.beta[1] = 0;
    good = case_vectors(k) && good;
    k.alpha[0] = k.alpha[1] = 0;
    return case_vectors(k) && good;
}

static bool case_triangular(struct sc_kernel k)
{
    bool good = true;

    for (int i = 0; i < 24; i++) {
        k.transa = "NTC"[i % 3];
        k.uplo = "UL"[i / 3 % 2];
        k.diag = "NU"[i / 6 % 2];
        k.side = "LR"[i / 12];
        k.m = 31;
        k.n = 23;
        k.lda = 41;
        k.ldb = 33;
        good = run_case(k) && good;
    }
    return good;
}

static bool case_gemm(struct sc_kernel k)
{
    bool good = true;

    k.m = 27;
    k.n = 35;
    for (int i = 0; i < 18; i++) {
        k.transa = "NTC"[i % 3];
        k.transb = "NTC"[i / 3 % 3];
        k.k = i % 2 ? 19 : 1;
        k.lda = k.ldb = 37;
        k.ldc = k.op == SC_OP_GEMMT ? 38 : 31;
        k.uplo = "UL"[i / 2 % 2];
        if (i >= 9)
            k.beta[0] = k.beta[1] = 0;
        good = run_case(k) && good;
    }
    return good;
}

static bool case_symmetric(struct sc_kernel k)
{
    bool rank_k = is_rank(k.op), good = true;

    k.m = 26;
    k.n = 33;
    k.k = 17;
    k.lda = k.ldb = k.ldc = 39;
    if (k.op == SC_OP_HERK)
        k.alpha[1] = k.beta[1] = 0;
    if (k.op == SC_OP_HER2K)
        k.beta[1] = 0;
    for (int i = 0; i < 8; i++) {
        k.uplo = "UL"[i % 2];
        k.side = "LR"[i / 2 % 2];
        k.transa = rank_k && i / 2 % 2 ? (is_hermitian_rank(k.op) && sc_type_is_complex(k.type) ? 'C' : 'T') : 'N';
        if (i >= 4)
            k.beta[0] = k.beta[1] = 0;
        good = run_case(k) && good;
    }
    return good;
}

static bool (*const cases[SC_OPS])(struct sc_kernel) = {
    [SC_OP_AXPY] = case_vectors, [SC_OP_SCAL] = case_scal,        [SC_OP_COPY] = case_vectors,
    [SC_OP_SWAP] = case_vectors, [SC_OP_DOT] = case_vectors,      [SC_OP_DOTC] = case_vectors,
    [SC_OP_DSDOT] = case_vectors,
    [SC_OP_NRM2] = case_vectors, [SC_OP_ASUM] = case_vectors,     [SC_OP_IAMAX] = case_vectors,
    [SC_OP_AXPBY] = case_axpby, [SC_OP_ROT] = case_vectors, [SC_OP_ROTM] = case_rotm, [SC_OP_IAMIN] = case_vectors,
    [SC_OP_GEMM] = case_gemm,     [SC_OP_SYMM] = case_symmetric,
    [SC_OP_HEMM] = case_symmetric, [SC_OP_SYRK] = case_symmetric, [SC_OP_HERK] = case_symmetric,
    [SC_OP_SYR2K] = case_symmetric, [SC_OP_HER2K] = case_symmetric, [SC_OP_GEMMT] = case_gemm,
    [SC_OP_TRMM] = case_triangular, [SC_OP_TRSM] = case_triangular,
};

/* OpenBLAS 0.3.21's scasum sums elements beyond x on machines with AVX-512: devices that use scasum are excused. */
static bool host_scasum_is_wrong(void)
{
    float (*scasum)(const int *, const float *, const int *) =
        (float (*)(const int *, const float *, const int *))host_blas_symbol("scasum_");
    float x[64];
    int n = 9, one = 1;

    for (int i = 0; i < 64; i++)
        x[i] = (float)(i < 2 * n ? i : 1000);
    return scasum(&n, x, &one) != 2 * n * (2 * n - 1) / 2;
}

/* Operations without a kernel: those that the back end denies, and dsdot of a CUDA module built without nvcc
 * (device/cuda/README.md, U16). */
static bool lacks(struct sc_kernel k)
{
    bool may_lack = k.op == SC_OP_DSDOT || (ops->runs && !ops->runs(k.op, k.type));

    k.n = k.lda = k.ldb = 1;
    k.a = dev[0], k.b = dev[1];
    k.result = ops->result_slot(0);
    return may_lack && ops->launch(0, SC_STREAM_COMPUTE, &k) == SC_ERR_UNSUPPORTED;
}

static void report(struct sc_kernel k)
{
    if (lacks(k)) {
        tap_ok(1, "%c%s # SKIP the device has none", sc_type_letter(k.type), sc_op_name(k.op));
        return;
    }
    bool good = sc_op_level(k.op) == 2 ? case_level2(k) : cases[k.op](k);
    struct sc_device_properties properties;

    if (!good && k.op == SC_OP_ASUM && k.type == SC_C && host_scasum_is_wrong() && !ops->properties(0, &properties) &&
        properties.emulated)
        tap_ok(1, "casum # SKIP the scasum of the host BLAS is wrong");
    else
        tap_ok(good, "%c%s", sc_type_letter(k.type), sc_op_name(k.op));
}

int main(void)
{
    int count;

    ops = device_open(&count);
    for (int s = 0; s < 3; s++) {
        host[s] = pinned_new(ops, BYTES);
        want[s] = malloc(BYTES);
        dev[s] = block_new(ops, 0, BYTES);
    }
    for (int op = 0; op < SC_OPS; op++)
        for (int type = 0; type < SC_TYPES; type++) {
            struct sc_kernel k = {
                .op = (enum sc_op)op, .type = (enum sc_type)type,
                .transa = 'N', .transb = 'N', .side = 'L', .uplo = 'U', .diag = 'N',
                .alpha = {0.75, sc_type_is_complex((enum sc_type)type) ? -0.5 : 0},
                .beta = {-1.25, sc_type_is_complex((enum sc_type)type) ? 0.25 : 0},
            };
            if (sc_op_has_type(k.op, k.type))
                report(k);
        }
    for (int s = 0; s < 3; s++) {
        ops->free(0, dev[s], NULL, 0);
        pinned_free(ops, host[s], BYTES);
        free(want[s]);
    }
    ops->close();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
