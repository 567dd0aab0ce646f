/* Decisions are pure functions of numbers: the test asks with made-up calls, machines, residency and histories. Asserts
 * where a call runs, and that fetching every result costs hardly more than the host alone. Wrong decisions would move
 * data back and forth, or never use a device that pays. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "autotuner/autotuner.h"
#include "autotuner/explain.h"
#include "autotuner/demand.h"
#include "autotuner/host_rates.h"
#include "autotuner/opening.h"
#include "autotuner/plan.h"

#include "tests/tap.h"

static const struct sc_machine h200 = {.devices = 2, .cores = 16, .gemm_flops = 55e12,
                                                 .memory_bandwidth = 4.4e12,
                                                 .host_bandwidth = 55e9};

static struct sc_autotuner_call gemv(int64_t n, double resident)
{
    uint64_t bytes = (uint64_t)(n * n * 8 + 2 * n * 8);

    return (struct sc_autotuner_call){.op = SC_OP_GEMV, .type = SC_D, .m = n, .n = n, .bytes = bytes,
                                      .result_bytes = (uint64_t)n * 8,
                                      .device_bytes = (uint64_t)((double)bytes * resident),
                                      .key = (uint64_t)n, .machine = h200};
}

static struct sc_autotuner_call gemm(int64_t n)
{
    return (struct sc_autotuner_call){.op = SC_OP_GEMM, .type = SC_D, .m = n, .n = n, .k = n,
                                      .bytes = (uint64_t)(3 * n * n * 8), .result_bytes = (uint64_t)(n * n * 8),
                                      .machine = h200};
}

/* Each question is new: the tests change databases, which nobody else does. */
static void predict(const struct sc_autotuner_call *call, struct sc_autotuner_prediction *p)
{
    sc_plans_reset();
    sc_autotuner_predict(call, p);
}

static int offload(const struct sc_autotuner_call *call, enum sc_offload mode)
{
    struct sc_plan plan;

    sc_plans_reset();
    sc_plan(call, mode, &plan);
    return plan.devices;
}

static double host_share(const struct sc_autotuner_call *call, enum sc_offload mode)
{
    struct sc_autotuner_prediction p;

    predict(call, &p);
    return sc_autotuner_host_share(call, mode, &p);
}

static int devices_of(const struct sc_autotuner_call *call)
{
    double in;

    return sc_plan_devices(call, &in);
}

static void test_modes(void)
{
    struct sc_autotuner_call large = gemm(8000), small = gemm(8), nowhere = large;

    nowhere.machine.devices = 0;
    tap_ok(offload(&small, SC_OFFLOAD_ALWAYS) == 1, "always: any size");
    tap_ok(offload(&large, SC_OFFLOAD_NEVER) == 0, "never: no size");
    tap_ok(offload(&nowhere, SC_OFFLOAD_ALWAYS) == 0, "no devices: the host");
    tap_ok(offload(&large, SC_OFFLOAD_AUTO) == 1, "a large product pays at once");
    tap_ok(offload(&small, SC_OFFLOAD_AUTO) == 0, "a small one on the host's data does not");
}

static void test_residency(void)
{
    struct sc_autotuner_call there = gemv(4000, 1), vector = {.op = SC_OP_AXPY, .type = SC_D, .n = 30000,
                                                              .bytes = 480000,
                                                             .result_bytes = 240000, .machine = h200};

    tap_ok(offload(&there, SC_OFFLOAD_AUTO) == 1, "a matrix that is there is used there");
    tap_ok(offload(&vector, SC_OFFLOAD_AUTO) == 0, "a vector on the host stays on the host");
    vector.device_bytes = vector.device_only = vector.bytes;
    tap_ok(offload(&vector, SC_OFFLOAD_AUTO) == 1, "a vector that only a device has stays there");
    vector.device_bytes = vector.device_only = 0;
    vector.untracked = vector.bytes;
    vector.n = 30000000, vector.bytes = vector.untracked = 480000000;
    tap_ok(offload(&vector, SC_OFFLOAD_AUTO) == 0, "untracked memory is not copied for one pass over it");
}

/* One use of a matrix does not pay for its upload; many uses do. */
static void test_ski_rental(void)
{
    struct sc_autotuner_call call = gemv(4000, 0);
    struct sc_autotuner_prediction p;
    struct sc_autotuner_account account = {0};
    double lost = 0;
    int uses = 0;

    sc_autotuner_reset();
    predict(&call, &p);
    tap_ok(p.host < p.device + p.move + p.result && p.device < p.host,
           "one use of the matrix does not pay, staying would");
    while (uses < 1000 && !offload(&call, SC_OFFLOAD_AUTO)) {
        lost += p.host - p.device;
        uses++;
    }
    tap_ok(uses > 0 && uses < 1000, "it moves after %d uses", uses);
    tap_ok(lost <= 2 * (p.move + p.result) + (p.host - p.device), "having lost no more than about the move");
    call.key = 77;
    tap_ok(!offload(&call, SC_OFFLOAD_AUTO), "another matrix starts from nothing");
    p = (struct sc_autotuner_prediction){.host = 1, .device = 2, .move = 1};
    for (int i = 0; i < 100; i++)
        uses = sc_autotuner_rent(&p, &account);
    tap_ok(!uses && account.loss == 0, "where the host is faster nothing is ever lost");
}

/* Memory that the program has taken for devices moves at its first use, and after a sale by the usual rule. */
static void test_chosen(void)
{
    struct sc_autotuner_call call = gemv(4000, 0);
    struct sc_autotuner_prediction p;
    struct sc_autotuner_account account = {0};
    int uses = 0;

    sc_autotuner_reset();
    call.chosen = true;
    call.key = 78;
    predict(&call, &p);
    tap_ok(p.host < p.device + p.move + p.result && offload(&call, SC_OFFLOAD_AUTO), "chosen memory moves at once");
    call.m = call.n = 64;
    call.bytes = call.largest = 64 * 64 * 8;
    call.key = 79;
    predict(&call, &p);
    tap_ok(p.host < p.device && !offload(&call, SC_OFFLOAD_AUTO), "not for a call that the host does faster");
    p = (struct sc_autotuner_prediction){.host = 2e-3, .device = 1e-3, .move = 20e-3, .result = 1e-3, .chosen = true};
    tap_ok(sc_autotuner_rent(&p, &account) == 1, "the first use of an array");
    p.fetched = 20e-3;
    tap_ok(sc_autotuner_rent(&p, &account) == 0 && account.sales == 1, "an array that the host keeps fetching is sold");
    p.fetched = 0;
    while (uses < 1000 && !sc_autotuner_rent(&p, &account))
        uses++;
    tap_ok(uses >= 20 && uses < 1000, "and then earns its next move: after %d uses", uses);
}

/* A program that fetches the whole result, in `copies` copies, after each call. Returns the time of 1000 calls relative
 * to the host alone; *bought: number of uploads. */
static double cost_of_fetching(double gain, uint64_t copies, int *bought)
{
    struct sc_autotuner_prediction p = {.device = 100e-6, .move = 2e-3, .result = 2e-3};
    struct sc_autotuner_account account = {0};
    double spent = 0, host = 0, fetch = 2e-3 + (double)copies * 30e-6;
    bool left = false;

    p.host = p.device + gain;
    *bought = 0;
    for (int i = 0; i < 1000; i++) {
        p.fetched = left ? fetch : 0;
        left = sc_autotuner_rent(&p, &account);
        *bought += left;
        spent += left ? p.device + p.move + fetch : p.host;
        host += p.host;
    }
    return spent / host;
}

/* The way back: a result fetched after each call is given back to the host, and every further upload must promise
 * more. */
static void test_selling(void)
{
    struct sc_autotuner_prediction p = {.host = 3e-3, .device = 1e-3, .move = 1e-3, .result = 1e-3};
    struct sc_autotuner_account account = {0};
    double cost;
    int bought, stayed = 0;

    cost = cost_of_fetching(1e-3, 50, &bought);
    tap_ok(cost < 1.05 && bought < 20, "what is fetched each time costs %.3f of the host alone (bought %d times)", cost,
           bought);
    cost = cost_of_fetching(4.1e-3, 100, &bought);
    tap_ok(cost < 1.05 && bought < 50, "also where each call seemed to pay (%.3f, %d)", cost, bought);
    cost = cost_of_fetching(40e-3, 100, &bought);
    tap_ok(cost < 0.3 && bought == 1000, "but not where the calls gain more than that (%.3f, %d)", cost, bought);
    tap_ok(sc_autotuner_rent(&p, &account) == 1 && account.owned, "a call that pays");
    p.move = 0, p.kept = true, p.host = p.device; /* on devices; the host would be as fast */
    for (int i = 0; i < 1000; i++)
        stayed += sc_autotuner_rent(&p, &account);
    tap_ok(stayed == 1000, "what is not fetched stays");
    p.fetched = 10;
    tap_ok(sc_autotuner_rent(&p, &account) == 0 && !account.owned && account.sales == 1, "what is fetched does not");
    account.owned = true;
    p = (struct sc_autotuner_prediction){.host = 10, .device = 0.1, .move = 0.1, .result = 0.1, .fetched = 5};
    stayed = 0;
    for (int i = 0; i < 100; i++)
        stayed += sc_autotuner_rent(&p, &account);
    tap_ok(stayed == 100 && account.owned, "but where each call gains more it stays");
    account = (struct sc_autotuner_account){.owned = false};
    p.fetched = 100;
    tap_ok(sc_autotuner_rent(&p, &account) == 1 && account.sales == 0, "and what others have moved is not its fault");
    account = (struct sc_autotuner_account){.sales = 1};
    p = (struct sc_autotuner_prediction){.host = 3.5e-3, .device = 1e-3, .move = 1e-3, .result = 1e-3};
    tap_ok(sc_autotuner_rent(&p, &account) == 0, "and has to gain twice the move then");
    p.host = 5e-3;
    tap_ok(sc_autotuner_rent(&p, &account) == 1, "as here");
    for (int i = 0; i < 10; i++)
        sc_autotuner_rent(&p, &account);
    tap_ok(account.sales == 0, "which is forgotten when it has proved right");
    p = (struct sc_autotuner_prediction){.host = 1e-3, .device = 1e-3, .move = 1e-3, .losing = true};
    account = (struct sc_autotuner_account){.owned = true, .measured = -100, .sales = 7};
    tap_ok(sc_autotuner_rent(&p, &account) == 0 && account.sales == 8, "by the clock: 256 times the move at most");
}

/* Demand: who reads the result of a call. */
static void test_readers(void)
{
    double x[2], y[2];
    int before;

    sc_autotuner_reset();
    sc_demand_written(x, SC_OP_AXPY, 0);
    before = sc_demand_of_result(x, SC_OP_AXPY);
    sc_demand_read(x, 0);
    sc_demand_read(y, 3);
    tap_ok(!before && !sc_demand_of_result(x, SC_OP_AXPY) && !sc_demand_writer(x), "what only the host has read");
    sc_demand_read(x, 3);
    sc_demand_read(x, 2);
    tap_ok(sc_demand_of_result(x, SC_OP_AXPY) == 3 && !sc_demand_of_result(x, SC_OP_COPY), "what devices have read");
    sc_demand_written(x, SC_OP_COPY, 7);
    tap_ok(sc_demand_of_result(x, SC_OP_AXPY) == 3 && !sc_demand_of_result(x, SC_OP_COPY),
           "is remembered of the routine that wrote it, not of another");
    tap_ok(sc_demand_writer(x) == 7 && !sc_demand_writer(y), "and which call on devices made what is there now");
    sc_demand_written(x, SC_OP_AXPY, 0);
    sc_demand_written(x, SC_OP_AXPY, 0);
    tap_ok(!sc_demand_of_result(x, SC_OP_AXPY), "until something that it wrote was not read there");
    tap_ok(sc_autotuner_wants(&(struct sc_autotuner_prediction){.alone = 2, .device = 1}, 0) == SC_READERS_MOST,
           "a call that is faster there wants most");
    tap_ok(sc_autotuner_wants(&(struct sc_autotuner_prediction){.alone = 1, .device = 2}, 3) == 2 &&
               sc_autotuner_wants(&(struct sc_autotuner_prediction){.alone = 1, .device = 2}, 0) == 0,
           "another one less than its results are wanted");
}

/* Where the host may write, the program's own writes stay unseen. */
static void test_changed(void)
{
    double x[2];
    int versions = 0;

    sc_autotuner_reset();
    sc_demand_written(x, SC_OP_AXPY, 7);
    sc_demand_host_wrote(x);
    tap_ok(!sc_demand_writer(x), "what the program has changed no call has made");
    do {
        sc_demand_written(x, SC_OP_AXPY, 0);
        sc_demand_read(x, 1);
    } while (++versions < 1000 && !sc_demand_of_result(x, SC_OP_AXPY));
    tap_ok(versions > 50 && versions < 1000, "its writer is charged again after %d versions", versions);
}

/* The host is faster for this call, but devices read the result. The prediction for the host therefore includes the
 * upload. */
static void test_back(void)
{
    struct sc_autotuner_prediction p = {.host = 10e-6, .device = 20e-6, .kept = true};
    struct sc_autotuner_account account = {0}, before = account;
    struct sc_autotuner_call call = {.op = SC_OP_AXPY, .type = SC_D, .n = 30000, .bytes = 480000,
                                     .result_bytes = 240000, .machine = h200}, read;

    tap_ok(!sc_autotuner_rent(&p, &account), "a short call for the host");
    p.back = 15e-6;
    tap_ok(sc_autotuner_rent(&p, &account) && sc_autotuner_reason(&p, &before, &account, true) == SC_REASON_BACK,
           "but not where its result would have to come back");
    read = call;
    read.want = read.back = 1, read.go_back = 240000;
    predict(&read, &p);
    tap_ok(p.back > 240000 / 55e9 && p.back < 1e-4, "which takes %.1f us", 1e6 * p.back);
    predict(&call, &p);
    tap_ok(p.back == 0, "or nothing");
    call.device_bytes = call.device_only = 240000;
    predict(&call, &p);
    read = call;
    read.made_elsewhere = read.device_only;
    tap_ok(p.fetch > 0, "what was fetched once is at home");
    predict(&read, &p);
    tap_ok(p.fetch == 0 && p.host > 240000 / 55e9, "but not what another call makes each time");
}

/* Runs an announced call. */
static void run_on_host(double seconds)
{
    sc_host_rates_begin();
    if (seconds > 0)
        usleep((useconds_t)(seconds * 1e6));
    sc_host_rates_end();
}

/* What a call is told when the sum has this value. */
static enum sc_autotuner_opening opens_after(double sum, const struct sc_autotuner_call *call)
{
    sc_autotuner_reset();
    sc_opening_ran(0, sum, false);
    return sc_autotuner_opens(call);
}

/* A driver is not opened for little. */
static void test_opening(void)
{
    struct sc_autotuner_call call = gemm(500), large = gemm(20000),
                             vector = {.op = SC_OP_DOT, .type = SC_D, .n = 100000, .machine = h200};

    sc_config.device = "cuda:0";
    tap_ok(opens_after(0.49, &call) == SC_OPENS_NOT && opens_after(0.49, &vector) == SC_OPENS_NOT,
           "devices stay closed until the host has worked for half a second");
    tap_ok(opens_after(0.51, &call) == SC_OPENS_SOON && opens_after(0.51, &vector) == SC_OPENS_SOON,
           "a call after that opens them, but does not wait");
    tap_ok(opens_after(1.01, &call) == SC_OPENS_NOW, "after a second calls wait");
    tap_ok(sc_autotuner_estimate(&call) > 2 * 500.0 * 500 * 500 / 1e12, "time is by the work");
    tap_ok(opens_after(0, &large) == SC_OPENS_NOW, "a large product opens them at once");
    sc_config.open = SC_OPEN_FIRST;
    tap_ok(opens_after(0, &call), "any does when so set");
    sc_config.open = SC_OPEN_BACKGROUND;
    tap_ok(opens_after(0, &call) == SC_OPENS_SOON, "without waiting, when so set");
    run_on_host(0);
    tap_ok(sc_autotuner_spent() >= 0 && sc_autotuner_spent() < 1e-3, "calls are measured in any case");
    sc_config.open = SC_OPEN_AUTO;
    sc_config.offload = SC_OFFLOAD_ALWAYS;
    tap_ok(opens_after(0, &call), "or when every call is to be offloaded");
    sc_config.offload = SC_OFFLOAD_AUTO;
    sc_config.device = "emu:h200x8:1";
    tap_ok(opens_after(0, &call), "emulated ones open in no time");
    sc_config.device = NULL;
    sc_autotuner_reset();
}

/* The time between two sparse products counts, at most twice the prediction of the first. */
static void test_opening_for_sparse(void)
{
    sc_autotuner_reset();
    sc_autotuner_opens_for_sparse(1e-3);
    usleep(10000);
    sc_autotuner_opens_for_sparse(1e-3);
    tap_ok(fabs(sc_autotuner_spent() - 2e-3) < 1e-9, "loops between sparse products count, as much as the products");
    sc_autotuner_opens_for_sparse(1);
    tap_ok(sc_autotuner_spent() < 4.1e-3, "a product counts when the next one comes");
    sc_autotuner_reset();
}

static void *run_beside(void *ready)
{
    struct sc_autotuner_call call = gemm(500);

    sc_autotuner_opens(&call);
    sc_host_rates_begin();
    pthread_barrier_wait(ready);
    usleep(50000);
    pthread_barrier_wait(ready); /* a loaded machine does not run the threads one after the other */
    sc_host_rates_end();
    return NULL;
}

/* The sum has what calls took, once for calls at the same time and for calls inside a call. */
static void test_sum(void)
{
    enum { THREADS = 4 };
    struct sc_autotuner_call call = gemm(500), routine = call;
    struct sc_host_timing outer;
    pthread_barrier_t ready;
    pthread_t threads[THREADS];
    double began, took;

    routine.op = SC_OP_GETRF;
    sc_autotuner_reset();
    sc_autotuner_opens(&call);
    usleep(20000); /* no part of the call */
    run_on_host(0);
    tap_ok(sc_autotuner_spent() < 10e-3, "a call without work counts nothing (%g s)", sc_autotuner_spent());
    sc_autotuner_opens(&call);
    run_on_host(20e-3);
    tap_ok(sc_autotuner_spent() >= 20e-3, "a call counts with its time");
    sc_autotuner_opens(&call);
    sc_host_rates_cancel();
    took = sc_autotuner_spent();
    run_on_host(20e-3);
    tap_ok(sc_autotuner_spent() == took, "a call that does not run counts nothing");
    sc_autotuner_reset();
    pthread_barrier_init(&ready, NULL, THREADS);
    began = sc_explain_clock(-1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_beside, &ready);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    took = sc_explain_clock(-1) - began;
    pthread_barrier_destroy(&ready);
    tap_ok(sc_autotuner_spent() >= 50e-3 && sc_autotuner_spent() <= took, "calls side by side count once (%g of %g s)",
           sc_autotuner_spent(), took);
    sc_autotuner_reset();
    began = sc_explain_clock(-1);
    sc_autotuner_opens(&routine);
    sc_host_rates_begin_outer(&outer);
    for (int i = 0; i < 3; i++) {
        sc_autotuner_opens(&call);
        run_on_host(20e-3);
    }
    sc_host_rates_end_outer(&outer);
    took = sc_explain_clock(-1) - began;
    tap_ok(sc_autotuner_spent() >= 60e-3 && sc_autotuner_spent() <= took, "calls inside a routine count once (%g, %g)",
           sc_autotuner_spent(), took);
    sc_autotuner_reset();
}

/* Whether a product of order n is taken for one of a second. */
static bool is_long(int64_t n)
{
    struct sc_autotuner_call call = gemm(n);
    bool now = sc_autotuner_opens(&call) == SC_OPENS_NOW;

    sc_host_rates_cancel();
    return now;
}

/* A routine's first call is predicted by the other routines' calls, on a host that is faster than the constants. */
static void test_faster_host(void)
{
    struct sc_autotuner_call call = gemm(2000), vector = {.op = SC_OP_DOT, .type = SC_D, .n = 1000000, .machine = h200};
    int64_t n = 1000;

    call.op = SC_OP_GETRI;
    sc_config.device = "cuda:0";
    sc_autotuner_reset();
    while (!is_long(n))
        n += 100;
    sc_autotuner_opens(&vector);
    run_on_host(0);
    tap_ok(is_long(n), "a fast dot product says nothing of arithmetic");
    sc_autotuner_opens(&call);
    run_on_host(0);
    tap_ok(!is_long(n) && !is_long(n + n / 2), "a fast factorization does");
    tap_ok(is_long(5 * n), "but not beyond eight times the constants");
    sc_autotuner_reset();
    sc_autotuner_opens(&call);
    run_on_host(0.5);
    tap_ok(!is_long(n - 200), "a slow one, such as a library's first call, does not");
    sc_autotuner_reset();
    sc_config.device = NULL;
}

static void test_spread(void)
{
    uint64_t mib = UINT64_C(1) << 20;
    int last = 0, monotone = 1;

    for (uint64_t bytes = 0; bytes < 1000 * mib; bytes += 8 * mib) {
        int n = sc_plan_spread(bytes, 8, SC_OFFLOAD_AUTO);

        monotone &= n >= last && n >= 1 && n <= 8;
        last = n;
    }
    tap_ok(monotone && last == 8, "larger matrices are spread over more devices, at least one, at most all");
    tap_ok(sc_plan_spread(100, 8, SC_OFFLOAD_AUTO) == 1, "a small one is not spread");
    tap_ok(sc_plan_spread(100, 8, SC_OFFLOAD_ALWAYS) == 8, "but always is: to be tested");
    tap_ok(sc_plan_spread(72 * mib, 2, SC_OFFLOAD_AUTO) == 2, "72 MB are worth two devices");
    tap_ok(sc_plan_spread_sparse(80 * mib, mib, 2, SC_OFFLOAD_AUTO) == 1 &&
               sc_plan_spread_sparse(80 * mib, 16 * mib, 2, SC_OFFLOAD_AUTO) == 2 &&
               sc_plan_spread_sparse(512 * mib, mib, 2, SC_OFFLOAD_AUTO) == 2,
           "a sparse matrix has the devices of its vectors, or a large one its own");
    tap_ok(sc_plan_spread_vector(80 * mib, 4, SC_OFFLOAD_AUTO) == 4 && sc_plan_spread_vector(7 * mib, 4,
                                                                                             SC_OFFLOAD_AUTO) == 1,
           "a vector of 80 MB is worth four devices, one of 7 MB a single device");
}

static void test_gathers(void)
{
    uint64_t mib = UINT64_C(1) << 20;

    tap_ok(sc_autotuner_gathers(240000, 4, 300e9, SC_OFFLOAD_AUTO), "a short vector is brought to one of its devices");
    tap_ok(!sc_autotuner_gathers(64 * mib, 4, 300e9, SC_OFFLOAD_AUTO), "a long one is not");
    tap_ok(!sc_autotuner_gathers(mib, 4, 20e9, SC_OFFLOAD_AUTO), "nor over slow links");
    tap_ok(!sc_autotuner_gathers(100, 4, 0, SC_OFFLOAD_AUTO), "nor by way of the host");
    tap_ok(!sc_autotuner_gathers(100, 4, 300e9, SC_OFFLOAD_ALWAYS), "nor by always: to be tested");
}

static void test_flops(void)
{
    struct sc_autotuner_call call = gemm(100);

    tap_ok(sc_autotuner_flops(&call) == 2e6, "2 n^3");
    call.type = SC_Z;
    tap_ok(sc_autotuner_flops(&call) == 8e6, "8 n^3 of complex numbers");
    call.op = SC_OP_TRSM, call.type = SC_D, call.side = 'R', call.m = 10;
    tap_ok(sc_autotuner_flops(&call) == 1e5, "trsm: m n^2 on the right");
}

/* A machine with a host of `host` flop/s and links of `link` bytes/s; devices and memory as h200 says. */
static struct sc_database *measured(double host, double link, int devices)
{
    struct sc_database *db = sc_database_new("test", devices);
    const struct { int place; double flops; } places[3] = {{0, 55e12}, {1, 55e12}, {SC_PLACE_HOST, host}};

    for (int i = 0; i < 3; i++)
        for (int64_t n = 128; n <= 8192; n *= 2)
            sc_database_add_kernel(db, &(struct sc_database_kernel){
                                           .place = (uint8_t)places[i].place, .op = SC_OP_GEMM, .type = SC_D, .size = n,
                                           .seconds = 2.0 * (double)n * (double)n * (double)n / places[i].flops});
    for (int d = 0; d < devices; d++) {
        db->link[SC_PLACE_HOST][d] = db->link[d][SC_PLACE_HOST] = (struct sc_database_link){1e-5, link};
        for (int e = 0; e < devices; e++)
            if (e != d)
                db->link[d][e] = (struct sc_database_link){1e-5, 10 * link};
    }
    sc_database_index(db);
    return db;
}

static void test_measured(void)
{
    struct sc_database *fast = measured(2e11, 55e9, 2), *slow = measured(2e11, 2e8, 2), *host = measured(5e13, 12e9, 2);
    struct sc_autotuner_call call = gemm(2048), known = call;
    struct sc_autotuner_prediction p, q;

    tap_ok(offload(&call, SC_OFFLOAD_AUTO) == 1, "by the hints this product pays");
    call.machine.database = fast;
    tap_ok(offload(&call, SC_OFFLOAD_AUTO) == 1, "it does where the link is as fast as the hint says");
    call.machine.database = slow;
    tap_ok(offload(&call, SC_OFFLOAD_AUTO) == 0, "not where it was measured to be slow");
    call.machine.database = host;
    tap_ok(offload(&call, SC_OFFLOAD_AUTO) == 0, "nor where the host is nearly as fast");
    known.machine.database = fast;
    predict(&known, &p);
    tap_ok(p.host > 0.99 * 2 * 2048.0 * 2048 * 2048 / 2e11 && p.host < 1.1 * 2 * 2048.0 * 2048 * 2048 / 2e11,
           "the host takes what it was measured to take");
    known.overwritten = known.result_bytes;
    predict(&known, &q);
    tap_ok(q.move < 0.7 * p.move, "what is only written need not go there");
    known.beside = 2 * known.result_bytes;
    predict(&known, &q);
    tap_ok(q.move > 1.2 * p.move, "but what lies beside its elements does");
    known = gemm(8192);
    known.machine.database = fast;
    predict(&known, &p);
    tap_ok(p.overlap > 0 && p.overlap < p.device && p.overlap < p.move, "kernels hide a part of the transfer");
    sc_database_free(fast);
    sc_database_free(slow);
    sc_database_free(host);
}

/* Overheads besides kernels and bytes: charged per call, operand to upload, result to close, and scalar result. */
static void test_overheads(void)
{
    struct sc_database *db = measured(2e11, 55e9, 2);
    struct sc_autotuner_call call = gemm(200), dot = {.op = SC_OP_DOT, .type = SC_D, .n = 10000, .bytes = 160000};
    struct sc_autotuner_prediction bare, p;
    double interrupted;

    db->calls = (struct sc_database_calls){.known = true, .links = 1};
    call.machine.database = dot.machine.database = db;
    predict(&call, &bare);
    db->calls = (struct sc_database_calls){true, 10e-6, 20e-6, 7e-6, 15e-6, {0, 0}, 1};
    predict(&call, &p);
    tap_ok(fabs(p.device - bare.device - 10e-6) < 1e-9, "each call");
    call.arrivals = 3, call.closings = 1;
    interrupted = call.machine.cores * 1.3e-6; /* threads of the host BLAS, while pages are closed */
    predict(&call, &p);
    tap_ok(fabs(p.move - bare.move - 3 * 20e-6 - 7e-6 - interrupted) < 1e-9,
           "each operand that comes, each result that is closed");
    call.device_bytes = call.bytes, call.arrivals = 0;
    predict(&call, &p);
    tap_ok(fabs(p.move - 7e-6 - interrupted) < 1e-9, "nothing for what is there");
    predict(&dot, &p);
    db->calls.scalar = 0;
    predict(&dot, &bare);
    tap_ok(fabs(p.device - bare.device - 15e-6) < 1e-9, "each scalar");
    db->calls.hidden[0] = db->calls.hidden[1] = 0.5;
    call = gemm(900);
    call.machine.database = db;
    predict(&call, &p);
    tap_ok(p.hideable == 0 && p.overlap == 0, "what is not worth strips hides nothing");
    call = gemm(16384);
    call.machine.database = db;
    call.machine.devices = 1;
    predict(&call, &p);
    tap_ok(p.hideable > 0.75 * fmin(p.device, p.move) && p.hideable < fmin(p.device, p.move) &&
               fabs(p.overlap - p.hideable / 2) < 1e-9, "many strips most of it, of which some is hidden");
    call.n = 512, call.op = SC_OP_TRSM, call.side = 'L';
    predict(&call, &bare);
    call.m = 1024;
    predict(&call, &p);
    tap_ok(bare.hideable > 0 && p.hideable == 0, "a triangle in several strips some, in one nothing");
    sc_database_free(db);
}

static void test_devices(void)
{
    struct sc_database *db = measured(2e11, 55e9, 2);
    struct sc_autotuner_call large = gemm(16384), small = gemm(700), vector = gemv(8000, 0);

    tap_ok(devices_of(&large) == 0, "without measurements the size decides");
    large.machine.database = small.machine.database = vector.machine.database = db;
    tap_ok(devices_of(&large) == 2 && devices_of(&large) == 2, "two devices for a large product");
    tap_ok(devices_of(&small) >= 1 && devices_of(&small) <= 2, "one or two for a small one");
    tap_ok(devices_of(&vector) == 0, "a matrix of level 2 is spread by its size");
    large = gemm(1000), large.machine.database = db, large.metric = SC_METRIC_PDP;
    tap_ok(devices_of(&large) == 1, "to save energy, one");
    sc_database_free(db);
}

/* A device twice as fast as the host that takes much more power. By time the device wins; by energy * time and by
 * energy the watts decide. */
static int by_metric(enum sc_metric metric, double watts)
{
    struct sc_autotuner_call call = gemm(2000);
    struct sc_autotuner_prediction p;
    struct sc_autotuner_account account = {0};

    call.device_bytes = call.bytes;
    call.machine = (struct sc_machine){.devices = 1, .cores = 16, .gemm_flops = 2 * 16 * 14e9,
                                                 .memory_bandwidth = 1e12, .host_bandwidth = 50e9,
                                                 .watts_busy = watts, .watts_idle = 10, .host_watts_busy = 90,
                                                 .host_watts_idle = 40};
    call.metric = metric;
    predict(&call, &p);
    return sc_autotuner_rent(&p, &account);
}

static void test_metrics(void)
{
    struct sc_database *db = measured(1e12, 50e9, 1);
    struct sc_autotuner_call call = gemm(2000);
    struct sc_autotuner_prediction p;

    tap_ok(by_metric(SC_METRIC_PERF, 100) && by_metric(SC_METRIC_EDP, 100) && by_metric(SC_METRIC_PDP, 100),
           "140 W in place of 100 for half the time: the device by every metric");
    tap_ok(by_metric(SC_METRIC_PERF, 200) && by_metric(SC_METRIC_EDP, 200) && !by_metric(SC_METRIC_PDP, 200),
           "240 W: not by energy");
    tap_ok(by_metric(SC_METRIC_PERF, 500) && !by_metric(SC_METRIC_EDP, 500) && !by_metric(SC_METRIC_PDP, 500),
           "540 W: by time only");
    tap_ok(by_metric(SC_METRIC_PDP, 0), "as by time where the device's power is not known");
    call.machine.devices = 1, call.machine.database = db;
    call.machine.watts_busy = 300, call.machine.host_watts_busy = 100;
    call.metric = SC_METRIC_PDP;
    predict(&call, &p);
    tap_ok(fabs(p.weight - 3) < 1e-9, "what the devices say counts where nothing was measured (%g)", p.weight);
    db->idle_watts[SC_PLACE_HOST] = 60, db->idle_watts[0] = 50;
    predict(&call, &p);
    tap_ok(fabs(p.weight - 2.4) < 1e-9, "%g: the measured watts of what is idle meanwhile, too", p.weight);
    sc_database_free(db);
}

/* The host beside the devices. */
static void test_together(void)
{
    struct sc_database *fast = measured(1e12, 55e9, 2), *even = measured(8e13, 55e9, 2);
    struct sc_autotuner_together t;
    struct sc_autotuner_prediction p;
    struct sc_autotuner_call call = gemm(16384);
    double worst = 0, share, least = 1e9;

    for (double rate = 1e11; rate < 1e14; rate *= 1.7)
        for (int64_t n = 1024; n <= 32768; n *= 2)
            for (int there = 0; there < 2; there++) {
                struct sc_database *db = measured(rate, 20e9, 1);

                call = gemm(n), call.machine.database = db, call.machine.devices = 1;
                call.device_bytes = there ? call.bytes : 0;
                predict(&call, &p);
                sc_autotuner_together(&p, sc_autotuner_balance(&p), &t);
                share = fabs(t.host / t.devices - 1);
                worst = t.share > 0 && share > worst ? share : worst;
                least = t.alone / t.devices < least ? t.alone / t.devices : least;
                sc_database_free(db);
            }
    tap_ok(worst < 0.05 && least >= 1, "both are done at the same time (%.1g%% apart), never later than one alone",
           100 * worst);
    sc_config.host_share = -1;
    call = gemm(16384), call.machine.database = fast;
    tap_ok(host_share(&call, SC_OFFLOAD_AUTO) == 0, "1 Tflop/s beside 110: in the noise");
    call.machine.database = even, call.machine.devices = 1, call.device_bytes = call.bytes;
    share = host_share(&call, SC_OFFLOAD_AUTO);
    tap_ok(fabs(share - 80.0 / 135) < 0.01, "80 beside 55: its part (%.2f)", share);
    call.m = call.n = call.k = 128;
    tap_ok(host_share(&call, SC_OFFLOAD_AUTO) == 0, "not of a product of a microsecond");
    call = gemm(16384), call.machine.database = even, call.machine.devices = 1;
    call.machine.emulated = true;
    tap_ok(host_share(&call, SC_OFFLOAD_AUTO) == 0, "not beside emulated devices, whose clock is another");
    call.machine.emulated = false, call.device_bytes = call.bytes;
    sc_config.ranks = 4;
    tap_ok(host_share(&call, SC_OFFLOAD_AUTO) == 0, "nor where other ranks have the same cores");
    sc_config.ranks = 0;
    tap_ok(host_share(&call, SC_OFFLOAD_AUTO) > 0, "as it is without these");
    sc_config.host_share = 12;
    tap_ok(host_share(&call, SC_OFFLOAD_AUTO) == 0.12 &&
           host_share(&call, SC_OFFLOAD_ALWAYS) == 0.12, "but where the user says so");
    sc_config.host_share = 0;
    tap_ok(host_share(&call, SC_OFFLOAD_AUTO) == 0, "nor where the user does not want it");
    sc_database_free(fast);
    sc_database_free(even);
}

/* A prediction concerns the devices that the call will run on. */
static void test_places(void)
{
    struct sc_database *db = measured(2e11, 55e9, 2);
    struct sc_autotuner_call call = gemm(8192), vector = {.op = SC_OP_AXPY, .type = SC_D, .n = 1500000,
                                                          .bytes = 24000000, .largest = 12000000, .machine = h200};
    struct sc_autotuner_prediction one, two, fresh;

    call.machine.database = db;
    predict(&call, &fresh);
    call.device_bytes = call.bytes, call.largest = call.bytes / 3;
    call.holders = 1;
    predict(&call, &one);
    call.holders = 2;
    predict(&call, &two);
    tap_ok(one.devices == 1 && two.devices == 2 && one.device > 1.9 * two.device, "those that have the operands");
    tap_ok(fresh.devices == 2 && fresh.move > 1.02 * (double)call.bytes / (2 * 55e9),
           "what both need goes on from one to the other, which takes time, too");
    predict(&vector, &one);
    tap_ok(one.devices == 1, "vectors are spread by the larger one, not by both together");
    sc_database_free(db);
}

/* Whether the line with this start contains `part`. */
static bool table_has(const char *table, const char *start, const char *part)
{
    for (const char *line = table, *end; (end = strchr(line, '\n')); line = end + 1) {
        const char *at = strncmp(line, start, strlen(start)) == 0 ? strstr(line, part) : NULL;

        if (at && at < end)
            return true;
    }
    return false;
}

static void test_explained(void)
{
    struct sc_autotuner_call large = gemm(6000), small = gemm(8), vector = gemv(3000, 0);
    struct sc_autotuner_prediction p;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    sc_explain_write(out);
    fflush(out);
    tap_ok(bytes == 0, "where nothing was decided there is nothing to explain");
    sc_autotuner_reset();
    sc_explain_on = true;
    predict(&large, &p);
    for (int i = 0; i < 2; i++) {
        offload(&large, SC_OFFLOAD_AUTO);
        sc_explain_measured(2 * (p.device + p.move));
    }
    offload(&small, SC_OFFLOAD_AUTO);
    while (!offload(&vector, SC_OFFLOAD_AUTO))
        ;
    sc_explain_on = false;
    sc_explain_write(out);
    fclose(out);
    tap_ok(table_has(text, "dgemm      6000", " devices ") && table_has(text, "dgemm      6000", "-50%"),
           "a call on devices: predicted against measured");
    tap_ok(table_has(text, "dgemm         8", " host "), "a call on the host");
    tap_ok(table_has(text, "dgemv      3000", "the move costs more than one call gains") &&
               strstr(text, "the host had lost what the move costs"),
           "a matrix that moves when it has earned it");
    tap_ok(strstr(text, "median 50%, 95th percentile 50%, of 1 kinds") != NULL, "and how good the predictions were");
    free(text);
}

/* Calls whose operands the host uses next: each is decided by its own transfers, however often the call repeats. */
static void test_once(void)
{
    struct sc_autotuner_call call = gemv(4000, 0);
    struct sc_autotuner_prediction p = {.host = 1, .device = 0.1, .move = 0.05, .result = 0.05};
    int moved = 0;

    sc_autotuner_reset();
    call.once = true;
    call.key = 99;
    for (int i = 0; i < 1000; i++)
        moved += offload(&call, SC_OFFLOAD_AUTO);
    tap_ok(moved == 0, "a matrix that goes home after each call never earns its move");
    call.once = false;
    tap_ok(!offload(&call, SC_OFFLOAD_AUTO), "and those calls have left no account");
    tap_ok(sc_autotuner_rent_once(&p) == 1, "the host takes 5 times as long as the devices with all transfers");
    p.host = 0.7;
    tap_ok(sc_autotuner_rent_once(&p) == 0, "3.5 times is not enough");
    p.host = 1, p.distrust = 2;
    tap_ok(sc_autotuner_rent_once(&p) == 0, "nor are 5 times in a program that has lost by moving");
}

/* A sparse product is decided on as a dense call: by measurements, by the metric and by the array's account. */
static void test_sparse(void)
{
    struct sc_database *fast = measured(2e11, 55e9, 2), *slow = measured(2e11, 2e8, 2);
    struct sc_autotuner_account account = {0};
    struct sc_autotuner_call call = {.op = SC_OP_CSRMV, .type = SC_D, .m = 1000000, .n = 1000000, .k = 1,
                                     .bytes = 100000000, .account = &account, .machine = h200};
    struct sc_autotuner_prediction p, q;

    predict(&call, &p);
    tap_ok(p.host > 0.9 * 1e8 / 8e9 && p.host < 1.1 * 1e8 / 8e9, "on the host by loops on one processor");
    tap_ok(p.devices == 2, "on the devices that its parts are spread over");
    call.machine.database = fast;
    tap_ok(offload(&call, SC_OFFLOAD_AUTO) == 1 && account.owned, "it pays where the link is fast");
    account = (struct sc_autotuner_account){0};
    call.machine.database = slow;
    tap_ok(offload(&call, SC_OFFLOAD_AUTO) == 0 && account.loss > 0, "not where it was measured to be slow");
    call.stays = true;
    tap_ok(offload(&call, SC_OFFLOAD_AUTO) == 1, "a matrix that devices have parts of stays there");
    call.machine.database = NULL;
    call.machine.watts_busy = 700, call.machine.watts_idle = 75;
    call.machine.host_watts_busy = 400, call.machine.host_watts_idle = 100;
    predict(&call, &p);
    call.metric = SC_METRIC_PDP;
    predict(&call, &q);
    call.metric = SC_METRIC_PERF;
    tap_ok(p.weight == 1 && q.weight > 1, "where energy counts a second on devices counts more (%.2f)", q.weight);
    call.terms = 1e6;
    predict(&call, &p);
    tap_ok(p.host == 1e-2 && p.device < p.host, "a product of two sparse matrices by its terms");
    sc_database_free(fast);
    sc_database_free(slow);
}

/* A library's loop runs on one processor. Measurements of the host's BLAS say nothing about it. */
static void test_loops(void)
{
    struct sc_database *db = measured(5e13, 55e9, 2);
    struct sc_autotuner_call blas = {.op = SC_OP_AXPY, .type = SC_D, .n = 8000000, .bytes = 128000000,
                                     .result_bytes = 64000000, .device_bytes = 64000000, .view = NULL, .machine = h200};
    struct sc_autotuner_account sold = {.sales = 6, .price = 5e-3};
    struct sc_autotuner_call loop;
    struct sc_autotuner_prediction p, q;

    blas.machine.database = db;
    loop = blas;
    loop.loops = true;
    predict(&blas, &p);
    predict(&loop, &q);
    tap_ok(p.alone < 4e-3 && fabs(q.alone - 128e6 / 8e9) < 1e-9, "a loop on one processor: %g s, by the BLAS %g",
           q.alone, p.alone);
    tap_ok(offload(&loop, SC_OFFLOAD_AUTO) == 1, "its vectors go to devices at once");
    blas.device_bytes = blas.bytes;
    blas.device_only = blas.result_bytes;
    blas.account = &sold;
    tap_ok(offload(&blas, SC_OFFLOAD_AUTO) == 1 && !sold.owned && sold.sales == 6,
           "operands that other calls make on devices are used there, without a claim to the array");
    blas.device_bytes = blas.device_only;
    tap_ok(offload(&blas, SC_OFFLOAD_AUTO) == 0, "but nothing moves for that");
    loop.n = 80000;
    loop.bytes = 1280000;
    loop.device_bytes = loop.result_bytes = 0;
    predict(&loop, &q);
    tap_ok(fabs(q.alone - 1.28e6 / 20e9) < 1e-9, "short vectors are in the processor's caches");
    sc_database_free(db);
}

int main(void)
{
    test_once();
    test_loops();
    test_modes();
    test_sparse();
    test_residency();
    test_ski_rental();
    test_chosen();
    test_selling();
    test_readers();
    test_changed();
    test_back();
    test_opening();
    test_opening_for_sparse();
    test_sum();
    test_faster_host();
    test_spread();
    test_gathers();
    test_flops();
    test_measured();
    test_overheads();
    test_devices();
    test_places();
    test_metrics();
    test_together();
    test_explained();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
