/* Lines of the source from addr2line, if addr2line is installed and the program has debug information; otherwise
 * functions from the symbol table. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/tool.h"

/* Answers kept for reuse, because the same lines are printed often. */
#define KNOWN 512
static struct known {
    uint64_t ip;
    char *text;
} known[KNOWN];

/* The standard output of addr2line -f -e path address: a function, a line; false: no answer. */
static bool ask(const char *path, const char *address, char *function, char *line, int bytes)
{
    int ends[2], status;
    bool got = false;
    FILE *in;
    pid_t child;

    if (pipe(ends) != 0)
        return false;
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(STDERR_FILENO);
        execlp("addr2line", "addr2line", "-f", "-e", path, address, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    in = fdopen(ends[0], "r");
    if (in) {
        got = fgets(function, bytes, in) != NULL && fgets(line, bytes, in) != NULL;
        fclose(in);
    } else {
        close(ends[0]);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 && got;
}

static void put_word(FILE *out, const char *text)
{
    sc_trace_put_text(out, (struct sc_trace_text){text, strcspn(text, "\n ")}, "?");
}

/* The file's name without folders, to keep lines short. */
static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void look_up(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    const struct sc_trace_module *module = sc_trace_module_of(trace, ip);
    char path[4096], address[32], function[4096], line[4096];
    bool answered;

    if (!module || module->path.bytes >= sizeof path) {
        fprintf(out, "0x%" PRIx64, ip);
        return;
    }
    snprintf(path, sizeof path, "%.*s", (int)module->path.bytes, module->path.at);
    snprintf(address, sizeof address, "0x%" PRIx64, ip - module->head.bias);
    answered = ask(path, address, function, line, sizeof line);
    if (answered && line[0] != '?') {
        put_word(out, last_name(line));
        return;
    }
    put_word(out, last_name(path));
    fprintf(out, "+%s", address);
    if (answered && function[0] != '?') {
        fputs("(", out);
        put_word(out, function);
        fputs(")", out);
    }
}

void sc_tool_put_line(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    struct known *slot = &known[ip * UINT64_C(0x9e3779b97f4a7c15) >> 55];
    size_t bytes;
    FILE *text;

    if (!slot->text || slot->ip != ip) {
        free(slot->text);
        *slot = (struct known){.ip = ip};
        fflush(out); /* for the child process that runs addr2line */
        text = open_memstream(&slot->text, &bytes);
        if (text) {
            look_up(text, trace, ip);
            fclose(text);
        }
    }
    fputs(slot->text ? slot->text : "?", out);
}
/* SPDX-License-Identifier: BSD-2-Clause */
