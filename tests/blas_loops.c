/* A process without any BLAS: every routine of blas/veneers/routines.tab is computed by loops, in every type, order of
 * storage and combination of letters, under the names that programs call. A BLAS in a separate name space, invisible to
 * the library's searches, makes the same calls on a copy of the arrays; the two have to be equal (blas_calls.h). */
#define _GNU_SOURCE
#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/config.h"
#include "blas/veneers/loops.h"
#include "blas/verify/replay.h"
#include "tests/blas_calls.h"
#include "tests/tap.h"
#include "tests/veneers_fake.h"

enum { FLAGS_MAX = 200 };

static int complaint;
static char complained_of[8];
void xerbla_(const char *name, const sc_blas_int *info, size_t length)
{
    complaint = (int)*info;
    snprintf(complained_of, sizeof complained_of, "%.*s", (int)length, name);
}

static void *other; /* the BLAS in the separate name space */

static sc_blas_fn reference_of(const struct sc_blas_call *call)
{
    const struct sc_blas_row *row = &sc_blas_rows[call->routine];
    bool fortran = call->order == SC_BLAS_FORTRAN && !calls_is_complex_function(row);

    return (sc_blas_fn)dlsym(other, fortran ? row->fortran : row->cblas);
}
static sc_blas_fn target_of(const struct calls_call *c)
{
    const struct sc_blas_row *row = &sc_blas_rows[c->call.routine];
    bool fortran = c->call.order == SC_BLAS_FORTRAN && !calls_is_complex_function(row);
    char name[64];

    snprintf(name, sizeof name, "%s%s", fortran ? row->name : row->cblas, c->wide ? fortran ? "_64_" : "64_" :
             fortran ? "_" : "");
    return (sc_blas_fn)dlsym(RTLD_DEFAULT, name);
}
static int routine_of(const char *name)
{
    for (int i = 1; i < sc_blas_routines; i++)
        if (strcmp(sc_blas_rows[i].name, name) == 0)
            return i;
    return 0;
}

/* A triangle column by column, since OpenBLAS's own gemmt is wrong. Returns false for gemmt by rows. */
static bool reference_gemmt(struct sc_blas_call *call)
{
    const char name[] = {sc_type_letter(call->type), 'g', 'e', 'm', 'm', 0};
    const size_t elem = sc_type_bytes(call->type);
    struct sc_blas_call column = *call;

    if (call->order != SC_BLAS_FORTRAN)
        return false;
    column.routine = routine_of(name);
    column.k = call->alpha[0] == 0 && call->alpha[1] == 0 ? 0 : call->k;
    for (int64_t j = 0; j < call->n; j++) {
        int64_t first = call->uplo == 'U' ? 0 : j, end = call->uplo == 'U' ? j + 1 : call->n;

        column.m = end - first;
        column.n = 1;
        column.a = (char *)call->a + (size_t)(call->transa == 'N' ? first : first * call->lda) * elem;
        column.b = (char *)call->b + (size_t)(call->transb == 'N' ? j * call->ldb : j) * elem;
        column.c = (char *)call->c + (size_t)(first + j * call->ldc) * elem;
        sc_blas_again(&column, reference_of(&column));
    }
    return true;
}
/* Returns false if the reference BLAS lacks the routine. */
static bool reference(struct sc_blas_call *call)
{
    if (sc_blas_rows[call->routine].op == SC_OP_GEMMT)
        return reference_gemmt(call);
    return reference_of(call) && sc_blas_again(call, reference_of(call));
}

static bool same_real(double x, double y, double eps)
{
    return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= eps * fabs(y);
}
static bool same_memory(enum sc_type type, const char *x, const char *y, int64_t reals, double eps)
{
    for (int64_t i = 0; i < reals; i++)
        if (!same_real(calls_real(type, x, i), calls_real(type, y, i), eps)) {
            tap_diag("real %lld: %.17g, not %.17g", (long long)i, calls_real(type, x, i), calls_real(type, y, i));
            return false;
        }
    return true;
}

static bool is_same(const struct calls_call *c, const struct sc_blas_call *copy, const struct calls_arrays *arrays)
{
    const struct sc_blas_row *row = &sc_blas_rows[c->call.routine];
    bool single = calls_real_bytes(row->type) == 4, same;
    double eps = row->op != SC_OP_NRM2 ? 0 : single ? 1e-5 : 1e-13;

    same = same_memory(row->type, (const char *)&c->call.result, (const char *)&copy->result,
                       (int64_t)(sizeof copy->result / calls_real_bytes(row->type)), eps);
    for (int a = 0; a < CALLS_ARRAYS && same; a++)
        same = same_memory(row->type, arrays->target[a], arrays->copy[a], CALLS_ELEMENTS * calls_reals(row->type), 0);
    return same;
}

static int called, lacking;

static bool one(const struct calls_flags *flags, struct calls_arrays *arrays, struct random *r)
{
    struct calls_call c;
    struct sc_blas_call copy;
    bool same;

    calls_make(&c, flags, arrays, r);
    copy = calls_on_copy(&c, arrays);
    if (!reference(&copy)) {
        lacking++;
        calls_clean(&c, arrays, r);
        return true;
    }
    copy.routine = flags->routine;
    sc_blas_again(&c.call, target_of(&c));
    same = is_same(&c, &copy, arrays);
    called++;
    if (!same)
        tap_diag("%s order %c letters %c%c%c%c%c m %lld n %lld k %lld inc %lld %lld", sc_blas_rows[flags->routine].name,
                 flags->order, flags->side ? flags->side : '-', flags->uplo ? flags->uplo : '-',
                 flags->transa ? flags->transa : '-', flags->transb ? flags->transb : '-',
                 flags->diag ? flags->diag : '-', (long long)c.call.m, (long long)c.call.n, (long long)c.call.k,
                 (long long)c.call.incx, (long long)c.call.incy);
    calls_clean(&c, arrays, r);
    return same;
}

static void test_routines(enum sc_type type)
{
    static struct calls_flags flags[FLAGS_MAX];
    struct calls_arrays arrays = {.type = type};
    struct random r = {(uint64_t)type + 88172645463325252u};
    int bad = 0;

    for (int a = 0; a < CALLS_ARRAYS; a++) {
        arrays.target[a] = malloc(CALLS_ELEMENTS * sc_type_bytes(type));
        arrays.copy[a] = malloc(CALLS_ELEMENTS * sc_type_bytes(type));
        for (int64_t i = 0; i < CALLS_ELEMENTS; i++)
            calls_put_any(&arrays, a, i, &r);
    }
    called = lacking = 0;
    for (int routine = 1; routine < sc_blas_routines; routine++) {
        int count = sc_blas_rows[routine].type == type ? calls_flags_of(routine, flags, FLAGS_MAX) : 0;

        for (int i = 0; i < count * (count < 10 ? 5 : 1) && bad < 5; i++)
            bad += !one(&flags[i % count], &arrays, &r);
    }
    tap_ok(!bad && called > 600, "type %c: %d calls (%d more that the other BLAS does not have)", sc_type_letter(type),
           called, lacking);
    for (int a = 0; a < CALLS_ARRAYS; a++)
        free(arrays.target[a]), free(arrays.copy[a]);
}

/* --- rotations from two numbers ----------------------------------------------------------------------------------- */

static bool near(double x, double y) { return fabs(x - y) <= 1e-12 * (fabs(x) + fabs(y) + 1e-300); }

static void test_rotations(void)
{
    typedef void rotg(double *a, double *b, double *c, double *s);
    typedef void rotmg(double *d1, double *d2, double *x1, const double *y1, double *param);
    rotg *rotg_there = (rotg *)dlsym(other, "drotg_");
    rotmg *rotmg_there = (rotmg *)dlsym(other, "drotmg_");
    static const double numbers[] = {0, 1, -1, 3, -4, 1e-9, 1e9, 0.5, 1e30, -7};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    int bad = 0, calls = 0;

    for (int i = 0; i < NUMBERS * NUMBERS * NUMBERS; i++) {
        double first = numbers[i % NUMBERS], second = numbers[i / NUMBERS % NUMBERS], third = numbers[i / 100];
        double here[8] = {first, second, 0, 0}, there[8] = {first, second, 0, 0};

        if (first == 0 || third == 0) /* as d1 or x1: OpenBLAS's rules differ */
            continue;
        drotg_(&here[0], &here[1], &here[2], &here[3]);
        rotg_there(&there[0], &there[1], &there[2], &there[3]);
        for (int j = 0; j < 4; j++)
            if (!near(here[j], there[j]) && bad++ < 5)
                tap_diag("rotg %g %g, %d: %g, not %g", first, second, j, here[j], there[j]);
        memcpy(here, (const double[8]){fabs(first), second, third, 9, 9, 9, 9, 9}, sizeof here);
        memcpy(there, here, sizeof here);
        drotmg_(&here[0], &here[1], &here[2], &numbers[calls % 8], here + 3);
        rotmg_there(&there[0], &there[1], &there[2], &numbers[calls % 8], there + 3);
        for (int j = 0; j < 8; j++)
            if (!near(here[j], there[j]) && bad++ < 10)
                tap_diag("rotmg %g %g %g %g, %d: %g, not %g", first, second, third, numbers[calls % 8], j, here[j],
                         there[j]);
        calls++;
    }
    tap_ok(!bad && calls > 400, "%d rotations by drotg and drotmg", calls);
}

static void test_complex_rotation(void)
{
    double _Complex a = CMPLX(3, -4), b = CMPLX(1, 2), r = a, s;
    double c;

    zrotg_(&r, &b, &c, &s);
    double _Complex sum = c * a + s * b - r, gone = c * b - CMPLX(__real__ s, -__imag__ s) * a;

    tap_ok(fabs(__real__ sum) + fabs(__imag__ sum) + fabs(__real__ gone) + fabs(__imag__ gone) < 1e-14, "by zrotg");
}

/* --- what fits into no 32-bit integer ----------------------------------------------------------------------------- */

static void test_leading_dimension(void)
{
    const int64_t ld = (INT64_C(1) << 31) + 1, m = 3, n = 3, small = 3, one_step = 1;
    const size_t bytes = (size_t)(ld * 2 + 3) * sizeof(double);
    const double a[9] = {1, 2, 3, 4, 5, 6, 7, 8, 10}, x[3] = {1, -1, 2}, alpha = 2, beta = 0;
    double *c = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    double y[3] = {0, 0, 0};
    bool right = true;

    if (c == MAP_FAILED) {
        tap_ok(1, "# SKIP no address space for 32 GiB");
        return;
    }
    dgemm_64_("N", "T", &m, &n, &small, &alpha, a, &small, a, &small, &beta, c, &ld);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            right = right && c[i + j * ld] == 2 * (a[i] * a[j] + a[i + 3] * a[j + 3] + a[i + 6] * a[j + 6]);
    tap_ok(right, "a product with a leading dimension above 2^31");
    cblas_dgemv64_(102, 112, m, n, 1, c, ld, x, 1, 0, y, 1);
    for (int j = 0; j < 3; j++)
        right = right && y[j] == c[j * ld] * x[0] + c[1 + j * ld] * x[1] + c[2 + j * ld] * x[2];
    dsymv_64_("L", &n, &alpha, c, &ld, x, &one_step, &beta, y, &one_step);
    for (int i = 0; i < 3; i++)
        right = right && y[i] == 2 * (c[i] * x[0] + c[i + ld] * x[1] + c[i + 2 * ld] * x[2]);
    tap_ok(right, "a matrix by a vector, by rows' and columns' names, and with one triangle of it");
    munmap(c, bytes);
}

/* Each wrong argument is reported to xerbla by its number, and no element is written. */
static void test_wrong(void)
{
    const int32_t n = 3, minus = -1, two = 2, none = 0, inc = 1;
    double a[9] = {0}, c[9] = {7}, one_number = 1;

    dgemm_("N", "X", &n, &n, &n, &one_number, a, &n, a, &n, &one_number, c, &n);
    tap_ok(complaint == 2 && !strcmp(complained_of, "DGEMM "), "a letter: %d of %s", complaint, complained_of);
    dgemm_("N", "N", &n, &minus, &n, &one_number, a, &n, a, &n, &one_number, c, &n);
    tap_ok(complaint == 4, "a size");
    dgemm_("N", "N", &n, &n, &n, &one_number, a, &n, a, &two, &one_number, c, &n);
    tap_ok(complaint == 10, "a leading dimension");
    dgemv_("N", &n, &n, &one_number, a, &n, a, &none, &one_number, c, &inc);
    tap_ok(complaint == 8 && !strcmp(complained_of, "DGEMV "), "an increment");
    tap_ok(c[0] == 7, "nothing is written");
}

int main(void)
{
    static const char *const nowhere[] = {"/nowhere/libopenblas.so", NULL};

    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    sc_blas_host_candidates = nowhere;
    for (int level = 1; level <= 3; level++)
        sc_blas_small[level] = INT64_MAX;
    test_leading_dimension();
    test_wrong();
    other = dlmopen(LM_ID_NEWLM, "libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!other) {
        tap_ok(1, "# SKIP no libopenblas.so.0 to compare with");
        return tap_done();
    }
    for (int type = 0; type < SC_TYPES; type++)
        test_routines((enum sc_type)type);
    test_rotations();
    test_complex_rotation();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
