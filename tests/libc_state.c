/* A program for libc_state.t that knows nothing of semcache. It computes C := 2 A by dgemm, whose result a device
 * holds. A libc function that sets masks or handlers, or starts threads, tries to make the fault on C's first touch
 * deadly.
 *
 *     libc_state             prints the kinds
 *     libc_state KIND        prints "KIND: ok" on success */
#define _GNU_SOURCE
#include "tests/libc_state.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>

typedef void (*handler_fn)(int);
handler_fn bsd_signal(int sig, handler_fn handler);
handler_fn ssignal(int sig, handler_fn handler);
handler_fn __sysv_signal(int sig, handler_fn handler);
int __sigaction(int sig, const struct sigaction *action, struct sigaction *old);
int __sigsuspend(const sigset_t *set);
int __sigpause(int sig_or_mask, int is_sig);
int bsd_sigpause(int mask) __asm__("sigpause");
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *set, size_t bytes);

static sigset_t all;
static int told[2]; /* by notified() */

static int nobodys(int sig)
{
    _exit(100 + sig); /* the program's handler has received a fault of the library */
}
static void handler(int sig) { nobodys(sig); }

/* --- masks -------------------------------------------------------------------------------------------------------- */

static int by_sigprocmask(void) { return sigprocmask(SIG_SETMASK, &all, NULL); }
static int by_pthread_sigmask(void) { return pthread_sigmask(SIG_BLOCK, &all, NULL); }
static int by_rt_sigprocmask(void) { return (int)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8); }
static int by_sigsetmask(void) { return sigsetmask(~0) < 0; }
static int by_sigblock(void) { return sigblock(~0) < 0; }
static int by_sighold(void) { return sighold(SIGSEGV); }

static int by_setcontext(void)
{
    volatile int again = 0;
    ucontext_t here;

    getcontext(&here);
    if (!again++) {
        here.uc_sigmask = all;
        setcontext(&here);
    }
    return again != 2;
}

static volatile int other_runs;
static void other(void)
{
    for (;;) {
        other_runs += !wrong();
        swapcontext(&other_context, &main_context);
    }
}

/* Resumes a context saved by swapcontext twice. */
static int by_swapcontext(void)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile int resumed = 0;

    other_runs = 0;
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = STACK;
    other_context.uc_sigmask = all;
    makecontext(&other_context, other, 0);
    swapcontext(&main_context, &other_context);
    if (++resumed == 1) {
        multiply();
        setcontext(&other_context);
    }
    return resumed != 2 || other_runs != 2;
}

static void *looks(void *none)
{
    (void)none;
    return (void *)(intptr_t)wrong();
}

static int by_attribute(void)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    return pthread_attr_setsigmask_np(&attr, &all) || run_thread(&attr, looks, NULL);
}

static int looks_c11(void *none)
{
    (void)none;
    return wrong();
}

static int by_thrd_create(void)
{
    thrd_t thread;
    int bad = 1;

    pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (thrd_create(&thread, looks_c11, NULL) == thrd_success)
        thrd_join(thread, &bad);
    return bad;
}

static void *calls(void *none)
{
    multiply();
    return looks(none);
}

static long set_mask_past_libc(const unsigned long *mask)
{
    register long size __asm__("r10") = sizeof *mask;
    long result = SYS_rt_sigprocmask;

    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(SIG_SETMASK), "S"(mask), "d"(0), "r"(size)
                     : "rcx", "r11", "memory");
    return result;
}

/* A thread started with every signal blocked, past libc. */
static int past_libc(void)
{
    static const unsigned long none, every = ~0ul;
    int bad = set_mask_past_libc(&every) != 0 || run_thread(NULL, calls, NULL);

    return bad + (set_mask_past_libc(&none) != 0);
}

/* --- masks while a thread waits: handlers run with them ----------------------------------------------------------- */

static sigset_t but_alarm;
static int alarmed(void)
{
    const struct itimerval soon = {{0, 0}, {0, 20000}};

    signal(SIGALRM, look);
    but_alarm = all;
    sigdelset(&but_alarm, SIGALRM);
    sighold(SIGALRM);
    return setitimer(ITIMER_REAL, &soon, NULL);
}

static const int bsd_mask = ~(1 << (SIGALRM - 1));
static int by_sigsuspend(void) { return alarmed() || sigsuspend(&but_alarm) != -1 || found; }
static int by___sigsuspend(void) { return alarmed() || __sigsuspend(&but_alarm) != -1 || found; }
static int by_sigpause(void) { return alarmed() || bsd_sigpause(bsd_mask) != -1 || found; }
static int by___sigpause(void) { return alarmed() || __sigpause(bsd_mask, 0) != -1 || found; }
static const unsigned long raw_mask = ~(1ul << (SIGALRM - 1)); /* as the kernel's mask */
static int by_rt_sigsuspend(void) { return alarmed() || syscall(SYS_rt_sigsuspend, &raw_mask, 8) != -1 || found; }
static int by_raw_ppoll(void) { return alarmed() || syscall(SYS_ppoll, NULL, 0, NULL, &raw_mask, 8) != -1 || found; }
static int by_pselect(void) { return alarmed() || pselect(0, NULL, NULL, NULL, NULL, &but_alarm) != -1 || found; }
static int by_ppoll(void) { return alarmed() || ppoll(NULL, 0, NULL, &but_alarm) != -1 || found; }
static int by___ppoll_chk(void)
{
    struct pollfd none;

    return alarmed() || __ppoll_chk(&none, 0, NULL, &but_alarm, sizeof none) != -1 || found;
}
static int by_epoll_pwait(void)
{
    struct epoll_event event;

    return alarmed() || epoll_pwait(epoll_create1(0), &event, 1, -1, &but_alarm) != -1 || found;
}
static int by_epoll_pwait2(void)
{
    struct epoll_event event;

    return alarmed() || epoll_pwait2(epoll_create1(0), &event, 1, NULL, &but_alarm) != -1 || found;
}

/* --- handlers ----------------------------------------------------------------------------------------------------- */

static int by_sigaction(void) { return sigaction(SIGSEGV, &(struct sigaction){.sa_handler = handler}, NULL); }
static int by___sigaction(void) { return __sigaction(SIGSEGV, &(struct sigaction){.sa_handler = SIG_DFL}, NULL); }
static int by_signal(void) { return signal(SIGSEGV, handler) == SIG_ERR; }
static int by_bsd_signal(void) { return bsd_signal(SIGSEGV, handler) == SIG_ERR; }
static int by_ssignal(void) { return ssignal(SIGSEGV, handler) == SIG_ERR; }
static int by_sysv_signal(void) { return sysv_signal(SIGSEGV, handler) == SIG_ERR; }
static int by___sysv_signal(void) { return __sysv_signal(SIGSEGV, handler) == SIG_ERR; }
static int by_sigset(void) { return sigset(SIGSEGV, handler) == SIG_ERR || sigset(SIGSEGV, SIG_HOLD) != handler; }
static int by_sigignore(void) { return sigignore(SIGSEGV); }
static int by_siginterrupt(void) { return siginterrupt(SIGSEGV, 1); }

/* --- what ends a program ------------------------------------------------------------------------------------------ */

/* The main thread's blocked signals. */
static unsigned long blocked_now(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    unsigned long mask = ~0ul;
    char line[256];

    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "SigBlk:", 7) == 0)
            mask = strtoul(line + 7, NULL, 16);
    if (status)
        fclose(status);
    return mask;
}

static volatile int watching;
static void *watch_main(void *none)
{
    const unsigned long deadly = 1ul << (SIGTERM - 1) | 1ul << (SIGINT - 1);
    intptr_t bad = 0;

    (void)none;
    while (!watching)
        sched_yield();
    for (int i = 0; i < 2000; i++)
        bad += (blocked_now() & deadly) != 0;
    watching = 0;
    return (void *)bad;
}

/* Deadly signals stay unblocked in calls and faults, even with a handler of the program for a different signal. */
static int deadly_signals(void)
{
    pthread_t watcher;
    void *bad = NULL;
    int differs = 0;

    signal(SIGUSR1, handler);
    multiply(); /* opens the devices and their threads */
    watching = 0;
    if (pthread_create(&watcher, NULL, watch_main, NULL))
        return 1;
    watching = 1; /* not earlier: glibc's pthread_create blocks every signal for a moment */
    while (watching) {
        multiply();
        differs += wrong();
    }
    pthread_join(watcher, &bad);
    return differs + (int)(intptr_t)bad;
}

/* --- libc's own threads ------------------------------------------------------------------------------------------- */

static void notified(union sigval value)
{
    const char answer = wrong() || value.sival_int != 77 ? 'w' : 'r';

    if (write(told[1], &answer, 1) != 1)
        _exit(9);
}

static const struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified,
                                      .sigev_value.sival_int = 77};
static int answered(void)
{
    char answer = 0;

    return read(told[0], &answer, 1) != 1 || answer != 'r';
}

static int by_timer_create(void)
{
    const struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    struct sigevent mine = event;
    int bad = 0;

    for (int i = 0; i < 3; i++) {
        timer_t timer;

        multiply();
        bad += timer_create(CLOCK_MONOTONIC, &mine, &timer) || timer_settime(timer, 0, &soon, NULL) || answered();
        timer_delete(timer);
    }
    mine.sigev_notify = SIGEV_NONE;
    return bad || timer_create(CLOCK_MONOTONIC, &mine, &(timer_t){0});
}

static int by_mq_notify(void)
{
    const char *name = "/semcache-libc-state";
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, NULL);

    mq_unlink(name);
    if (queue == (mqd_t)-1)
        return 0; /* not supported by this system */
    return mq_notify(queue, &event) || mq_send(queue, "x", 1, 0) || answered();
}

static int by_aio(void)
{
    static char bytes[16];
    static struct aiocb block, *list[1] = {&block};
    int bad;

    block = (struct aiocb){.aio_fildes = open("/dev/zero", O_RDONLY), .aio_buf = bytes, .aio_nbytes = sizeof bytes,
                           .aio_sigevent = event, .aio_lio_opcode = LIO_READ};
    bad = aio_read(&block) || answered();
    while (aio_error(&block) == EINPROGRESS)
        sched_yield();
    multiply();
    block.aio_sigevent.sigev_notify = SIGEV_NONE;
    return bad || lio_listio(LIO_NOWAIT, list, 1, (struct sigevent *)(uintptr_t)&event) || answered();
}

static int by_getaddrinfo_a(void)
{
    static struct gaicb ask = {.ar_name = "127.0.0.1"}, *list[1] = {&ask};

    return getaddrinfo_a(GAI_NOWAIT, list, 1, (struct sigevent *)(uintptr_t)&event) || answered();
}

/* --- what a program is started with ------------------------------------------------------------------------------- */

static int as_started(void)
{
    static const unsigned long every = ~0ul;

    if (getenv("LIBC_STATE_STARTED"))
        return 0;
    setenv("LIBC_STATE_STARTED", "1", 1);
    signal(SIGSEGV, SIG_IGN);
    set_mask_past_libc(&every);
    execl("/proc/self/exe", "libc_state", "as started", (char *)NULL);
    return 1;
}

static const struct kind kinds[] = {
    {"sigprocmask", by_sigprocmask}, {"pthread_sigmask", by_pthread_sigmask}, {"sigsetmask", by_sigsetmask},
    {"sigblock", by_sigblock}, {"sighold", by_sighold}, {"setcontext", by_setcontext},
    {"swapcontext", by_swapcontext}, {"pthread_attr_setsigmask_np", by_attribute}, {"thrd_create", by_thrd_create},
    {"sigsuspend", by_sigsuspend}, {"__sigsuspend", by___sigsuspend}, {"sigpause", by_sigpause},
    {"__sigpause", by___sigpause}, {"syscall, rt_sigprocmask", by_rt_sigprocmask},
    {"syscall, rt_sigsuspend", by_rt_sigsuspend}, {"syscall, ppoll", by_raw_ppoll}, {"pselect", by_pselect},
    {"ppoll", by_ppoll}, {"__ppoll_chk", by___ppoll_chk}, {"epoll_pwait", by_epoll_pwait},
    {"epoll_pwait2", by_epoll_pwait2}, {"sigaction", by_sigaction}, {"__sigaction", by___sigaction},
    {"signal", by_signal}, {"bsd_signal", by_bsd_signal}, {"ssignal", by_ssignal}, {"sysv_signal", by_sysv_signal},
    {"__sysv_signal", by___sysv_signal}, {"sigset", by_sigset}, {"sigignore", by_sigignore},
    {"siginterrupt", by_siginterrupt}, {"timer_create", by_timer_create}, {"mq_notify", by_mq_notify},
    {"aio_read", by_aio}, {"getaddrinfo_a", by_getaddrinfo_a}, {"mask past libc", past_libc},
    {"deadly signals", deadly_signals}, {"as started", as_started},
};

int main(int argc, char **argv)
{
    sigfillset(&all);
    return pipe(told) ? 9 : run_named(kinds, sizeof kinds / sizeof *kinds, argc > 1 ? argv[1] : NULL);
}
/* SPDX-License-Identifier: BSD-2-Clause */
