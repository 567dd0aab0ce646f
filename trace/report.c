/* A report of a trace: one HTML page without scripts and references. The page has the lost time, the five most
 * expensive lines, the arrays with their residency over time, the traffic over time, and the states of tiles. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "trace/blame.h"
#include "trace/history.h"

#define TOP 5      /* rows of blame */
#define PICTURES 8 /* arrays with a picture of their tiles */
#define LINKS 24   /* shown */
#define BINS SC_HISTORY_BINS

struct report {
    struct sc_blame *blame;
    const struct sc_trace_names *names;
    FILE *out;
    struct sc_history *history;
};

/* --- HTML --------------------------------------------------------------------------------------------------------- */

/* Text of the trace: everything but plain characters becomes a reference. */
static void put(FILE *out, const char *text)
{
    for (; text && *text; text++)
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"' || *text == '\'')
            fprintf(out, "&#%d;", *text);
        else
            putc((unsigned char)*text < ' ' ? ' ' : *text, out);
}

static void put_head(FILE *out, const char *program)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\"><title>semcache: ", out);
    put(out, program);
    fputs("</title>\n<style>\n"
          ":root{color-scheme:light dark;--fg:#1c2024;--bg:#fff;--soft:#667;--line:#d8dce2;--c0:#c2410c;--c1:#ca8a04;"
          "--c2:#7c3aed;--c3:#0f766e;--c4:#1d4ed8;--rest:#cbd5e1}\n"
          "@media(prefers-color-scheme:dark){:root{--fg:#e6e8eb;--bg:#14171a;--soft:#99a;--line:#333a42;--c0:#fb923c;"
          "--c1:#fbbf24;--c2:#a78bfa;--c3:#2dd4bf;--c4:#60a5fa;--rest:#3b444e}}\n"
          "body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);max-width:60rem;"
          "margin:2rem auto;padding:0 1rem}\nh1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}\n"
          "table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;text-align:left;vertical-align:top;"
          "border-bottom:1px solid var(--line)}th{color:var(--soft);font-weight:500;white-space:nowrap}"
          "td.n,th.n{text-align:right;"
          "font-variant-numeric:tabular-nums}\ncode,pre{font:13px/1.4 ui-monospace,monospace;margin:0;"
          "white-space:pre-wrap;overflow-wrap:anywhere}.soft{color:var(--soft)}"
          ".bar{display:flex;height:1.6rem;border-radius:4px;overflow:hidden}"
          ".bar div{min-width:1px}svg{display:block;width:100%;height:3rem}"
          ".lane{width:11rem}svg.small{height:1.4rem;width:10rem}svg.tiles{height:6rem;border:1px solid var(--line)}"
          ".note{border-left:4px solid var(--c0);padding-left:.8rem}\n"
          "</style></head><body>\n", out);
}

static void put_verdict(struct report *r, const struct sc_blame_row *rows, size_t count)
{
    bool is_virtual;
    double whole = sc_blame_whole(r->blame, &is_virtual), lost = sc_blame_lost(r->blame);
    char *line = count ? sc_blame_text(r->blame, rows, SC_BLAME_LINE, r->names) : NULL;

    if (whole > 0)
        fprintf(r->out, "<p><strong>%.3f of %.3f s (%.0f%%) in waits and moves.</strong> ", lost, whole,
                100 * lost / whole);
    else
        fprintf(r->out, "<p><strong>%.3f s in waits and moves</strong>%s. ", lost, is_virtual ? SC_BLAME_UNKNOWN : "");
    if (count) {
        fputs("The most expensive line is <code>", r->out);
        put(r->out, line);
        fprintf(r->out, "</code>: %s.", sc_why_names[rows->why]);
    } else {
        fputs("Nothing to mend: what moved was used for the first time.", r->out);
    }
    fprintf(r->out, "%s</p>\n<div class=\"bar\" role=\"img\" aria-label=\"shares of the time\">",
            whole > 0 && is_virtual ? " Times are by the clock of the emulated devices." : "");
    whole = whole > 0 ? whole : lost;
    for (size_t i = 0; i < count && i < TOP; i++)
        fprintf(r->out, "<div style=\"width:%.2f%%;background:var(--c%zu)\" title=\"%zu\"></div>",
                whole > 0 ? 100 * rows[i].seconds / whole : 0, i, i + 1);
    fputs("<div style=\"flex:1;background:var(--rest)\" title=\"everything else\"></div></div>\n", r->out);
    free(line);
}

static void put_part(struct report *r, const struct sc_blame_row *row, enum sc_blame_part part, const char *before,
                     const char *after)
{
    char *text = sc_blame_text(r->blame, row, part, r->names);

    if (text) {
        fputs(before, r->out);
        put(r->out, text);
        fputs(after, r->out);
    }
    free(text);
}

static void put_rows(struct report *r, const struct sc_blame_row *rows, size_t count)
{
    if (!count)
        return;
    fputs("<h2>Lines that cost time</h2>\n<table><tr><th></th><th class=\"n\">lost, ms</th><th class=\"n\">faults</th>"
          "<th class=\"n\">MB</th><th>line</th></tr>\n", r->out);
    for (size_t i = 0; i < count && i < TOP; i++) {
        fprintf(r->out, "<tr><td style=\"color:var(--c%zu)\">&#9632;&nbsp;%zu</td><td class=\"n\">%.3f</td>"
                "<td class=\"n\">%" PRIu64 "</td><td class=\"n\">%.1f</td><td>", i, i + 1, rows[i].seconds * 1e3,
                rows[i].faults, (double)rows[i].bytes * 1e-6);
        put_part(r, &rows[i], SC_BLAME_LINE, "<code><strong>", "</strong></code>");
        put_part(r, &rows[i], SC_BLAME_CALLERS, " <span class=\"soft\">", "</span>");
        put_part(r, &rows[i], SC_BLAME_SOURCE, "<pre>", "</pre>");
        put_part(r, &rows[i], SC_BLAME_CAUSE, "<div>", "</div>");
        put_part(r, &rows[i], SC_BLAME_ARRAY, "<span class=\"soft\">", "</span><br>");
        fputs("<em>Try: ", r->out);
        put(r->out, sc_blame_remedy(r->blame, &rows[i]));
        fputs("</em></td></tr>\n", r->out);
    }
    fputs("</table>\n", r->out);
    if (count > TOP)
        fputs("<p class=\"soft\">semcache trace blame has the other lines.</p>\n", r->out);
}

/* --- pictures ----------------------------------------------------------------------------------------------------- */

static void put_residency(FILE *out, const struct sc_history_array *array)
{
    fprintf(out, "<svg class=\"small\" viewBox=\"0 0 %d 100\" preserveAspectRatio=\"none\" role=\"img\" "
            "aria-label=\"on devices over time\"><polygon fill=\"var(--c3)\" points=\"0,100", BINS);
    for (int bin = 0; bin < BINS; bin++)
        fprintf(out, " %d,%d %d,%d", bin, 100 - array->percent[bin], bin + 1, 100 - array->percent[bin]);
    fprintf(out, " %d,100\"/></svg>", BINS);
}

static void put_size(FILE *out, const struct sc_array_of *of)
{
    if (of->is_folded)
        fprintf(out, "%" PRIu64, of->bytes / (of->element_bytes ? of->element_bytes : 1));
    else
        fprintf(out, "%" PRId64 " &times; %" PRId64, of->rows, of->cols);
}

static void put_line(struct report *r, uint64_t line)
{
    char *text = sc_trace_line_text(r->names, sc_blame_trace(r->blame), line);

    put(r->out, text);
    free(text);
}

static void put_arrays(struct report *r)
{
    fputs("<h2>Arrays</h2>\n<table><tr><th class=\"n\"></th><th>size</th><th>allocated at</th>"
          "<th class=\"n\">MB up</th><th class=\"n\">MB down</th><th class=\"n\">times up</th>"
          "<th>on devices, over time</th></tr>\n", r->out);
    for (size_t i = 0; i < r->history->array_count; i++) {
        const struct sc_history_array *a = &r->history->arrays[i];
        const struct sc_array_of *of = sc_blame_array(r->blame, a->matrix);

        if (!of)
            continue;
        fprintf(r->out, "<tr><td class=\"n\">%" PRIu32 "</td><td>", a->matrix);
        put_size(r->out, of);
        fputs("</td><td><code>", r->out);
        put_line(r, of->line);
        fprintf(r->out, "</code></td><td class=\"n\">%.1f</td><td class=\"n\">%.1f</td><td class=\"n\">%.1f</td><td>",
                (double)a->bytes[SC_H2D] * 1e-6, (double)a->bytes[SC_D2H] * 1e-6,
                (double)a->bytes[SC_H2D] / (double)of->bytes);
        put_residency(r->out, a);
        fputs("</td></tr>\n", r->out);
    }
    if (r->history->other_count)
        fprintf(r->out, "<tr><td></td><td colspan=\"2\">%zu more</td><td class=\"n\">%.1f</td><td class=\"n\">%.1f</td>"
                "<td></td><td></td></tr>\n", r->history->other_count, (double)r->history->other_bytes[SC_H2D] * 1e-6,
                (double)r->history->other_bytes[SC_D2H] * 1e-6);
    fputs("</table>\n", r->out);
}

/* --- states of tiles ---------------------------------------------------------------------------------------------- */

/* What a cell of a picture may show: a state, or several states within the time of the cell. */
static const struct {
    const char *colour, *text;
} cells[] = {{"rest", "the host only"}, {"c3", "the host and devices"}, {"c4", "devices only"},
             {"c1", "several of these within the time of a cell, or of a row"}};
enum { SEVERAL = 3, CELLS };

static int cell_of(uint8_t seen)
{
    static const int cell[8] = {-1, SC_MSI_C, SC_MSI_S, SEVERAL, SC_MSI_G, SEVERAL, SEVERAL, SEVERAL};

    return cell[seen & 7];
}

/* One path has all cells of a kind; equal neighbours of a row are one rectangle. */
static void put_cells(FILE *out, const struct sc_history_array *array, int kind)
{
    fprintf(out, "<path fill=\"var(--%s)\" d=\"", cells[kind].colour);
    for (uint32_t row = 0; row < array->rows; row++)
        for (int bin = 0, end; bin < BINS; bin = end) {
            for (end = bin + 1; end < BINS && cell_of(array->seen[row][end]) == cell_of(array->seen[row][bin]); end++)
                ;
            if (cell_of(array->seen[row][bin]) == kind)
                fprintf(out, "M%d %" PRIu32 "h%dv1h-%dz", bin, row, end - bin, end - bin);
        }
    fputs("\"/>", out);
}

static void put_tiles(struct report *r, const struct sc_history_array *array)
{
    const struct sc_array_of *of = sc_blame_array(r->blame, array->matrix);

    if (!of)
        return;
    fprintf(r->out, "<tr><td class=\"lane\">array %" PRIu32 "<br><span class=\"soft\">", array->matrix);
    put_size(r->out, of);
    fprintf(r->out, "<br>%" PRIu32 " tile%s</span></td><td><svg class=\"tiles\" viewBox=\"0 0 %d %" PRIu32 "\" "
            "preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\" role=\"img\" "
            "aria-label=\"states of the tiles over time\">", array->tiles, array->tiles == 1 ? "" : "s", BINS,
            array->rows);
    for (int kind = 0; kind < CELLS; kind++)
        put_cells(r->out, array, kind);
    fputs("</svg></td></tr>\n", r->out);
}

static void put_all_tiles(struct report *r)
{
    if (!r->history->array_count)
        return;
    fputs("<h2>Tiles over time</h2>\n<p>Rows are tiles, from the first to the last. Valid on:", r->out);
    for (int kind = 0; kind < CELLS; kind++)
        fprintf(r->out, "%s <span style=\"color:var(--%s)\">&#9632;</span> %s", kind ? ";" : "", cells[kind].colour,
                cells[kind].text);
    fputs(".</p>\n<table>\n", r->out);
    for (size_t i = 0; i < PICTURES && i < r->history->array_count; i++)
        put_tiles(r, &r->history->arrays[i]);
    fputs("</table>\n", r->out);
    if (r->history->array_count > PICTURES)
        fputs("<p class=\"soft\">Arrays that moved less are left out; semcache trace states shows each array.</p>\n",
              r->out);
}

/* --- traffic ------------------------------------------------------------------------------------------------------ */

static void put_lane(FILE *out, const char *title, const uint64_t *values, const char *colour, double unit,
                     const char *unit_name)
{
    uint64_t most = 0, sum = 0;

    for (int bin = 0; bin < BINS; bin++) {
        sum += values[bin];
        most = values[bin] > most ? values[bin] : most;
    }
    fprintf(out, "<tr><td class=\"lane\">%s<br><span class=\"soft\">%.*f %s</span></td><td><svg viewBox=\"0 0 %d 100\" "
            "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%s over time\">", title, unit < 1,
            (double)sum * unit, unit_name, BINS, title);
    for (int bin = 0; bin < BINS; bin++) {
        double height = most ? 100.0 * (double)values[bin] / (double)most : 0;

        if (values[bin])
            fprintf(out, "<rect x=\"%d\" width=\"1\" y=\"%.1f\" height=\"%.1f\" fill=\"var(--%s)\"/>", bin,
                    100 - height, height, colour);
    }
    fputs("</svg></td></tr>\n", out);
}

static void put_place(char *text, size_t bytes, int device)
{
    snprintf(text, bytes, device < 0 ? "the host" : "device %d", device);
}

static void put_traffic(struct report *r)
{
    const struct sc_history *h = r->history;

    fprintf(r->out, "<h2>Traffic over %.3f s</h2>\n<table>\n", (double)(h->last - h->first) * 1e-9);
    put_lane(r->out, "to devices", h->traffic[SC_H2D], "c4", 1e-6, "MB");
    put_lane(r->out, "to the host", h->traffic[SC_D2H], "c3", 1e-6, "MB");
    put_lane(r->out, "between devices", h->traffic[SC_D2D], "c2", 1e-6, "MB");
    put_lane(r->out, "page faults", h->faults, "c0", 1, "faults");
    fputs("</table>\n", r->out);
    if (h->link_count <= 2) /* of one device */
        return;
    fputs("<h2>Links</h2>\n<table>\n", r->out);
    for (size_t i = 0; i < LINKS && i < h->link_count; i++) {
        const struct sc_history_link *link = &h->links[i];
        char from[24], to[24], title[64];

        put_place(from, sizeof from, link->from);
        put_place(to, sizeof to, link->to);
        snprintf(title, sizeof title, "%s to %s", from, to);
        put_lane(r->out, title, link->bytes, link->from < 0 ? "c4" : link->to < 0 ? "c3" : "c2", 1e-6, "MB");
    }
    fputs("</table>\n", r->out);
    if (h->link_count > LINKS)
        fputs("<p class=\"soft\">Links that moved less are left out.</p>\n", r->out);
}

/* --- the page ----------------------------------------------------------------------------------------------------- */

/* What a reader has to know before the sums. */
static void put_notes(FILE *out, const struct sc_trace_header *header)
{
    if (!header->ended)
        fputs("<p class=\"note\"><strong>The program ended without closing the trace (a signal, or _exit), or still "
              "runs.</strong> The page shows everything up to there.</p>\n", out);
    if (header->dropped || header->lost)
        fputs("<p class=\"note\"><strong>Events are missing: the sums are of the others.</strong></p>\n", out);
}

static void put_page(struct report *r)
{
    const struct sc_trace_reading *trace = sc_blame_trace(r->blame);
    char program[sizeof trace->header.program + 1] = "";
    size_t count;
    const struct sc_blame_row *rows = sc_blame_rows(r->blame, &count);

    memcpy(program, trace->header.program, sizeof trace->header.program);
    put_head(r->out, program);
    fputs("<h1>", r->out);
    put(r->out, program);
    fputs("</h1>\n", r->out);
    put_notes(r->out, &trace->header);
    put_verdict(r, rows, count);
    put_rows(r, rows, count);
    put_arrays(r);
    put_traffic(r);
    put_all_tiles(r);
    fputs("</body></html>\n", r->out);
}

enum sc_status sc_trace_report(const char *path, FILE *out, const struct sc_trace_names *names)
{
    struct report *r = calloc(1, sizeof *r);
    enum sc_status status = SC_ERR_MEMORY;

    if (r) {
        r->blame = sc_blame_read(path, names);
        r->names = names;
        r->out = out;
        status = r->blame ? SC_OK : SC_ERR_IO;
    }
    if (status == SC_OK && !(r->history = sc_history_new(sc_blame_trace(r->blame)))) {
        sc_log(SC_LOG_ERROR, "no memory to show %s", path);
        status = SC_ERR_MEMORY;
    }
    if (status == SC_OK) {
        put_page(r);
        status = fflush(out) == 0 && !ferror(out) ? SC_OK : SC_ERR_IO;
    }
    if (r) {
        sc_blame_end(r->blame);
        sc_history_free(r->history);
    }
    free(r);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
