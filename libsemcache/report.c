/* Reports at the end of the process: statistics, summary, explanation and trace. */
#include <config.h>

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "autotuner/explain.h"
#include "base/config.h"
#include "base/write.h"
#include "blas/blas.h"
#include "coherence/call.h"
#include "coherence/devices.h"
#include "libsemcache/config.h"
#include "libsemcache/library.h"
#include "libsemcache/summary.h"
#include "trace/file.h"
#include "trace/trace.h"

static struct timespec loaded;
static pid_t process; /* the process that loaded the library */
static char *snapshot;
static size_t snapshot_bytes;
static char *summary;
static size_t summary_bytes;

void sc_report_begin(void)
{
    clock_gettime(CLOCK_MONOTONIC, &loaded);
    process = getpid();
}

static double wall_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - loaded.tv_sec) + (double)(now.tv_nsec - loaded.tv_nsec) * 1e-9;
}

/* Paths are private and left out of the trace. */
void sc_report_settings(void)
{
    char text[PATH_MAX + 64];

    for (const struct sc_setting *setting = sc_config_settings; setting->name; setting++) {
        size_t used = (size_t)snprintf(text, sizeof text, "%s=", setting->name);

        if (setting->kind == SC_SETTING_PATH)
            continue;
        sc_config_format(&sc_config, setting, text + used, sizeof text - used);
        sc_trace_setting(text);
    }
}

static bool opened; /* devices; with libsemcache-cuda-um CUDA may have made all calls there */

/* `names` has SC_DEVICES_MAX elements. */
static struct sc_stats_extra extra_now(const char **names)
{
    struct sc_stats_extra extra = {.device_names = names, .virtual_seconds = -1, .wall_seconds = wall_seconds()};

    if (sc_library_life() == SC_LIBRARY_RUNNING || sc_library_life() == SC_LIBRARY_ENDING) {
        extra.devices = sc_coherence_devices();
        extra.virtual_seconds = sc_coherence_virtual_seconds();
    }
    opened |= extra.devices > 0;
    for (int i = 0; i < extra.devices; i++)
        names[i] = sc_coherence_device_properties(i)->name;
    sc_blas_counts_collect();
    return extra;
}

enum sc_status sc_library_statistics(FILE *out)
{
    const char *names[SC_DEVICES_MAX];
    struct sc_stats_extra extra = extra_now(names);

    return sc_stats_write(out, &extra);
}

static uint64_t nanoseconds(double seconds) { return seconds > 0 ? (uint64_t)(seconds * 1e9) : 0; }

/* Only while there are devices. */
static void trace_time(void)
{
    if (sc_library_life() == SC_LIBRARY_RUNNING || sc_library_life() == SC_LIBRARY_ENDING)
        sc_trace(.kind = SC_EVENT_TIME, .time = {nanoseconds(wall_seconds()),
                                                 nanoseconds(sc_coherence_virtual_seconds())});
}

static bool wants_summary(void)
{
    return sc_config.summary >= SC_SUMMARY_LINE || (sc_config.summary == SC_SUMMARY_AUTO && isatty(STDERR_FILENO));
}

static void take_summary(void)
{
    const char *names[SC_DEVICES_MAX];
    struct sc_stats_extra extra = extra_now(names);
    FILE *out = open_memstream(&summary, &summary_bytes);

    if (!out)
        return;
    if (sc_config.summary == SC_SUMMARY_TABLE)
        sc_summary_table(out, &extra);
    else
        sc_summary_line(out, &extra);
    fclose(out);
}

void sc_report_snapshot(void)
{
    FILE *out;

    trace_time();
    if (!summary && wants_summary())
        take_summary();
    if (snapshot || !sc_config.stats)
        return;
    out = open_memstream(&snapshot, &snapshot_bytes);
    if (!out)
        return;
    sc_library_statistics(out);
    fclose(out);
}

static bool made_calls(void)
{
    sc_blas_counts_collect();
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++)
        if (sc_stats.offloaded[i] || sc_stats.host[i])
            return true;
    return false;
}

/* Under `semcache run sh script` the shell ends last.  A process without BLAS calls and devices therefore keeps a file
 * of statistics that another process has written, and prints nothing to stderr.  A forked child keeps its parent's
 * file. */
static bool is_ours_to_write(void)
{
    if (strstr(sc_config.stats, "%p"))
        return true;
    if (getpid() != process)
        return false;
    return opened || made_calls() || (strcmp(sc_config.stats, "-") != 0 && access(sc_config.stats, F_OK) != 0);
}

static void write_text(const char *path, enum sc_file_kind kind, const char *text, size_t bytes)
{
    if (strcmp(path, "-") == 0)
        sc_write_all(STDERR_FILENO, text, bytes); /* errors have no recipient if stderr is closed */
    else
        sc_trace_write_file(path, 0600, kind, text, bytes);
}

static void write_statistics(void)
{
    if (snapshot && is_ours_to_write())
        write_text(sc_config.stats, SC_FILE_STATISTICS, snapshot, snapshot_bytes);
}

/* Only for a process that made decisions. */
static void write_explanation(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out;

    if (!sc_explain_on || getpid() != process || !sc_config.explain || !(out = open_memstream(&text, &bytes)))
        return;
    sc_explain_write(out);
    if (fclose(out) == 0 && bytes)
        write_text(sc_config.explain, SC_FILE_EXPLANATION, text, bytes);
    free(text);
}

/* Only for a process that made calls, not for its shell. */
static void write_summary(void)
{
    if (summary && getpid() == process && (made_calls() || sc_library_own_name()))
        sc_write_all(STDERR_FILENO, summary, summary_bytes);
}

void sc_report_end(void)
{
    sc_report_snapshot();
    write_summary();
    write_statistics();
    write_explanation();
    sc_trace_stop();
}
/* SPDX-License-Identifier: BSD-2-Clause */
