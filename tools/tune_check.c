/* semcache tune --check: errors of predictions. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "autotuner/measure.h"
#include "autotuner/start.h"
#include "autotuner/store.h"
#include "base/config.h"
#include "base/median.h"
#include "tools/tool.h"
#include "tools/trial.h"

#define HOST_LIMIT 0.05                   /* s: longer calls are not tried on the host */
#define DEVICE_LIMIT 0.2                  /* ... on the devices */
#define MOST_BYTES ((uint64_t)1 << 30)    /* of all operands */
#define NEAR 1.1                          /* in units of the best time: limit of a right choice */

/* --- the calls ---------------------------------------------------------------------------------------------------- */

static uint64_t random_state;

static double random_part(void) /* 0 to 1 */
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

/* Uniform in the logarithm: small sizes are as likely as large sizes. */
static int64_t random_size(double least, double most)
{
    return (int64_t)(least * pow(most / least, random_part()));
}

static const struct mix {
    enum sc_op op;
    int weight;
} mix[] = {{SC_OP_GEMM, 6}, {SC_OP_SYRK, 2}, {SC_OP_TRSM, 2}, {SC_OP_SYMM, 1}, {SC_OP_TRMM, 1}, {SC_OP_GEMV, 5},
           {SC_OP_GER, 1},  {SC_OP_SYMV, 1}, {SC_OP_AXPY, 2}, {SC_OP_DOT, 2},  {SC_OP_SCAL, 1}, {SC_OP_NRM2, 1},
           {SC_OP_COPY, 1}};

static enum sc_op random_op(void)
{
    int sum = 0, at;

    for (size_t i = 0; i < sizeof mix / sizeof *mix; i++)
        sum += mix[i].weight;
    at = (int)(random_part() * sum);
    for (size_t i = 0; i < sizeof mix / sizeof *mix; i++)
        if ((at -= mix[i].weight) < 0)
            return mix[i].op;
    return SC_OP_GEMM;
}

/* Square, fat by thin, thin by fat. */
static void random_shape(struct sc_trial *t)
{
    int64_t size = random_size(100, 12000);
    int shape = (int)(random_part() * 3);

    t->m = t->n = t->k = size;
    if (shape == 1)
        t->k = random_size(50, (double)size);
    else if (shape == 2)
        t->n = random_size(50, (double)size);
    if (t->op == SC_OP_SYRK)
        t->n = size, t->k = shape ? random_size(50, (double)size) : size;
}

static struct sc_trial random_trial(void)
{
    static const enum sc_type types[] = {SC_D, SC_D, SC_D, SC_S, SC_Z};
    struct sc_trial t = {.op = random_op(), .host_limit = HOST_LIMIT};

    t.type = types[(int)(random_part() * 5)];
    if (t.type == SC_Z && (t.op == SC_OP_SYMV || t.op == SC_OP_NRM2 || t.op == SC_OP_GER))
        t.type = SC_D;
    t.there = (enum sc_trial_there)(int)(random_part() * 3);
    switch (sc_op_level(t.op)) {
    case 3: random_shape(&t); break;
    case 2: t.m = random_size(100, 8000), t.n = t.op == SC_OP_SYMV ? t.m : random_size(100, 8000); break;
    default: t.n = random_size(2048, 2e7);
    }
    return t;
}

/* Rough estimate; calls over the limit are not tried. */
static bool is_short(const struct sc_trial *t, int devices)
{
    struct sc_autotuner_call call = {.op = t->op, .type = t->type, .metric = sc_config.metric, .side = 'L',
                                     .m = t->m, .n = t->n, .k = t->k, .bytes = sc_trial_bytes(t),
                                     .machine.devices = devices, .machine.database = sc_autotuner_database()};
    struct sc_autotuner_prediction p;

    sc_autotuner_predict(&call, &p);
    return call.bytes < MOST_BYTES && p.device + p.move < DEVICE_LIMIT;
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

static const struct class {
    const char *name;
    uint64_t below; /* bytes of all operands */
} classes[] = {{"< 1 MiB", 1 << 20}, {"< 32 MiB", 32 << 20}, {"larger", UINT64_MAX}};
enum { CLASSES = sizeof classes / sizeof *classes };

static int class_of(const struct sc_trial *t)
{
    int c = 0;

    while (sc_trial_bytes(t) >= classes[c].below)
        c++;
    return c;
}

static double device_error(const struct sc_trial *t)
{
    return fabs((t->predicted.device + t->predicted.move - t->predicted.overlap) / t->device - 1);
}

static double host_error(const struct sc_trial *t) { return fabs(t->predicted.host / t->host - 1); }

/* Cost of the choice for this call alone, in units of the best time. */
static double regret(const struct sc_trial *t)
{
    double there = t->device + (t->predicted.kept ? 0 : t->result), best = there < t->host ? there : t->host;

    return (sc_autotuner_now(&t->predicted) <= t->predicted.host ? there : t->host) / best;
}

struct sums {
    double *device, *host; /* errors */
    int devices, hosts, chosen, right;
};

static void add(struct sums *s, const struct sc_trial *t)
{
    s->device[s->devices++] = device_error(t);
    if (t->host <= 0)
        return;
    s->host[s->hosts++] = host_error(t);
    s->chosen++;
    s->right += regret(t) <= NEAR;
}

static void put_errors(double *error, int count)
{
    if (!count) {
        printf(" %8s %8s", "-", "-");
        return;
    }
    printf(" %7.0f%% %7.0f%%", 100 * sc_median(error, (size_t)count), 100 * sc_percentile(error, (size_t)count, 95));
}

static void put_sums(struct sums *s, const char *what, const char *class)
{
    if (!s->devices)
        return;
    printf("%-8s %-9s %6d", what, class, s->devices);
    put_errors(s->device, s->devices);
    put_errors(s->host, s->hosts);
    if (s->chosen)
        printf(" %7.0f%%\n", 100.0 * s->right / s->chosen);
    else
        printf(" %8s\n", "-");
    s->devices = s->hosts = s->chosen = s->right = 0;
}

static void report(const struct sc_trial *trial, int count, struct sums *s)
{
    printf("%-8s %-9s %6s %17s %17s %8s\n%-8s %-9s %6s %8s %8s %8s %8s %8s\n", "", "", "", "devices, error",
           "host, error", "right", "routine", "operands", "calls", "median", "95%", "median", "95%", "choice");
    for (size_t m = 0; m < sizeof mix / sizeof *mix; m++)
        for (int c = 0; c < CLASSES; c++) {
            for (int i = 0; i < count; i++)
                if (trial[i].op == mix[m].op && class_of(&trial[i]) == c)
                    add(s, &trial[i]);
            put_sums(s, sc_op_name(mix[m].op), classes[c].name);
        }
    for (int i = 0; i < count; i++)
        add(s, &trial[i]);
    put_sums(s, "all", "");
}

static void put_trial(const struct sc_trial *t)
{
    static const char *const there[] = {"none", "largest", "all"};
    const struct sc_autotuner_prediction *p = &t->predicted;

    printf("%c%-5s %6lld %8lld %6lld %-7s %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f %+5.0f%%\n",
           sc_type_letter(t->type), sc_op_name(t->op), (long long)t->m, (long long)t->n, (long long)t->k,
           there[t->there], p->device * 1e6, p->move * 1e6, p->overlap * 1e6,
           (p->device + p->move - p->overlap) * 1e6, t->device * 1e6, p->result * 1e6, t->result * 1e6, p->host * 1e6,
           t->host * 1e6, 100 * ((p->device + p->move - p->overlap) / t->device - 1));
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static int run(int calls, int devices, bool each, bool (*stop)(void *arg), struct sc_trial *trial)
{
    int count = 0;

    if (each)
        printf("%-6s %6s %8s %6s %-7s %10s %10s %10s %10s %10s %10s %10s %10s %10s %6s\n", "us", "m", "n", "k", "there",
               "kernel", "move", "overlap", "predicted", "measured", "result", "measured", "host", "measured", "error");
    while (count < calls && !stop(NULL)) {
        trial[count] = random_trial();
        if (!is_short(&trial[count], devices))
            continue;
        if (isatty(STDERR_FILENO) && !each)
            sc_tool_progress(NULL, sc_op_name(trial[count].op), count, calls);
        if (!sc_trial_run(&trial[count])) {
            fprintf(stderr, "semcache tune: a call of %s could not be made\n", sc_op_name(trial[count].op));
            return 0;
        }
        if (each)
            put_trial(&trial[count]);
        count++;
    }
    if (isatty(STDERR_FILENO) && !each)
        sc_tool_progress(NULL, "done", count, count);
    return count;
}

/* Measures emulated devices now, if unmeasured. */
static bool database(const struct sc_device_ops *ops, int devices)
{
    sc_autotuner_start(ops, devices, &sc_tool_device_host);
    if (!sc_autotuner_database() && ops->virtual_seconds) {
        struct sc_measure how = {.ops = ops, .devices = devices, .host = &sc_tool_device_host, .quick = true};
        struct sc_database *db;
        char key[4096];

        sc_store_key(ops, devices, &sc_tool_device_host, key, sizeof key);
        db = sc_database_new(key, devices);
        if (db && sc_measure(&how, db, NULL) == SC_OK)
            sc_autotuner_use(db);
        else
            sc_database_free(db);
    }
    if (sc_autotuner_database())
        return true;
    fprintf(stderr, "semcache tune: there are no measurements of these devices: semcache tune makes them\n");
    return false;
}

int sc_tool_check(const struct sc_device_ops *ops, int devices, int calls, uint64_t seed, bool each,
                  bool (*stop)(void *arg))
{
    struct sc_trial *trial = calloc((size_t)calls, sizeof *trial);
    struct sums sums = {.device = calloc((size_t)calls, sizeof(double)), .host = calloc((size_t)calls, sizeof(double))};
    int count = 0;

    random_state = seed * 2 + 1;
    if (trial && sums.device && sums.host && database(ops, devices) && sc_trial_start(ops, devices)) {
        printf("%d calls of seed %llu, each from idle devices to idle devices\n", calls, (unsigned long long)seed);
        count = run(calls, devices, each, stop, trial);
        if (count)
            report(trial, count, &sums);
        sc_trial_stop();
    } else {
        ops->close();
    }
    free(trial);
    free(sums.device);
    free(sums.host);
    return count ? EXIT_SUCCESS : EXIT_FAILURE;
}
/* SPDX-License-Identifier: BSD-2-Clause */
