/* The CPU touches a matrix that is dirty on a device, in several patterns. Asserts that the program waits at most
 * 1.3 times as long as for one fetch of the whole matrix. Times are of the emulated devices' clock, which charges
 * faults. */
#include <pthread.h>

#include "tests/coherence_env.h"

enum { ROWS = 4096, COLS = 2048, THREADS = 8, TOUCHES = 20000 }; /* 64 MiB of doubles */

static double *matrix; /* column-major */
static double factor = 1;

static double value(int64_t i) { return factor * (double)(i % 1000); }

/* matrix := 2 matrix on device 0. */
static void scal(void)
{
    const int64_t n = (int64_t)ROWS * COLS;
    struct sc_view v = {.ptr = matrix, .type = SC_D, .vector = true, .rows = n, .cols = 1, .ld = 1, .access = SC_RDWR,
                        .spread = 1};
    struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .alpha = {2}, .m = n, .n = n};
    struct sc_operand o;
    struct sc_piece piece = {.operand = &o, .rows = n, .cols = 1, .access = SC_RDWR};

    if (sc_coherence_begin(&v, 1, &o) != SC_OK ||
        sc_coherence_task(0, &k, (struct sc_piece[3]){piece}, NULL, NULL) != SC_OK)
        exit(99);
    sc_coherence_end(&o, 1);
    sc_coherence_drain();
    factor *= 2;
}

/* --- patterns: each returns how many elements were wrong --------------------------------------------------------- */

static int64_t touch(int64_t row, int64_t col, bool write)
{
    volatile double *at = &matrix[row + col * ROWS];
    double was = *at;

    if (write)
        *at = was;
    return was != value(row + col * ROWS);
}

static int64_t in_order(bool write)
{
    int64_t wrong = 0;

    for (int64_t j = 0; j < COLS; j++)
        for (int64_t i = 0; i < ROWS; i += 64)
            wrong += touch(i, j, write);
    return wrong;
}

static int64_t one_row(bool write)
{
    int64_t wrong = 0;

    for (int64_t j = 0; j < COLS; j++)
        wrong += touch(17, j, write);
    return wrong;
}

static int64_t rows_backwards(bool write)
{
    int64_t wrong = 0;

    for (int64_t i = ROWS - 1; i >= 0; i -= 512)
        for (int64_t j = COLS - 1; j >= 0; j--)
            wrong += touch(i, j, write);
    return wrong;
}

static int64_t diagonal(bool write)
{
    int64_t wrong = 0;

    for (int64_t j = 0; j < COLS; j++)
        wrong += touch(j, j, write);
    return wrong;
}

static int64_t triangle(bool write)
{
    int64_t wrong = 0;

    for (int64_t j = 0; j < COLS; j++)
        for (int64_t i = j; i < ROWS; i += 512)
            wrong += touch(i, j, write);
    return wrong;
}

static int64_t panels(bool write) /* from the right; a panel from its top to its bottom */
{
    int64_t wrong = 0;

    for (int64_t first = COLS - 64; first >= 0; first -= 64)
        for (int64_t i = 0; i < ROWS; i += 512)
            for (int64_t j = first; j < first + 64; j++)
                wrong += touch(i, j, write);
    return wrong;
}

static int64_t at_random(bool write)
{
    uint64_t state = 88172645463325252u;
    int64_t wrong = 0;

    for (int i = 0; i < TOUCHES; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        wrong += touch((int64_t)(state >> 32) % ROWS, (int64_t)(state & 0xffffffff) % COLS, write);
    }
    return wrong;
}

struct part {
    pthread_t thread;
    int first;
    bool write;
    int64_t wrong;
};

static void *columns(void *arg) /* every THREADS-th column, as in a threaded factorization */
{
    struct part *p = arg;

    for (int64_t j = p->first; j < COLS; j += THREADS)
        for (int64_t i = 0; i < ROWS; i += 512)
            p->wrong += touch(i, j, p->write);
    return NULL;
}

static int64_t in_threads(bool write)
{
    struct part part[THREADS];
    int64_t wrong = 0;

    for (int i = 0; i < THREADS; i++) {
        part[i] = (struct part){.first = i, .write = write};
        pthread_create(&part[i].thread, NULL, columns, &part[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(part[i].thread, NULL);
        wrong += part[i].wrong;
    }
    return wrong;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static double whole(void)
{
    double since;

    scal();
    since = sc_coherence_host_clock();
    sc_coherence_acquire_host((uintptr_t)matrix, (size_t)ROWS * COLS * sizeof *matrix, SC_READ);
    return sc_coherence_host_clock() - since;
}

static void test(const char *name, int64_t (*pattern)(bool write), bool write, double all)
{
    uint64_t faults = sc_stats.faults_read + sc_stats.faults_write;
    double since, seconds;
    int64_t wrong;

    scal();
    since = sc_coherence_host_clock();
    wrong = pattern(write);
    seconds = sc_coherence_host_clock() - since;
    tap_ok(wrong == 0, "%s, %s: right", name, write ? "written" : "read");
    faults = sc_stats.faults_read + sc_stats.faults_write - faults;
    if (env_is_emulated()) /* times of real machines prove nothing */
        tap_ok(seconds <= 1.3 * all, "in %.2f of one fetch of the whole (%d faults)", seconds / all, (int)faults);
}

int main(void)
{
    static const struct {
        const char *name;
        int64_t (*pattern)(bool write);
    } patterns[] = {{"in order", in_order}, {"one row", one_row}, {"rows backwards", rows_backwards},
                    {"the diagonal", diagonal}, {"a triangle by rows", triangle}, {"panels from the right", panels},
                    {"random elements", at_random}, {"columns in eight threads", in_threads}};
    double all;

    env_init();
    sc_config.check = 0; /* checking a large matrix after each fault takes long */
    sc_config.window_min = 256 << 10;
    sc_config.window_max = 64 << 20;
    env_start("emu:h200x8:1", 0);
    matrix = env_memory((size_t)ROWS * COLS * sizeof *matrix);
    for (int64_t i = 0; i < (int64_t)ROWS * COLS; i++)
        matrix[i] = value(i);
    all = whole();
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        for (int write = 0; write < 2; write++)
            test(patterns[i].name, patterns[i].pattern, write, all);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
