/* Cost of a plan on this machine: of a repeated question, whose plan is remembered, and of a new one.  Usage: decide
 * MACHINE, an emulated one (h200x8:4), whose links and kernels are measured first.  Prints nanoseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autotuner/measure.h"
#include "autotuner/plan.h"
#include "tests/device_common.h"

#define REPEATS 100000
#define NEW 200

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct sc_autotuner_call call_of(const struct sc_database *db, int64_t n)
{
    static struct sc_view view[3];
    uint64_t bytes = (uint64_t)(8 * n * n);

    for (int i = 0; i < 3; i++)
        view[i] = (struct sc_view){.type = SC_D, .rows = n, .cols = n, .ld = n};
    return (struct sc_autotuner_call){.op = SC_OP_GEMM, .type = SC_D, .m = n, .n = n, .k = n, .bytes = 3 * bytes,
                                      .result_bytes = bytes, .key = (uint64_t)n, .divides = true,
                                      .operands = 3, .view = view,
                                      .machine = {.devices = db->devices, .cores = 16, .database = db}};
}

static int decide(const struct sc_autotuner_call *call)
{
    struct sc_plan plan;

    sc_plan(call, SC_OFFLOAD_AUTO, &plan);
    return plan.devices + plan.spread + (plan.host_share > 0);
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
    decide(&call);
    start = seconds();
    for (int i = 0; i < REPEATS; i++)
        sum += decide(&call);
    printf("devices=%d repeated_ns=%.0f ", how.devices, (seconds() - start) / REPEATS * 1e9);
    start = seconds();
    for (int i = 0; i < NEW; i++) {
        call = call_of(db, 4000 + i);
        sum += decide(&call);
    }
    printf("new_ns=%.0f decisions=%d\n", (seconds() - start) / NEW * 1e9, sum);
    ops->close();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
