/* semcache trace replay: runs the replaying program (replay.c) and prints its figures beside the recorded figures.
 * The same code adds up both traces. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/tool.h"
#include "trace/totals.h"

/* --- settings ----------------------------------------------------------------------------------------------------- */

/* Settings of the run, without the settings of observation (trace, statistics). */
static const char *const kept[] = {"SEMCACHE_DEVICE",     "SEMCACHE_OFFLOAD",    "SEMCACHE_MEMORY_LIMIT",
                                   "SEMCACHE_ARENA_MIN",  "SEMCACHE_WINDOW_MIN", "SEMCACHE_WINDOW_MAX",
                                   "SEMCACHE_EMU_TIMING"};

/* The recorded value of a setting, or "". */
static const char *recorded(const struct sc_trace_reading *trace, const char *name, char *value, size_t bytes)
{
    size_t length = strlen(name);

    *value = '\0';
    for (size_t i = 0; i < trace->setting_count; i++) {
        const struct sc_trace_text *text = &trace->settings[i];

        if (text->bytes > length && memcmp(text->at, name, length) == 0 && text->at[length] == '=')
            snprintf(value, bytes, "%.*s", (int)(text->bytes - length - 1 < 255 ? text->bytes - length - 1 : 255),
                     text->at + length + 1);
    }
    return value;
}

static void set_as_recorded(const struct sc_trace_reading *trace)
{
    char value[256];

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (*recorded(trace, kept[i], value, sizeof value))
            setenv(kept[i], value, 0);
}

/* --- running ------------------------------------------------------------------------------------------------------ */

/* Exit status of the replaying program; 126 if the program cannot be run. */
static int run(const char *tool, const char *file)
{
    const char *replayer = sc_tool_replayer();
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        if (sc_tool_preload(tool) == 0) {
            execl(replayer, replayer, file, (char *)NULL);
            fprintf(stderr, "%s: cannot run %s: %s\n", tool, replayer, strerror(errno));
        }
        _exit(126);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && WIFEXITED(status))
        return WEXITSTATUS(status);
    fprintf(stderr, "%s: %s\n", tool, child < 0 ? strerror(errno) : "the replay died of a signal");
    return EXIT_FAILURE;
}

/* --- report ------------------------------------------------------------------------------------------------------- */

static void put_count(const char *what, uint64_t before, uint64_t now)
{
    printf("%-34s %16" PRIu64 " %16" PRIu64 "\n", what, before, now);
}

static void put_seconds(const char *what, double before, double now)
{
    printf("%-34s %16.6f %16.6f\n", what, before, now);
}

static void put_settings(const struct sc_trace_reading *trace)
{
    char value[256];
    const char *now;

    for (size_t i = 0; i < 2; i++) {
        now = getenv(kept[i]);
        printf("%-34s %16s %16s\n", kept[i], recorded(trace, kept[i], value, sizeof value), now ? now : "");
    }
}

static void report(const struct sc_trace_reading *trace, const struct sc_trace_totals *before,
                   const struct sc_trace_totals *now)
{
    static const char *const ways[SC_TRANSFERS] = {"to devices", "to the host", "between devices"};
    char what[64];

    printf("%-34s %16s %16s\n", "", "recorded", "replayed");
    put_settings(trace);
    put_count("calls on devices", before->all.calls_devices, now->all.calls_devices);
    put_count("large calls on the host", before->all.calls_host, now->all.calls_host);
    for (int way = 0; way < SC_TRANSFERS; way++) {
        snprintf(what, sizeof what, "bytes %s", ways[way]);
        put_count(what, before->all.bytes[way], now->all.bytes[way]);
    }
    for (int way = 0; way < SC_TRANSFERS; way++) {
        snprintf(what, sizeof what, "transfers %s", ways[way]);
        put_count(what, before->all.transfers[way], now->all.transfers[way]);
    }
    put_count("read faults", before->faults_read, now->faults_read);
    put_count("write faults", before->faults_write, now->faults_write);
    put_count("evictions", before->evictions, now->evictions);
    put_seconds("seconds", before->seconds, now->seconds);
    put_seconds("seconds in calls on devices", before->all.seconds_devices, now->all.seconds_devices);
    put_seconds("seconds in large calls on the host", before->all.seconds_host, now->all.seconds_host);
    if (before->virtual_seconds > 0 || now->virtual_seconds > 0)
        put_seconds("virtual seconds", before->virtual_seconds, now->virtual_seconds);
}

/* The file is empty: the replay opened no devices. */
static bool is_empty(const char *path)
{
    struct stat about;

    return stat(path, &about) != 0 || about.st_size == 0;
}

/* A replay makes the calls of the BLAS only (replay.c). */
static bool has_calls(const struct sc_trace_reading *trace)
{
    for (size_t i = 0; i < trace->event_count; i++)
        if (trace->events[i].kind == SC_EVENT_CALL && !sc_trace_is_lapack(&trace->events[i]))
            return true;
    return false;
}

static int compare(const char *tool, const struct sc_trace_reading *trace, const char *replayed)
{
    static struct sc_trace_totals before, now;
    struct sc_trace_reading again;

    sc_trace_add_up(trace, &before);
    if (!is_empty(replayed)) {
        if (sc_trace_read(replayed, &again) != SC_OK)
            return EXIT_FAILURE;
        sc_trace_add_up(&again, &now);
        sc_trace_read_end(&again);
    } else if (has_calls(trace)) {
        printf("%s: no device was used: all calls ran on the host\n", tool);
    }
    report(trace, &before, &now);
    return EXIT_SUCCESS;
}

int sc_tool_replay(const char *tool, const char *file)
{
    char own[] = "/tmp/semcache-replay-XXXXXX";
    const char *asked = getenv("SEMCACHE_TRACE");
    struct sc_trace_reading trace;
    int status, fd = -1;

    if (sc_trace_read(file, &trace) != SC_OK)
        return EXIT_FAILURE;
    set_as_recorded(&trace);
    if (!asked && (fd = mkstemp(own)) < 0) {
        fprintf(stderr, "%s: cannot write %s: %s\n", tool, own, strerror(errno));
        sc_trace_read_end(&trace);
        return EXIT_FAILURE;
    }
    if (!asked) {
        close(fd);
        setenv("SEMCACHE_TRACE", own, 1);
    }
    sc_tool_outputs_clear();
    status = run(tool, file);
    if (status == EXIT_SUCCESS)
        status = compare(tool, &trace, asked ? asked : own);
    if (!asked)
        unlink(own);
    sc_trace_read_end(&trace);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
