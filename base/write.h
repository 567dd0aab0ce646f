/* Writing without signals: a full disk or a closed pipe must not end the program for an output of the library. */
#ifndef SC_BASE_WRITE_H
#define SC_BASE_WRITE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Around system calls that write: this thread gets no SIGPIPE and no SIGXFSZ of theirs.  Keeps errno.  Safe in
 * handlers. */
struct sc_write_quiet {
    sigset_t before, pending;
};
void sc_write_quiet_begin(struct sc_write_quiet *quiet);
void sc_write_quiet_end(const struct sc_write_quiet *quiet);

/* Writes all of it, without these signals; false (errno set) when the system does not take it. */
bool sc_write_all(int fd, const void *data, size_t bytes);

#endif
