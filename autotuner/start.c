#include "autotuner/start.h"

#include <string.h>
#include <unistd.h>

#include "autotuner/measure.h"
#include "autotuner/plan.h"
#include "autotuner/store.h"
#include "base/config.h"
#include "base/log.h"

double sc_autotuner_budget = 2.0;

static const struct sc_database *current; /* written once, with release order */

const struct sc_database *sc_autotuner_database(void) { return __atomic_load_n(&current, __ATOMIC_ACQUIRE); }

void sc_autotuner_use(const struct sc_database *db)
{
    sc_plans_reset(); /* a new database may lie where one of them was made by an older one */
    __atomic_store_n(&current, db, __ATOMIC_RELEASE);
}

/* The link down of every device is the least that decisions need. */
static bool is_useful(const struct sc_database *db)
{
    for (int d = 0; d < db->devices; d++)
        if (db->link[SC_PLACE_HOST][d].bandwidth <= 0)
            return false;
    return true;
}

/* What calls take beside kernels and bytes cannot be measured in the midst of the first one: as on an H200, where calls
 * of 1 to 3 small operands took 40 to 120 us. */
static const struct sc_database_calls typical = {true, 12e-6, 12e-6, 10e-6, 20e-6, {0.7, 0.4}, 0.9};

/* Measures, and keeps the result unless something is missing. */
static struct sc_database *measure(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host,
                                   const char *key, int folder, const char *name)
{
    struct sc_measure how = {.ops = ops, .devices = devices, .host = host, .quick = true,
                             .budget = sc_autotuner_budget};
    struct sc_database *db = sc_database_new(key, devices);

    if (!db)
        return NULL;
    db->calls = typical;
    sc_log(SC_LOG_INFO, "the machine is measured, once: some seconds (semcache tune does it better)");
    if (sc_measure(&how, db, NULL) != SC_OK || !is_useful(db)) {
        sc_log(SC_LOG_INFO, "measuring failed; decisions go by what the devices say of themselves");
        sc_database_free(db);
        return NULL;
    }
    sc_store_write(folder, name, db, false);
    return db;
}

static struct sc_database *from_cache(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host,
                                      const char *key)
{
    int folder = sc_store_folder(sc_config.cache_path, true), lock;
    struct sc_database *db;
    char name[64];

    if (folder < 0)
        return NULL;
    sc_store_name(key, false, name, sizeof name);
    db = sc_store_read(folder, name, key, false);
    if (!db && !ops->virtual_seconds && sc_config.tune == SC_TUNE_QUICK && (lock = sc_store_lock(folder)) >= 0) {
        db = measure(ops, devices, host, key, folder, name);
        close(lock);
    }
    close(folder);
    return db;
}

void sc_autotuner_start(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host)
{
    const char *setting = sc_config.database;
    struct sc_database *db;
    char key[4096];

    if (!setting || strcmp(setting, "none") == 0)
        return;
    sc_store_key(ops, devices, host, key, sizeof key);
    db = strcmp(setting, "auto") == 0 ? from_cache(ops, devices, host, key) : sc_store_read_file(setting, key);
    if (db && db->devices != devices) {
        sc_database_free(db);
        db = NULL;
    }
    if (db)
        sc_autotuner_use(db);
}
