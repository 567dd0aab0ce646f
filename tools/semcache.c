/* The command `semcache`: hands over to its subcommands. */
#include <config.h>

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

/* libc looks for it: hidden as the rest is, it would not be found. */
const char *argp_program_version __attribute__((visibility("default"))) = PACKAGE_STRING;

static const struct command {
    const char *name, *full_name;
    int (*run)(int argc, char **argv);
} commands[] = {{"run", "semcache run", sc_tool_run},
                {"info", "semcache info", sc_tool_info},
                {"trace", "semcache trace", sc_tool_trace},
                {"tune", "semcache tune", sc_tool_tune}};

struct choice {
    const struct command *command;
    int at; /* in argv */
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct choice *choice = state->input;

    if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "a command is missing: run, info, trace or tune");
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(text, commands[i].name) == 0)
            choice->command = &commands[i];
    if (!choice->command)
        argp_error(state, "there is no command %s: run, info, trace or tune", text);
    choice->at = state->next - 1;
    state->next = state->argc; /* the rest is the subcommand's */
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = parse,
        .args_doc = "run [OPTION...] PROGRAM [ARGUMENT...]\ninfo [OPTION...]\ntrace dump FILE\n"
                     "trace replay [OPTION...] FILE\ntune [OPTION...]",
        .doc = "Runs BLAS programs with their matrices kept on the GPUs between calls.\v"
               "`semcache COMMAND --help' says more of a command; semcache(1) is the manual."};
    struct choice choice = {0};

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &choice);
    argv[choice.at] = (char *)choice.command->full_name;
    return choice.command->run(argc - choice.at, argv + choice.at);
}
