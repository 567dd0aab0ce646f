#include "tools/process.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libsemcache.so"
#define DELETED " (deleted)"

static FILE *open_of(pid_t pid, const char *what)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, what);
    return fopen(path, "re");
}

static bool is_library(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && strncmp(slash + 1, LIBRARY, sizeof LIBRARY - 1) == 0;
}

/* A line of the list of mappings: "LOW-HIGH MODE OFFSET DEVICE INODE   PATH". */
static void take_mapping(struct sc_process *process, char *line)
{
    uint64_t low, offset;
    int path = 0;
    char *end;

    process->mappings++;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64 " %*s %*s %n", &low, &offset, &path) < 2 || !path ||
        !is_library(line + path) || *process->library)
        return;
    process->base = (uintptr_t)(low - offset);
    end = strstr(line + path, DELETED);
    process->replaced = end != NULL;
    if (end)
        *end = '\0';
    snprintf(process->library, sizeof process->library, "%s", line + path);
}

const char *sc_process_look(pid_t pid, struct sc_process *process)
{
    char line[PATH_MAX + 128], path[64];
    FILE *maps = open_of(pid, "maps");
    ssize_t length;

    *process = (struct sc_process){.pid = pid};
    if (!maps)
        return errno == ENOENT ? "there is no such process" : strerror(errno);
    while (fgets(line, sizeof line, maps))
        take_mapping(process, line);
    fclose(maps);
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    length = readlink(path, process->program, sizeof process->program - 1);
    process->program[length > 0 ? length : 0] = '\0';
    return process->mappings ? NULL : "it has ended, or is a part of the kernel";
}

const char *sc_process_remedy(pid_t pid)
{
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    int scope = file ? getc(file) : '0';

    if (file)
        fclose(file);
    if (kill(pid, 0) != 0 && errno == ESRCH)
        return "name the number of a running process";
    return scope > '0' ? "the system keeps processes from each other (kernel.yama.ptrace_scope is not 0): look as root"
                       : "a process is open to its own user and to root: look as one of them";
}

char **sc_process_environment(pid_t pid)
{
    FILE *file = open_of(pid, "environ");
    char **entries = file ? calloc(1, sizeof *entries) : NULL, *entry = NULL;
    size_t count = 0, room = 1, bytes = 0;

    while (entries && getdelim(&entry, &bytes, '\0', file) > 0) {
        if (count + 1 >= room) {
            char **grown = realloc(entries, (room *= 2) * sizeof *entries);

            if (!grown)
                break;
            entries = grown;
        }
        entries[count++] = entry;
        entries[count] = NULL;
        entry = NULL;
    }
    free(entry);
    if (file)
        fclose(file);
    return entries;
}
/* SPDX-License-Identifier: BSD-2-Clause */
