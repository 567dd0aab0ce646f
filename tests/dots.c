/* Gathered dot products (semcache_try_dots) that are cut short: a signal handler that leaves by siglongjmp, and an exit
 * beside threads that compute.  Started by dots.t; argument: jump, or exit and microseconds until main returns. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "semcache/semcache.h"
#include "tests/tap.h"

enum { N = 1 << 16, COUNT = 32, THREADS = 4, JUMPS = 60 };

double cblas_ddot(int n, const double *x, int incx, const double *y, int incy);

static double *ones(void)
{
    double *x = malloc(N * sizeof *x);

    for (int i = 0; i < N; i++)
        x[i] = 1;
    return x;
}

/* The products of a vector with itself, all N.  True: declined, or right. */
static bool are_right(const double *x)
{
    const void *all[COUNT];
    double result[COUNT][2];
    bool good = true;

    for (int i = 0; i < COUNT; i++)
        all[i] = x;
    if (semcache_try_dots(N, SEMCACHE_FLOAT64, 0, COUNT, all, all, result))
        for (int i = 0; i < COUNT; i++)
            good &= result[i][0] == N;
    return good;
}

static sigjmp_buf before;
static void leave(int sig)
{
    (void)sig;
    siglongjmp(before, 1);
}

/* A timer's handler leaves the call, and the thread's next dot products are computed. */
static void jump(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct sigaction action = {.sa_handler = leave};
    double *x = ones();
    static volatile int jumps, wrong;
    timer_t timer;

    tap_ok(cblas_ddot(N, x, 1, x, 1) == N && are_right(x), "undisturbed");
    if (sigaction(SIGALRM, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer))
        exit(99);
    if (sigsetjmp(before, 1)) {
        for (int i = 0; i < 4; i++)
            wrong += cblas_ddot(N, x, 1, x, 1) != N;
        jumps++;
    }
    if (jumps < JUMPS) {
        struct itimerspec soon = {.it_value = {.tv_nsec = 100000 + 70000 * jumps}};

        timer_settime(timer, 0, &soon, NULL);
        for (;;)
            wrong += !are_right(x);
    }
    tap_ok(!wrong, "after %d jumps out of the call: %d are wrong", jumps, wrong);
    timer_delete(timer);
    free(x);
}

static void *computes(void *unused)
{
    double *x = ones();

    (void)unused;
    for (;;)
        if (!are_right(x))
            _exit(1);
}

static void linger(void) { usleep(100000); }

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc > 1 && !strcmp(argv[1], "jump")) {
        jump();
        return tap_done();
    }
    atexit(linger); /* before semcache's handlers: runs after the devices have stopped */
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, computes, NULL);
    usleep(200000 + (argc > 2 ? (unsigned)atoi(argv[2]) : 0));
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
