/* Reading and writing the process's own memory whatever the protection of its pages: /proc/self/mem.  The emulated
 * devices' DMA.  Some hardened systems forbid it (proc_mem.force_override=never): then every call fails with
 * SC_ERR_IO. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "base/locks.h"
#include "base/log.h"
#include "host/host_int.h"
#include "host/own_fd.h"

#define PIECE ((size_t)1 << 30) /* the system call moves less than 2 GiB at once */

static struct sc_lock lock = SC_LOCK(SC_RANK_OWN_FD); /* opening only */
static struct sc_host_fd mem;

static int mem_fd(void)
{
    int fd = sc_host_fd_get(&mem);

    if (fd >= 0)
        return fd;
    sc_lock(&lock);
    fd = sc_host_fd_get(&mem);
    if (fd < 0) {
        sc_host_fd_drop(&mem); /* the parent's, inherited */
        fd = sc_host_fd_keep(&mem, open("/proc/self/mem", O_RDWR | O_CLOEXEC));
    }
    sc_unlock(&lock);
    return fd;
}

static enum sc_status transfer(long call, uintptr_t at, char *local, size_t bytes)
{
    int fd = mem_fd();

    while (bytes && fd >= 0) {
        long n = syscall(call, fd, local, bytes < PIECE ? bytes : PIECE, (long)at);

        if (n < 0 && errno == EINTR)
            continue;
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
