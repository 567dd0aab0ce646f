/* Functions of libc that no header declares, or declares only to fortified programs. */
#ifndef SC_HOST_LIBC_NAMES_H
#define SC_HOST_LIBC_NAMES_H

#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

ssize_t __read(int, void *, size_t);
ssize_t __pread64(int, void *, size_t, __off64_t);
ssize_t __write(int, const void *, size_t);
ssize_t __pwrite64(int, const void *, size_t, __off64_t);
ssize_t __send(int, const void *, size_t, int);
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, __off64_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, __SOCKADDR_ARG, socklen_t *);
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
size_t __fread_unlocked_chk(void *, size_t, size_t, size_t, FILE *);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
