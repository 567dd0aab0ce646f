#include <config.h>

#include "libsemcache/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "autotuner/autotuner.h"
#include "autotuner/opening.h"
#include "base/config.h"
#include "device/device.h"
#include "libsemcache/library.h"

struct calls {
    uint64_t devices, host;
};

static struct calls count_calls(void)
{
    struct calls calls = {0, 0};

    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++) {
        calls.devices += sc_stats.offloaded[i];
        calls.host += sc_stats.host[i];
    }
    return calls;
}

void sc_summary_reason(FILE *out)
{
    double spent = sc_autotuner_spent();
    char why[4200];

    sc_device_why_none(&sc_config, why, sizeof why);
    if (sc_library_own_name() && !count_calls().host)
        fprintf(out, "%s and the like are in the program: link -lsemcache first", sc_library_own_name());
    else if (sc_config.offload == SC_OFFLOAD_NEVER)
        fputs("SEMCACHE_OFFLOAD=never", out);
    else if (strcmp(sc_config.device, "none") == 0)
        fputs("SEMCACHE_DEVICE=none", out);
    else if (!sc_device_expected(sc_config.device))
        fputs(why, out);
    else if (sc_library_life() == SC_LIBRARY_RUNNING || sc_library_life() == SC_LIBRARY_ENDING)
        fputs("none was predicted to gain (--explain FILE says more)", out);
    else if (sc_library_opened() && sc_library_life() == SC_LIBRARY_OVER)
        fputs("no device could be opened (semcache info says why)", out);
    else if (spent > 0)
        fprintf(out, "%.1f s of large calls; a call after %g s opens the devices", spent, SC_OPENING_SECONDS);
    else
        fputs("they are too small for devices", out);
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

void sc_summary_line(FILE *out, const struct sc_stats_extra *extra)
{
    struct calls calls = count_calls();
    uint64_t all = calls.devices + calls.host;
    char moved[16], percall[16];

    fprintf(out, "semcache: %s: ", program_invocation_short_name);
    if (!calls.devices) {
        fprintf(out, "%" PRIu64 " BLAS call%s, all on the host: ", all, plural(all));
        sc_summary_reason(out);
        fputs("\n", out);
        return;
    }
    fprintf(out, "%" PRIu64 " of %" PRIu64 " BLAS call%s on %d device%s; %s moved (call by call: %s), %" PRIu64
            " fault%s\n", calls.devices, all, plural(all), extra->devices, plural((uint64_t)extra->devices),
            sc_stats_format_bytes(sc_stats.bytes[SC_H2D] + sc_stats.bytes[SC_D2H] + sc_stats.bytes[SC_D2D], moved),
            sc_stats_format_bytes(sc_stats.percall_in + sc_stats.percall_out, percall),
            sc_stats.faults_read + sc_stats.faults_write, plural(sc_stats.faults_read + sc_stats.faults_write));
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static void put_way(FILE *out, const char *what, uint64_t moved, uint64_t percall)
{
    char text[16], other[16];

    fprintf(out, "  %-18s %10s", what, sc_stats_format_bytes(moved, text));
    if (percall && moved)
        fprintf(out, "   (call by call: %s, %.*f times as much)", sc_stats_format_bytes(percall, other),
                percall < moved, (double)percall / (double)moved);
    else if (percall)
        fprintf(out, "   (call by call: %s)", sc_stats_format_bytes(percall, other));
    fputs("\n", out);
}

static void put_devices(FILE *out, const struct sc_stats_extra *extra)
{
    fprintf(out, "  %-18s ", "devices");
    if (!extra->devices)
        fputs("none were used\n", out);
    for (int i = 0, same = 1; i < extra->devices; i += same, same = 1) {
        while (i + same < extra->devices && strcmp(extra->device_names[i], extra->device_names[i + same]) == 0)
            same++;
        fprintf(out, "%s%d x %.50s\n", i ? "                     " : "", same, extra->device_names[i]);
    }
}

/* The routines with most calls; routines with calls on devices come first. */
#define ROUTINES 8

static bool is_more(int a, int b)
{
    if (sc_stats.offloaded[a] != sc_stats.offloaded[b])
        return sc_stats.offloaded[a] > sc_stats.offloaded[b];
    return sc_stats.host[a] > sc_stats.host[b];
}

static int find_routines(int first[ROUTINES])
{
    int count = 0, all = 0;

    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++) {
        int at = count < ROUTINES ? count : ROUTINES;

        if (!sc_stats.offloaded[i] && !sc_stats.host[i])
            continue;
        all++;
        while (at > 0 && is_more(i, first[at - 1]))
            at--;
        if (at == ROUTINES)
            continue;
        count += count < ROUTINES;
        memmove(&first[at + 1], &first[at], (size_t)(count - at - 1) * sizeof *first);
        first[at] = i;
    }
    return all;
}

static const char *name_of(int routine)
{
    const char *name = sc_trace_routine_name(routine);

    return name ? name : "?";
}

static void put_routines(FILE *out)
{
    int first[ROUTINES], all = find_routines(first), shown = all < ROUTINES ? all : ROUTINES, width = 16;

    for (int i = 0; i < shown; i++) {
        int length = (int)strlen(name_of(first[i]));

        width = length > width ? length : width;
    }
    fprintf(out, "  %-*s %10s %12s\n", width + 2, "calls", "on devices", "on the host");
    for (int i = 0; i < shown; i++)
        fprintf(out, "    %-*s %10" PRIu64 " %12" PRIu64 "\n", width, name_of(first[i]), sc_stats.offloaded[first[i]],
                sc_stats.host[first[i]]);
    if (all > ROUTINES)
        fprintf(out, "    and %d more\n", all - ROUTINES);
}

void sc_summary_table(FILE *out, const struct sc_stats_extra *extra)
{
    struct calls calls = count_calls();

    fprintf(out, "semcache: %s\n", program_invocation_short_name);
    put_devices(out, extra);
    put_routines(out);
    if (!calls.devices) {
        fprintf(out, "  %-18s ", "why the host");
        sc_summary_reason(out);
        fputs("\n", out);
    } else {
        put_way(out, "to devices", sc_stats.bytes[SC_H2D], sc_stats.percall_in);
        put_way(out, "back to the host", sc_stats.bytes[SC_D2H], sc_stats.percall_out);
        put_way(out, "between devices", sc_stats.bytes[SC_D2D], 0);
        fprintf(out, "  %-18s %" PRIu64 " read, %" PRIu64 " write\n", "page faults", sc_stats.faults_read,
                sc_stats.faults_write);
        if (sc_stats.evictions)
            fprintf(out, "  %-18s %" PRIu64 " pieces, for want of room on a device\n", "evicted", sc_stats.evictions);
    }
    fprintf(out, "  %-18s %.2f s", "time", extra->wall_seconds);
    if (extra->virtual_seconds >= 0)
        fprintf(out, "   (emulated devices: %.4f s)", extra->virtual_seconds);
    fputs("\n", out);
}
/* SPDX-License-Identifier: BSD-2-Clause */
