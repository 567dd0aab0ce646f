#define _GNU_SOURCE
#include "host/own_fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FD_FROM 512

static bool same_file(const struct sc_host_fd *own, int fd)
{
    struct stat now;

    return fstat(fd, &now) == 0 && now.st_dev == own->device && now.st_ino == own->inode;
}

int sc_host_fd_keep(struct sc_host_fd *own, int low)
{
    int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, FD_FROM);
    struct stat now;

    if (low < 0)
        return -1;
    if (fd < 0)
        fd = low; /* a small limit on descriptors */
    else
        close(low);
    if (fstat(fd, &now) != 0) {
        close(fd);
        return -1;
    }
    own->device = now.st_dev;
    own->inode = now.st_ino;
    __atomic_store_n(&own->owner, getpid(), __ATOMIC_RELEASE);
    __atomic_store_n(&own->fd, fd + 1, __ATOMIC_RELEASE);
    return fd;
}

int sc_host_fd_get(const struct sc_host_fd *own)
{
    int fd = __atomic_load_n(&own->fd, __ATOMIC_ACQUIRE) - 1;

    return fd >= 0 && __atomic_load_n(&own->owner, __ATOMIC_ACQUIRE) == getpid() && same_file(own, fd) ? fd : -1;
}

void sc_host_fd_drop(struct sc_host_fd *own)
{
    int fd = own->fd - 1;

    if (fd >= 0 && same_file(own, fd))
        close(fd);
    __atomic_store_n(&own->fd, 0, __ATOMIC_RELEASE);
}
