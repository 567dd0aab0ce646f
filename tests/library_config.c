/* The table of settings: defaults, values of every kind, refused values with their messages, and the manual. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "libsemcache/config.h"
#include "tests/heard.h"
#include "tests/tap.h"

static struct sc_config config;
static int said_lines;

/* Loads the settings from one or two variables, and keeps the output on stderr. */
static void load(const char *first, const char *second)
{
    char *environment[] = {(char *)"PATH=/bin", (char *)first, (char *)second, NULL};

    heard_listen();
    sc_config_load(&config, environment, true);
    said_lines = heard();
}

static const struct sc_setting *setting(const char *name)
{
    for (const struct sc_setting *s = sc_config_settings; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

static void test_defaults(void)
{
    struct sc_config base = sc_config; /* the defaults of tests that load no table */
    char text[256];

    load(NULL, NULL);
    tap_ok(!*said, "nothing is said about an environment without settings");
    tap_ok(strcmp(config.device, "auto") == 0, "the default device is auto");
    tap_ok(!config.stats && !config.trace && !config.host_blas, "files are not set");
    tap_ok(config.offload == base.offload && config.log == base.log && config.check == base.check &&
               config.memory_limit == base.memory_limit && config.emu_timing == base.emu_timing,
           "defaults agree with base/config.c");
    tap_ok(config.arena_bytes == base.arena_bytes && config.arena_min == base.arena_min &&
               config.window_min == base.window_min && config.window_max == base.window_max,
           "and so do the sizes");
    for (const struct sc_setting *s = sc_config_settings; s->name; s++) {
        sc_config_format(&config, s, text, sizeof text);
        tap_ok(strcmp(text, s->place ? *s->place : s->standard ? s->standard : "") == 0,
               "%s prints as its default", s->name);
    }
}

static void test_values(void)
{
    load("SEMCACHE_MEMORY_LIMIT=3G", "SEMCACHE_DEVICE=emu:k20x2:1");
    tap_ok(config.memory_limit == (uint64_t)3 << 30 && !*said, "3G");
    tap_ok(strcmp(config.device, "emu:k20x2:1") == 0, "an emulated device");
    load("SEMCACHE_MEMORY_LIMIT=1048577", "SEMCACHE_WINDOW_MAX=2MiB");
    tap_ok(config.memory_limit == 1048577 && config.window_max == 2 << 20, "plain bytes, MiB");
    load("SEMCACHE_OFFLOAD=never", "SEMCACHE_LOG=debug");
    tap_ok(config.offload == SC_OFFLOAD_NEVER && config.log == SC_LOG_DEBUG, "choices");
    load("SEMCACHE_SCHEDULE=round-robin", NULL);
    tap_ok(config.schedule == SC_STRATEGY_ROUND_ROBIN && !*said, "a strategy");
    load("SEMCACHE_SCHEDULE=dynamic", NULL);
    tap_ok(config.schedule == SC_STRATEGY_DYNAMIC, "the last one of the table");
    load("SEMCACHE_SCHEDULE=blasx", NULL);
    tap_ok(config.schedule == SC_STRATEGY_AUTO && said_lines == 1 && strstr(said, "cyclic") && strstr(said, "rows"),
           "one that does not exist: one line with those that do");
    load("SEMCACHE_CHECK=1", "SEMCACHE_STATS=-");
    tap_ok(config.check == 1 && strcmp(config.stats, "-") == 0, "a flag, a file");
    load("SEMCACHE_TRACE=", "SEMCACHE_CHECK=");
    tap_ok(!config.trace && !config.check && !*said, "given empty is not given");
    load("SEMCACHE_TEST_ANYTHING=1", NULL);
    tap_ok(!*said, "the tests' own variables are passed over");
    load("SEMCACHE_WINDOW_MIN=1M", "SEMCACHE_WINDOW_MAX=64K");
    tap_ok(config.window_max == config.window_min && said_lines == 1, "windows the wrong way round are put right");
}

static void test_cache(void)
{
    load("HOME=/home/somebody", NULL);
    tap_ok(config.cache_path && strcmp(config.cache_path, "/home/somebody/.cache/semcache") == 0,
           "the cache of a home");
    load("HOME=/home/somebody", "XDG_CACHE_HOME=/var/c");
    tap_ok(strcmp(config.cache_path, "/var/c/semcache") == 0, "XDG_CACHE_HOME goes before it");
    load("HOME=/home/somebody", "XDG_CACHE_HOME=relative");
    tap_ok(strcmp(config.cache_path, "/home/somebody/.cache/semcache") == 0, "unless it is relative");
    load("HOME=", NULL);
    tap_ok(!config.cache_path && !*said, "or there is none");
}

static void test_refused(const char *name, const char *value)
{
    char variable[256], before[256], after[256];

    load(NULL, NULL);
    sc_config_format(&config, setting(name), before, sizeof before);
    snprintf(variable, sizeof variable, "%s=%s", name, value);
    load(variable, NULL);
    sc_config_format(&config, setting(name), after, sizeof after);
    if (!tap_ok(strcmp(before, after) == 0 && said_lines == 1 && strstr(said, variable) && strstr(said, "allowed"),
                "%s is refused", variable))
        tap_diag("%s", said);
}

static void test_bad(void)
{
    static const char *const devices[] = {"gpu", "cuda:", "cuda:0,", "cuda:a", "cuda0", "emu", "emu:", "emu:x:",
                                          "emu:x:0", "emu:x:1,2", "emu::1", "auto ", "auto:1", "NONE", "null:",
                                          "null:0", "null:1,2", "nul"};
    static const char *const sizes[] = {"-1",        "1X",  "G",   "99999999999999999999",
                                        "20000000T", "1 G", "1GG", "0x10", "1K"};

    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        test_refused("SEMCACHE_DEVICE", devices[i]);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        test_refused("SEMCACHE_MEMORY_LIMIT", sizes[i]);
    test_refused("SEMCACHE_ARENA_MIN", "1");
    test_refused("SEMCACHE_OFFLOAD", "sometimes");
    test_refused("SEMCACHE_CHECK", "yes");
    test_refused("SEMCACHE_LOG", "2");
}

static void test_unknown(void)
{
    load("SEMCACHE_DEVICES=none", NULL);
    tap_ok(said_lines == 1 && strstr(said, "SEMCACHE_DEVICES,") && strstr(said, "nearest name is SEMCACHE_DEVICE)"),
           "a name too long gets the nearest");
    load("SEMCACHE_MEMLIMIT=1G", NULL);
    tap_ok(strstr(said, "SEMCACHE_MEMORY_LIMIT)") != NULL, "a name too short too");
    load("SEMCACHE_OFFLAOD=never", "SEMCACHE_LOG=error");
    tap_ok(!*said, "with SEMCACHE_LOG=error nothing is said");
    load("SEMCACHE_LOG=verbose", "SEMCACHE_STAT=x");
    tap_ok(said_lines == 2, "one line for each mistake");
}

static void test_untrusted(void)
{
    char *environment[] = {(char *)"SEMCACHE_STATS=/etc/passwd", (char *)"SEMCACHE_HOST_BLAS=/tmp/evil.so", NULL};

    sc_config_load(&config, environment, false);
    tap_ok(!config.stats && !config.host_blas && strcmp(config.device, "auto") == 0,
           "a set-user-id program gets the defaults");
}

/* The manual's text for defaults that depend on the configuration. */
static const char *manual_default(const struct sc_setting *s)
{
    if (strcmp(s->name, "SEMCACHE_MACHINE_PATH") == 0)
        return "`DATADIR/semcache/machines`";
    if (strcmp(s->name, "SEMCACHE_MODULE_PATH") == 0)
        return "`LIBDIR/semcache`";
    return s->standard ? s->standard : "not set";
}

static void test_manual(void)
{
    char path[4096], row[512], manual[16384];
    const char *top = getenv("top_srcdir");
    FILE *file;
    size_t n;
    int rows = 0, expected = 2; /* the table's head */

    snprintf(path, sizeof path, "%s/doc/settings.md", top ? top : ".");
    file = fopen(path, "r");
    if (!tap_ok(file != NULL, "there is a doc/settings.md"))
        return;
    n = fread(manual, 1, sizeof manual - 1, file);
    manual[n] = '\0';
    fclose(file);
    for (const struct sc_setting *s = sc_config_settings; s->name; s++) {
        snprintf(row, sizeof row, "| `%s` | %s | %s | %s |\n", s->name, s->values, manual_default(s), s->help);
        if (!tap_ok(strstr(manual, row) != NULL, "%s is in the manual as in the table", s->name))
            tap_diag("wanted: %s", row);
        expected++;
    }
    for (const char *at = manual; (at = strstr(at, "\n|")) != NULL; at++)
        rows++;
    tap_ok(rows == expected, "the manual has no other settings");
}

int main(void)
{
    test_defaults();
    test_values();
    test_cache();
    test_bad();
    test_unknown();
    test_untrusted();
    test_manual();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
