/* Vectors with open pages during calls (coherence/keep_open.c): a loop of y := A x in which the program reads y and
 * writes x.  Asserts right values, and calls without faults where the program touches the vectors after every call.
 * Values are small integers, so results are exact. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "blas/blas.h"
#include "coherence/protocol.h"
#include "device/emu/emu.h"
#include "host/touch.h"
#include "tests/offloaded.h"

enum { N = 1200, SETTLED = 4, ROUNDS = 40, LOOKS = 2 /* calls with closed pages among ROUNDS */ };

static double *a; /* N x N: row i has 1 in column i and 2 in column i + 1 */
static int devices;

static void make_a(void)
{
    a = calloc((size_t)N * N, sizeof *a);
    for (int i = 0; i < N; i++) {
        a[i + (size_t)i * N] = 1;
        a[i + (size_t)((i + 1) % N) * N] = 2;
    }
}

/* False: the call ran on the host. */
static bool offload(struct sc_kernel k)
{
    k.type = SC_D;
    return offloaded(k);
}

/* The first n columns and rows of A. */
static void gemv(int n, const double *x, int64_t incx, double beta, double *y, int64_t incy)
{
    offload((struct sc_kernel){.op = SC_OP_GEMV, .transa = 'N', .m = n, .n = n, .a = a, .b = (void *)(uintptr_t)x,
                               .c = y, .lda = N, .ldb = incx, .ldc = incy, .alpha = {1, 0}, .beta = {beta, 0}});
}

static void scal(double *x, int n, double factor)
{
    offload((struct sc_kernel){.op = SC_OP_SCAL, .m = n, .n = n, .a = x, .lda = 1, .alpha = {factor, 0}});
}

static double product(int n, const double *x, int64_t incx, int i)
{
    return x[i * incx] + (i + 1 < n ? 2 * x[(i + 1) * incx] : n == N ? 2 * x[0] : 0);
}

static void fill(double *x, int n, int64_t inc, int step)
{
    for (int i = 0; i < n; i++)
        x[i * inc] = (i * 7 + step) % 11 - 5;
}

static int compare(int n, const double *x, int64_t incx, const double *y, int64_t incy)
{
    int wrong = 0;

    for (int i = 0; i < n; i++)
        wrong += ((volatile double *)(uintptr_t)y)[i * incy] != product(n, x, incx, i);
    return wrong;
}

static uint64_t faults(void)
{
    return __atomic_load_n(&sc_stats.faults_read, __ATOMIC_RELAXED) +
           __atomic_load_n(&sc_stats.faults_write, __ATOMIC_RELAXED);
}

static uint64_t moved(void)
{
    return __atomic_load_n(&sc_stats.bytes[SC_H2D], __ATOMIC_RELAXED) +
           __atomic_load_n(&sc_stats.bytes[SC_D2H], __ATOMIC_RELAXED);
}

static double *vector(int n)
{
    double *x = env_memory((size_t)n * sizeof *x);

    for (int i = 0; i < n; i++)
        x[i] = 0;
    return x;
}

/* A step of the program: x, y := A x, a look at all of y. */
static int step(int n, double *x, double *y, int number)
{
    fill(x, n, 1, number);
    gemv(n, x, 1, 0, y, 1);
    return compare(n, x, 1, y, 1);
}

/* Calls without a fault of the program, among `rounds`; the vectors have settled before. */
static int steps_without_faults(int n, double *x, double *y, int rounds, int *wrong)
{
    int without = 0;

    for (int i = 0; i < rounds; i++) {
        uint64_t before = faults();

        *wrong += step(n, x, y, i);
        without += faults() == before;
    }
    return without;
}

static void test_loop(void)
{
    double *x = vector(N), *y = vector(N);
    int wrong = 0, without;

    steps_without_faults(N, x, y, SETTLED, &wrong);
    without = steps_without_faults(N, x, y, ROUNDS, &wrong);
    /* On a GPU the decision depends on measured times. */
    tap_ok(!wrong && (without >= ROUNDS - 2 * LOOKS || !env_is_emulated()),
           "%d devices: a loop without faults, and with the right values (%d of %d, %d wrong)", devices, without,
           ROUNDS, wrong);
    free(x);
    free(y);
}

/* The program stops its touches of the vectors. */
static void test_stop(void)
{
    double *x = vector(N), *y = vector(N);
    uint64_t before = 0;
    int wrong = 0, rest;

    steps_without_faults(N, x, y, SETTLED, &wrong);
    for (int i = 0; i < ROUNDS; i++) {
        if (i == 18)
            before = moved();
        gemv(N, x, 1, 0, y, 1);
    }
    tap_ok(moved() == before, "vectors that the program leaves alone stay on the devices (%d bytes moved)",
           (int)(moved() - before));
    tap_ok(!wrong && !compare(N, x, 1, y, 1), "with their values");
    steps_without_faults(N, x, y, SETTLED, &wrong);
    rest = steps_without_faults(N, x, y, 10, &wrong);
    tap_ok((rest == 10 || !env_is_emulated()) && !wrong, "and are kept open again later");
    free(x);
    free(y);
}

/* --- results in new memory ---------------------------------------------------------------------------------------- */

enum { WIDE = 32 };

/* An expression of a program: C := A B in new memory, with so many columns. */
static double *columns(const double *b, int n)
{
    double *c = env_memory((size_t)N * (size_t)n * sizeof *c);

    offload((struct sc_kernel){.op = SC_OP_GEMM, .transa = 'N', .transb = 'N', .m = N, .n = n, .k = N, .a = a,
                               .b = (void *)(uintptr_t)b, .c = c, .lda = N, .ldb = N, .ldc = N, .alpha = {1, 0}});
    return c;
}

static double *expression(const double *b) { return columns(b, WIDE); }

static int compare_columns(const double *b, const double *c)
{
    int wrong = 0;

    for (int j = 0; j < WIDE; j++)
        wrong += compare(N, b + (size_t)j * N, 1, c + (size_t)j * N, 1);
    return wrong;
}

static void test_new_memory(void)
{
    double *b = vector(N * WIDE);
    int wrong = 0, without = 0;

    fill(b, N * WIDE, 1, 0);
    for (int i = 0; i < SETTLED + ROUNDS; i++) {
        uint64_t before = faults();
        double *c = expression(b);

        wrong += compare_columns(b, c);
        without += i >= SETTLED && faults() == before;
        free(c);
    }
    tap_ok(!wrong && (without >= ROUNDS - 2 * LOOKS || !env_is_emulated()),
           "results in new memory without faults (%d of %d, %d wrong)", without, ROUNDS, wrong);
    free(b);
}

/* The program rewrites the operand, a small matrix in several windows of write faults. */
static void test_rewritten(void)
{
    double *b = vector(N * WIDE);
    uint64_t before = 0;
    int wrong = 0;

    for (int i = 0; i < SETTLED + ROUNDS; i++) {
        double *c;

        if (i == SETTLED)
            before = faults();
        fill(b, N * WIDE, 1, i);
        c = expression(b);
        wrong += compare_columns(b, c);
        free(c);
    }
    tap_ok(!wrong && (faults() - before <= 3 * ROUNDS || !env_is_emulated()),
           "a matrix that is rewritten opens at its second fault (%d faults in %d rounds, %d wrong)",
           (int)(faults() - before), ROUNDS, wrong);
    free(b);
}

/* Of two results of one shape the program reads the second only. */
static void test_new_and_unread(void)
{
    double *b = vector(N * WIDE);
    uint64_t before = 0;
    int wrong = 0;

    fill(b, N * WIDE, 1, 0);
    for (int i = 0; i < ROUNDS; i++) {
        double *c = expression(b), *d = expression(c);

        if (i == SETTLED)
            before = moved();
        for (int j = 0; j < N; j++)
            wrong += d[j] != product(N, b, 1, j) + 2 * product(N, b, 1, (j + 1) % N);
        free(c);
        free(d);
    }
    tap_ok(!wrong && moved() - before <= (ROUNDS - SETTLED) * N * WIDE * sizeof *b,
           "the other result of the same shape stays on the devices (%d wrong, %g results moved)", wrong,
           (double)(moved() - before) / (N * WIDE * sizeof *b));
    free(b);
}

/* Of three results of one shape devices read the first, and the program the others. Memory goes as in a program that
 * assigns new results to old names. */
static void test_new_and_mixed(int n)
{
    double *b = vector(N * n), *c = NULL, *d = NULL, *e = NULL, *old;
    size_t bytes = (size_t)N * (size_t)n * sizeof *b;
    uint64_t before = 0;
    int wrong = 0;

    fill(b, N * n, 1, 0);
    for (int i = 0; i < ROUNDS; i++) {
        if (i == ROUNDS / 2)
            before = moved();
        old = c, c = columns(b, n), free(old);
        old = d, d = columns(c, n), free(old);
        old = e, e = columns(c, n), free(old);
        for (int j = 0; j < N * n; j++)
            wrong += d[j] != e[j];
        for (int j = 0; j < N; j++)
            wrong += d[j] != product(N, b, 1, j) + 2 * product(N, b, 1, (j + 1) % N);
    }
    tap_ok(!wrong && (moved() - before <= ROUNDS / 2 * 5 / 2 * bytes || !env_is_emulated()),
           "results of %d columns for devices and for the program: %g of 3 moved in a round (%d wrong)", n,
           (double)(moved() - before) / (double)bytes / (ROUNDS / 2), wrong);
    free(b);
    free(c);
    free(d);
    free(e);
}

/* --- other kinds of operands -------------------------------------------------------------------------------------- */

static void test_in_place(void)
{
    double *x = vector(N), want = 0;
    int wrong = 0;

    for (int i = 0; i < ROUNDS; i++) {
        scal(x, N, -2);
        want = -2 * want;
        for (int j = 0; j < N; j++)
            wrong += x[j] != want, x[j] = i % 5;
        want = i % 5;
    }
    tap_ok(!wrong, "results in place (%d wrong)", wrong);
    free(x);
}

static void test_added(void)
{
    double *x = vector(N), *y = vector(N), *want = calloc(N, sizeof *want);
    int wrong = 0;

    for (int i = 0; i < ROUNDS; i++) {
        fill(x, N, 1, i);
        for (int j = 0; j < N; j++)
            want[j] = product(N, x, 1, j) - want[j];
        gemv(N, x, 1, -1, y, 1);
        for (int j = 0; j < N; j++) {
            wrong += y[j] != want[j];
            if (i % 4 == 0)
                y[j] = want[j] = j % 3;
        }
    }
    tap_ok(!wrong, "results with beta = -1 (%d wrong)", wrong);
    free(x);
    free(y);
    free(want);
}

/* The operands are equal, or overlap. */
static void test_aliases(void)
{
    double *x = vector(N), alpha = 1;
    int wrong = 0;

    for (int i = 0; i < ROUNDS; i++) {
        fill(x, N, 1, i);
        offload((struct sc_kernel){.op = SC_OP_AXPY, .m = N, .n = N, .a = x, .b = x, .lda = 1, .ldb = 1,
                                   .alpha = {alpha, 0}});
        for (int j = 0; j < N; j++)
            wrong += x[j] != 2 * ((j * 7 + i) % 11 - 5);
        offload((struct sc_kernel){.op = SC_OP_COPY, .m = N / 2, .n = N / 2, .a = x, .b = x + N / 2, .lda = 1,
                                   .ldb = 1});
        for (int j = 0; j < N / 2; j++)
            wrong += x[j + N / 2] != x[j];
    }
    tap_ok(!wrong, "operands on the same vector (%d wrong)", wrong);
    free(x);
}

/* Every second element belongs to the program, which writes it during the calls. */
struct gaps {
    double *x;
    bool over;
    int wrong;
};

static void *write_gaps(void *argument)
{
    struct gaps *g = argument;

    for (int i = 0; !__atomic_load_n(&g->over, __ATOMIC_ACQUIRE); i++) {
        int at = 2 * (i * 31 % N) + 1;

        __atomic_store_n((int64_t *)(void *)&g->x[at], i, __ATOMIC_RELAXED);
        g->wrong += __atomic_load_n((int64_t *)(void *)&g->x[at], __ATOMIC_RELAXED) != i;
    }
    return NULL;
}

static void test_strided(void)
{
    double *x = vector(2 * N), *y = vector(2 * N);
    struct gaps g = {.x = y};
    int wrong = 0;
    pthread_t thread;

    pthread_create(&thread, NULL, write_gaps, &g);
    for (int i = 0; i < ROUNDS; i++) {
        fill(x, N, 2, i);
        gemv(N, x, 2, 0, y, 2);
        wrong += compare(N, x, 2, y, 2);
    }
    __atomic_store_n(&g.over, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    tap_ok(!wrong && !g.wrong, "vectors with gaps that another thread writes (%d and %d wrong)", wrong, g.wrong);
    free(x);
    free(y);
}

/* Parts of an array that is a whole vector of other calls. */
static void test_parts(void)
{
    double *x = vector(N), *y = vector(N);
    int wrong = 0, half = N / 2 - 3;

    for (int i = 0; i < ROUNDS; i++) {
        wrong += step(N, x, y, i);
        if (i % 3 == 0) {
            fill(x, N, 1, i + 1);
            gemv(half, x + 5, 1, 0, y + 7, 1);
            for (int j = 0; j < half; j++)
                wrong += y[j + 7] != product(half, x + 5, 1, j);
        }
    }
    tap_ok(!wrong, "parts of the vectors, in between (%d wrong)", wrong);
    free(x);
    free(y);
}

/* The vectors lie in one block: y and z, and z and x, share pages.  z is newest on a device. */
static void test_neighbour(void)
{
    enum { Z = 700 };
    double *block = vector(2 * N + Z), *y = block, *z = block + N, *x = block + N + Z, want = 1;
    int wrong = 0, lost = 0;

    for (int i = 0; i < Z; i++)
        z[i] = 1;
    for (int i = 0; i < ROUNDS; i++) {
        scal(z, Z, -1);
        want = -want;
        wrong += step(N, x, y, i);
        if (i % 3)
            continue;
        for (int j = 0; j < Z; j++)
            lost += z[j] != want;
        want = i % 7 + 1;
        for (int j = 0; j < Z; j++)
            z[j] = want;
    }
    for (int j = 0; j < Z; j++)
        lost += z[j] != want;
    tap_ok(!wrong && !lost, "a neighbour on the same pages (%d wrong, %d lost)", wrong, lost);
    free(block);
}

/* Memory of a vector becomes one of another shape. */
static void test_reuse(void)
{
    int wrong = 0;

    for (int i = 0; i < 12; i++) {
        int n = i % 2 ? N : N - 100 * (i % 5);
        double *x = vector(n), *y = vector(n);

        for (int j = 0; j < 6; j++)
            wrong += step(n, x, y, j);
        for (int j = 0; j < 6; j++) /* without free */
            wrong += step(n / 2, y, x, j);
        free(x);
        free(y);
    }
    tap_ok(!wrong, "memory with other vectors (%d wrong)", wrong);
}

static void test_fork(void)
{
    double *x = vector(N), *y = vector(N);
    int wrong = 0, status = -1;
    pid_t child;

    steps_without_faults(N, x, y, SETTLED + 3, &wrong);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        wrong += compare(N, x, 1, y, 1);
        for (int i = 0; i < 4; i++) {
            fill(x, N, 1, i);
            for (int j = 0; j < N; j++)
                y[j] = product(N, x, 1, j);
            wrong += compare(N, x, 1, y, 1);
        }
        _exit(wrong != 0);
    }
    waitpid(child, &status, 0);
    steps_without_faults(N, x, y, ROUNDS, &wrong);
    tap_ok(child > 0 && status == 0 && !wrong, "a child computes on");
    free(x);
    free(y);
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

struct reader {
    const double *x;
    bool over;
    int wrong;
};

static void *read_all(void *argument)
{
    struct reader *r = argument;

    while (!__atomic_load_n(&r->over, __ATOMIC_ACQUIRE))
        for (int i = 0; i < N; i++)
            r->wrong += ((const volatile double *)r->x)[i] != i % 5;
    return NULL;
}

static void test_reader(void)
{
    double *x = vector(N), *y = vector(N);
    struct reader r = {.x = x};
    int wrong = 0;
    pthread_t thread;

    for (int i = 0; i < N; i++)
        x[i] = i % 5;
    pthread_create(&thread, NULL, read_all, &r);
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < N; j++)
            ((volatile double *)x)[j] = j % 5;
        gemv(N, x, 1, 0, y, 1);
        wrong += compare(N, x, 1, y, 1);
    }
    __atomic_store_n(&r.over, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    tap_ok(!wrong && !r.wrong, "another thread reads x all the time (%d and %d wrong)", wrong, r.wrong);
    free(x);
    free(y);
}

static double *common; /* read by all threads */

static void *loop(void *argument)
{
    int *wrong = argument;
    double *x = vector(N), *y = vector(N), *z = vector(N);

    for (int i = 0; i < ROUNDS; i++) {
        *wrong += step(N, x, y, i);
        gemv(N, common, 1, 0, z, 1);
        *wrong += compare(N, common, 1, z, 1);
    }
    free(x);
    free(y);
    free(z);
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    int wrong[THREADS] = {0}, bad = 0;

    common = vector(N);
    fill(common, N, 1, 3);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, loop, &wrong[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        bad += wrong[i];
    }
    tap_ok(!bad, "%d threads with vectors of their own, and with one of all (%d wrong)", THREADS, bad);
    free(common);
}

/* System calls of another thread use memory beside an operand. */
struct user {
    uintptr_t lo, hi;
    bool over, wanted;
    int uses, closed; /* pages closed during a use */
};

static void *use(void *argument)
{
    struct user *u = argument;

    while (!__atomic_load_n(&u->over, __ATOMIC_ACQUIRE)) {
        struct sc_host_use use = {0};

        if (!__atomic_load_n(&sc_protocol.active, __ATOMIC_ACQUIRE) ||
            !__atomic_exchange_n(&u->wanted, false, __ATOMIC_ACQ_REL))
            continue;
        sc_host_touch_range(&use, u->lo, u->hi, SC_RDWR);
        for (int i = 0; i < 20; i++, usleep(10))
            u->closed += sc_host_prot(u->lo) != SC_PROT_RW;
        sc_host_use_end(&use);
        u->uses++;
    }
    return NULL;
}

/* The call waits for the rest of y before it begins, and x is a part of a vector. */
static void test_system_calls(void)
{
    enum { LONG = 100000, REST = 1000 };
    double *x = vector(LONG + REST), *y = vector(LONG);
    struct user u = {.lo = (uintptr_t)(x + LONG + 8), .hi = (uintptr_t)(x + LONG + REST)};
    int wrong = 0, offloaded = 0;
    pthread_t thread;

    for (int i = 0; i < LONG; i++)
        x[i] = i % 3;
    scal(x, LONG + REST, 1);
    if (env_is_emulated())
        sc_emu_jitter(1, 100);
    pthread_create(&thread, NULL, use, &u);
    for (int i = 0; i < 10 * ROUNDS; i++) {
        if (i % 4 == 0) { /* the third call of four waits */
            free(y);
            y = vector(LONG);
        }
        usleep(i % 4 == 2 ? 2000 : 0);
        __atomic_store_n(&u.wanted, i % 4 == 2, __ATOMIC_RELEASE);
        offloaded += offload((struct sc_kernel){.op = SC_OP_AXPY, .m = LONG, .n = LONG, .a = x, .b = y, .lda = 1,
                                                .ldb = 1, .alpha = {1, 0}});
        wrong += y[i % 10] != (i % 4 + 1) * (i % 10 % 3);
    }
    __atomic_store_n(&u.over, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    if (env_is_emulated())
        sc_emu_jitter(1, 0);
    for (int i = 0; i < LONG; i++)
        wrong += y[i] != 4 * (i % 3);
    tap_ok(!wrong && !u.closed, "pages stay open for system calls (%d wrong, %d closed, %d uses, %d calls on devices)",
           wrong, u.closed, u.uses, offloaded);
    free(x);
    free(y);
}

/* --- failures ----------------------------------------------------------------------------------------------------- */

/* The vectors stay open when the device fails. */
static int run_with_fault(int count, enum sc_emu_kind kind, uint64_t nth)
{
    char name[32];
    double *x, *y;
    int wrong = 0;

    snprintf(name, sizeof name, "emu:h200x8:%d", count);
    devices = env_start(name, 0);
    make_a();
    x = vector(N);
    y = vector(N);
    steps_without_faults(N, x, y, SETTLED, &wrong);
    sc_emu_inject(0, (struct sc_emu_fault){.kind = kind, .nth = nth});
    steps_without_faults(N, x, y, 4, &wrong);
    free(x);
    free(y);
    free(a);
    sc_coherence_stop();
    return wrong;
}

static void test_faults(int count)
{
    int wrong = 0;

    if (failures_come_late())
        return;
    for (int kind = SC_EMU_ALLOC; kind <= SC_EMU_LAUNCH; kind++)
        for (uint64_t nth = 1; nth <= 5; nth += 2)
            wrong += run_with_fault(count, (enum sc_emu_kind)kind, nth);
    tap_ok(!wrong, "%d devices: one that fails in such a call changes no number (%d wrong)", count, wrong);
}

int main(void)
{
    static const int counts[] = {1, 2, 4};

    env_init();
    sc_config.push = 1;
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    for (int i = 0; i < 3; i++) {
        char name[32];

        snprintf(name, sizeof name, "emu:h200x8:%d", counts[i]);
        devices = env_start(name, 0);
        make_a();
        test_loop();
        test_stop();
        test_new_memory();
        test_new_and_unread();
        test_rewritten();
        test_new_and_mixed(WIDE);
        test_new_and_mixed(4 * WIDE);
        test_in_place();
        test_added();
        test_aliases();
        test_strided();
        test_parts();
        test_neighbour();
        test_reuse();
        test_fork();
        test_reader();
        test_threads();
        test_system_calls();
        free(a);
        sc_coherence_stop();
        if (env_is_emulated())
            test_faults(counts[i]);
    }
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
