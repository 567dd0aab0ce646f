/* semcache tune: measures the machine and stores the measurements. */
#include <config.h>

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotuner/measure.h"
#include "autotuner/start.h"
#include "autotuner/store.h"
#include "base/config.h"
#include "base/inside.h"
#include "blas/blas.h"
#include "libsemcache/config.h"
#include "tools/tool.h"
#include "tools/trial.h"

enum { INTERRUPTED = 130 }; /* as the shell says it */

enum { CALLS = 200, CALLS_MOST = 100000, EACH = 256, SEED };

struct arguments {
    bool quick, restart, each;
    int check; /* calls; 0: measure */
    unsigned long long seed;
    const char *output;
};

static const struct argp_option options[] = {
    {"device", 'd', "DEVICE", 0, "measure these devices instead of SEMCACHE_DEVICE", 0},
    {"quick", 'q', NULL, 0, "a few seconds: few sizes, no pairs of links", 0},
    {"output", 'o', "FILE", 0, "write there, and not to the cache folder", 0},
    {"restart", 'r', NULL, 0, "do not go on with measurements that were interrupted", 0},
    {"check", 'c', "CALLS", OPTION_ARG_OPTIONAL, "measure nothing: compare predictions of so many (200) calls with the "
     "clock", 0},
    {"each", EACH, NULL, 0, "with --check: print each call", 0},
    {"seed", SEED, "NUMBER", 0, "with --check: other calls", 0},
    {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *a = state->input;

    switch (key) {
    case 'd': sc_tool_set(state->name, "SEMCACHE_DEVICE", text); return 0;
    case 'q': a->quick = true; return 0;
    case 'r': a->restart = true; return 0;
    case 'o':
        a->output = text;
        sc_tool_output(state->name, "--output", SC_FILE_MEASUREMENTS, text);
        return 0;
    case 'c':
        a->check = text ? atoi(text) : CALLS;
        if (a->check < 1 || a->check > CALLS_MOST)
            argp_error(state, "--check takes a number of calls from 1 to %d", CALLS_MOST);
        return 0;
    case EACH: a->each = true; return 0;
    case SEED: a->seed = strtoull(text, NULL, 0); return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* --- while it runs ------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static bool is_interrupted(void *arg)
{
    (void)arg;
    return interrupted != 0;
}

#define BAR 30

/* A line that is overwritten, on a terminal only. */
void sc_tool_progress(void *arg, const char *what, int done, int total)
{
    int full = total ? (int)((long)done * BAR / total) : BAR;

    (void)arg;
    fprintf(stderr, "\r[%.*s%*s] %d/%d %.48s\033[K", full, "##############################", BAR - full, "", done,
            total, what);
    if (done == total || strcmp(what, "stopped") == 0)
        fputc('\n', stderr);
    fflush(stderr);
}

struct place {
    int folder; /* -1: none */
    char partial[64];
};

static void keep(void *arg, const struct sc_database *db)
{
    const struct place *place = arg;

    if (place->folder >= 0)
        sc_store_write(place->folder, place->partial, db, true);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static struct sc_database *begin(const struct arguments *a, const struct place *place, const char *key, int devices)
{
    struct sc_database *db = NULL;

    if (!a->restart && !a->quick && place->folder >= 0)
        db = sc_store_read(place->folder, place->partial, key, true);
    if (db && (db->quick || db->devices != devices)) {
        sc_database_free(db);
        db = NULL;
    }
    return db ? db : sc_database_new(key, devices);
}

static int finish(const struct arguments *a, const struct place *place, const struct sc_database *db)
{
    char name[64];
    enum sc_status status;

    sc_store_name(db->machine, "database", name, sizeof name);
    if (a->output)
        status = sc_store_write_file(a->output, db);
    else
        status = place->folder >= 0 ? sc_store_write(place->folder, name, db, false) : SC_ERR_IO;
    if (status != SC_OK)
        return EXIT_FAILURE;
    if (place->folder >= 0)
        unlinkat(place->folder, place->partial, 0);
    if (a->output)
        printf("%s: %d kernels\n", a->output, db->kernels);
    else
        printf("%s/%s: %d kernels\n", sc_config.cache_path, name, db->kernels);
    return EXIT_SUCCESS;
}

/* Calls like those of programs: through the library, on the measured devices.  Closes the devices. */
static bool calibrate(const struct sc_device_ops *ops, int devices, struct sc_database *db)
{
    bool good;

    if (!sc_trial_start(ops, devices)) {
        ops->close();
        return false;
    }
    sc_autotuner_use(db);
    good = sc_tool_calibrate(db);
    sc_trial_stop();
    sc_autotuner_use(NULL);
    if (!good)
        fprintf(stderr, "semcache tune: calls on the devices fail\n");
    return good;
}

/* Closes the devices. */
static int measure(const struct arguments *a, const struct sc_device_ops *ops, int devices)
{
    struct place place = {.folder = sc_store_folder(sc_config.cache_path, a->output != NULL)};
    struct sc_measure how = {.ops = ops, .devices = devices, .host = &sc_tool_device_host, .quick = a->quick,
                             .stop = is_interrupted, .progress = isatty(STDERR_FILENO) ? sc_tool_progress : NULL,
                             .keep = a->quick ? NULL : keep, .arg = &place};
    struct sc_database *db;
    int result = EXIT_FAILURE;
    bool complete = false;
    char key[4096];

    sc_store_key(ops, devices, &sc_tool_device_host, key, sizeof key);
    sc_store_name(key, "partial", place.partial, sizeof place.partial);
    db = begin(a, &place, key, devices);
    if (db && sc_measure(&how, db, &complete) != SC_OK)
        fprintf(stderr, "semcache tune: the devices cannot be measured\n");
    else if (db && !complete && !a->quick)
        keep(&place, db);
    if (!complete)
        ops->close();
    else if (calibrate(ops, devices, db))
        result = finish(a, &place, db);
    if (interrupted) {
        fprintf(stderr, "semcache tune: interrupted%s\n",
                a->quick || place.folder < 0 ? "" : "; the next one goes on from here");
        result = INTERRUPTED;
    }
    sc_database_free(db);
    if (place.folder >= 0)
        close(place.folder);
    return result;
}

int sc_tool_tune(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Measures the links, the devices and the host BLAS, for decisions to go by, or checks "
               "how good these are."
               "\vIt takes some minutes; emulated devices are measured in their own time."};
    const struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    struct arguments a = {0};
    const struct sc_device_ops *ops;
    int devices;

    sc_tool_parse(&argp, argc, argv, 0, &a);
    sc_tool_outputs_check(argv[0], NULL);
    sc_tool_load();
    sc_config.emu_timing = 1; /* measurements of an emulated machine need no data */
    sc_inside_enter();
    if (sc_blas_host_open(sc_config.host_blas) != SC_OK)
        return EXIT_FAILURE;
    ops = sc_tool_open(&devices);
    if (!ops) {
        fprintf(stderr, "semcache tune: there are no devices (%s): every call runs on the host\n", sc_config.device);
        return EXIT_FAILURE;
    }
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (a.check)
        return sc_tool_check(ops, devices, a.check, a.seed, a.each, is_interrupted);
    return measure(&a, ops, devices);
}
/* SPDX-License-Identifier: BSD-2-Clause */
