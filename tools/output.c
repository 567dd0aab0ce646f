/* Names of files to write, from options. Parsing touches no file: after a forgotten FILE, the name may be a program. */
#include <config.h>

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/tool.h"

/* A later option of the same kind replaces an earlier option. */
static struct output {
    const char *option, *path;
} outputs[SC_FILE_KINDS];

static void refuse(const char *tool, const char *option, const char *path, const char *problem)
{
    fprintf(stderr, "%s: %s %s: %s\n", tool, option, path, problem);
    exit(argp_err_exit_status);
}

void sc_tool_output(const char *tool, const char *option, enum sc_file_kind kind, const char *path)
{
    if (*path == '-' && path[1])
        refuse(tool, option, path, "this looks like an option: a FILE comes first (./-name for a name with a dash)");
    if (strcmp(path, "-") == 0 && kind != SC_FILE_STATISTICS && kind != SC_FILE_EXPLANATION)
        refuse(tool, option, path, "this is written to a file only: name one");
    outputs[kind] = (struct output){option, *path == '-' ? NULL : strdup(path)};
}

static bool is_same(const char *one, const char *other)
{
    struct stat first, second;

    if (strcmp(one, other) == 0)
        return true;
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

void sc_tool_outputs_check(const char *tool, const char *input)
{
    for (int kind = 0; kind < SC_FILE_KINDS; kind++) {
        const struct output *output = &outputs[kind];
        const char *problem = output->path ? sc_trace_file_refusal(output->path, (enum sc_file_kind)kind) : NULL;

        if (problem)
            refuse(tool, output->option, output->path, problem);
        if (output->path && input && is_same(output->path, input))
            refuse(tool, output->option, output->path, "this is the file that is read; name another file");
        for (int other = 0; output->path && other < kind; other++)
            if (outputs[other].path && is_same(output->path, outputs[other].path))
                refuse(tool, output->option, output->path, "two files have this name; name another for one of them");
    }
}

/* A program may end without writing; the user would take an old file for its output. */
void sc_tool_outputs_clear(void)
{
    for (int kind = 0; kind < SC_FILE_KINDS; kind++)
        if (outputs[kind].path && !strstr(outputs[kind].path, "%p") &&
            !sc_trace_file_refusal(outputs[kind].path, (enum sc_file_kind)kind))
            unlink(outputs[kind].path);
}
/* SPDX-License-Identifier: BSD-2-Clause */
