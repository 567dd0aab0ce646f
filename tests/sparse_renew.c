/* Writes one value of a sparse matrix, in every format and for every kind of use. Only the parts with entries of the
 * written sector are made again, and of the arrays only the written sector is uploaded. Runs on 1, 2 and 4 devices,
 * with conversion by the devices and by the host; also without staged copies, with failing operations, and with little
 * memory. */
#include "device/emu/emu.h"
#include "tests/sparse_shapes.h"

/* A use of the matrix: as the library and as the test describe it. */
struct kind {
    const char *name;
    char trans;
    struct sc_sparse_descr descr;
    bool solve, by_host;
};

static const struct kind kinds[] = {
    {"general", 'N', {SC_SPARSE_GENERAL, 'L', 'N', false}, false, false},
    {"transposed", 'T', {SC_SPARSE_GENERAL, 'L', 'N', false}, false, false},
    {"symmetric", 'N', {SC_SPARSE_SYMMETRIC, 'L', 'N', false}, false, false},
    {"transposed triangle", 'T', {SC_SPARSE_TRIANGULAR, 'U', 'N', false}, false, false},
    {"triangle, solved", 'N', {SC_SPARSE_TRIANGULAR, 'L', 'U', false}, true, false},
    {"general, made by the host", 'N', {SC_SPARSE_GENERAL, 'L', 'N', false}, false, true},
    {"symmetric, made by the host", 'N', {SC_SPARSE_SYMMETRIC, 'L', 'N', false}, false, true},
    {"triangle, solved, made by the host", 'T', {SC_SPARSE_TRIANGULAR, 'L', 'U', false}, true, true},
};

/* --- what should happen ------------------------------------------------------------------------------------------- */

static int64_t integer(const struct matrix *m, const void *at, int64_t i)
{
    return sc_sparse_at(at, m->a.index_bytes, i) - m->a.base;
}

static int64_t each_of(const struct matrix *m)
{
    return m->a.format == SC_SPARSE_BSR ? BLOCK * BLOCK : 1;
}

static int64_t elements(const struct matrix *m)
{
    return (int64_t)(m->value_bytes / sizeof(double));
}

/* Row and column of an element of `values`; false: the element has no place in the matrix. */
static bool place_of(const struct matrix *m, int64_t element, int64_t *row, int64_t *col)
{
    int64_t at = element / each_of(m), r = element % each_of(m) / BLOCK, c = element % BLOCK, line = 0, d;

    if (m->a.format == SC_SPARSE_COO) {
        *row = integer(m, m->start, at);
        *col = integer(m, m->index, at);
    } else if (m->a.format == SC_SPARSE_DIA) {
        d = element / N;
        *row = element % N;
        *col = *row + integer(m, m->index, d);
    } else {
        for (int64_t step = 4096; step > 0; step /= 2)
            if (line + step < N / (each_of(m) > 1 ? BLOCK : 1) && integer(m, m->start, line + step) <= at)
                line += step;
        *row = m->a.format == SC_SPARSE_CSC ? integer(m, m->index, at) : line;
        *col = m->a.format == SC_SPARSE_CSC ? line : integer(m, m->index, at);
    }
    if (m->a.format == SC_SPARSE_BSR) {
        *row = *row * BLOCK + (m->a.block_by_rows ? r : c);
        *col = *col * BLOCK + (m->a.block_by_rows ? c : r);
    }
    return *col >= 0 && *col < N;
}

/* The rows of the result that an element contributes to; returns their number. */
static int rows_of(const struct matrix *m, const struct kind *k, int64_t element, int64_t rows[2])
{
    bool lower = k->descr.uplo == 'L', symmetric = k->descr.kind == SC_SPARSE_SYMMETRIC;
    int64_t row, col;

    if (!place_of(m, element, &row, &col) || (row == col && k->descr.diag == 'U'))
        return 0;
    if (k->descr.kind != SC_SPARSE_GENERAL && row != col && (col < row) != lower)
        return 0;
    rows[0] = k->trans == 'N' ? row : col;
    rows[1] = k->trans == 'N' ? col : row;
    return 1 + (symmetric && row != col);
}

#define PARTS 64

/* Of each part: whether the part has entries of the sector; bytes uploaded to the part. */
struct expected {
    bool made[PARTS];
    size_t bytes;
};

static bool has_row(const struct sc_sparse_part *p, int64_t row)
{
    return row >= p->row && row < p->row + p->rows;
}

/* Bytes of the sector sent to the part's device: elements between the first and the last source entry of the part. */
static size_t staged_bytes(const struct matrix *m, const struct sc_sparse_part *p, struct sc_sparse_range sector)
{
    size_t bytes = 0;

    for (int64_t e = sector.first; e < sector.end; e++) {
        int64_t at = m->a.format == SC_SPARSE_DIA ? e % N : e / each_of(m);

        bytes += at >= p->source.first && at < p->source.end ? sizeof(double) : 0;
    }
    return bytes;
}

/* Bytes of the part's rows, from the first to the last row with an entry of the sector. */
static size_t sent_bytes(const struct matrix *m, const struct kind *k, const struct sc_sparse_range *touched)
{
    size_t bytes = 0;
    int64_t rows[2];

    for (int64_t e = 0; e < elements(m); e++)
        for (int n = rows_of(m, k, e, rows); n > 0; n--)
            bytes += rows[n - 1] >= touched->first && rows[n - 1] < touched->end ? sizeof(double) : 0;
    return bytes;
}

/* Of a block matrix, whole blocks count. */
static struct sc_sparse_range whole_blocks(const struct matrix *m, struct sc_sparse_range r)
{
    int64_t each = each_of(m);

    return (struct sc_sparse_range){r.first / each * each, (r.end + each - 1) / each * each};
}

static struct expected expect(const struct matrix *m, const struct kind *k, const struct sc_sparse_variant *v,
                              struct sc_sparse_range sector)
{
    struct sc_sparse_range looked = whole_blocks(m, sector), touched[PARTS];
    struct expected x = {.bytes = 0};
    int64_t rows[2];

    for (int i = 0; i < v->parts; i++)
        touched[i] = sc_sparse_no_range;
    for (int64_t e = looked.first; e < looked.end; e++)
        for (int n = rows_of(m, k, e, rows); n > 0; n--)
            for (int i = 0; i < v->parts; i++)
                if (has_row(&v->part[i], rows[n - 1])) {
                    x.made[i] = true;
                    sc_sparse_widen(&touched[i], rows[n - 1]);
                }
    for (int i = 0; i < v->parts; i++) {
        x.made[i] = x.made[i] || (v->parts == 1 && v->converted);
        if (x.made[i])
            x.bytes += v->converted ? staged_bytes(m, &v->part[i], sector) : sent_bytes(m, k, &touched[i]);
    }
    return x;
}

/* The sectors that overlap the page of an element. */
static struct sc_sparse_range sectors_of(const struct matrix *m, int64_t element)
{
    int64_t n = elements(m), length = sc_coherence_segment(n, SC_D), page = SC_PAGE / (int64_t)sizeof(double);
    int64_t first = element / page * page, end = first + page;

    first = first / length * length;
    end = (end + length - 1) / length * length;

    return (struct sc_sparse_range){first, end < n ? end : n};
}

/* --- what happens ------------------------------------------------------------------------------------------------- */

/* by_host: makes a matrix whose row ends are in a separate array. The host converts such matrices, since rows with
 * separate ends may have gaps. */
static void make_for(struct matrix *m, enum shape shape, const struct kind *k)
{
    make(m, shape);
    if (k->solve)
        to_solve(m);
    if (!k->by_host)
        return;
    sc_sparse_destroy(m->handle);
    m->end = env_memory((N + 1) * sizeof(int64_t));
    memcpy(m->end, (char *)m->start + m->a.index_bytes, (size_t)(N * m->a.index_bytes));
    m->a.end = m->end;
    if (sc_sparse_create(&m->handle, &m->a, false) != SC_OK)
        tap_ok(0, "a matrix");
}

static void drop_all(struct matrix *m)
{
    void *end = m->end;

    drop(m);
    if (end) {
        sc_coherence_forget((uintptr_t)end, 1);
        sc_host_free(end);
    }
}

/* A fault would open 64 KiB. */
static void write_element(struct matrix *m, const struct kind *k, int64_t element)
{
    sc_coherence_acquire_host((uintptr_t)&m->values[element], 1, SC_RDWR);
    m->values[element] += k->solve ? 0.03125 : 0.5;
}

static struct sc_sparse_variant *only_variant(const struct matrix *m)
{
    return &m->handle->variant[0];
}

static bool same_fence(struct sc_fence a, struct sc_fence b)
{
    return a.device == b.device && a.stream == b.stream && a.seq == b.seq;
}

/* Bytes uploaded for vectors alone: sectors of y that devices share and the host has written meanwhile. */
static uint64_t bytes_of_vectors(struct matrix *m, const struct kind *k)
{
    uint64_t before = sc_stats.bytes[SC_H2D];

    is_right(m, k->trans, &k->descr);
    return sc_stats.bytes[SC_H2D] - before;
}

/* Writes an element; returns whether the parts made and the bytes uploaded afterwards are as expected. */
static bool writes(struct matrix *m, const struct kind *k, int64_t element, int *parts, size_t *bytes)
{
    struct sc_sparse_variant *v = only_variant(m);
    struct expected x = expect(m, k, v, sectors_of(m, element));
    struct sc_fence before[PARTS];
    uint64_t vectors, sent;
    bool good;

    vectors = bytes_of_vectors(m, k);
    sent = sc_stats.bytes[SC_H2D] + vectors;
    for (int i = 0; i < v->parts; i++)
        before[i] = v->part[i].form.ready;
    write_element(m, k, element);
    good = is_right(m, k->trans, &k->descr);
    if (!good)
        tap_diag("element %lld: the product is wrong", (long long)element);
    for (int i = 0; i < v->parts; i++) {
        bool made = !same_fence(before[i], v->part[i].form.ready);

        *parts += made;
        if (made != x.made[i]) {
            tap_diag("element %lld: part %d of %d is %smade again", (long long)element, i, v->parts,
                     made ? "" : "not ");
            good = false;
        }
    }
    /* For a solve, the host's parts also hold the ones of a unit diagonal, and duplicates as one entry. */
    if (sc_stats.bytes[SC_H2D] - sent != x.bytes && !(k->solve && !v->converted)) {
        tap_diag("element %lld: %llu bytes go up, not %zu", (long long)element,
                 (unsigned long long)(sc_stats.bytes[SC_H2D] - sent), x.bytes);
        good = false;
    }
    *bytes += x.bytes;
    return good;
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

#define WRITES 4
#define SETTLED 4 /* products; y is read after each, and further products leave its pages open */

static void test_kind(enum shape shape, const struct kind *k, int devices)
{
    struct matrix m;
    int good = 0, parts = 0, count;
    bool right = true;
    size_t bytes = 0;

    if (k->by_host && shape != COLUMNS && shape != BLOCKS && shape != ROWS)
        return;
    make_for(&m, shape, k);
    for (int i = 0; i < SETTLED; i++)
        right = is_right(&m, k->trans, &k->descr) && right;
    if (!right || only_variant(&m)->parts > PARTS) {
        tap_ok(0, "a product");
        return;
    }
    count = only_variant(&m)->parts;
    if (k->solve && count != 1) {
        tap_ok(0, "a solve runs on one device");
        return;
    }
    for (int i = 0; i < WRITES; i++)
        good += writes(&m, k, (int64_t)i * (elements(&m) - 1) / (WRITES - 1), &parts, &bytes);
    tap_ok(good == WRITES, "%d device(s), %s, %s (by the %s): %d writes make %.1f of %d parts, of %zu of %zu bytes",
           devices, names[shape], k->name, only_variant(&m)->converted ? "devices" : "host", WRITES,
           (double)parts / WRITES, count, bytes / WRITES, m.start_bytes + m.index_bytes + m.value_bytes);
    drop_all(&m);
}

/* Two uses at the same time, writes to several sectors at once, index writes in between: products see every write. */
static void test_mixture(enum shape shape, int devices)
{
    int right = 0, runs = 0;
    struct matrix m;

    make(&m, shape);
    for (int i = 0; i < 12; i++) {
        for (int64_t n = draw(4); n > 0; n--)
            m.values[draw(elements(&m))] += 0.5;
        if (i % 5 == 4)
            put(&m, m.index, draw(4), 40 + i);
        right += is_right(&m, 'N', &general);
        if (i % 3)
            m.values[draw(elements(&m))] -= 0.25;
        right += i % 2 || is_right(&m, 'T', &general);
        runs += 2;
    }
    for (int64_t e = 0; e < elements(&m); e++)
        m.values[e] += 0.125;
    right += is_right(&m, 'N', &general) + is_right(&m, 'T', &general);
    tap_ok(right == runs + 2, "%d device(s), %s: %d products with writes of values and indices between", devices,
           names[shape], runs);
    drop(&m);
}

/* The largest difference of two matrices in CSR; infinite if their entries are at different places. */
static double difference(struct sc_sparse_matrix *first, struct sc_sparse_matrix *second)
{
    const struct sc_sparse_arrays *a = sc_sparse_arrays(first), *b = sc_sparse_arrays(second);
    int64_t entries = sc_sparse_at(a->start, a->index_bytes, N) - a->base;
    double worst = 0;

    for (int64_t i = 0; i <= N; i++)
        if (sc_sparse_at(a->start, a->index_bytes, i) != sc_sparse_at(b->start, b->index_bytes, i))
            return INFINITY;
    for (int64_t e = 0; e < entries; e++) {
        if (sc_sparse_at(a->index, a->index_bytes, e) != sc_sparse_at(b->index, b->index_bytes, e))
            return INFINITY;
        worst = tap_worse(worst, fabs(((const double *)a->values)[e] - ((const double *)b->values)[e]));
    }
    return worst;
}

/* The square of the matrix, by the devices and by the host. */
static bool is_square_right(struct matrix *m)
{
    struct sc_sparse_matrix *c[2] = {NULL, NULL};
    bool right = true;

    for (int host = 0; host < 2 && right; host++) {
        sc_config.offload = host ? SC_OFFLOAD_NEVER : SC_OFFLOAD_ALWAYS;
        right = sc_sparse_multiply(&c[host], 'T', m->handle, 'T', m->handle) == SC_OK;
    }
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    right = right && difference(c[0], c[1]) < 1e-12;
    sc_sparse_destroy(c[0]);
    sc_sparse_destroy(c[1]);
    return right;
}

/* Multiplies the matrix by itself: the two factors share one derived copy. */
static void test_square(enum shape shape, int devices)
{
    uint64_t before = sc_stats.offloaded[SC_TRACE_SPARSE_GEMM], sent;
    struct sc_sparse_range sectors;
    struct matrix m;
    bool right;

    make(&m, shape);
    right = is_square_right(&m);
    sectors = sectors_of(&m, elements(&m) / 3);
    write_element(&m, &kinds[0], elements(&m) / 3);
    sent = sc_stats.bytes[SC_H2D];
    right = is_square_right(&m) && right;
    sent = sc_stats.bytes[SC_H2D] - sent;
    tap_ok(right && sc_stats.offloaded[SC_TRACE_SPARSE_GEMM] == before + 2 &&
               sent == (uint64_t)(sectors.end - sectors.first) * sizeof(double),
           "%d device(s), %s: a square, and another after a write (%llu bytes)", devices, names[shape],
           (unsigned long long)sent);
    drop(&m);
}

/* The staged source of a part is evicted first when memory is short. After the eviction a renewal uploads the source
 * again, for the part concerned only. */
static void test_without_staged(enum shape shape)
{
    struct matrix m;
    uint64_t before;
    struct sc_sparse_part *p;
    bool right;

    if (!sc_coherence_converts())
        return;
    make(&m, shape);
    right = is_right(&m, 'N', &general);
    p = only_variant(&m)->part;
    tap_ok(p->staged.memory && p->staged.lru.last_use < p->form.lru.last_use, "%s: what it was made of goes first",
           names[shape]);
    sc_coherence_derived_discard(&p->staged);
    before = sc_stats.bytes[SC_H2D];
    right = right && is_right(&m, 'N', &general) && sc_stats.bytes[SC_H2D] == before;
    m.values[elements(&m) / 2] += 1;
    right = right && is_right(&m, 'N', &general);
    tap_ok(right && sc_stats.bytes[SC_H2D] - before == m.start_bytes + m.index_bytes + m.value_bytes,
           "%s: when it is gone it is sent again, once it is needed (%llu bytes)", names[shape],
           (unsigned long long)(sc_stats.bytes[SC_H2D] - before));
    drop(&m);
}

static void stop(void)
{
    sc_coherence_stop();
    sc_host_faults_stop();
}

/* Multiplies, writes, and multiplies again with a fault injected; returns whether the second product is right. */
static bool is_right_with(enum shape shape, const struct kind *k, const char *machine, struct sc_emu_fault fault,
                          uint64_t limit)
{
    struct matrix m;
    bool right;

    env_start(machine, limit);
    make_for(&m, shape, k);
    right = is_right(&m, k->trans, &k->descr);
    write_element(&m, k, elements(&m) / 2);
    if (!multiply(&m, k->trans, &k->descr, SC_OFFLOAD_NEVER))
        tap_ok(0, "the host's product");
    sc_emu_inject(0, fault);
    right = right && is_right(&m, k->trans, &k->descr);
    sc_emu_inject(0, (struct sc_emu_fault){.nth = 0});
    right = right && (fault.skip || is_right(&m, k->trans, &k->descr));
    drop_all(&m);
    stop();
    return right;
}

/* Copies: the sector's values.  Launches: the conversion, the product. */
static void test_skips(enum shape shape)
{
    static const struct sc_emu_fault skips[] = {{.kind = SC_EMU_COPY, .nth = 1, .skip = true, .quiet = true},
                                                {.kind = SC_EMU_LAUNCH, .nth = 1, .skip = true, .quiet = true},
                                                {.kind = SC_EMU_LAUNCH, .nth = 2, .skip = true, .quiet = true}};
    int wrong = 0;

    for (int i = 0; i < 3; i++)
        wrong += !is_right_with(shape, &kinds[0], "emu:h200x8:1", skips[i], 0);
    tap_ok(wrong == 3, "%s: the copy of a sector, the conversion and the product are all needed", names[shape]);
}

static void test_faults(enum shape shape, const struct kind *k)
{
    int right = 0, runs = 0;

    if (failures_come_late())
        return;
    for (uint64_t nth = 1; nth < 16; nth++, runs++)
        right += is_right_with(shape, k, "emu:h200x8:2", (struct sc_emu_fault){.kind = SC_EMU_ANY, .nth = nth}, 0);
    tap_ok(right == runs, "%s, %s: %d products after a write with an operation that fails are right", names[shape],
           k->name, runs);
}

static void test_memory(enum shape shape)
{
    int right = 0, runs = 0;

    for (uint64_t limit = 200000; limit < 3000000; limit += limit / 3, runs++)
        right += is_right_with(shape, &kinds[0], "emu:h200x8:2", (struct sc_emu_fault){.nth = 0}, limit);
    tap_ok(right == runs, "%s: right after writes on devices of 0.2 to 3 MB", names[shape]);
}

int main(void)
{
    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    sc_config.push = 0; /* vectors with open pages go up whole, and the test counts bytes */
    tap_diag("seed %llu", (unsigned long long)seed);
    for (int devices = 1; devices <= 4; devices *= 2) {
        char name[32];
        int count;

        snprintf(name, sizeof name, "emu:h200x8:%d", devices);
        count = env_start(name, 0);
        for (int s = 0; s < SHAPES; s++) {
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
                if (s != ROWS || k)
                    test_kind((enum shape)s, &kinds[k], count);
            test_mixture((enum shape)s, count);
            test_square((enum shape)s, count);
        }
        for (int s = 0; s < ROWS && count == 1; s++)
            test_without_staged((enum shape)s);
        stop();
        if (!env_is_emulated())
            break;
    }
    for (int s = 0; s < ROWS && env_is_emulated(); s++) {
        test_skips((enum shape)s);
        test_faults((enum shape)s, &kinds[2]);
        test_faults((enum shape)s, &kinds[4]);
        test_memory((enum shape)s);
    }
    if (env_is_emulated())
        test_faults(COLUMNS, &kinds[5]);
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
