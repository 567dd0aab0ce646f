/* semcache trace: prints a trace file as text, explains and checks what it tells, or does it again. */
#include <config.h>

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"
#include "trace/trace.h"

struct asked {
    char *file;
    bool summary;
};

static error_t parse_file(int key, char *text, struct argp_state *state)
{
    struct asked *asked = state->input;

    switch (key) {
    case 'S': asked->summary = true; return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one file at a time");
        asked->file = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the trace file is missing");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static int dump(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"summary", 'S', NULL, 0, "what moved, by routine, by line of the program and by matrix", 0}, {0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse_file,
                                     .args_doc = "FILE",
                                     .doc = "Prints a trace, one line an event, in the order of time."};
    struct asked asked = {0};
    enum sc_status status;

    argp_parse(&argp, argc, argv, 0, NULL, &asked);
    status = asked.summary ? sc_trace_summary(asked.file, stdout, sc_tool_put_line) : sc_trace_dump(asked.file, stdout);
    return status == SC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int explain(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse_file,
        .args_doc = "FILE",
        .doc = "Prints why: where the calls of each line of the program ran, predicted against measured, and which "
               "lines had what moved, and for what reason.\v"
               "Calls on devices are timed in programs that run with SEMCACHE_EXPLAIN, too."};
    struct asked asked = {0};

    argp_parse(&argp, argc, argv, 0, NULL, &asked);
    return sc_trace_explain(asked.file, stdout, sc_tool_put_line) == SC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int check(int argc, char **argv)
{
    static const struct argp argp = {.parser = parse_file,
                                     .args_doc = "FILE",
                                     .doc = "Checks the protocol's invariants event by event, prints the first that "
                                            "broke one."};
    struct asked asked = {0};

    argp_parse(&argp, argc, argv, 0, NULL, &asked);
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
    struct asked asked = {0};

    unsetenv("SEMCACHE_TRACE"); /* the file of another program, most likely the one that is read */
    argp_parse(&argp, argc, argv, 0, NULL, &asked);
    sc_tool_outputs_check(argv[0], asked.file);
    return sc_tool_replay(argv[0], asked.file);
}

static const struct sc_tool_command commands[] = {{"dump", "semcache trace dump", dump},
                                                  {"explain", "semcache trace explain", explain},
                                                  {"check", "semcache trace check", check},
                                                  {"replay", "semcache trace replay", replay}};

int sc_tool_trace(int argc, char **argv)
{
    static const struct sc_tool_menu menu = {
        .command = commands,
        .commands = sizeof commands / sizeof *commands,
        .missing = "say: dump FILE, explain FILE, check FILE or replay FILE",
        .kind = "trace command",
        .choices = "dump, explain, check or replay",
        .args_doc = "dump [--summary] FILE\nexplain FILE\ncheck FILE\nreplay [OPTION...] FILE",
        .doc = "Looks at the trace of a program, explains it, checks it, or does again what the program did."};

    return sc_tool_choose(&menu, argc, argv);
}
