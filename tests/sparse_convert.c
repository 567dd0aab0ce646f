/* Matrices in formats besides CSR, and uses besides plain products, converted by the devices from the program's arrays.
 * Asserts the host's numbers on 1, 2 and 4 devices, the bytes moved, and the effect of writes to each array. Also with
 * copies left out, with failing operations, and with little memory. */
#include "device/emu/emu.h"
#include "tests/sparse_shapes.h"

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
        {SC_SPARSE_GENERAL, 'L', 'N', false}, {SC_SPARSE_SYMMETRIC, 'L', 'N', false},
        {SC_SPARSE_SYMMETRIC, 'U', 'U', false},
        {SC_SPARSE_TRIANGULAR, 'U', 'U', false}, {SC_SPARSE_DIAGONAL, 'L', 'N', false}};
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
    /* Plain rows need no conversion. With several parts on a device (of few rows each) and unsorted entries, every part
     * would need a transfer of every entry. */
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

static void test_solves(enum shape shape, int devices)
{
    static const struct sc_sparse_descr lower = {SC_SPARSE_TRIANGULAR, 'L', 'U', false};
    static const struct sc_sparse_descr upper = {SC_SPARSE_TRIANGULAR, 'U', 'U', false};
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

/* The first matrix pins the memory that the second matrix reuses. */
static bool is_right_with(enum shape shape, bool solve, struct sc_emu_fault fault, uint64_t limit, int *there)
{
    static const struct sc_sparse_descr lower = {SC_SPARSE_TRIANGULAR, 'L', 'U', false};
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

    if (!solve && failures_come_late())
        return;
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
/* SPDX-License-Identifier: BSD-2-Clause */
