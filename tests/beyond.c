/* What doc/limits.md says of accesses that the library does not see, while a device holds C. Each prints what happened.
 *
 *     beyond KIND */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 256
#include "semcache/semcache.h"
#include "tests/doubled.h"
#include "tests/past_libc.h"

#pragma weak semcache_acquire /* of the preloaded library */

static void say_values(void) { printf("C is %s\n", count_wrong() ? "wrong" : "right"); }

/* What a child made before the call reads of C: by process_vm_readv, or from the parent's file of memory. */
static void read_by_child(int by_file, int acquired)
{
    int go[2], status;
    pid_t child;
    char one = 1;

    if (pipe(go) != 0)
        exit(99);
    child = fork();
    if (child == 0) {
        double seen = -1;
        struct iovec to = {&seen, sizeof seen}, from = {c + N, sizeof seen};
        char path[32];
        long got;

        snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
        if (read(go[0], &one, 1) != 1)
            _exit(99);
        if (by_file)
            got = pread(open(path, O_RDONLY), &seen, sizeof seen, (off_t)(uintptr_t)(c + N));
        else
            got = process_vm_readv(getppid(), &to, 1, &from, 1, 0);
        _exit(got < 0 ? errno == EFAULT ? 2 : 98 : seen == 2.0 * N ? 0 : 1);
    }
    multiply();
    if (acquired)
        semcache_acquire(c, sizeof *c * N * N, SEMCACHE_READ);
    if (write(go[1], &one, 1) != 1)
        exit(99);
    waitpid(child, &status, 0);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 97;
    printf("the child finds %s\n", status == 0 ? "the new value" : status == 1 ? "an old value"
                                   : status == 2 ? "EFAULT" : "something else");
}

/* The kernel writes to memory that a structure behind the argument of ioctl points to. */
static void ask_for_interfaces(int acquired)
{
    struct ifconf list = {.ifc_len = sizeof *c * N, .ifc_buf = (void *)c};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    multiply();
    if (acquired)
        semcache_acquire(c, sizeof *c * N * N, SEMCACHE_READWRITE);
    printf("ioctl %s\n", ioctl(fd, SIOCGIFCONF, &list) == 0 ? "succeeds" : errno == EFAULT ? "gives EFAULT" : "fails");
}

/* By a direct system call; libc's function leaves SIGSEGV open. */
static void block_faults(void)
{
    uint64_t set = UINT64_C(1) << (SIGSEGV - 1);

    multiply();
    system_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, sizeof set, 0, 0);
    say_values();
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";

    setvbuf(stdout, NULL, _IOLBF, 0);
    set_up();
    if (strncmp(kind, "file", 4) == 0 || strncmp(kind, "process", 7) == 0)
        read_by_child(kind[0] == 'f', strchr(kind, '+') != NULL);
    else if (strncmp(kind, "ioctl", 5) == 0)
        ask_for_interfaces(strchr(kind, '+') != NULL);
    else if (strcmp(kind, "mask") == 0)
        block_faults();
    else if (strcmp(kind, "locked") == 0) {
        multiply();
        printf("mlockall %s\n", mlockall(MCL_CURRENT) == 0 ? "succeeds" : strerror(errno));
        multiply();
    }
    if (strncmp(kind, "ioctl", 5) != 0)
        say_values();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
