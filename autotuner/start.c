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

double sc_autotuner_budget = 2.0;

static const struct sc_database *current; /* written once, with release order */

const struct sc_database *sc_autotuner_database(void) { return __atomic_load_n(&current, __ATOMIC_ACQUIRE); }

void sc_autotuner_use(const struct sc_database *db)
{
    sc_plans_reset(); /* a new database may have the address of an older database */
    __atomic_store_n(&current, db, __ATOMIC_RELEASE);
}

/* Decisions need at least the link from the host to every device. */
static bool is_useful(const struct sc_database *db)
{
    for (int d = 0; d < db->devices; d++)
        if (db->link[SC_PLACE_HOST][d].bandwidth <= 0)
            return false;
    return true;
}

/* Costs of calls beside kernels and bytes, which cannot be measured during the first calls. On an H200, calls with 1 to
 * 3 small operands took 40 to 120 us. */
static const struct sc_database_calls typical = {true, 12e-6, 12e-6, 10e-6, 20e-6, {0.7, 0.4}, 0.9};

/* Measures the devices, and keeps a complete result. The program uses the host meanwhile. */
static void measure(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host, const char *key,
                    int folder, const char *name, bool (*stop)(void *))
{
    struct sc_measure how = {.ops = ops, .devices = devices, .host = host, .quick = true, .devices_only = true,
                             .budget = sc_autotuner_budget, .stop = stop};
    struct sc_database *db = sc_database_new(key, devices);

    if (!db)
        return;
    db->calls = typical;
    sc_log(SC_LOG_INFO, "the devices are measured, once, while calls run on the host (semcache tune does it better)");
    if (sc_measure(&how, db, NULL) != SC_OK || !is_useful(db))
        sc_log(SC_LOG_INFO, "measuring failed; decisions go by what the devices say of themselves");
    else if (!stop(NULL))
        sc_store_write(folder, name, db, false);
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
    sc_store_name(key, false, name, sizeof name);
    db = sc_store_read(folder, name, key, false);
    if (!db && stop && (lock = sc_store_lock(folder)) >= 0) {
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
    if (db)
        sc_autotuner_use(db);
}
/* SPDX-License-Identifier: BSD-2-Clause */
