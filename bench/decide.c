/* What a decision costs on this machine: a call whose plan is remembered, and one that is new.  Usage: decide MACHINE,
 * an emulated one (dgx1), whose links and kernels are measured first.  Prints microseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autotuner/autotuner.h"
#include "autotuner/measure.h"
#include "autotuner/plan.h"
#include "tests/device_common.h"

#define REPEATS 100000
#define NEW 200

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct sc_autotuner_call call_of(const struct sc_database *db, int64_t n)
{
    uint64_t bytes = (uint64_t)(8 * n * n);

    return (struct sc_autotuner_call){.op = SC_OP_GEMM, .type = SC_D, .m = n, .n = n, .k = n, .bytes = 3 * bytes,
                                      .result_bytes = bytes, .key = (uint64_t)n,
                                      .machine = {.devices = db->devices, .cores = 16, .database = db}};
}

/* All that is asked about a call. */
static int decide(const struct sc_autotuner_call *call)
{
    return sc_autotuner_offload(call, SC_OFFLOAD_AUTO) + sc_autotuner_devices(call) +
           (sc_autotuner_host_share(call, SC_OFFLOAD_AUTO) > 0);
}

static void best_plan(const struct sc_database *db)
{
    struct sc_plan_problem p = {.op = SC_OP_GEMM, .type = SC_D, .operands = 3, .max_hops = 1};
    double start = seconds();
    struct sc_plan plan;

    for (int i = 0; i < 10; i++) {
        double n = 4000 + i;

        p.work = n * n * n;
        for (int j = 0; j < 3; j++) {
            p.operand[j] = (struct sc_plan_operand){.bytes = 8 * n * n, .read = j < 2, .written = j == 2,
                                                    .whole = j == 0};
            p.operand[j].on[SC_PLACE_HOST] = 8 * n * n;
        }
        sc_plan_best(db, &p, &plan);
    }
    printf("best_plan_us=%.1f (sets of devices, shares, routes)\n", (seconds() - start) / 10 * 1e6);
}

int main(int argc, char **argv)
{
    struct sc_measure how = {.host = device_host(), .quick = true};
    const struct sc_device_ops *ops = NULL;
    struct sc_autotuner_call call;
    struct sc_database *db;
    char setting[256];
    double start;
    int sum = 0;

    snprintf(setting, sizeof setting, "emu:%s", argc > 1 ? argv[1] : "dgx1");
    sc_config.emu_timing = 1;
    sc_config.host_share = -1;
    if (sc_device_open(how.host, setting, &ops, &how.devices) != SC_OK)
        return 1;
    how.ops = ops;
    db = sc_database_new(setting, how.devices);
    if (!db || sc_measure(&how, db, NULL) != SC_OK)
        return 1;
    call = call_of(db, 8192);
    sc_autotuner_offload(&call, SC_OFFLOAD_AUTO);
    start = seconds();
    for (int i = 0; i < REPEATS; i++)
        sum += decide(&call);
    printf("devices=%d repeated_us=%.3f ", how.devices, (seconds() - start) / REPEATS * 1e6);
    start = seconds();
    for (int i = 0; i < NEW; i++) {
        call = call_of(db, 4000 + i);
        sum += decide(&call);
    }
    printf("new_us=%.1f decisions=%d\n", (seconds() - start) / NEW * 1e6, sum);
    best_plan(db);
    ops->close();
    return 0;
}
