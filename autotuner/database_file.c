/* Databases as text (doc/tuning.md): one statement per line, a row of the table below. The reader trusts no input:
 * numbers have ranges, no statement occurs twice, and the last line gives the number of lines before it. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "autotuner/database.h"
#include "base/log.h"

#define HEADER "semcache-database"
#define WORDS_MAX 12
#define LINES_MAX 1000000
#define KERNELS_MAX 100000
#define SIZE_MOST 1000000000

struct reader {
    const char *name;
    int line, statements;
    bool ended, made;
    struct sc_database *db;
    int words;
    char *word[WORDS_MAX];
    char copy[8192]; /* of the line */
    char *rest;      /* of `copy`, behind the first word */
};

const char *const sc_database_set_names[SC_SETS] = {"down", "up", "both"};

const char *sc_database_place_name(int place)
{
    static const char *const names[SC_PLACES] = {"0", "1", "2",  "3",  "4",  "5",  "6",  "7",   "8",
                                                 "9", "10", "11", "12", "13", "14", "15", "host"};

    return names[place];
}

static bool __attribute__((format(printf, 2, 3))) bad(struct reader *r, const char *format, ...)
{
    char text[400];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sc_log(SC_LOG_ERROR, "%s:%d: %s; semcache tune makes a new one", r->name, r->line, text);
    return false;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static bool number(struct reader *r, int i, double least, double most, double *out)
{
    char *end;
    double value = strtod(r->word[i], &end);

    if (end == r->word[i] || *end || !isfinite(value) || value < least || value > most)
        return bad(r, "'%.40s' is not a number from %g to %g", r->word[i], least, most);
    *out = value;
    return true;
}

static bool seconds(struct reader *r, int i, double *out) { return number(r, i, 1e-12, 1e6, out); }
static bool rate(struct reader *r, int i, double *out) { return number(r, i, 1, 1e18, out); }

static bool integer(struct reader *r, int i, long least, long most, long *out)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(r->word[i], &end, 10);
    if (end == r->word[i] || *end || errno || value < least || value > most)
        return bad(r, "'%.40s' is not a whole number from %ld to %ld", r->word[i], least, most);
    *out = value;
    return true;
}

static bool place(struct reader *r, int i, int *out)
{
    long value;

    *out = SC_PLACE_HOST;
    if (strcmp(r->word[i], "host") == 0)
        return true;
    if (!r->db->devices)
        return bad(r, "a device before 'devices'");
    if (!integer(r, i, 0, r->db->devices - 1, &value))
        return false;
    *out = (int)value;
    return true;
}

/* "FROM TO" at word i. */
static bool ends(struct reader *r, int i, int *link)
{
    int from, to;

    if (!place(r, i, &from) || !place(r, i + 1, &to))
        return false;
    *link = sc_link(from, to);
    return from != to || bad(r, "a link has two ends");
}

static bool words(struct reader *r, int count)
{
    return r->words == count || bad(r, "'%.40s' takes %d words", r->word[0], count - 1);
}

/* --- statements --------------------------------------------------------------------------------------------------- */

static bool read_machine(struct reader *r)
{
    if (*r->db->machine)
        return bad(r, "'machine' is said twice");
    if (!*r->rest || strlen(r->rest) >= sizeof r->db->machine)
        return bad(r, "'machine' takes a text of less than %zu characters", sizeof r->db->machine);
    strcpy(r->db->machine, r->rest);
    return true;
}

static bool read_made(struct reader *r)
{
    if (!words(r, 2))
        return false;
    if (r->made || (strcmp(r->word[1], "quick") != 0 && strcmp(r->word[1], "full") != 0))
        return bad(r, "expected 'made quick' or 'made full', once");
    r->made = true;
    r->db->quick = *r->word[1] == 'q';
    return true;
}

static bool read_devices(struct reader *r)
{
    long count;

    if (!words(r, 2) || !integer(r, 1, 1, SC_DEVICES_MAX, &count))
        return false;
    if (r->db->devices)
        return bad(r, "'devices' is said twice");
    r->db->devices = (int)count;
    return true;
}

static bool read_idle(struct reader *r)
{
    int at;
    double watts;

    if (!words(r, 3) || !place(r, 1, &at) || !number(r, 2, 1e-3, 1e6, &watts))
        return false;
    if (r->db->idle_watts[at] > 0)
        return bad(r, "said twice");
    r->db->idle_watts[at] = watts;
    return true;
}

static bool read_link_of(struct reader *r, struct sc_database_link links[SC_PLACES][SC_PLACES])
{
    struct sc_database_link *link;
    int which;

    if (!words(r, 5) || !ends(r, 1, &which))
        return false;
    link = &links[which / SC_PLACES][which % SC_PLACES];
    if (link->bandwidth > 0)
        return bad(r, "this link is said twice");
    return seconds(r, 3, &link->latency) && rate(r, 4, &link->bandwidth);
}

static bool read_link(struct reader *r) { return read_link_of(r, r->db->link); }
static bool read_pull(struct reader *r) { return read_link_of(r, r->db->pull); }
static bool read_push(struct reader *r) { return read_link_of(r, r->db->push); }

static bool read_enqueue(struct reader *r)
{
    if (!words(r, 2))
        return false;
    if (r->db->enqueue > 0)
        return bad(r, "said twice");
    return seconds(r, 1, &r->db->enqueue);
}

static bool read_pair(struct reader *r)
{
    int one, other;
    double slow;

    if (!words(r, 6) || !ends(r, 1, &one) || !ends(r, 3, &other) || !number(r, 5, 1, SC_SLOW_MOST, &slow))
        return false;
    if (one == other || r->db->slow[one][other] > 0)
        return bad(r, "this pair is said twice, or is one link");
    r->db->slow[one][other] = r->db->slow[other][one] = (float)slow;
    return true;
}

static bool read_set(struct reader *r)
{
    long count;
    double together;
    int which = 0;

    if (!words(r, 4))
        return false;
    while (which < SC_SETS && strcmp(r->word[1], sc_database_set_names[which]) != 0)
        which++;
    if (which == SC_SETS)
        return bad(r, "'%.40s' is no set of links: down, up or both", r->word[1]);
    if (!integer(r, 2, 1, r->db->devices, &count) || !rate(r, 3, &together))
        return false;
    if (r->db->set[which][count] > 0)
        return bad(r, "this set is said twice");
    r->db->set[which][count] = together;
    return true;
}

static bool routine(struct reader *r, int i, int *op)
{
    for (*op = 0; *op < SC_OPS; ++*op)
        if (strcmp(r->word[i], sc_op_name((enum sc_op)*op)) == 0)
            return true;
    return bad(r, "'%.40s' is no routine", r->word[i]);
}

/* PLACE TYPE OP SIZE of a kernel. */
static bool which_kernel(struct reader *r, struct sc_database_kernel *kernel)
{
    long size;
    int at, op, type = 0;

    if (!place(r, 1, &at))
        return false;
    while (type < SC_TYPES && (*r->word[2] != sc_type_letter((enum sc_type)type) || r->word[2][1]))
        type++;
    if (type == SC_TYPES)
        return bad(r, "'%.40s' is no type: s, d, c or z", r->word[2]);
    if (!routine(r, 3, &op))
        return false;
    if (r->db->kernels == KERNELS_MAX)
        return bad(r, "more than %d kernels", KERNELS_MAX);
    if (!integer(r, 4, 1, SIZE_MOST, &size))
        return false;
    kernel->place = (uint8_t)at;
    kernel->op = (uint8_t)op;
    kernel->type = (uint8_t)type;
    kernel->size = size;
    return true;
}

/* kernel PLACE TYPE OP SIZE SECONDS [WATTS] */
static bool read_kernel(struct reader *r)
{
    struct sc_database_kernel kernel = {0};

    if (r->words != 6 && r->words != 7)
        return bad(r, "'kernel' takes a place, a type, a routine, a size, seconds, and perhaps watts");
    if (!which_kernel(r, &kernel) || !seconds(r, 5, &kernel.seconds) ||
        (r->words == 7 && !number(r, 6, 1e-3, 1e6, &kernel.watts)))
        return false;
    return sc_database_add_kernel(r->db, &kernel) == SC_OK || bad(r, "out of memory");
}

/* thin PLACE TYPE OP SIZE THIN SECONDS */
static bool read_thin(struct reader *r)
{
    struct sc_database_kernel kernel = {0};
    long thin;

    if (!words(r, 7) || !which_kernel(r, &kernel) || !integer(r, 5, 1, SIZE_MOST, &thin) ||
        !seconds(r, 6, &kernel.seconds))
        return false;
    if (sc_op_level((enum sc_op)kernel.op) != 3)
        return bad(r, "'%.40s' is not of level 3", r->word[3]);
    if (thin >= kernel.size)
        return bad(r, "%ld is not less than %lld", thin, (long long)kernel.size);
    kernel.thin = thin;
    return sc_database_add_kernel(r->db, &kernel) == SC_OK || bad(r, "out of memory");
}

/* calls START ARRIVAL CLOSING SCALAR GEMM OTHERS LINKS */
static bool read_calls(struct reader *r)
{
    struct sc_database_calls *calls = &r->db->calls;

    if (!words(r, 8))
        return false;
    if (calls->known)
        return bad(r, "said twice");
    calls->known = true;
    return number(r, 1, 0, 1, &calls->start) && number(r, 2, 0, 1, &calls->arrival) &&
           number(r, 3, 0, 1, &calls->closing) && number(r, 4, 0, 1, &calls->scalar) &&
           number(r, 5, 0, 1, &calls->hidden[0]) && number(r, 6, 0, 1, &calls->hidden[1]) &&
           number(r, 7, 0.01, 1, &calls->links);
}

/* start ROUTINE SECONDS */
static bool read_start(struct reader *r)
{
    int op;

    if (!words(r, 3) || !routine(r, 1, &op))
        return false;
    if (r->db->start[op] > 0)
        return bad(r, "said twice");
    return number(r, 2, 1e-9, 1, &r->db->start[op]);
}

static bool read_end(struct reader *r)
{
    long count;

    if (!words(r, 2) || !integer(r, 1, 0, LINES_MAX, &count))
        return false;
    if (count != r->statements)
        return bad(r, "%d statements where %ld were written: a part is missing", r->statements, count);
    r->ended = true;
    return true;
}

static const struct {
    const char *name;
    bool (*read)(struct reader *r);
} statements[] = {{"machine", read_machine}, {"made", read_made}, {"devices", read_devices}, {"idle", read_idle},
                  {"link", read_link},       {"pair", read_pair}, {"set", read_set},         {"kernel", read_kernel},
                  {"calls", read_calls},     {"pull", read_pull}, {"push", read_push},       {"enqueue", read_enqueue},
                  {"start", read_start},     {"thin", read_thin}, {"end", read_end}};

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* Splits a line into words, in place. The text behind the first word is kept apart for `machine`. */
static bool split(struct reader *r, char *line)
{
    char *at = line, *word;

    strcpy(r->copy, line);
    r->words = 0;
    while ((word = strsep(&at, " ")))
        if (*word) {
            if (r->words == WORDS_MAX && strcmp(r->word[0], "machine") != 0)
                return bad(r, "too many words");
            if (r->words < WORDS_MAX)
                r->word[r->words++] = word;
        }
    r->rest = r->copy + strcspn(r->copy, " ");
    r->rest += strspn(r->rest, " ");
    return true;
}

static bool read_line(struct reader *r, char *line)
{
    if (!split(r, line))
        return false;
    if (!r->words || *r->word[0] == '#')
        return true;
    if (r->ended)
        return bad(r, "something follows the end");
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (strcmp(r->word[0], statements[i].name) == 0) {
            if (!statements[i].read(r))
                return false;
            r->statements++;
            return true;
        }
    return bad(r, "there is no statement '%.40s'", r->word[0]);
}

static bool read_header(struct reader *r, const char *line)
{
    int version, used = 0;

    if (sscanf(line, HEADER " %d%n", &version, &used) != 1 || line[used])
        return bad(r, "not a database of semcache");
    return version == SC_DATABASE_VERSION ||
           bad(r, "version %d, and this semcache knows version %d", version, SC_DATABASE_VERSION);
}

/* Returns false if the file is refused. The last line of a partial file counts only with its newline. */
static bool read_lines(struct reader *r, FILE *file, bool partial)
{
    char line[8192];

    while (fgets(line, sizeof line, file)) {
        char *newline = strchr(line, '\n');

        r->line++;
        if (r->line > LINES_MAX)
            return bad(r, "more than %d lines", LINES_MAX);
        if (!newline)
            return (partial && feof(file)) || bad(r, feof(file) ? "the last line is cut off" : "line too long");
        *newline = '\0';
        if (strlen(line) != (size_t)(newline - line))
            return bad(r, "not a text");
        if (r->line == 1 ? !read_header(r, line) : !read_line(r, line))
            return false;
    }
    if (ferror(file))
        return bad(r, "%s", strerror(errno));
    return r->line > 0 || bad(r, "the file is empty");
}

struct sc_database *sc_database_read(FILE *file, const char *name, bool partial)
{
    struct reader r = {.name = name, .db = sc_database_new("", 0)};
    bool good;

    if (!r.db) {
        sc_log(SC_LOG_ERROR, "%s: out of memory", name);
        return NULL;
    }
    good = read_lines(&r, file, partial);
    if (good && !partial && !r.ended)
        good = bad(&r, "the line 'end' is missing");
    if (good && (!*r.db->machine || !r.db->devices))
        good = bad(&r, "'machine' or 'devices' is missing");
    if (good && !sc_database_index(r.db))
        good = bad(&r, "a kernel is said twice");
    if (good)
        return r.db;
    sc_database_free(r.db);
    return NULL;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static int write_links(const char *what, const struct sc_database_link links[SC_PLACES][SC_PLACES], FILE *out)
{
    int lines = 0;

    for (int i = 0; i < SC_LINKS; i++) {
        const struct sc_database_link *link = &links[i / SC_PLACES][i % SC_PLACES];

        if (link->bandwidth > 0) {
            fprintf(out, "%s %s %s %.6g %.6g\n", what, sc_database_place_name(i / SC_PLACES),
                    sc_database_place_name(i % SC_PLACES), link->latency, link->bandwidth);
            lines++;
        }
    }
    return lines;
}

static int write_pairs(const struct sc_database *db, FILE *out)
{
    int lines = 0;

    for (int i = 0; i < SC_LINKS; i++)
        for (int j = i + 1; j < SC_LINKS; j++)
            if (db->slow[i][j] > 0) {
                fprintf(out, "pair %s %s %s %s %.4g\n", sc_database_place_name(i / SC_PLACES),
                        sc_database_place_name(i % SC_PLACES), sc_database_place_name(j / SC_PLACES),
                        sc_database_place_name(j % SC_PLACES), db->slow[i][j]);
                lines++;
            }
    return lines;
}

static int write_sets(const struct sc_database *db, FILE *out)
{
    int lines = 0;

    for (int s = 0; s < SC_SETS; s++)
        for (int n = 1; n <= db->devices; n++)
            if (db->set[s][n] > 0) {
                fprintf(out, "set %s %d %.6g\n", sc_database_set_names[s], n, db->set[s][n]);
                lines++;
            }
    return lines;
}

static int write_kernels(const struct sc_database *db, FILE *out)
{
    for (int i = 0; i < db->kernels; i++) {
        const struct sc_database_kernel *k = &db->kernel[i];

        fprintf(out, "%s %s %c %s %lld", k->thin ? "thin" : "kernel", sc_database_place_name(k->place),
                sc_type_letter((enum sc_type)k->type), sc_op_name((enum sc_op)k->op), (long long)k->size);
        if (k->thin)
            fprintf(out, " %lld", (long long)k->thin);
        fprintf(out, " %.6g", k->seconds);
        if (k->watts > 0)
            fprintf(out, " %.4g", k->watts);
        fputc('\n', out);
    }
    return db->kernels;
}

static int write_starts(const struct sc_database *db, FILE *out)
{
    int lines = 0;

    for (int op = 0; op < SC_OPS; op++)
        if (db->start[op] > 0) {
            fprintf(out, "start %s %.4g\n", sc_op_name((enum sc_op)op), db->start[op]);
            lines++;
        }
    return lines;
}

void sc_database_write(const struct sc_database *db, FILE *out, bool partial)
{
    int lines = 3;

    fprintf(out, HEADER " %d\nmachine %s\nmade %s\ndevices %d\n", SC_DATABASE_VERSION, db->machine,
            db->quick ? "quick" : "full",
            db->devices);
    for (int i = 0; i < SC_PLACES; i++)
        if (db->idle_watts[i] > 0) {
            fprintf(out, "idle %s %.4g\n", sc_database_place_name(i), db->idle_watts[i]);
            lines++;
        }
    if (db->calls.known) {
        fprintf(out, "calls %.4g %.4g %.4g %.4g %.3g %.3g %.3g\n", db->calls.start, db->calls.arrival,
                db->calls.closing, db->calls.scalar, db->calls.hidden[0], db->calls.hidden[1], db->calls.links);
        lines++;
    }
    lines += write_starts(db, out);
    if (db->enqueue > 0) {
        fprintf(out, "enqueue %.4g\n", db->enqueue);
        lines++;
    }
    lines += write_links("link", db->link, out);
    lines += write_links("pull", db->pull, out);
    lines += write_links("push", db->push, out);
    lines += write_pairs(db, out);
    lines += write_sets(db, out);
    lines += write_kernels(db, out);
    if (!partial)
        fprintf(out, "end %d\n", lines);
}
/* SPDX-License-Identifier: BSD-2-Clause */
