/* For tests of the moment when a BLAS is loaded. */
#ifndef TESTS_BLAS_IS_MAPPED_H
#define TESTS_BLAS_IS_MAPPED_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A file with "blas" in its name is mapped. */
static bool blas_is_mapped(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    bool found = false;

    while (maps && fgets(line, sizeof line, maps))
        found |= strrchr(line, '/') && strstr(strrchr(line, '/'), "blas"); /* in the name of a file */
    if (maps)
        fclose(maps);
    return found;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
