#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/write.h"
#include "trace/format.h"

#define FIRST_DESCRIPTOR 100 /* small numbers are left for the program's own files */

#define REMEDY "; name another file, or remove this one first"

static const struct {
    const char *what, *begin, *foreign;
} kinds[SC_FILE_KINDS] = {
    [SC_FILE_TRACE] = {"trace", SC_TRACE_MAGIC, "it is not a trace of semcache's" REMEDY},
    [SC_FILE_STATISTICS] = {"statistics", "{\n  \"semcache\": ", "semcache did not write it as statistics" REMEDY},
    [SC_FILE_EXPLANATION] = {"explanation", "# semcache explain ",
                             "semcache did not write it as an explanation" REMEDY},
    [SC_FILE_MEASUREMENTS] = {"measurements", "semcache-database ", "it has no measurements of semcache's" REMEDY},
    [SC_FILE_PICTURE] = {"picture", SC_FILE_PICTURE_BEGIN, "it is not a picture of semcache's" REMEDY},
};

/* --- what may be replaced ----------------------------------------------------------------------------------------- */

/* Expands "%p"; false when the result is too long. */
static bool expand_path(const char *path, char *out, size_t bytes)
{
    size_t used = 0;

    for (; *path; path++) {
        int n = 1;

        if (path[0] == '%' && path[1] == 'p') {
            n = snprintf(out + used, bytes - used, "%ld", (long)getpid());
            path++;
        } else {
            out[used] = *path;
        }
        used += (size_t)n;
        if (used >= bytes)
            return false;
    }
    out[used] = '\0';
    return true;
}

static const char *refusal_by_status(const struct stat *about)
{
    if (S_ISLNK(about->st_mode))
        return "it is a symbolic link; name the file itself";
    if (S_ISDIR(about->st_mode))
        return "it is a folder; name a file";
    if (!S_ISREG(about->st_mode))
        return "it is not a regular file; name one";
    if (about->st_uid != geteuid())
        return "it belongs to another user; name another file";
    if (about->st_nlink != 1)
        return "it has several names" REMEDY;
    return about->st_mode & S_IWUSR ? NULL : "it is write-protected" REMEDY;
}

static const char *refusal_by_contents(int fd, enum sc_file_kind kind)
{
    size_t bytes = strlen(kinds[kind].begin);
    char begin[64];
    ssize_t n = pread(fd, begin, bytes, 0);

    if (n < 0)
        return strerror(errno);
    return n == 0 || ((size_t)n == bytes && memcmp(begin, kinds[kind].begin, bytes) == 0) ? NULL : kinds[kind].foreign;
}

static const char *refusal_of(const char *path, enum sc_file_kind kind)
{
    struct stat about;
    const char *problem;
    int fd;

    if (lstat(path, &about) != 0)
        return errno == ENOENT ? NULL : strerror(errno);
    problem = refusal_by_status(&about);
    if (problem)
        return problem;
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return strerror(errno);
    problem = refusal_by_contents(fd, kind);
    close(fd);
    return problem;
}

/* Measurements and pictures belong to a machine and not to a process: "%p" in their names has no special meaning. */
static bool full_name(const char *path, enum sc_file_kind kind, char *full, size_t bytes)
{
    if (kind != SC_FILE_MEASUREMENTS && kind != SC_FILE_PICTURE)
        return expand_path(path, full, bytes);
    return (size_t)snprintf(full, bytes, "%s", path) < bytes;
}

const char *sc_trace_file_refusal(const char *path, enum sc_file_kind kind)
{
    char full[PATH_MAX];

    return full_name(path, kind, full, sizeof full) ? refusal_of(full, kind) : "the name is too long";
}

/* --- files -------------------------------------------------------------------------------------------------------- */

/* Opens a new file beside `name`. An existing file of this temporary name is left from a dead process. */
static int create_fresh(int folder, const char *name, mode_t mode, char *fresh, size_t bytes)
{
    int length = snprintf(fresh, bytes, "%s.%ld.new", name, (long)getpid());

    if (length < 0 || (size_t)length >= bytes) {
        errno = ENAMETOOLONG;
        return -1;
    }
    unlinkat(folder, fresh, 0);
    return openat(folder, fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

/* Renames the new file to the final name, or removes the new file. */
static bool settle(int folder, const char *fresh, const char *name, bool good)
{
    int saved;

    if (good && renameat(folder, fresh, folder, name) == 0)
        return true;
    saved = errno;
    unlinkat(folder, fresh, 0);
    errno = saved;
    return false;
}

bool sc_trace_replace_file(int folder, const char *name, mode_t mode, const char *text, size_t bytes)
{
    char fresh[PATH_MAX];
    int fd = create_fresh(folder, name, mode, fresh, sizeof fresh), saved;
    bool good;

    if (fd < 0)
        return false;
    good = settle(folder, fresh, name, sc_write_all(fd, text, bytes));
    saved = errno;
    close(fd);
    errno = saved;
    return good;
}

static bool refused(const char *path, enum sc_file_kind kind, const char *problem)
{
    sc_log(SC_LOG_WARN, "cannot write the %s %s: %s; none is written", kinds[kind].what, path, problem);
    return false;
}

/* The path with the process id inserted; false: the file may not be replaced. */
static bool permitted(const char *path, enum sc_file_kind kind, char *full, size_t bytes)
{
    const char *problem = full_name(path, kind, full, bytes) ? refusal_of(full, kind) : "the name is too long";

    return problem ? refused(path, kind, problem) : true;
}

bool sc_trace_write_file(const char *path, mode_t mode, enum sc_file_kind kind, const char *text, size_t bytes)
{
    char full[PATH_MAX];

    if (!permitted(path, kind, full, sizeof full))
        return false;
    return sc_trace_replace_file(AT_FDCWD, full, mode, text, bytes) || refused(path, kind, strerror(errno));
}

int sc_trace_create_file(const char *path, mode_t mode, enum sc_file_kind kind)
{
    char full[PATH_MAX], fresh[PATH_MAX];
    int fd, high;

    if (!permitted(path, kind, full, sizeof full))
        return -1;
    fd = create_fresh(AT_FDCWD, full, mode, fresh, sizeof fresh);
    if (fd < 0 || !settle(AT_FDCWD, fresh, full, true)) {
        refused(path, kind, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    return fd;
}
/* SPDX-License-Identifier: BSD-2-Clause */
