/* closefrom and close_range close what the program opened, and leave the library's and a driver's descriptors open. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/inside.h"
#include "base/own_fd.h"
#include "tests/host_fake.h"
#include "tests/tap.h"

#define DRIVERS 40 /* more than one reading of /proc/self/fd gives */

static int mine[DRIVERS], drivers[DRIVERS];

static bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

static int count_open(const int *fds)
{
    int count = 0;

    for (int i = 0; i < DRIVERS; i++)
        count += is_open(fds[i]);
    return count;
}

static void open_both(void)
{
    for (int i = 0; i < DRIVERS; i++) {
        if (!is_open(drivers[i]))
            drivers[i] = open("/dev/zero", O_RDWR);
        mine[i] = open("/dev/null", O_RDWR);
    }
}

static void test_made_inside(void)
{
    int theirs[6], own[2], *volatile nowhere = NULL;

    sc_inside_enter();
    theirs[5] = pipe(theirs) || pipe2(theirs + 2, O_CLOEXEC) ? -1 : eventfd(0, 0);
    theirs[4] = socket(AF_UNIX, SOCK_STREAM, 0);
    sc_inside_leave();
    if (pipe(own))
        own[0] = own[1] = -1;
    closefrom(3);
    tap_ok(is_open(theirs[0]) && is_open(theirs[1]) && is_open(theirs[2]) && is_open(theirs[3]) && is_open(theirs[4]) &&
               is_open(theirs[5]),
           "pipes, events and sockets that are made inside the library stay");
    tap_ok(!is_open(own[0]) && !is_open(own[1]), "and the program's do not");
    tap_ok(pipe(nowhere) == -1 && errno == EFAULT && pipe2(nowhere, 0) == -1 && errno == EFAULT &&
               socketpair(AF_UNIX, SOCK_STREAM, 0, nowhere) == -1 && errno == EFAULT,
           "an address that the kernel refuses is not read");
}

/* A driver may make system calls of its own, past libc and so past the interposed functions. */
static void test_made_past_libc(void)
{
    int theirs[5], own[3], early[2];

    if (pipe2(early, O_CLOEXEC))
        early[0] = early[1] = -1;
    sc_fd_driver_begins();
    theirs[4] = (int)syscall(SYS_pipe2, theirs, O_CLOEXEC) ? -1 : (int)syscall(SYS_eventfd2, 0, EFD_CLOEXEC);
    if (pipe2(own, O_CLOEXEC))
        own[0] = own[1] = -1;
    own[2] = (int)syscall(SYS_eventfd2, 0, 0); /* drivers set close-on-exec */
    sc_fd_driver_ended();
    if (syscall(SYS_pipe2, theirs + 2, O_CLOEXEC))
        theirs[2] = theirs[3] = -1;
    closefrom(3);
    tap_ok(is_open(theirs[0]) && is_open(theirs[1]) && is_open(theirs[4]),
           "pipes and events that a driver makes past libc while it starts stay");
    tap_ok(!is_open(own[0]) && !is_open(own[1]) && !is_open(own[2]), "those that the program makes meanwhile do not");
    tap_ok(!is_open(early[0]) && !is_open(early[1]) && !is_open(theirs[2]) && !is_open(theirs[3]),
           "nor those made before or after");
}

static void test_poll_beyond_the_limit(void)
{
    struct pollfd drivers_event, mine_event;
    struct rlimit before, none;
    int result[4], error;

    sc_inside_enter();
    drivers_event = (struct pollfd){.fd = eventfd(1, EFD_CLOEXEC), .events = POLLIN | POLLOUT};
    sc_inside_leave();
    mine_event = (struct pollfd){.fd = eventfd(1, EFD_CLOEXEC), .events = POLLIN};
    getrlimit(RLIMIT_NOFILE, &before);
    none = (struct rlimit){0, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    result[0] = poll(&drivers_event, 1, -1);
    result[1] = drivers_event.revents;
    drivers_event.events = POLLPRI;
    result[2] = poll(&drivers_event, 1, 1);
    errno = 0;
    result[3] = poll(&mine_event, 1, 0);
    error = errno;
    setrlimit(RLIMIT_NOFILE, &before);
    tap_ok(result[0] == 1 && result[1] == (POLLIN | POLLOUT), "a driver polls beyond the limit on descriptors");
    tap_ok(result[2] == 0 && drivers_event.revents == 0, "and waits in vain for what does not come");
    tap_ok(result[3] == -1 && error == EINVAL, "a poll of the program is refused as ever");
}

int main(void)
{
    static const char *const files[] = {"/dev/other", "/dev/ze", NULL};
    int status = -1;
    pid_t child;

    memset(drivers, -1, sizeof drivers);
    open_both();
    sc_fd_spare(files);
    closefrom(3);
    tap_ok(count_open(drivers) == DRIVERS, "closefrom leaves the driver's descriptors open");
    tap_ok(count_open(mine) == 0, "and closes all of the program's between them");

    open_both();
    tap_ok(close_range((unsigned)drivers[3], (unsigned)drivers[7], 0) == 0 && is_open(drivers[3]) &&
               is_open(drivers[7]),
           "a range that begins and ends with the driver's");
    tap_ok(close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0 && fcntl(mine[20], F_GETFD) == FD_CLOEXEC,
           "flags reach the program's descriptors");
    tap_ok(close_range(9, 3, 0) == -1 && errno == EINVAL, "an empty range is the kernel's error");

    child = fork();
    if (child == 0) {
        closefrom(3);
        _exit(count_open(drivers));
    }
    waitpid(child, &status, 0);
    tap_ok(status == 0, "a forked child closes the driver's, too: its devices are the parent's");

    test_made_inside();
    test_made_past_libc();
    test_poll_beyond_the_limit();
    sc_fd_spare(NULL);
    closefrom(3);
    tap_ok(count_open(drivers) == 0, "without a driver nothing is spared");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
