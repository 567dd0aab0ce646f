/* For host_steps.t: functions whose inclusive cost under callgrind is the cost of CALLS acquires for host BLAS calls
 * and of the questions before such a call. Each case runs with few and with many elements. */
#include "tests/coherence_env.h"

enum { CALLS = 50, LD = 4096, COLS = 2048, FEW = 16, MANY = 1024 };

static double *matrix(void)
{
    double *a = env_memory(sizeof *a * LD * COLS);

    for (size_t j = 0; j < COLS; j++)
        a[j * LD] = 1;
    return a;
}

static struct sc_view whole(const double *a)
{
    return (struct sc_view){.ptr = a, .type = SC_D, .rows = LD, .cols = COLS, .ld = LD, .access = SC_READ};
}

/* Uploads columns [first, end) of an array to a device; the array is tracked as a whole. */
static void share(const double *a, int64_t first, int64_t end)
{
    struct sc_view view = whole(a);
    struct sc_operand o;

    if (sc_coherence_begin(&view, 1, &o) != SC_OK ||
        sc_coherence_prefetch(0, &(struct sc_piece){.operand = &o, .c = first, .rows = LD, .cols = end - first,
                                                    .access = SC_READ}) != SC_OK)
        abort();
    sc_coherence_end(&o, 1);
    sc_coherence_drain();
}

/* Operands of n elements, or n columns. */
static struct sc_view vector(const double *a, int64_t n, int64_t inc, enum sc_access access)
{
    return (struct sc_view){.ptr = a, .type = SC_D, .vector = true, .rows = n, .cols = 1, .ld = inc, .access = access};
}
static struct sc_view block(const double *a, int64_t n, int64_t rows, enum sc_access access)
{
    return (struct sc_view){.ptr = a, .type = SC_D, .rows = rows, .cols = n, .ld = LD, .access = access};
}

static __attribute__((noinline)) void calls(const double *x, const double *y, int64_t n)
{
    const struct sc_view view[] = {
        vector(x, n, LD, SC_READ),  vector(x, n * LD, 1, SC_READ), vector(x, n, 8, SC_READ),
        vector(y, n, LD, SC_WRITE), vector(y, n, LD, SC_RDWR),     vector(y, n * LD, 1, SC_RDWR),
        block(x, n, 3, SC_READ),    block(y, n, LD / 2, SC_WRITE), block(y, n, LD, SC_RDWR)};
    enum { VIEWS = sizeof view / sizeof *view };
    struct sc_residency residency;

    for (int i = 0; i < CALLS; i++) {
        for (int v = 0; v < VIEWS; v++)
            sc_coherence_acquire_view(&view[v]);
        sc_coherence_residency(view, VIEWS, &residency);
    }
}

/* The two functions of a case have separate names in the profile. */
#define CASE(name)                                                                                                     \
    static __attribute__((noipa)) void cost_few_##name(const double *x, const double *y) { calls(x, y, FEW); }         \
    static __attribute__((noipa)) void cost_many_##name(const double *x, const double *y) { calls(x, y, MANY); }

#define RUN(name, x, y)                                                                                                \
    do {                                                                                                               \
        calls(x, y, MANY); /* brings home dirty sectors */                                                             \
        cost_few_##name(x, y);                                                                                         \
        cost_many_##name(x, y);                                                                                        \
    } while (0)

CASE(untracked)
CASE(home)
CASE(shared)
CASE(partly)

int main(void)
{
    double *untracked, *home, *home_too, *shared, *partly;

    env_init();
    sc_config.check = 0;
    env_start("emu:h200x8:1", 0);
    untracked = matrix();
    home = matrix();
    home_too = matrix();
    shared = matrix();
    partly = matrix();
    share(home, 0, COLS);
    share(home_too, 0, COLS);
    sc_coherence_acquire_host((uintptr_t)home, sizeof(double) * LD * COLS, SC_RDWR);
    sc_coherence_acquire_host((uintptr_t)home_too, sizeof(double) * LD * COLS, SC_RDWR);
    share(shared, 0, COLS);
    share(partly, COLS / 2 + 32, COLS);
    RUN(untracked, untracked, untracked + 1);
    RUN(home, home, home_too);
    RUN(shared, shared, home);
    RUN(partly, home, partly);
    sc_coherence_stop();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
