#include "autotuner/start.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotuner/autotuner.h"
#include "autotuner/measure_int.h"
#include "autotuner/plan.h"
#include "autotuner/store.h"
#include "base/config.h"
#include "base/log.h"

#define CALIBRATION_ORDER 1024

double sc_autotuner_share = 0.15;

void sc_autotuner_use(const struct sc_database *db)
{
    sc_plans_reset(); /* a new database may have the address of an older database */
    sc_machine_use(db);
}

/* Decisions need at least the link from the host to every device. */
static bool is_useful(const struct sc_database *db)
{
    for (int d = 0; d < db->devices; d++)
        if (db->link[SC_PLACE_HOST][d].bandwidth <= 0)
            return false;
    return true;
}

/* The measurement inside programs.  A process continues the measurement of earlier processes that were too short for
 * the whole measurement.  One process at a time has the folder's lock. */
struct begun {
    int folder;
    char name[64];
    bool refused; /* the file cannot be written */
    bool (*stop)(void *);
    double since; /* the end of this process's first measurement */
    int asked;
};

static void keep(void *arg, const struct sc_database *db)
{
    struct begun *begun = arg;

    begun->refused = begun->refused || sc_store_write(begun->folder, begun->name, db, true) != SC_OK;
}

/* What earlier processes have measured, or an empty database. */
static struct sc_database *begin(const struct begun *begun, const char *key, int devices)
{
    struct sc_database *db = sc_store_read(begun->folder, begun->name, key, true);

    if (db && (!db->quick || db->devices != devices)) {
        sc_database_free(db);
        db = NULL;
    }
    if (!db && (db = sc_database_new(key, devices)))
        db->calls = sc_machine_typical_calls;
    return db;
}

/* This process is asked to stop, or has measured its share. The first value does not count: it includes memory for
 * operands and the loading of kernels. */
static bool is_over(void *arg)
{
    struct begun *begun = arg;

    if (begun->stop(NULL))
        return true;
    if (++begun->asked > 2)
        return sc_bench_real_now() - begun->since > sc_autotuner_share;
    begun->since = sc_bench_real_now();
    return false;
}

/* Measures the devices, and keeps the result. The program uses the host meanwhile. The measuring thread takes a
 * processor, and a host BLAS with a thread on each processor then lost 3 ms in each call. Therefore a process measures
 * a share, and the next process continues. */
static void measure(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host, const char *key,
                    int folder, const char *name, bool (*stop)(void *))
{
    struct begun begun = {.folder = folder, .stop = stop};
    struct sc_measure how = {.ops = ops, .devices = devices, .host = host, .quick = true, .devices_only = true,
                             .stop = is_over, .keep = keep, .arg = &begun};
    struct sc_database *db;
    enum sc_status status;
    bool complete = false;

    sc_store_name(key, "begun", begun.name, sizeof begun.name);
    db = begin(&begun, key, devices);
    if (!db)
        return;
    sc_log(SC_LOG_INFO, "the devices are measured for a moment; calls run on the host (semcache tune does it better)");
    status = sc_measure(&how, db, &complete);
    if (status == SC_OK && !complete && is_over(&begun))
        keep(&begun, db);
    else if (status != SC_OK || !is_useful(db))
        sc_log(SC_LOG_INFO, "measuring failed; decisions go by what the devices say of themselves");
    else if (sc_store_write(folder, name, db, false) == SC_OK)
        unlinkat(folder, begun.name, 0);
    sc_database_free(db);
}

/* Reads the database of this machine from the cache folder. `stop` not NULL: measures if there is no database. */
static struct sc_database *from_cache(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host,
                                      const char *key, bool (*stop)(void *))
{
    int folder = sc_store_folder(sc_config.cache_path, true), lock;
    struct sc_database *db;
    char name[64];

    if (folder < 0)
        return NULL;
    sc_store_name(key, "database", name, sizeof name);
    db = sc_store_read(folder, name, key, false);
    if (!db && stop && (lock = sc_store_lock(folder)) >= 0) {
        db = sc_store_read(folder, name, key, false); /* written before the lock was free */
        if (!db)
            measure(ops, devices, host, key, folder, name, stop);
        close(lock);
    }
    close(folder);
    return db;
}

void sc_autotuner_prepare(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host,
                          bool (*stop)(void *))
{
    char key[4096];

    if (!sc_config.database || strcmp(sc_config.database, "auto") != 0 || ops->virtual_seconds ||
        sc_config.tune != SC_TUNE_QUICK)
        return;
    sc_store_key(ops, devices, host, key, sizeof key);
    sc_database_free(from_cache(ops, devices, host, key, stop));
}

/* Measures the host BLAS by one product, after a product that starts its threads. Takes 10 ms. */
static void calibrate(const struct sc_device_host *host)
{
    typedef void gemm_fn(const char *, const char *, const int *, const int *, const int *, const double *,
                         const double *, const int *, const double *, const int *, const double *, double *,
                         const int *, size_t, size_t);
    const int n = CALIBRATION_ORDER;
    const double one = 1, zero = 0;
    double *memory = calloc((size_t)n * (size_t)n, 3 * sizeof *memory), *b = memory + n * n, *c = b + n * n, start = 0;
    gemm_fn *gemm;

    *(void **)&gemm = host->blas_symbol ? host->blas_symbol("dgemm_") : NULL;
    for (int round = 0; memory && gemm && round < 2; round++) {
        start = sc_bench_real_now();
        gemm("N", "N", &n, &n, &n, &one, memory, &n, b, &n, &zero, c, &n, 1, 1);
    }
    if (start > 0)
        sc_machine_host_flops(2.0 * n * n * n / (sc_bench_real_now() - start));
    free(memory);
}

static bool knows_host(const struct sc_database *db)
{
    return db && sc_database_seconds_of(db, SC_PLACE_HOST, SC_OP_GEMM, SC_D, 1e9, SC_COLUMNS_ANY) > 0;
}

void sc_autotuner_start(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host)
{
    const char *setting = sc_config.database;
    struct sc_database *db = NULL;
    char key[4096];

    if (setting && strcmp(setting, "none") != 0) {
        sc_store_key(ops, devices, host, key, sizeof key);
        db = strcmp(setting, "auto") == 0 ? from_cache(ops, devices, host, key, NULL)
                                          : sc_store_read_file(setting, key);
    }
    if (db && db->devices != devices) {
        sc_database_free(db);
        db = NULL;
    }
    if (!ops->virtual_seconds && !knows_host(db))
        calibrate(host);
    sc_plans_reset(); /* of earlier devices, and of an earlier rate of the host */
    if (db)
        sc_autotuner_use(db);
}
/* SPDX-License-Identifier: BSD-2-Clause */
