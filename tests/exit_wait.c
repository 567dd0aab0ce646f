/* `exit` while another thread calls the BLAS, for exit_wait.t.  A thread that waits in a call for the results to come
 * home must not enter the BLAS while destructors run.  No step depends on time: the program's own nanosleep tells that
 * the thread waits, the device's product (tests/exit_blas.c) lasts until then, and the BLAS's destructor lasts until
 * the thread waits again or has entered the BLAS.  Argument `join`: a handler of atexit waits for the thread, which
 * must therefore not wait for ever. */
#include <config.h> /* GNU extensions: setenv */

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define N 64
#include "tests/doubled.h"
#include "tests/exit_wait.h"

static struct exit_flags flags;
static pthread_t caller;
static int joins;
static __thread int is_caller;

__attribute__((visibility("default"))) int nanosleep(const struct timespec *time, struct timespec *rest)
{
    if (is_caller && time->tv_nsec >= LONG_WAIT) {
        __atomic_store_n(&flags.waits_long, 1, __ATOMIC_RELEASE);
        while (!joins)
            pause(); /* the end of the process ends the wait */
    }
    if (is_caller)
        __atomic_store_n(&flags.waits, 1, __ATOMIC_RELEASE);
    return (int)syscall(SYS_nanosleep, time, rest);
}

static void *call(void *other)
{
    const double one = 1, zero = 0;
    const int n = N;

    is_caller = 1;
    while (!__atomic_load_n(&flags.stop, __ATOMIC_ACQUIRE)) {
        dgemm_("N", "N", &n, &n, &n, &one, other, &n, b, &n, &zero, other, &n, 1, 1);
        syscall(SYS_sched_yield);
    }
    return NULL;
}

static void join(void)
{
    __atomic_store_n(&flags.stop, 1, __ATOMIC_RELEASE);
    pthread_join(caller, NULL);
    printf("joined\n");
}

int main(int argc, char **argv)
{
    char address[32];

    (void)argv;
    alarm(60); /* a wait for ever is a failure */
    joins = argc > 1;
    snprintf(address, sizeof address, "%p", (void *)&flags);
    setenv("EXIT_FLAGS", address, 1);
    if (joins)
        atexit(join); /* runs after semcache's handler, which is registered later */
    set_up();
    multiply();
    pthread_create(&caller, NULL, call, calloc(N * N, sizeof(double)));
    exit(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
