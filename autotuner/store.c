#define _GNU_SOURCE
#include "autotuner/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loader.h"
#include "base/log.h"
#include "trace/file.h"

/* --- the key ------------------------------------------------------------------------------------------------------ */

static void add(char *key, size_t bytes, const char *text)
{
    size_t used = strlen(key);

    for (; *text && used + 1 < bytes; text++) /* one line, with single blanks */
        if ((unsigned char)*text > ' ' || (used && key[used - 1] != ' '))
            key[used++] = (unsigned char)*text > ' ' ? *text : ' ';
    key[used] = '\0';
}

static void add_processor(char *key, size_t bytes)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512], cores[48];

    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) == 0 && colon) {
            add(key, bytes, colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
    snprintf(cores, sizeof cores, ", %ld cores; ", sysconf(_SC_NPROCESSORS_ONLN));
    add(key, bytes, cores);
}

/* Adds version and threads of OpenBLAS; for other libraries the file has to do. */
static void add_host_blas(const struct sc_device_host *host, char *key, size_t bytes)
{
    void *dgemm = host->blas_symbol("dgemm_");
    char *(*about)(void) = (char *(*)(void))host->blas_symbol("openblas_get_config");
    int (*threads)(void) = (int (*)(void))host->blas_symbol("openblas_get_num_threads");
    char number[48];
    struct sc_loader_object file;

    if (about)
        add(key, bytes, about());
    else if (dgemm && sc_loader_object(dgemm, &file))
        add(key, bytes, file.path);
    if (threads) {
        snprintf(number, sizeof number, ", %d threads", threads());
        add(key, bytes, number);
    }
}

void sc_store_key(const struct sc_device_ops *ops, int devices, const struct sc_device_host *host, char *key,
                  size_t bytes)
{
    struct sc_device_properties p;
    char text[320];

    *key = '\0';
    add_processor(key, bytes);
    add_host_blas(host, key, bytes);
    for (int d = 0; d < devices; d++) {
        if (ops->properties(d, &p) != SC_OK)
            continue;
        snprintf(text, sizeof text, "; %d: %s, %s", d, p.name, p.identity);
        add(key, bytes, text);
    }
}

void sc_store_name(const char *key, const char *suffix, char *name, size_t bytes)
{
    /* FNV-1a; the file contains the whole key. Versions have separate names: a newer library measures again, and an
     * older library finds its own file. */
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ SC_DATABASE_VERSION;

    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * UINT64_C(0x100000001b3);
    snprintf(name, bytes, "%016" PRIx64 ".%s", hash, suffix);
}

/* --- the folder --------------------------------------------------------------------------------------------------- */

/* mkdir -p; the last folder is private. */
static void make_folders(const char *path)
{
    char part[PATH_MAX];

    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return;
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(part, 0700);
        *slash = '/';
    }
    mkdir(part, 0700);
}

int sc_store_folder(const char *path, bool quiet)
{
    struct stat about;
    const char *problem = NULL;
    int fd;

    if (!path || *path != '/') {
        if (!quiet)
            sc_log(SC_LOG_WARN, "there is no cache folder for measurements: neither XDG_CACHE_HOME nor HOME is set");
        return -1;
    }
    make_folders(path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        problem = strerror(errno);
    else if (fstat(fd, &about) != 0)
        problem = strerror(errno);
    else if (about.st_uid != geteuid())
        problem = "it belongs to another user";
    else if (about.st_mode & (S_IWGRP | S_IWOTH))
        problem = "others may write to it";
    if (!problem)
        return fd;
    if (!quiet)
        sc_log(SC_LOG_WARN, "the cache folder %s is not used: %s", path, problem);
    if (fd >= 0)
        close(fd);
    return -1;
}

int sc_store_lock(int folder)
{
    int fd = openat(folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

static struct sc_database *read_open(int fd, const char *name, const char *key, bool partial)
{
    FILE *file = fdopen(fd, "r");
    struct sc_database *db;

    if (!file) {
        close(fd);
        return NULL;
    }
    db = sc_database_read(file, name, partial);
    fclose(file);
    if (db && strcmp(db->machine, key) != 0) {
        sc_log(SC_LOG_WARN, "%s was measured on another machine: %.150s; it is not used", name, db->machine);
        sc_database_free(db);
        return NULL;
    }
    return db;
}

struct sc_database *sc_store_read(int folder, const char *name, const char *key, bool partial)
{
    struct stat about;
    const char *problem = NULL;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 && errno == ENOENT)
        return NULL;
    if (fd < 0)
        problem = errno == ELOOP ? "it is a symbolic link" : strerror(errno);
    else if (fstat(fd, &about) != 0)
        problem = strerror(errno);
    else if (!S_ISREG(about.st_mode))
        problem = "it is not a regular file";
    else if (about.st_uid != geteuid())
        problem = "it belongs to another user";
    else if (about.st_mode & (S_IWGRP | S_IWOTH))
        problem = "others may write to it";
    if (!problem)
        return read_open(fd, name, key, partial);
    sc_log(SC_LOG_WARN, "the measurements %s in the cache folder are not used: %s", name, problem);
    if (fd >= 0)
        close(fd);
    return NULL;
}

struct sc_database *sc_store_read_file(const char *path, const char *key)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
        return read_open(fd, path, key, false);
    sc_log(SC_LOG_ERROR, "cannot read the database %s: %s", path,
           fd < 0 ? strerror(errno) : "it is not a regular file");
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* Writes a new file beside the old file, and renames the new file. A link of the name is replaced, and not followed. */
enum sc_status sc_store_write(int folder, const char *name, const struct sc_database *db, bool partial)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    bool good;

    if (!memory)
        return SC_ERR_MEMORY;
    sc_database_write(db, memory, partial);
    if (fclose(memory) != 0) {
        free(text);
        return SC_ERR_MEMORY;
    }
    good = sc_trace_replace_file(folder, name, 0600, text, bytes);
    if (!good)
        sc_log(SC_LOG_WARN, "cannot write the measurements %s: %s", name, strerror(errno));
    free(text);
    return good ? SC_OK : SC_ERR_IO;
}

enum sc_status sc_store_write_file(const char *path, const struct sc_database *db)
{
    const char *slash = strrchr(path, '/');
    const char *problem = sc_trace_file_refusal(path, SC_FILE_MEASUREMENTS);
    char folder[PATH_MAX];
    enum sc_status status;
    int fd;

    if (problem) {
        sc_log(SC_LOG_ERROR, "cannot write the measurements to %s: %s", path, problem);
        return SC_ERR_IO;
    }
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        sc_log(SC_LOG_ERROR, "cannot write the measurements to %s: %s", path, strerror(errno));
        return SC_ERR_IO;
    }
    status = sc_store_write(fd, slash ? slash + 1 : path, db, false);
    close(fd);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
