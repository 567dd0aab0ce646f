/* Where things are.  Installed: where configure said.  In the build tree: beside the program there is a file of
 * NAME=VALUE lines, semcache.uninstalled, which is never installed. */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"

static char library[PATH_MAX] = SC_LIBRARY_FILE, replayer[PATH_MAX] = SC_REPLAY_FILE;

static void read_line(char *line)
{
    char *value = strchr(line, '=');

    if (!value)
        return;
    *value++ = '\0';
    value[strcspn(value, "\n")] = '\0';
    if (strcmp(line, "LIBRARY") == 0)
        snprintf(library, sizeof library, "%s", value);
    else if (strcmp(line, "REPLAY") == 0)
        snprintf(replayer, sizeof replayer, "%s", value);
    else
        setenv(line, value, 0);
}

const char *sc_tool_library(void)
{
    static int looked;
    char path[PATH_MAX + 32], line[PATH_MAX + 64];
    ssize_t n = looked ? -1 : readlink("/proc/self/exe", path, PATH_MAX);
    FILE *file;

    looked = 1;
    if (n <= 0)
        return library;
    strcpy(path + n, ".uninstalled");
    file = fopen(path, "r");
    if (!file)
        return library;
    while (fgets(line, sizeof line, file))
        read_line(line);
    fclose(file);
    return library;
}

const char *sc_tool_replayer(void)
{
    sc_tool_library(); /* reads where both are */
    return replayer;
}
