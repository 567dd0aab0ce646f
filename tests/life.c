/* A program for library_life.t that knows nothing of semcache. The program multiplies, and ends in the way named by its
 * argument. Some ways also print the numbers found. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 300
#include "tests/doubled.h"

static void say(const char *who) { printf("%s %s\n", who, count_wrong() == 0 ? "right" : "wrong"); }

static void look_late(void) { say("late"); }

/* Sends a signal to the main thread in the middle of its calls (not to a thread of the host BLAS). */
static void *send_signal(void *main_thread)
{
    usleep(100000);
    pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
    return NULL;
}

static void *end_program(void *none)
{
    (void)none;
    exit(0);
}

static void on_signal(int number)
{
    (void)number;
    exit(3);
}

/* A handler that reads and writes arrays held by a device or on their way home, at any point of the thread. */
static volatile sig_atomic_t alarms, wrong_alarms;

static void on_alarm(int number)
{
    int i = (int)(alarms * 4099u % (N * N));

    (void)number;
    alarms++;
    wrong_alarms += c[i] != 2.0 * i;
    c[i] = 2.0 * i;
    a[i] = i;
}

static void call_under_alarms(void)
{
    struct itimerval often = {{0, 300}, {0, 300}}, off = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    double *other = malloc(sizeof *other * N * N);

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 300 || alarms < 200; i++) {
        multiply();
        memcpy(other, c, sizeof *other * N * N);
        free(other); /* free takes the library's lock, too */
        other = malloc(sizeof *other * N * N);
    }
    setitimer(ITIMER_REAL, &off, NULL);
    free(other);
    printf("alarms %s\n", wrong_alarms ? "wrong" : "right");
    say("after them");
}

static void *call_for_ever(void *none)
{
    volatile double seen = 0;

    for (;;) { /* looking at the result keeps the queue of calls short */
        multiply();
        seen += c[N];
    }
    return none;
}

/* Reads the whole result again and again, without a call of the BLAS (whose threads end with the process). */
static void *look_for_ever(void *none)
{
    volatile double seen = 0;

    for (;;)
        for (int i = 0; i < N * N; i += 64)
            seen += c[i];
    return none;
}

/* Makes and frees results again and again. */
static void *free_for_ever(void *none)
{
    const int n = N;
    const double one = 1, zero = 0;

    (void)none;
    for (;;) {
        double *own = malloc(sizeof *own * N * N);

        dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, own, &n, 1, 1);
        if (own[N] != 2.0 * N)
            _exit(5);
        free(own);
    }
    return none;
}

/* True once the main thread has ended by pthread_exit: its file in /proc then names no program. */
static int main_has_ended(void)
{
    char name[8], path[64];

    snprintf(path, sizeof path, "/proc/%d/exe", (int)getpid());
    return readlink(path, name, sizeof name) < 0;
}

/* Goes on after the main thread has ended, with arrays of every kind; the process ends with this thread. */
static void *remain(void *none)
{
    static double here[N * N];

    while (!main_has_ended())
        usleep(1000);
    multiply();
    say("remaining");
    memcpy(here, a, sizeof here);
    a = here; /* static, then private memory of the system's */
    multiply();
    say("remaining");
    c = mmap(NULL, sizeof *c * N * N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    multiply();
    say("remaining");
    return none;
}

/* Multiplies while a thread opens the devices. */
static void call_often(int times)
{
    for (int i = 0; i < times; i++) {
        usleep(1000);
        multiply();
    }
    say("loop");
}

static void *call_often_alone(void *times)
{
    while (!main_has_ended())
        usleep(1000);
    call_often(*(int *)times);
    return NULL;
}

static void *call_once(void *begun)
{
    __atomic_store_n((int *)begun, 1, __ATOMIC_RELEASE);
    multiply();
    return NULL;
}

/* Parent and child use the same result, each in its own copy; the child makes more BLAS calls. */
static void use_fork(void)
{
    pid_t child;
    int status;

    multiply();
    child = fork();
    if (child == 0) {
        say("child");
        a[1] = 7;
        multiply();
        printf("child %s\n", c[1] == 14 ? "computes" : "is lost");
        exit(0);
    }
    waitpid(child, &status, 0);
    printf("status %d\n", status);
    say("parent");
    memset(c, 0, sizeof *c * N * N);
    multiply();
    say("parent");
}

/* A child forked before the first offload may offload by itself. */
static void use_fork_first(void)
{
    pid_t child = fork();

    multiply();
    if (child == 0) {
        say("child");
        exit(0);
    }
    waitpid(child, NULL, 0);
    say("parent");
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    static int times, begun;
    pthread_t thread;

    times = argc > 2 ? atoi(argv[2]) : 300;
    setvbuf(stdout, NULL, _IOLBF, 0);
    set_up();
    if (strcmp(how, "late") == 0) /* registered first, and therefore run after the end of semcache */
        atexit(look_late);
    if (strcmp(how, "fork") == 0)
        use_fork();
    else if (strcmp(how, "forkfirst") == 0)
        use_fork_first();
    else if (strcmp(how, "idle") != 0 && strcmp(how, "remainloop") != 0 && strcmp(how, "other") != 0)
        multiply();
    if (strcmp(how, "threads") == 0) {
        for (int i = 0; i < 4; i++)
            pthread_create(&thread, NULL, look_for_ever, NULL);
        for (int i = 0; i < 20; i++)
            multiply(); /* the last result is still away when the process ends */
    }
    if (strcmp(how, "freeing") == 0) {
        for (int i = 0; i < 4; i++)
            pthread_create(&thread, NULL, free_for_ever, NULL);
        usleep(argc > 2 ? (useconds_t)atoi(argv[2]) : 0);
    }
    if (strcmp(how, "remain") == 0) {
        pthread_create(&thread, NULL, remain, NULL);
        pthread_exit(NULL);
    }
    if (strcmp(how, "alarm") == 0)
        call_under_alarms();
    if (strcmp(how, "signal") == 0) {
        pthread_t self = pthread_self();

        signal(SIGUSR1, on_signal);
        pthread_create(&thread, NULL, send_signal, &self);
        call_for_ever(NULL);
    }
    if (strcmp(how, "loop") == 0)
        call_often(times);
    if (strcmp(how, "remainloop") == 0) {
        pthread_create(&thread, NULL, call_often_alone, &times);
        pthread_exit(NULL);
    }
    if (strcmp(how, "other") == 0) { /* main returns while another thread is in its first call */
        pthread_create(&thread, NULL, call_once, &begun);
        while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
            usleep(1000);
        usleep(50000);
    }
    if (strcmp(how, "exit") == 0) {
        pthread_create(&thread, NULL, end_program, NULL);
        pthread_join(thread, NULL);
    }
    if (strcmp(how, "quick") == 0)
        _exit(4);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
