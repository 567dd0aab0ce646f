/* The parts of a sparse matrix, and products whose parts or vectors do not fit into the devices' memory. Asserts
 * complete and balanced parts, few needless columns of x, and right products under evictions and failing operations. */
#include <math.h>

#include "device/emu/emu.h"
#include "sparse/sparse.h"
#include "sparse/sparse_int.h"
#include "tests/coherence_env.h"

static uint64_t seed = 11223344;

static int64_t draw(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> 33) % n;
}

struct matrix {
    int64_t n;
    int32_t *start, *columns;
    double *values;
    struct sc_sparse_matrix *handle;
};

static void release(void *p, size_t bytes)
{
    sc_coherence_forget((uintptr_t)p, bytes);
    sc_host_free(p);
}

/* Rows of `least` to `most` entries, growing downwards, within `width` of the diagonal. */
static void make(struct matrix *m, int64_t n, int64_t least, int64_t most, int64_t width)
{
    struct sc_sparse_arrays a = {.format = SC_SPARSE_CSR, .type = SC_D, .index_bytes = 4, .rows = n, .cols = n};
    int64_t at = 0;

    m->n = n;
    m->start = env_memory((size_t)(n + 1) * sizeof *m->start);
    m->columns = env_memory((size_t)(n * most) * sizeof *m->columns);
    m->values = env_memory((size_t)(n * most) * sizeof *m->values);
    for (int64_t i = 0; i < n; i++) {
        int64_t entries = least + (most - least) * i * i / (n * n);

        m->start[i] = (int32_t)at;
        for (int64_t k = 0; k < entries; k++) {
            int64_t j = i + draw(2 * width + 1) - width;

            m->columns[at] = (int32_t)(j < 0 ? 0 : j < n ? j : n - 1);
            m->values[at++] = (double)draw(9) / 8 - 0.5;
        }
    }
    m->start[n] = (int32_t)at;
    a.start = m->start;
    a.index = m->columns;
    a.values = m->values;
    tap_ok(sc_sparse_create(&m->handle, &a, false) == SC_OK, "a matrix of %lld rows, %lld entries", (long long)n,
           (long long)at);
}

static void drop(struct matrix *m)
{
    sc_sparse_destroy(m->handle);
    release(m->start, 1);
    release(m->columns, 1);
    release(m->values, 1);
}

/* --- the cut ------------------------------------------------------------------------------------------------------ */

static bool columns_covered(const struct matrix *m, const struct sc_sparse_part *p)
{
    for (int64_t e = p->first; e < p->first + p->entries; e++) {
        bool there = false;

        for (int i = 0; i < p->ranges; i++)
            there |= p->x[i].first <= m->columns[e] && m->columns[e] < p->x[i].end;
        if (!there)
            return false;
    }
    return true;
}

static void test_split(int64_t n, int64_t least, int64_t most, int devices, const char *what)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    struct sc_sparse_variant v = {.use = {.trans = 'N', .descr = general}};
    int64_t of[SC_DEVICES_MAX] = {0}, row = 0, segment = sc_coherence_segment(n, SC_D), worst = 0, needed = 0;
    int owner[SC_SECTORS + 1];
    bool whole = true, covered = true, owned = true;
    enum sc_status status;
    struct matrix m;

    make(&m, n, least, most, 50);
    memset(owner, -1, sizeof owner);
    v.csr = (struct sc_sparse_csr){.type = SC_D, .index_bytes = 4, .rows = n, .cols = n, .start = m.start,
                                   .index = m.columns, .values = m.values, .borrowed = true};
    status = sc_sparse_split(&v, NULL, devices);
    tap_ok(status == SC_OK && v.parts >= devices, "%s, cut for %d devices: %d parts", what, devices, v.parts);
    for (int i = 0; i < v.parts; i++) {
        struct sc_sparse_part *p = &v.part[i];

        whole = whole && p->row == row && p->rows > 0 && p->first == m.start[row] &&
                p->first + p->entries == m.start[p->row + p->rows];
        row += p->rows;
        of[p->device] += p->entries;
        covered = covered && columns_covered(&m, p);
        for (int64_t s = p->row / segment; s <= (p->row + p->rows - 1) / segment; s++) {
            owned = owned && (owner[s] < 0 || owner[s] == p->owner);
            owner[s] = p->owner;
        }
        for (int k = 0; k < p->ranges; k++)
            needed += p->x[k].end - p->x[k].first;
    }
    for (int d = 0; d < devices; d++)
        worst = of[d] > worst ? of[d] : worst;
    tap_ok(whole && row == n, "the parts follow one another and are all of it");
    tap_ok((double)worst <= 1.05 * m.start[n] / devices, "no device has more than 5%% above the average (%lld of %d)",
           (long long)worst, m.start[n]);
    tap_ok(covered, "every column is in what the part needs of x");
    tap_ok(devices == 1 || needed <= n + v.parts * (2 * 50 + 2 * 64 + 1), "and that is little more (%lld of %lld)",
           (long long)needed, (long long)n);
    tap_ok(owned, "a sector of y is written by one device");
    sc_sparse_variant_drop(&v);
    drop(&m);
}

/* --- matrices with few entries ------------------------------------------------------------------------------------ */

/* The first element of a device's share of a distributed vector (rule D3 of the directory). */
static int64_t home(int64_t n, int devices, int d)
{
    int64_t segment = sc_coherence_segment(n, SC_D), segments = (n + segment - 1) / segment;
    int64_t at = (d * segments + devices - 1) / devices * segment;

    return at < n ? at : n;
}

/* Row i has an entry in column columns[i], or none if columns[i] is negative. */
static void split_few(struct sc_sparse_variant *v, int64_t rows, int64_t cols, int32_t *columns, int32_t *start,
                      int devices)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    static double value[1];
    int32_t entries = 0;
    enum sc_status status;

    for (int64_t i = 0; i < rows; i++) {
        start[i] = entries;
        if (columns[i] >= 0)
            columns[entries++] = columns[i];
    }
    start[rows] = entries;
    *v = (struct sc_sparse_variant){
        .use = {.trans = 'N', .descr = general},
        .csr = {.type = SC_D, .index_bytes = 4, .rows = rows, .cols = cols, .start = start, .index = columns,
                .values = value, .borrowed = true}};
    status = sc_sparse_split(v, NULL, devices);
    tap_ok(status == SC_OK && v->parts >= devices, "few entries: %lld rows, %lld columns, %d parts",
           (long long)rows, (long long)cols, v->parts);
}

/* Entries in the first rows alone, as in the block of another process's columns: y stays where it is. */
static void test_first_rows(int devices)
{
    enum { ROWS = 64000, ENTRIES = 1600 };
    static int32_t columns[ROWS], start[ROWS + 1];
    struct sc_sparse_variant v;
    bool good = true;

    for (int i = 0; i < ROWS; i++)
        columns[i] = i < ENTRIES ? i : -1;
    split_few(&v, ROWS, ENTRIES, columns, start, devices);
    for (int i = 0; i < v.parts; i++)
        good = good && v.part[i].row >= home(ROWS, devices, v.part[i].device) &&
               v.part[i].row + v.part[i].rows <= home(ROWS, devices, v.part[i].device + 1);
    tap_ok(good, "each device keeps its elements of y");
    sc_sparse_variant_drop(&v);
}

/* Rows that select elements of x, most of them near its beginning: no device needs another device's elements. */
static void test_selection(int devices)
{
    enum { ROWS = 2000, COLUMNS = 64000 };
    static int32_t columns[ROWS], start[ROWS + 1];
    struct sc_sparse_variant v;
    bool good = true;

    for (int i = 0; i < ROWS; i++)
        columns[i] = i < ROWS / 2 ? i : i * (COLUMNS / ROWS);
    split_few(&v, ROWS, COLUMNS, columns, start, devices);
    for (int i = 0; i < v.parts; i++)
        for (int k = 0; k < v.part[i].ranges; k++)
            good = good && v.part[i].x[k].first >= home(COLUMNS, devices, v.part[i].device) &&
                   v.part[i].x[k].end <= home(COLUMNS, devices, v.part[i].device + 1);
    tap_ok(good, "each device selects from its elements of x");
    sc_sparse_variant_drop(&v);
}

/* Entries all over the rows: each part needs all of x, and gets x in one piece. */
static void test_all_columns(int64_t n, int devices)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    struct sc_sparse_variant v = {.use = {.trans = 'N', .descr = general}};
    bool whole = true;
    enum sc_status status;
    struct matrix m;

    make(&m, n, 40, 40, n);
    v.csr = (struct sc_sparse_csr){.type = SC_D, .index_bytes = 4, .rows = n, .cols = n, .start = m.start,
                                   .index = m.columns, .values = m.values, .borrowed = true};
    status = sc_sparse_split(&v, NULL, devices);
    for (int i = 0; i < v.parts; i++)
        whole = whole && v.part[i].ranges == 1 && v.part[i].x[0].first == 0 && v.part[i].x[0].end == n;
    tap_ok(status == SC_OK && v.parts >= devices && whole, "columns all over: each of %d parts gets all of x", v.parts);
    sc_sparse_variant_drop(&v);
    drop(&m);
}

/* Where a vector begins on device d of several (rule D3 of the directory). */
static int64_t cut(int64_t n, int d, int devices)
{
    int64_t segment = sc_coherence_segment(n, SC_D), segments = (n + segment - 1) / segment;
    int64_t at = (d * segments + devices - 1) / devices * segment;

    return at < n ? at : n;
}

/* A band matrix: the rows at the ends of a device's range need the neighbours' elements of x. Asserts that these rows
 * form separate parts, which run last. */
static void test_ends(int devices)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    struct sc_sparse_variant v = {.use = {.trans = 'N', .descr = general}};
    int64_t inside = 0;
    bool apart = true, once = true;
    struct matrix m;

    make(&m, 64000, 7, 7, 50);
    v.csr = (struct sc_sparse_csr){.type = SC_D, .index_bytes = 4, .rows = m.n, .cols = m.n, .start = m.start,
                                   .index = m.columns, .values = m.values, .borrowed = true};
    tap_ok(sc_sparse_split(&v, NULL, devices) == SC_OK && v.parts == 3 * devices - 2,
           "a band on %d devices: parts for the ends", devices);
    for (int i = 0; i < v.parts; i++) {
        const struct sc_sparse_part *p = &v.part[v.order[i]];

        for (int k = 0; k < i; k++)
            once = once && v.order[k] != v.order[i];
        if (i >= devices)
            continue;
        inside += p->rows;
        /* The inner part needs elements of x of the part's device only. */
        apart = apart && p->x[0].first >= cut(m.n, p->device, devices) &&
                p->x[p->ranges - 1].end <= cut(m.n, p->device + 1, devices);
    }
    tap_ok(once && apart && inside >= m.n * 3 / 4, "%lld of %lld rows wait for nobody, and run first",
           (long long)inside, (long long)m.n);
    sc_sparse_variant_drop(&v);
    drop(&m);
}

/* --- products ----------------------------------------------------------------------------------------------------- */

static double error_of(const struct matrix *m, const double *x, const double *y)
{
    double worst = 0;

    for (int64_t i = 0; i < m->n; i++) {
        double d = -y[i];

        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++)
            d += m->values[e] * x[m->columns[e]];
        worst = tap_worse(worst, fabs(d));
    }
    return worst;
}

/* Five products, each of the previous product's result, with writes in between, on the devices present. */
static double products(struct matrix *m)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    double *x = env_memory((size_t)m->n * sizeof *x), *y = env_memory((size_t)m->n * sizeof *y), worst = 0, *swap;

    for (int64_t i = 0; i < m->n; i++)
        x[i] = 1 + (double)(i % 13) / 4;
    for (int k = 0; k < 5; k++) {
        enum sc_status status = sc_sparse_mv(m->handle, 'N', &general, one, x, 1, zero, y, 1);

        worst = tap_worse(worst, status == SC_OK ? error_of(m, x, y) : INFINITY);
        swap = x;
        x = y;
        y = swap;
        m->values[draw(m->start[m->n])] += 1;
    }
    release(x, 1);
    release(y, 1);
    return worst;
}

static void test_products(struct matrix *m, const char *what)
{
    uint64_t evictions = sc_stats.evictions;
    double worst = products(m);

    tap_ok(worst < 1e-7, "%s: worst error %.2e, %llu evictions", what, worst,
           (unsigned long long)(sc_stats.evictions - evictions));
}

static uint64_t bytes_of(const struct matrix *m)
{
    return (uint64_t)m->start[m->n] * 12 + (uint64_t)m->n * 4;
}

extern uint64_t sc_derived_steps; /* coherence/protocol.h */

/* A matrix of twice a device's memory. */
static void test_twice(const char *devices, int64_t n, int64_t least, int64_t most)
{
    struct matrix m;
    uint64_t evictions = sc_stats.evictions, steps = sc_derived_steps;

    make(&m, n, least, most, 200);
    env_start(devices, bytes_of(&m) / 2);
    test_products(&m, "a matrix of twice a device's memory");
    if (env_is_emulated())
        tap_ok(sc_stats.evictions > evictions && sc_derived_steps - steps <= 8 * (sc_stats.evictions - evictions),
               "did not fit; %d evictions looked at %d forms", (int)(sc_stats.evictions - evictions),
               (int)(sc_derived_steps - steps));
    drop(&m);
    sc_coherence_stop();
    sc_host_faults_stop();
}

/* The numbers of operations that fail. */
static uint64_t faults_below(uint64_t end) { return failures_come_late() ? 1 : end; }

/* The n-th operation of a device fails, for many n: the device gets no more work, and the results are right. */
static void test_faults(int device)
{
    struct matrix m;
    int bad = 0, runs = 0;

    make(&m, 3000, 5, 9, 200);
    for (uint64_t nth = 1; nth < faults_below(120); nth += 3, runs++) {
        sc_config.exchange = (enum sc_exchange_by)(nth % 4);
        env_start("emu:h200x8:2", 0);
        sc_emu_inject(device, (struct sc_emu_fault){.kind = SC_EMU_ANY, .nth = nth});
        if (!(products(&m) < 1e-7)) {
            tap_diag("operation %d of device %d", (int)nth, device);
            bad++;
        }
        sc_coherence_stop();
        sc_host_faults_stop();
    }
    tap_ok(bad == 0, "%d runs with an operation of device %d that fails", runs, device);
    drop(&m);
}

/* --- a column of a basis ------------------------------------------------------------------------------------------ */

enum { BASIS = 4 };

/* Tracks a basis as one matrix: on several devices in several tile rows. */
static bool track(double *basis, int64_t n)
{
    struct sc_view view = {.ptr = basis, .type = SC_D, .rows = n, .cols = BASIS, .ld = n, .access = SC_RDWR};
    struct sc_operand operand;

    if (sc_coherence_begin(&view, 1, &operand) != SC_OK)
        return false;
    sc_coherence_end(&operand, 1);
    return true;
}

/* Products of the columns of a basis, each with a new result.  *up: bytes to the devices, without the first product.
 * Returns the worst error. */
static double columns(struct matrix *m, uint64_t *up)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    double *basis = env_memory((size_t)(BASIS * m->n) * sizeof *basis), *y[BASIS], worst = 0;

    for (int64_t i = 0; i < BASIS * m->n; i++)
        basis[i] = 1 + (double)(i % 13) / 4;
    if (!track(basis, m->n))
        worst = INFINITY;
    for (int k = 0; k < BASIS; k++) {
        y[k] = env_memory((size_t)m->n * sizeof *y[k]);
        if (k == 1)
            *up = sc_stats.bytes[SC_H2D];
        if (sc_sparse_mv(m->handle, 'N', &general, one, basis + k * m->n, 1, zero, y[k], 1) != SC_OK)
            worst = INFINITY;
    }
    *up = sc_stats.bytes[SC_H2D] - *up;
    for (int k = 0; k < BASIS; k++) {
        worst = tap_worse(worst, error_of(m, basis + k * m->n, y[k]));
        release(y[k], 1);
    }
    release(basis, 1);
    return worst;
}

/* Results, which parts overwrite in turns, are not uploaded; and not lost if an operation fails. */
static void test_columns(int devices)
{
    char name[32];
    uint64_t up = 0;
    int bad = 0, runs = 0;
    struct matrix m;

    make(&m, 3000, 5, 9, 200);
    snprintf(name, sizeof name, "emu:h200x8:%d", devices);
    for (uint64_t nth = 0; nth < faults_below(90); nth += 3, runs++) {
        double worst;

        env_start(name, 0);
        if (nth)
            sc_emu_inject((int)(nth % (unsigned)devices), (struct sc_emu_fault){.kind = SC_EMU_ANY, .nth = nth});
        worst = columns(&m, &up);
        bad += !(worst < 1e-7);
        if (!nth)
            tap_ok(up <= (BASIS - 1) * (uint64_t)m.n * 8, "%d devices: %llu bytes up for %d columns of %lld", devices,
                   (unsigned long long)up, BASIS - 1, (long long)m.n * 8);
        sc_coherence_stop();
        sc_host_faults_stop();
    }
    tap_ok(bad == 0, "%d runs, all but one with a failing operation", runs);
    drop(&m);
}

#define BLOCK 5 /* columns of a dense matrix */

static double *at(double *block, int64_t row, int column, bool by_rows, int64_t ld)
{
    return block + (by_rows ? row * ld + column : column * ld + row);
}

/* Error of a product with a dense matrix.  Infinite if an element beside the result was written. */
static double block_error(const struct matrix *m, double *x, double *y, bool by_rows, int64_t ld, int64_t margin)
{
    const int64_t length = by_rows ? BLOCK : m->n, lines = by_rows ? m->n : BLOCK;
    double *column = malloc(2 * (size_t)m->n * sizeof *column), worst = 0;

    for (int j = 0; j < BLOCK; j++) {
        for (int64_t i = 0; i < m->n; i++) {
            column[i] = *at(x, i, j, by_rows, ld);
            column[m->n + i] = *at(y, i, j, by_rows, ld);
        }
        worst = tap_worse(worst, error_of(m, column, column + m->n));
    }
    for (int64_t i = 0; i < lines; i++)
        for (int64_t k = length; k < length + margin; k++)
            worst = y[i * ld + k] == -7 ? worst : INFINITY;
    free(column);
    return worst;
}

/* Products with a dense matrix, each with a new result.  *up: bytes to the devices, without the first product. */
static double blocks(struct matrix *m, bool by_rows, int64_t margin, uint64_t *up)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    const int64_t ld = (by_rows ? BLOCK : m->n) + margin, elements = ld * (by_rows ? m->n : BLOCK);
    double *x = env_memory((size_t)elements * sizeof *x), *y[3], worst = 0;

    for (int64_t i = 0; i < elements; i++)
        x[i] = 1 + (double)(i % 13) / 4;
    for (int k = 0; k < 3; k++) {
        y[k] = env_memory((size_t)elements * sizeof *y[k]);
        for (int64_t i = 0; i < elements; i++)
            y[k][i] = -7;
        if (k == 1)
            *up = sc_stats.bytes[SC_H2D];
        if (sc_sparse_mm(m->handle, 'N', &general, by_rows, BLOCK, one, x, ld, zero, y[k], ld) != SC_OK)
            worst = INFINITY;
    }
    *up = sc_stats.bytes[SC_H2D] - *up;
    for (int k = 0; k < 3; k++) {
        worst = tap_worse(worst, block_error(m, x, y[k], by_rows, ld, margin));
        release(y[k], 1);
    }
    release(x, 1);
    return worst;
}

/* A matrix has parts on as many devices as the dense operands of its first product (autotuner/devices.c). */
static void test_as_dense(void)
{
    static const struct sc_sparse_use general = {.trans = 'N', .descr = {.uplo = 'L', .diag = 'N'}};
    static const int64_t columns[] = {1, 32, 64}; /* of 2.3 MiB each; a device takes 32 MiB */
    static const int devices[] = {1, 2, 4};
    struct matrix m;

    env_start("emu:h200x8:4", 0);
    make(&m, 300000, 3, 3, 10);
    sc_config.offload = SC_OFFLOAD_AUTO;
    for (int i = 0; i < 3; i++) {
        struct sc_sparse_variant *v = sc_sparse_variant_for(m.handle, &general);
        enum sc_status status;

        v->columns = columns[i];
        status = sc_sparse_analyse(m.handle, v);
        tap_ok(status == SC_OK && v->devices == devices[i], "%lld columns: on %d of 4 devices", (long long)columns[i],
               v->devices);
    }
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    drop(&m);
    sc_coherence_stop();
    sc_host_faults_stop();
}

/* y := A x + y / 2 with matrices by rows, which change places after each product.  Only the rows of x at the ends of
 * the devices' parts travel, once for all columns.  together: x and y are blocks of columns of one array. */
static void test_rows(int devices, int64_t most, bool adds, bool together)
{
    enum { STEPS = 6, WIDTH = 300, STEP_MOST = 2 * (WIDTH + 200) };
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    const double one[2] = {1, 0}, beta[2] = {adds ? 0.5 : 0, 0};
    const int64_t ld = together ? 2 * BLOCK : BLOCK;
    double *x[2], *right[2], worst = 0;
    uint64_t up = 0, across = 0;
    struct matrix m;
    char name[32];
    size_t bytes;

    snprintf(name, sizeof name, "emu:h200x8:%d", devices);
    env_start(name, 0);
    make(&m, 20000, 7, most, WIDTH);
    bytes = (size_t)(m.n * ld) * sizeof *x[0];
    for (int side = 0; side < 2; side++) {
        x[side] = together && side ? x[0] + BLOCK : env_memory(bytes);
        right[side] = malloc((size_t)m.n * BLOCK * sizeof *right[side]);
        for (int64_t i = 0; i < m.n * BLOCK; i++)
            x[side][i / BLOCK * ld + i % BLOCK] = right[side][i] = (double)draw(17) / 16 - 0.5;
    }
    for (int k = 0; k < STEPS; k++) {
        double *from = right[k % 2], *to = right[1 - k % 2];

        if (k == 2) {
            up = sc_stats.bytes[SC_H2D];
            across = sc_stats.bytes[SC_D2D];
        }
        worst = sc_sparse_mm(m.handle, 'N', &general, true, BLOCK, one, x[k % 2], ld, beta, x[1 - k % 2], ld)
                        != SC_OK ? INFINITY : worst;
        for (int64_t i = 0; i < m.n; i++)
            for (int j = 0; j < BLOCK; j++) {
                double sum = 0;

                for (int64_t e = m.start[i]; e < m.start[i + 1]; e++)
                    sum += m.values[e] * from[m.columns[e] * BLOCK + j];
                to[i * BLOCK + j] = sum + beta[0] * to[i * BLOCK + j];
            }
    }
    up = sc_stats.bytes[SC_H2D] - up;
    across = sc_stats.bytes[SC_D2D] - across;
    tap_ok(!up && (together || across <= (uint64_t)(STEPS - 2) * (uint64_t)(devices - 1) * STEP_MOST * BLOCK * 8),
           "%d devices: %llu bytes up, %llu across in %d products%s", devices, (unsigned long long)up,
           (unsigned long long)across, STEPS - 2, adds ? " that add" : "");
    sc_coherence_acquire_host((uintptr_t)x[0], bytes, SC_READ);
    if (!together)
        sc_coherence_acquire_host((uintptr_t)x[1], bytes, SC_READ);
    for (int side = 0; side < 2; side++)
        for (int64_t i = 0; i < m.n * BLOCK; i++)
            worst = tap_worse(worst, fabs(x[side][i / BLOCK * ld + i % BLOCK] - right[side][i]) /
                                         (1 + fabs(right[side][i])));
    tap_ok(worst < 1e-10, "and the results are right (%.2e)", worst);
    drop(&m);
    for (int side = 0; side < 2; side++) {
        if (!together || !side)
            release(x[side], bytes);
        free(right[side]);
    }
    sc_coherence_stop();
    sc_host_faults_stop();
}

/* A dense result is not uploaded; and not lost if an operation fails. */
static void test_blocks(int devices, bool by_rows, int64_t margin)
{
    char name[32];
    uint64_t up = 0, most;
    int bad = 0, runs = 0;
    struct matrix m;

    make(&m, 3000, 5, 9, 200);
    most = 2 * (uint64_t)margin * 8 * (uint64_t)(by_rows ? m.n : BLOCK);
    snprintf(name, sizeof name, "emu:h200x8:%d", devices);
    for (uint64_t nth = 0; nth < faults_below(90); nth += 3, runs++) {
        env_start(name, 0);
        if (nth)
            sc_emu_inject((int)(nth % (unsigned)devices), (struct sc_emu_fault){.kind = SC_EMU_ANY, .nth = nth});
        bad += !(blocks(&m, by_rows, margin, &up) < 1e-7);
        if (!nth)
            tap_ok(up <= most, "%d devices, by %s: %llu bytes up for two more results of %lld", devices,
                   by_rows ? "rows" : "columns", (unsigned long long)up, (long long)m.n * BLOCK * 8);
        sc_coherence_stop();
        sc_host_faults_stop();
    }
    tap_ok(bad == 0, "%d runs, all but one with a failing operation", runs);
    drop(&m);
}

/* Diagonal matrices whose parts begin anywhere: the ranges of x that a part gets begin at multiples of 64. */
static void test_diagonals(int devices)
{
    static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};
    static const double alpha[2] = {0.5, 0}, beta[2] = {2, 0};
    char name[32];
    int bad = 0;

    snprintf(name, sizeof name, "emu:h200x8:%d", devices);
    env_start(name, 0);
    for (int64_t n = 1; n < 400; n += 13) {
        const int32_t offset = 0;
        const size_t bytes = (size_t)n * sizeof(double);
        double *d = env_memory(bytes), *x = env_memory(bytes), *y = env_memory(bytes);
        struct sc_sparse_arrays a = {.format = SC_SPARSE_DIA, .type = SC_D, .index_bytes = 4, .rows = n, .cols = n,
                                     .index = &offset, .values = d, .count = 1, .ld = n};
        struct sc_sparse_matrix *h;

        for (int64_t i = 0; i < n; i++)
            d[i] = (double)(i % 9 - 4), x[i] = (double)(i % 31), y[i] = (double)(i % 5);
        bad += sc_sparse_create(&h, &a, false) != SC_OK;
        bad += sc_sparse_mv(h, "NTC"[n % 3], &general, alpha, x, 1, beta, y, 1) != SC_OK;
        sc_coherence_acquire_host((uintptr_t)y, bytes, SC_READ);
        for (int64_t i = 0; i < n; i++)
            bad += y[i] != 0.5 * d[i] * x[i] + 2 * (double)(i % 5);
        sc_sparse_destroy(h);
        release(d, bytes);
        release(x, bytes);
        release(y, bytes);
    }
    tap_ok(!bad, "%d devices: products with diagonals of 1 to 400 elements", devices);
    sc_coherence_stop();
}

int main(void)
{
    int four = env_is_emulated() ? 4 : 1;
    struct matrix m;

    env_init();
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    tap_diag("seed %llu", (unsigned long long)seed);
    env_start("emu:h200x8:4", 0);
    test_split(64000, 7, 7, four, "equal rows");
    test_split(64000, 7, 7, 1, "equal rows");
    test_split(64000, 0, 40, four, "rows of more and more entries");
    test_split(700, 3, 9, four, "a small matrix");
    test_all_columns(20000, four);
    test_first_rows(four);
    test_selection(four);
    if (four > 1)
        test_ends(four);
    make(&m, 20000, 0, 40, 300);
    for (int by = SC_EXCHANGE_COPY; by <= SC_EXCHANGE_PUSH && env_is_emulated(); by++) {
        sc_config.exchange = (enum sc_exchange_by)by;
        test_products(&m, by == SC_EXCHANGE_COPY ? "boundaries inside sectors" : "the same, parts by kernels");
    }
    sc_config.exchange = SC_EXCHANGE_AUTO;
    drop(&m);
    sc_coherence_stop();
    sc_host_faults_stop();
    for (int devices = 1; devices <= four; devices *= 2)
        test_diagonals(devices);
    if (env_is_emulated()) {
        test_twice("emu:h200x8:2", 6000, 40, 40);
        test_twice("emu:h200x8:2", 6000, 10, 60);
        test_twice("emu:h200x8:2", 60000, 3, 3);
        test_twice("emu:h200x8:1", 6000, 30, 30);
        test_faults(0);
        test_faults(1);
        for (int devices = 1; devices <= 4; devices *= 2)
            test_columns(devices);
        for (int devices = 1; devices <= 4; devices *= 2)
            for (int form = 0; form < 4; form++)
                test_blocks(devices, form % 2, form / 2 * 3);
        test_as_dense();
        for (int devices = 1; devices <= 8; devices *= 2)
            for (int form = 0; form < 8; form++)
                test_rows(devices, form % 2 ? 7 : 30, form / 2 % 2, form / 4);
    }
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
