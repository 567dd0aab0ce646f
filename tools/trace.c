/* semcache trace: prints, explains, checks and replays a trace file. */
#include <config.h>

#include <argp.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsemcache/config.h"
#include "tools/tool.h"
#include "trace/filter.h"
#include "trace/perfetto.h"
#include "trace/states.h"
#include "trace/totals.h"

enum { KIND = 256, ROUTINE, LINE, MATRIX, TILE, THREAD, DEVICE, ADDRESS, FROM, TO, JSON, PERFETTO,
       MAX_H2D, MAX_D2H, MAX_D2D, MAX_FAULTS };

struct asked {
    char *file, *second; /* second: a second argument, where there may be one (`arguments` 2) */
    int arguments;
    bool summary, json;
    struct sc_trace_filter filter;
    uint64_t most[SC_TRANSFERS], faults; /* allowed; UINT64_MAX: any number */
};

static const struct argp_option json_option[] = {{"json", JSON, NULL, 0, "an object of JSON a line", 0}, {0}};

static const struct asked nothing_asked = {.arguments = 1,
                                           .filter = SC_TRACE_FILTER_ALL,
                                           .most = {UINT64_MAX, UINT64_MAX, UINT64_MAX},
                                           .faults = UINT64_MAX};

/* A number of the command line; ends the tool without a number. */
static uint64_t number(struct argp_state *state, const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 0);

    if (*text < '0' || *text > '9' || *end)
        argp_error(state, "%s is not a number", text);
    return value;
}

static double seconds(struct argp_state *state, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end)
        argp_error(state, "%s is not a number of seconds", text);
    return value;
}

/* "130M": as in settings. */
static uint64_t bytes(struct argp_state *state, const char *text)
{
    static const struct sc_setting setting = {.kind = SC_SETTING_BYTES, .values = "0", .most = UINT64_MAX};
    struct sc_config config;

    if (!sc_config_set(&config, &setting, text))
        argp_error(state, "%s is not a number of bytes (130M, 2G)", text);
    return *(uint64_t *)&config;
}

/* A kind of event of the command line; ends the tool for another name. */
static const char *kind(struct argp_state *state, const char *text)
{
    char all[512] = "";

    for (uint16_t i = 0; i < SC_EVENT_KINDS; i++) {
        const char *name = sc_trace_kind_name(i);

        if (name && strcmp(name, text) == 0)
            return name;
        if (name)
            snprintf(all + strlen(all), sizeof all - strlen(all), " %s", name);
    }
    argp_error(state, "%s is no kind of event; the kinds are%s", text, all);
    return NULL;
}

static bool parse_filter(int key, char *text, struct argp_state *state, struct sc_trace_filter *filter)
{
    switch (key) {
    case KIND: filter->kind = kind(state, text); return true;
    case ROUTINE: filter->routine = text; return true;
    case LINE: filter->line = text; return true;
    case TILE: filter->tile = (int64_t)number(state, text) & UINT32_MAX; return true;
    case MATRIX: filter->matrix = (int64_t)number(state, text) & UINT32_MAX; return true;
    case THREAD: filter->thread = (int64_t)number(state, text) & UINT32_MAX; return true;
    case DEVICE: filter->device = strcmp(text, "host") == 0 ? -1 : (int)(number(state, text) & INT16_MAX); return true;
    case ADDRESS: filter->address = number(state, text); return true;
    case FROM: filter->from = seconds(state, text); return true;
    case TO: filter->to = seconds(state, text); return true;
    }
    return false;
}

static error_t parse_file(int key, char *text, struct argp_state *state)
{
    struct asked *asked = state->input;

    switch (key) {
    case 'S': asked->summary = true; return 0;
    case PERFETTO: return 0; /* there is no other form */
    case JSON: asked->json = asked->filter.json = true; return 0;
    case MAX_H2D: asked->most[SC_H2D] = bytes(state, text); return 0;
    case MAX_D2H: asked->most[SC_D2H] = bytes(state, text); return 0;
    case MAX_D2D: asked->most[SC_D2D] = bytes(state, text); return 0;
    case MAX_FAULTS: asked->faults = number(state, text); return 0;
    case ARGP_KEY_ARG:
        if ((int)state->arg_num >= asked->arguments)
            argp_error(state, asked->arguments == 1 ? "one file at a time" : "too many arguments");
        *(state->arg_num ? &asked->second : &asked->file) = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the trace file is missing");
        return 0;
    }
    return parse_filter(key, text, state, &asked->filter) ? 0 : ARGP_ERR_UNKNOWN;
}

static int dump(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"summary", 'S', NULL, 0, "what moved, by routine, by line of the program and by matrix", 0},
        {"kind", KIND, "NAME", 0, "only events of this kind (call, fault, transfer...)", 1},
        {"routine", ROUTINE, "NAME", 0, "only those in this routine (dgemm)", 1},
        {"matrix", MATRIX, "NUMBER", 0, "only those of this matrix", 1},
        {"tile", TILE, "NUMBER", 0, "only those of tiles with this number", 1},
        {"line", LINE, "SOURCE:LINE", 0, "only those of the calls and touches of this line, as blame prints lines", 1},
        {"thread", THREAD, "ID", 0, "only those of this thread", 1},
        {"device", DEVICE, "NUMBER", 0, "only those that name this device (or host)", 1},
        {"address", ADDRESS, "0x...", 0, "only those about memory there", 1},
        {"from", FROM, "SECONDS", 0, "only those from then on", 1},
        {"to", TO, "SECONDS", 0, "only those until then", 1},
        {"json", JSON, NULL, 0, "an object of JSON a line", 2},
        {0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse_file,
                                     .args_doc = "FILE",
                                     .doc = "Prints a trace, one line an event, in the order of time."};
    struct asked asked = nothing_asked;
    enum sc_status status;

    sc_tool_parse(&argp, argc, argv, 0, &asked);
    status = asked.summary ? sc_trace_summary(asked.file, stdout, &sc_tool_names)
                           : sc_trace_dump_some(asked.file, stdout, &asked.filter, &sc_tool_names);
    return status == SC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int blame(int argc, char **argv)
{
    static const struct argp argp = {
        .options = json_option,
        .parser = parse_file,
        .args_doc = "FILE",
        .doc = "Prints which lines of the program cost time by what moves, most first, with a remedy for each.\v"
               "Lost are the waits of the CPU for what it touched, and what moving to the devices was predicted to "
               "take; calls of --offload always are not predicted."};
    struct asked asked = nothing_asked;

    sc_tool_parse(&argp, argc, argv, 0, &asked);
    return sc_trace_blame(asked.file, stdout, asked.json, &sc_tool_names) == SC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int states(int argc, char **argv)
{
    static const struct argp_option options[] = {{"from", FROM, "SECONDS", 0, "only changes from then on", 0},
                                                 {"to", TO, "SECONDS", 0, "only changes until then", 0},
                                                 {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse_file,
        .args_doc = "FILE [ARRAY]",
        .doc = "Prints how the states of an array changed, and by which lines of the program.  ARRAY is a number, an "
               "address (0x...) or the line of the allocation (solver.c:12).  Without ARRAY the arrays are listed.\v"
               "%C, %S, %G: sectors on the host only, on both sides, on devices only.  on: a sign for each device: . "
               "nothing, 1 to 9 tenths, # all of the array.  Tiles: a letter a tile, or for several; * is mixed."};
    struct asked asked = nothing_asked;

    asked.arguments = 2;
    sc_tool_parse(&argp, argc, argv, 0, &asked);
    return sc_trace_states(asked.file, stdout, asked.second, &asked.filter, &sc_tool_names) == SC_OK ? EXIT_SUCCESS
                                                                                                     : EXIT_FAILURE;
}

static int report(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse_file,
        .args_doc = "FILE",
        .doc = "Prints a report as one HTML page: the time that moving data cost, the lines that cost most, the arrays "
               "and their residency, the traffic and the states of tiles over time.  The page has no scripts and needs "
               "no network."};
    struct asked asked = nothing_asked;

    sc_tool_parse(&argp, argc, argv, 0, &asked);
    return sc_trace_report(asked.file, stdout, &sc_tool_names) == SC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int diff(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse_file,
        .args_doc = "BEFORE AFTER",
        .doc = "Compares the traces of two runs: sums, and the lines of the program that cost more or less time."};
    struct asked asked = nothing_asked;

    asked.arguments = 2;
    sc_tool_parse(&argp, argc, argv, 0, &asked);
    if (!asked.second) {
        fprintf(stderr, "%s: the second trace file is missing\n", argv[0]);
        return 2;
    }
    return sc_trace_diff(asked.file, asked.second, stdout, &sc_tool_names) == SC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int export(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"perfetto", PERFETTO, NULL, 0, "in the JSON form of chrome://tracing, which ui.perfetto.dev opens", 0}, {0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse_file,
                                     .args_doc = "FILE",
                                     .doc = "Prints a trace in a form that other programs show."};
    struct asked asked = nothing_asked;

    sc_tool_parse(&argp, argc, argv, 0, &asked);
    return sc_trace_perfetto(asked.file, stdout, &sc_tool_names) == SC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool is_within(const char *what, uint64_t count, uint64_t most)
{
    if (count > most)
        printf("%s: %" PRIu64 ", more than %" PRIu64 "\n", what, count, most);
    return count <= most;
}

static bool are_within(const struct sc_trace_totals *totals, const struct asked *asked)
{
    static const char *const ways[SC_TRANSFERS] = {"bytes to devices", "bytes to the host", "bytes between devices"};
    bool good = is_within("faults", totals->faults_read + totals->faults_write, asked->faults);

    for (int way = 0; way < SC_TRANSFERS; way++)
        good = is_within(ways[way], totals->all.bytes[way], asked->most[way]) && good;
    return good;
}

static int assert_limits(int argc, char **argv)
{
    static const struct argp_option options[] = {{"max-h2d", MAX_H2D, "BYTES", 0, "from the host to devices", 0},
                                                 {"max-d2h", MAX_D2H, "BYTES", 0, "from devices to the host", 0},
                                                 {"max-d2d", MAX_D2D, "BYTES", 0, "between devices", 0},
                                                 {"max-faults", MAX_FAULTS, "NUMBER", 0, "touches by the CPU", 0},
                                                 {0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse_file,
                                     .args_doc = "FILE",
                                     .doc = "Succeeds if a traced program has moved no more than it may: a test for "
                                            "your program.  What was more is printed, and the status is 1."};
    static struct sc_trace_totals totals;
    struct asked asked = nothing_asked;
    struct sc_trace_reading trace;
    bool good;

    sc_tool_parse(&argp, argc, argv, 0, &asked);
    if (memcmp(asked.most, nothing_asked.most, sizeof asked.most) == 0 && asked.faults == nothing_asked.faults) {
        fprintf(stderr, "%s: name a limit: --max-h2d, --max-d2h, --max-d2d or --max-faults\n", argv[0]);
        return 2;
    }
    if (sc_trace_read(asked.file, &trace) != SC_OK)
        return EXIT_FAILURE;
    sc_trace_add_up(&trace, &totals);
    good = are_within(&totals, &asked);
    if (trace.header.dropped || trace.header.lost)
        fputs("events are missing: the sums are of the others\n", stdout);
    good = good && !trace.header.dropped && !trace.header.lost;
    sc_trace_read_end(&trace);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int explain(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse_file,
        .args_doc = "FILE",
        .doc = "Prints why: where the calls of each line of the program ran, predicted against measured, and which "
               "lines had what moved, and for what reason.\v"
               "Calls on devices are timed in programs that run with SEMCACHE_EXPLAIN, too."};
    struct asked asked = nothing_asked;

    sc_tool_parse(&argp, argc, argv, 0, &asked);
    return sc_trace_explain(asked.file, stdout, &sc_tool_names) == SC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int check(int argc, char **argv)
{
    static const struct argp argp = {.parser = parse_file,
                                     .args_doc = "FILE",
                                     .doc = "Checks the protocol's invariants event by event, prints the first that "
                                            "broke one."};
    struct asked asked = nothing_asked;

    sc_tool_parse(&argp, argc, argv, 0, &asked);
    return sc_trace_check(asked.file, stdout) == SC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int replay(int argc, char **argv)
{
    static const struct argp_child children[] = {{&sc_tool_settings, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .children = children,
        .parser = parse_file,
        .args_doc = "FILE",
        .doc = "Makes the large BLAS calls of a traced program again, touches what its CPU code touched, and "
               "compares.\v"
               "What is set neither here nor in the environment is as it was recorded."};
    struct asked asked = nothing_asked;

    unsetenv("SEMCACHE_TRACE"); /* a traced program's file, most likely the input */
    sc_tool_parse(&argp, argc, argv, 0, &asked);
    sc_tool_outputs_check(argv[0], asked.file);
    return sc_tool_replay(argv[0], asked.file);
}

static const struct sc_tool_command commands[] = {{"dump", "semcache trace dump", dump},
                                                  {"explain", "semcache trace explain", explain},
                                                  {"check", "semcache trace check", check},
                                                  {"export", "semcache trace export", export},
                                                  {"blame", "semcache trace blame", blame},
                                                  {"states", "semcache trace states", states},
                                                  {"diff", "semcache trace diff", diff},
                                                  {"report", "semcache trace report", report},
                                                  {"assert", "semcache trace assert", assert_limits},
                                                  {"replay", "semcache trace replay", replay}};

int sc_tool_trace(int argc, char **argv)
{
    static const struct sc_tool_menu menu = {
        .command = commands,
        .commands = sizeof commands / sizeof *commands,
        .missing = "say: dump FILE, explain FILE, blame FILE, states FILE, diff BEFORE AFTER, "
                   "report FILE, check FILE, "
                   "assert FILE, export FILE or replay FILE",
        .kind = "trace command",
        .choices = "dump, explain, blame, states, diff, report, check, assert, export or replay",
        .args_doc = "dump [OPTION...] FILE\nexplain FILE\nblame [--json] FILE\nstates FILE [ARRAY]\n"
                    "diff BEFORE AFTER\nreport FILE\ncheck FILE\nassert OPTION... FILE\n"
                    "export --perfetto FILE\n"
                    "replay [OPTION...] FILE",
        .doc = "Looks at the trace of a program, explains it, checks it, or does again what the program did."};

    return sc_tool_choose(&menu, argc, argv);
}
/* SPDX-License-Identifier: BSD-2-Clause */
