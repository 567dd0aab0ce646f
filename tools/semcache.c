/* The command `semcache`: hands over to its subcommands. */
#include <config.h>

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"

/* libc looks for the symbol, so the symbol may not be hidden. */
const char *argp_program_version __attribute__((visibility("default"))) = PACKAGE_STRING;

static const struct sc_tool_command commands[] = {{"run", "semcache run", sc_tool_run},
                                                  {"info", "semcache info", sc_tool_info},
                                                  {"trace", "semcache trace", sc_tool_trace},
                                                  {"tune", "semcache tune", sc_tool_tune},
                                                  {"doctor", "semcache doctor", sc_tool_doctor},
                                                  {"stat", "semcache stat", sc_tool_stat}};

/* All output must have arrived: a full disk is a failure, whatever the status of the command. */
static void check_output(void)
{
    bool good = !ferror(stdout), empty = __fpending(stdout) == 0;

    errno = 0;
    if (good && (fclose(stdout) == 0 || (empty && errno == EBADF))) /* closed, and nothing to print */
        return;
    fprintf(stderr, "semcache: cannot write the output: %s\n", errno ? strerror(errno) : "an earlier write failed");
    _exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    static const struct sc_tool_menu menu = {
        .command = commands,
        .commands = sizeof commands / sizeof *commands,
        .missing = "a command is missing: run, info, trace, tune, doctor or stat",
        .kind = "command",
        .choices = "run, info, trace, tune, doctor or stat",
        .args_doc = "run [OPTION...] PROGRAM [ARGUMENT...]\ninfo [OPTION...]\n"
                    "trace dump FILE  (or blame, explain, states, diff, report, check, assert, export, replay)\n"
                    "tune [OPTION...]\n"
                    "doctor [OPTION...] [PROGRAM|TRACE]\nstat [OPTION...] PID",
        .doc = "Runs BLAS programs with their matrices kept on the GPUs between calls.\v"
               "`semcache COMMAND --help' says more of a command; semcache(1) is the manual."};

    argp_err_exit_status = 2;
    atexit(check_output);
    if (argc > 1 && strcmp(argv[1], "completion") == 0) /* for shells; not in the menu */
        return sc_tool_completion(&menu, argc - 1, argv + 1);
    return sc_tool_choose(&menu, argc, argv);
}
/* SPDX-License-Identifier: BSD-2-Clause */
