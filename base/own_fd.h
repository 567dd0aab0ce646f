/* Descriptors of the library and of device drivers, which a program may close or replace without knowing. */
#ifndef SC_BASE_OWN_FD_H
#define SC_BASE_OWN_FD_H

#include <stdbool.h>
#include <sys/types.h>

/* An open file, and what identifies it: programs close descriptors that they do not know (daemons), and the number may
 * then belong to another file.  After fork it would still be the parent's.  Begins as {0}: none. */
struct sc_fd {
    int fd; /* plus 1; 0: not open */
    pid_t owner;
    dev_t device;
    ino_t inode;
};

/* Takes a descriptor over (it is closed when that fails), under a number out of the way of programs that expect the
 * lowest ones.  The number, or -1. */
int sc_fd_keep(struct sc_fd *own, int low);
/* Its number when it is still the file that was kept, by this process; else -1.  Without a lock. */
int sc_fd_get(const struct sc_fd *own);
/* Closes one that is this process's, or was its parent's. */
void sc_fd_drop(struct sc_fd *own);

/* Spares descriptors of files whose paths begin with one of `prefixes` (NULL at the end, kept by the caller), in this
 * process: the files of a device's driver.  NULL: none. */
void sc_fd_spare(const char *const *prefixes);

/* The lowest descriptor, of the kept and the spared, that is `from` or more, or -1.  Async-signal-safe. */
int sc_fd_next(int from);

/* /proc/self/mem for reading and writing, opened at the first call, and again where the program has closed it; -1 when
 * the system refuses (errno).  Thread safe. */
int sc_fd_self_mem(void);

#endif
