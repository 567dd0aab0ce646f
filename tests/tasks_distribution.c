/* Decompositions, distribution, prefetch and residence of regions (semcache/tasks.h).  Started by tasks_run.t under
 * `semcache run`, with devices and without. */
#include <string.h>

#include "semcache/tasks.h"
#include "tests/tap.h"

static int devices;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Index in the array of the first element of a region. */
static int64_t first_of(const struct semcache_region *r, const double *array)
{
    return (const double *)r->memory - array;
}

/* Counts how often parts contain each element of a region. */
static void count(const struct semcache_region *part, const double *array, unsigned char *times)
{
    for (int64_t k = 0; k < part->planes; k++)
        for (int64_t j = 0; j < part->cols; j++)
            for (int64_t i = 0; i < part->rows; i++)
                times[first_of(part, array) + i + j * part->ld + k * part->plane]++;
}

static struct semcache_decomposition by(enum semcache_cut cut, int64_t parts)
{
    return (struct semcache_decomposition){.size = sizeof (struct semcache_decomposition), .cut = cut, .parts = parts,
                                           .block_rows = 7, .block_cols = 5, .grid_rows = 2, .grid_cols = 1};
}

/* Columns in turn from the last. */
static void backwards(void *context, const struct semcache_region *whole, int64_t p, struct semcache_region *out,
                      int *device)
{
    out->memory = (double *)whole->memory + (whole->cols - 1 - p) * whole->ld;
    out->cols = 1;
    *device = *(const int *)context;
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

enum { ROWS = 23, COLS = 17, PLANES = 9, LD = 25, PLANE = LD * 20, ELEMENTS = PLANE * PLANES };

/* Every element lies in one part, and none outside lies in a part; with a halo of 1 every part grows to its neighbours
 * only. */
static void test_parts(void)
{
    static double array[ELEMENTS];
    static unsigned char times[ELEMENTS];
    int zero = 0;

    for (int c = SEMCACHE_ROWS; c <= SEMCACHE_OTHER; c++)
        for (int64_t parts = 1; parts <= 12; parts += c == SEMCACHE_BLOCKS ? 12 : 1) {
            struct semcache_decomposition d = by((enum semcache_cut)c, c == SEMCACHE_OTHER ? COLS : parts);
            struct semcache_region whole, part, wide;
            bool flat = c == SEMCACHE_COLUMNS || c == SEMCACHE_BLOCKS || c == SEMCACHE_OTHER;
            int64_t inside = 0, outside = 0, wrong = 0;

            d.part = backwards;
            d.context = &zero;
            memset(times, 0, sizeof times);
            semcache_region_3d(&whole, array, SEMCACHE_FLOAT64, ROWS, COLS, flat ? 1 : PLANES, LD, PLANE);
            for (int64_t p = 0; p < semcache_part_count(&d, &whole); p++) {
                int device = -1;

                wrong += semcache_part(&d, &whole, p, 0, &part, &device) != SEMCACHE_OK ||
                         device != (!devices ? SEMCACHE_HOST : c == SEMCACHE_OTHER ? 0 : c == SEMCACHE_BLOCKS ?
                                    (int)(p % 4 % 2) % devices : (int)(p % devices));
                count(&part, array, times);
                if (c == SEMCACHE_OTHER || semcache_part(&d, &whole, p, 1, &wide, NULL) != SEMCACHE_OK)
                    continue;
                wrong += part.rows && part.cols && part.planes &&
                         (wide.rows > smaller(ROWS, part.rows + 2) || wide.cols > smaller(COLS, part.cols + 2) ||
                          wide.planes > smaller(whole.planes, part.planes + 2) ||
                          wide.rows * wide.cols * wide.planes < part.rows * part.cols * part.planes ||
                          (parts == 1 && c != SEMCACHE_BLOCKS ? memcmp(&wide, &part, sizeof part) != 0 :
                           wide.rows + wide.cols + wide.planes <= part.rows + part.cols + part.planes));
            }
            for (int64_t e = 0; e < ELEMENTS; e++) {
                bool in = e % LD < ROWS && e % PLANE / LD < COLS && e / PLANE < whole.planes;

                inside += in && times[e] != 1;
                outside += !in && times[e];
            }
            tap_ok(!inside && !outside && !wrong, "cut %d, %lld parts: %lld, %lld, %lld errors", c,
                   (long long)d.parts, (long long)inside, (long long)outside, (long long)wrong);
        }
}

static void test_errors(void)
{
    double x[100];
    struct semcache_decomposition d = by(SEMCACHE_ROWS, 2), bad;
    struct semcache_region whole, deep, part;
    uint64_t bytes = 7;

    semcache_region_2d(&whole, x, SEMCACHE_FLOAT64, 10, 10, 10);
    semcache_region_3d(&deep, x, SEMCACHE_FLOAT64, 5, 5, 4, 5, 25);
    tap_ok(semcache_part_count(&d, &whole) == 2 && semcache_part(&d, &whole, 1, 0, &part, NULL) == SEMCACHE_OK,
           "a good decomposition");
    tap_ok(semcache_part(&d, &whole, 2, 0, &part, NULL) == SEMCACHE_ERROR_INVALID, "a part too many");
    tap_ok(semcache_part(&d, &whole, 1, -1, &part, NULL) == SEMCACHE_ERROR_INVALID, "a halo < 0");
    tap_ok(semcache_part(&d, &whole, 1, 0, NULL, NULL) == SEMCACHE_ERROR_INVALID, "no place for the part");
    bad = d, bad.size = 0;
    tap_ok(semcache_part_count(&bad, &whole) == 0, "a wrong size");
    bad = d, bad.parts = 0;
    tap_ok(semcache_part_count(&bad, &whole) == 0, "no parts");
    bad = d, bad.cut = (enum semcache_cut)9;
    tap_ok(semcache_part_count(&bad, &whole) == 0, "an unknown cut");
    bad = d, bad.cut = SEMCACHE_COLUMNS;
    tap_ok(semcache_part_count(&bad, &deep) == 0, "columns of planes");
    bad = d, bad.cut = SEMCACHE_OTHER;
    tap_ok(semcache_part_count(&bad, &whole) == 0, "no function");
    bad = by(SEMCACHE_BLOCKS, 0), bad.grid_cols = 0;
    tap_ok(semcache_part_count(&bad, &whole) == 0, "an empty grid");
    tap_ok(semcache_region_resident(&whole, SEMCACHE_HOST, NULL) == SEMCACHE_ERROR_INVALID &&
           semcache_region_resident(&whole, devices, &bytes) == SEMCACHE_ERROR_INVALID &&
           semcache_region_prefetch(&whole, devices) ==
           (devices ? SEMCACHE_ERROR_INVALID : SEMCACHE_ERROR_NO_DEVICE), "places that are not there");
    tap_ok(semcache_region_prefetch(&whole, 0) == (devices ? SEMCACHE_ERROR_UNSUPPORTED : SEMCACHE_ERROR_NO_DEVICE) &&
           semcache_region_resident(&whole, SEMCACHE_HOST, &bytes) == SEMCACHE_OK && bytes == sizeof x,
           "memory on the stack stays on the host");
}

/* --- distribution ------------------------------------------------------------------------------------------------- */

/* views[0] += the part's number, in place: the function sees the leading dimension of a tile. */
static void add(const struct semcache_place *place, const struct semcache_view *v, int n, void *arguments)
{
    const int64_t number = *(const int64_t *)arguments;

    for (int64_t k = 0; k < v->planes; k++)
        for (int64_t j = 0; j < v->cols; j++)
            for (int64_t i = 0; i < v->rows; i++)
                ((double *)v->memory)[i + j * v->ld + k * v->plane] += (double)number;
    (void)place, (void)n;
}

/* Distributes an array, adds to each part its number on its device, and compares. */
static void try_distribution(const char *name, struct semcache_decomposition d, struct semcache_region whole)
{
    double *array = whole.memory;
    int64_t elements = whole.rows * whole.cols * whole.planes, wrong = 0;
    struct semcache_statistics before = {.size = sizeof before}, after = before;
    uint64_t bytes;

    for (int64_t i = 0; i < elements; i++)
        array[i] = 1;
    tap_ok(semcache_distribute(&d, &whole) == (devices ? SEMCACHE_OK : SEMCACHE_ERROR_NO_DEVICE), "%s: distributed",
           name);
    semcache_statistics(&before);
    for (int64_t p = 0; p < semcache_part_count(&d, &whole); p++) {
        struct semcache_region part;
        struct semcache_operand operand = {&part, SEMCACHE_READWRITE};
        struct semcache_task task = {.size = sizeof task, .kernel = add, .host = add, .operands = &operand, .count = 1,
                                     .arguments = &p, .bytes = sizeof p};

        wrong += semcache_part(&d, &whole, p, 0, &part, &task.device) != SEMCACHE_OK;
        wrong += semcache_region_resident(&part, task.device, &bytes) != SEMCACHE_OK ||
                 bytes != (uint64_t)(part.rows * part.cols * part.planes) * sizeof *array;
        wrong += semcache_run(&task, NULL) != SEMCACHE_OK;
    }
    semcache_statistics(&after);
    tap_ok(wrong == 0 && after.bytes_h2d == before.bytes_h2d && after.bytes_d2d == before.bytes_d2d,
           "%s: each part is on its device, and tasks move nothing (%lld errors)", name, (long long)wrong);
    /* The result of an earlier distribution, read by the CPU, may have had the same address: a push then brings this
     * result home at some time. */
    wrong = semcache_region_resident(&whole, SEMCACHE_HOST, &bytes) != SEMCACHE_OK;
    semcache_statistics(&after);
    tap_ok(!wrong && (devices ? bytes <= after.bytes_d2h - before.bytes_d2h
                              : bytes == (uint64_t)elements * sizeof *array),
           "%s: nothing of the result is on the host but what was sent there", name);
    wrong = semcache_region_prefetch(&whole, SEMCACHE_HOST) != SEMCACHE_OK;
    semcache_statistics(&after);
    tap_ok(!devices || after.bytes_d2h >= before.bytes_d2h + (uint64_t)elements * sizeof *array,
           "%s: is sent home before a wait", name);
    tap_ok(semcache_region_wait(&whole) == SEMCACHE_OK && !wrong, "%s: comes home", name);
    semcache_statistics(&before);
    for (int64_t p = 0; p < semcache_part_count(&d, &whole); p++) {
        struct semcache_region part;

        semcache_part(&d, &whole, p, 0, &part, NULL);
        for (int64_t k = 0; k < part.planes; k++)
            for (int64_t j = 0; j < part.cols; j++)
                for (int64_t i = 0; i < part.rows; i++)
                    wrong += ((double *)part.memory)[i + j * part.ld + k * part.plane] != 1 + (double)p;
    }
    semcache_statistics(&after);
    tap_ok(wrong == 0 && after.faults_read == before.faults_read,
           "%s: the CPU sees every result without a fault (%lld wrong)", name, (long long)wrong);
}

static void test_distributions(void)
{
    enum { N = 256, DEPTH = 24 };
    double *array = semcache_alloc(sizeof *array * N * N * 2);
    struct semcache_region matrix, box;
    struct semcache_decomposition blocks = by(SEMCACHE_BLOCKS, 0);
    int device = 0;
    struct semcache_decomposition other = by(SEMCACHE_OTHER, N);

    semcache_region_2d(&matrix, array, SEMCACHE_FLOAT64, N, N, N);
    semcache_region_3d(&box, array, SEMCACHE_FLOAT64, 64, 40, DEPTH, 64, 64 * 40);
    blocks.block_rows = 100;
    blocks.block_cols = 60;
    blocks.grid_rows = devices > 1 ? 2 : 1;
    other.part = backwards;
    other.context = &device;
    try_distribution("rows", by(SEMCACHE_ROWS, 3), matrix);
    if (devices) { /* the array is a vector over three rows of tiles */
        uint64_t bytes = 0;

        tap_ok(semcache_prefetch(array, N * N, 1, N * N, SEMCACHE_FLOAT64, devices - 1) == SEMCACHE_OK &&
               semcache_region_resident(&matrix, devices - 1, &bytes) == SEMCACHE_OK &&
               bytes == sizeof *array * N * N, "all rows as one vector are brought to a device (%llu bytes)",
               (unsigned long long)bytes);
    }
    try_distribution("columns", by(SEMCACHE_COLUMNS, 5), matrix);
    try_distribution("blocks", blocks, matrix);
    try_distribution("planes", by(SEMCACHE_PLANES, 4), box);
    try_distribution("a function", other, matrix);
    semcache_free(array);
}

/* --- advice ------------------------------------------------------------------------------------------------------- */

static uint64_t resident(const struct semcache_region *region, int place)
{
    uint64_t bytes = 0;

    return semcache_region_resident(region, place, &bytes) == SEMCACHE_OK ? bytes : 0;
}

static void run_add(const struct semcache_region *region)
{
    int64_t number = 2;
    struct semcache_operand operand = {region, SEMCACHE_READWRITE};
    struct semcache_task task = {.size = sizeof task, .kernel = add, .host = add, .operands = &operand, .count = 1,
                                 .arguments = &number, .bytes = sizeof number};

    if (semcache_run(&task, NULL) != SEMCACHE_OK)
        tap_ok(false, "a task");
}

static void test_advice(void)
{
    enum { N = 1 << 19 };
    const enum semcache_status good = devices ? SEMCACHE_OK : SEMCACHE_ERROR_NO_DEVICE;
    struct semcache_statistics before = {.size = sizeof before}, after = before;
    double *x = semcache_alloc(N * sizeof *x);
    struct semcache_region region;
    bool everywhere = true;

    for (int i = 0; i < N; i++)
        x[i] = 1;
    semcache_region_1d(&region, x, SEMCACHE_FLOAT64, N);
    tap_ok(semcache_advise(&region, (enum semcache_advice)5) == SEMCACHE_ERROR_INVALID, "unknown advice");
    tap_ok(semcache_advise(&region, SEMCACHE_READ_MOSTLY) == good, "read-mostly");
    for (int d = 0; d < devices; d++)
        everywhere = everywhere && resident(&region, d) == N * sizeof *x;
    tap_ok(everywhere, "has copies on all devices");
    tap_ok(semcache_advise(&region, SEMCACHE_DROP) == good && (!devices || resident(&region, 0) == 0) && x[5] == 1,
           "dropped copies");
    tap_ok(semcache_advise(&region, SEMCACHE_WRITE_ONCE) == good, "write-once");
    semcache_statistics(&before);
    run_add(&region);
    semcache_sync(NULL, 0);
    semcache_statistics(&after);
    tap_ok(!devices || after.bytes_pushed - before.bytes_pushed == N * sizeof *x, "is sent home without a request");
    tap_ok(semcache_advise(&region, SEMCACHE_NORMAL) == good, "no advice");
    semcache_statistics(&before);
    run_add(&region);
    semcache_statistics(&after);
    tap_ok(after.bytes_pushed == before.bytes_pushed && x[0] == 5 && x[N - 1] == 5, "is not sent, and comes");
    semcache_free(x);
}

int main(void)
{
    devices = semcache_init() == SEMCACHE_OK ? semcache_device_count() : 0;
    test_parts();
    test_errors();
    test_distributions();
    test_advice();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
