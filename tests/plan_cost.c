/* For plan_cost.t: functions whose inclusive cost under callgrind is the cost of REPEATED plans of one question and of
 * NEW plans, each of another question, on a machine of 1, 2, 4 and 8 devices with made-up rates. */
#include "autotuner/plan.h"

enum { REPEATED = 1000, NEW = 100 };

static struct sc_database *machine(int devices)
{
    struct sc_database *db = sc_database_new("test", devices);

    for (int at = 0; at <= devices; at++) {
        int place = at == devices ? SC_PLACE_HOST : at;

        for (int to = 0; to < devices; to++)
            if (to != place)
                db->link[place][to] = db->link[to][place] = (struct sc_database_link){1e-5, 5e10};
        for (int64_t n = 256; n <= 8192; n *= 2)
            sc_database_add_kernel(db, &(struct sc_database_kernel){
                                           .place = (uint8_t)place, .op = SC_OP_GEMM, .type = SC_D, .size = n,
                                           .seconds = 1e-5 + 2.0 * (double)n * (double)n * (double)n /
                                                                 (place == SC_PLACE_HOST ? 1e12 : 5e13)});
    }
    sc_database_index(db);
    return db;
}

static struct sc_view view[3];

static struct sc_autotuner_call product(const struct sc_database *db, int64_t n)
{
    uint64_t bytes = 8 * (uint64_t)(n * n);

    for (int i = 0; i < 3; i++)
        view[i] = (struct sc_view){.type = SC_D, .rows = n, .cols = n, .ld = n};
    return (struct sc_autotuner_call){.op = SC_OP_GEMM, .type = SC_D, .m = n, .n = n, .k = n, .bytes = 3 * bytes,
                                      .result_bytes = bytes, .largest = bytes, .key = 1, .operands = 3, .view = view,
                                      .divides = true, .columns = SC_COLUMNS_ALIGNED,
                                      .machine = {.devices = db->devices, .cores = 16, .database = db}};
}

static __attribute__((noipa)) void plans(const struct sc_database *db, int count, int64_t step)
{
    for (int i = 0; i < count; i++) {
        struct sc_autotuner_call call = product(db, 4096 + step * i);
        struct sc_plan plan;

        sc_plan(&call, SC_OFFLOAD_AUTO, &plan);
    }
}

#define DEVICES(n)                                                                                                   \
    static __attribute__((noipa)) void cost_repeated_##n(const struct sc_database *db) { plans(db, REPEATED, 0); } \
    static __attribute__((noipa)) void cost_new_##n(const struct sc_database *db) { plans(db, NEW, 8); }
DEVICES(1)
DEVICES(2)
DEVICES(4)
DEVICES(8)

int main(void)
{
    static void (*const repeated[])(const struct sc_database *) = {cost_repeated_1, cost_repeated_2, cost_repeated_4,
                                                                   cost_repeated_8};
    static void (*const anew[])(const struct sc_database *) = {cost_new_1, cost_new_2, cost_new_4, cost_new_8};

    sc_config.host_share = -1;
    for (int i = 0; i < 4; i++) {
        struct sc_database *db = machine(1 << i);

        sc_plans_reset();
        plans(db, 1, 0);
        repeated[i](db);
        sc_plans_reset();
        anew[i](db);
        sc_database_free(db);
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
