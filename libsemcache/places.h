/* Folders of the library's own files, found relative to the library: the installation may be moved, copied or built in
 * place. */
#ifndef SC_LIBSEMCACHE_PLACES_H
#define SC_LIBSEMCACHE_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/* The folders of machine files and of device modules.  Before sc_places_find: the folders known to configure. */
struct sc_places {
    const char *machines, *modules;
};
extern struct sc_places sc_places;

/* Finds the folders relative to the library's file (symbolic links resolved; NULL: unknown).  In an installed tree the
 * relative paths are those between configure's folders; in a build tree, those used by `make`.  Call before the
 * settings are read. */
void sc_places_find(const char *library);

/* Computes the place of `to` for a file that configure would have put into folder `from` and that lies in folder `here`
 * (from sc_places_folder).  False if the place does not exist or the name is too long. */
bool sc_places_moved(const char *here, const char *from, const char *to, char *out, size_t bytes);

/* The folder of a file, with symbolic links resolved; false if the file does not exist. */
bool sc_places_folder(const char *file, char *out, size_t bytes);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
