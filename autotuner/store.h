/* Where databases are kept: one file for each machine, driver and host BLAS in the user's cache folder
 * (sc_config.cache_path).  Files are the user's own (mode 0600), are never read or written through a link, and are
 * replaced as a whole: a reader sees the old one or the new one.  Failures to read are one line, or none where there
 * is no file. */
#ifndef SC_AUTOTUNER_STORE_H
#define SC_AUTOTUNER_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "autotuner/database.h"
#include "device/device.h"

/* What measurements depend on, as one line: processor, cores, host BLAS and its threads, devices and their drivers. */
void sc_store_key(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host, char *key,
                  size_t bytes);

/* The cache folder, made if need be, as a descriptor; -1: there is none (`quiet`: no line about it). */
int sc_store_folder(const char *path, bool quiet);
/* "0123456789abcdef.database" or, of one that is not complete, ".partial". */
void sc_store_name(const char *key, bool partial, char *name, size_t bytes);

/* Reads NAME in the folder; NULL when it is not there, is refused, or is of another machine. */
struct sc_database *sc_store_read(int folder, const char *name, const char *key, bool partial);
/* Replaces NAME by this database. */
enum sc_status sc_store_write(int folder, const char *name, const struct sc_database *db, bool partial);

/* Files that the user names.  Reading follows links, and does not ask whose they are; what is not a file of
 * measurements is not written over (trace/file.h). */
struct sc_database *sc_store_read_file(const char *path, const char *key);
enum sc_status sc_store_write_file(const char *path, const struct sc_database *db);

/* Only one process at a time measures: takes the folder's lock (released with the descriptor that is returned), or
 * returns -1 when another has it. */
int sc_store_lock(int folder);

#endif
