#define _GNU_SOURCE
#include "base/self_mem.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own_fd.h"

#define TRIES 8

/* Advances the vector by the bytes that one system call has moved. */
static int advance(struct iovec **iov, int count, size_t bytes)
{
    while (count > 0 && bytes >= (*iov)->iov_len) {
        bytes -= (*iov)->iov_len;
        ++*iov;
        count--;
    }
    if (count > 0) {
        (*iov)->iov_base = (char *)(*iov)->iov_base + bytes;
        (*iov)->iov_len -= bytes;
    }
    return count;
}

/* The system call takes the position as two words; a 64-bit position needs only the first. */
enum sc_status sc_self_mem_move(bool write, struct iovec *iov, int count, uintptr_t at)
{
    int saved = errno, mem, tries = 0;

    count = advance(&iov, count, 0); /* without empty parts at the front, no call moves 0 bytes */
    mem = count > 0 ? sc_fd_self_mem() : -1;
    while (count > 0) {
        long n = syscall(write ? SYS_pwritev : SYS_preadv, mem, iov, count, at, 0L);

        if (n < 0 && (errno == EINTR || (errno == EBADF && tries++ < TRIES))) {
            mem = sc_fd_self_mem(); /* the program may have closed the descriptor */
            continue;
        }
        if (n <= 0) {
            errno = n ? errno : EFAULT;
            return SC_ERR_IO;
        }
        at += (uintptr_t)n;
        count = advance(&iov, count, (size_t)n);
    }
    errno = saved;
    return SC_OK;
}
/* SPDX-License-Identifier: BSD-2-Clause */
