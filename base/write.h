/* Output without signals: a full disk or a closed pipe must not end the program because the library writes. */
#ifndef SC_BASE_WRITE_H
#define SC_BASE_WRITE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Brackets for system calls that write: the thread gets no SIGPIPE and no SIGXFSZ from them.  errno is kept.
 * Async-signal-safe. */
struct sc_write_quiet {
    sigset_t before, pending;
};
void sc_write_quiet_begin(struct sc_write_quiet *quiet);
void sc_write_quiet_end(const struct sc_write_quiet *quiet);

/* Writes all bytes, without SIGPIPE and SIGXFSZ.  Returns false with errno if the system refuses. */
bool sc_write_all(int fd, const void *data, size_t bytes);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
