/* The choice between copy engines and a kernel for pieces between devices, and the number of chunks of a pushed result.
 * Asserts the choice that is faster by made-up rates, and that measurements on emulated machines find the machine's
 * rates. */
#include <math.h>

#include "autotuner/machine.h"
#include "autotuner/measure.h"
#include "tests/device_common.h"

static const struct sc_exchange_rates *rates_of(const struct sc_database *db)
{
    static struct sc_exchange_rates rates;

    sc_machine_exchange(db, &rates);
    return &rates;
}

static struct sc_exchange_choice choose(const struct sc_database *db, const struct sc_exchange *x)
{
    return sc_exchange_choose(rates_of(db), x);
}

static double chunked(const struct sc_database *db, const struct sc_result *r, int chunks)
{
    return sc_exchange_chunked(rates_of(db), r, chunks);
}

static struct sc_result_choice in_chunks(const struct sc_database *db, const struct sc_result *r)
{
    return sc_exchange_chunks(rates_of(db), r);
}

static bool by_kernel(const struct sc_database *db, int pieces, double bytes)
{
    struct sc_exchange p = {.on = 0, .other = 1, .pieces = pieces, .bytes = (uint64_t)bytes,
                                    .largest = (uint64_t)bytes / (uint64_t)pieces};

    return choose(db, &p).by_kernel;
}

/* A copy costs 10 us and runs at 100 GB/s; each further copy costs 5 us. Pulling kernels: 14 us, 50 GB/s; pushing: 9
 * us, 10 GB/s. */
static void test_choice(void)
{
    struct sc_database *db = sc_database_new("made up", 2);
    struct sc_exchange p = {.on = 0, .other = 1, .pieces = 3, .bytes = 180000,
                                    .largest = 60000};
    struct sc_exchange_choice x;

    db->link[1][0] = (struct sc_database_link){10e-6, 100e9};
    db->link[0][1] = (struct sc_database_link){10e-6, 100e9};
    db->pull[1][0] = (struct sc_database_link){14e-6, 50e9};
    db->push[0][1] = (struct sc_database_link){9e-6, 10e9};
    db->enqueue = 5e-6;
    x = choose(db, &p);
    tap_ok(fabs(x.copies - (2 * 5e-6 + 10e-6 + 0.6e-6)) < 1e-12 && fabs(x.kernel - (14e-6 + 3.6e-6)) < 1e-12 &&
               x.by_kernel, "three small pieces: the kernel, by what each takes");
    tap_ok(!by_kernel(db, 1, 60000), "one: the copy engine, which begins sooner");
    tap_ok(by_kernel(db, 15, 2e6) && !by_kernel(db, 3, 2e6), "many larger ones: the kernel; few: copy engines");
    p.bytes = 3e7;
    p.largest = 1e7;
    tap_ok(fabs(choose(db, &p).copies - (10e-6 + 300e-6)) < 1e-12,
           "three large copies: the host is done before the first of them is");
    p.bytes = 180000;
    p.largest = 60000;
    tap_ok(!by_kernel(db, 15, 64e6), "large ones: copy engines, which are faster");
    p.push = true;
    x = choose(db, &p);
    tap_ok(fabs(x.kernel - (9e-6 + 18e-6)) < 1e-12 && !x.by_kernel, "pushing has figures of its own");
    sc_database_free(db);
    tap_ok(by_kernel(NULL, 3, 180000) && !by_kernel(NULL, 1, 60000) && !by_kernel(NULL, 3, 256e6),
           "without measurements: several small ones by a kernel");
}

static bool is(double value, double expected) { return fabs(value - expected) < 1e-9 * (1 + fabs(expected)); }

/* Four devices compute 100 MB each, in 8 ms by 16 kernels, and send the result to the three other devices at 100 GB/s
 * and 10 us. The host enqueues a copy in 5 us. */
static void test_chunks(void)
{
    struct sc_database *db = sc_database_new("made up", 4);
    struct sc_result r = {.from = 0, .to = 1, .makers = 4, .readers = 3, .kernels = 16, .seconds = 8e-3,
                                    .bytes = 100000000};
    struct sc_result_choice out;

    db->link[0][1] = (struct sc_database_link){10e-6, 100e9};
    db->push[0][1] = (struct sc_database_link){14e-6, 50e9};
    db->enqueue = 5e-6;
    tap_ok(is(chunked(db, &r, 1), 8e-3 + 10e-6 + 3e-3), "as a whole: the transfer begins at the end");
    tap_ok(is(chunked(db, &r, 4), 8e-3 + 10e-6 + 0.75e-3), "in chunks: that of the last one is left");
    out = in_chunks(db, &r);
    tap_ok(out.chunks == 16 && is(out.whole, 11.01e-3) && is(out.seconds, 8e-3 + 10e-6 + 0.1875e-3),
           "where chunks cost little there is one for each kernel");
    r.kernels = 11;
    tap_ok(in_chunks(db, &r).chunks == 11, "whatever their number");
    r.kernels = 1;
    tap_ok(in_chunks(db, &r).chunks == 1, "and never more");
    r.kernels = 16;
    r.seconds = 1e-3;
    tap_ok(is(chunked(db, &r, 4), 0.25e-3 + 3 * 0.75e-3 + 0.75e-3 + 10e-6),
           "where the link is the slower one it begins with the first chunk");
    r.seconds = 8e-3;
    db->enqueue = 200e-6;
    tap_ok(is(chunked(db, &r, 16), 15 * 4 * 200e-6 + 14e-6 + 3 * 100e6 / 16 / 50e9),
           "the host enqueues all chunks of all devices, by a kernel for all readers if that is sooner");
    tap_ok(in_chunks(db, &r).chunks == 4, "so there are fewer where that takes long");
    db->enqueue = 5e-6;
    r.seconds = 1;
    tap_ok(in_chunks(db, &r).chunks == 1, "one where nothing is gained");
    r.seconds = 8e-3;
    r.bytes = 1000;
    tap_ok(in_chunks(db, &r).chunks == 1, "nor for a few bytes");
    r.bytes = 10000000;
    r.seconds = 0;
    tap_ok(in_chunks(db, &r).chunks == 1, "or when it is not known how long it takes to make");
    r.seconds = 1e-3;
    tap_ok(in_chunks(NULL, &r).chunks > 1, "without measurements: in chunks, too");
    sc_database_free(db);
}

static void measure(const char *machine, bool quick, struct sc_database **db)
{
    const struct sc_device_ops *ops;
    int devices;
    struct sc_measure how = {.host = device_host(), .quick = quick, .links_only = true};

    if (sc_device_open(device_host(), machine, &ops, &devices) != SC_OK)
        tap_skip_all("no host BLAS");
    how.ops = ops;
    how.devices = devices;
    *db = sc_database_new(machine, devices);
    sc_measure(&how, *db, NULL);
    ops->close();
}

static void test_measured(bool quick)
{
    struct sc_database *db;
    bool all = true;

    sc_config.emu_timing = 1;
    measure("emu:h200x8:3", quick, &db);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            all = all && (i == j || (fabs(db->pull[i][j].bandwidth - 372e9) < 33e9 &&
                                     fabs(db->push[i][j].bandwidth - 372e9) < 33e9));
    tap_ok(all, "every link's pulling and pushing kernels have the machine's rate (%s)", quick ? "quick" : "full");
    /* launch 3.6 us, latency 1.5, a call and a wait of 1 each; a copy: 5, 1 and 1. */
    tap_ok(fabs(db->pull[0][1].latency - 7.1e-6) < 4e-7 && fabs(db->link[0][1].latency - 7e-6) < 4e-7, "and latency");
    tap_ok(db->enqueue > 0.5e-6 && db->enqueue < 3e-6, "a copy more takes the host about a call");
    tap_ok(by_kernel(db, 3, 180000) && by_kernel(db, 15, 900000) && !by_kernel(db, 1, 60000),
           "so several small pieces go by a kernel");
    sc_database_free(db);
    measure("emu:dgx1:2", quick, &db);
    tap_ok(db->link[0][1].bandwidth > 0 && db->pull[0][1].bandwidth <= 0, "a machine without such kernels has none");
    sc_database_free(db);
    sc_config.emu_timing = 0;
}

int main(void)
{
    test_choice();
    test_chunks();
    test_measured(false);
    test_measured(true);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
