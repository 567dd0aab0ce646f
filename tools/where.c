/* Places of the library and of the replaying program: relative to this program, in an installed, moved, copied or
 * built tree; otherwise the places of configure. */
#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsemcache/places.h"
#include "tools/tool.h"

/* A file with the place `installed` of configure, and the place `built` relative to a folder of the build tree. */
static const char *find(const char *installed, const char *built, char *out, size_t bytes)
{
    char here[PATH_MAX];

    if (sc_places_folder("/proc/self/exe", here, sizeof here) &&
        (sc_places_moved(here, "/tools", built, out, bytes) ||
         sc_places_moved(here, SC_BIN_DIR, installed, out, bytes)))
        return out;
    return installed;
}

const char *sc_tool_library(void)
{
    static char path[PATH_MAX];
    static const char *library;

    if (!library)
        library = find(SC_LIBRARY_FILE, "/.libs/libsemcache.so.0", path, sizeof path);
    return library;
}

const char *sc_tool_replayer(void)
{
    static char path[PATH_MAX];
    static const char *replayer;

    if (!replayer)
        replayer = find(SC_REPLAY_FILE, "/tools/semcache-replay", path, sizeof path);
    return replayer;
}

bool sc_tool_adapter(const char *name, bool library, char *out, size_t bytes)
{
    char installed[PATH_MAX], built[PATH_MAX];

    snprintf(installed, sizeof installed, "%s/%s", library ? SC_ADAPTER_LIBRARIES : SC_ADAPTERS_DIR, name);
    snprintf(built, sizeof built, "/adapters/built/%s", name);
    if (find(installed, built, out, bytes) == installed)
        snprintf(out, bytes, "%s", installed);
    return access(out, R_OK) == 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
