/* Accesses to a program's own memory by ways besides its instructions, and calls left by a jump out of a signal
 * handler, while a device holds the newest values. The argument chooses the case; prints what is wrong. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#define N     20000
#define BYTES (N * sizeof(double))
#define SEEN  1234 /* an element in the middle of a page */

void dscal_(const int *, const double *, double *, const int *);
void dcopy_(const int *, const double *, const int *, double *, const int *);

static const int n = N, one = 1;
static double *x, *y, local[N];
static int wrong;

static void check(bool good, const char *what)
{
    if (!good)
        printf("%s: wrong (errno %d)\n", what, errno);
    wrong += !good;
}

static void fill(double value)
{
    for (int i = 0; i < N; i++)
        x[i] = value;
}
/* Doubles x on a device, which then holds the only copy. */
static void scale(void)
{
    const double two = 2;

    dscal_(&n, &two, x, &one);
}
/* Gives host and device valid copies of x. */
static void share(void)
{
    dcopy_(&n, x, &one, y, &one);
}

static bool all(const double *p, double value)
{
    int i = 0;

    while (i < N && p[i] == value)
        i++;
    return i == N;
}

/* --- roads ------------------------------------------------------------------------------------------------------- */

static int mem; /* the process's memory as a file */
static int number; /* id of a process, or of one of its threads */

static struct iovec *at(void *p, size_t bytes)
{
    static struct iovec v[2];
    static int turn;

    turn = !turn;
    v[turn] = (struct iovec){p, bytes};
    return &v[turn];
}
static off_t seek(const void *p) { return lseek(mem, (off_t)(uintptr_t)p, SEEK_SET); }

static ssize_t by_process_in(void *p, size_t b) { return process_vm_readv(number, at(local, b), 1, at(p, b), 1, 0); }
static ssize_t by_pread(void *p, size_t b) { return pread(mem, local, b, (off_t)(uintptr_t)p); }
static ssize_t by_preadv(void *p, size_t b) { return preadv(mem, at(local, b), 1, (off_t)(uintptr_t)p); }
static ssize_t by_read(void *p, size_t b) { return seek(p) < 0 ? -1 : read(mem, local, b); }
static ssize_t by_readv(void *p, size_t b) { return seek(p) < 0 ? -1 : readv(mem, at(local, b), 1); }
static ssize_t by_number_in(void *p, size_t b) { return syscall(SYS_pread64, mem, local, b, p); }

static ssize_t by_process_out(void *p, size_t b)
{
    return process_vm_writev(number, at(local, b), 1, at(p, b), 1, 0);
}
static ssize_t by_pwrite(void *p, size_t b) { return pwrite(mem, local, b, (off_t)(uintptr_t)p); }
static ssize_t by_pwritev(void *p, size_t b) { return pwritev(mem, at(local, b), 1, (off_t)(uintptr_t)p); }
static ssize_t by_write(void *p, size_t b) { return seek(p) < 0 ? -1 : write(mem, local, b); }
static ssize_t by_writev(void *p, size_t b) { return seek(p) < 0 ? -1 : writev(mem, at(local, b), 1); }
static ssize_t by_number_out(void *p, size_t b) { return syscall(SYS_pwrite64, mem, local, b, p); }

static const struct road {
    const char *name;
    ssize_t (*go)(void *p, size_t bytes);
} in[] = {{"process_vm_readv", by_process_in}, {"pread", by_pread}, {"preadv", by_preadv}, {"read", by_read},
          {"readv", by_readv}, {"syscall(SYS_pread64)", by_number_in}},
  out[] = {{"process_vm_writev", by_process_out}, {"pwrite", by_pwrite}, {"pwritev", by_pwritev}, {"write", by_write},
           {"writev", by_writev}, {"syscall(SYS_pwrite64)", by_number_out}};

static void try_in(const struct road *r)
{
    fill(3);
    scale();
    memset(local, 0, sizeof local);
    check(r->go(x, BYTES) == BYTES && all(local, 6), r->name);
}

/* The device must not use its old copy of the overwritten element. */
static void try_out(const struct road *r)
{
    for (int on_device_alone = 0; on_device_alone < 2; on_device_alone++) {
        fill(3);
        share();
        if (on_device_alone)
            scale();
        local[0] = 50;
        check(r->go(&x[SEEN], sizeof(double)) == sizeof(double), r->name);
        scale();
        check(x[SEEN] == 100 && x[SEEN - 1] == (on_device_alone ? 12 : 6) && x[SEEN + 1] == x[SEEN - 1], r->name);
    }
}

static void roads(const char *name)
{
    mem = open(name, O_RDWR);
    check(mem >= 0, name);
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        try_in(&in[i]);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        try_out(&out[i]);
    close(mem);
}

static void *roads_of_thread(void *arg)
{
    char name[64];

    (void)arg;
    roads("/proc/thread-self/mem");
    number = (int)syscall(SYS_gettid);
    snprintf(name, sizeof name, "/proc/self/task/%d/mem", number);
    roads(name);
    return NULL;
}

static void own(void)
{
    char name[64];
    pthread_t t;

    number = getpid();
    snprintf(name, sizeof name, "/proc/%d/mem", number);
    roads("/proc/self/mem");
    roads(name);
    pthread_create(&t, NULL, roads_of_thread, NULL);
    pthread_join(t, NULL);
}

/* --- pages between pipes ----------------------------------------------------------------------------------------- */

static void pipes(void)
{
    int tube[2];

    if (pipe(tube) || fcntl(tube[1], F_SETPIPE_SZ, 1 << 20) < 0)
        return check(false, "a pipe");
    for (int on_device_alone = 0; on_device_alone < 2; on_device_alone++) {
        for (int i = 0; i < N; i++)
            local[i] = 9;
        fill(3);
        share();
        if (on_device_alone)
            scale();
        check(write(tube[1], local, BYTES / 2) == BYTES / 2, "a write to a pipe");
        check(vmsplice(tube[0], at(x, BYTES / 2), 1, 0) == BYTES / 2, "vmsplice from a pipe");
        scale();
        check(x[0] == 18 && x[N / 2 - 1] == 18 && x[N / 2] == (on_device_alone ? 12 : 6), "vmsplice from a pipe");
    }
}

/* --- advice ------------------------------------------------------------------------------------------------------ */

static void advice(void)
{
    const size_t bytes = 4096;
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

    for (int by_number = 0; by_number < 2 && fd >= 0; by_number++) {
        ssize_t got;

        fill(3);
        share();
        scale();
        got = by_number ? syscall(SYS_process_madvise, fd, at(x, bytes), 1, MADV_DONTNEED, 0)
                        : process_madvise(fd, at(x, bytes), 1, MADV_DONTNEED, 0);
        scale();
        check(got == (ssize_t)bytes && x[0] == 0 && x[bytes / sizeof(double) - 1] == 0 && x[N - 1] == 12,
              "process_madvise");
    }
}

/* --- jumps ------------------------------------------------------------------------------------------------------- */

static sigjmp_buf back;
static int silent[2]; /* a pipe that stays empty */

static void jump(int sig)
{
    (void)sig;
    siglongjmp(back, 1);
}

static void __attribute__((noinline)) wait_in_vain(void)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 2000}};

    setitimer(ITIMER_REAL, &soon, NULL);
    check(read(silent[0], x, BYTES) < 0, "a read of nothing");
}

static pthread_key_t end;
static pthread_barrier_t meet;

/* Destructor of the program's key: keeps the ending thread alive while the main thread works. */
static void linger(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
}

static void *wait_and_end(void *alarms)
{
    pthread_setspecific(end, &end);
    pthread_sigmask(SIG_UNBLOCK, alarms, NULL);
    if (!sigsetjmp(back, 1))
        wait_in_vain();
    return NULL;
}

/* Calls from deeper in the stack than the call that was left. */
static void __attribute__((noinline)) scale_below(int depth)
{
    volatile char room[2000];

    room[0] = 0;
    if (depth)
        scale_below(depth - 1);
    else
        scale();
    room[1] = room[0];
}

static void jumps(void)
{
    const struct sigaction action = {.sa_handler = jump};

    sigaction(SIGALRM, &action, NULL);
    if (pipe(silent))
        return;
    fill(3);
    scale();
    for (volatile int k = 0; k < 3; k++) {
        if (!sigsetjmp(back, 1))
            wait_in_vain();
        scale();
        if (!sigsetjmp(back, 1))
            wait_in_vain();
        scale_below(4);
    }
    check(x[SEEN] == 3 * 128, "after jumps");
}

/* A thread that never called the BLAS jumps out of its call and ends.  The main thread blocks the alarm, which
 * therefore goes to the thread.  The kernel knows the thread for a moment after its end, so the kernel's list of
 * threads does not say that the call is over. */
static void ended(void)
{
    const struct sigaction action = {.sa_handler = jump};
    sigset_t set;
    pthread_t t;

    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    if (pipe(silent) || pthread_key_create(&end, linger) || pthread_barrier_init(&meet, NULL, 2))
        return;
    fill(3);
    scale();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&t, NULL, wait_and_end, &set);
    pthread_barrier_wait(&meet);
    scale();
    pthread_barrier_wait(&meet);
    pthread_join(t, NULL);
    check(x[SEEN] == 12, "after a thread's end");
}

/* --- programs with lists of arguments ---------------------------------------------------------------------------- */

static void programs(void)
{
    char *path = (char *)&x[10], *word = (char *)&x[20];
    char *environment[] = {word, NULL};

    for (int way = 0; way < 3; way++) {
        fill(3);
        strcpy(path, "/nowhere/at/all");
        strcpy(word, "a=b");
        scale();
        errno = 0;
        if (way == 0)
            execl(path, word, word, (char *)NULL);
        else if (way == 1)
            execlp(path, word, word, (char *)NULL);
        else
            execle(path, word, word, (char *)NULL, environment);
        check(errno != EFAULT, "exec");
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all_of[] = {{"own", own}, {"pipes", pipes}, {"advice", advice}, {"jumps", jumps}, {"ended", ended},
                  {"programs", programs}};

    x = aligned_alloc(4096, (BYTES + 4095) / 4096 * 4096);
    y = malloc(BYTES);
    for (size_t i = 0; i < sizeof all_of / sizeof *all_of; i++)
        if (argc > 1 && strcmp(argv[1], all_of[i].name) == 0)
            all_of[i].run();
    printf(wrong ? "failed\n" : "ok\n");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
