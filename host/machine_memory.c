/* The limit on this process's memory: the machine's memory or the limits of its control groups (versions 1 and 2). */
#include "host/span.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own_proc.h"

#define UNLIMITED_FROM (UINT64_C(1) << 60) /* version 1 writes a huge number for "no limit" */

const char *sc_host_cgroup_root = "/sys/fs/cgroup";   /* replaced by tests */
const char *sc_host_cgroup_self = SC_OWN_PROC "cgroup";

/* Number of bytes read; 0 when the file cannot be read. */
static size_t slurp(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t got = 0;
    ssize_t n;

    while (fd >= 0 && got < room - 1 && (n = read(fd, text + got, room - 1 - got)) > 0)
        got += (size_t)n;
    if (fd >= 0)
        close(fd);
    text[got] = 0;
    return got;
}

static uint64_t limit_in(const char *path)
{
    char text[64];
    uint64_t bytes;

    if (!slurp(path, text, sizeof text) || text[0] < '0' || text[0] > '9') /* "max" */
        return UINT64_MAX;
    bytes = strtoull(text, NULL, 10);
    return bytes < UNLIMITED_FROM ? bytes : UINT64_MAX;
}

/* The least of the limits of a group and its parents. */
static uint64_t limit_along(const char *controller, char *group, const char *file)
{
    uint64_t least = UINT64_MAX;

    for (;;) {
        char path[PATH_MAX];
        char *slash = strrchr(group, '/');
        uint64_t here;

        snprintf(path, sizeof path, "%s%s%s/%s", sc_host_cgroup_root, controller, group, file);
        here = limit_in(path);
        least = here < least ? here : least;
        if (!slash)
            return least;
        *slash = 0; /* to the parent; in a container the path may be the host's, but the root is the container's */
    }
}

/* The limit by a line "number:controllers:group" of /proc/self/cgroup. */
static uint64_t limit_of(char *line)
{
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group)
        return UINT64_MAX;
    *group++ = 0;
    if (strcmp(controllers, ":") == 0)
        return limit_along("", group, "memory.max");
    return strcmp(controllers, ":memory") == 0 ? limit_along("/memory", group, "memory.limit_in_bytes") : UINT64_MAX;
}

uint64_t sc_host_memory_limit(void)
{
    uint64_t least = (uint64_t)sysconf(_SC_PHYS_PAGES) * SC_PAGE;
    char text[8192], *rest = NULL;

    slurp(sc_host_cgroup_self, text, sizeof text);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        uint64_t here = limit_of(line);

        least = here < least ? here : least;
    }
    return least;
}
/* SPDX-License-Identifier: BSD-2-Clause */
