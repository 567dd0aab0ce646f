/* semcache trace: prints a trace file as text, or does again what it tells. */
#include <config.h>

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"
#include "trace/trace.h"

static error_t parse_file(int key, char *text, struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one file at a time");
        *(char **)state->input = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the trace file is missing");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static int dump(int argc, char **argv)
{
    static const struct argp argp = {.parser = parse_file,
                                     .args_doc = "FILE",
                                     .doc = "Prints a trace, one line an event, in the order of time."};
    char *file = NULL;

    argp_parse(&argp, argc, argv, 0, NULL, &file);
    return sc_trace_dump(file, stdout) == SC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int replay(int argc, char **argv)
{
    static const struct argp_child children[] = {{&sc_tool_settings, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .children = children,
        .parser = parse_file,
        .args_doc = "FILE",
        .doc = "Makes the large BLAS calls of a traced program again, touches what its CPU code touched, and compares.\v"
               "What is set neither here nor in the environment is as it was recorded."};
    char *file = NULL;

    unsetenv("SEMCACHE_TRACE"); /* the file of another program, most likely the one that is read */
    argp_parse(&argp, argc, argv, 0, NULL, &file);
    return sc_tool_replay(argv[0], file);
}

static const struct command {
    const char *name, *full_name;
    int (*run)(int argc, char **argv);
} commands[] = {{"dump", "semcache trace dump", dump}, {"replay", "semcache trace replay", replay}};

struct choice {
    const struct command *command;
    int at; /* in argv */
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct choice *choice = state->input;

    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "say: dump FILE or replay FILE");
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(text, commands[i].name) == 0)
            choice->command = &commands[i];
    if (!choice->command)
        argp_error(state, "there is no trace command %s: dump or replay", text);
    choice->at = state->next - 1;
    state->next = state->argc; /* the rest is the command's */
    return 0;
}

int sc_tool_trace(int argc, char **argv)
{
    static const struct argp argp = {.parser = parse,
                                     .args_doc = "dump FILE\nreplay [OPTION...] FILE",
                                     .doc = "Looks at the trace of a program, or does again what the program did."};
    struct choice choice = {0};

    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice);
    argv[choice.at] = (char *)choice.command->full_name;
    return choice.command->run(argc - choice.at, argv + choice.at);
}
