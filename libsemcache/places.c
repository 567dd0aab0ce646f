#include <config.h>

#include "libsemcache/places.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SC_MODULE_DIR
#error "libsemcache/places.c is built with SC_MODULE_DIR and SC_DATA_DIR"
#endif

#define MACHINES SC_DATA_DIR "/machines"
#define BUILT "/.libs" /* libtool's folder in a build tree */

struct sc_places sc_places = {MACHINES, SC_MODULE_DIR};

/* Length of the common leading folders. */
static size_t common(const char *one, const char *other)
{
    size_t same = 0;

    for (size_t i = 0;; i++) {
        bool one_ends = one[i] == '/' || !one[i], other_ends = other[i] == '/' || !other[i];

        if (one_ends && other_ends)
            same = i;
        if (one[i] != other[i] || !one[i])
            return same;
    }
}

bool sc_places_moved(const char *here, const char *from, const char *to, char *out, size_t bytes)
{
    size_t same = common(from, to), used = (size_t)snprintf(out, bytes, "%s", here);

    for (const char *step = from + same; *step && used < bytes; step++)
        if (*step == '/' && step[1] && step[1] != '/') { /* one folder up; `here` has no symbolic links */
            char *last = strrchr(out, '/');

            used = last ? (size_t)(last - out) : 0;
            out[used] = '\0';
        }
    if (used < bytes)
        used += (size_t)snprintf(out + used, bytes - used, "%s", to + same);
    return used < bytes && access(out, R_OK) == 0;
}

bool sc_places_folder(const char *file, char *out, size_t bytes)
{
    char path[PATH_MAX], *slash;

    if (!realpath(file, path) || !(slash = strrchr(path, '/')))
        return false;
    *slash = '\0';
    return (size_t)snprintf(out, bytes, "%s", path) < bytes;
}

static bool is_built(const char *folder)
{
    size_t length = strlen(folder);

    return length > strlen(BUILT) && strcmp(folder + length - strlen(BUILT), BUILT) == 0;
}

/* libdir: the folder of the modules' folder. */
static const char *library_folder(char *out, size_t bytes)
{
    snprintf(out, bytes, "%s", SC_MODULE_DIR);
    *strrchr(out, '/') = '\0';
    return out;
}

void sc_places_find(const char *library)
{
    static char machines[PATH_MAX], modules[PATH_MAX];
    char here[PATH_MAX], from[PATH_MAX];

    sc_places = (struct sc_places){MACHINES, SC_MODULE_DIR};
    if (!library || !sc_places_folder(library, here, sizeof here))
        return;
    library_folder(from, sizeof from);
    if (sc_places_moved(here, from, MACHINES, machines, sizeof machines) ||
        (is_built(here) && sc_places_moved(here, "/.libs", "/machines", machines, sizeof machines)))
        sc_places.machines = machines;
    if (sc_places_moved(here, from, SC_MODULE_DIR, modules, sizeof modules))
        sc_places.modules = modules;
    else if (is_built(here) && (size_t)snprintf(modules, sizeof modules, "%s", here) < sizeof modules)
        sc_places.modules = modules;
}
/* SPDX-License-Identifier: BSD-2-Clause */
