/* The CPU touches a matrix that is dirty on a device, in several patterns. Asserts that the program waits at most
 * 1.3 times as long as for one fetch of the whole matrix, and that no read in order waits for the whole. Times are
 * of the emulated devices' clock, which charges faults. */
#include <pthread.h>

#include "tests/coherence_env.h"

enum { ROWS = 4096, COLS = 2048, THREADS = 8, TOUCHES = 20000 }; /* 64 MiB of doubles */

#define BYTES ((double)ROWS * COLS * sizeof(double))

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

static int64_t random_from(uint64_t seed, bool write)
{
    uint64_t state = 88172645463325252u * seed;
    int64_t wrong = 0;

    for (int i = 0; i < TOUCHES; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        wrong += touch((int64_t)(state >> 32) % ROWS, (int64_t)(state & 0xffffffff) % COLS, write);
    }
    return wrong;
}

static int64_t backwards(bool write)
{
    int64_t wrong = 0;

    for (int64_t j = COLS - 1; j >= 0; j--)
        for (int64_t i = ROWS - 1; i >= 0; i -= 64)
            wrong += touch(i, j, write);
    return wrong;
}

/* The first element of every `step`-th page. */
static int64_t every_page(int64_t step, bool write)
{
    const int64_t page = 4096 / (int64_t)sizeof *matrix;
    int64_t wrong = 0;

    for (int64_t i = 0; i < (int64_t)ROWS * COLS; i += step * page)
        wrong += touch(i % ROWS, i / ROWS, write);
    return wrong;
}

static int64_t second_pages(bool write) { return every_page(2, write); }
static int64_t third_pages(bool write) { return every_page(3, write); }
static int64_t pages_of_7(bool write) { return every_page(7, write); }
static int64_t pages_of_64(bool write) { return every_page(64, write); }
static int64_t pages_of_500(bool write) { return every_page(500, write); }

static int64_t upper_triangle(bool write)
{
    int64_t wrong = 0;

    for (int64_t j = 0; j < COLS; j++)
        for (int64_t i = 0; i <= j; i += 64)
            wrong += touch(i, j, write);
    return wrong;
}

/* A factorization by panels: the panel below the diagonal, then the rows beside it, then everything to the right and
 * below. */
static int64_t factorization(bool write)
{
    enum { PANEL = 256 };
    int64_t wrong = 0;

    for (int64_t k = 0; k < COLS; k += PANEL) {
        for (int64_t j = k; j < k + PANEL; j++)
            for (int64_t i = k; i < ROWS; i += 64)
                wrong += touch(i, j, write);
        for (int64_t j = k + PANEL; j < COLS; j++)
            wrong += touch(k, j, write);
        for (int64_t j = k + PANEL; j < COLS; j += 8)
            for (int64_t i = k + PANEL; i < ROWS; i += 512)
                wrong += touch(i, j, write);
    }
    return wrong;
}

/* The left-looking form: a panel after all columns on the left. */
static int64_t left_looking(bool write)
{
    enum { PANEL = 256 };
    int64_t wrong = 0;

    for (int64_t k = 0; k < COLS; k += PANEL) {
        for (int64_t j = 0; j < k; j += 4)
            for (int64_t i = k; i < ROWS; i += 512)
                wrong += touch(i, j, false);
        for (int64_t j = k; j < k + PANEL; j++)
            for (int64_t i = 0; i < ROWS; i += 512)
                wrong += touch(i, j, write);
    }
    return wrong;
}

/* Columns in a fixed disorder. */
static int64_t columns_at_random(bool write)
{
    int64_t wrong = 0;

    for (int64_t k = 0; k < COLS; k++)
        for (int64_t i = 0; i < ROWS; i += 64)
            wrong += touch(i, k * 1237 % COLS, write);
    return wrong;
}

static int64_t rows_at_random(bool write)
{
    int64_t wrong = 0;

    for (int64_t k = 0; k < 64; k++)
        for (int64_t j = 0; j < COLS; j++)
            wrong += touch(k * 1237 % ROWS, j, write);
    return wrong;
}

/* Square blocks of 128 in disorder. */
static int64_t blocks(bool write)
{
    enum { SIDE = 128, DOWN = ROWS / SIDE, ACROSS = COLS / SIDE };
    int64_t wrong = 0;

    for (int64_t k = 0; k < DOWN * ACROSS; k++) {
        int64_t block = k * 197 % (DOWN * ACROSS), row = block % DOWN * SIDE, col = block / DOWN * SIDE;

        for (int64_t j = col; j < col + SIDE; j++)
            for (int64_t i = row; i < row + SIDE; i += 64)
                wrong += touch(i, j, write);
    }
    return wrong;
}

/* From both ends to the middle, in turn. */
static int64_t from_both_ends(bool write)
{
    int64_t wrong = 0;

    for (int64_t j = 0; j < COLS / 2; j++)
        for (int64_t i = 0; i < ROWS; i += 256)
            wrong += touch(i, j, write) + touch(ROWS - 1 - i, COLS - 1 - j, write);
    return wrong;
}

static int64_t at_random(bool write) { return random_from(1, write); }

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

static void *random_elements(void *arg)
{
    struct part *p = arg;

    p->wrong = random_from((uint64_t)p->first + 1, p->write);
    return NULL;
}

static void *own_columns(void *arg) /* a contiguous part of the columns */
{
    struct part *p = arg;

    for (int64_t j = p->first * (COLS / THREADS); j < (p->first + 1) * (COLS / THREADS); j++)
        for (int64_t i = 0; i < ROWS; i += 512)
            p->wrong += touch(i, j, p->write);
    return NULL;
}

static void *own_rows(void *arg)
{
    struct part *p = arg;

    for (int64_t j = 0; j < COLS; j++)
        for (int64_t i = p->first * (ROWS / THREADS); i < (p->first + 1) * (ROWS / THREADS); i += 128)
            p->wrong += touch(i, j, p->write);
    return NULL;
}

static int64_t threads(void *(*body)(void *), int count, bool write)
{
    struct part part[THREADS];
    int64_t wrong = 0;

    for (int i = 0; i < count; i++) {
        part[i] = (struct part){.first = i, .write = write};
        pthread_create(&part[i].thread, NULL, body, &part[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(part[i].thread, NULL);
        wrong += part[i].wrong;
    }
    return wrong;
}

static int64_t in_threads(bool write) { return threads(columns, THREADS, write); }
static int64_t parts_in_threads(bool write) { return threads(own_columns, THREADS, write); }
static int64_t rows_in_threads(bool write) { return threads(own_rows, THREADS, write); }
static int64_t random_in_threads(bool write) { return threads(random_elements, 4, write); }

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
    uint64_t faults = sc_stats.faults_read + sc_stats.faults_write, bytes = sc_stats.bytes[SC_D2H];
    double since, seconds;
    int64_t wrong;

    scal();
    since = sc_coherence_host_clock();
    wrong = pattern(write);
    seconds = sc_coherence_host_clock() - since;
    tap_ok(wrong == 0, "%s, %s: right", name, write ? "written" : "read");
    faults = sc_stats.faults_read + sc_stats.faults_write - faults;
    bytes = sc_stats.bytes[SC_D2H] - bytes;
    tap_ok((double)bytes <= 1.3 * BYTES, "%.2f of its bytes came home", (double)bytes / BYTES);
    if (env_is_emulated()) /* times of real machines prove nothing */
        tap_ok(seconds <= 1.3 * all, "in %.2f of one fetch of the whole (%d faults)", seconds / all, (int)faults);
}

/* A read in order waits for its window only, not for the matrix that comes behind the window. */
static void test_longest(double all)
{
    const int64_t page = 512, pages = (int64_t)ROWS * COLS / page;
    double longest = 0;
    int64_t wrong = 0;

    scal();
    for (int64_t i = 0; i < pages * page; i += page) {
        double since = sc_coherence_host_clock();

        wrong += touch(i % ROWS, i / ROWS, false);
        since = sc_coherence_host_clock() - since;
        longest = since > longest ? since : longest;
    }
    tap_ok(wrong == 0, "each page in order: right");
    if (env_is_emulated())
        tap_ok(longest <= 0.7 * all, "the longest read took %.2f of one fetch of the whole", longest / all);
}

int main(void)
{
    static const struct {
        const char *name;
        int64_t (*pattern)(bool write);
    } patterns[] = {{"in order", in_order}, {"one row", one_row}, {"rows backwards", rows_backwards},
                    {"the diagonal", diagonal}, {"a triangle by rows", triangle}, {"panels from the right", panels},
                    {"random elements", at_random}, {"columns in eight threads", in_threads},
                    {"backwards", backwards}, {"every second page", second_pages}, {"every third page", third_pages},
                    {"every 7th page", pages_of_7}, {"every 64th page", pages_of_64},
                    {"every 500th page", pages_of_500}, {"the upper triangle by columns", upper_triangle},
                    {"a factorization by panels", factorization}, {"a left-looking factorization", left_looking},
                    {"columns at random", columns_at_random}, {"rows at random", rows_at_random},
                    {"blocks at random", blocks}, {"from both ends", from_both_ends},
                    {"a part of the columns in each thread", parts_in_threads},
                    {"a part of the rows in each thread", rows_in_threads},
                    {"random elements in four threads", random_in_threads}};
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
    test_longest(all);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
