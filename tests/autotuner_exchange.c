/* Copy engines or a kernel for pieces between devices: by made-up numbers, and as measured on emulated machines. */
#include <math.h>

#include "autotuner/exchange.h"
#include "autotuner/measure.h"
#include "tests/device_common.h"

static bool by_kernel(const struct sc_database *db, int pieces, double bytes)
{
    struct sc_autotuner_pieces p = {.on = 0, .other = 1, .pieces = pieces, .bytes = (uint64_t)bytes,
                                    .largest = (uint64_t)bytes / (uint64_t)pieces};

    return sc_autotuner_exchange(db, &p).by_kernel;
}

/* A copy: 10 us and 100 GB/s, another 5 us for each more; pulling 14 us and 50 GB/s, pushing 9 us and 10 GB/s. */
static void test_choice(void)
{
    struct sc_database *db = sc_database_new("made up", 2);
    struct sc_autotuner_pieces p = {.on = 0, .other = 1, .pieces = 3, .bytes = 180000,
                                    .largest = 60000};
    struct sc_autotuner_exchanged x;

    db->link[1][0] = (struct sc_database_link){10e-6, 100e9};
    db->link[0][1] = (struct sc_database_link){10e-6, 100e9};
    db->pull[1][0] = (struct sc_database_link){14e-6, 50e9};
    db->push[0][1] = (struct sc_database_link){9e-6, 10e9};
    db->enqueue = 5e-6;
    x = sc_autotuner_exchange(db, &p);
    tap_ok(fabs(x.copies - (2 * 5e-6 + 10e-6 + 0.6e-6)) < 1e-12 && fabs(x.kernel - (14e-6 + 3.6e-6)) < 1e-12 &&
               x.by_kernel, "three small pieces: the kernel, by what each takes");
    tap_ok(!by_kernel(db, 1, 60000), "one: the copy engine, which begins sooner");
    tap_ok(by_kernel(db, 15, 2e6) && !by_kernel(db, 3, 2e6), "many larger ones: the kernel; few: copy engines");
    p.bytes = 3e7;
    p.largest = 1e7;
    tap_ok(fabs(sc_autotuner_exchange(db, &p).copies - (10e-6 + 300e-6)) < 1e-12,
           "three large copies: the host is done before the first of them is");
    p.bytes = 180000;
    p.largest = 60000;
    tap_ok(!by_kernel(db, 15, 64e6), "large ones: copy engines, which are faster");
    p.push = true;
    x = sc_autotuner_exchange(db, &p);
    tap_ok(fabs(x.kernel - (9e-6 + 18e-6)) < 1e-12 && !x.by_kernel, "pushing has figures of its own");
    sc_database_free(db);
    tap_ok(by_kernel(NULL, 3, 180000) && !by_kernel(NULL, 1, 60000) && !by_kernel(NULL, 3, 256e6),
           "without measurements: several small ones by a kernel");
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
    test_measured(false);
    test_measured(true);
    return tap_done();
}
