/* The number of devices by made-up rates, for three metrics. Asserts that a large product goes to all devices, that
 * nothing is planned without measurements, and that a remembered plan equals a new one. */
#include <math.h>
#include <string.h>

#include "autotuner/plan.h"
#include "tests/tap.h"

#define DEVICES 8
#define SIZES 6

static bool near(double a, double b, double part) { return fabs(a - b) <= part * fabs(b); }

/* Devices of so many flop/s, 12 GB/s from the host for each pair, 48 GB/s between all. */
static struct sc_database *machine(int devices, const double *flops)
{
    struct sc_database *db = sc_database_new("test", devices);

    for (int d = 0; d < devices; d++) {
        db->link[SC_PLACE_HOST][d] = db->link[d][SC_PLACE_HOST] = (struct sc_database_link){1e-5, 12e9};
        for (int e = 0; e < devices; e++)
            if (e != d)
                db->link[d][e] = (struct sc_database_link){1e-5, 48e9};
        db->idle_watts[d] = 50;
        for (int64_t n = 256, i = 0; i < SIZES; n *= 2, i++)
            sc_database_add_kernel(db, &(struct sc_database_kernel){
                                           .place = (uint8_t)d, .op = SC_OP_GEMM, .type = SC_D, .size = n, .watts = 300,
                                           .seconds = 5e-6 + 2.0 * (double)n * (double)n * (double)n / flops[d]});
    }
    for (int d = 0; d + 1 < devices; d += 2) {
        int one = sc_link(SC_PLACE_HOST, d), other = sc_link(SC_PLACE_HOST, d + 1);

        db->slow[one][other] = db->slow[other][one] = 2;
    }
    sc_database_index(db);
    return db;
}

/* A square product that the host has all operands of. */
static struct sc_autotuner_call product(const struct sc_database *db, int64_t n)
{
    static struct sc_view view[3];
    uint64_t bytes = 8 * (uint64_t)(n * n);
    struct sc_autotuner_call call = {.op = SC_OP_GEMM, .type = SC_D, .m = n, .n = n, .k = n, .bytes = 3 * bytes,
                                     .result_bytes = bytes, .largest = bytes, .key = (uint64_t)n, .operands = 3,
                                     .view = view,
                                     .machine = {.devices = db->devices, .cores = 16, .database = db}};

    for (int i = 0; i < 3; i++)
        view[i] = (struct sc_view){.type = SC_D, .rows = n, .cols = n, .ld = n};
    return call;
}

static void test_even(void)
{
    double flops[DEVICES] = {7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12}, seconds[SC_DEVICES_MAX + 1], in;
    struct sc_database *db = machine(DEVICES, flops);
    struct sc_autotuner_call large = product(db, 16384);

    tap_ok(sc_plan_devices(&large, &in) == 8 && in > 0, "a large product goes to all devices");
    tap_ok(sc_plan_candidates(&large, seconds) == 8 && seconds[8] < seconds[1] / 4, "and is over sooner");
    tap_ok(near(seconds[1], 2 * pow(16384, 3) / 7e12, 0.01), "on one device the kernel hides the transfers");
    sc_database_free(db);
}

static void test_metrics(void)
{
    double flops[DEVICES] = {7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12}, in;
    struct sc_database *db = machine(DEVICES, flops);
    struct sc_autotuner_call call = product(db, 2048);
    int count[3];

    for (int metric = 0; metric < 3; metric++) {
        sc_config.metric = (enum sc_metric)metric;
        count[metric] = sc_plan_devices(&call, &in);
    }
    sc_config.metric = SC_METRIC_PERF;
    tap_ok(count[SC_METRIC_PERF] > count[SC_METRIC_PDP] && count[SC_METRIC_PERF] >= count[SC_METRIC_EDP] &&
               count[SC_METRIC_EDP] >= count[SC_METRIC_PDP] && count[SC_METRIC_PDP] >= 1,
           "energy is saved by fewer devices: perf %d, edp %d, pdp %d", count[0], count[1], count[2]);
    sc_database_free(db);
}

static void test_unknown(void)
{
    double flops[DEVICES] = {7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12}, in;
    struct sc_database *db = machine(DEVICES, flops);
    struct sc_autotuner_call call = product(db, 8192), fewer = call;

    call.op = SC_OP_DOT;
    tap_ok(sc_plan_devices(&call, &in) == 0, "nothing is planned of a routine that is not of level 3");
    fewer.machine.devices = 4;
    tap_ok(sc_plan_devices(&fewer, &in) == 0, "nor by measurements of other devices");
    sc_database_free(db);
}

static bool is_same(const struct sc_plan *a, const struct sc_plan *b)
{
    return a->devices == b->devices && a->spread == b->spread && a->sums == b->sums &&
           memcmp(a->operand, b->operand, sizeof a->operand) == 0 && a->predicted.host == b->predicted.host &&
           a->predicted.device == b->predicted.device && a->predicted.move == b->predicted.move &&
           a->predicted.overlap == b->predicted.overlap && a->predicted.result == b->predicted.result;
}

/* More questions than are remembered, with other bytes on devices: remembered plans are what new ones would be. */
static void test_remembered(void)
{
    double flops[DEVICES] = {7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12};
    struct sc_database *db = machine(DEVICES, flops);
    int wrong = 0, asked = 0;

    for (int round = 0; round < 3; round++)
        for (int64_t n = 500; n < 16000; n += 700)
            for (int part = 0; part < 4; part++, asked++) {
                struct sc_autotuner_call call = product(db, n);
                struct sc_plan plan, anew;

                call.device_bytes = call.bytes / 3 * (uint64_t)part;
                call.holders = part ? 8 : 0;
                call.key = 0;
                sc_plan(&call, SC_OFFLOAD_AUTO, &plan);
                sc_plan(&call, SC_OFFLOAD_AUTO, &plan);
                sc_plans_reset();
                sc_plan(&call, SC_OFFLOAD_AUTO, &anew);
                wrong += !is_same(&plan, &anew);
                if (round) /* so that the next question meets others' entries */
                    sc_plan(&call, SC_OFFLOAD_AUTO, &anew);
            }
    tap_ok(wrong == 0, "a remembered plan is the one that is made anew (%d of %d differ)", wrong, asked);
    sc_database_free(db);
}

int main(void)
{
    test_even();
    test_metrics();
    test_unknown();
    test_remembered();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
