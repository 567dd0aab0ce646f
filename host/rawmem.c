/* Reads and writes the process's own memory regardless of page protection, through /proc/self/mem: the DMA of
 * emulated devices.  Some hardened systems forbid the access (proc_mem.force_override=never); every call then fails
 * with SC_ERR_IO. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/own_fd.h"
#include "host/host_int.h"

#define TRIES 8
#define PIECE ((size_t)1 << 30) /* the system call moves less than 2 GiB at a time */

static enum sc_status transfer(long call, uintptr_t at, char *local, size_t bytes)
{
    int fd = sc_fd_self_mem(), tries = 0;

    while (bytes && fd >= 0) {
        long n = syscall(call, fd, local, bytes < PIECE ? bytes : PIECE, (long)at);

        if (n < 0 && (errno == EINTR || (errno == EBADF && tries++ < TRIES))) {
            fd = sc_fd_self_mem(); /* the program may have closed the descriptor */
            continue;
        }
        if (n <= 0)
            break;
        at += (size_t)n;
        local += n;
        bytes -= (size_t)n;
    }
    if (!bytes)
        return SC_OK;
    sc_log_once(SC_LOG_ERROR, "/proc/self/mem: %s; emulated devices need it (proc_mem.force_override, hidepid?)",
                strerror(errno));
    return SC_ERR_IO;
}

enum sc_status sc_host_write(void *dst, const void *src, size_t bytes)
{
    int saved = errno;
    enum sc_status status = transfer(SYS_pwrite64, (uintptr_t)dst, (char *)(uintptr_t)src, bytes);

    errno = saved;
    return status;
}

enum sc_status sc_host_read(void *dst, const void *src, size_t bytes)
{
    int saved = errno;
    enum sc_status status = transfer(SYS_pread64, (uintptr_t)src, dst, bytes);

    errno = saved;
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
