/* Memories of the autotuner are kept per setting (rule A15). A process asks under every setting in turn. Asserts that
 * its answers are those of a fresh process with the same setting. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autotuner/plan.h"
#include "autotuner/policy.h"
#include "autotuner/demand.h"
#include "autotuner/trials.h"
#include "tests/tap.h"

#define DEVICES 4
#define GFLOPS 1e9

/* --- the machine -------------------------------------------------------------------------------------------------- */

static struct sc_database *machine(void)
{
    struct sc_database *db = sc_database_new("test", DEVICES);

    for (int place = 0; place <= DEVICES; place++) {
        int at = place == DEVICES ? SC_PLACE_HOST : place;

        db->idle_watts[at] = 40;
        for (int to = 0; to < DEVICES; to++)
            if (to != at)
                db->link[at][to] = db->link[to][at] =
                    (struct sc_database_link){1e-5, at == SC_PLACE_HOST ? 12e9 : 4e10};
        for (int64_t n = 256; n <= 8192; n *= 2)
            sc_database_add_kernel(db, &(struct sc_database_kernel){
                                           .place = (uint8_t)at, .op = SC_OP_GEMM, .type = SC_D, .size = n,
                                           .watts = at == SC_PLACE_HOST ? 100 : 300,
                                           .seconds = 2.0 * (double)n * (double)n * (double)n /
                                                      ((at == SC_PLACE_HOST ? 200 : 6000) * GFLOPS)});
    }
    for (int n = 1; n <= DEVICES; n++)
        db->set[SC_SET_DOWN][n] = db->set[SC_SET_UP][n] = n < 2 ? 12e9 : 24e9;
    sc_database_index(db);
    return db;
}

static struct sc_autotuner_call product(const struct sc_database *db, int64_t m, int64_t n, int64_t k)
{
    uint64_t bytes = 8 * (uint64_t)(m * k + k * n + m * n);

    return (struct sc_autotuner_call){.op = SC_OP_GEMM, .type = SC_D, .metric = sc_config.metric, .m = m, .n = n,
                                      .k = k, .bytes = bytes, .result_bytes = 8 * (uint64_t)(m * n),
                                      .largest = 8 * (uint64_t)(m * k), .key = 0x7f0000001000,
                                      .machine = {.devices = DEVICES, .cores = 16, .host_watts_busy = 200,
                                                  .host_watts_idle = 50, .watts_busy = 300, .watts_idle = 40,
                                                  .database = db}};
}

/* --- what each memory answers ------------------------------------------------------------------------------------- */

static int plans(const struct sc_database *db, char *text)
{
    static const int64_t shape[][3] = {{900, 900, 900}, {2500, 2500, 2500}, {8192, 8192, 8192}, {1200, 1200, 20000}};
    int used = 0;

    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        struct sc_autotuner_call call = product(db, shape[i][0], shape[i][1], shape[i][2]);
        struct sc_autotuner_prediction p;

        sc_autotuner_predict(&call, &p);
        used += sprintf(text + used, "%d %.9g %.9g; ", p.planned, p.move, p.weight);
    }
    return used;
}

/* Calls on the host until their losses have paid for the move, and the calls after the move. */
static int accounts(const struct sc_database *db, char *text)
{
    struct sc_autotuner_call call = product(db, 1500, 1500, 32);

    for (int i = 0; i < 24; i++) {
        struct sc_plan plan;

        sc_plan(&call, SC_OFFLOAD_AUTO, &plan);
        text[i] = (char)('0' + plan.devices);
    }
    return 24;
}

/* The model's choice depends on the settings. */
static int trials(const struct sc_database *db, char *text)
{
    const struct sc_trial_shape shape = {.op = SC_OP_GEMM, .type = SC_D, .metric = sc_config.metric,
                                         .devices = DEVICES, .m = 5000};
    struct sc_strips_choice choice = {.count = 2, .first = {1, 1}, .seconds = {1, 1.05}, .best = 0};
    int used = 0;

    (void)db;
    choice.width[0] = 256 + sc_autotuner_policy(sc_config.metric);
    choice.width[1] = 2 * choice.width[0];
    for (int i = 0; i < 6; i++) {
        struct sc_trial_turn turn;

        sc_trial_begin(&shape, &choice, &turn);
        used += sprintf(text + used, " %lld", (long long)turn.width);
        sc_trial_took(&turn, 1 + 0.1 * (sc_autotuner_policy(sc_config.metric) * (i + 1) % 7), true);
    }
    return used;
}

static int readers(const struct sc_database *db, char *text)
{
    const void *array = (const void *)0x7f0000002000;
    int used = 0, want = 1 + sc_autotuner_policy(sc_config.metric) % 9;

    (void)db;
    for (int i = 0; i < 3; i++) {
        used += sprintf(text + used, " %d %llx", sc_demand_of_result(array, SC_OP_GEMV),
                        (unsigned long long)sc_demand_writer(array));
        sc_demand_written(array, SC_OP_GEMV, sc_autotuner_policy(sc_config.metric));
        sc_demand_read(array, want);
    }
    if (want % 2)
        sc_demand_host_wrote(array);
    return used;
}

static const struct memory {
    const char *name;
    int (*ask)(const struct sc_database *db, char *text);
} memories[] = {{"plans", plans}, {"accounts", accounts}, {"trials", trials}, {"readers", readers}};
#define MEMORIES ((int)(sizeof memories / sizeof *memories))
#define TEXT 512

/* --- the settings ------------------------------------------------------------------------------------------------- */

#define SETTINGS (3 * SC_STRATEGIES + 5)

/* Every metric with every strategy; the remaining settings follow one at a time. */
static void set(int setting)
{
    int other = setting - 3 * SC_STRATEGIES;

    sc_config.metric = other < 0 ? (enum sc_metric)(setting / SC_STRATEGIES) : SC_METRIC_PERF;
    sc_config.schedule = other < 0 ? (enum sc_strategy)(setting % SC_STRATEGIES) : SC_STRATEGY_AUTO;
    sc_config.offload = other == 0 ? SC_OFFLOAD_ALWAYS : SC_OFFLOAD_AUTO;
    sc_config.exchange = other == 1 ? SC_EXCHANGE_PULL : SC_EXCHANGE_AUTO;
    sc_config.max_hops = other == 2 ? 2 : 1;
    sc_config.push = other != 3;
    sc_config.without = other == 4 ? SC_WITHOUT_TOPOLOGY : 0;
}

static void ask(int memory, int setting, const struct sc_database *db, char text[TEXT])
{
    set(setting);
    text[memories[memory].ask(db, text)] = '\0';
}

/* Asks in a child that has asked no question before. */
static void ask_fresh(int memory, int setting, const struct sc_database *db, char text[TEXT])
{
    int ends[2], status = 0;
    ssize_t got;
    pid_t child;

    memset(text, 0, TEXT);
    if (pipe(ends) != 0 || (child = fork()) < 0)
        return;
    if (!child) {
        ask(memory, setting, db, text);
        _exit(write(ends[1], text, strlen(text)) < 0);
    }
    close(ends[1]);
    got = read(ends[0], text, TEXT - 1);
    close(ends[0]);
    text[got > 0 ? got : 0] = '\0';
    waitpid(child, &status, 0);
}

static int different(int memory, const struct sc_database *db, char fresh[SETTINGS][TEXT])
{
    int different = 0;

    for (int i = 0; i < SETTINGS; i++) {
        char text[TEXT];

        ask(memory, i, db, text);
        if (strcmp(text, fresh[i]) != 0 && ++different == 1)
            tap_diag("setting %d: %s; in a fresh process %s", i, text, fresh[i]);
    }
    return different;
}

int main(void)
{
    static char fresh[SETTINGS][TEXT];
    struct sc_database *db = machine();

    for (int memory = 0; memory < MEMORIES; memory++) {
        const char *name = memories[memory].name;
        int kinds = 0, wrong;

        for (int i = 0; i < SETTINGS; i++) {
            ask_fresh(memory, i, db, fresh[i]);
            kinds += i > 0 && strcmp(fresh[i], fresh[0]) != 0;
        }
        tap_ok(kinds > 0, "%s: the settings make a difference (%d of %d)", name, kinds, SETTINGS);
        wrong = different(memory, db, fresh);
        tap_ok(wrong == 0, "%s: each setting after the others as in a fresh process (%d differ)", name, wrong);
        sc_autotuner_reset();
        wrong = different(memory, db, fresh);
        tap_ok(wrong == 0, "%s: a reset forgets (%d differ)", name, wrong);
    }
    sc_database_free(db);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
