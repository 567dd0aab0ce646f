/* The source of a program's measurements: no source, a file, the cache, or measurements made while the devices are
 * opened. Measurements are made on real devices only (here: emulated devices without a virtual clock), beside the
 * program's calls and never in front of a call. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autotuner/measure.h"
#include "autotuner/start.h"
#include "autotuner/store.h"
#include "tests/device_common.h"

static char folder[] = "/tmp/semcache-test-XXXXXX", cache[64];
static struct sc_device_ops real; /* emulated devices without a virtual clock */
static const struct sc_device_ops *emulated;
static int devices;

/* The name of the only file with this suffix in the cache, or NULL. */
static const char *file_of(const char *suffix)
{
    static char path[512];
    DIR *dir = opendir(cache);
    const char *found = NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strstr(entry->d_name, suffix)) {
            snprintf(path, sizeof path, "%s/%s", cache, entry->d_name);
            found = path;
        }
    if (dir)
        closedir(dir);
    return found;
}

static const char *kept(void) { return file_of(".database"); }

static int asked; /* number of questions until the answer is to stop */

static bool stop(void *none)
{
    (void)none;
    return asked == 0 || --asked == 0;
}

static bool never(void *none)
{
    (void)none;
    return false;
}

/* The database as seen by a call that waits for the devices. */
static const struct sc_database *take(const struct sc_device_ops *ops, const char *database, enum sc_tune tune)
{
    sc_config.database = database;
    sc_config.tune = tune;
    sc_autotuner_start(ops, devices, device_host());
    return sc_autotuner_database();
}

/* Opened in the background before. */
static const struct sc_database *start(const struct sc_device_ops *ops, const char *database, enum sc_tune tune)
{
    sc_config.database = database;
    sc_config.tune = tune;
    sc_autotuner_prepare(ops, devices, device_host(), never);
    return take(ops, database, tune);
}

static bool kernels_at(const struct sc_database *db, int place)
{
    for (int i = 0; i < db->kernels; i++)
        if (db->kernel[i].place == place)
            return true;
    return false;
}

static void test_in_front(void)
{
    tap_ok(!take(&real, "auto", SC_TUNE_QUICK) && !kept(), "nothing is measured in front of a call");
    asked = 5;
    sc_autotuner_prepare(&real, devices, device_host(), stop);
    tap_ok(asked == 0 && !kept(), "what is measured behind ends when somebody waits, and is no database");
    tap_ok(file_of(".begun") != NULL, "but kept for the next process");
}

enum { LIVES = 1000, STEPS = 8 };

/* Measures a few steps in each of many processes' lives, until there is a database. Returns the number of lives. */
static int lives(void)
{
    int count = 0;

    while (!kept() && count < LIVES) {
        asked = STEPS;
        sc_config.tune = SC_TUNE_QUICK;
        sc_autotuner_prepare(&real, devices, device_host(), stop);
        if (asked == STEPS) /* another process measures */
            usleep(20000);
        count++;
    }
    return count;
}

static void test_short(void)
{
    int count = lives();

    tap_ok(kept() && count > 1 && count < LIVES, "%d programs that are too short make a database together", count);
    tap_ok(!file_of(".begun"), "and leave nothing else");
    if (kept())
        unlink(kept());
}

/* Nobody waits; a share of nothing is one measurement. */
static void test_share(void)
{
    double all = sc_autotuner_share;

    sc_autotuner_share = 0;
    sc_config.tune = SC_TUNE_QUICK;
    asked = LIVES;
    sc_autotuner_prepare(&real, devices, device_host(), stop);
    tap_ok(LIVES - asked <= 4 && !kept() && file_of(".begun"), "a program measures its share, and asks %d times",
           LIVES - asked);
    sc_autotuner_share = all;
    if (file_of(".begun"))
        unlink(file_of(".begun"));
}

static bool open_real(void)
{
    if (sc_device_open(device_host(), "emu:k40x3:2", &emulated, &devices) != SC_OK)
        return false;
    real = *emulated;
    real.virtual_seconds = NULL;
    return true;
}

/* Several such processes at once. Before this process has threads. */
static void test_at_once(void)
{
    int good = 0, status;

    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            bool done = open_real() && lives() < LIVES && take(&real, "auto", SC_TUNE_QUICK);

            if (done)
                emulated->close();
            _exit(!done);
        }
    for (int i = 0; i < 2; i++)
        good += wait(&status) > 0 && status == 0;
    tap_ok(good == 2 && kept() && !file_of(".begun"), "two such series at once make a database that each reads");
    if (kept())
        unlink(kept());
}

static void test_without(void)
{
    tap_ok(!start(&real, "none", SC_TUNE_QUICK) && !kept(), "none: none are made");
    tap_ok(!start(&real, "auto", SC_TUNE_NEVER) && !kept(), "never: neither");
    tap_ok(!start(emulated, "auto", SC_TUNE_QUICK) && !kept(), "emulated devices are not measured in a program");
    sc_config.cache_path = NULL;
    tap_ok(!start(&real, "auto", SC_TUNE_QUICK), "without a folder to keep them neither");
    sc_config.cache_path = cache;
}

static void test_busy(void)
{
    int at = sc_store_folder(cache, false), lock = sc_store_lock(at);

    tap_ok(!start(&real, "auto", SC_TUNE_QUICK) && !kept(), "while another process measures, this one does without");
    close(lock);
    close(at);
}

static void test_made(void)
{
    const struct sc_database *db = start(&real, "auto", SC_TUNE_QUICK);
    struct stat about;
    time_t written;
    char key[4096];

    tap_ok(db && db->quick && db->devices == devices && db->link[SC_PLACE_HOST][0].bandwidth > 0,
           "auto: they are made");
    tap_ok(db && kernels_at(db, 0) && !kernels_at(db, SC_PLACE_HOST),
           "of the devices; the host is the program's meanwhile");
    if (!tap_ok(kept() && stat(kept(), &about) == 0 && (about.st_mode & 0777) == 0600, "and kept"))
        return;
    written = about.st_mtim.tv_nsec;
    tap_ok(start(&real, "auto", SC_TUNE_QUICK) != db && stat(kept(), &about) == 0 && about.st_mtim.tv_nsec == written,
           "the next program reads them");
    db = start(&real, kept(), SC_TUNE_QUICK);
    sc_store_key(&real, devices, device_host(), key, sizeof key);
    tap_ok(db && strcmp(db->machine, key) == 0, "or a file that is named");
}

/* The clock of the devices. It does not move with the load of this machine. */
static double waited; /* s */

static double seconds(void) { return emulated->virtual_seconds() + waited; }

static bool late; /* every dgemv waits, as beside a program that uses all processors */

static enum sc_status launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    if (late && kernel->op == SC_OP_GEMV)
        waited += 0.1;
    return emulated->launch(device, stream, kernel);
}

static bool knows(const struct sc_database *db, enum sc_op op)
{
    for (int i = 0; db && i < db->kernels; i++)
        if (db->kernel[i].place == 0 && db->kernel[i].op == op)
            return true;
    return false;
}

static void test_disturbed(void)
{
    struct sc_device_ops busy = *emulated;
    struct sc_measure how = {.ops = &busy, .devices = devices, .host = device_host(), .quick = true,
                             .devices_only = true};

    busy.launch = launch;
    busy.virtual_seconds = seconds;
    for (int i = 0; i < 2; i++) {
        struct sc_database *db = sc_database_new("a machine", devices);

        late = i;
        tap_ok(db && sc_measure(&how, db, NULL) == SC_OK && knows(db, SC_OP_DOT) && knows(db, SC_OP_GEMV) == !late,
               late ? "a figure that the program has disturbed is not kept" : "undisturbed figures are kept");
        sc_database_free(db);
    }
}

int main(void)
{
    if (!host_blas_symbol("dgemm_")) {
        printf("1..0 # SKIP no host BLAS\n");
        return 0;
    }
    if (!mkdtemp(folder))
        return 1;
    snprintf(cache, sizeof cache, "%s/semcache", folder);
    sc_config.cache_path = cache;
    sc_autotuner_share = 60; /* the speed of a busy machine is not tested */
    sc_config.database = "auto";
    test_at_once();
    if (!open_real())
        return 1;
    test_without();
    test_in_front();
    test_short();
    test_share();
    test_busy();
    test_made();
    test_disturbed();
    emulated->close();
    if (kept())
        unlink(kept());
    snprintf(cache, sizeof cache, "%s/semcache/lock", folder);
    unlink(cache);
    snprintf(cache, sizeof cache, "%s/semcache", folder);
    tap_ok(rmdir(cache) == 0 && rmdir(folder) == 0, "nothing else is left");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
