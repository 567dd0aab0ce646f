/* Settings: rules L1 to L3 of README.md.  A test compares doc/settings.md with the table. */
#include "libsemcache/config.h"
#include "libsemcache/places.h"
#include "libsemcache/ranks.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/inside.h"
#include "base/log.h"
#include "device/backend.h"

#define PREFIX "SEMCACHE_"
#define TEST_PREFIX "SEMCACHE_TEST_" /* prefix of the tests' variables */
#define KIB ((uint64_t)1 << 10)
#define TIB ((uint64_t)1 << 40)

#define FIELD(member) offsetof(struct sc_config, member)

const struct sc_setting sc_config_settings[] = {
    {.name = "SEMCACHE_DEVICE",
     .kind = SC_SETTING_DEVICE,
     .field = FIELD(device),
     .standard = "auto",
     .values = SC_DEVICE_VALUES,
     .help = "devices to which calls are offloaded"},
    {.name = "SEMCACHE_OFFLOAD",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(offload),
     .standard = "auto",
     .values = "auto, always, never",
     .help = "which calls are offloaded; auto: calls that gain; always: calls of any size (for tests)",
     .choices = {"auto", "always", "never"}},
    {.name = "SEMCACHE_OPEN",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(open),
     .standard = "auto",
     .values = "auto, first, background",
     .help = "when devices are opened; auto: after large calls of half a second in all; first: at the first large "
             "call, which waits; background: the same, while calls run on the host",
     .choices = {"auto", "first", "background"}},
    {.name = "SEMCACHE_SUMMARY",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(summary),
     .standard = "off",
     .values = "off, auto, line, table",
     .help = "summary at exit on stderr; auto, as semcache run sets it: a line if stderr is a terminal",
     .choices = {"off", "auto", "line", "table"}},
    {.name = "SEMCACHE_STATS",
     .kind = SC_SETTING_PATH,
     .field = FIELD(stats),
     .values = "FILE, - for stderr",
     .help = "file for statistics, written at exit; %p stands for the process id"},
    {.name = "SEMCACHE_TRACE",
     .kind = SC_SETTING_PATH,
     .field = FIELD(trace),
     .values = "FILE",
     .help = "file for events; %p stands for the process id"},
    {.name = "SEMCACHE_TRACE_LIMIT",
     .kind = SC_SETTING_BYTES,
     .field = FIELD(trace_limit),
     .standard = "1G",
     .values = "0, BYTES",
     .help = "size of a trace, after which the newest events replace the oldest; 0: no limit",
     .least = 1024 * KIB,
     .most = TIB},
    {.name = "SEMCACHE_EXPLAIN",
     .kind = SC_SETTING_PATH,
     .field = FIELD(explain),
     .values = "FILE, - for stderr",
     .help = "file for the reasons of decisions, written at exit; the library waits for each device call; %p: process "
             "id"},
    {.name = "SEMCACHE_CHECK",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(check),
     .standard = "0",
     .values = "0, 1, 2",
     .help = "1: check the protocol's invariants after transitions that change them, elsewhere in turn; 2: also trap "
             "system calls past libc",
     .choices = {"0", "1", "2"}},
    {.name = "SEMCACHE_VERIFY",
     .kind = SC_SETTING_FLAG,
     .field = FIELD(verify),
     .standard = "0",
     .values = "0, 1",
     .help = "1: repeat every offloaded call on the host, and compare (very slow)"},
    {.name = "SEMCACHE_HOST_BLAS",
     .kind = SC_SETTING_PATH,
     .field = FIELD(host_blas),
     .values = "PATH",
     .help = "library for calls on the host; not set: OpenBLAS"},
    {.name = "SEMCACHE_COMPLEX_RETURN",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(complex_return),
     .standard = "gfortran",
     .values = "gfortran, g77",
     .help = "how zdotu_ and similar functions return a value; g77, also Intel's compilers: through a hidden argument",
     .choices = {"gfortran", "g77"}},
    {.name = "SEMCACHE_MEMORY_LIMIT",
     .kind = SC_SETTING_BYTES,
     .field = FIELD(memory_limit),
     .standard = "0",
     .values = "0, BYTES",
     .help = "memory used on each device; 0: all of the device's memory",
     .least = 64 * KIB, /* with smaller memory a product has too many tiles to end soon */
     .most = 1024 * TIB},
    {.name = "SEMCACHE_LOCAL_RANK",
     .kind = SC_SETTING_RANK,
     .field = FIELD(local_rank),
     .standard = "auto",
     .values = "auto, none, RANK/RANKS",
     .help = "rank of the process among the ranks that share the machine's devices; auto: as MPI's launcher says"},
    {.name = "SEMCACHE_LOG",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(log),
     .standard = "warn",
     .values = "error, warn, info, debug",
     .help = "least important kind of message that is printed",
     .choices = {"error", "warn", "info", "debug"}},
    {.name = "SEMCACHE_MACHINE_PATH",
     .kind = SC_SETTING_PATH,
     .field = FIELD(machine_path),
     .place = &sc_places.machines,
     .values = "FOLDER",
     .help = "folder of the machine files of emulated devices"},
    {.name = "SEMCACHE_MODULE_PATH",
     .kind = SC_SETTING_PATH,
     .field = FIELD(module_path),
     .place = &sc_places.modules,
     .values = "FOLDER",
     .help = "folder of the device modules"},
    {.name = "SEMCACHE_DATABASE",
     .kind = SC_SETTING_PATH,
     .field = FIELD(database),
     .standard = "auto",
     .values = "auto, none, FILE",
     .help = "measurements of the machine, used by decisions; auto: in the cache folder"},
    {.name = "SEMCACHE_TUNE",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(tune),
     .standard = "quick",
     .values = "quick, never",
     .help = "quick: measure unmeasured real devices while a thread opens them and calls run on the host",
     .choices = {"quick", "never"}},
    {.name = "SEMCACHE_METRIC",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(metric),
     .standard = "perf",
     .values = "perf, edp, pdp",
     .help = "aim of the choice of devices: time, energy * time, energy",
     .choices = {"perf", "edp", "pdp"}},
    {.name = "SEMCACHE_SCHEDULE",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(schedule),
     .standard = "auto",
     .values = "auto, owner, cyclic, round-robin, rows, columns, dynamic",
     .help = "strategy that assigns the parts of a product to devices",
     .choices = {"auto", "owner", "cyclic", "round-robin", "rows", "columns", "dynamic"}},
    {.name = "SEMCACHE_HOST_SHARE",
     .kind = SC_SETTING_SHARE,
     .field = FIELD(host_share),
     .standard = "auto",
     .values = "auto, PERCENT (0 to 99)",
     .help = "part of a large product that the host BLAS computes beside the devices; auto: by predicted gain"},
    {.name = "SEMCACHE_ARENA",
     .kind = SC_SETTING_BYTES,
     .field = FIELD(arena_bytes),
     .standard = "4T",
     .values = "BYTES",
     .help = "address space reserved for large allocations",
     .least = 64 * KIB * KIB,
     .most = 64 * TIB},
    {.name = "SEMCACHE_ARENA_MIN",
     .kind = SC_SETTING_BYTES,
     .field = FIELD(arena_min),
     .standard = "8K",
     .values = "BYTES",
     .help = "smallest allocation that can be kept on devices",
     .least = 4 * KIB,
     .most = TIB},
    {.name = "SEMCACHE_TRACK",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(track),
     .standard = "auto",
     .values = "auto, mprotect, wp",
     .help = "how writes to arrays outside malloc are noticed; mprotect: by faults; wp: by the kernel",
     .choices = {"auto", "mprotect", "wp"}},
    {.name = "SEMCACHE_WINDOW_MIN",
     .kind = SC_SETTING_BYTES,
     .field = FIELD(window_min),
     .standard = "256K",
     .values = "BYTES",
     .help = "bytes fetched by a first read fault",
     .least = 4 * KIB,
     .most = TIB},
    {.name = "SEMCACHE_WINDOW_MAX",
     .kind = SC_SETTING_BYTES,
     .field = FIELD(window_max),
     .standard = "64M",
     .values = "BYTES",
     .help = "bytes fetched by a fault in a sequential sweep, at most",
     .least = 4 * KIB,
     .most = TIB},
    {.name = "SEMCACHE_PUSH",
     .kind = SC_SETTING_FLAG,
     .field = FIELD(push),
     .standard = "1",
     .values = "0, 1",
     .help = "1: push results that the program has read before as soon as they are computed, and keep the pages of "
             "vectors and results open during calls"},
    {.name = "SEMCACHE_EXCHANGE",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(exchange),
     .standard = "auto",
     .values = "auto, copy, pull, push",
     .help = "how data goes between devices: by copy engines, by kernels of the receiver, by kernels of the sender",
     .choices = {"auto", "copy", "pull", "push"}},
    {.name = "SEMCACHE_MAX_HOPS",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(max_hops),
     .standard = "1",
     .values = "0, 1, 2",
     .help = "devices on the route of a transfer between two others, where the route is faster",
     .choices = {"0", "1", "2"}},
    {.name = "SEMCACHE_SUBMIT",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(submit),
     .standard = "auto",
     .values = "auto, caller, threads",
     .help = "who submits operations to the driver: the calling thread, or a thread for each device; auto: threads if "
             "there are several devices",
     .choices = {"auto", "caller", "threads"}},
    {.name = "SEMCACHE_UM_KERNELS",
     .kind = SC_SETTING_CHOICE,
     .field = FIELD(um_kernels),
     .standard = "all",
     .values = "host, all, arguments",
     .help = "managed memory that moves to a device for a kernel of the program; host: none, kernels read the host's; "
             "arguments: the blocks that the kernel's parameters point into",
     .choices = {"host", "all", "arguments"}},
    {.name = "SEMCACHE_ADAPTERS",
     .kind = SC_SETTING_FLAG,
     .field = FIELD(adapters),
     .standard = "1",
     .values = "0, 1",
     .help = "1: semcache run starts the adapters of libraries with loops of their own"},
    {.name = "SEMCACHE_EMU_TIMING",
     .kind = SC_SETTING_FLAG,
     .field = FIELD(emu_timing),
     .standard = "0",
     .values = "0, 1",
     .help = "1: emulated devices run only the clock, without data and arithmetic (results are wrong)"},
    {.name = NULL}};

/* --- values ------------------------------------------------------------------------------------------------------- */

static void *field_of(const struct sc_config *config, const struct sc_setting *setting)
{
    return (char *)config + setting->field;
}

/* "3", "16G", "2MiB", "1kB": powers of 1024. */
static bool parse_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    const char *unit;
    char *end;
    unsigned long long number;
    int shift = 0;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno)
        return false;
    if (*end && (unit = strchr(units, toupper((unsigned char)*end))) != NULL) {
        shift = 10 * (int)(unit - units + 1);
        end++;
        if (strcmp(end, "iB") == 0 || strcmp(end, "B") == 0)
            end = strchr(end, '\0');
    }
    if (*end || number > UINT64_MAX >> shift)
        return false;
    *bytes = (uint64_t)number << shift;
    return true;
}

static bool set_text(const char **field, const char *value)
{
    char *copy = strdup(value); /* writing to argv[0] may overwrite the environment */

    if (copy)
        *field = copy;
    return copy != NULL;
}

bool sc_config_set(struct sc_config *config, const struct sc_setting *setting, const char *value)
{
    void *field = field_of(config, setting);
    struct sc_ranks ranks;
    uint64_t bytes;

    switch (setting->kind) {
    case SC_SETTING_DEVICE:
        return sc_device_setting_fits(value) && set_text(field, value);
    case SC_SETTING_RANK:
        return sc_ranks_parse(value, &ranks) && set_text(field, value);
    case SC_SETTING_PATH:
        return set_text(field, value);
    case SC_SETTING_CHOICE:
        for (int i = 0; setting->choices[i]; i++)
            if (strcmp(value, setting->choices[i]) == 0) {
                *(unsigned *)field = (unsigned)i;
                return true;
            }
        return false;
    case SC_SETTING_FLAG:
        if ((*value != '0' && *value != '1') || value[1])
            return false;
        *(int *)field = *value == '1';
        return true;
    case SC_SETTING_SHARE:
        if (strcmp(value, "auto") != 0 && (!isdigit((unsigned char)*value) || strlen(value) > 2 ||
                                           value[strspn(value, "0123456789")]))
            return false;
        *(int *)field = *value == 'a' ? -1 : atoi(value);
        return true;
    case SC_SETTING_BYTES:
        if (!parse_bytes(value, &bytes))
            return false;
        if ((bytes || *setting->values != '0') && (bytes < setting->least || bytes > setting->most))
            return false;
        *(uint64_t *)field = bytes;
        return true;
    }
    return false;
}

static void format_bytes(uint64_t bytes, char *text, size_t room)
{
    static const char units[] = "KMGT";
    char unit[2] = "";

    for (int i = 0; i < 4 && bytes && bytes % 1024 == 0; i++) {
        bytes /= 1024;
        unit[0] = units[i];
    }
    snprintf(text, room, "%" PRIu64 "%s", bytes, unit);
}

void sc_config_format(const struct sc_config *config, const struct sc_setting *setting, char *text, size_t bytes)
{
    const void *field = field_of(config, setting);

    switch (setting->kind) {
    case SC_SETTING_DEVICE:
    case SC_SETTING_RANK:
    case SC_SETTING_PATH:
        snprintf(text, bytes, "%s", *(const char *const *)field ? *(const char *const *)field : "");
        break;
    case SC_SETTING_CHOICE:
        snprintf(text, bytes, "%s", setting->choices[*(const unsigned *)field]);
        break;
    case SC_SETTING_FLAG:
        snprintf(text, bytes, "%d", *(const int *)field);
        break;
    case SC_SETTING_SHARE:
        snprintf(text, bytes, *(const int *)field < 0 ? "auto" : "%d", *(const int *)field);
        break;
    case SC_SETTING_BYTES:
        format_bytes(*(const uint64_t *)field, text, bytes);
        break;
    }
}

/* --- the environment ---------------------------------------------------------------------------------------------- */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* The number of insertions, deletions and replacements that turn a (of length n) into b, a name of the table. */
static size_t distance(const char *a, size_t n, const char *b)
{
    size_t row[40], width = strlen(b);

    if (width >= sizeof row / sizeof row[0])
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 0; i < n; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < width; j++) {
            size_t replaced = diagonal + (a[i] != b[j]);

            diagonal = row[j + 1];
            row[j + 1] = smaller(replaced, smaller(row[j], row[j + 1]) + 1);
        }
    }
    return row[width];
}

static void report_unknown(const char *name, size_t length)
{
    const struct sc_setting *nearest = NULL;
    size_t least = SIZE_MAX;

    for (const struct sc_setting *s = sc_config_settings; s->name; s++) {
        size_t d = distance(name, length, s->name);

        if (d < least) {
            least = d;
            nearest = s;
        }
    }
    sc_log(SC_LOG_WARN, "there is no setting %.*s, it is ignored (the nearest name is %s)", (int)smaller(length, 100),
           name, nearest->name);
}

static const struct sc_setting *find(const char *name, size_t length)
{
    for (const struct sc_setting *s = sc_config_settings; s->name; s++)
        if (strlen(s->name) == length && memcmp(s->name, name, length) == 0)
            return s;
    return NULL;
}

static void report_value(const struct sc_config *config, const struct sc_setting *setting, const char *value)
{
    char kept[256], least[32], most[32], range[80] = "";

    sc_config_format(config, setting, kept, sizeof kept);
    if (setting->kind == SC_SETTING_BYTES) {
        format_bytes(setting->least, least, sizeof least);
        format_bytes(setting->most, most, sizeof most);
        snprintf(range, sizeof range, " from %s to %s", least, most);
    }
    sc_log(SC_LOG_WARN, "%s=%.100s is not allowed, %s is kept (allowed: %s%s)", setting->name, value, kept,
           setting->values, range);
}

static void apply(struct sc_config *config, const struct sc_setting *setting, const char *value)
{
    if (*value && !sc_config_set(config, setting, value)) /* an empty value counts as not given */
        report_value(config, setting, value);
}

static void set_defaults(struct sc_config *config)
{
    *config = (struct sc_config){0};
    for (const struct sc_setting *s = sc_config_settings; s->name; s++)
        if (s->standard || s->place)
            sc_config_set(config, s, s->place ? *s->place : s->standard);
}

/* By the XDG base directory specification a relative path is ignored. */
static void set_cache_path(struct sc_config *config, char *const *environment)
{
    const char *cache = NULL, *home = NULL;
    char path[4096];

    for (; *environment; environment++) {
        if (strncmp(*environment, "XDG_CACHE_HOME=", 15) == 0)
            cache = *environment + 15;
        else if (strncmp(*environment, "HOME=", 5) == 0)
            home = *environment + 5;
    }
    if (cache && *cache == '/')
        snprintf(path, sizeof path, "%s/semcache", cache);
    else if (home && *home == '/')
        snprintf(path, sizeof path, "%s/.cache/semcache", home);
    else
        return;
    set_text(&config->cache_path, path);
}

/* With log_only, only SEMCACHE_LOG: the value filters messages about further variables. */
static void apply_environment(struct sc_config *config, char *const *environment, bool log_only)
{
    for (; *environment; environment++) {
        const char *entry = *environment, *equals = strchr(entry, '=');
        const struct sc_setting *setting;

        if (!equals || strncmp(entry, PREFIX, sizeof PREFIX - 1) != 0 ||
            strncmp(entry, TEST_PREFIX, sizeof TEST_PREFIX - 1) == 0)
            continue;
        setting = find(entry, (size_t)(equals - entry));
        if (log_only) {
            if (setting && setting->field == FIELD(log))
                apply(config, setting, equals + 1);
        } else if (!setting) {
            report_unknown(entry, (size_t)(equals - entry));
        } else if (setting->field != FIELD(log)) {
            apply(config, setting, equals + 1);
        }
    }
}

void sc_config_load(struct sc_config *config, char *const *environment, bool trusted)
{
    struct sc_ranks ranks = {0, 1, NULL};

    sc_inside_enter(); /* the copies of strings belong to the library */
    set_defaults(config);
    sc_log_threshold = config->log;
    if (trusted && environment) {
        apply_environment(config, environment, true);
        sc_log_threshold = config->log;
        apply_environment(config, environment, false);
        set_cache_path(config, environment);
        ranks = sc_ranks_find(config->local_rank, environment);
    }
    config->rank = ranks.rank;
    config->ranks = ranks.ranks;
    config->rank_source = ranks.source;
    sc_log_threshold = config->log;
    if (config->window_max < config->window_min) {
        sc_log(SC_LOG_WARN, "SEMCACHE_WINDOW_MAX is less than SEMCACHE_WINDOW_MIN; both are SEMCACHE_WINDOW_MIN now");
        config->window_max = config->window_min;
    }
    sc_inside_leave();
}
/* SPDX-License-Identifier: BSD-2-Clause */
