/* The counters, and their JSON form (doc/statistics.md). No printf conversion in this file depends on the locale (rule
 * T8). */
#include <config.h>

#include <inttypes.h>

#include "trace/trace.h"

struct sc_stats sc_stats;
struct sc_levels sc_levels;

static uint64_t counter(const uint64_t *value) { return __atomic_load_n(value, __ATOMIC_RELAXED); }

/* Length of the well-formed UTF-8 sequence at s; 0: no such sequence. */
static int utf8_length(const unsigned char *s)
{
    int length = *s < 0x80                 ? 1
                 : *s >= 0xc2 && *s < 0xe0 ? 2
                 : *s >= 0xe0 && *s < 0xf0 ? 3
                 : *s >= 0xf0 && *s < 0xf5 ? 4
                                           : 0;

    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if (length == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0)))
        return 0; /* overlong, surrogates */
    if (length == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)))
        return 0; /* overlong, beyond U+10FFFF */
    return length;
}

void sc_stats_put_string(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    putc('"', out);
    while (*s) {
        int length = utf8_length(s);

        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(out, "\\u%04x", *s);
        else if (length)
            fwrite(s, 1, (size_t)length, out);
        else
            fputs("\\ufffd", out);
        s += length ? length : 1;
    }
    putc('"', out);
}

/* Nanosecond resolution; a value that is no number of seconds is printed as 0. */
static void put_seconds(FILE *out, double seconds)
{
    uint64_t ns = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;

    fprintf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}

static void put_calls(FILE *out)
{
    const char *separator = "";

    fputs("  \"calls\": {", out);
    for (int i = 0; i < SC_TRACE_ROUTINES_MAX; i++) {
        uint64_t offloaded = counter(&sc_stats.offloaded[i]), host = counter(&sc_stats.host[i]);
        const char *name = sc_trace_routine_name(i);
        char number[32];

        if (!offloaded && !host)
            continue;
        if (!name) {
            snprintf(number, sizeof number, "routine%d", i);
            name = number;
        }
        fprintf(out, "%s\n    ", separator);
        sc_stats_put_string(out, name);
        fprintf(out, ": {\"offloaded\": %" PRIu64 ", \"host\": %" PRIu64 "}", offloaded, host);
        separator = ",";
    }
    fputs(*separator ? "\n  },\n" : "},\n", out);
}

static void put_directions(FILE *out, const char *key, const uint64_t values[SC_TRANSFERS])
{
    fprintf(out, "  \"%s\": {\"h2d\": %" PRIu64 ", \"d2h\": %" PRIu64 ", \"d2d\": %" PRIu64 "},\n", key,
            counter(&values[SC_H2D]), counter(&values[SC_D2H]), counter(&values[SC_D2D]));
}

static void put_devices(FILE *out, const struct sc_stats_extra *extra)
{
    fputs("  \"devices\": [", out);
    for (int i = 0; i < extra->devices; i++) {
        if (i)
            fputs(", ", out);
        sc_stats_put_string(out, extra->device_names[i]);
    }
    fputs("],\n", out);
    if (extra->virtual_seconds >= 0) {
        fputs("  \"virtual_seconds\": ", out);
        put_seconds(out, extra->virtual_seconds);
        fputs(",\n", out);
    }
}

const char *sc_stats_format_bytes(uint64_t bytes, char *text)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    int unit = 0;

    for (; value >= 999.95 && unit < 4; unit++)
        value /= 1000;
    snprintf(text, 16, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

enum sc_status sc_stats_write(FILE *out, const struct sc_stats_extra *extra)
{
    fputs("{\n  \"semcache\": \"" PACKAGE_VERSION "\",\n", out);
    put_calls(out);
    put_directions(out, "bytes", sc_stats.bytes);
    put_directions(out, "transfers", sc_stats.transfers);
    fprintf(out, "  \"pushed\": %" PRIu64 ",\n", counter(&sc_stats.pushed));
    fprintf(out, "  \"pushed_d2d\": %" PRIu64 ",\n", counter(&sc_stats.pushed_d2d));
    fprintf(out, "  \"together\": %" PRIu64 ",\n", counter(&sc_stats.together));
    fprintf(out, "  \"speculated\": %" PRIu64 ",\n  \"rolled_back\": %" PRIu64 ",\n", counter(&sc_stats.speculated),
            counter(&sc_stats.rolled_back));
    fprintf(out, "  \"recalled\": %" PRIu64 ",\n", counter(&sc_stats.recalled));
    fprintf(out, "  \"percall_in\": %" PRIu64 ",\n  \"percall_out\": %" PRIu64 ",\n", counter(&sc_stats.percall_in),
            counter(&sc_stats.percall_out));
    fprintf(out, "  \"faults\": {\"read\": %" PRIu64 ", \"write\": %" PRIu64 "},\n", counter(&sc_stats.faults_read),
            counter(&sc_stats.faults_write));
    fprintf(out, "  \"hits\": %" PRIu64 ",\n  \"misses\": %" PRIu64 ",\n", counter(&sc_stats.hits),
            counter(&sc_stats.misses));
    fprintf(out, "  \"evictions\": %" PRIu64 ",\n  \"reshapes\": %" PRIu64 ",\n", counter(&sc_stats.evictions),
            counter(&sc_stats.reshapes));
    put_devices(out, extra);
    fputs("  \"wall_seconds\": ", out);
    put_seconds(out, extra->wall_seconds);
    fputs("\n}\n", out);
    return fflush(out) == 0 && !ferror(out) ? SC_OK : SC_ERR_IO;
}
/* SPDX-License-Identifier: BSD-2-Clause */
