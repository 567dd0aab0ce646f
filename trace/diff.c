/* Compares two traces: sums, and the lines that cost time. Lines of the two programs are the same by their text and
 * cause, so that a line that moved within its file is found again. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "trace/blame.h"
#include "trace/list.h"
#include "trace/wrap.h"

#define SHOWN 20
#define INDENT 36

enum { BEFORE, AFTER, SIDES };

struct line {
    char *key, *text; /* from malloc */
    double seconds[SIDES];
    double megabytes[SIDES];
};

struct diff {
    struct line *lines;
    size_t count, room;
    struct sc_trace_totals totals[SIDES];
    double whole[SIDES], lost[SIDES];
    bool is_virtual[SIDES];
};

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* The two texts with ": " between; takes both. NULL without memory. */
static char *joined(char *left, char *right)
{
    size_t bytes = (left ? strlen(left) : 0) + (right ? strlen(right) : 0) + 3;
    char *text = malloc(bytes);

    if (text)
        snprintf(text, bytes, "%s: %s", left ? left : "", right ? right : "");
    free(left);
    free(right);
    return text;
}

static struct line *line_of(struct diff *d, char *key)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->lines[i].key, key) == 0)
            return &d->lines[i];
    if (!sc_trace_list_reserve(&d->lines, &d->room, d->count, 1, sizeof *d->lines))
        return NULL;
    d->lines[d->count] = (struct line){.key = strdup(key)};
    return d->lines[d->count].key ? &d->lines[d->count++] : NULL;
}

/* The key: function, source and cause; without source the line as printed. */
static bool add_row(struct diff *d, const struct sc_blame *b, const struct sc_blame_row *row, int side,
                    const struct sc_trace_names *names)
{
    char *source = sc_blame_text(b, row, SC_BLAME_SOURCE, names);
    char *place = sc_blame_text(b, row, SC_BLAME_LINE, names);
    char *key = joined(source ? source : place ? strdup(place) : NULL, strdup(sc_why_names[row->why]));
    struct line *line = key ? line_of(d, key) : NULL;

    free(key);
    if (!line) {
        free(place);
        return false;
    }
    line->seconds[side] += row->seconds;
    line->megabytes[side] += (double)row->bytes * 1e-6;
    free(line->text);
    line->text = joined(place, strdup(sc_why_names[row->why]));
    return line->text != NULL;
}

static enum sc_status add_trace(struct diff *d, const char *path, int side, const struct sc_trace_names *names)
{
    struct sc_blame *b = sc_blame_read(path, names);
    const struct sc_blame_row *rows;
    size_t count;
    bool good = b != NULL;

    if (!b)
        return SC_ERR_IO;
    sc_trace_add_up(sc_blame_trace(b), &d->totals[side]);
    d->whole[side] = sc_blame_whole(b, &d->is_virtual[side]);
    d->lost[side] = sc_blame_lost(b);
    rows = sc_blame_rows(b, &count);
    for (size_t i = 0; good && i < count; i++)
        good = add_row(d, b, &rows[i], side, names);
    sc_blame_end(b);
    if (!good)
        sc_log(SC_LOG_ERROR, "no memory to compare %s", path);
    return good ? SC_OK : SC_ERR_MEMORY;
}

/* --- printing ----------------------------------------------------------------------------------------------------- */

static int by_change(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    double x = fabs(a->seconds[AFTER] - a->seconds[BEFORE]), y = fabs(b->seconds[AFTER] - b->seconds[BEFORE]);

    if (x != y)
        return x > y ? -1 : 1;
    x = fabs(a->megabytes[AFTER] - a->megabytes[BEFORE]);
    y = fabs(b->megabytes[AFTER] - b->megabytes[BEFORE]);
    if (x != y)
        return x > y ? -1 : 1;
    return strcmp(a->key, b->key);
}

static void put_change(FILE *out, double before, double after)
{
    if (before == after)
        fputs("        =\n", out);
    else if (before == 0)
        fputs("      new\n", out);
    else
        fprintf(out, " %+7.0f%%\n", 100 * (after - before) / before);
}

static void put_sum(FILE *out, const char *name, int digits, double before, double after)
{
    fprintf(out, "%-28s %14.*f %14.*f ", name, digits, before, digits, after);
    put_change(out, before, after);
}

static void put_sums(FILE *out, const struct diff *d)
{
    static const char *const ways[SC_TRANSFERS] = {"MB to devices", "MB to the host", "MB between devices"};
    const struct sc_trace_totals *a = &d->totals[BEFORE], *b = &d->totals[AFTER];

    fprintf(out, "%-28s %14s %14s %9s\n", "", "before", "after", "change");
    put_sum(out, d->is_virtual[BEFORE] && d->is_virtual[AFTER] ? "seconds, virtual" : "seconds", 4, d->whole[BEFORE],
            d->whole[AFTER]);
    put_sum(out, "seconds in waits and moves", 4, d->lost[BEFORE], d->lost[AFTER]);
    put_sum(out, "faults, reading", 0, (double)a->faults_read, (double)b->faults_read);
    put_sum(out, "faults, writing", 0, (double)a->faults_write, (double)b->faults_write);
    for (int way = 0; way < SC_TRANSFERS; way++)
        put_sum(out, ways[way], 1, (double)a->all.bytes[way] * 1e-6, (double)b->all.bytes[way] * 1e-6);
}

static void put_lines(FILE *out, struct diff *d)
{
    if (!d->count)
        return;
    qsort(d->lines, d->count, sizeof *d->lines, by_change);
    fprintf(out, "\n%8s %8s %7s %7s  %s\n", "lost, s", "after", "MB", "after", "line: why");
    for (size_t i = 0; i < d->count && i < SHOWN; i++) {
        const struct line *line = &d->lines[i];

        fprintf(out, "%8.4f %8.4f %7.1f %7.1f  ", line->seconds[BEFORE], line->seconds[AFTER], line->megabytes[BEFORE],
                line->megabytes[AFTER]);
        sc_trace_put_wrapped(out, line->text, INDENT);
    }
    if (d->count > SHOWN)
        fprintf(out, "%zu more, of less\n", d->count - SHOWN);
}

enum sc_status sc_trace_diff(const char *before, const char *after, FILE *out, const struct sc_trace_names *names)
{
    struct diff *d = calloc(1, sizeof *d);
    enum sc_status status = d ? add_trace(d, before, BEFORE, names) : SC_ERR_MEMORY;

    if (status == SC_OK)
        status = add_trace(d, after, AFTER, names);
    if (status == SC_OK) {
        put_sums(out, d);
        put_lines(out, d);
        status = fflush(out) == 0 && !ferror(out) ? SC_OK : SC_ERR_IO;
    }
    for (size_t i = 0; d && i < d->count; i++) {
        free(d->lines[i].key);
        free(d->lines[i].text);
    }
    if (d)
        free(d->lines);
    free(d);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
