/* Decisions that are repeated without a question (sc_plan_stays) are the decisions of sc_plan: for each kind of call
 * the array moves to the devices in the same call.  A changed setting, a new database and an array that has moved end
 * the repetition. */
#include "autotuner/plan.h"
#include "tests/tap.h"

enum { CALLS_MOST = 400 };

static struct sc_autotuner_call question(enum sc_op op, int64_t n, int devices, bool once, uint64_t key)
{
    uint64_t bytes = 8 * (uint64_t)n * (uint64_t)(sc_op_level(op) > 1 ? n : 2);

    return (struct sc_autotuner_call){.op = op, .type = SC_D, .metric = sc_config.metric, .m = n, .n = n, .k = n,
                                      .bytes = bytes, .result_bytes = 8 * (uint64_t)n, .largest = bytes, .arrivals = 2,
                                      .closings = 1, .once = once, .key = key,
                                      .machine = {.devices = devices, .cores = 4}};
}

/* The number of calls on the host before the first on devices. */
static int asked(enum sc_op op, int64_t n, int devices, bool once)
{
    struct sc_autotuner_call q = question(op, n, devices, once, 0x10000001);
    struct sc_plan plan;
    int calls = 0;

    for (sc_plan(&q, SC_OFFLOAD_AUTO, &plan); !plan.devices && calls < CALLS_MOST; calls++)
        sc_plan(&q, SC_OFFLOAD_AUTO, &plan);
    return calls;
}

/* The same, where each call but the first repeats as long as possible. */
static int repeated(enum sc_op op, int64_t n, int devices, bool once, int *repetitions)
{
    struct sc_autotuner_call q = question(op, n, devices, once, 0x20000003);
    struct sc_plan_home home;
    struct sc_plan plan;
    int calls = 1;

    *repetitions = 0;
    sc_plan(&q, SC_OFFLOAD_AUTO, &plan);
    if (plan.devices || !sc_plan_remember(&q, &home))
        return 0;
    for (; calls < CALLS_MOST; calls++, ++*repetitions)
        if (!sc_plan_stays(&home, q.key))
            break;
    sc_plan(&q, SC_OFFLOAD_AUTO, &plan);
    for (; !plan.devices && calls < CALLS_MOST; calls++)
        sc_plan(&q, SC_OFFLOAD_AUTO, &plan);
    if (!plan.devices || once || !sc_plan_stays(&home, q.key))
        return calls;
    tap_diag("%s: repeats on the host although the array has moved", sc_op_name(op));
    return -1;
}

static void test_moves(void)
{
    static const enum sc_op ops[] = {SC_OP_COPY, SC_OP_AXPY, SC_OP_DOT, SC_OP_GEMV, SC_OP_GER, SC_OP_SYMV, SC_OP_GEMM,
                                     SC_OP_SYRK, SC_OP_TRSM};
    bool equal = true, repeats = true;
    int moved = 0;

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (int64_t n = 300; n < 40000; n *= 3)
            for (int devices = 1; devices <= 4; devices += 3)
                for (int once = 0; once < 2; once++) {
                    int repetitions, a, b;

                    sc_autotuner_reset();
                    a = asked(ops[i], n, devices, once);
                    b = repeated(ops[i], n, devices, once, &repetitions);
                    if (a != b || (a > 1 && repetitions != b - 1)) {
                        tap_diag("%s of %d, devices %d: %d calls asked, %d with %d repetitions", sc_op_name(ops[i]),
                                 (int)n, devices, a, b, repetitions);
                        equal = equal && a == b;
                        repeats = repeats && (a < 2 || repetitions == b - 1);
                    }
                    moved += a > 1 && a < CALLS_MOST;
                }
    tap_ok(equal, "repeated decisions move arrays in the same calls as questions");
    tap_ok(repeats, "and each call before the move repeats");
    tap_ok(moved > 5, "%d of the kinds move after some calls", moved);
}

static void test_ends(void)
{
    struct sc_autotuner_call q = question(SC_OP_COPY, 3000, 2, false, 0x30000005), away = q;
    struct sc_plan_home home;
    struct sc_database *db;
    bool push = sc_config.push;

    sc_autotuner_reset();
    away.device_bytes = 8;
    tap_ok(sc_plan_remember(&away, &home), "a call with copies on devices is remembered");
    away.device_only = 8;
    tap_ok(!sc_plan_remember(&away, &home), "a call with data on devices only is not");
    tap_ok(sc_plan_remember(&q, &home) && sc_plan_stays(&home, q.key), "with all data at home it is");
    sc_config.push = !push;
    tap_ok(!sc_plan_stays(&home, q.key), "other settings: asked again");
    sc_config.push = push;
    tap_ok(sc_plan_stays(&home, q.key), "the settings as before: repeats");
    sc_plans_reset();
    tap_ok(!sc_plan_stays(&home, q.key), "predictions forgotten: asked again");
    tap_ok(sc_plan_remember(&q, &home) && sc_plan_stays(&home, q.key), "and remembered");
    db = sc_database_new("test", 2);
    sc_machine_use(db);
    tap_ok(!sc_plan_stays(&home, q.key), "a new database: asked again");
    sc_machine_use(NULL);
    sc_database_free(db);
}

int main(void)
{
    test_moves();
    test_ends();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
