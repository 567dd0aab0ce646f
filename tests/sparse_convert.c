/* Matrices in formats other than CSR, and uses of them that are not plain: the devices make what they need of the
 * program's arrays.  The same numbers as on the host, on 1, 2 and 4 devices; what moves; writes to each array; copies
 * that are left out, operations that fail, little memory. */
#include <math.h>

#include "device/emu/emu.h"
#include "sparse/sparse.h"
#include "sparse/sparse_int.h"
#include "tests/coherence_env.h"

enum { N = 6000, EACH = 5, BLOCK = 3, MOST = N * EACH };

static uint64_t seed = 20261121;

static int64_t draw(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> 33) % n;
}

enum shape { SORTED, SHUFFLED, COLUMNS, BLOCKS, DIAGONALS, ROWS, SHAPES };

static const char *const names[SHAPES] = {"coordinates by rows", "coordinates in any order", "columns", "blocks",
                                          "diagonals", "rows"};

struct matrix {
    struct sc_sparse_arrays a;
    struct sc_sparse_matrix *handle;
    void *start, *index;
    double *values, *x, *y, *expected;
    bool solve; /* in place of products */
    size_t start_bytes, index_bytes, value_bytes; /* that are sent to one device */
};

static void put(const struct matrix *m, void *at, int64_t i, int64_t value)
{
    if (m->a.index_bytes == 4)
        ((int32_t *)at)[i] = (int32_t)(value + m->a.base);
    else
        ((int64_t *)at)[i] = value + m->a.base;
}

/* Entries near the diagonal, some places twice. */
static int64_t near(int64_t i, int64_t limit)
{
    int64_t j = i + draw(41) - 20;

    return j < 0 ? 0 : j < limit ? j : limit - 1;
}

static void make_coordinates(struct matrix *m, bool sorted)
{
    m->a.count = MOST;
    for (int64_t e = 0; e < MOST; e++) {
        int64_t i = sorted ? e / EACH : draw(N);

        put(m, m->start, e, i);
        put(m, m->index, e, near(i, N));
    }
    m->start_bytes = m->index_bytes = (size_t)(MOST * m->a.index_bytes);
    m->value_bytes = MOST * sizeof(double);
}

static void make_lines(struct matrix *m, int64_t block)
{
    int64_t lines = N / block, at = 0;

    for (int64_t i = 0; i < lines; i++) {
        put(m, m->start, i, at);
        for (int64_t k = i % (EACH + 1); k > 0 && at < MOST / (block * block); k--)
            put(m, m->index, at++, near(i, lines));
    }
    put(m, m->start, lines, at);
    m->start_bytes = (size_t)((lines + 1) * m->a.index_bytes);
    m->index_bytes = (size_t)(at * m->a.index_bytes);
    m->value_bytes = (size_t)(at * block * block) * sizeof(double);
}

static void make_diagonals(struct matrix *m)
{
    m->a.count = EACH;
    m->a.ld = N;
    m->a.base = 0;
    for (int64_t d = 0; d < EACH; d++)
        put(m, m->index, d, (d - 2) * 7);
    m->start_bytes = 0;
    m->index_bytes = (size_t)(EACH * m->a.index_bytes);
    m->value_bytes = MOST * sizeof(double);
}

static void make(struct matrix *m, enum shape shape)
{
    static const enum sc_sparse_format formats[SHAPES] = {SC_SPARSE_COO, SC_SPARSE_COO, SC_SPARSE_CSC, SC_SPARSE_BSR,
                                                          SC_SPARSE_DIA, SC_SPARSE_CSR};

    *m = (struct matrix){.a = {.format = formats[shape], .type = SC_D, .index_bytes = draw(2) ? 4 : 8,
                               .base = (int)draw(2), .rows = N, .cols = N, .block = BLOCK, .block_by_rows = draw(2)}};
    m->a.start = m->start = env_memory((MOST + 1) * sizeof(int64_t));
    m->a.index = m->index = env_memory(MOST * sizeof(int64_t));
    m->a.values = m->values = env_memory(MOST * sizeof *m->values);
    m->x = env_memory(N * sizeof *m->x);
    m->y = env_memory(N * sizeof *m->y);
    m->expected = malloc(N * sizeof *m->expected);
    if (shape == SORTED || shape == SHUFFLED)
        make_coordinates(m, shape == SORTED);
    else if (shape == DIAGONALS)
        make_diagonals(m);
    else
        make_lines(m, shape == BLOCKS ? BLOCK : 1);
    for (int64_t e = 0; e < MOST; e++)
        m->values[e] = (double)draw(9) / 8 - 0.5;
    for (int64_t i = 0; i < N; i++)
        m->x[i] = (double)draw(1000) / 999; /* rounding shows in what order they are summed */
    if (sc_sparse_create(&m->handle, &m->a, false) != SC_OK)
        tap_ok(0, "a matrix");
}

static void drop(struct matrix *m)
{
    void *const memory[] = {m->start, m->index, m->values, m->x, m->y};

    sc_sparse_destroy(m->handle);
    for (int i = 0; i < 5; i++) {
        sc_coherence_forget((uintptr_t)memory[i], 1);
        sc_host_free(memory[i]);
    }
    free(m->expected);
}

static const struct sc_sparse_descr general = {.kind = SC_SPARSE_GENERAL, .uplo = 'L', .diag = 'N'};

/* y := op(A) x, or op(A)^-1 x with the triangle that d names. */
static bool multiply(struct matrix *m, char trans, const struct sc_sparse_descr *d, enum sc_offload offload)
{
    static const double one[2] = {1, 0}, zero[2] = {0, 0};
    enum sc_offload before = sc_config.offload;
    enum sc_status status;

    sc_config.offload = offload;
    status = m->solve ? sc_sparse_sv(m->handle, trans, d, one, m->x, 1, m->y, 1)
                      : sc_sparse_mv(m->handle, trans, d, one, m->x, 1, zero, m->y, 1);
    sc_config.offload = before;
    return status == SC_OK;
}

/* The host's product and the devices' are the same.  On GPUs they add in another order. */
static bool is_right(struct matrix *m, char trans, const struct sc_sparse_descr *d)
{
    double worst = 0;

    if (!multiply(m, trans, d, SC_OFFLOAD_NEVER))
        return false;
    memcpy(m->expected, m->y, N * sizeof *m->y);
    for (int64_t i = 0; i < N; i++)
        m->y[i] = NAN;
    if (!multiply(m, trans, d, SC_OFFLOAD_ALWAYS))
        return false;
    for (int64_t i = 0; i < N; i++)
        worst = tap_worse(worst, fabs(m->y[i] - m->expected[i]));
    return env_is_emulated() ? worst == 0 : worst < 1e-12;
}

/* Variants that devices make, and keep. */
static int converted(const struct matrix *m)
{
    int n = 0;

    for (int i = 0; i < m->handle->variants; i++)
        n += m->handle->variant[i].analysed && m->handle->variant[i].converted;
    return n;
}

static bool device_converts(void)
{
    if (!sc_coherence_converts())
        tap_diag("these devices leave conversions to the host");
    return sc_coherence_converts();
}

/* --- numbers and bytes -------------------------------------------------------------------------------------------- */

static void test_uses(enum shape shape, int devices)
{
    static const struct sc_sparse_descr uses[] = {
        {SC_SPARSE_GENERAL, 'L', 'N'}, {SC_SPARSE_SYMMETRIC, 'L', 'N'}, {SC_SPARSE_SYMMETRIC, 'U', 'U'},
        {SC_SPARSE_TRIANGULAR, 'U', 'U'}, {SC_SPARSE_DIAGONAL, 'L', 'N'}};
    int right = 0, there = 0, runs = 0;
    struct matrix m;

    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        for (int t = 0; t < 2; t++, runs++) {
            make(&m, shape);
            right += is_right(&m, "NT"[t], &uses[i]);
            there += converted(&m);
            drop(&m);
        }
    tap_ok(right == runs, "%d device(s), %s: %d uses are as on the host", devices, names[shape], runs);
    /* Plain rows need no conversion.  Where a device has several parts (few rows of a sector, say) and entries are in
     * any order, they would all be sent for each part. */
    if (device_converts())
        tap_ok(there == runs - (shape == ROWS) || (shape == SHUFFLED && devices > 1 && there > runs / 2),
               "%d of them made by the devices", there);
}

static void test_bytes(enum shape shape)
{
    uint64_t before;
    struct matrix m;

    if (!device_converts())
        return;
    make(&m, shape);
    before = sc_stats.bytes[SC_H2D];
    multiply(&m, 'N', &general, SC_OFFLOAD_ALWAYS);
    tap_ok(sc_stats.bytes[SC_H2D] - before == m.start_bytes + m.index_bytes + m.value_bytes + N * sizeof *m.x,
           "%s: the arrays go up as they are, and x (%llu bytes)", names[shape],
           (unsigned long long)(sc_stats.bytes[SC_H2D] - before));
    before = sc_stats.bytes[SC_H2D];
    multiply(&m, 'N', &general, SC_OFFLOAD_ALWAYS);
    tap_ok(sc_stats.bytes[SC_H2D] == before, "once");
    drop(&m);
}

/* The diagonal is all ones, and what is stored so small that nothing grows. */
static void to_solve(struct matrix *m)
{
    m->solve = true;
    for (int64_t e = 0; e < MOST; e++)
        m->values[e] /= 64;
}

static void test_solves(enum shape shape, int devices)
{
    static const struct sc_sparse_descr lower = {SC_SPARSE_TRIANGULAR, 'L', 'U'};
    static const struct sc_sparse_descr upper = {SC_SPARSE_TRIANGULAR, 'U', 'U'};
    int right = 0, there = 0;
    struct matrix m;

    for (int i = 0; i < 4; i++) {
        make(&m, shape);
        to_solve(&m);
        right += is_right(&m, "NT"[i % 2], i < 2 ? &lower : &upper);
        m.values[MOST / 3] = 0.125;
        right += is_right(&m, "NT"[i % 2], i < 2 ? &lower : &upper);
        there += converted(&m);
        drop(&m);
    }
    tap_ok(right == 8 && (there == 4 || !sc_coherence_converts()), "%d device(s), %s: solves, sorted by the devices",
           devices, names[shape]);
}

/* --- writes ------------------------------------------------------------------------------------------------------- */

static void test_writes(enum shape shape, int devices)
{
    bool right = true;
    struct matrix m;

    make(&m, shape);
    right = is_right(&m, 'N', &general);
    m.values[N / 2] += 1;
    right = right && is_right(&m, 'N', &general);
    put(&m, m.index, 2, 40);
    right = right && is_right(&m, 'N', &general);
    if (shape == SORTED || shape == SHUFFLED)
        put(&m, m.start, MOST - 7, 3);
    else if (shape == COLUMNS || shape == BLOCKS)
        put(&m, m.start, 4, sc_sparse_at(m.start, m.a.index_bytes, 3) - m.a.base);
    right = right && is_right(&m, 'N', &general);
    tap_ok(right, "%d device(s), %s: each array is written", devices, names[shape]);
    drop(&m);
}

/* --- what goes wrong ---------------------------------------------------------------------------------------------- */

static void stop(void)
{
    sc_coherence_stop();
    sc_host_faults_stop();
}

/* The first matrix pins the memory that the second gets again. */
static bool is_right_with(enum shape shape, bool solve, struct sc_emu_fault fault, uint64_t limit, int *there)
{
    static const struct sc_sparse_descr lower = {SC_SPARSE_TRIANGULAR, 'L', 'U'};
    const struct sc_sparse_descr *use = solve ? &lower : &general;
    struct matrix m;
    bool right;

    env_start("emu:h200x8:1", limit);
    make(&m, shape);
    if (solve)
        to_solve(&m);
    multiply(&m, 'N', use, SC_OFFLOAD_ALWAYS);
    drop(&m);
    make(&m, shape);
    if (solve)
        to_solve(&m);
    if (!multiply(&m, 'N', use, SC_OFFLOAD_NEVER))
        tap_ok(0, "the host's product");
    sc_emu_inject(0, fault);
    right = is_right(&m, 'N', use);
    sc_emu_inject(0, (struct sc_emu_fault){.nth = 0});
    *there += converted(&m);
    drop(&m);
    stop();
    return right;
}

/* Copies: the arrays, and x.  Launches: the conversion, the product. */
static void test_skips(enum shape shape)
{
    int wrong = 0, there = 0, copies = shape == DIAGONALS ? EACH + 2 : 4;

    for (int nth = 1; nth <= copies; nth++)
        wrong += !is_right_with(shape, false, (struct sc_emu_fault){.kind = SC_EMU_COPY, .nth = (uint64_t)nth,
                                                                    .skip = true, .quiet = true}, 0, &there);
    for (uint64_t nth = 1; nth <= 2; nth++)
        wrong += !is_right_with(shape, false, (struct sc_emu_fault){.kind = SC_EMU_LAUNCH, .nth = nth, .skip = true,
                                                             .quiet = true}, 0, &there);
    tap_ok(wrong == copies + 2, "%s: each of %d copies and 2 launches that is left out gives a wrong result",
           names[shape], copies);
}

static void test_faults(enum shape shape, bool solve)
{
    int right = 0, there = 0, runs = 0;

    for (uint64_t nth = 1; nth < 40; nth++, runs++)
        right += is_right_with(shape, solve, (struct sc_emu_fault){.kind = SC_EMU_ANY, .nth = nth}, 0, &there);
    tap_ok(right == runs && there > 0, "%s: %d %s with an operation that fails are right", names[shape], runs,
           solve ? "solves" : "products");
}

static void test_memory(enum shape shape)
{
    int right = 0, there = 0, runs = 0;

    for (uint64_t limit = 100000; limit < 4000000; limit += limit / 3, runs++)
        right += is_right_with(shape, false, (struct sc_emu_fault){.nth = 0}, limit, &there);
    tap_ok(right == runs && there > 0, "%s: on devices of 0.1 to 4 MB, %d of %d made there",
           names[shape], there, runs);
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
        for (int s = 0; s < SHAPES; s++) {
            test_uses((enum shape)s, count);
            test_solves((enum shape)s, count);
            test_writes((enum shape)s, count);
        }
        for (int s = 0; s < ROWS && count == 1; s++)
            test_bytes((enum shape)s);
        stop();
        if (!env_is_emulated())
            break;
    }
    for (int s = 0; s < ROWS && env_is_emulated(); s++) {
        test_skips((enum shape)s);
        test_faults((enum shape)s, false);
        test_faults((enum shape)s, true);
        test_memory((enum shape)s);
    }
    tap_ok(sc_coherence_broken() == 0, "no invariant was broken");
    return tap_done();
}
