/* Files that the library writes for its user. */
#ifndef SC_TRACE_FILE_H
#define SC_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Creates `path` for writing, or empties it when it is a regular file of our own with one name.  Never follows
 * a link, never widens what others may read.  Returns a descriptor that is closed on exec and out of the way of
 * programs that count theirs, or -1 (one log line, which calls the file `what`).  "%p" in the path stands for the
 * process id. */
int sc_trace_create_file(const char *path, mode_t mode, const char *what);

/* Writes all of it; false (errno set) when the system does not take it. */
bool sc_trace_write_all(int fd, const void *data, size_t bytes);

#endif
