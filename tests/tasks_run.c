/* Tasks of the program (semcache/tasks.h) against the same functions on ordinary arrays.  Started by tasks_run.t under
 * `semcache run`, with devices and without. */
#include <string.h>

#include "semcache/tasks.h"
#include "tests/tap.h"

static int devices;

/* --- functions of tasks ------------------------------------------------------------------------------------------- */

static double *at(const struct semcache_view *v, int64_t i, int64_t j, int64_t k)
{
    return (double *)v->memory + i + j * v->ld + k * v->plane;
}

/* views[0] := views[1] + shift, or views[0] += views[1] + shift. */
static void combine(const struct semcache_place *place, const struct semcache_view *views, int count, void *arguments)
{
    double shift;

    memcpy(&shift, arguments, sizeof shift);
    for (int64_t k = 0; k < views[0].planes; k++)
        for (int64_t j = 0; j < views[0].cols; j++)
            for (int64_t i = 0; i < views[0].rows; i++)
                *at(&views[0], i, j, k) = (views[0].mode == SEMCACHE_WRITE ? 0 : *at(&views[0], i, j, k)) +
                                          (count > 1 ? *at(&views[1], i, j, k) : 0) + shift;
    (void)place;
}

/* For devices that call at once, the test's kernels compute as well. */
static enum semcache_status run_on(const struct semcache_region *to, enum semcache_mode mode,
                                   const struct semcache_region *from, double shift, int device, int *ran)
{
    struct semcache_operand operands[2] = {{to, mode}, {from, SEMCACHE_READ}};
    struct semcache_task task = {.size = sizeof task, .kernel = combine, .host = combine, .operands = operands,
                                 .count = from ? 2 : 1, .arguments = &shift, .bytes = sizeof shift, .device = device};

    return semcache_run(&task, ran);
}

/* --- random tasks ------------------------------------------------------------------------------------------------- */

enum { ROWS = 96, COLS = 40, PLANES = 24, STEPS = 400 };
#define ELEMENTS ((size_t)ROWS * COLS * PLANES)

static uint64_t seed = 1;

static int64_t below(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

struct box {
    int64_t at[3], extent[3];
};

static const int64_t whole[3] = {ROWS, COLS, PLANES}, step[3] = {1, ROWS, ROWS * COLS};

static struct box random_box(const int64_t extent[3])
{
    struct box b;

    for (int d = 0; d < 3; d++) {
        b.extent[d] = extent ? extent[d] : below(3) == 0 ? whole[d] : below(4) == 0 ? 1 : 1 + below(whole[d]);
        b.at[d] = below(whole[d] - b.extent[d] + 1);
    }
    return b;
}

static double *first_of(double *array, const struct box *b)
{
    return array + b->at[0] * step[0] + b->at[1] * step[1] + b->at[2] * step[2];
}

static struct semcache_region region_of(double *array, const struct box *b)
{
    struct semcache_region r;

    semcache_region_3d(&r, first_of(array, b), SEMCACHE_FLOAT64, b->extent[0], b->extent[1], b->extent[2], step[1],
                       step[2]);
    return r;
}

static bool boxes_meet(const struct box *a, const struct box *b)
{
    for (int d = 0; d < 3; d++)
        if (a->at[d] >= b->at[d] + b->extent[d] || b->at[d] >= a->at[d] + a->extent[d])
            return false;
    return true;
}

static void expect(double *array, const struct box *to, enum semcache_mode mode, double *other,
                   const struct box *from, double shift)
{
    const struct semcache_view views[2] = {
        {first_of(array, to), to->extent[0], to->extent[1], to->extent[2], step[1], step[2], SEMCACHE_FLOAT64, mode},
        {first_of(other, from), from->extent[0], from->extent[1], from->extent[2], step[1], step[2], SEMCACHE_FLOAT64,
         SEMCACHE_READ}};

    combine(NULL, views, 2, &shift);
}

/* The CPU reads, and sometimes writes, one element. */
static bool touch(double *array, double *expected)
{
    size_t i = (size_t)below((int64_t)ELEMENTS);
    bool good = array[i] == expected[i];

    if (below(2) == 0)
        array[i] = expected[i] = (double)below(1000);
    return good;
}

static void test_random(void)
{
    double *array[2], *expected[2];
    int wrong = 0, refused = 0, elsewhere = 0;

    for (int a = 0; a < 2; a++) {
        array[a] = semcache_alloc(ELEMENTS * sizeof(double));
        expected[a] = malloc(ELEMENTS * sizeof(double));
        for (size_t i = 0; i < ELEMENTS; i++)
            array[a][i] = expected[a][i] = (double)(i % 1000);
    }
    for (int s = 0; s < STEPS; s++) {
        int to = (int)below(2), from = (int)below(2), device = devices ? (int)below(devices + 2) - 2 : 0, ran;
        enum semcache_mode mode = below(2) ? SEMCACHE_WRITE : SEMCACHE_READWRITE;
        struct box target = random_box(NULL), source = random_box(target.extent);
        struct semcache_region written = region_of(array[to], &target), read = region_of(array[from], &source);
        bool overlap = to == from && boxes_meet(&target, &source);
        double shift = (double)below(10);
        enum semcache_status status = run_on(&written, mode, &read, shift, device, &ran);

        refused += (status == SEMCACHE_ERROR_INVALID) != overlap;
        if (overlap)
            continue;
        wrong += status != SEMCACHE_OK;
        elsewhere += ran != (device == SEMCACHE_ANY_DEVICE && devices ? ran : devices ? device : SEMCACHE_HOST);
        expect(expected[to], &target, mode, expected[from], &source, shift);
        for (int t = 0; t < 3; t++)
            wrong += !touch(array[to], expected[to]);
        if (below(40) == 0)
            semcache_prefetch(array[from], ROWS, COLS * PLANES, ROWS, SEMCACHE_FLOAT64, SEMCACHE_ANY_DEVICE);
        if (below(40) == 0)
            semcache_invalidate(array[to], ELEMENTS * sizeof(double));
    }
    for (int a = 0; a < 2; a++) {
        wrong += memcmp(array[a], expected[a], ELEMENTS * sizeof(double)) != 0;
        semcache_free(array[a]);
        free(expected[a]);
    }
    tap_ok(wrong == 0, "random tasks on boxes of two arrays: %d differences", wrong);
    tap_ok(refused == 0, "boxes with a common element are refused, and no others: %d errors", refused);
    tap_ok(elsewhere == 0, "tasks run where they are sent: %d elsewhere", elsewhere);
}

/* --- forms of regions --------------------------------------------------------------------------------------------- */

/* Planes whose distance is no whole number of columns; a row; a vector; nothing. */
static void test_forms(void)
{
    enum { N = 20000 };
    double *x = semcache_alloc(N * sizeof *x), on_stack[50] = {0};
    struct semcache_region r;
    int64_t wrong = 0;
    int good = 1;

    memset(x, 0, N * sizeof *x);
    semcache_region_3d(&r, x + 3, SEMCACHE_FLOAT64, 5, 4, 30, 7, 101);
    good &= run_on(&r, SEMCACHE_WRITE, NULL, 1, 0, NULL) == SEMCACHE_OK;
    semcache_region_2d(&r, x + 4000, SEMCACHE_FLOAT64, 1, 60, 50);
    good &= run_on(&r, SEMCACHE_READWRITE, NULL, 2, 0, NULL) == SEMCACHE_OK;
    semcache_region_1d(&r, x + 8000, SEMCACHE_FLOAT64, 9000);
    good &= run_on(&r, SEMCACHE_WRITE, NULL, 3, 0, NULL) == SEMCACHE_OK;
    semcache_region_1d(&r, NULL, SEMCACHE_FLOAT64, 0);
    good &= run_on(&r, SEMCACHE_WRITE, NULL, 3, 0, NULL) == SEMCACHE_OK;
    semcache_region_2d(&r, on_stack, SEMCACHE_FLOAT64, 5, 5, 10);
    good &= run_on(&r, SEMCACHE_READWRITE, NULL, 4, 0, NULL) == SEMCACHE_OK;
    for (int64_t i = 0; i < N; i++) {
        int64_t box = i - 3, line = i - 4000;
        double expected = i >= 8000 && i < 17000 ? 3 : line >= 0 && line < 3000 && line % 50 == 0 ? 2 : 0;

        if (box >= 0 && box / 101 < 30 && box % 101 / 7 < 4 && box % 101 % 7 < 5)
            expected = 1;
        wrong += x[i] != expected;
    }
    for (int i = 0; i < 50; i++)
        wrong += on_stack[i] != (i % 10 < 5 ? 4 : 0);
    tap_ok(good && wrong == 0, "boxes with gaps, rows, vectors, memory on the stack: %lld differences",
           (long long)wrong);
    semcache_free(x);
}

/* Regions without elements: an extent of 0 beside every other extent, and distances of 0. */
static void test_empty(void)
{
    const int64_t extents[] = {0, 1, 3, 100};
    double *x = semcache_alloc(64 * sizeof *x);
    int64_t wrong = 0, count = 0;

    memset(x, 0, 64 * sizeof *x);
    for (int64_t c = 0; c < 4 * 4 * 4 * 2; c++) {
        int64_t rows = extents[c % 4], cols = extents[c / 4 % 4], planes = extents[c / 16 % 4], ld = c / 64;
        struct semcache_region r;

        if (rows && cols && planes)
            continue;
        semcache_region_3d(&r, x, SEMCACHE_FLOAT64, rows, cols, planes, ld, ld);
        for (int place = SEMCACHE_HOST; place < devices; place++, count++)
            wrong += run_on(&r, SEMCACHE_READWRITE, NULL, 1, place == SEMCACHE_HOST ? place : 0, NULL) != SEMCACHE_OK;
    }
    for (int i = 0; i < 64; i++)
        wrong += x[i] != 0;
    tap_ok(count > 0 && wrong == 0, "%lld tasks on regions without elements: %lld wrong", (long long)count,
           (long long)wrong);
    semcache_free(x);
}

/* --- in place and in a temporary ---------------------------------------------------------------------------------- */

/* Notes the distance between columns that the function sees. */
static void note_ld(const struct semcache_place *place, const struct semcache_view *views, int count, void *arguments)
{
    int64_t *seen;

    memcpy(&seen, arguments, sizeof seen);
    *seen = views[0].ld;
    (void)place, (void)count;
}

static void test_places(void)
{
    enum { M = 64, N = 2048 };
    double *x = semcache_alloc(sizeof *x * M * N);
    struct semcache_statistics before = {.size = sizeof before}, after = before;
    struct semcache_region whole_array, block;
    int64_t seen = 0, *to = &seen;
    struct semcache_operand operand = {&block, SEMCACHE_READ};
    struct semcache_task task = {.size = sizeof task, .kernel = note_ld, .host = note_ld, .operands = &operand,
                                 .count = 1, .arguments = &to, .bytes = sizeof to, .device = 0};

    memset(x, 0, sizeof *x * M * N);
    semcache_region_2d(&whole_array, x, SEMCACHE_FLOAT64, M, N, M);
    semcache_region_2d(&block, x + 5, SEMCACHE_FLOAT64, 20, N, M);
    tap_ok(run_on(&whole_array, SEMCACHE_READWRITE, NULL, 1, 0, NULL) == SEMCACHE_OK &&
           semcache_run(&task, NULL) == SEMCACHE_OK && semcache_sync(NULL, 0) == SEMCACHE_OK &&
           run_on(&whole_array, SEMCACHE_READWRITE, NULL, 1, 0, NULL) == SEMCACHE_OK && x[0] == 2 &&
           x[M * N - 1] == 2, "a task after a task");
    tap_ok(devices < 2 ? seen == M : seen == 20,
           "a block of a matrix in several tiles is copied together, and used in place otherwise (ld %lld)",
           (long long)seen);
    semcache_region_2d(&whole_array, x, SEMCACHE_FLOAT64, M, 10, M);
    run_on(&whole_array, SEMCACHE_READWRITE, NULL, 1, 0, NULL);
    semcache_statistics(&before);
    for (int i = 0; i < 10; i++)
        run_on(&whole_array, SEMCACHE_READWRITE, NULL, 1, 0, NULL);
    semcache_statistics(&after);
    tap_ok(after.bytes_h2d == before.bytes_h2d && after.bytes_d2h == before.bytes_d2h &&
           after.bytes_d2d == before.bytes_d2d, "resident regions do not move");
    tap_ok(x[0] == 13 && x[10 * M] == 2, "and the CPU sees the last result");
    semcache_free(x);
}

/* --- arguments ---------------------------------------------------------------------------------------------------- */

static enum semcache_status run_changed(struct semcache_task task, struct semcache_region region,
                                        enum semcache_mode mode)
{
    struct semcache_operand operand = {&region, mode};

    task.operands = &operand;
    return semcache_run(&task, NULL);
}

static void test_errors(void)
{
    double x[100] = {0};
    struct semcache_region good, r;
    struct semcache_task task = {.size = sizeof task, .kernel = combine, .host = combine, .count = 1, .arguments = x,
                                 .bytes = sizeof(double), .device = 0}, t;
    struct semcache_operand two[2] = {{&good, SEMCACHE_READ}, {&r, SEMCACHE_WRITE}};
    const enum semcache_status bad = SEMCACHE_ERROR_INVALID;

    semcache_region_3d(&good, x, SEMCACHE_FLOAT64, 3, 4, 5, 4, 20);
    tap_ok(run_changed(task, good, SEMCACHE_READWRITE) == SEMCACHE_OK, "a good task");
    tap_ok(semcache_run(NULL, NULL) == bad, "no task");
    t = task, t.size = 8;
    tap_ok(run_changed(t, good, SEMCACHE_READ) == bad, "a wrong size");
    t = task, t.kernel = t.host = NULL;
    tap_ok(run_changed(t, good, SEMCACHE_READ) == bad, "no function");
    t = task, t.count = SEMCACHE_OPERANDS_MAX + 1;
    tap_ok(run_changed(t, good, SEMCACHE_READ) == bad, "too many operands");
    t = task, t.bytes = SEMCACHE_ARGUMENTS_MAX + 1;
    tap_ok(run_changed(t, good, SEMCACHE_READ) == bad, "too long arguments");
    t = task, t.device = -3;
    tap_ok(run_changed(t, good, SEMCACHE_READ) == bad, "an unknown place");
    tap_ok(run_changed(task, good, (enum semcache_mode)4) == bad, "an unknown mode");
    r = good, r.size = 0;
    tap_ok(run_changed(task, r, SEMCACHE_READ) == bad, "a region without size");
    r = good, r.ld = 2;
    tap_ok(run_changed(task, r, SEMCACHE_READ) == bad, "ld < rows");
    r = good, r.plane = 14;
    tap_ok(run_changed(task, r, SEMCACHE_READ) == bad, "plane < a plane");
    r = good, r.plane = INT64_MIN / 5;
    tap_ok(run_changed(task, r, SEMCACHE_READ) == bad, "plane < 0");
    r = good, r.cols = -1;
    tap_ok(run_changed(task, r, SEMCACHE_READ) == bad, "cols < 0");
    r = good, r.memory = NULL;
    tap_ok(run_changed(task, r, SEMCACHE_READ) == bad, "no memory");
    r = good, r.type = (enum semcache_type)9;
    tap_ok(run_changed(task, r, SEMCACHE_READ) == bad, "an unknown type");
    r = good, r.planes = INT64_C(1) << 61;
    tap_ok(run_changed(task, r, SEMCACHE_READ) == bad, "more than the address space");
    r = good, r.memory = x + 1;
    t = task, t.operands = two, t.count = 2;
    tap_ok(semcache_run(&t, NULL) == bad, "overlapping regions with a writer");
    r.memory = x + 3, r.rows = 1;
    tap_ok(semcache_run(&t, NULL) == SEMCACHE_OK, "rows between those of another region do not overlap");
    t = task, t.host = NULL;
    t.device = SEMCACHE_HOST;
    tap_ok(run_changed(t, good, SEMCACHE_READ) == SEMCACHE_ERROR_NO_DEVICE, "no function for the host");
}

int main(void)
{
    devices = semcache_init() == SEMCACHE_OK ? semcache_device_count() : 0;
    test_errors();
    test_forms();
    test_empty();
    test_places();
    test_random();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
