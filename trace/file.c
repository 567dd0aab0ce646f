#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define FIRST_DESCRIPTOR 100 /* programs expect the small numbers for their own files */

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

/* Opens a file that exists already, if emptying it harms nobody.  O_NONBLOCK: a FIFO must not hold us. */
static int open_existing(const char *path, mode_t mode, const char **problem)
{
    struct stat about;
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0) {
        *problem = errno == ELOOP ? "it is a symbolic link" : strerror(errno);
        return -1;
    }
    if (fstat(fd, &about) != 0)
        *problem = strerror(errno);
    else if (!S_ISREG(about.st_mode))
        *problem = "it is not a regular file";
    else if (about.st_uid != geteuid())
        *problem = "it belongs to another user";
    else if (about.st_nlink != 1)
        *problem = "it has several names";
    else if (fchmod(fd, about.st_mode & mode) != 0 || ftruncate(fd, 0) != 0)
        *problem = strerror(errno);
    else
        return fd;
    close(fd);
    return -1;
}

int sc_trace_create_file(const char *path, mode_t mode, const char *what)
{
    char full[PATH_MAX];
    const char *problem = NULL;
    int fd = -1, high;

    if (!expand_path(path, full, sizeof full)) {
        problem = "the name is too long";
    } else {
        fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno == EEXIST)
            fd = open_existing(full, mode, &problem);
        else if (fd < 0)
            problem = strerror(errno);
    }
    if (fd < 0) {
        sc_log(SC_LOG_WARN, "cannot write the %s %s: %s; none is written", what, path, problem);
        return -1;
    }
    high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    return fd;
}

bool sc_trace_write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes) {
        ssize_t n = write(fd, at, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}
