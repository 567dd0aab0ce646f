/* Statistics of this process (doc/statistics.md), read as a program can read them. */
#ifndef SC_TESTS_STATISTICS_H
#define SC_TESTS_STATISTICS_H

#include <stdio.h>
#include <string.h>

#include "semcache/semcache.h"

/* The first number behind `"key":` and, if not NULL, behind the first `"part":` in the same line; -1: no such key. */
static inline long statistic(const char *key, const char *part)
{
    char line[512], name[64];
    FILE *file = tmpfile();
    long value = -1;

    if (!file)
        return -1;
    semcache_statistics_write(file);
    rewind(file);
    while (value < 0 && fgets(line, sizeof line, file)) {
        const char *at = line;

        snprintf(name, sizeof name, "\"%s\":", key);
        at = strstr(at, name);
        if (at && part) {
            snprintf(name, sizeof name, "\"%s\":", part);
            at = strstr(at, name);
        }
        if (at)
            sscanf(strchr(at, ':') + 1, " %ld", &value);
    }
    fclose(file);
    return value;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
