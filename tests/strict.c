/* System calls by the program's own instructions, on an array whose newest bytes are on a device. Run by strict.t;
 * prints "ok" if the system calls see the newest bytes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/past_libc.h"

#define N 8192

void dscal_(const int *, const double *, double *, const int *);

int main(void)
{
    static double copy[N];
    const int n = N, one = 1;
    const double two = 2;
    double *x = malloc(sizeof copy);
    char name[] = "/tmp/semcache-test-XXXXXX";
    int fd = mkstemp(name), wrong = 0, status = 1;
    long wrote = 0, got = 0;
    pid_t child;

    unlink(name);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            x[i] = i + round;
        dscal_(&n, &two, x, &one);
        wrote = system_call(SYS_pwrite64, fd, (long)x, sizeof copy, 0, 0, 0);
        if (pread(fd, copy, sizeof copy, 0) != (ssize_t)sizeof copy)
            wrote = -1;
        for (int i = 0; i < N; i++)
            wrong += copy[i] != 2.0 * (i + round);
        for (int i = 0; i < N; i++)
            copy[i] = 3 * i;
        pwrite(fd, copy, sizeof copy, 0);
        dscal_(&n, &two, x, &one);
        got = system_call(SYS_pread64, fd, (long)x, sizeof copy / 2, 0, 0, 0);
        dscal_(&n, &two, x, &one);
        for (int i = 0; i < N; i++)
            wrong += x[i] != (i < N / 2 ? 6.0 * i : 8.0 * (i + round));
    }
    printf("pwrite64 gave %ld, pread64 %ld, getpid %s, %d wrong\n", wrote, got,
           system_call(SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid() ? "right" : "wrong", wrong);
    system_call(SYS_io_uring_setup, 0, 0, 0, 0, 0, 0);
    /* Calls that make processes or start programs are not intercepted; a call that returns twice is made in place. */
    child = (pid_t)system_call(SYS_fork, 0, 0, 0, 0, 0, 0);
    if (child == 0)
        system_call(SYS_exit_group, 7, 0, 0, 0, 0, 0);
    waitpid(child, &status, 0);
    printf("child %d, shell %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1, system("exit 3") >> 8);
    printf(wrong || wrote != (long)sizeof copy || got != (long)sizeof copy / 2 ? "failed\n" : "ok\n");
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
