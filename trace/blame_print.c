/* Prints the lines of the program that cost time, with a remedy for each. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/blame.h"
#include "trace/wrap.h"

#define SHOWN 20
#define LEAST 0.0005 /* of the time, and of the bytes: less is not shown */
#define INDENT 34 /* of the line */
#define DETAIL 12 /* of what follows */

/* Source is cut off at the last column. */
static void put_source(FILE *out, const char *text)
{
    if (text)
        fprintf(out, "%*s> %.*s\n", DETAIL, "", SC_TRACE_COLUMNS - DETAIL - 2, text);
}

static void put_detail(FILE *out, const char *before, char *text)
{
    if (!text)
        return;
    fprintf(out, "%*s%s", DETAIL, "", before);
    sc_trace_put_wrapped(out, text, DETAIL + strlen(before));
}

static void put_row(FILE *out, const struct sc_blame *b, const struct sc_blame_row *row, double whole,
                    const struct sc_trace_names *names)
{
    char *part[SC_BLAME_PARTS], *remedy = strdup(sc_blame_remedy(b, row));

    for (int i = 0; i < SC_BLAME_PARTS; i++)
        part[i] = sc_blame_text(b, row, (enum sc_blame_part)i, names);
    fprintf(out, "%9.4f %5.1f %7" PRIu64 " %8.1f  ", row->seconds, whole > 0 ? 100 * row->seconds / whole : 0,
            row->faults, (double)row->bytes * 1e-6);
    if (part[SC_BLAME_LINE])
        sc_trace_put_wrapped(out, part[SC_BLAME_LINE], INDENT);
    put_source(out, part[SC_BLAME_SOURCE]);
    put_detail(out, "", part[SC_BLAME_CALLERS]);
    put_detail(out, "", part[SC_BLAME_CAUSE]);
    put_detail(out, "", part[SC_BLAME_ARRAY]);
    put_source(out, part[SC_BLAME_ALLOCATION]);
    put_detail(out, "TRY ", remedy);
    for (int i = 0; i < SC_BLAME_PARTS; i++)
        free(part[i]);
    free(remedy);
}

/* One object a line. */
static void put_json(FILE *out, const struct sc_blame *b, const struct sc_blame_row *row,
                     const struct sc_trace_names *names)
{
    static const char *const keys[SC_BLAME_PARTS] = {"line", "cause", "callers", "source", "array", "allocation"};

    fprintf(out, "{\"microseconds\": %" PRIu64 ", \"faults\": %" PRIu64, (uint64_t)(row->seconds * 1e6 + 0.5),
            row->faults);
    fprintf(out, ", \"bytes\": %" PRIu64 ", \"copies\": %" PRIu64, row->bytes, row->copies);
    for (int i = 0; i < SC_BLAME_PARTS; i++) {
        char *text = sc_blame_text(b, row, (enum sc_blame_part)i, names);

        fprintf(out, ", \"%s\": ", keys[i]);
        sc_stats_put_string(out, text ? text : "");
        free(text);
    }
    fputs(", \"remedy\": ", out);
    sc_stats_put_string(out, sc_blame_remedy(b, row));
    fputs("}\n", out);
}

static uint64_t all_bytes(const struct sc_blame_row *rows, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += rows[i].bytes;
    return bytes;
}

static void put_rows(FILE *out, const struct sc_blame *b, double whole, const struct sc_trace_names *names)
{
    size_t count, shown = 0;
    const struct sc_blame_row *rows = sc_blame_rows(b, &count);
    double bytes = (double)all_bytes(rows, count);

    if (count)
        fprintf(out, "\n%9s %5s %7s %8s  %s\n", "lost, s", "%", "faults", "MB", "line");
    for (size_t i = 0; i < count && shown < SHOWN; i++)
        if (rows[i].seconds >= LEAST * whole || (double)rows[i].bytes >= LEAST * bytes) {
            put_row(out, b, &rows[i], whole, names);
            shown++;
        }
    if (count > shown)
        fprintf(out, "%zu more, of less\n", count - shown);
    if (!count)
        fputs("nothing to mend: what moved was used for the first time\n", out);
}

static void put_heading(FILE *out, double whole, double lost, bool is_virtual)
{
    if (whole > 0)
        fprintf(out, "%.3f s %s; %.3f s (%.0f%%) in waits and moves\n", whole,
                is_virtual ? "by the clock of the emulated devices" : "from the first call to the last event", lost,
                100 * lost / whole);
    else
        fprintf(out, "%.3f s in waits and moves%s\n", lost, is_virtual ? SC_BLAME_UNKNOWN : "");
}

enum sc_status sc_trace_blame(const char *path, FILE *out, bool json, const struct sc_trace_names *names)
{
    struct sc_blame *b = sc_blame_read(path, names);
    double whole, lost;
    bool is_virtual;

    if (!b)
        return SC_ERR_IO;
    whole = sc_blame_whole(b, &is_virtual);
    lost = sc_blame_lost(b);
    if (json) {
        size_t count;
        const struct sc_blame_row *rows = sc_blame_rows(b, &count);

        for (size_t i = 0; i < count; i++)
            put_json(out, b, &rows[i], names);
    } else {
        put_heading(out, whole, lost, is_virtual);
        put_rows(out, b, whole > 0 ? whole : lost, names);
        sc_trace_put_ending(out, sc_blame_trace(b));
    }
    sc_blame_end(b);
    return fflush(out) == 0 && !ferror(out) ? SC_OK : SC_ERR_IO;
}
/* SPDX-License-Identifier: BSD-2-Clause */
