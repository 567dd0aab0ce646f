/* The functions of libc in syscalls.tab, as the program calls them: the arena memory that a call touches is acquired
 * before libc's function runs.  The acquisition comes first because a failed call must not be repeated (a datagram
 * would be lost).
 *
 * The C names differ from the symbol names, so that no prototype, macro or attribute of a header applies. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#include <aio.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <linux/userfaultfd.h>
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
#include "host/watch.h"

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

/* Old ioctl commands do not encode the size of their argument. */
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

/* Requests of the kernel's asynchronous I/O.  libc does not learn of their end, so the memory is kept for good. */
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

/* The fourth argument is a time limit, or a count in its place; the fifth may be a second futex word. */
static void touch_futex(struct sc_host_use *use, int what, const struct timespec *t, void *other)
{
    what &= 127;
    sc_host_keep(other, 4);
    if (what == 0 || what == 6 || what == 9 || what == 11 || what == 13)
        sc_host_touch(use, t, sizeof *t, SC_READ);
}

/* Hands the faults of a range over to the program's own userfaultfd.  A range can be registered with only one
 * userfaultfd. */
static void hand_over(const struct uffdio_register *r)
{
    if (sc_host_within((const void *)(uintptr_t)r->range.start))
        sc_host_arena_abandon((uintptr_t)r->range.start, (size_t)r->range.len, false);
    else
        sc_watch_exclude((uintptr_t)r->range.start, (size_t)r->range.len);
}

/* libc_calls.h is included twice.  First: near_ROW tells whether any argument of a call may have to be acquired.
 * The test costs a few comparisons. */
#define TIMES times_of
#define FD_BYTES(c) (((size_t)(c) + 63) / 64 * 8)
#define IOCTL_BYTES ioctl_bytes
#define LIST(...) __VA_ARGS__
#define ARENA(p) (near = near || sc_host_within(p))
#define EITHER(p, n) (near = near || sc_host_within(p) || sc_host_meets_watched(p, (size_t)(n)))
#define TRACKED() (near = near || __atomic_load_n(&sc_host_callbacks, __ATOMIC_RELAXED))
#define IN(p, n) ARENA(p)
#define OUT(p, n) EITHER(p, n)
#define IN1(p) ARENA(p)
#define OUT1(p) EITHER(p, sizeof *(p))
#define PATH(s) ARENA(s)
#define STRINGS(v) TRACKED()
#define ADDRESS(at, length) (EITHER(at, sizeof(struct sockaddr_storage)), EITHER(length, sizeof *(length)))
#define OUT_V(v, c) TRACKED()
#define IN_V(v, c) TRACKED()
#define OUT_MSG(m) TRACKED()
#define IN_MSG(m) TRACKED()
#define OUT_MSGS(m, c) TRACKED()
#define IN_MSGS(m, c) TRACKED()
#define SPLICED(fd, v, c) TRACKED()
#define PROCESS_IN(pid, v, c) TRACKED()
#define PROCESS_OUT(pid, v, c) TRACKED()
#define KEEP(p, n) EITHER(p, n)
#define KEEP_IF(given, p, n) EITHER(p, n)
#define FUTEX(what, t, other) (ARENA(t), EITHER(other, 4))
#define REQUEST(b, reads) TRACKED()
#define FAULTS(what, p) (near = near || (what) == UFFDIO_REGISTER)
#define REQUESTS(list, c) TRACKED()
#define KERNEL_REQUESTS(list, c) TRACKED()
#define MEMORY_IN(fd, at, n) (near = near || sc_host_memory_opened)
#define MEMORY_OUT(fd, at, n) (near = near || sc_host_memory_opened)
#define TOUCH(row, parameters, ...)                       \
    static inline bool near_##row parameters              \
    {                                                     \
        bool near = false;                                \
        __VA_ARGS__;                                      \
        return near;                                      \
    }
#include "host/libc_calls.h"
#undef IN
#undef OUT
#undef IN1
#undef OUT1
#undef PATH
#undef STRINGS
#undef ADDRESS
#undef OUT_V
#undef IN_V
#undef OUT_MSG
#undef IN_MSG
#undef OUT_MSGS
#undef IN_MSGS
#undef SPLICED
#undef PROCESS_IN
#undef PROCESS_OUT
#undef KEEP
#undef KEEP_IF
#undef FUTEX
#undef FAULTS
#undef REQUEST
#undef REQUESTS
#undef KERNEL_REQUESTS
#undef MEMORY_IN
#undef MEMORY_OUT
#undef TOUCH

/* Second: touch_ROW acquires the arguments. */
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
#define VECTOR_BYTES vector_bytes
#define KEEP(p, n) sc_host_keep(p, n)
#define KEEP_IF(given, p, n) ((given) ? KEEP(p, n) : (void)0)
#define FUTEX(what, t, other) touch_futex(use, what, t, other)
#define REQUEST(b, reads) sc_host_request(b, reads)
#define FAULTS(what, p) ((what) == UFFDIO_REGISTER && (p) && !sc_inside() ? hand_over(p) : (void)0)
#define REQUEST_OVER(b) sc_host_request_over(b)
#define REQUESTS(list, c) touch_list((const struct aiocb *const *)(list), c)
#define REQUESTS_OVER(over, list, c) ((over) ? list_over((const struct aiocb *const *)(list), c) : (void)0)
#define KERNEL_REQUESTS(list, c) touch_kernel_list((struct iocb *const *)(list), c)
#define MEMORY(fd, at, n, access) \
    (sc_host_memory_opened ? sc_host_touch_memory_file(use, fd, at, n, access) : (void)0)
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

/* Stands for a function that this libc lacks. */
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

/* Finds every function when the library is loaded: a first call may be made in a signal handler. */
static void __attribute__((constructor)) find_all(void)
{
    struct sc_host_nexts nexts;

    sc_host_nexts_open(&nexts);
#define NAME(name)                                             \
    next[NEXT_##name] = sc_host_nexts_find(&nexts, #name);     \
    function(NEXT_##name, #name);
#include "host/libc_calls.h"
#undef NAME
}

static void end(void *use) { sc_host_use_end(use); }

#define INNER /* for other files of this folder */
#define OUTER SC_HOST_EXPORT
#define REAL(name) ((__typeof__(sc_libc_##name) *)function(NEXT_##name, #name))
#define SYMBOL_INNER(name)
#define SYMBOL_OUTER(name) __asm__(#name)

/* The thread may be cancelled inside libc's function. */
#define HELD(result, name, parameters, arguments, row)                                                      \
    static __attribute__((noinline)) result held_##name parameters                                          \
    {                                                                                                       \
        struct sc_host_use use = {0};                                                                       \
        result got;                                                                                         \
                                                                                                            \
        touch_##row(&use, LIST arguments);                                                                  \
        pthread_cleanup_push(end, &use);                                                                    \
        got = REAL(name) arguments;                                                                         \
        pthread_cleanup_pop(1);                                                                             \
        return got;                                                                                         \
    }

#define CALL(link, result, name, parameters, arguments, row)                                                \
    link result sc_libc_##name parameters SYMBOL_##link(name);                                              \
    HELD(result, name, parameters, arguments, row)                                                          \
    result sc_libc_##name parameters                                                                        \
    {                                                                                                       \
        return __builtin_expect(near_##row arguments, 0) ? held_##name arguments : REAL(name) arguments;    \
    }

#define CALL_THEN(link, result, name, parameters, arguments, row, after)                                    \
    link result sc_libc_##name parameters SYMBOL_##link(name);                                              \
    HELD(result, name, parameters, arguments, row)                                                          \
    result sc_libc_##name parameters                                                                        \
    {                                                                                                       \
        result got = __builtin_expect(near_##row arguments, 0) ? held_##name arguments : REAL(name) arguments;\
                                                                                                            \
        after;                                                                                              \
        return got;                                                                                         \
    }

#define VOID(link, result, name, parameters, arguments, row)                                                \
    link void sc_libc_##name parameters SYMBOL_##link(name);                                                \
    void sc_libc_##name parameters                                                                          \
    {                                                                                                       \
        struct sc_host_use use = {0};                                                                       \
                                                                                                            \
        touch_##row(&use, LIST arguments);                                                                  \
        REAL(name) arguments;                                                                               \
        sc_host_use_end(&use);                                                                              \
    }

#define TOUCH(row, parameters, ...)                                                                         \
    static inline void touch_##row(struct sc_host_use *use, LIST parameters)                                \
    {                                                                                                       \
        __VA_ARGS__;                                                                                        \
    }
#include "host/libc_calls.h"
#undef TOUCH
#undef CALL

/* --- by number ---------------------------------------------------------------------------------------------------- */

#define SYSTEM_CALL(number, touched)                                                  \
    case number:                                                                      \
        touched;                                                                      \
        return;

static void touch_by_number(struct sc_host_use *use, long number, const long a[6])
{
    switch (number) {
#include "host/libc_calls.h"
    }
}

void sc_host_touch_system_call(struct sc_host_use *use, long number, const long argument[6])
{
    if (sc_host_anything_tracked())
        touch_by_number(use, number, argument);
}
/* SPDX-License-Identifier: BSD-2-Clause */
