/* The energy counters of the host's processors, read from folders made like those of Linux's powercap. Asserts the
 * joules of packages and memory without double counting, across a counter that wraps around, and without counters. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "autotuner/joules.h"
#include "autotuner/measure.h"
#include "tests/device_common.h"

static char folder[] = "/tmp/semcache-test-XXXXXX";

/* Replaces the file at once, since the counter may be read meanwhile. */
static void put(const char *zone, const char *file, const char *text)
{
    char path[256], new[256];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", folder, zone);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", folder, zone, file);
    snprintf(new, sizeof new, "%s/new", folder);
    out = fopen(new, "w");
    if (!out || fprintf(out, "%s\n", text) < 0 || fclose(out) || rename(new, path))
        exit(99);
}

static void count(const char *zone, unsigned long long microjoules)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", microjoules);
    put(zone, "energy_uj", text);
}

static void make(const char *zone, const char *name, unsigned long long microjoules)
{
    put(zone, "name", name);
    put(zone, "max_energy_range_uj", "10000000");
    count(zone, microjoules);
}

static void test_reader(void)
{
    static struct sc_joules meter, other;
    double joules = -1;

    tap_ok(!sc_joules_read(&meter, &joules), "no counters: not known");
    make("intel-rapl:0", "package-0", 5000000);
    make("intel-rapl:0:0", "core", 1000000);
    make("intel-rapl:0:1", "dram", 2000000);
    make("intel-rapl:1", "psys", 9000000);
    make("dtpm", "package-9", 1000000);
    tap_ok(sc_joules_read(&meter, &joules) && joules == 0, "from the first look on");
    count("intel-rapl:0", 6500000);
    count("intel-rapl:0:0", 2000000);
    count("intel-rapl:0:1", 2250000);
    count("intel-rapl:1", 9999999);
    count("dtpm", 9999999);
    tap_ok(sc_joules_read(&meter, &joules) && joules == 1.75, "packages and memory, nothing twice");
    count("intel-rapl:0", 500000);
    tap_ok(sc_joules_read(&meter, &joules) && joules == 5.75, "a counter that began again");
    tap_ok(sc_joules_read(&other, &joules) && joules == 0, "each meter by itself");
    put("intel-rapl:0", "energy_uj", "?");
    tap_ok(!sc_joules_read(&meter, &joules), "what is no number is not believed");
    count("intel-rapl:0", 0);
}

/* --- in the measurements ------------------------------------------------------------------------------------------ */

/* Replaces the C library's nanosleep: the host rests, and has used 3 J afterwards. */
int __wrap_nanosleep(const struct timespec *pause, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *rest)
{
    (void)pause, (void)rest;
    count("intel-rapl:0:1", 5250000);
    return 0;
}

static bool at_rest;
static struct seen {
    bool stopped;
    int done, total;
} seen; /* last */
static void see(void *arg, const char *what, int done, int total)
{
    (void)arg;
    seen = (struct seen){strcmp(what, "stopped") == 0, done, total};
    at_rest = at_rest || !strcmp(what, "host at rest");
}
static bool after_that(void *arg) { return (void)arg, at_rest; }

/* Ends with the host's rest. */
static double idle_watts(bool quick)
{
    struct sc_measure how = {.host = device_host(), .quick = quick, .links_only = true, .progress = see,
                             .stop = after_that};
    struct sc_database *db;
    double watts;

    if (sc_device_open(device_host(), "emu:k40x3:1", &how.ops, &how.devices) != SC_OK)
        exit(99);
    db = sc_database_new("test", how.devices);
    at_rest = quick;
    if (sc_measure(&how, db, NULL) != SC_OK)
        tap_ok(0, "measured");
    watts = db->idle_watts[SC_PLACE_HOST];
    sc_database_free(db);
    how.ops->close();
    return watts;
}

static void test_measured(void)
{
    tap_ok(idle_watts(false) > 0, "watts of the host at rest");
    tap_ok(seen.stopped && seen.done > 0 && seen.done < seen.total, "stopped: at %d of %d", seen.done, seen.total);
    count("intel-rapl:0:1", 2250000);
    tap_ok(idle_watts(true) == 0, "not in the quick version");
    sc_joules_folder = "/nonexistent";
    tap_ok(idle_watts(false) == 0, "nor without counters");
}

int main(void)
{
    char command[64];

    if (!host_blas_symbol("dgemm_"))
        tap_skip_all("no host BLAS");
    if (!mkdtemp(folder))
        return 99;
    sc_joules_folder = folder;
    test_reader();
    test_measured();
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) ? 99 : tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
