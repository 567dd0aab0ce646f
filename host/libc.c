/* The functions of libc in syscalls.tab, as the program calls them: what they touch in the arena is acquired, then
 * libc's function runs.  A call that failed is never repeated (a datagram would be lost): everything is brought home
 * before.
 *
 * The names in C differ from those in the object, so that no header's prototype, macro or attribute takes part. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#include <aio.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include "base/inside.h"
#include "host/libc.h"
#include "host/next.h"
#include "host/touch.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"

/* --- the words of the table --------------------------------------------------------------------------------------- */

static size_t times_of(size_t each, size_t count)
{
    size_t bytes;

    return __builtin_mul_overflow(each, count, &bytes) ? SIZE_MAX : bytes;
}

static size_t vector_bytes(const struct iovec *v, long count)
{
    size_t sum = 0;

    for (long i = 0; i < count && i < IOV_MAX; i++)
        sum += v[i].iov_len;
    return sum;
}

/* Commands of old do not say how long what they are given is. */
static size_t ioctl_bytes(unsigned long what) { return _IOC_SIZE(what) > 256 ? _IOC_SIZE(what) : 256; }

static void touch_list(const struct aiocb *const *list, int count)
{
    if (!sc_host_anything_tracked())
        return;
    for (int i = 0; i < count; i++)
        if (list[i] && list[i]->aio_lio_opcode != LIO_NOP)
            sc_host_request((struct aiocb *)list[i], list[i]->aio_lio_opcode == LIO_READ);
}

static void list_over(const struct aiocb *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i])
            sc_host_request_over(list[i]);
}

/* Of the kernel's asynchronous I/O.  When they are over is not for libc to know. */
static void touch_kernel_list(struct iocb *const *list, long count)
{
    if (!list || !sc_host_anything_tracked())
        return;
    for (long i = 0; i < count && i < IOV_MAX; i++) {
        const void *at = (const void *)(uintptr_t)list[i]->aio_buf;
        int what = list[i]->aio_lio_opcode;

        sc_host_keep(list[i], sizeof **list);
        if (what == IOCB_CMD_PREAD || what == IOCB_CMD_PWRITE)
            sc_host_keep(at, list[i]->aio_nbytes);
        for (size_t j = 0; (what == IOCB_CMD_PREADV || what == IOCB_CMD_PWRITEV) && j < list[i]->aio_nbytes; j++)
            sc_host_keep(((const struct iovec *)at)[j].iov_base, ((const struct iovec *)at)[j].iov_len);
    }
}

/* A time to wait until, or a second word and a count in its place. */
static void touch_futex(struct sc_host_use *use, int what, const struct timespec *t, void *other)
{
    what &= 127;
    sc_host_keep(other, 4);
    if (what == 0 || what == 6 || what == 9 || what == 11 || what == 13)
        sc_host_touch(use, t, sizeof *t, SC_READ);
}

#define TIMES times_of
#define IN(p, n) sc_host_touch(use, p, (size_t)(n), SC_READ)
#define OUT(p, n) sc_host_touch(use, p, (size_t)(n), SC_RDWR)
#define IN1(p) IN(p, sizeof *(p))
#define OUT1(p) OUT(p, sizeof *(p))
#define PATH(s) sc_host_touch_string(use, s)
#define STRINGS(v) sc_host_touch_strings(use, v)
#define ADDRESS(at, length) sc_host_touch_address(use, at, length)
#define OUT_V(v, c) sc_host_touch_vector(use, v, (size_t)(c), SC_RDWR)
#define IN_V(v, c) sc_host_touch_vector(use, v, (size_t)(c), SC_READ)
#define OUT_MSG(m) sc_host_touch_message(use, m, SC_RDWR)
#define IN_MSG(m) sc_host_touch_message(use, m, SC_READ)
#define OUT_MSGS(m, c) sc_host_touch_messages(use, m, c, SC_RDWR)
#define IN_MSGS(m, c) sc_host_touch_messages(use, m, c, SC_READ)
#define SPLICED(fd, v, c) sc_host_touch_spliced(use, fd, v, c)
#define PROCESS_IN(pid, v, c) sc_host_touch_process(use, pid, v, c, SC_READ)
#define PROCESS_OUT(pid, v, c) sc_host_touch_process(use, pid, v, c, SC_RDWR)
#define FD_BYTES(c) (((size_t)(c) + 63) / 64 * 8)
#define IOCTL_BYTES ioctl_bytes
#define VECTOR_BYTES vector_bytes
#define KEEP(p, n) sc_host_keep(p, n)
#define KEEP_IF(given, p, n) ((given) ? KEEP(p, n) : (void)0)
#define FUTEX(what, t, other) touch_futex(use, what, t, other)
#define REQUEST(b, reads) sc_host_request(b, reads)
#define REQUEST_OVER(b) sc_host_request_over(b)
#define REQUESTS(list, c) touch_list((const struct aiocb *const *)(list), c)
#define REQUESTS_OVER(over, list, c) ((over) ? list_over((const struct aiocb *const *)(list), c) : (void)0)
#define KERNEL_REQUESTS(list, c) touch_kernel_list((struct iocb *const *)(list), c)
#define MEMORY(fd, at, n, access) \
    (__builtin_expect(sc_host_memory_opened, 0) ? sc_host_touch_memory_file(use, fd, at, n, access) : (void)0)
#define MEMORY_IN(fd, at, n) MEMORY(fd, at, n, SC_READ)
#define MEMORY_OUT(fd, at, n) MEMORY(fd, at, n, SC_RDWR)
#define OPENED(good, path) ((good) ? sc_host_opened(path) : (void)0)

/* --- the functions ------------------------------------------------------------------------------------------------ */

#define NAME(name) NEXT_##name,
enum {
#include "host/libc_calls.h"
    NEXT_COUNT
};
#undef NAME

static void *next[NEXT_COUNT];

/* In the place of a function that this libc does not have. */
static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

static void *find(int i, const char *name)
{
    if (!sc_host_next_find(&next[i], name))
        __atomic_store_n(&next[i], (void *)missing, __ATOMIC_RELAXED);
    return next[i];
}

static inline void *function(int i, const char *name)
{
    void *known = __atomic_load_n(&next[i], __ATOMIC_RELAXED);

    return __builtin_expect(known != NULL, 1) ? known : find(i, name);
}

/* Of every name, when the library is loaded: a first call may be in a signal handler. */
static void __attribute__((constructor)) find_all(void)
{
#define NAME(name) function(NEXT_##name, #name);
#include "host/libc_calls.h"
#undef NAME
}

static void end(void *use) { sc_host_use_end(use); }

#define INNER /* for other files of this folder */
#define OUTER SC_HOST_EXPORT
#define REAL(name) ((__typeof__(sc_libc_##name) *)function(NEXT_##name, #name))
#define SYMBOL_INNER(name)
#define SYMBOL_OUTER(name) __asm__(#name)

#define CALL(link, result, name, parameters, arguments, touched)                      \
    link result sc_libc_##name parameters SYMBOL_##link(name);                        \
    result sc_libc_##name parameters                                                  \
    {                                                                                 \
        struct sc_host_use use = {0};                                                 \
        result got;                                                                   \
                                                                                      \
        touched;                                                                      \
        if (__builtin_expect(!use.note, 1))                                           \
            return REAL(name) arguments;                                              \
        pthread_cleanup_push(end, &use); /* a thread may be cancelled in there */     \
        got = REAL(name) arguments;                                                   \
        pthread_cleanup_pop(1);                                                       \
        return got;                                                                   \
    }
#define CALL_THEN(link, result, name, parameters, arguments, touched, after)          \
    link result sc_libc_##name parameters SYMBOL_##link(name);                        \
    result sc_libc_##name parameters                                                  \
    {                                                                                 \
        struct sc_host_use use = {0};                                                 \
        result got;                                                                   \
                                                                                      \
        touched;                                                                      \
        pthread_cleanup_push(end, &use);                                              \
        got = REAL(name) arguments;                                                   \
        pthread_cleanup_pop(1);                                                       \
        after;                                                                        \
        return got;                                                                   \
    }
#define VOID(link, result, name, parameters, arguments, touched)                      \
    link void sc_libc_##name parameters SYMBOL_##link(name);                          \
    void sc_libc_##name parameters                                                    \
    {                                                                                 \
        struct sc_host_use use = {0};                                                 \
                                                                                      \
        touched;                                                                      \
        REAL(name) arguments;                                                         \
        sc_host_use_end(&use);                                                        \
    }
#include "host/libc_calls.h"

/* --- by number ---------------------------------------------------------------------------------------------------- */

#define SYSTEM_CALL(number, touched)                                                  \
    case number:                                                                      \
        touched;                                                                      \
        return;

static void touch_by_number(struct sc_host_use *use, long number, const long a[6])
{
    switch (number) {
#undef CALL
#include "host/libc_calls.h"
    }
}

void sc_host_touch_system_call(struct sc_host_use *use, long number, const long argument[6])
{
    if (sc_host_anything_tracked())
        touch_by_number(use, number, argument);
}
