#include "base/write.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

void sc_write_quiet_begin(struct sc_write_quiet *quiet)
{
    sigset_t set;

    sigpending(&quiet->pending);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set, &quiet->before);
}

/* Removes signals raised since sc_write_quiet_begin; signals pending before stay pending. */
void sc_write_quiet_end(const struct sc_write_quiet *quiet)
{
    static const int signals[] = {SIGPIPE, SIGXFSZ};
    const struct timespec none = {0, 0};
    int saved = errno;
    sigset_t one;

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigemptyset(&one);
        sigaddset(&one, signals[i]);
        if (!sigismember(&quiet->pending, signals[i]))
            sigtimedwait(&one, NULL, &none);
    }
    pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
    errno = saved;
}

static bool write_bytes(int fd, const char *at, size_t bytes)
{
    while (bytes) {
        ssize_t n = write(fd, at, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

bool sc_write_all(int fd, const void *data, size_t bytes)
{
    struct sc_write_quiet quiet;
    bool good;

    sc_write_quiet_begin(&quiet);
    good = write_bytes(fd, data, bytes);
    sc_write_quiet_end(&quiet);
    return good;
}
/* SPDX-License-Identifier: BSD-2-Clause */
