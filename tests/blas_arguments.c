/* Arguments at the edge of what the BLAS allows, by the Fortran, CBLAS and _64 names, with every call offered to
 * devices. Asserts the same results as from the host BLAS. Level 1: increments of 0, negative, above 2^32, and around
 * the end of the address space; lengths of 0 and below. Levels 2 and 3: xerbla gets the same report of a wrong argument
 * as from the host. */
#include "base/config.h"
#include "blas/veneers/prototypes.h"
#include "blas/verify/replay.h"
#include "tests/blas_named.h"
#include "tests/coherence_env.h"

enum { ELEMENTS = 6000, MIDDLE = ELEMENTS / 2, LENGTH_MAX = 300 };

static bool start(bool now) { return now; }

static int complaints, complaint;
static char complained_of[16];
void xerbla_(const char *name, const sc_blas_int *info, size_t length)
{
    complaints++;
    complaint = (int)*info;
    snprintf(complained_of, sizeof complained_of, "%.*s", (int)length, name);
}

/* --- level 1 ------------------------------------------------------------------------------------------------------ */

struct arrays {
    char *target[2], *copy[2];
};

static void fill(struct arrays *arrays, enum sc_type type, struct random *r)
{
    for (int a = 0; a < 2; a++)
        for (int64_t i = 0; i < ELEMENTS * calls_reals(type); i++) {
            double value = (double)(random_below(r, 7) - 3);

            if (calls_real_bytes(type) == 4)
                ((float *)(void *)arrays->copy[a])[i] = (float)value;
            else
                ((double *)(void *)arrays->copy[a])[i] = value;
        }
    for (int a = 0; a < 2; a++)
        memcpy(arrays->target[a], arrays->copy[a], ELEMENTS * sc_type_bytes(type));
}

/* Replaces the increment by one with the same meaning modulo 2^64, and moves the vector's address accordingly. */
static void disguise(struct sc_blas_call *c, void **vector, int64_t *inc, bool alone, struct random *r)
{
    uint64_t bytes = sc_type_bytes(c->type), round = UINT64_MAX / bytes + 1, length = (uint64_t)(c->n - 1) * bytes;
    int64_t other = (int64_t)((uint64_t)*inc + (uint64_t)random_below(r, (int64_t)bytes) * round);
    uint64_t address = (uint64_t)(uintptr_t)*vector;

    if (c->n == 1 && *inc != 0)
        other = (*inc < 0 ? -1 : 1) * ((INT64_C(1) << 40) + 1 + random_below(r, 100));
    else if (c->n < 1 || *inc == 0 || (alone && (*inc < 1 || other < 1)))
        return; /* an increment below 1 may change what the routine does */
    address -= *inc < 0 ? length * (uint64_t)*inc : 0;
    address += other < 0 ? length * (uint64_t)other : 0;
    *vector = (void *)(uintptr_t)address;
    *inc = other;
}

static void make(struct sc_blas_call *c, int routine, struct random *r)
{
    static const int64_t lengths[] = {-3, -1, 0, 1, 1, 2, 7, LENGTH_MAX}, steps[] = {0, 1, -1, 2, -2, 3, -3, 1};
    static const double param[] = {-1, 2, -1, 1, 3}, scalars[] = {0, 1, -1, 2};
    static float single[5];
    const struct sc_blas_row *row = &sc_blas_rows[routine];

    for (int i = 0; i < 5; i++)
        single[i] = (float)param[i];
    *c = (struct sc_blas_call){.routine = routine, .type = row->type,
                               .order = random_below(r, 2) ? SC_BLAS_FORTRAN : SC_BLAS_COLUMNS};
    c->n = lengths[random_below(r, 8)];
    c->incx = steps[random_below(r, 8)];
    c->incy = steps[random_below(r, 8)];
    c->alpha[0] = scalars[random_below(r, 4)];
    c->beta[0] = scalars[random_below(r, 4)];
    c->param = c->type == SC_S ? (const void *)single : param;
}

static int calls, disguised;

static bool one(int routine, struct arrays *arrays, struct random *r)
{
    const struct sc_blas_row *row = &sc_blas_rows[routine];
    const bool alone = !sc_ops[row->op].letters[1], wide = random_below(r, 2);
    const size_t middle = MIDDLE * sc_type_bytes(row->type), bytes = ELEMENTS * sc_type_bytes(row->type);
    struct sc_blas_call there, here;
    bool good;

    make(&there, routine, r);
    fill(arrays, row->type, r);
    here = there;
    there.x = arrays->copy[0] + middle;
    there.y = arrays->copy[1] + middle;
    here.x = arrays->target[0] + middle;
    here.y = arrays->target[1] + middle;
    if (wide) {
        disguise(&here, &here.x, &here.incx, alone, r);
        disguise(&here, &here.y, &here.incy, alone, r);
        if (here.n < 1 && random_below(r, 2))
            here.n = here.n ? -(INT64_C(1) << 40) : 0;
        disguised += here.incx != there.incx || here.incy != there.incy || here.n != there.n;
    }
    sc_inside_enter();
    sc_blas_again(&there, named_host(&there, there.routine));
    sc_inside_leave();
    sc_blas_again(&here, named_target(&here, wide));
    good = named_same_result(&here, &there);
    for (int a = 0; a < 2 && good; a++)
        good = named_same(row->type, arrays->target[a], arrays->copy[a],
                          (int64_t)(bytes / calls_real_bytes(row->type)), 0);
    if (!good)
        tap_diag("%s%s order %c n %lld inc %lld %lld (%lld %lld %lld) alpha %g beta %g", row->name, wide ? "_64" : "",
                 here.order, (long long)here.n, (long long)here.incx, (long long)here.incy, (long long)there.n,
                 (long long)there.incx, (long long)there.incy, here.alpha[0], here.beta[0]);
    calls++;
    return good;
}

static void test_level1(void)
{
    struct random r = {88172645463325252u};
    struct arrays arrays;
    int bad = 0;

    for (int a = 0; a < 2; a++) {
        arrays.target[a] = malloc(ELEMENTS * sizeof(double) * 2);
        arrays.copy[a] = malloc(ELEMENTS * sizeof(double) * 2);
    }
    for (int routine = 1; routine < sc_blas_routines; routine++)
        if (sc_blas_rows[routine].level == 1 && sc_blas_rows[routine].op >= 0 &&
            sc_blas_host_symbol(sc_blas_rows[routine].fortran))
            for (int i = 0; i < 150 && bad < 10; i++)
                bad += !one(routine, &arrays, &r);
    tap_ok(!bad && disguised > 1000, "%d calls of level 1, %d of them with arguments that fit into no 32 bits", calls,
           disguised);
    tap_ok(!complaints && !sc_coherence_broken(), "no complaints");
    for (int a = 0; a < 2; a++)
        free(arrays.target[a]), free(arrays.copy[a]);
}

/* --- levels 2 and 3 ----------------------------------------------------------------------------------------------- */

static void fill_call(struct sc_blas_call *c, const struct calls_flags *f, double *memory)
{
    *c = (struct sc_blas_call){.routine = f->routine, .type = sc_blas_rows[f->routine].type, .order = f->order,
                               .side = f->side, .uplo = f->uplo, .transa = f->transa, .transb = f->transb,
                               .diag = f->diag, .m = 4, .n = 4, .k = 4, .kl = 1, .ku = 1, .lda = 8, .ldb = 8, .ldc = 8,
                               .incx = 1, .incy = 1, .alpha = {1}, .beta = {1}, .a = memory, .b = memory,
                               .c = memory, .x = memory, .y = memory};
}

/* Sets one of ten arguments to a wrong value. */
static void spoil(struct sc_blas_call *c, int which, bool wide)
{
    int64_t *const sizes[] = {&c->m, &c->n, &c->k, &c->kl, &c->ku}, *const steps[] = {&c->lda, &c->ldb, &c->ldc};

    if (which < 5)
        *sizes[which] = wide ? -(INT64_C(1) << 40) : -1;
    else if (which < 8)
        *steps[which - 5] = 0;
    else
        *(which == 8 ? &c->incx : &c->incy) = 0;
}

/* A vector, or a matrix of one column, may have any step. */
static void test_one_column(void)
{
    enum { SIDE = 64 };
    const int64_t side = SIDE, one_column = 1, huge = (INT64_C(1) << 40) + 3, step = 1;
    double *a = malloc(SIDE * SIDE * sizeof *a), *b = malloc(SIDE * sizeof *b), *c = malloc(SIDE * SIDE * sizeof *c);
    const double one_number = 1, zero = 0;
    int bad = 0;

    for (int i = 0; i < SIDE * SIDE; i++)
        a[i] = i % 7 - 3, c[i] = 0;
    for (int i = 0; i < SIDE; i++)
        b[i] = i % 5 - 2;
    for (int by_name = 0; by_name < 3; by_name++) {
        if (by_name == 0)
            dgemm_64_("N", "N", &side, &one_column, &side, &one_number, a, &side, b, &huge, &zero, c, &huge);
        else if (by_name == 1)
            dgemv_64_("T", &side, &one_column, &one_number, a, &side, b, &step, &zero, c, &huge);
        else
            dger_64_(&side, &one_column, &one_number, a, &step, b, &huge, c, &huge);
        for (int i = 0; i < SIDE; i++) {
            double sum = by_name == 2 ? c[SIDE] + a[i] * b[0] : 0;

            for (int j = 0; j < SIDE && by_name < 2; j++)
                sum += (by_name ? a[j] : a[i + j * SIDE]) * b[j];
            bad += by_name == 1 && i ? 0 : c[i] != sum;
        }
        memset(c, 0, SIDE * sizeof *c);
    }
    tap_ok(!bad, "matrices of one column and vectors of one element with steps above 2^40: %d wrong", bad);
    free(a);
    free(b);
    free(c);
}

/* A sum of no elements is its initial value. */
static void test_nothing(void)
{
    const int64_t lengths[] = {0, -1, -(INT64_C(1) << 40), INT64_MIN}, step = 1;
    const float number = 2, x[1] = {3};
    int bad = 0;

    for (int i = 0; i < 4; i++)
        bad += sdsdot_64_(&lengths[i], &number, x, &step, x, &step) != 2 ||
               cblas_sdsdot64_(lengths[i], number, x, 1, x, 1) != 2;
    tap_ok(!bad, "sdsdot of no elements");
}

static int wrong;

/* False: the complaints differ. */
static bool wrong_one(const struct calls_flags *flags, int which, bool wide)
{
    static double memory[8192];
    struct sc_blas_call there, here;
    char name[16];
    int number;

    fill_call(&there, flags, memory);
    here = there;
    spoil(&there, which, false);
    spoil(&here, which, wide);
    complaints = complaint = 0;
    sc_inside_enter();
    sc_blas_again(&there, named_host(&there, there.routine));
    sc_inside_leave();
    if (!complaints)
        return true; /* the routine has no argument of this kind */
    number = complaint;
    memcpy(name, complained_of, sizeof name);
    complaints = complaint = 0;
    sc_blas_again(&here, named_target(&here, wide));
    wrong++;
    if (complaints == 1 && complaint == number && !strcmp(name, complained_of))
        return true;
    tap_diag("%s%s, order %c: %d complaints, %d of %s, not %d of %s", sc_blas_rows[flags->routine].name,
             wide ? "_64" : "", flags->order, complaints, complaint, complained_of, number, name);
    return false;
}

static void test_wrong(void)
{
    static struct calls_flags flags[200];
    int bad = 0;

    for (int routine = 1; routine < sc_blas_routines; routine++) {
        const struct sc_blas_row *row = &sc_blas_rows[routine];
        int count = row->level > 1 && row->op != SC_OP_GEMMT && sc_blas_host_symbol(row->fortran)
                        ? calls_flags_of(routine, flags, 200)
                        : 0;

        for (int which = 0; which < 20 && count > 0; which++)
            bad += !wrong_one(&flags[0], which / 2, which % 2) + !wrong_one(&flags[count - 1], which / 2, which % 2);
    }
    tap_ok(!bad && wrong > 500, "%d wrong arguments at levels 2 and 3: the host's complaint arrives", wrong);
}

int main(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    sc_config.open = SC_OPEN_FIRST;
    sc_blas_start = start;
    if (sc_blas_host_open(NULL) != SC_OK)
        tap_skip_all_for_gpu("no host BLAS");
    sc_blas_small[1] = sc_blas_small[2] = sc_blas_small[3] = 0;
    env_start("emu:h200x8:2", 0);
    test_level1();
    test_one_column();
    test_nothing();
    test_wrong();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
