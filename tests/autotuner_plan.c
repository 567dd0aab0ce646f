/* The choice of devices and shares by made-up rates, for three metrics and several residencies. Asserts that devices
 * finish together, that small calls stay with their operands, and that nothing is planned without measurements. */
#include <math.h>

#include "autotuner/plan.h"
#include "tests/tap.h"

#define DEVICES 8
#define SIZES 6

static bool near(double a, double b, double part) { return fabs(a - b) <= part * fabs(b); }

/* Devices with these flop/s; 12 GB/s from the host for each pair, 48 GB/s between devices. */
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

/* A square product with operands and result at `at`. */
static struct sc_plan_problem product(double n, int at)
{
    struct sc_plan_problem p = {.op = SC_OP_GEMM, .type = SC_D, .work = n * n * n, .flops = 2 * n * n * n,
                                .operands = 3};

    for (int i = 0; i < 3; i++) {
        p.operand[i] = (struct sc_plan_operand){.bytes = 8 * n * n, .read = i < 2, .written = i == 2, .whole = i == 0,
                                                .goes_home = at == SC_PLACE_HOST};
        p.operand[i].on[at] = 8 * n * n;
    }
    return p;
}

static void test_even(void)
{
    double flops[DEVICES] = {7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12};
    struct sc_database *db = machine(DEVICES, flops);
    struct sc_plan_problem p = product(16384, SC_PLACE_HOST), small = product(300, 3);
    struct sc_plan plan, one;

    tap_ok(sc_plan_best(db, &p, &plan) && plan.count == 8 && near(plan.share[5], 0.125, 0.01),
           "a large product goes to all devices, in equal parts");
    tap_ok(sc_plan_for(db, &p, 1, &one) && plan.seconds < one.seconds / 4, "and is over sooner");
    tap_ok(near(one.seconds, 2 * pow(16384, 3) / 7e12, 0.01), "on one device the kernel hides the transfers");
    tap_ok(sc_plan_best(db, &small, &plan) && plan.active == sc_place_bit(3),
           "a small one runs where its operands are");
    sc_database_free(db);
}

/* Table 5 of PARALiA: a machine of unequal devices; shares within 5% of balanced. */
static void test_uneven(void)
{
    double flops[DEVICES] = {3.5e12, 3.5e12, 5e12, 5e12, 3.5e12, 7e12, 3.5e12, 7e12};
    double sum = 38e12, most = 0, least = 1e9;
    struct sc_database *db = machine(DEVICES, flops);
    struct sc_plan_problem p = product(32768, SC_PLACE_HOST);
    struct sc_plan plan, even;
    bool fair = true;

    tap_ok(sc_plan_best(db, &p, &plan) && plan.count == 8, "unequal devices all take part");
    for (int d = 0; d < DEVICES; d++) {
        fair = fair && near(plan.share[d], flops[d] / sum, 0.05);
        most = plan.each[d] > most ? plan.each[d] : most;
        least = plan.each[d] < least ? plan.each[d] : least;
    }
    tap_ok(fair, "each by its speed");
    tap_ok(most <= 1.05 * least, "and end within 5%% (%.4f s to %.4f s)", least, most);
    p.even = true;
    tap_ok(sc_plan_for(db, &p, 255, &even) && near(even.seconds / plan.seconds, 38.0 / 28, 0.06),
           "equal parts would wait for the slowest");
    sc_database_free(db);
}

static void test_metrics(void)
{
    double flops[DEVICES] = {7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12, 7e12};
    struct sc_database *db = machine(DEVICES, flops);
    int count[3];

    for (int metric = 0; metric < 3; metric++) {
        struct sc_plan_problem p = product(2048, SC_PLACE_HOST);
        struct sc_plan plan;

        p.metric = (enum sc_metric)metric;
        count[metric] = sc_plan_best(db, &p, &plan) ? plan.count : -1;
    }
    tap_ok(count[SC_METRIC_PERF] > count[SC_METRIC_PDP] && count[SC_METRIC_PERF] >= count[SC_METRIC_EDP] &&
               count[SC_METRIC_EDP] >= count[SC_METRIC_PDP] && count[SC_METRIC_PDP] >= 1,
           "energy is saved by fewer devices: perf %d, edp %d, pdp %d", count[0], count[1], count[2]);
    sc_database_free(db);
}

static void test_few(void)
{
    double flops[4] = {1e12, 9e12, 1e12, 9e12};
    struct sc_database *db = machine(4, flops);
    struct sc_plan_problem p = product(8192, 1), unknown = p;
    struct sc_plan plan;

    tap_ok(sc_plan_best(db, &p, &plan) && (plan.active & 10) == 10, "the fast ones are among the chosen");
    p.even = true;
    tap_ok(sc_plan_best(db, &p, &plan) && (plan.active & 1), "of an even distribution the first device is always one");
    unknown.op = SC_OP_DOT;
    tap_ok(!sc_plan_best(db, &unknown, &plan), "nothing is planned of what is not known");
    tap_ok(!sc_plan_for(db, &p, sc_place_bit(SC_PLACE_HOST), &plan), "the host was not measured");
    sc_database_free(db);
}

int main(void)
{
    test_even();
    test_uneven();
    test_metrics();
    test_few();
    return tap_done();
}
