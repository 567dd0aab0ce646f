/* fork and exit run handlers that libraries have registered.  A library that a second thread is loading may have
 * registered only half of its handlers.  Handlers registered after a fork has begun are not run for that fork.  An
 * OpenBLAS whose threads were not ended before the fork waits for the threads in the child for ever, or accesses
 * memory out of bounds.  These calls therefore wait until no thread of the library is loading.
 *
 * Not interposed: a return from main (libsemcache/opener.c), and forks inside libc's own functions, which fork.c's
 * handlers hold up.
 *
 * libc runs no fork handlers for _Fork and clone.  The library's are run here, because the child would otherwise
 * find closed pages whose data is on the parent's devices.
 *
 * The descriptors of the library and of device drivers survive the calls by which programs close all unknown
 * descriptors. */
#define _GNU_SOURCE
#include <limits.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/forks.h"
#include "base/inside.h"
#include "base/own_fd.h"
#include "host/host_int.h"
#include "host/libc.h"
#include "host/next.h"
#include "host/process.h"
#include "host/stacks.h"

SC_HOST_EXPORT pid_t __fork(void);
SC_HOST_EXPORT pid_t _Fork(void); /* this and the last two: not in every C library */
SC_HOST_EXPORT int __clone(int (*body)(void *), void *stack, int flags, void *arg, ...) __THROW
    __attribute__((alias("clone")));
SC_HOST_EXPORT void closefrom(int first);
SC_HOST_EXPORT int close_range(unsigned first, unsigned last, int flags);

static void *next_fork, *next_forkpty, *next_daemon, *next_exit, *next__Fork, *next_clone;
static void *next_close_range, *next_closefrom, *next_eventfd, *next_socket;
static void (*before_fork)(void), (*before_exit)(void); /* atomic */

#define NEXT(name) ((__typeof__(name) *)sc_host_next(&next_##name, #name))

/* At load: fork and exit may be called in signal handlers, where looking names up is not safe. */
static void __attribute__((constructor)) find_next(void)
{
    NEXT(fork);
    NEXT(forkpty);
    NEXT(daemon);
    NEXT(exit);
    NEXT(_Fork);
    NEXT(clone);
    NEXT(close_range);
    NEXT(closefrom);
    NEXT(eventfd);
    NEXT(socket);
}

void sc_host_process_before(void (*fork)(void), void (*exit)(void))
{
    __atomic_store_n(&before_fork, fork, __ATOMIC_RELEASE);
    __atomic_store_n(&before_exit, exit, __ATOMIC_RELEASE);
}

SC_HOST_EXPORT pid_t fork(void)
{
    sc_host_call_set(&before_fork);
    return NEXT(fork)();
}

SC_HOST_EXPORT pid_t __fork(void) { return fork(); }

SC_HOST_EXPORT int forkpty(int *main_end, char *name, const struct termios *mode, const struct winsize *size)
{
    sc_host_call_set(&before_fork);
    return NEXT(forkpty)(main_end, name, mode, size);
}

SC_HOST_EXPORT int daemon(int nochdir, int noclose)
{
    sc_host_call_set(&before_fork);
    return NEXT(daemon)(nochdir, noclose);
}

SC_HOST_EXPORT void exit(int status)
{
    sc_host_call_set(&before_exit);
    NEXT(exit)(status);
    __builtin_unreachable();
}

/* --- forks that run no handlers ----------------------------------------------------------------------------------- */

/* Inside the library, that is while a fault is served, data cannot be brought to host memory. */
bool sc_host_process_divides(void)
{
    if (sc_inside())
        return false;
    sc_host_call_set(&before_fork);
    sc_forks_prepare();
    return true;
}

bool sc_host_is_fork(long number, const long argument[6])
{
    switch (number) {
    case SYS_fork:
        return true;
    case SYS_clone:
        return !(argument[0] & CLONE_VM);
    case SYS_clone3: /* the flags are the first field */
        return argument[0] && !(*(const uint64_t *)argument[0] & CLONE_VM);
    default:
        return false;
    }
}

void sc_host_process_divided(bool in_child) { (in_child ? sc_forks_child : sc_forks_parent)(); }

SC_HOST_EXPORT pid_t _Fork(void)
{
    bool prepared = sc_host_process_divides();
    pid_t child = NEXT(_Fork)();

    if (prepared)
        sc_host_process_divided(child == 0);
    return child;
}

/* The start of a child of clone.  The struct lies on the parent's stack; the child has a copy of that stack. */
struct beginning {
    int (*body)(void *);
    void *arg;
    bool prepared;
};

static int begin(void *first)
{
    struct beginning b = *(const struct beginning *)first;

    if (b.prepared)
        sc_host_process_divided(true);
    return b.body(b.arg);
}

static int clones(int (*body)(void *), void *stack, int flags, void *arg, va_list more)
{
    pid_t *parent = va_arg(more, pid_t *);
    void *tls = va_arg(more, void *);
    pid_t *child = va_arg(more, pid_t *);
    struct beginning b = {body, arg, false};
    int result;

    if (flags & CLONE_VM)
        sc_host_stack_at((uintptr_t)stack - 1, 1);
    if (!body || !stack || flags & CLONE_VM)
        return NEXT(clone)(body, stack, flags, arg, parent, tls, child);
    b.prepared = sc_host_process_divides();
    result = NEXT(clone)(begin, stack, flags, &b, parent, tls, child);
    if (b.prepared)
        sc_host_process_divided(false);
    return result;
}

SC_HOST_EXPORT int clone(int (*body)(void *), void *stack, int flags, void *arg, ...)
{
    va_list more;
    int result;

    va_start(more, arg);
    result = clones(body, stack, flags, arg, more);
    va_end(more);
    return result;
}

/* --- descriptors -------------------------------------------------------------------------------------------------- */

/* Kept descriptors (the library's) and spared ones (a driver's) have close-on-exec set already, so they are skipped
 * with CLOSE_RANGE_CLOEXEC, too.  A driver that starts in a thread opens files between the files found here. */
SC_HOST_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    int own, result = 0;

    if (!sc_inside())
        sc_host_call_set(&before_fork);
    while (result == 0 && first <= last && first <= INT_MAX && (own = sc_fd_next((int)first)) >= 0 &&
           (unsigned)own <= last) {
        if ((unsigned)own > first)
            result = NEXT(close_range)(first, (unsigned)own - 1, flags);
        first = (unsigned)own + 1;
        if (first > last)
            return result;
    }
    return result ? result : NEXT(close_range)(first, last, flags);
}

/* libc's closefrom has a fallback for kernels without close_range. */
SC_HOST_EXPORT void closefrom(int first)
{
    if (close_range(first < 0 ? 0 : (unsigned)first, UINT_MAX, 0))
        NEXT(closefrom)(first);
}

/* A driver's descriptors of these kinds have no path.  The driver's calls come from threads inside the library. */
static int made(int result, const int *fds, int count)
{
    for (int i = 0; i < count && result >= 0; i++)
        (sc_inside() ? sc_fd_of_driver : sc_fd_of_program)(fds[i]);
    return result;
}

SC_HOST_EXPORT int pipe(int ends[2]) { return made(sc_libc_pipe(ends), ends, 2); }
SC_HOST_EXPORT int pipe2(int ends[2], int flags) { return made(sc_libc_pipe2(ends, flags), ends, 2); }

SC_HOST_EXPORT int socketpair(int domain, int type, int protocol, int ends[2])
{
    return made(sc_libc_socketpair(domain, type, protocol, ends), ends, 2);
}

SC_HOST_EXPORT int eventfd(unsigned value, int flags)
{
    int fd = NEXT(eventfd)(value, flags);

    return made(fd, &fd, 1);
}

SC_HOST_EXPORT int socket(int domain, int type, int protocol)
{
    int fd = NEXT(socket)(domain, type, protocol);

    return made(fd, &fd, 1);
}

/* poll, by select, of descriptors that are not too large for select. */
static int poll_by_select(struct pollfd *polled, nfds_t count, int milliseconds)
{
    struct timeval limit = {milliseconds / 1000, milliseconds % 1000 * 1000};
    fd_set sets[3]; /* for reading, writing, urgent data */
    const short kinds[] = {POLLIN, POLLOUT, POLLPRI};
    int found = 0, end = 0;

    for (int s = 0; s < 3; s++) {
        FD_ZERO(&sets[s]);
        for (nfds_t i = 0; i < count; i++)
            if (polled[i].events & kinds[s])
                FD_SET(polled[i].fd, &sets[s]);
    }
    for (nfds_t i = 0; i < count; i++)
        end = polled[i].fd >= end ? polled[i].fd + 1 : end;
    if (select(end, &sets[0], &sets[1], &sets[2], milliseconds < 0 ? NULL : &limit) < 0)
        return -1;
    for (nfds_t i = 0; i < count; i++) {
        polled[i].revents = 0;
        for (int s = 0; s < 3; s++)
            if (FD_ISSET(polled[i].fd, &sets[s]))
                polled[i].revents |= kinds[s];
        found += polled[i].revents != 0;
    }
    return found;
}

/* The kernel refuses to poll more descriptors than a process may open.  A program may lower that limit after a driver
 * has opened its own, and the driver would take the refusal for the loss of the device. */
SC_HOST_EXPORT int poll(struct pollfd *polled, nfds_t count, int milliseconds)
{
    int result = sc_libc_poll(polled, count, milliseconds);

    if (result != -1 || errno != EINVAL || !count || count > FD_SETSIZE)
        return result;
    for (nfds_t i = 0; i < count; i++)
        if (polled[i].fd >= FD_SETSIZE || !sc_fd_is_of_driver(polled[i].fd)) {
            errno = EINVAL;
            return -1;
        }
    return poll_by_select(polled, count, milliseconds);
}
/* SPDX-License-Identifier: BSD-2-Clause */
