/* The fault engine with each front end: faults of the library and of the program, in every place where a thread can be
 * (blocked signals, alternate stacks, handlers, timers). Asserts that a fault of the library is served, and that a
 * fault of the program reaches the program's handler or kills, exactly as without the library. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tests/host_stub.h"
#include "tests/tap.h"

#define PAGES 4096

/* --- a protocol that keeps a record ------------------------------------------------------------------------------ */

static struct {
    uintptr_t addr, ip;
    enum sc_access access;
    size_t window;
} log_[64];
static volatile unsigned logged;
static enum { SERVE, REFUSE, LIE, HANG } behaviour;

static unsigned char pattern(size_t page) { return (unsigned char)(page * 7 + 3); }

/* Fetches the closed pages among the page and its three successors; opens a single page for a write. */
static enum sc_fault_answer fault(uintptr_t addr, enum sc_access access, struct sc_host_code code, size_t window)
{
    size_t page = (addr - (uintptr_t)stub_arena) / SC_PAGE;
    unsigned char data[SC_PAGE];

    log_[logged % 64].addr = addr;
    log_[logged % 64].ip = code.ip;
    log_[logged % 64].access = access;
    log_[logged % 64].window = window;
    logged++;
    while (behaviour == HANG)
        usleep(1000);
    if (behaviour == REFUSE)
        return SC_FAULT_NOT_OURS;
    for (size_t p = page; behaviour == SERVE && p < page + 4 && p < PAGES; p++) {
        if (stub_prot(p) == SC_PROT_NONE) {
            memset(data, pattern(p), sizeof data);
            stub_write(stub_arena + p * SC_PAGE, data, sizeof data);
            stub_protect(p, 1, SC_PROT_R);
        }
    }
    if (behaviour == SERVE && access == SC_WRITE)
        stub_protect(page, 1, SC_PROT_RW);
    return SC_FAULT_DONE;
}

static const struct sc_host_callbacks callbacks = {.fault = fault};

static void close_all(void)
{
    stub_protect(0, PAGES, SC_PROT_NONE);
    logged = 0;
}

static unsigned char __attribute__((noinline)) load(size_t page)
{
    return ((volatile unsigned char *)stub_arena)[page * SC_PAGE + 40];
}

static void __attribute__((noinline)) store(size_t page, unsigned char value)
{
    ((volatile unsigned char *)stub_arena)[page * SC_PAGE + 40] = value;
}

/* --- ours -------------------------------------------------------------------------------------------------------- */

static void test_read_and_write(const char *front)
{
    close_all();
    tap_ok(load(5) == pattern(5) && logged == 1, "%s: a read of a closed page gets the newest byte", front);
    tap_ok(log_[0].addr == (uintptr_t)stub_arena + 5 * SC_PAGE + 40 && log_[0].access == SC_READ &&
               log_[0].window == sc_config.window_min,
           "%s: asked with address, access and the first window", front);
    tap_ok(log_[0].ip >= (uintptr_t)load && log_[0].ip < (uintptr_t)load + 256, "%s: and the instruction's address",
           front);
    tap_ok(load(8) == pattern(8) && logged == 1, "%s: what came with it does not fault", front);

    logged = 0;
    store(6, 99);
    tap_ok(logged == 1 && log_[0].access == SC_WRITE && load(6) == 99, "%s: a write to a readable page", front);
    logged = 0;
    store(6, 98);
    tap_ok(logged == 0, "%s: and no fault any more", front);

    logged = 0;
    store(100, 77);
    tap_ok(logged == 1 && log_[0].access == SC_WRITE, "%s: a write to a closed page is one fault", front);
    tap_ok(load(100) == 77 && stub_arena[100 * SC_PAGE] == pattern(100) &&
               stub_arena[101 * SC_PAGE - 1] == pattern(100),
           "%s: the bytes beside it came home", front);
}

static void test_errno(const char *front)
{
    int kept;

    close_all();
    errno = 4711;
    load(20);
    kept = errno;
    tap_ok(kept == 4711 && logged == 1, "%s: errno is kept", front);
}

/* A thread with SIGSEGV blocked would be killed by a fault. */
static void *faulting_thread(void *arg)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    return (void *)(intptr_t)(load((size_t)(intptr_t)arg) == pattern((size_t)(intptr_t)arg));
}

static void *run_thread(const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
    pthread_t thread;
    void *result = NULL;

    if (pthread_create(&thread, attr, body, arg))
        return NULL;
    pthread_join(thread, &result);
    return result;
}

static void test_blocked(const char *front)
{
    sigset_t all, before, now;

    close_all();
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    tap_ok(load(24) == pattern(24), "%s: after pthread_sigmask of all signals", front);
    tap_ok(run_thread(NULL, faulting_thread, (void *)40) != NULL, "%s: in a thread that inherits the mask", front);
    sigprocmask(SIG_SETMASK, &all, NULL);
    tap_ok(load(32) == pattern(32), "%s: after sigprocmask of all signals", front);
    sigprocmask(SIG_SETMASK, NULL, &now);
    tap_ok(sigismember(&now, SIGUSR2) == 1 && sigismember(&now, SIGSEGV) == 0, "%s: the other signals are blocked",
           front);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static volatile size_t handler_page;
static volatile int handler_good;

static void touch_in_handler(int sig)
{
    (void)sig;
    handler_good = load(handler_page) == pattern(handler_page);
}

static void test_in_handlers(const char *front)
{
    struct sigaction action = {.sa_handler = touch_in_handler}, now;
    static char stack[64 << 10];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack}, none = {.ss_flags = SS_DISABLE};

    close_all();
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    handler_page = 60;
    raise(SIGUSR1);
    tap_ok(handler_good, "%s: in a handler that blocks every signal", front);
    sigaction(SIGUSR1, NULL, &now);
    tap_ok(now.sa_handler == touch_in_handler && sigismember(&now.sa_mask, SIGUSR2) == 1, "%s: which is as it was set",
           front);

    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    sigaltstack(&alternate, NULL);
    handler_page = 70;
    handler_good = 0;
    raise(SIGUSR1);
    tap_ok(handler_good, "%s: in a handler on the alternate stack", front);
    tap_ok(load(80) == pattern(80), "%s: on a thread that has an alternate stack", front);
    sigaltstack(&none, NULL);
    signal(SIGUSR1, SIG_DFL);
}

static volatile int ticks;
static void tick(int sig)
{
    (void)sig;
    ticks++;
    handler_good &= load(handler_page + 8 * (size_t)(ticks % 100)) == pattern(handler_page + 8 * (size_t)(ticks % 100));
}

/* Timer signals arrive in the middle of faults, and their handler faults as well. */
static void test_timer(const char *front)
{
    struct itimerval often = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigset_t alarm_set;
    int wrong = 0;

    sigaction(SIGALRM, &action, NULL);
    ticks = 0;
    handler_page = 2000;
    handler_good = 1;
    setitimer(ITIMER_REAL, &often, NULL);
    sigemptyset(&alarm_set);
    sigaddset(&alarm_set, SIGALRM);
    while (ticks < 50) {
        sigprocmask(SIG_BLOCK, &alarm_set, NULL); /* changes of protection are serialised */
        close_all();
        sigprocmask(SIG_UNBLOCK, &alarm_set, NULL);
        for (size_t page = 0; page < 400; page += 8)
            wrong += load(page) != pattern(page);
    }
    setitimer(ITIMER_REAL, &off, NULL);
    signal(SIGALRM, SIG_DFL);
    tap_ok(wrong == 0 && handler_good, "%s: with a timer's handler that faults in between", front);
}

static void test_small_stack(const char *front)
{
    size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN), frame = getauxval(AT_MINSIGSTKSZ) + 8192;
    size_t bytes = sc_page_ceil(least > frame ? least : frame);
    pthread_attr_t attr;

    close_all();
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, bytes);
    tap_ok(run_thread(&attr, faulting_thread, (void *)90) != NULL, "%s: on a stack of %zu bytes", front, bytes);
    pthread_attr_destroy(&attr);
}

/* --- not ours ---------------------------------------------------------------------------------------------------- */

static volatile unsigned char *strange; /* a closed page of the program's own */
static volatile int earlier_calls, later_calls;
static void *volatile seen_address;

static void open_strange(void) { mprotect((void *)strange, SC_PAGE, PROT_READ | PROT_WRITE); }
static void close_strange(void) { mprotect((void *)strange, SC_PAGE, PROT_NONE); }

static void earlier(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    earlier_calls++;
    seen_address = info->si_addr;
    open_strange();
}

static void later(int sig)
{
    (void)sig;
    later_calls++;
    open_strange();
}

static sigjmp_buf jump;
static void jump_out(int sig) { siglongjmp(jump, sig); }

static void test_strangers(const char *front)
{
    struct sigaction action = {.sa_handler = later}, old, now;
    void (*previous)(int);

    close_all();
    earlier_calls = later_calls = 0;
    close_strange();
    tap_ok(strange[9] == 0 && earlier_calls == 1 && seen_address == (void *)&strange[9] && logged == 0,
           "%s: a strange fault goes to the earlier handler, with its address", front);

    sigaction(SIGSEGV, &action, &old);
    tap_ok(old.sa_sigaction == earlier && old.sa_flags & SA_SIGINFO, "%s: sigaction returns the earlier handler",
           front);
    close_strange();
    tap_ok(strange[9] == 0 && later_calls == 1 && earlier_calls == 1, "%s: then to the later one", front);
    tap_ok(load(7) == pattern(7) && later_calls == 1, "%s: ours are still served", front);
    previous = signal(SIGSEGV, SIG_DFL);
    tap_ok(previous == later, "%s: signal returns the later handler", front);
    sigaction(SIGSEGV, NULL, &now);
    tap_ok(now.sa_handler == SIG_DFL, "%s: and sigaction what signal set", front);

    signal(SIGSEGV, jump_out);
    close_strange();
    if (sigsetjmp(jump, 1) == 0)
        strange[9] = 1;
    tap_ok(load(300) == pattern(300), "%s: ours are served after a handler jumped out", front);

    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGSEGV, &action, NULL);
    strange[9] = 0;
    sigaction(SIGSEGV, NULL, &now);
    tap_ok(now.sa_handler == SIG_DFL && later_calls == 2, "%s: SA_RESETHAND is honoured", front);
    sigaction(SIGSEGV, &old, NULL);
}

/* --- in children ------------------------------------------------------------------------------------------------- */

static void crash_strange(void) { strange[0] = 1; }
static void crash_refused(void)
{
    behaviour = REFUSE;
    load(9);
}
static void crash_endless(void)
{
    behaviour = LIE;
    load(9);
}
static void crash_sent(void) { kill(getpid(), SIGSEGV); }
/* A transfer that never ends: a thread in the handler must still accept signals that end programs. */
static void crash_waiting(void)
{
    behaviour = HANG;
    signal(SIGUSR1, tick);
    signal(SIGUSR1, SIG_DFL); /* had a handler once */
    if (fork() == 0) {
        usleep(50000);
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
    load(9);
}
static void crash_ignored(void)
{
    signal(SIGSEGV, SIG_IGN);
    kill(getpid(), SIGSEGV); /* an ignored signal */
    strange[0] = 1;
}

/* The signal that ended a child, which started a new engine and ran `body`. */
static int child_dies_of(const char *front, void (*body)(void))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        alarm(600);
        signal(SIGSEGV, SIG_DFL);
        sc_host_front_wanted = front;
        if (sc_host_faults_start(&callbacks) != SC_OK)
            _exit(1);
        close_all();
        close_strange();
        body();
        _exit(2);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_deaths(const char *front)
{
    tap_ok(child_dies_of(front, crash_strange) == SIGSEGV, "%s: the default action kills", front);
    tap_ok(child_dies_of(front, crash_refused) == SIGSEGV, "%s: a fault that the protocol refuses kills", front);
    tap_ok(child_dies_of(front, crash_endless) == SIGSEGV,
           "%s: a fault that is never cured kills instead of turning for ever", front);
    tap_ok(child_dies_of(front, crash_sent) == SIGSEGV, "%s: a SIGSEGV that was sent kills", front);
    tap_ok(child_dies_of(front, crash_waiting) == SIGUSR1, "%s: a deadly signal kills a program that waits for ever",
           front);
    tap_ok(child_dies_of(front, crash_ignored) == SIGSEGV, "%s: ignoring: one that was sent does not, a fault does",
           front);
}

/* A child has no pager: the program's handler is installed again, and an access to a closed page kills the child. */
static void test_fork(const char *front)
{
    int status = 0;
    pid_t pid;

    close_all();
    pid = fork();
    if (pid == 0) {
        struct sigaction now;

        sigaction(SIGSEGV, NULL, &now);
        _exit(now.sa_sigaction == earlier ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: a forked child has the program's own handler", front);

    signal(SIGSEGV, SIG_DFL);
    pid = (pid_t)syscall(SYS_fork);
    if (pid == 0) {
        alarm(600);
        load(11);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
           "%s: a child that no fork handler saw does not wait for ever", front);
    tap_ok(load(11) == pattern(11), "%s: the parent is served as before", front);
}

/* --- all of it, with each ---------------------------------------------------------------------------------------- */

static void run(const char *front)
{
    struct sigaction first = {.sa_sigaction = earlier, .sa_flags = SA_SIGINFO}, now;

    sigaction(SIGSEGV, &first, NULL);
    behaviour = SERVE;
    sc_host_front_wanted = front;
    tap_ok(sc_host_faults_start(&callbacks) == SC_OK && !strcmp(sc_host_faults_front(), front), "%s: started", front);
    tap_ok(sc_host_faults_start(&callbacks) == SC_OK, "%s: starting twice is harmless", front);
    sigaction(SIGSEGV, NULL, &now);
    tap_ok(now.sa_sigaction == earlier, "%s: the program still sees its own handler", front);
    test_read_and_write(front);
    test_errno(front);
    test_blocked(front);
    test_in_handlers(front);
    test_timer(front);
    test_small_stack(front);
    test_strangers(front);
    test_deaths(front);
    test_fork(front);
    stub_protect(0, PAGES, SC_PROT_RW);
    sigaction(SIGSEGV, &first, NULL);
    sc_host_faults_stop();
    sigaction(SIGSEGV, NULL, &now);
    earlier_calls = 0;
    close_strange();
    tap_ok(now.sa_sigaction == earlier && strange[0] == 0 && earlier_calls == 1, "%s: stopped: all as before", front);
}

int main(void)
{
    stub_arena_start(PAGES * SC_PAGE);
    strange = mmap(NULL, SC_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < STUB_FRONTS; i++)
        run(stub_fronts[i]);
    sc_host_front_wanted = "none such";
    tap_ok(sc_host_faults_start(&callbacks) != SC_OK, "a front end that does not exist does not start");
    sc_host_front_wanted = NULL;
    tap_ok(sc_host_faults_start(&callbacks) == SC_OK && !strcmp(sc_host_faults_front(), stub_fronts[0]),
           "%s is the default", stub_fronts[0]);
    sc_host_faults_stop();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
