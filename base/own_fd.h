/* Descriptors of the library and of device drivers, protected against programs that close or replace descriptors by
 * number. */
#ifndef SC_BASE_OWN_FD_H
#define SC_BASE_OWN_FD_H

#include <stdbool.h>
#include <sys/types.h>

/* An open file with its identity.  A daemon may close descriptors unknown to it, and the number may then belong to
 * another file.  After a fork the descriptor would still refer to the parent's file.  {0}: no file. */
struct sc_fd {
    int fd; /* descriptor plus 1; 0: not open */
    pid_t owner;
    dev_t device;
    ino_t inode;
};

/* Takes over descriptor `low` and moves it to a high number, because programs expect the lowest numbers.  Returns the
 * new number, or -1 after closing `low`. */
int sc_fd_keep(struct sc_fd *own, int low);
/* Returns the descriptor if it still refers to the file kept by this process, else -1.  Takes no lock. */
int sc_fd_get(const struct sc_fd *own);
/* Closes the descriptor, also one inherited from the parent, if it still refers to the kept file. */
void sc_fd_drop(struct sc_fd *own);

/* Protects, in this process, the descriptors of a device driver: files with a path prefix in `prefixes`.  The
 * array ends with NULL and stays the caller's.  NULL: no prefixes. */
void sc_fd_spare(const char *const *prefixes);

/* Protects descriptor `fd`, which a device driver has made for itself (a pipe, an eventfd, a socket).  Does nothing for
 * fd < 0, for a protected descriptor, or when the table is full.  Keeps errno.  Thread safe. */
void sc_fd_of_driver(int fd);
/* True for a descriptor that is protected so.  Async-signal-safe. */
bool sc_fd_is_of_driver(int fd);

/* Protects the pipes and eventfds that a driver makes between the two calls, also by its own system calls past libc's
 * functions.  Pipes and eventfds that are new at the end, with close-on-exec, are the driver's, unless
 * sc_fd_of_program named the descriptor meanwhile.  One thread at a time. */
void sc_fd_driver_begins(void);
void sc_fd_driver_ended(void);
/* The program has made descriptor `fd`.  Does nothing for fd < 0.  Thread safe and async-signal-safe. */
void sc_fd_of_program(int fd);

/* The lowest kept or protected descriptor >= from, or -1.  Async-signal-safe. */
int sc_fd_next(int from);

/* /proc/self/mem for reading and writing.  Opened at the first call, and again after the program has closed it.
 * Returns -1 with errno if the system refuses.  Thread safe. */
int sc_fd_self_mem(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
