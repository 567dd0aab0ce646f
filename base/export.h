/* Marks a definition that leaves libsemcache.so; everything else is hidden.  The name must also stand in an export list
 * (libsemcache/README). */
#ifndef SC_BASE_EXPORT_H
#define SC_BASE_EXPORT_H

#define SC_EXPORT __attribute__((visibility("default")))

#endif
