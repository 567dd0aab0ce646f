/* Reading and writing the process's own memory whatever the protection of its pages: /proc/self/mem.  The emulated
 * devices' DMA.  Some hardened systems forbid it (proc_mem.force_override=never): then every call fails with
 * SC_ERR_IO. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "host/host_int.h"

#define FD_FROM 512           /* out of the way of programs that expect the lowest numbers */
#define PIECE ((size_t)1 << 30) /* the system call moves less than 2 GiB at once */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* opening only */

/* The open file, and what identifies it: programs close descriptors that they do not know (daemons), and the number may
 * then belong to another file.  After fork it would still be the parent's memory. */
static struct {
    int fd; /* plus 1; 0: not open */
    pid_t owner;
    dev_t device;
    ino_t inode;
} mem;

static bool same_file(int fd)
{
    struct stat now;

    return fstat(fd, &now) == 0 && now.st_dev == mem.device && now.st_ino == mem.inode;
}

static int open_mem(void)
{
    int low = open("/proc/self/mem", O_RDWR | O_CLOEXEC), fd;
    struct stat now;

    if (low < 0)
        return -1;
    fd = fcntl(low, F_DUPFD_CLOEXEC, FD_FROM);
    if (fd < 0)
        fd = low; /* a small limit on descriptors */
    else
        close(low);
    if (fstat(fd, &now) != 0) {
        close(fd);
        return -1;
    }
    mem.device = now.st_dev;
    mem.inode = now.st_ino;
    __atomic_store_n(&mem.owner, getpid(), __ATOMIC_RELEASE);
    __atomic_store_n(&mem.fd, fd + 1, __ATOMIC_RELEASE);
    return fd;
}

static int mem_fd(void)
{
    int fd = __atomic_load_n(&mem.fd, __ATOMIC_ACQUIRE) - 1;

    if (fd >= 0 && __atomic_load_n(&mem.owner, __ATOMIC_ACQUIRE) == getpid() && same_file(fd))
        return fd;
    pthread_mutex_lock(&lock);
    fd = mem.fd - 1;
    if (fd < 0 || mem.owner != getpid() || !same_file(fd)) {
        if (fd >= 0 && mem.owner != getpid() && same_file(fd))
            close(fd); /* the parent's, inherited */
        fd = open_mem();
    }
    pthread_mutex_unlock(&lock);
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
