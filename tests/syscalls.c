/* Runs the trials of every function in host/syscalls.tab (tests/trials.h is generated from the table). A trial has its
 * arguments in ordinary memory first, and then in a page shared with an array whose newest values are on a device. The
 * two calls must return the same result and errno, and leave the same bytes. Prints the differences, then the number of
 * trials. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

int capget(void *, void *); /* in no header */

#define PAGE_BYTES 4096
#define SMALL      2048                   /* bytes of a page for P; the array begins behind */
#define N          8192                   /* elements of the array */
#define BLOCK      (size_t)(1 << 20)      /* of malloc */
#define AT         (size_t)(16 * PAGE_BYTES)

void dscal_(const int *, const double *, double *, const int *);

static int file, device, tube[2], pair[2];
static FILE *stream;

/* --- a trial ------------------------------------------------------------------------------------------------------ */

static double *array; /* shares a page with P; NULL: P is in ordinary memory */
static int factor, closings, open_pages;
static long last; /* the call's result and errno, and the bytes that the call sent */
static int last_errno;
static struct {
    char bytes[8192];
    size_t count;
} sent;

static long past_libc(long number, long a, long b)
{
    long result;

    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b) : "rcx", "r11", "memory");
    return result;
}

static void close_page(const char *P)
{
    const int n = N, one = 1;
    const double two = 2;

    if (!array)
        return;
    dscal_(&n, &two, array, &one);
    factor *= 2;
    closings++;
    open_pages += past_libc(SYS_access, (long)P, 0) != -EFAULT;
}

#define CALL(...) \
    (close_page(P), errno = 0, last = (long)((called *)function)(__VA_ARGS__), last_errno = errno)
#define CALL_VOID(...) (close_page(P), errno = 0, ((called *)function)(__VA_ARGS__), last_errno = errno)

/* --- what the trials are written with ----------------------------------------------------------------------------- */

#define INT(k)          (*(int *)(void *)(P + (k)))
#define LONG(k)         (*(long *)(void *)(P + (k)))
#define S(k, text)      strcpy(P + (k), text)
#define TIME(k, s, ns)  (*(struct timespec *)(void *)(P + (k)) = (struct timespec){s, ns})
#define PAIR(k, a, b)   (((void **)(void *)(P + (k)))[0] = a, ((void **)(void *)(P + (k)))[1] = b)
#define PAGE            ((void *)((uintptr_t)P & ~(uintptr_t)(PAGE_BYTES - 1)))
#define LAST_POINTER()  (last = last != 0)
#define SOME()          (last = last > 0 ? 1 : last)
#define VECTOR(k, at, n)  put_vector((struct iovec *)(void *)(P + (k)), P + (at), n)
#define MESSAGE(n)      put_message((struct mmsghdr *)(void *)P, P, n)
#define LOCAL_ADDRESS(k)  put_address((struct sockaddr_in *)(void *)(P + (k)))
#define SYNC()          (memset(P, 0, 128), pthread_mutex_lock((void *)(P + 64)))
#define UNSYNC()        pthread_mutex_unlock((void *)(P + 64))
#define LOCKED(k)       (memset(P + (k), 0, 40), pthread_mutex_lock((void *)(P + (k))))
#define PUT(f)          put_text(f, P)
#define KEPT()          kept(P)
#define FINISH(b)       finish(b, P)

static void LAST_FD(void)
{
    if (last >= 0)
        close((int)last);
    last = last >= 0;
}
static void put_vector(struct iovec *v, char *p, size_t n)
{
    v[0] = (struct iovec){p, n};
    v[1] = (struct iovec){p + n, n};
}
static void put_message(struct mmsghdr *m, char *P, size_t n)
{
    struct iovec *v = (struct iovec *)(void *)(P + 128);

    *v = (struct iovec){P + 512, n};
    *m = (struct mmsghdr){.msg_hdr = {.msg_iov = v, .msg_iovlen = 1}};
}
static void put_address(struct sockaddr_in *a)
{
    *a = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static void keep_sent(ssize_t got) { sent.count += got > 0 ? (size_t)got : 0; }
static void FILE_AT(off_t at, size_t n) { keep_sent(pread(file, sent.bytes + sent.count, n, at)); }
static void DRAIN(void) { keep_sent(read(tube[0], sent.bytes + sent.count, 1000)); }
static void EAT(void) { keep_sent(recv(pair[0], sent.bytes + sent.count, 1000, MSG_DONTWAIT)); }
static void FEED(size_t n)
{
    char bytes[1000];

    memset(bytes, 'f', sizeof bytes);
    if (send(pair[1], bytes, n, 0) != (ssize_t)n)
        printf("nothing was sent\n");
}
static void FILL(size_t n)
{
    char bytes[1000];

    memset(bytes, 'f', sizeof bytes);
    if (write(tube[1], bytes, n) != (ssize_t)n)
        printf("nothing was sent\n");
}
static int EPOLL(void)
{
    static int ready = -1;
    struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = 5}};
    int e = epoll_create1(0);

    if (ready < 0)
        ready = eventfd(1, 0);
    epoll_ctl(e, EPOLL_CTL_ADD, ready, &event);
    return e;
}
static void CHILD(void)
{
    fflush(NULL);
    if (fork() == 0)
        _exit(3);
}
static void RAISED(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
}
static int rouser[2];
static void *sleep_until_roused(void *arg)
{
    char c;

    return read(rouser[0], &c, 1) < 0 ? arg : NULL;
}
static pthread_t SLEEPER(void)
{
    pthread_t t;

    pthread_create(&t, NULL, sleep_until_roused, NULL);
    return t;
}
static void ROUSE(pthread_t t)
{
    if (write(rouser[1], "", 1) == 1)
        pthread_join(t, NULL);
}
/* A page in use by the call is never closed again, even for an array that the program has not looked at. */
static void kept(const char *P)
{
    const int few = 64, one = 1;
    const double two = 2;

    if (!array)
        return;
    dscal_(&few, &two, (double *)(uintptr_t)(P + 1536), &one); /* of zeros */
    if (past_libc(SYS_access, (long)P, 0) == -EFAULT)
        open_pages += printf("a page was closed that is in use\n");
}
static void put_text(FILE *f, const char *P)
{
    fputs("some text", f);
    kept(P);
    fflush(f);
    keep_sent(pread(fileno(f), sent.bytes + sent.count, 100, 0));
    fclose(f);
}
/* Of a request the library's own fields differ. */
static void finish(struct aiocb *b, char *P)
{
    while (aio_error(b) == EINPROGRESS)
        sched_yield();
    last = last ? last : aio_return(b);
    memset(P, 0, 512);
}

struct trial {
    const char *name;
    void (*run)(void *function, char *P);
    bool varies;
};
#pragma GCC diagnostic ignored "-Wunused-result"
#pragma GCC diagnostic ignored "-Wpedantic"
#include "tests/trials.h"

/* --- all of them -------------------------------------------------------------------------------------------------- */

struct outcome {
    long result;
    int error;
    char bytes[SMALL];
    char sent[sizeof sent.bytes];
    size_t sent_count;
};

static void reset(void)
{
    static char text[2 * PAGE_BYTES];
    char rest[1000];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 26);
    if (pwrite(file, text, sizeof text, 0) != sizeof text)
        printf("the file is not written\n");
    while (read(tube[0], rest, sizeof rest) > 0 || recv(pair[0], rest, sizeof rest, MSG_DONTWAIT) > 0)
        ;
    memset(&sent, 0, sizeof sent);
    last = last_errno = 0;
}

/* Words that are addresses inside P become offsets. */
static void take_down(struct outcome *o, const char *P)
{
    *o = (struct outcome){.result = last, .error = last_errno, .sent_count = sent.count};
    memcpy(o->sent, sent.bytes, sizeof o->sent);
    for (size_t i = 0; i < SMALL; i += 8) {
        uintptr_t word;

        memcpy(&word, P + i, 8);
        word -= word - (uintptr_t)P < PAGE_BYTES ? (uintptr_t)P : 0;
        memcpy(o->bytes + i, &word, 8);
    }
}

static void run_plain(const struct trial *t, void *function, struct outcome *o)
{
    static _Alignas(PAGE_BYTES) char P[PAGE_BYTES];

    memset(P, 0, sizeof P);
    array = NULL;
    reset();
    t->run(function, P);
    take_down(o, P);
}

/* Returns false if the array is wrong, or its page was never closed. */
static bool run_closed(const struct trial *t, void *function, struct outcome *o)
{
    char *block = malloc(BLOCK), *P = (char *)((uintptr_t)(block + AT) & ~(uintptr_t)(PAGE_BYTES - 1));
    bool right = true;

    memset(block, 0, BLOCK);
    array = (double *)(void *)(P + SMALL);
    for (int i = 0; i < N; i++)
        array[i] = i % 7 + 1;
    factor = 1;
    closings = open_pages = 0;
    reset();
    t->run(function, P);
    take_down(o, P);
    if (!closings || open_pages)
        printf("%s: of %d times the page was open %d times\n", t->name, closings, open_pages);
    for (int i = 0; i < N && right; i++)
        right = array[i] == factor * (i % 7 + 1);
    if (!right)
        printf("%s: the array is wrong\n", t->name);
    right = right && closings && !open_pages;
    array = NULL;
    free(block);
    return right;
}

static bool same(const struct trial *t, const struct outcome *a, const struct outcome *b)
{
    if (t->varies ? (a->result < 0) != (b->result < 0) || a->error != b->error
                  : a->result != b->result || a->error != b->error) {
        printf("%s: result %ld, errno %d; in a closed page %ld, %d\n", t->name, a->result, a->error, b->result,
               b->error);
        return false;
    }
    if (!t->varies && memcmp(a->bytes, b->bytes, SMALL) != 0) {
        size_t i = 0;

        while (a->bytes[i] == b->bytes[i])
            i++;
        printf("%s: in a closed page byte %zu is %d, not %d\n", t->name, i, b->bytes[i], a->bytes[i]);
        return false;
    }
    if (a->sent_count != b->sent_count || memcmp(a->sent, b->sent, sizeof a->sent) != 0) {
        printf("%s: other bytes were sent from a closed page\n", t->name);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    char name[] = "./semcache-test-XXXXXX";
    int wrong = 0, missing = 0, count = (int)(sizeof trials / sizeof *trials);
    static struct outcome plain, closed;

    file = mkstemp(name);
    unlink(name);
    device = open("/dev/null", O_RDWR);
    stream = fdopen(dup(file), "r+");
    if (file < 0 || !stream || pipe2(tube, O_NONBLOCK) || pipe(rouser) || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
        return printf("no files\n"), 1;
    for (int i = 0; i < count; i++) {
        void *function = dlsym(RTLD_DEFAULT, trials[i].name);

        if (argc > 1 && strcmp(argv[1], trials[i].name) != 0)
            continue;
        if (!function) {
            missing++;
            continue;
        }
        run_plain(&trials[i], function, &plain);
        wrong += !run_closed(&trials[i], function, &closed) || !same(&trials[i], &plain, &closed);
        fflush(stdout);
    }
    printf("%d functions, %d not in this C library, %d wrong\n%s\n", count, missing, wrong, wrong ? "failed" : "ok");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
