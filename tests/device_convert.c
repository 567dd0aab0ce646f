/* Conversions of sparse matrices to CSR on a device against conversions on the host. Asserts the same bits in the same
 * order for every layout, type and use, integers of two widths counted from 0 and 1, and any rows of the result. */
#include "tests/device_common.h"

enum { SIZE = 60, MOST = 9 * SIZE * 8, BYTES = 16 * MOST };

static const struct sc_device_ops *ops;
static uint64_t seed = 20261121;
static char *pinned; /* three arrays of the source, then three arrays of the device's result */
static char *memory; /* the same on the device */

static int64_t draw(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> 33) % n;
}

static void put(void *at, int bytes, int64_t i, int64_t value)
{
    if (bytes == 4)
        ((int32_t *)at)[i] = (int32_t)value;
    else
        ((int64_t *)at)[i] = value;
}

static int64_t get(const void *at, int bytes, int64_t i)
{
    return bytes == 4 ? ((const int32_t *)at)[i] : ((const int64_t *)at)[i];
}

/* Arrays number 0 to 5. */
static char *array(char *base, int i) { return base + (size_t)i * BYTES; }

static void draw_values(const struct sc_csr_conversion *c, int64_t n)
{
    bool single = c->type == SC_S || c->type == SC_C;

    for (int64_t i = 0; i < n * (sc_type_is_complex(c->type) ? 2 : 1); i++)
        if (single)
            ((float *)array(pinned, 2))[i] = (float)draw(1000) / 8;
        else
            ((double *)array(pinned, 2))[i] = (double)draw(1000) / 8;
}

/* Lines of 0 to 7 entries; the source holds a contiguous range of the entries. */
static void make_lines(struct sc_csr_conversion *c)
{
    int64_t limit = (c->by_columns ? c->m : c->n) / c->block, at = 0;

    c->lines = (c->by_columns ? c->n : c->m) / c->block;
    for (int64_t i = 0; i < c->lines; i++) {
        put(array(pinned, 0), c->from_bytes, i, at + c->from_base);
        at += draw(3) ? draw(8) : 0;
    }
    put(array(pinned, 0), c->from_bytes, c->lines, at + c->from_base);
    c->first = draw(3) ? 0 : draw(at + 1);
    c->count = draw(3) ? at - c->first : draw(at - c->first + 1);
    for (int64_t e = 0; e < c->count; e++)
        put(array(pinned, 1), c->from_bytes, e, draw(limit) + c->from_base);
    draw_values(c, c->count * c->block * c->block);
}

static void make_coordinates(struct sc_csr_conversion *c)
{
    c->first = draw(5);
    c->count = draw(8 * SIZE);
    for (int64_t e = 0; e < c->count; e++) {
        put(array(pinned, 0), c->from_bytes, e, draw(c->m) + c->from_base);
        put(array(pinned, 1), c->from_bytes, e, draw(c->n) + c->from_base);
    }
    draw_values(c, c->count);
}

static void make_diagonals(struct sc_csr_conversion *c)
{
    c->diagonals = draw(8);
    c->first = draw(c->m);
    c->count = draw(c->m - c->first + 1);
    for (int64_t d = 0; d < c->diagonals; d++)
        put(array(pinned, 1), c->from_bytes, d, draw(c->m + c->n - 1) - c->m + 1);
    draw_values(c, c->count * c->diagonals);
}

static void make_use(struct sc_csr_conversion *c)
{
    int64_t rows;

    c->lower = c->upper = c->diagonal = true;
    if (c->m == c->n && draw(2)) {
        c->mirrored = draw(2);
        c->mirror_conjugated = draw(2);
        c->lower = draw(2);
        c->upper = !c->lower && draw(3);
        c->diagonal = draw(2);
        c->ones = !c->diagonal;
    }
    c->sorted = draw(2);
    c->transposed = draw(2);
    c->conjugated = c->transposed && draw(2);
    rows = c->transposed ? c->n : c->m;
    c->row = draw(2) ? 0 : draw(rows);
    c->rows = draw(2) ? rows - c->row : draw(rows - c->row + 1);
}

static void make(struct sc_csr_conversion *c)
{
    memset(c, 0, sizeof *c);
    c->layout = (enum sc_layout)draw(3);
    c->type = (enum sc_type)draw(SC_TYPES);
    c->from_bytes = draw(2) ? 4 : 8;
    c->to_bytes = draw(2) ? 4 : 8;
    c->from_base = (int)draw(2);
    c->to_base = (int)draw(2);
    c->block = c->layout == SC_LAYOUT_LINES && draw(2) ? 1 + draw(3) : 1;
    c->block_by_rows = draw(2);
    c->by_columns = c->layout == SC_LAYOUT_LINES && c->block == 1 && draw(2);
    c->m = c->block * (1 + draw(SIZE / 3));
    c->n = draw(2) ? c->m : c->block * (1 + draw(SIZE / 3));
    if (c->layout == SC_LAYOUT_LINES)
        make_lines(c);
    else if (c->layout == SC_LAYOUT_COORDINATES)
        make_coordinates(c);
    else
        make_diagonals(c);
    make_use(c);
}

static void set_addresses(struct sc_csr_conversion *c, char *base, char *result)
{
    c->start = array(base, 0);
    c->index = array(base, 1);
    c->values = array(base, 2);
    c->csr_rows = array(result, 3);
    c->csr_columns = array(result, 4);
    c->csr_values = array(result, 5);
}

/* The number of entries before duplicates are added: the room of a sorted CSR. */
static int64_t all_entries(const struct sc_csr_conversion *c)
{
    struct sc_csr_conversion plain = *c;

    plain.entries = 2 * MOST;
    plain.sorted = false;
    return sc_device_convert(&plain) == SC_OK ? get(c->csr_rows, c->to_bytes, c->rows) - c->to_base : 0;
}

/* On the host into `own`; the device's comes to `pinned`. */
static enum sc_status on_both(struct sc_csr_conversion *c, char *own)
{
    struct sc_csr_conversion there = *c;
    enum sc_status status;

    set_addresses(c, pinned, own);
    set_addresses(&there, memory, memory);
    c->entries = there.entries = all_entries(c);
    memset(own, 0xff, 6 * (size_t)BYTES);
    status = sc_device_convert(c);
    memset(array(pinned, 3), 0xff, 3 * (size_t)BYTES);
    if (status == SC_OK)
        status = move_now(ops, memory, 0, pinned, SC_HOST, 6 * (size_t)BYTES);
    if (status == SC_OK)
        status = ops->convert(0, &there);
    if (status == SC_OK)
        status = ops->sync(mark(ops, 0, SC_STREAM_COMPUTE));
    return status == SC_OK ? move_now(ops, array(pinned, 3), SC_HOST, array(memory, 3), 0, 3 * (size_t)BYTES) : status;
}

/* Compares the two CSR, and checks that nothing beyond their arrays was written. */
static bool are_same(const struct sc_csr_conversion *c, char *own)
{
    int64_t entries = get(c->csr_rows, c->to_bytes, c->rows) - c->to_base;
    size_t integer = (size_t)c->to_bytes, elem = sc_type_bytes(c->type);
    const char *columns = array(pinned, 4), *values = array(pinned, 5);
    bool same = entries <= c->entries && (c->sorted || entries == c->entries);

    for (size_t i = (size_t)c->entries * integer; i < BYTES && same; i++)
        same = columns[i] == (char)0xff;
    for (size_t i = (size_t)c->entries * elem; i < BYTES && same; i++)
        same = values[i] == (char)0xff;
    return same && !memcmp(array(own, 3), array(pinned, 3), BYTES) &&
           !memcmp(array(own, 4), columns, (size_t)entries * integer) &&
           !memcmp(array(own, 5), values, (size_t)entries * elem);
}

static void test_random(int count)
{
    char *own = malloc(6 * (size_t)BYTES);
    struct sc_csr_conversion c;
    int64_t entries = 0;
    int wrong = 0;

    for (int i = 0; i < count; i++) {
        uint64_t before = seed;
        enum sc_status status;
        bool same;

        make(&c);
        status = on_both(&c, own);
        same = are_same(&c, own);
        entries += c.entries;
        if (status == SC_OK && same)
            continue;
        if (!wrong++)
            tap_diag("status %d, layout %d, type %d, integers %d to %d, %lld x %lld, seed %llu", status, c.layout,
                     c.type, c.from_bytes, c.to_bytes, (long long)c.m, (long long)c.n, (unsigned long long)before);
    }
    tap_ok(!wrong && entries > 10 * count, "%d conversions, %lld entries: all as on the host", count,
           (long long)entries);
    free(own);
}

/* The host's conversion of a matrix whose entries are known. */
static void test_definition(void)
{
    struct sc_csr_conversion c = {.layout = SC_LAYOUT_COORDINATES, .type = SC_Z, .from_bytes = 4, .from_base = 1,
                                  .m = 3, .n = 3, .count = 5, .block = 1, .lower = true, .diagonal = true,
                                  .mirrored = true, .mirror_conjugated = true, .rows = 3, .entries = 6, .to_bytes = 4};
    const int32_t rows[] = {3, 1, 3, 2, 2}, columns[] = {1, 1, 1, 3, 2}, starts[] = {0, 3, 4, 6};
    const int32_t expected[] = {2, 0, 2, 1, 0, 0};
    const double values[] = {1, 2, 3, 0, 4, 5, 6, 7, 8, 0};
    const double result[] = {1, -2, 3, 0, 4, -5, 8, 0, 1, 2, 4, 5};
    const int32_t sorted_starts[] = {0, 2, 3, 4}, sorted_columns[] = {0, 2, 1, 0};
    const double sums[] = {3, 0, 5, -7, 8, 0, 5, 7};
    int32_t csr_rows[4], csr_columns[6];
    double csr_values[12];

    c.start = rows;
    c.index = columns;
    c.values = values;
    c.csr_rows = csr_rows;
    c.csr_columns = csr_columns;
    c.csr_values = csr_values;
    tap_ok(sc_device_convert(&c) == SC_OK && !memcmp(csr_rows, starts, sizeof starts) &&
               !memcmp(csr_columns, expected, sizeof expected) && !memcmp(csr_values, result, sizeof result),
           "the lower half of a Hermitian matrix, in coordinates, one entry twice");
    c.sorted = true;
    tap_ok(sc_device_convert(&c) == SC_OK && !memcmp(csr_rows, sorted_starts, sizeof starts) &&
               !memcmp(csr_columns, sorted_columns, sizeof sorted_columns) &&
               !memcmp(csr_values, sums, sizeof sums),
           "the same by columns: entries of one place are summed");
}

int main(void)
{
    int count;

    ops = device_open(&count);
    test_definition();
    if (ops->convert) {
        tap_diag("seed %llu", (unsigned long long)seed);
        pinned = pinned_new(ops, 6 * (size_t)BYTES);
        memory = block_new(ops, 0, 6 * (size_t)BYTES);
        test_random(2000);
        ops->free(0, memory, NULL, 0);
        pinned_free(ops, pinned, 6 * (size_t)BYTES);
    } else {
        tap_diag("these devices leave conversions to the host");
    }
    ops->close();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
