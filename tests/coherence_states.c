/* Deterministic cases of the protocol on two emulated devices. Asserts which bytes move, how many faults are taken, and
 * the values afterwards. */
#include <sys/wait.h>
#include <unistd.h>

#include "device/emu/emu.h"
#include "host/fault_int.h"
#include "tests/coherence_env.h"

#define N 1024 /* a matrix of 8 MiB: columns of two pages */

static double *array(int64_t n, double value)
{
    double *p = malloc((size_t)n * sizeof *p);

    for (int64_t i = 0; i < n; i++)
        p[i] = value;
    return p;
}

static struct sc_view matrix_view(double *a, enum sc_access access)
{
    return (struct sc_view){.ptr = a, .type = SC_D, .rows = N, .cols = N, .ld = N, .access = access, .spread = 1};
}

static struct sc_view vector_view(double *x, int64_t n, enum sc_access access)
{
    return (struct sc_view){.ptr = x, .type = SC_D, .vector = true, .rows = n, .cols = 1, .ld = 1, .access = access,
                            .spread = 1};
}

/* y := A x on a device. */
static void gemv(int device, double *a, double *x, double *y)
{
    struct sc_view v[3] = {matrix_view(a, SC_READ), vector_view(x, N, SC_READ), vector_view(y, N, SC_WRITE)};
    struct sc_kernel k = {.op = SC_OP_GEMV, .type = SC_D, .transa = 'N', .m = N, .n = N, .alpha = {1}, .beta = {0}};
    struct sc_operand o[3];

    if (sc_coherence_begin(v, 3, o) != SC_OK) {
        tap_ok(0, "begin");
        return;
    }
    sc_coherence_task(device, &k,
                      (struct sc_piece[3]){{.operand = &o[0], .rows = N, .cols = N, .access = SC_READ},
                                           {.operand = &o[1], .rows = N, .cols = 1, .access = SC_READ},
                                           {.operand = &o[2], .rows = N, .cols = 1, .access = SC_WRITE}},
                      NULL, NULL);
    sc_coherence_end(o, 3);
}

/* x := alpha x on a device, n elements. */
static void scal(int device, double *x, int64_t n, double alpha)
{
    struct sc_view v = vector_view(x, n, SC_RDWR);
    struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .m = n, .n = n, .alpha = {alpha}};
    struct sc_operand o;

    if (sc_coherence_begin(&v, 1, &o) != SC_OK) {
        tap_ok(0, "begin");
        return;
    }
    sc_coherence_task(device, &k, (struct sc_piece[3]){{.operand = &o, .rows = n, .cols = 1, .access = SC_RDWR}}, NULL,
                      NULL);
    sc_coherence_end(&o, 1);
}

static int devices;

static uint64_t moved(enum sc_transfer kind)
{
    static uint64_t last[SC_TRANSFERS];
    uint64_t now = __atomic_load_n(&sc_stats.bytes[kind], __ATOMIC_SEQ_CST), delta = now - last[kind];

    last[kind] = now;
    return delta;
}

static void forget_moves(void)
{
    for (int k = 0; k < SC_TRANSFERS; k++)
        moved((enum sc_transfer)k);
}

static void test_loop(void)
{
    double *a = array((int64_t)N * N, 1), *x = array(N, 1), *y = array(N, 7);
    uint64_t up;

    forget_moves();
    gemv(0, a, x, y);
    up = moved(SC_H2D);
    tap_ok(up == (uint64_t)N * N * 8 + N * 8, "first y := A x uploads A and x, not y (%llu bytes)",
           (unsigned long long)up);
    for (int i = 0; i < 10; i++)
        gemv(0, a, x, y);
    tap_ok(moved(SC_H2D) + moved(SC_D2H) + moved(SC_D2D) == 0, "ten more move nothing");
    tap_ok(*(volatile double *)&y[3] == N && moved(SC_D2H) == N * 8, "reading y brings y");
    tap_ok(*(volatile double *)&a[5] == 1 && moved(SC_D2H) == 0, "reading A brings nothing: it is shared");
    a[7 * N + 3] = 2;
    gemv(0, a, x, y);
    up = moved(SC_H2D);
    tap_ok(up > 0 && up <= (uint64_t)2 * (N / 64) * N * 8,
           "one element of A written: at most two sectors go up again (%llu)", (unsigned long long)up);
    tap_ok(y[3] == N + 1 && y[4] == N, "and the product has the new value");
    if (devices < 2) {
        free(a);
        free(x);
        free(y);
        return;
    }
    gemv(1, a, x, y);
    tap_ok(moved(SC_H2D) == 0 && moved(SC_D2D) == (uint64_t)N * N * 8 + N * 8,
           "a second device gets its copies from the first");
    tap_ok(y[3] == N + 1, "with the same result");
    free(a);
    free(x);
    free(y);
}

/* For any number of sectors, an array resident as a whole is reported with every byte. */
static void test_residency(void)
{
    int wrong = 0;

    for (int64_t n = 2000; n < 60000; n += 997) {
        double *x = array(n, 1);
        struct sc_view view = vector_view(x, n, SC_READ);
        struct sc_residency there;

        scal(0, x, n, 2);
        sc_coherence_residency(&view, 1, &there);
        wrong += there.bytes != (uint64_t)n * 8 || there.device_bytes != there.bytes ||
                 there.device_only != there.bytes;
        free(x);
    }
    tap_ok(!wrong, "what is on a device as a whole is said to be (%d)", wrong);
}

/* A row of a matrix by columns, written and not read: each of its elements brings a page. */
static void test_strides(void)
{
    static const struct {
        int64_t stride;
        uint64_t beside;
    } rows[] = {{1, 0}, {2, 8}, {-2, 8}, {512, 4088}, {1000, 4088}};
    const int64_t n = 1000;
    double *x = array(n * 1000, 1);
    int wrong = 0;

    for (int i = 0; i < 5; i++) {
        const struct sc_kernel k = {.op = SC_OP_COPY, .type = SC_D, .n = n, .a = x, .b = x, .lda = 1,
                                    .ldb = rows[i].stride};
        struct sc_view view[SC_VIEWS_MAX];
        struct sc_residency there;
        int count = sc_kernel_views(&k, view);

        sc_coherence_residency(&view[count - 1], 1, &there);
        wrong += count != 2 || there.bytes != 8000 || there.overwritten != 8000 || there.beside != n * rows[i].beside;
    }
    tap_ok(!wrong, "what goes up beside the elements of a strided vector (%d)", wrong);
    free(x);
}

static void test_windows(void)
{
    int64_t n = 4 << 20; /* 32 MiB */
    double *x = array(n, 3);
    int wrong = 0;
    uint64_t down;

    scal(0, x, n, 2);
    forget_moves();
    wrong += *(volatile double *)&x[n / 2] != 6; /* before the counter is read */
    down = moved(SC_D2H);
    tap_ok(!wrong && down <= sc_config.window_min, "one element of 32 MiB brings a window (%llu bytes)",
           (unsigned long long)down);
    for (int64_t i = 0; i < n; i++)
        wrong += ((volatile double *)x)[i] != 6;
    down = moved(SC_D2H);
    tap_ok(!wrong && down <= (uint64_t)n * 8, "a sweep brings each byte once (%llu)", (unsigned long long)down);
    scal(0, x, n, 2);
    tap_ok(moved(SC_H2D) == 0, "all of it read and nothing written: the device's copy is still good");
    wrong += x[0] != 12;
    x[1] = 5;
    scal(0, x, n, -1);
    for (int64_t i = 0; i < n; i++)
        wrong += x[i] != (i == 1 ? -5 : -12);
    tap_ok(!wrong, "partly home, one written, scaled again: every element right");
    free(x);
}

static void test_write_whole(void)
{
    double *x = array(N * 64, 1);

    scal(0, x, N * 64, 2);
    forget_moves();
    sc_coherence_acquire_host((uintptr_t)x, N * 64 * 8, SC_WRITE);
    tap_ok(moved(SC_D2H) == 0, "acquired to be overwritten: nothing comes home");
    for (int i = 0; i < N * 64; i++)
        x[i] = i;
    scal(devices - 1, x, N * 64, 1);
    tap_ok(x[100] == 100, "what was written is what counts");
    free(x);
}

/* A view whose elements a host routine will overwrite: elements between the view's columns keep their values and come
 * home. The view is a matrix of `rows` rows (ld > rows), or a vector if rows is 1. */
static void test_write_view(int64_t rows, int64_t cols, int64_t ld)
{
    int64_t n = cols * ld;
    double *x = array(n, 3);
    struct sc_view v = {.ptr = x, .type = SC_D, .vector = rows == 1, .rows = rows, .cols = cols, .ld = ld,
                        .access = SC_WRITE};
    int64_t lost = 0;

    if (v.vector) {
        v.rows = cols;
        v.cols = 1;
    }
    scal(0, x, n, 2);
    sc_coherence_acquire_view(&v);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            x[j * ld + i] = 1;
    scal(0, x, n, 10);
    for (int64_t i = 0; i < n; i++)
        lost += x[i] != (i % ld < rows ? 10 : 60);
    tap_ok(lost == 0, "overwriting %d of every %d elements keeps the others (%lld lost)", (int)rows, (int)ld,
           (long long)lost);
    free(x);
}

/* The CPU overwrites an array held by a device: a few faults a sector, not one a page. */
static void test_write_sweep(void)
{
    int64_t n = 4 << 20; /* 32 MiB in 64 sectors */
    double *x = array(n, 3);
    uint64_t faults;
    int wrong = 0;

    scal(0, x, n, 2);
    faults = __atomic_load_n(&sc_stats.faults_write, __ATOMIC_SEQ_CST);
    for (int64_t i = 0; i < n; i += 512)
        x[i] = 1;
    faults = __atomic_load_n(&sc_stats.faults_write, __ATOMIC_SEQ_CST) - faults;
    for (int64_t i = 0; i < n; i++)
        wrong += x[i] != (i % 512 ? 6 : 1);
    tap_ok(!wrong && faults <= 256, "8192 pages written: a fault for each sector, not for each page (%llu)",
           (unsigned long long)faults);
    free(x);
}

/* A long array that the program uses block after block, as blocked algorithms do. Each round uses a new block, and the
 * blocks before. Returns the number of reshapes. */
static uint64_t use_block_by_block(double *x, int64_t ld, int64_t width, int blocks)
{
    uint64_t before = sc_stats.reshapes;

    for (int j = 0; j < blocks; j++) {
        struct sc_view v[2] = {{.ptr = x + 5, .type = SC_D, .rows = ld - 5, .cols = (j + 1) * width, .ld = ld,
                                .access = SC_READ},
                               {.ptr = x + j * width * ld, .type = SC_D, .rows = ld, .cols = width, .ld = ld,
                                .access = SC_READ}};

        for (int i = 1; i >= 0; i--) {
            struct sc_operand o;

            if (sc_coherence_begin(&v[i], 1, &o) == SC_OK)
                sc_coherence_end(&o, 1);
        }
    }
    return sc_stats.reshapes - before;
}

static void test_growing(void)
{
    double *x = array(200 * 8000, 1);
    uint64_t reshapes = use_block_by_block(x, 200, 40, 200);

    tap_ok(reshapes <= 8, "200 blocks of one array come into use: %llu reshapes", (unsigned long long)reshapes);
    free(x);
}

/* The device's memory is full, so inputs are evicted while their uploads may still be running. The program overwrites
 * the inputs as soon as the calls have returned. */
static int overwrite_evicted(uint64_t seed)
{
    enum { ARRAYS = 12, LENGTH = 16384 };
    double *x[ARRAYS], *y;
    int wrong = 0;

    env_start("emu:h200x8:1", 1 << 20);
    sc_emu_jitter(seed, 3000);
    y = array(LENGTH, 0);
    for (int i = 0; i < ARRAYS; i++)
        x[i] = array(LENGTH, i + 1);
    for (int i = 0; i < ARRAYS; i++) {
        struct sc_view v[2] = {vector_view(x[i], LENGTH, SC_READ), vector_view(y, LENGTH, SC_RDWR)};
        struct sc_kernel k = {.op = SC_OP_AXPY, .type = SC_D, .m = LENGTH, .n = LENGTH, .alpha = {1}};
        struct sc_operand o[2];
        struct sc_piece pieces[3] = {{.operand = &o[0], .rows = LENGTH, .cols = 1, .access = SC_READ},
                                     {.operand = &o[1], .rows = LENGTH, .cols = 1, .access = SC_RDWR}};

        if (sc_coherence_begin(v, 2, o) != SC_OK)
            return 1;
        wrong += sc_coherence_task(0, &k, pieces, NULL, NULL) != SC_OK;
        sc_coherence_end(o, 2);
    }
    for (int i = 0; i < ARRAYS; i++)
        for (int64_t j = 0; j < LENGTH; j++)
            x[i][j] = 1000;
    for (int64_t j = 0; j < LENGTH; j++)
        wrong += y[j] != ARRAYS * (ARRAYS + 1) / 2;
    free(y);
    for (int i = 0; i < ARRAYS; i++)
        free(x[i]);
    sc_coherence_stop();
    return wrong;
}

static void test_overwrite_evicted(void)
{
    int wrong = 0;

    for (uint64_t seed = 1; seed <= 5; seed++)
        wrong += overwrite_evicted(seed);
    tap_ok(wrong == 0, "inputs that were evicted stay closed until their uploads are done (%d wrong)", wrong);
}

/* When no more pages can be closed, calls go to the host. */
static void test_mappings(void)
{
    enum { ARRAYS = 600, LENGTH = 2048 };
    static double *x[ARRAYS];
    size_t system = sc_host_mappings_budget;
    int wrong = 0;

    env_start("emu:h200x8:1", 0);
    sc_host_mappings_budget = 600;
    for (int i = 0; i < ARRAYS; i++)
        x[i] = array(LENGTH, 1);
    for (int i = 0; i < ARRAYS; i++)
        for (int half = 0; half < 2; half++) /* every second array: the arrays in between stay open */
            if (i % 2)
                scal(0, x[i], LENGTH, 3);
    for (int i = 0; i < ARRAYS; i++) {
        wrong += x[i][7] != (i % 2 ? 9 : 1);
        x[i][7] = 2;
    }
    for (int i = 1; i < ARRAYS; i += 2) {
        scal(0, x[i], LENGTH, 3);
        wrong += x[i][7] != 6 || x[i][8] != 27;
    }
    tap_ok(wrong == 0, "no number is wrong when there are too many mappings (%d)", wrong);
    for (int i = 0; i < ARRAYS; i++)
        free(x[i]);
    sc_host_mappings_budget = system;
    sc_coherence_stop();
}

/* Vectors cut into many tiles, at different places each: the pieces of a call on three vectors still reach the end. */
static void test_many_cuts(void)
{
    static const int64_t length[3] = {1300000, 1400000, 1500000};
    struct sc_cuts cuts, other;
    struct sc_operand o[3];
    struct sc_view v[3];
    double *x[3];

    env_start("emu:h200x8:1", 65536); /* asks for tiles of 8 KiB; the limit of tiles makes larger tiles */
    for (int i = 0; i < 3; i++) {
        x[i] = malloc((size_t)length[i] * sizeof *x[i]);
        v[i] = vector_view(x[i], length[i], SC_READ);
    }
    if (sc_coherence_begin(v, 3, o) == SC_OK)
        sc_coherence_end(o, 3);
    for (int i = 0; i < 3; i++)
        v[i].rows = length[0] - 1;
    if (sc_coherence_begin(v, 3, o) == SC_OK) {
        sc_coherence_row_cuts(&o[0], &cuts);
        for (int i = 1; i < 3; i++) {
            sc_coherence_row_cuts(&o[i], &other);
            sc_cuts_merge(&cuts, &other);
        }
        tap_ok(cuts.n > 500 && cuts.at[cuts.n] == length[0] - 1, "the cuts of three vectors find room (%d)", cuts.n);
        sc_coherence_end(o, 3);
    }
    for (int i = 0; i < 3; i++)
        free(x[i]);
    sc_coherence_stop();
}

static void test_fork(void)
{
    double *x = array(N * 64, 1);
    int status = -1;
    pid_t child;

    scal(0, x, N * 64, 2);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        x[5] += 1;
        _exit(x[5] == 3 && x[N * 64 - 1] == 2 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    tap_ok(child > 0 && status == 0, "a forked child reads and writes what was on a device");
    scal(0, x, N * 64, 2);
    tap_ok(x[5] == 4, "the parent goes on with its own");
    free(x);
}

static void test_untracked(void)
{
    static double x[4096]; /* not in the arena */

    for (int i = 0; i < 4096; i++)
        x[i] = i;
    scal(devices - 1, x, 4096, 3);
    tap_ok(x[4095] == 3 * 4095 && x[1] == 3, "memory that cannot be tracked is copied in and out");
}

/* One fault in one run. After the fault the device gets no new work; its data still come home. */
static int run_with_fault(enum sc_emu_kind kind, uint64_t nth)
{
    int64_t n = N * 64;
    double *x, want = 1;
    int wrong = 0;

    env_start("emu:h200x8:2", 0);
    x = array(n, 1);
    sc_emu_inject(0, (struct sc_emu_fault){.kind = kind, .nth = nth});
    for (int i = 0; i < 3; i++) {
        scal(0, x, n, -1);
        want = -want;
        wrong += x[n / 2] != want;
    }
    for (int64_t i = 0; i < n; i++)
        wrong += x[i] != want;
    free(x);
    sc_coherence_stop();
    return wrong;
}

static void test_faults(void)
{
    int wrong = 0;

    if (failures_come_late())
        return;
    for (int kind = SC_EMU_ALLOC; kind <= SC_EMU_LAUNCH; kind++)
        for (uint64_t nth = 1; nth <= 6; nth++)
            wrong += run_with_fault((enum sc_emu_kind)kind, nth);
    tap_ok(wrong == 0, "allocations, copies and launches that fail change no number");
}

int main(void)
{
    env_init();
    devices = env_start("emu:h200x8:2", 0);
    test_loop();
    test_residency();
    test_strides();
    test_windows();
    test_write_whole();
    test_write_view(N / 4 * 3, N, N); /* gaps of less than a page */
    test_write_view(N, 64, 8 * N);    /* gaps of many pages */
    test_write_view(1, 512, 40);      /* a vector with an increment */
    test_write_sweep();
    test_growing();
    test_untracked();
    test_fork();
    sc_coherence_stop();
    if (env_is_emulated()) {
        test_faults();
        test_overwrite_evicted();
        test_mappings();
        test_many_cuts();
    }
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
