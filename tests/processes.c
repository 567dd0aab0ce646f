/* A program for processes.t that knows nothing of semcache. It makes processes in one of the possible ways, before its
 * first BLAS call or while a device holds the result, and compares the numbers of parent and child.
 *
 *     processes WAY before|after        prints what is wrong, then "ok" or "failed"
 *     processes child                   multiplies; exit status 0 if the product was right */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 200

extern char **environ;

typedef void gemm(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                  const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);
gemm dgemm_;

static gemm *multiplied_by = dgemm_;
static double *a, *b, *c, *rest; /* rest: a result that nobody changes */
static char *self;
static int wrong;

static void set_up(void)
{
    a = malloc(sizeof *a * N * N);
    b = calloc(N * N, sizeof *b);
    c = calloc(N * N, sizeof *c);
    rest = calloc(N * N, sizeof *rest);
    for (int i = 0; i < N * N; i++)
        a[i] = i;
    for (int i = 0; i < N; i++)
        b[i * (N + 1)] = 2;
}

static void multiply_into(double *result)
{
    const int n = N;
    const double one = 1, zero = 0;

    multiplied_by("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, result, &n, 1, 1);
}

/* C := A B. */
static void multiply(void) { multiply_into(c); }

static bool has_product(const double *result)
{
    int bad = 0;

    for (int i = 0; i < N * N; i++)
        bad += result[i] != 2 * a[i];
    return bad == 0;
}

static bool is_right(void) { return has_product(c); }

static void judge(bool good, const char *what)
{
    if (!good)
        printf("%s\n", what);
    wrong += !good;
}

static bool ended_well(pid_t child)
{
    int status = -1;

    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool called; /* before the process was made */

/* A child with a copy of the parent's memory finds the result, computes with its own numbers, and ends. */
static bool lives_on(void)
{
    bool good = !called || is_right();

    a[5] = -7;
    multiply();
    good &= is_right();
    multiply();
    return good && is_right();
}

/* The parent computes during and after the child's life. */
static void goes_on(const char *way)
{
    judge(!called || is_right(), way);
    a[9] = 1;
    multiply();
    judge(is_right(), way);
}

/* --- ways --------------------------------------------------------------------------------------------------------- */

static void by_fork(void)
{
    pid_t child = fork();

    if (child == 0)
        _exit(!lives_on());
    goes_on("the parent of a fork");
    judge(ended_well(child), "a child");
}

/* A child with an ordinary end: exit handlers and destructors run. */
static void by_fork_and_exit(void)
{
    pid_t child = fork();

    if (child == 0)
        exit(!lives_on());
    judge(ended_well(child), "a child that exits");
    goes_on("its parent");
}

/* The child lacks pages in the middle of an operand, and writes to the pages beside. */
static void by_fork_without_pages(void)
{
    char *middle = (char *)(((uintptr_t)(a + N * N / 2) + 4095) / 4096 * 4096);
    pid_t child;

    judge(madvise(middle, 8192, MADV_DONTFORK) == 0, "madvise");
    child = fork();
    if (child == 0) {
        a[5] = a[N * N - 1] = -7;
        _exit(0);
    }
    madvise(middle, 8192, MADV_DOFORK);
    goes_on("the parent of a child without some pages");
    judge(ended_well(child), "a child without some pages");
}

static void by_fork_of_forks(void)
{
    pid_t child = fork();

    if (child == 0) {
        bool good = lives_on();
        pid_t grandchild = fork();

        if (grandchild == 0)
            _exit(!(is_right() && lives_on()));
        _exit(!(good && ended_well(grandchild) && is_right()));
    }
    judge(ended_well(child), "a child's child");
    goes_on("its grandparent");
}

static char *arguments[] = {NULL, (char[]){"child"}, NULL};

static void by_fork_and_exec(void)
{
    pid_t child = fork();

    if (child == 0) {
        execv(self, arguments);
        _exit(9);
    }
    goes_on("the parent of a program");
    judge(ended_well(child), "a program");
}

static void by_vfork(void)
{
    pid_t child = vfork();

    if (child == 0) {
        execv(self, arguments);
        _exit(9);
    }
    goes_on("the parent of vfork");
    judge(ended_well(child), "vfork's program");
}

static void by_posix_spawn(void)
{
    posix_spawn_file_actions_t actions;
    pid_t child = -1;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    judge(posix_spawn(&child, self, &actions, NULL, arguments, environ) == 0, "posix_spawn");
    goes_on("the parent of posix_spawn");
    judge(ended_well(child), "posix_spawn's program");
    posix_spawn_file_actions_destroy(&actions);
}

static void by_system(void)
{
    char command[4096];

    snprintf(command, sizeof command, "'%s' child", self);
    judge(system(command) == 0, "system");
    goes_on("the parent of system");
}

/* The shell's output is read into an array that a device holds. */
static void by_popen(void)
{
    FILE *pipe = popen("printf 12345678; sleep 0.1; printf 87654321", "r");

    judge(pipe && fread(c, 1, 16, pipe) == 16 && memcmp(c, "1234567887654321", 16) == 0, "popen");
    judge(pclose(pipe) == 0, "pclose");
    judge(c[2] == (called ? 2 * a[2] : 0), "the number behind what popen's program wrote");
    multiply();
    goes_on("the parent of popen");
}

static void *computes(void *good)
{
    *(bool *)good = lives_on();
    return NULL;
}

/* A daemon: the grandchild lives on after the child has ended, in a session of its own, with a working thread. Its
 * verdict comes through a pipe. */
static void by_daemon(void)
{
    int ends[2];
    char verdict = '?';
    pid_t child;

    if (pipe(ends))
        exit(9);
    child = fork();
    if (child == 0) {
        bool good = false;
        pthread_t thread;

        setsid();
        if (fork() > 0)
            _exit(0);
        if (chdir("/") || pthread_create(&thread, NULL, computes, &good) || pthread_join(thread, NULL))
            good = false;
        good &= is_right();
        if (write(ends[1], good ? "+" : "-", 1) != 1)
            _exit(9);
        exit(0);
    }
    close(ends[1]);
    judge(ended_well(child), "who made the daemon");
    judge(read(ends[0], &verdict, 1) == 1 && verdict == '+', "the daemon");
    goes_on("who wanted a daemon");
}

static void *forks(void *bad)
{
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();

        if (child == 0)
            _exit(called && !has_product(rest));
        *(int *)bad += !ended_well(child);
    }
    return NULL;
}

/* Two threads make processes while the main thread computes. */
static void by_threads(void)
{
    pthread_t threads[2];
    int bad[2] = {0, 0};

    if (called)
        multiply_into(rest);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, forks, &bad[i]);
    for (int i = 0; i < 200; i++)
        multiply();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    judge(bad[0] + bad[1] == 0, "children of threads");
    goes_on("who computes beside them");
}

/* --- the library by dlopen, as an interpreter's extension brings it ----------------------------------------------- */

static void open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    *(void **)&multiplied_by = library ? dlsym(library, "dgemm_") : NULL;
    if (!multiplied_by) {
        printf("%s: no dgemm_\n", path);
        exit(9);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {{"fork", by_fork}, {"exit", by_fork_and_exit}, {"withheld", by_fork_without_pages},
            {"forks", by_fork_of_forks}, {"exec", by_fork_and_exec}, {"vfork", by_vfork}, {"spawn", by_posix_spawn},
            {"system", by_system}, {"popen", by_popen}, {"daemon", by_daemon}, {"threads", by_threads}};

int main(int argc, char **argv)
{
    self = realpath("/proc/self/exe", NULL);
    arguments[0] = self;
    set_up();
    if (argc > 3)
        open_library(argv[3]);
    if (argc == 2) {
        multiply();
        return !is_right();
    }
    called = argc > 2 && strcmp(argv[2], "after") == 0;
    if (called)
        multiply();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    puts(wrong ? "failed" : "ok");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
