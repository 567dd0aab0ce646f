/* Parser of machine files (doc/machine-files.md).  A line is a section header, or "key value..." of the section above.
 * Headers and keys are rows of the table `rows`, which is the definition of the format. */
#include "device/emu/machine.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define WORDS_MAX 24

struct parser {
    const char *path;
    int line;
    struct sc_emu_machine *machine;
    char section; /* 0: none, else the first letter of host, device, link, group */
    /* Ends of the current section: devices, or the two sides of a link.  Bit SC_EMU_HOST is the host. */
    uint32_t ends, to;
    bool both;       /* the link has both directions */
    struct sc_emu_group *group;
    int device_line[SC_DEVICES_MAX], group_line[SC_EMU_GROUPS_MAX], link_line[SC_EMU_ENDS][SC_EMU_ENDS];
    int words;
    char *word[WORDS_MAX];
    char rest[512];  /* the line after its first word */
};

static bool __attribute__((format(printf, 2, 3))) bad(struct parser *p, const char *format, ...)
{
    char text[400];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sc_log(SC_LOG_ERROR, "%s:%d: %s", p->path, p->line, text);
    return false;
}

/* --- values ----------------------------------------------------------------------------------------------------- */

/* Parses a number with an optional prefix: n u m k M G T, Ki Mi Gi Ti.  The unit belongs to the key and is not
 * written. */
static bool number(struct parser *p, const char *text, double *out)
{
    static const struct { const char *suffix; double factor; } prefixes[] = {
        {"", 1}, {"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12},
        {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0}};
    char *end;
    double value = strtod(text, &end);

    if (end != text && isfinite(value) && value >= 0)
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            if (!strcmp(end, prefixes[i].suffix)) {
                *out = value * prefixes[i].factor;
                return true;
            }
    return bad(p, "'%s' is not a number (like 12, 5.4u, 55G or 141Gi)", text);
}

static bool positive(struct parser *p, const char *text, double *out)
{
    return number(p, text, out) && (*out > 0 || bad(p, "'%s': must be above zero", text));
}

static bool whole(struct parser *p, const char *text, double most, uint64_t *out)
{
    double value;

    if (!number(p, text, &value))
        return false;
    if (value > most || value != floor(value))
        return bad(p, "'%s': must be a whole number up to %.0f", text, most);
    *out = (uint64_t)value;
    return true;
}

/* Parses "host", "3", "0-7", "0,2,4-5" as a set of ends. */
static bool ends(struct parser *p, const char *text, uint32_t *out)
{
    const char *s = text;

    *out = 0;
    if (!strcmp(text, "host")) {
        *out = 1u << SC_EMU_HOST;
        return true;
    }
    do {
        char *end;
        long first = strtol(s, &end, 10), last = first;
        if (end == s)
            break;
        if (*end == '-') {
            s = end + 1;
            last = strtol(s, &end, 10);
            if (end == s)
                break;
        }
        if (first < 0 || last < first || last >= SC_DEVICES_MAX)
            return bad(p, "'%s': devices are 0 to %d", text, SC_DEVICES_MAX - 1);
        for (long i = first; i <= last; i++)
            *out |= 1u << i;
        s = end;
    } while (*s++ == ',');
    return (*out && s[-1] == '\0') || bad(p, "'%s' is not 'host' or a list of devices (like 0-3,5)", text);
}

/* Parses "A -> B" or "A <-> B" behind the first word. */
static bool route(struct parser *p, uint32_t *from, uint32_t *to, bool *both)
{
    if (p->words != 4 || (strcmp(p->word[2], "->") && strcmp(p->word[2], "<->")))
        return bad(p, "expected ENDS -> ENDS or ENDS <-> ENDS");
    *both = p->word[2][0] == '<';
    return ends(p, p->word[1], from) && ends(p, p->word[3], to);
}

/* Calls `visit` for every pair of a route, except pairs of equal ends. */
static void for_pairs(struct parser *p, uint32_t from, uint32_t to, bool both,
                      void (*visit)(struct parser *p, int from, int to, double value), double value)
{
    for (int i = 0; i < SC_EMU_ENDS; i++)
        for (int j = 0; j < SC_EMU_ENDS; j++) {
            if (i == j || !(from >> i & 1) || !(to >> j & 1))
                continue;
            visit(p, i, j, value);
            if (both)
                visit(p, j, i, value);
        }
}

/* --- sections --------------------------------------------------------------------------------------------------- */

static bool no_words(struct parser *p) { return p->words == 1 || bad(p, "nothing may follow '%s'", p->word[0]); }

static bool one_word(struct parser *p) { return p->words == 2 || bad(p, "'%s' takes one value", p->word[0]); }

static bool section_host(struct parser *p) { return no_words(p); }

static bool section_device(struct parser *p)
{
    if (!one_word(p) || !ends(p, p->word[1], &p->ends))
        return false;
    if (p->ends >> SC_EMU_HOST & 1)
        return bad(p, "the host is no device");
    for (int i = 0; i < SC_DEVICES_MAX; i++)
        if (p->ends >> i & 1) {
            if (i >= p->machine->devices)
                p->machine->devices = i + 1;
            p->device_line[i] = p->line;
        }
    return true;
}

static void note_link(struct parser *p, int from, int to, double v)
{
    (void)v;
    p->link_line[from][to] = p->line;
}

static bool section_link(struct parser *p)
{
    if (!route(p, &p->ends, &p->to, &p->both))
        return false;
    for_pairs(p, p->ends, p->to, p->both, note_link, 0);
    return true;
}

static bool section_group(struct parser *p)
{
    if (!one_word(p))
        return false;
    if (p->machine->groups == SC_EMU_GROUPS_MAX)
        return bad(p, "more than %d groups", SC_EMU_GROUPS_MAX);
    p->group_line[p->machine->groups] = p->line;
    p->group = &p->machine->group[p->machine->groups++];
    snprintf(p->group->name, sizeof p->group->name, "%s", p->word[1]);
    return true;
}

/* --- keys ------------------------------------------------------------------------------------------------------- */

/* Copies the rest of the line, if short enough. */
static bool text(struct parser *p, char *out, size_t size)
{
    size_t length = strlen(p->rest);

    if (!length || length >= size)
        return bad(p, "'%s' takes a text of 1 to %zu characters", p->word[0], size - 1);
    memcpy(out, p->rest, length + 1);
    return true;
}

static bool key_title(struct parser *p) { return text(p, p->machine->title, sizeof p->machine->title); }

static bool key_call(struct parser *p) { return one_word(p) && number(p, p->word[1], &p->machine->call); }
static bool key_sync(struct parser *p) { return one_word(p) && number(p, p->word[1], &p->machine->sync); }
static bool key_fault(struct parser *p) { return one_word(p) && number(p, p->word[1], &p->machine->fault); }

static bool key_jitter(struct parser *p)
{
    uint64_t most;

    if (p->words != 3)
        return bad(p, "jitter takes a seed and the longest delay in microseconds");
    if (!whole(p, p->word[1], 1e15, &p->machine->jitter_seed) || !whole(p, p->word[2], 1e6, &most))
        return false;
    p->machine->jitter_us = (unsigned)most;
    return true;
}

/* Visits every device of the section. */
#define FOR_DEVICES(p, d)                                                   \
    for (struct sc_emu_device *d = (p)->machine->device; d < (p)->machine->device + SC_DEVICES_MAX; d++) \
        if ((p)->ends >> (d - (p)->machine->device) & 1)

static bool key_name(struct parser *p)
{
    char name[sizeof p->machine->device[0].name];

    if (!text(p, name, sizeof name))
        return false;
    FOR_DEVICES(p, d)
        memcpy(d->name, name, sizeof name);
    return true;
}

static bool key_memory(struct parser *p)
{
    uint64_t bytes;

    if (!one_word(p) || !whole(p, p->word[1], 1e14, &bytes))
        return false;
    if (!bytes)
        return bad(p, "memory must be above zero");
    FOR_DEVICES(p, d)
        d->memory = bytes;
    return true;
}

static bool key_device_bandwidth(struct parser *p)
{
    double value;

    if (!one_word(p) || !positive(p, p->word[1], &value))
        return false;
    FOR_DEVICES(p, d)
        d->bandwidth = value;
    return true;
}

static bool key_launch(struct parser *p)
{
    double value;

    if (!one_word(p) || !number(p, p->word[1], &value))
        return false;
    FOR_DEVICES(p, d)
        d->launch = value;
    return true;
}

static bool key_solve(struct parser *p)
{
    double value;

    if (!one_word(p) || !number(p, p->word[1], &value))
        return false;
    FOR_DEVICES(p, d)
        d->solve = value;
    return true;
}

static bool key_gemm(struct parser *p)
{
    static const char letters[] = "sdcz";
    const char *letter = p->words == 3 ? strchr(letters, p->word[1][0]) : NULL;
    double value;

    if (!letter || !*letter || p->word[1][1])
        return bad(p, "gemm takes a type (s, d, c or z) and a rate in flop/s");
    if (!positive(p, p->word[2], &value))
        return false;
    FOR_DEVICES(p, d)
        d->gemm[letter - letters] = value;
    return true;
}

static bool two_watts(struct parser *p, double *busy, double *idle)
{
    if (p->words != 3)
        return bad(p, "watts takes two values: busy and idle");
    return number(p, p->word[1], busy) && number(p, p->word[2], idle);
}

static bool key_host_watts(struct parser *p)
{
    return two_watts(p, &p->machine->host_watts_busy, &p->machine->host_watts_idle);
}

static bool key_watts(struct parser *p)
{
    double busy, idle;

    if (!two_watts(p, &busy, &idle))
        return false;
    FOR_DEVICES(p, d) {
        d->watts_busy = busy;
        d->watts_idle = idle;
    }
    return true;
}

const char *const sc_emu_kind_names[SC_EMU_KINDS] = {
    [SC_EMU_ALLOC] = "alloc", [SC_EMU_COPY] = "copy", [SC_EMU_LAUNCH] = "launch", [SC_EMU_FILL] = "fill",
    [SC_EMU_PIN] = "pin",     [SC_EMU_SLOT] = "slot", [SC_EMU_MARK] = "mark",     [SC_EMU_WAIT] = "wait",
    [SC_EMU_SYNC] = "sync",   [SC_EMU_ANY] = "any",
};

static bool key_fail(struct parser *p)
{
    struct sc_emu_fault fault = {.kind = SC_EMU_KINDS, .lost = !strcmp(p->word[0], "lost"),
                                 .late = !strcmp(p->word[0], "late"), .skip = !strcmp(p->word[0], "skip")};

    for (int i = 0; p->words == 3 && i < SC_EMU_KINDS; i++)
        if (!strcmp(p->word[1], sc_emu_kind_names[i]))
            fault.kind = (enum sc_emu_kind)i;
    if (fault.kind == SC_EMU_KINDS)
        return bad(p, "'%s' takes alloc, copy, launch, fill, pin, slot, mark, wait, sync or any, and which one of them",
                   p->word[0]);
    if (!whole(p, p->word[2], 1e15, &fault.nth))
        return false;
    FOR_DEVICES(p, d)
        d->fault = fault;
    return true;
}

static void set_latency(struct parser *p, int from, int to, double v) { p->machine->link[from][to].latency = v; }
static void set_bandwidth(struct parser *p, int from, int to, double v) { p->machine->link[from][to].bandwidth = v; }
static void set_carries(struct parser *p, int from, int to, double v)
{
    (void)v;
    p->group->carries[from][to] = true;
}

static bool key_link_latency(struct parser *p)
{
    double value;

    if (!one_word(p) || !number(p, p->word[1], &value))
        return false;
    for_pairs(p, p->ends, p->to, p->both, set_latency, value);
    return true;
}

static bool key_link_bandwidth(struct parser *p)
{
    double value;

    if (!one_word(p) || !positive(p, p->word[1], &value))
        return false;
    for_pairs(p, p->ends, p->to, p->both, set_bandwidth, value);
    return true;
}

static void set_kernel_latency(struct parser *p, int from, int to, double v)
{
    p->machine->link[from][to].kernel_latency = v;
}

static void set_kernel_bandwidth(struct parser *p, int from, int to, double v)
{
    p->machine->link[from][to].kernel_bandwidth = v;
}

static bool key_link_kernels(struct parser *p)
{
    double latency, bandwidth;

    if (p->words != 3)
        return bad(p, "kernels takes a latency and a bandwidth");
    if (!number(p, p->word[1], &latency) || !positive(p, p->word[2], &bandwidth))
        return false;
    if (p->to >> SC_EMU_HOST & 1 || (p->both && p->ends >> SC_EMU_HOST & 1))
        return bad(p, "no kernel writes to the host");
    for_pairs(p, p->ends, p->to, p->both, set_kernel_latency, latency);
    for_pairs(p, p->ends, p->to, p->both, set_kernel_bandwidth, bandwidth);
    return true;
}

static bool key_group_bandwidth(struct parser *p)
{
    struct sc_emu_group *g = p->group;
    uint64_t from = 1;
    double value;

    if (p->words != 2 && (p->words != 4 || strcmp(p->word[2], "from")))
        return bad(p, "expected: bandwidth RATE, or bandwidth RATE from COUNT");
    if (!positive(p, p->word[1], &value) || (p->words == 4 && !whole(p, p->word[3], 1000, &from)))
        return false;
    if (g->steps == SC_EMU_STEPS_MAX)
        return bad(p, "more than %d bandwidths", SC_EMU_STEPS_MAX);
    if (g->steps ? (int)from <= g->step[g->steps - 1].from : from != 1)
        return bad(p, "the first bandwidth has no 'from'; the counts of the next ones grow");
    g->step[g->steps++] = (struct sc_emu_step){(int)from, value};
    return true;
}

static bool key_carries(struct parser *p)
{
    uint32_t from, to;
    bool both;

    if (!route(p, &from, &to, &both))
        return false;
    for_pairs(p, from, to, both, set_carries, 0);
    return true;
}

/* --- the format ------------------------------------------------------------------------------------------------- */

/* section 0: headers, and keys outside sections. */
static const struct row {
    char section;
    const char *word;
    bool (*read)(struct parser *p);
} rows[] = {
    {0, "title", key_title},
    {0, "host", section_host},
    {'h', "call", key_call},
    {'h', "sync", key_sync},
    {'h', "fault", key_fault},
    {'h', "watts", key_host_watts},
    {'h', "jitter", key_jitter},
    {0, "device", section_device},
    {'d', "name", key_name},
    {'d', "memory", key_memory},
    {'d', "bandwidth", key_device_bandwidth},
    {'d', "launch", key_launch},
    {'d', "solve", key_solve},
    {'d', "gemm", key_gemm},
    {'d', "watts", key_watts},
    {'d', "fail", key_fail},
    {'d', "late", key_fail},
    {'d', "lost", key_fail},
    {'d', "skip", key_fail},
    {0, "link", section_link},
    {'l', "latency", key_link_latency},
    {'l', "bandwidth", key_link_bandwidth},
    {'l', "kernels", key_link_kernels},
    {0, "group", section_group},
    {'g', "bandwidth", key_group_bandwidth},
    {'g', "carries", key_carries},
};

static const char *section_name(char section)
{
    switch (section) {
    case 'h': return "host";
    case 'd': return "device";
    case 'l': return "link";
    default: return "group";
    }
}

/* Splits a line in place; a '#' starts a comment. */
static bool split(struct parser *p, char *line)
{
    char *save = NULL, *start, *value;

    line[strcspn(line, "#\r\n")] = '\0';
    for (size_t n = strlen(line); n && (line[n - 1] == ' ' || line[n - 1] == '\t'); n--)
        line[n - 1] = '\0';
    start = line + strspn(line, " \t");
    value = start + strcspn(start, " \t");
    snprintf(p->rest, sizeof p->rest, "%s", value + strspn(value, " \t"));
    p->words = 0;
    for (char *w = strtok_r(start, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
        if (p->words == WORDS_MAX)
            return bad(p, "more than %d words", WORDS_MAX);
        p->word[p->words++] = w;
    }
    return true;
}

static bool read_line(struct parser *p)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        if (strcmp(row->word, p->word[0]) || (row->section && row->section != p->section))
            continue;
        if (!row->section && row->read != key_title)
            p->section = row->word[0];
        return row->read(p);
    }
    if (!p->section)
        return bad(p, "'%s': expected title, host, device, link or group", p->word[0]);
    return bad(p, "'%s' is no key of a %s", p->word[0], section_name(p->section));
}

/* The FNV-1a hash. */
static void digest(struct sc_emu_machine *machine, const char *line)
{
    for (; *line; line++)
        machine->digest = (machine->digest ^ (unsigned char)*line) * UINT64_C(0x100000001b3);
}

static bool read_lines(struct parser *p, FILE *file)
{
    char line[512];
    bool headed = false;

    while (fgets(line, sizeof line, file)) {
        p->line++;
        if (!strchr(line, '\n') && !feof(file))
            return bad(p, "line too long");
        digest(p->machine, line);
        if (!split(p, line))
            return false;
        if (!p->words)
            continue;
        if (headed) {
            if (!read_line(p))
                return false;
        } else if (p->words != 2 || strcmp(p->word[0], "semcache-machine") || strcmp(p->word[1], "1")) {
            return bad(p, "the first line must be 'semcache-machine 1'");
        }
        headed = true;
    }
    if (ferror(file))
        return bad(p, "%s", strerror(errno));
    return headed || bad(p, "the file is empty");
}

static bool check_device(struct parser *p, int i)
{
    struct sc_emu_machine *m = p->machine;
    struct sc_emu_device *d = &m->device[i];

    p->line = p->device_line[i];
    if (!p->line)
        return bad(p, "device %d is missing: devices are numbered from 0 without gaps", i);
    if (!d->memory || d->bandwidth <= 0 || d->gemm[SC_S] <= 0 || d->gemm[SC_D] <= 0)
        return bad(p, "device %d needs memory, bandwidth, gemm s and gemm d", i);
    if (m->link[SC_EMU_HOST][i].bandwidth <= 0 || m->link[i][SC_EMU_HOST].bandwidth <= 0)
        return bad(p, "device %d needs links from and to the host, with bandwidth", i);
    if (d->gemm[SC_C] <= 0)
        d->gemm[SC_C] = d->gemm[SC_S];
    if (d->gemm[SC_Z] <= 0)
        d->gemm[SC_Z] = d->gemm[SC_D];
    if (!*d->name)
        snprintf(d->name, sizeof d->name, "device %d", i);
    return true;
}

static bool check_links(struct parser *p)
{
    for (int i = 0; i < SC_EMU_ENDS; i++)
        for (int j = 0; j < SC_EMU_ENDS; j++) {
            int device = j == SC_EMU_HOST ? i : i == SC_EMU_HOST || j > i ? j : i;
            if (!p->link_line[i][j])
                continue;
            p->line = p->link_line[i][j];
            if (device >= p->machine->devices)
                return bad(p, "a link names device %d, which is not described", device);
            if (p->machine->link[i][j].bandwidth <= 0)
                return bad(p, "the link needs a bandwidth");
        }
    return true;
}

static bool check(struct parser *p)
{
    if (!p->machine->devices)
        return bad(p, "the file has no devices");
    for (int i = 0; i < p->machine->devices; i++)
        if (!check_device(p, i))
            return false;
    for (int i = 0; i < p->machine->groups; i++)
        if (!p->machine->group[i].steps) {
            p->line = p->group_line[i];
            return bad(p, "group %s needs a bandwidth", p->machine->group[i].name);
        }
    return check_links(p);
}

enum sc_status sc_emu_machine_read(const char *path, struct sc_emu_machine *machine)
{
    struct parser p = {.path = path, .machine = machine};
    FILE *file = fopen(path, "re");
    bool good;

    memset(machine, 0, sizeof *machine);
    machine->digest = UINT64_C(0xcbf29ce484222325);
    if (!file) {
        sc_log(SC_LOG_ERROR, "cannot read the machine file %s: %s", path, strerror(errno));
        return SC_ERR_IO;
    }
    good = read_lines(&p, file) && check(&p);
    fclose(file);
    return good ? SC_OK : SC_ERR_INVALID;
}

/* Lists the machine files of a folder, for the message about a missing file. */
static void list(const char *folder, char *out, size_t size)
{
    DIR *dir = opendir(folder);
    size_t used = 0;

    *out = '\0';
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".machine") || used + strlen(entry->d_name) + 3 > size)
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", used ? ", " : "", (int)(dot - entry->d_name),
                                 entry->d_name);
    }
    if (dir)
        closedir(dir);
}

enum sc_status sc_emu_machine_find(const char *folder, const char *name, struct sc_emu_machine *machine)
{
    char path[4096], known[512];
    FILE *file;

    if (strchr(name, '/'))
        return sc_emu_machine_read(name, machine);
    if (!folder)
        folder = SC_DATA_DIR "/machines";
    snprintf(path, sizeof path, "%s/%s.machine", folder, name);
    file = fopen(path, "re");
    if (!file && errno == ENOENT) {
        list(folder, known, sizeof known);
        sc_log(SC_LOG_ERROR, "no emulated machine '%s' in %s (there: %s); give emu:NAME or emu:/PATH/FILE.machine",
               name, folder, *known ? known : "none");
        return SC_ERR_INVALID;
    }
    if (file)
        fclose(file);
    return sc_emu_machine_read(path, machine);
}

static int moved(int end, int first) { return end == SC_EMU_HOST ? end : end + first; }

void sc_emu_machine_keep(struct sc_emu_machine *machine, int first, int count)
{
    machine->devices = count;
    for (int i = 0; i < count; i++)
        machine->device[i] = machine->device[i + first];
    /* Ascending order: every source moves before the write to its place. */
    for (int from = 0; from < SC_EMU_ENDS; from++)
        for (int to = 0; to < SC_EMU_ENDS; to++) {
            int a = moved(from, first), b = moved(to, first);

            if ((from != SC_EMU_HOST && from >= count) || (to != SC_EMU_HOST && to >= count))
                continue;
            machine->link[from][to] = machine->link[a][b];
            for (int g = 0; g < machine->groups; g++)
                machine->group[g].carries[from][to] = machine->group[g].carries[a][b];
        }
}
/* SPDX-License-Identifier: BSD-2-Clause */
