/* Plans for machines whose rates are made up.  Asserts the number of devices for three metrics, the blocks of a
 * factorization, the places and strips of a result, the limits of a plan, and that a remembered plan equals a new plan.
 * Without measurements there is no plan. */
#include <math.h>
#include <string.h>

#include "autotuner/columns.h"
#include "autotuner/plan.h"
#include "tests/tap.h"

#define DEVICES 8
#define SIZES 6

static bool near(double a, double b, double part) { return fabs(a - b) <= part * fabs(b); }

/* flops: flop/s of each device.  A link from the host has 12 GB/s and is shared by two devices; a link between devices
 * has 48 GB/s. */
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

/* A product of square matrices of order n, with all operands at home. */
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

    tap_ok(sc_plan_devices(&large, &in) == 8 && in > 0, "a large product runs on all devices");
    tap_ok(sc_plan_candidates(&large, seconds) == 8 && seconds[8] < seconds[1] / 4,
           "eight devices take less than a quarter of the time of one");
    tap_ok(near(seconds[1], 2 * pow(16384, 3) / 7e12, 0.01),
           "on one device the kernel takes longer than the transfers");
    sc_database_free(db);
}

static void test_metrics(void)
{
    double flops[DEVICES] = {7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12}, in;
    struct sc_database *db = machine(DEVICES, flops);
    struct sc_autotuner_call call = product(db, 2048);
    int count[3];

    for (int metric = 0; metric < 3; metric++) {
        call.metric = (enum sc_metric)metric;
        count[metric] = sc_plan_devices(&call, &in);
    }
    tap_ok(count[SC_METRIC_PERF] > count[SC_METRIC_PDP] && count[SC_METRIC_PERF] >= count[SC_METRIC_EDP] &&
               count[SC_METRIC_EDP] >= count[SC_METRIC_PDP] && count[SC_METRIC_PDP] >= 1,
           "the metrics of energy use fewer devices: perf %d, edp %d, pdp %d", count[0], count[1], count[2]);
    sc_database_free(db);
}

static void test_unknown(void)
{
    double flops[DEVICES] = {7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12}, in;
    struct sc_database *db = machine(DEVICES, flops);
    struct sc_autotuner_call call = product(db, 8192), fewer = call;

    call.op = SC_OP_DOT;
    tap_ok(sc_plan_devices(&call, &in) == 0, "a routine below level 3 has no plan for several devices");
    fewer.machine.devices = 4;
    tap_ok(sc_plan_devices(&fewer, &in) == 0, "measurements of eight devices make no plan for four");
    sc_database_free(db);
}

/* A Cholesky factorization of a matrix at home, on devices without measurements. */
static void test_factorization(void)
{
    struct sc_autotuner_call call = {.op = SC_OP_POTRF, .type = SC_D, .m = 40000, .n = 40000, .peers = 7, .bytes = 1,
                                     .machine = {.devices = 4, .cores = 16, .gemm_flops = 60e12, .host_bandwidth = 55e9,
                                                 .memory_bandwidth = 4e12, .memory = UINT64_C(139) << 30}};
    struct sc_column_blocks one, four, small;

    sc_column_blocks_on(&call, 1, false, &one);
    sc_column_blocks_on(&call, 4, false, &small);
    call.device_bytes = call.bytes;
    sc_column_blocks_on(&call, 4, false, &four);
    call.device_bytes = 0;
    tap_ok(!one.block && four.block && four.group == call.n,
           "one device: one task; four devices: blocks of columns in one group");
    tap_ok(small.block == four.block && small.group < call.n / 4 && small.group > call.n / 8,
           "a matrix at home: in groups that are factored as they arrive");
    tap_ok(four.seconds * 2.5 < one.seconds && sc_column_blocks_devices(&call) == 4,
           "a large factorization runs on all devices");
    call.m = call.n = 300;
    tap_ok(sc_column_blocks_devices(&call) == 1, "a small factorization runs on one device");
    call.m = call.n = 40000;
    call.bytes = (uint64_t)call.m * (uint64_t)call.n * 8;
    call.machine.memory = UINT64_C(4) << 30;
    sc_column_blocks_on(&call, 4, false, &small);
    tap_ok(small.block && small.group < call.n && small.group >= small.block && small.seconds >= four.seconds,
           "a matrix larger than the memory: groups of blocks");
    sc_column_blocks_on(&call, 1, false, &one);
    tap_ok(one.block && one.group < small.group, "one device has smaller groups than four devices");
    call.op = SC_OP_TRTRI;
    sc_column_blocks_on(&call, 1, false, &one);
    tap_ok(one.block && one.group < call.n, "the inverse of a triangle has groups of blocks");
    call.op = SC_OP_GETRS;
    call.k = 1;
    sc_column_blocks_on(&call, 4, false, &small);
    call.k = 20000;
    sc_column_blocks_on(&call, 4, false, &four);
    tap_ok(small.block && small.at_blocks && four.block && !four.at_blocks,
           "one right side travels to the factors; to many right sides the factors travel");
    call.holders = 2;
    tap_ok(sc_column_blocks_of_factors(&call) == 2, "factors stay on their devices");
    call.op = SC_OP_SYEVD;
    tap_ok(sc_column_blocks_devices(&call) == 1, "eigenvalues are computed on one device");
}

static bool is_same(const struct sc_plan *a, const struct sc_plan *b)
{
    return a->devices == b->devices && a->spread == b->spread && a->sums == b->sums &&
           memcmp(a->operand, b->operand, sizeof a->operand) == 0 && a->predicted.host == b->predicted.host &&
           a->predicted.device == b->predicted.device && a->predicted.move == b->predicted.move &&
           a->predicted.overlap == b->predicted.overlap && a->predicted.result == b->predicted.result;
}

/* Asks more questions than the table of plans has room for, with different residencies. */
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
                if (round) /* the next question finds entries of other questions */
                    sc_plan(&call, SC_OFFLOAD_AUTO, &anew);
            }
    tap_ok(wrong == 0, "a remembered plan equals a new plan (%d of %d differ)", wrong, asked);
    sc_database_free(db);
}

/* A result of two blocks on two equal devices: one block on each device, or both blocks on the first device. */
static void test_places(void)
{
    static const struct sc_device_properties same = {.gemm_flops = 7e12, .host_bandwidth = 12e9};
    double flops[2] = {7e12, 7e12}, work[2] = {1e6, 1e6}, bytes[2] = {8e6, 8e6};
    int64_t row_from[2] = {0, 4096}, col_from[3] = {0, 2048, 4096};
    int spread[2] = {0, 1}, packed[2] = {0, 0}, device[2] = {7, 7};
    struct sc_database *db = machine(2, flops);
    struct sc_autotuner_call call = product(db, 4096);
    struct sc_kernel kernel = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = 4096, .n = 4096,
                               .k = 4096};
    struct sc_plan_cut cut = {.sum = 4096, .depth = 1, .tasks = 1, .tiles = 1, .result = 1 << 27, .half = 1};
    struct sc_plan_found found = {.call = &call, .kernel = &kernel, .device = {&same, &same}, .products = 4096,
                                  .row_from = row_from, .col_from = col_from, .row_joined = (bool[1]){false},
                                  .blocks = {.devices = 2, .rows = 1, .cols = 2, .work = work, .owner = spread,
                                             .home = spread, .result_bytes = bytes, .device = device}};
    struct sc_plan plan;

    sc_plan(&call, SC_OFFLOAD_ALWAYS, &plan);
    tap_ok(sc_plan_refine(&found, &plan) && !plan.placed && device[0] == 7,
           "one block on each device: the blocks run on their owners");
    found.blocks.owner = packed;
    tap_ok(!sc_plan_refine(&found, &plan), "both blocks on one device: the plan asks for the bytes of the operands");
    found.known = true;
    found.blocks.home = spread;
    tap_ok(sc_plan_refine(&found, &plan) && plan.placed && device[0] + device[1] == 1,
           "with these bytes each device computes one block");
    found.cut = &cut;
    tap_ok(sc_plan_refine(&found, &plan) && plan.strips.width && plan.strips.trial.width == plan.strips.width &&
               !plan.strips.a, "strips of the result, in a trial of their width");
    cut.missing = 1 << 28;
    cut.all = 1 << 27;
    sc_plan_refine(&found, &plan);
    tap_ok(plan.strips.a == plan.strips.width && plan.strips.b == plan.strips.width && !plan.strips.c,
           "operands in transit: A and B have strips of the same width");
    kernel.transb = 'T';
    sc_plan_refine(&found, &plan);
    tap_ok(plan.strips.b == plan.strips.width && plan.strips.c >= 1024,
           "B is cut along the sum: strips of C are wide");
    kernel.transa = 'T';
    sc_plan_refine(&found, &plan);
    tap_ok(plan.strips.width == 1024 && plan.strips.a == 2048 && !plan.strips.trial.width,
           "two transposed operands: strips of 1024 columns, without a trial");
    sc_database_free(db);
}

/* Limits of a plan for three strategies, with and without memory for the operands. */
static void test_limits(void)
{
    double flops[2] = {7e12, 7e12};
    struct sc_database *db = machine(2, flops);
    struct sc_autotuner_call call = product(db, 4096);
    struct sc_plan plan;

    call.machine.memory = 200000000; /* less than two of the three matrices */
    sc_plan(&call, SC_OFFLOAD_ALWAYS, &plan);
    tap_ok(plan.assigns && !plan.blocks.count && plan.arriving.bytes == UINT64_MAX && plan.exchange.devices == 2 &&
               plan.exchange.seconds > 0,
           "auto assigns blocks of any number; without room no operand is used as it arrives");
    tap_ok(plan.larger.room == 188000000 && plan.operand[2].tile_rows == 8 && plan.operand[0].tile_cols == 8,
           "a call in parts takes 0.94 of a device, and has square tiles of a page");
    call.machine.memory = UINT64_C(1) << 40;
    sc_config.schedule = SC_STRATEGY_CYCLIC;
    sc_plan(&call, SC_OFFLOAD_ALWAYS, &plan);
    tap_ok(plan.assigns && plan.blocks.count == 4 && plan.arriving.bytes == SC_PIPELINE_BYTES && !plan.larger.room,
           "cyclic gives two blocks to each device; with room operands are used as they arrive");
    sc_config.schedule = SC_STRATEGY_OWNER;
    sc_plan(&call, SC_OFFLOAD_ALWAYS, &plan);
    tap_ok(!plan.assigns && !plan.blocks.count, "owner assigns no blocks");
    sc_config.schedule = SC_STRATEGY_AUTO;
    sc_database_free(db);
}

static struct sc_plan plan_of_rank(const struct sc_database *db, int64_t n, int64_t k, char uplo, int devices,
                                   enum sc_split split)
{
    struct sc_view view[2] = {{.type = SC_D, .rows = n, .cols = k, .ld = n, .split = split},
                              {.type = SC_D, .rows = n, .cols = n, .ld = n, .half = true}};
    struct sc_autotuner_call call = product(db, n);
    struct sc_plan plan = {.spread = devices};

    call.op = SC_OP_SYRK;
    call.uplo = uplo;
    call.k = k;
    call.operands = 2;
    call.view = view;
    call.peers = 100;
    call.machine.devices = devices;
    call.machine.memory = UINT64_C(1) << 40;
    sc_plan_layout(&call, SC_OFFLOAD_AUTO, &plan);
    return plan;
}

/* Rows of the strips that the triangle of a rank update is dealt out in, plus 1 if its factor is dealt out, too. */
static int64_t strip_of(const struct sc_database *db, int64_t n, char uplo, int devices, enum sc_split split)
{
    struct sc_plan plan = plan_of_rank(db, n, n, uplo, devices, split);

    return plan.operand[1].strip + (plan.operand[0].strip ? 1 : 0);
}

static bool by_sum(const struct sc_database *db, int64_t n, int devices, enum sc_split split)
{
    return plan_of_rank(db, n, n, 'L', devices, split).operand[1].reflected;
}

static bool by_sum_of(const struct sc_database *db, int64_t n, int64_t k, int devices)
{
    return plan_of_rank(db, n, k, 'L', devices, SC_SPLIT_ROWS).operand[1].reflected;
}

static bool parts_are(const struct sc_database *db, int64_t n, char uplo, int devices, int64_t part, int64_t added)
{
    struct sc_plan plan = plan_of_rank(db, n, n, uplo, devices, SC_SPLIT_ROWS);

    return plan.arriving.part == part && plan.arriving.part_added == added;
}

static void test_strips(void)
{
    double flops[DEVICES] = {6e13, 6e13, 6e13, 6e13, 6e13, 6e13, 6e13, 6e13};
    struct sc_database *db = machine(DEVICES, flops);

    tap_ok(strip_of(db, 16384, 'L', 2, SC_SPLIT_ROWS) == 1025 && strip_of(db, 32768, 'L', 4, SC_SPLIT_ROWS) == 2049,
           "a lower triangle and its factor have 16 strips");
    tap_ok(strip_of(db, 8192, 'U', 4, SC_SPLIT_ROWS) == 1025 && strip_of(db, 16384, 'U', 8, SC_SPLIT_ROWS) == 1025,
           "an upper triangle has 8, and at least two for each device");
    tap_ok(strip_of(db, 16384, 'L', 2, SC_SPLIT_COLS) == 1024, "a factor that is cut along its columns has none");
    tap_ok(strip_of(db, 4096, 'U', 2, SC_SPLIT_ROWS) == 1025 && strip_of(db, 4000, 'U', 2, SC_SPLIT_ROWS) == 0 &&
               strip_of(db, 16384, 'L', 1, SC_SPLIT_ROWS) == 0,
           "none are shorter than 1024 rows, and one device has none");
    tap_ok(by_sum(db, 8192, 4, SC_SPLIT_ROWS) && by_sum(db, 4096, 2, SC_SPLIT_ROWS) &&
               !by_sum(db, 4096, 4, SC_SPLIT_ROWS) && !by_sum(db, 16384, 8, SC_SPLIT_ROWS) &&
               !by_sum(db, 16384, 1, SC_SPLIT_ROWS) && !by_sum(db, 8192, 4, SC_SPLIT_COLS) &&
               !by_sum_of(db, 8192, 8191, 4) && by_sum_of(db, 8192, 4096, 2) && !by_sum_of(db, 8192, 4095, 2),
           "with several strips for each of a few devices, all strips use a part of the sum before the next part");
    tap_ok(parts_are(db, 16384, 'L', 2, 6144, 16384) && parts_are(db, 16384, 'U', 4, 4096, 4096) &&
               parts_are(db, 40000, 'L', 2, 14336, 20480) && parts_are(db, 4096, 'L', 2, 2048, 16384),
           "four parts in an upper triangle; three in a lower one, or two of 16384 and more if C goes up, too");
    tap_ok(parts_are(db, 4096, 'L', 4, 0, 0), "no parts where lines go home one after the other");
    sc_database_free(db);
}

int main(void)
{
    test_even();
    test_metrics();
    test_unknown();
    test_factorization();
    test_remembered();
    test_places();
    test_limits();
    test_strips();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
