/* Storage of databases: one file per machine, driver and host BLAS in the user's cache folder (sc_config.cache_path).
 * Files have mode 0600, are never read or written through a link, and are replaced as a whole: a reader sees the old or
 * the new file. A failure to read gives one line; a missing file gives no line. */
#ifndef SC_AUTOTUNER_STORE_H
#define SC_AUTOTUNER_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "autotuner/database.h"
#include "device/device.h"

/* The conditions of measurements as one line: processor, cores, host BLAS and its threads, devices and their drivers.
 */
void sc_store_key(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host, char *key,
                  size_t bytes);

/* Opens the cache folder, and makes the folder if necessary. Returns a descriptor, or -1 (`quiet`: without a message).
 */
int sc_store_folder(const char *path, bool quiet);
/* "0123456789abcdef.database".  Other suffixes: "partial" for an interrupted `semcache tune`, "begun" for the
 * measurement inside programs. */
void sc_store_name(const char *key, const char *suffix, char *name, size_t bytes);

/* Reads NAME in the folder; NULL: missing, refused, or of another machine. */
struct sc_database *sc_store_read(int folder, const char *name, const char *key, bool partial);
/* Replaces NAME by this database. */
enum sc_status sc_store_write(int folder, const char *name, const struct sc_database *db, bool partial);

/* Files that the user names. Reading follows links, and accepts any owner. Writing refuses to replace a file that is
 * not a file of measurements (trace/file.h). */
struct sc_database *sc_store_read_file(const char *path, const char *key);
enum sc_status sc_store_write_file(const char *path, const struct sc_database *db);

/* Takes the folder's lock, so that one process at a time measures. Returns a descriptor that holds the lock, or -1 if
 * another process has the lock. */
int sc_store_lock(int folder);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
