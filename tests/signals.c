/* A program for signals.t that knows nothing of semcache. It computes C := 2 A by dgemm; a device holds C when the
 * event named by the argument happens. Prints "right" if every value found was right. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define N 300
#define JUMPS 300

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

static double *a, *b, *c;
static volatile sig_atomic_t rounds; /* calls that returned */

static void multiply_order(int n)
{
    const double one = 1, zero = 0;

    dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
    rounds++;
}

static void multiply(void) { multiply_order(N); }

static void set_up(void)
{
    a = malloc(sizeof *a * N * N);
    b = calloc(N * N, sizeof *b);
    c = calloc(N * N, sizeof *c);
    for (int i = 0; i < N * N; i++)
        a[i] = 1000000 + i;
    for (int i = 0; i < N; i++)
        b[i * (N + 1)] = 2;
}

static int wrong(void)
{
    int bad = 0;

    for (int i = 0; i < N * N; i++)
        bad += c[i] != 2.0 * (1000000 + i);
    return bad;
}

static int verdict(const char *what, int bad)
{
    printf("%s: %s\n", what, bad ? "wrong" : "right");
    return bad != 0;
}

/* --- alarms ------------------------------------------------------------------------------------------------------- */

static void every(long microseconds, void (*handler)(int), int flags)
{
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void no_alarms(void)
{
    struct itimerval off = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &off, NULL);
}

static sigjmp_buf start;
static volatile sig_atomic_t jumps;

static void jump(int sig)
{
    (void)sig;
    if (++jumps == JUMPS) /* in the handler, because a round may take longer than the time between two alarms */
        no_alarms();
    siglongjmp(start, 1);
}

/* Jumps out of calls and faults, wherever the alarm strikes. Meanwhile no malloc and no stdio: their locks would stay
 * taken. */
static int jump_out(void)
{
    volatile int bad = 0;

    multiply(); /* opens the devices */
    if (sigsetjmp(start, 1) == 0)
        every(700, jump, 0);
    while (jumps < JUMPS) {
        multiply();
        bad += wrong() != 0;
    }
    rounds = 0;
    for (int i = 0; i < 20; i++)
        multiply();
    printf("calls after jumps: %d\n", (int)rounds);
    return verdict("jumps", bad + wrong());
}

static volatile sig_atomic_t alarms, elsewhere;
static void count(int sig)
{
    (void)sig;
    alarms++;
    elsewhere += gettid() != getpid();
}

/* Signals to the process, which has the BLAS's threads besides the main thread. */
static int on_main_thread(void)
{
    int bad = 0;

    multiply();
    every(300, count, SA_RESTART);
    while (alarms < 500) {
        multiply();
        bad += c[N] != 2.0 * (1000000 + N);
    }
    no_alarms();
    return verdict("on the main thread", bad || elsewhere);
}

/* --- handlers that interrupt malloc and free ---------------------------------------------------------------------- */

#define STRIKES 1500

static volatile sig_atomic_t strikes, wrong_in_handler, stopped;
static int file; /* in memory */

static void strike_in(long microseconds)
{
    struct itimerval timer = {.it_value = {0, microseconds}};

    setitimer(ITIMER_REAL, &timer, NULL);
}

/* A system call on a result that a device may have: writes the element, or returns EFAULT inside malloc. */
static int writes_wrong(const double *element, double value)
{
    double written = 0;
    const ssize_t n = pwrite(file, element, sizeof *element, 0);

    if (n < 0)
        return errno != EFAULT;
    return n != sizeof written || pread(file, &written, sizeof written, 0) != n || written != value;
}

/* A call of the BLAS, and a touch of a result that a device may have. */
static void compute_in_handler(int sig)
{
    const int at = 7919 * strikes % (N * N), saved = errno;

    (void)sig;
    if (strikes % 3 == 0)
        wrong_in_handler += writes_wrong(&c[at], 2.0 * (1000000 + at));
    errno = saved;
    wrong_in_handler += c[at] != 2.0 * (1000000 + at);
    if (strikes % 2 == 0)
        multiply();
    if (++strikes < STRIKES)
        strike_in(20 + strikes % 50);
}

/* Calls on fresh memory, which is pinned, freed and unpinned. */
static void *compute_beside(void *none)
{
    double *mine[3];
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (int n = 40; !stopped; n = n % 400 + 30) {
        const double one = 1, zero = 0;

        for (int i = 0; i < 3; i++)
            mine[i] = calloc((size_t)(n * n), sizeof *mine[i]);
        dgemm_("N", "N", &n, &n, &n, &one, mine[0], &n, mine[1], &n, &zero, mine[2], &n, 1, 1);
        for (int i = 0; i < 3; i++)
            free(mine[i]);
    }
    return none;
}

static int in_malloc(void)
{
    struct sigaction action = {.sa_handler = compute_in_handler, .sa_flags = SA_RESTART};
    pthread_t thread;
    int bad = 0;

    multiply();
    file = memfd_create("results", 0);
    pthread_create(&thread, NULL, compute_beside, NULL);
    sigaction(SIGALRM, &action, NULL);
    strike_in(20);
    while (strikes < STRIKES) {
        char *small = malloc(40000), *large = malloc(1200000);

        large = realloc(large, 1300000);
        bad += !small || !large;
        free(large);
        free(small);
    }
    stopped = 1;
    pthread_join(thread, NULL);
    multiply();
    return verdict("in malloc", bad || wrong_in_handler || wrong());
}

static int pipe_ends[2];
static void *write_later(void *none)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    usleep(50000);
    if (write(pipe_ends[1], "12345678", 8) != 8)
        exit(9);
    return none;
}

/* System calls are interrupted by the program's signals, as without semcache, and never by the library's signals. */
static int interrupted(void)
{
    struct timespec second = {1, 0}, brief = {0, 30000000}, rest = {0, 0};
    pthread_t thread;
    int bad = 0;

    if (pipe(pipe_ends))
        return 9;
    every(20000, count, 0);
    for (int i = 0; i < 10; i++) {
        multiply();
        bad += read(pipe_ends[0], c, 4096) != -1 || errno != EINTR || wrong();
        multiply();
        bad += nanosleep(&second, &rest) != -1 || errno != EINTR;
    }
    every(20000, count, SA_RESTART);
    multiply();
    alarms = 0;
    pthread_create(&thread, NULL, write_later, NULL);
    bad += read(pipe_ends[0], c, 4096) != 8 || memcmp(c, "12345678", 8) != 0 || alarms == 0;
    pthread_join(thread, NULL);
    no_alarms();
    for (int i = 0; i < 5; i++) {
        multiply();
        bad += nanosleep(&brief, NULL) != 0 || wrong(); /* no signal of the library ends the sleep */
    }
    return verdict("interrupted calls", bad);
}

/* --- crashes ------------------------------------------------------------------------------------------------------ */

static volatile int *volatile nowhere;

/* A crash reporter's handler: looks at the program's data. */
static void report(int sig)
{
    const char *text = wrong() ? "handler: wrong\n" : "handler: right\n";

    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(9);
    _exit(sig == SIGSEGV ? 5 : 6);
}

/* A handler that looks at the data, and lets the program die of the signal. */
static void report_and_die(int sig, siginfo_t *info, void *context)
{
    struct sigaction action = {.sa_handler = SIG_DFL};

    (void)info;
    (void)context;
    if (write(STDOUT_FILENO, wrong() ? "wrong\n" : "right\n", 6) != 6)
        _exit(9);
    sigaction(sig, &action, NULL);
}

static int handled(const char *when)
{
    struct sigaction fatal = {.sa_sigaction = report_and_die, .sa_flags = SA_SIGINFO}, now;

    if (strcmp(when, "before") == 0)
        signal(SIGSEGV, report);
    multiply();
    if (strcmp(when, "after") == 0)
        signal(SIGSEGV, report);
    if (strcmp(when, "fatal") == 0)
        sigaction(SIGSEGV, &fatal, NULL);
    sigaction(SIGABRT, NULL, &now);
    if (now.sa_handler != SIG_DFL || now.sa_flags || signal(SIGFPE, SIG_DFL) != SIG_DFL)
        printf("a handler of somebody else\n");
    fflush(stdout);
    *nowhere = 1;
    return 9;
}

/* A mapping longer than its file: returns an address beyond the file's end. */
static volatile char *beyond_the_end(void)
{
    FILE *file = tmpfile();
    char *map;

    if (!file || ftruncate(fileno(file), 4096))
        return NULL;
    map = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fileno(file), 0);
    return map == MAP_FAILED ? NULL : map + 4096;
}

/* The core has to show C with its right values. */
static int dump(const char *how)
{
    volatile char *beyond = beyond_the_end();
    struct rlimit limit;
    volatile int zero = 0, one = 1;

    getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CORE, &limit);
    multiply();
    printf("C at %lu, %d doubles from %d in steps of 2\n", (unsigned long)c, N * N, 2000000);
    fflush(stdout);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "fpe") == 0)
        one = one / zero;
    if (strcmp(how, "sent") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "bus") == 0)
        one = *beyond;
    if (strcmp(how, "ill") == 0)
        __builtin_trap();
    *nowhere = one;
    return 9;
}

static void jump_on_bus(int sig)
{
    (void)sig;
    siglongjmp(start, 1);
}

/* SIGBUS in the midst of our faults. */
static int bus(void)
{
    volatile char *beyond = beyond_the_end();
    int bad = 1;

    if (!beyond)
        return 9;
    multiply();
    signal(SIGBUS, jump_on_bus);
    if (sigsetjmp(start, 1) == 0)
        bad = *beyond;
    else
        bad = 0;
    bad += wrong();
    multiply();
    return verdict("bus", bad + wrong());
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";

    set_up();
    if (strcmp(what, "jump") == 0)
        return jump_out();
    if (strcmp(what, "thread") == 0)
        return on_main_thread();
    if (strcmp(what, "malloc") == 0)
        return in_malloc();
    if (strcmp(what, "interrupted") == 0)
        return interrupted();
    if (strcmp(what, "handled") == 0)
        return handled(how);
    if (strcmp(what, "dump") == 0)
        return dump(how);
    if (strcmp(what, "bus") == 0)
        return bus();
    multiply();
    return verdict("plain", wrong());
}
/* SPDX-License-Identifier: BSD-2-Clause */
