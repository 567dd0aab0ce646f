/* Products of two sparse matrices on one device. Asserts right results, that the result stays on the device until the
 * program looks at it, and that it serves as a factor of further products. Also with little memory, and with failing
 * operations. */
#include <math.h>

#include "device/emu/emu.h"
#include "sparse/sparse.h"
#include "tests/coherence_env.h"

static uint64_t seed = 20261121;

static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};

static int64_t draw(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> 33) % n;
}

struct matrix {
    int64_t rows, cols, entries;
    int base;
    int32_t *start, *columns;
    double *values;
    struct sc_sparse_matrix *handle;
};

static void release(void *p)
{
    sc_coherence_forget((uintptr_t)p, 1);
    sc_host_free(p);
}

/* `each` entries in a row, of different columns, in any order. */
static void make(struct matrix *m, int64_t rows, int64_t cols, int64_t each, int base)
{
    struct sc_sparse_arrays a = {.format = SC_SPARSE_CSR, .type = SC_D, .index_bytes = 4, .base = base, .rows = rows,
                                 .cols = cols};

    *m = (struct matrix){.rows = rows, .cols = cols, .entries = rows * each, .base = base};
    m->start = env_memory((size_t)(rows + 1) * sizeof *m->start);
    m->columns = env_memory((size_t)m->entries * sizeof *m->columns);
    m->values = env_memory((size_t)m->entries * sizeof *m->values);
    for (int64_t i = 0; i <= rows; i++)
        m->start[i] = (int32_t)(i * each + base);
    for (int64_t e = 0; e < m->entries; e++) {
        int64_t width = cols / each;

        m->columns[e] = (int32_t)((e * 5 % each) * width + draw(width) + base);
        m->values[e] = (double)draw(9) / 8 - 0.5;
    }
    a.start = m->start;
    a.index = m->columns;
    a.values = m->values;
    if (sc_sparse_create(&m->handle, &a, false) != SC_OK)
        tap_ok(0, "a matrix");
}

static void drop(struct matrix *m)
{
    sc_sparse_destroy(m->handle);
    release(m->start);
    release(m->columns);
    release(m->values);
}

/* The largest element of A B - C; infinite if the rows of C are malformed. */
static double error_of(const struct matrix *a, const struct matrix *b, const struct sc_sparse_arrays *c)
{
    const int32_t *start = c->start, *columns = c->index;
    const double *values = c->values;
    double *row = calloc((size_t)b->cols, sizeof *row), worst = 0;

    if (c->rows != a->rows || c->cols != b->cols || c->base || c->index_bytes != 4)
        worst = INFINITY;
    for (int64_t i = 0; i < a->rows && worst < INFINITY; i++) {
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
            int64_t k = a->columns[e - a->base] - a->base;

            for (int64_t f = b->start[k]; f < b->start[k + 1]; f++)
                row[b->columns[f - b->base] - b->base] += a->values[e - a->base] * b->values[f - b->base];
        }
        for (int32_t e = start[i]; e < start[i + 1] && worst < INFINITY; e++) {
            if (columns[e] < 0 || columns[e] >= c->cols || (e > start[i] && columns[e] <= columns[e - 1]))
                worst = INFINITY;
            else
                row[columns[e]] -= values[e];
        }
        for (int64_t j = 0; j < b->cols; j++) {
            worst = tap_worse(worst, fabs(row[j]));
            row[j] = 0;
        }
    }
    free(row);
    return worst;
}

static uint64_t on_devices(void) { return sc_stats.offloaded[SC_TRACE_SPARSE_GEMM]; }

static double multiply(const struct matrix *a, const struct matrix *b)
{
    struct sc_sparse_matrix *c;
    double error;

    if (sc_sparse_multiply(&c, 'N', a->handle, 'N', b->handle) != SC_OK)
        return INFINITY;
    error = error_of(a, b, sc_sparse_arrays(c));
    sc_sparse_destroy(c);
    return error;
}

/* --- 64-bit integers ---------------------------------------------------------------------------------------------- */

/* A second handle of a matrix, with 64-bit integers. */
static struct sc_sparse_matrix *widened(const struct matrix *m, int64_t **start, int64_t **columns)
{
    struct sc_sparse_arrays a = {.format = SC_SPARSE_CSR, .type = SC_D, .index_bytes = 8, .base = m->base,
                                 .rows = m->rows, .cols = m->cols, .values = m->values};
    struct sc_sparse_matrix *handle;

    a.start = *start = env_memory((size_t)(m->rows + 1) * sizeof **start);
    a.index = *columns = env_memory((size_t)m->entries * sizeof **columns);
    for (int64_t i = 0; i <= m->rows; i++)
        (*start)[i] = m->start[i];
    for (int64_t e = 0; e < m->entries; e++)
        (*columns)[e] = m->columns[e];
    return sc_sparse_create(&handle, &a, false) == SC_OK ? handle : NULL;
}

/* The product has 64-bit integers, and the entries of the product of 32-bit integers. */
static void test_wide(int devices)
{
    struct matrix a;
    int64_t *start, *columns;
    struct sc_sparse_matrix *wide, *c, *d;
    const struct sc_sparse_arrays *narrow, *result;
    bool same;

    make(&a, 600, 600, 7, 0);
    wide = widened(&a, &start, &columns);
    if (!wide || sc_sparse_multiply(&c, 'N', wide, 'N', wide) != SC_OK ||
        sc_sparse_multiply(&d, 'N', a.handle, 'N', a.handle) != SC_OK) {
        tap_ok(0, "%d device(s): a product with 64-bit integers", devices);
        return;
    }
    result = sc_sparse_arrays(c);
    narrow = sc_sparse_arrays(d);
    same = result->index_bytes == 8 && narrow->index_bytes == 4;
    for (int64_t i = 0; same && i <= a.rows; i++)
        same = ((const int64_t *)result->start)[i] == ((const int32_t *)narrow->start)[i];
    for (int64_t e = 0; same && e < ((const int32_t *)narrow->start)[a.rows]; e++)
        same = ((const int64_t *)result->index)[e] == ((const int32_t *)narrow->index)[e] &&
               fabs(((const double *)result->values)[e] - ((const double *)narrow->values)[e]) < 1e-12;
    tap_ok(same, "%d device(s): a product with 64-bit integers is that with 32-bit integers", devices);
    sc_sparse_destroy(c);
    sc_sparse_destroy(d);
    sc_sparse_destroy(wide);
    release(start);
    release(columns);
    drop(&a);
}

/* --- what moves --------------------------------------------------------------------------------------------------- */

static struct {
    uint64_t h2d, d2h;
} moved;

static void count_from_here(void)
{
    moved.h2d = sc_stats.bytes[SC_H2D];
    moved.d2h = sc_stats.bytes[SC_D2H];
}

/* y := C x, on the devices. */
static double vector_error(struct sc_sparse_matrix *c, const struct matrix *a, const struct matrix *b, uint64_t *h2d)
{
    static const double one[2] = {1, 0}, zero[2] = {0, 0};
    double *x = env_memory((size_t)b->cols * sizeof *x), *y = env_memory((size_t)a->rows * sizeof *y);
    double *t = calloc((size_t)b->rows, sizeof *t), worst = 0;

    for (int64_t i = 0; i < b->cols; i++)
        x[i] = (double)(i % 7) - 3;
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t e = b->start[i] - b->base; e < b->start[i + 1] - b->base; e++)
            t[i] += b->values[e] * x[b->columns[e] - b->base];
    count_from_here();
    if (sc_sparse_mv(c, 'N', &general, one, x, 1, zero, y, 1) != SC_OK)
        worst = INFINITY;
    *h2d = sc_stats.bytes[SC_H2D] - moved.h2d;
    for (int64_t i = 0; i < a->rows; i++) {
        double sum = 0;

        for (int64_t e = a->start[i] - a->base; e < a->start[i + 1] - a->base; e++)
            sum += a->values[e] * t[a->columns[e] - a->base];
        worst = tap_worse(worst, fabs(sum - y[i]));
    }
    release(x);
    release(y);
    free(t);
    return worst;
}

static void test_residency(struct matrix *a, struct matrix *b, int devices)
{
    uint64_t before = on_devices(), h2d, entries = 0;
    struct sc_sparse_matrix *c = NULL;
    double error;

    tap_ok(multiply(a, b) < 1e-12 && on_devices() == before + 1, "%d device(s): a product, on a device", devices);
    count_from_here();
    tap_ok(sc_sparse_multiply(&c, 'N', a->handle, 'N', b->handle) == SC_OK && on_devices() == before + 2 &&
               sc_stats.bytes[SC_H2D] == moved.h2d && sc_stats.bytes[SC_D2H] == moved.d2h,
           "again: nothing moves, and the result stays");
    error = vector_error(c, a, b, &h2d);
    tap_ok(error < 1e-9, "it times a vector: error %.1e", error);
    error = error_of(a, b, sc_sparse_arrays(c));
    for (int64_t i = 0; i < a->rows; i++)
        entries = (uint64_t)((const int32_t *)sc_sparse_arrays(c)->start)[i + 1];
    /* The CPU looks at the positions of C; the entries go from the device to the parts, wherever the parts are. */
    tap_ok(h2d < entries * 12 / 2, "its %llu entries went from device to device: %llu bytes from the host",
           (unsigned long long)entries, (unsigned long long)h2d);
    tap_ok(error < 1e-12, "and to the CPU when it looks");
    sc_sparse_destroy(c);
    a->values[draw(a->entries)] += 1;
    b->values[draw(b->entries)] -= 2;
    tap_ok(multiply(a, b) < 1e-12, "values of both are written by the CPU");
    b->columns[0] = b->base + (b->columns[0] == b->base);
    tap_ok(multiply(a, b) < 1e-12 && on_devices() == before + 4, "a column is");
}

static void test_forms(int devices)
{
    struct matrix a, b, c;

    make(&a, 700, 900, 9, 0);
    make(&b, 900, 500, 7, 0);
    test_residency(&a, &b, devices);
    make(&c, 500, 500, 4, 1);
    tap_ok(multiply(&b, &c) < 1e-12 && multiply(&c, &c) < 1e-12, "a factor that counts from 1, and its square");
    drop(&a);
    drop(&b);
    drop(&c);
}

/* --- little memory, failures -------------------------------------------------------------------------------------- */

static void stop(void)
{
    sc_coherence_stop();
    sc_host_faults_stop();
}

/* Two products of new matrices; adds the number of offloaded products to *there. */
static double two_products(int *there)
{
    uint64_t before = on_devices();
    struct matrix a, b;
    double worst;

    make(&a, 700, 900, 9, 0);
    make(&b, 900, 500, 7, 0);
    worst = tap_worse(multiply(&a, &b), multiply(&a, &b));
    drop(&a);
    drop(&b);
    *there += (int)(on_devices() - before);
    return worst;
}

static void test_memory(void)
{
    int bad = 0, there = 0, runs = 0;

    for (uint64_t limit = 100000; limit < 4000000; limit += limit / 3, runs++) {
        env_start("emu:h200x8:2", limit);
        bad += !(two_products(&there) < 1e-12);
        stop();
    }
    tap_ok(!bad && there > 0 && there < 2 * runs, "devices of 0.1 to 4 MB: %d of %d products there", there, 2 * runs);
}

/* The first two products pin the memory that later matrices get again: after a failure to pin, the library does not
 * retry for a while. */
static bool are_right(struct sc_emu_fault fault, int *there)
{
    int before = 0;
    bool right;

    env_start("emu:h200x8:1", 0);
    two_products(&before);
    sc_emu_inject(0, fault);
    right = two_products(there) < 1e-12;
    stop();
    return right;
}

static void test_faults(void)
{
    int bad = 0, there = 0, runs = 0;

    if (failures_come_late())
        return;
    for (uint64_t nth = 1; nth < 60; nth++, runs++)
        bad += !are_right((struct sc_emu_fault){.kind = SC_EMU_ANY, .nth = nth}, &there);
    tap_ok(!bad && there > 0 && there < 2 * runs, "%d runs with an operation that fails are right, %d products there",
           runs, there);
}

/* The first launch counts the entries; further launches store the entries and move each array to its place. Unwritten
 * memory holds garbage. */
static void test_skips(void)
{
    int bad = 0, there = 0;

    for (uint64_t nth = 2; nth < 6; nth++)
        bad += !are_right((struct sc_emu_fault){.kind = SC_EMU_LAUNCH, .nth = nth, .skip = true, .quiet = true},
                          &there);
    tap_ok(bad == 4, "each launch that is left out gives a wrong result");
}

int main(void)
{
    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    tap_diag("seed %llu", (unsigned long long)seed);
    for (int devices = 1; devices <= 4; devices *= 2) {
        char name[32];
        int count;

        snprintf(name, sizeof name, "emu:h200x8:%d", devices);
        count = env_start(name, 0);
        test_forms(count);
        test_wide(count);
        stop();
        if (!env_is_emulated())
            break;
    }
    if (env_is_emulated()) {
        test_memory();
        test_faults();
        test_skips();
    }
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
