/* Where the library's own files are: beside the library, wherever it was installed, moved, copied or built. */
#ifndef SC_LIBSEMCACHE_PLACES_H
#define SC_LIBSEMCACHE_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/* Folders: of machine files, of device modules.  Those that configure was given, until sc_places_find has been called.
 * */
struct sc_places {
    const char *machines, *modules;
};
extern struct sc_places sc_places;

/* Looks from where the library's file is (links are followed; NULL: unknown): in an installed tree by the same steps
 * as between the folders that configure was given; in a build tree where `make` puts the files.  Before settings are
 * read. */
void sc_places_find(const char *library);

/* Where `to` is for a file that configure would have put into folder `from` and that is in folder `here` (as
 * sc_places_folder says it).  False: there is nothing, or the name does not fit. */
bool sc_places_moved(const char *here, const char *from, const char *to, char *out, size_t bytes);

/* The folder of a file, links followed; false: there is no such file. */
bool sc_places_folder(const char *file, char *out, size_t bytes);

#endif
