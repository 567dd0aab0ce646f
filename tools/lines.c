/* Lines of the source: what addr2line says, when it is installed and the program has debug information. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/tool.h"

/* The standard output of addr2line -e path address: its first line; false: there is none. */
static bool ask(const char *path, const char *address, char *line, int bytes)
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
        execlp("addr2line", "addr2line", "-e", path, address, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    in = fdopen(ends[0], "r");
    if (in) {
        got = fgets(line, bytes, in) != NULL;
        fclose(in);
    } else {
        close(ends[0]);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 && got;
}

void sc_tool_put_line(FILE *out, const struct sc_trace_reading *trace, uint64_t ip)
{
    const struct sc_trace_module *module = sc_trace_module_of(trace, ip);
    char path[4096], address[32], line[4096];

    if (!module || module->path.bytes >= sizeof path) {
        fprintf(out, "0x%" PRIx64, ip);
        return;
    }
    snprintf(path, sizeof path, "%.*s", (int)module->path.bytes, module->path.at);
    snprintf(address, sizeof address, "0x%" PRIx64, ip - module->head.bias);
    fflush(out);
    if (ask(path, address, line, sizeof line) && line[0] != '?') {
        sc_trace_put_text(out, (struct sc_trace_text){line, strcspn(line, "\n ")}, "?");
        return;
    }
    sc_trace_put_text(out, module->path, "?");
    fprintf(out, "+%s", address);
}
