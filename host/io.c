/* The calls of io_calls.h, as the program makes them: what they touch in the arena is acquired, then libc's function
 * runs.  A call that failed is never repeated (a datagram would be lost): everything is brought home before.
 *
 * Buffers elsewhere cost one comparison.  No errno is disturbed; arguments that are wrong stay libc's to judge. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* its inline versions have the names that are defined here */
#undef _FILE_OFFSET_BITS
#include <aio.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "host/libc_names.h"
#include "host/next.h"
#include "host/uses.h"

/* --- what is touched --------------------------------------------------------------------------------------------- */

/* On x86-64 struct aiocb64 is the same. */
static void touch_requests(struct sc_host_use *use, const struct aiocb *const *list, int count)
{
    if (!sc_host_anything_tracked())
        return;
    for (int i = 0; i < count; i++)
        if (list[i] && list[i]->aio_lio_opcode != LIO_NOP)
            sc_host_touch(use, (const void *)list[i]->aio_buf, list[i]->aio_nbytes,
                  list[i]->aio_lio_opcode == LIO_READ ? SC_RDWR : SC_READ);
}

static size_t times(size_t each, size_t count)
{
    size_t bytes;

    return __builtin_mul_overflow(each, count, &bytes) ? SIZE_MAX : bytes;
}

#define TIMES times
#define FILL(p, n) sc_host_touch(&use, p, n, SC_RDWR)
#define DRAIN(p, n) sc_host_touch(&use, p, n, SC_READ)
#define FILL_V(v, c) sc_host_touch_vector(&use, v, (size_t)(c), SC_RDWR)
#define DRAIN_V(v, c) sc_host_touch_vector(&use, v, (size_t)(c), SC_READ)
#define FILL_MSG(m) sc_host_touch_message(&use, m, SC_RDWR)
#define DRAIN_MSG(m) sc_host_touch_message(&use, m, SC_READ)
#define FILL_MSGS(m, c) sc_host_touch_messages(&use, m, c, SC_RDWR)
#define DRAIN_MSGS(m, c) sc_host_touch_messages(&use, m, c, SC_READ)
#define AIO_LIST(list, count) touch_requests(&use, (const struct aiocb *const *)(list), count)

/* --- the functions ----------------------------------------------------------------------------------------------- */

#undef fread_unlocked /* macros of <stdio.h> */
#undef fwrite_unlocked

#define CALL(result, name, parameters, arguments, touched) NEXT_##name,
enum {
#include "host/io_calls.h"
    NEXT_COUNT
};
#undef CALL

static void *next[NEXT_COUNT];

static void end(void *use) { sc_host_use_end(use); }

#define CALL(result, name, parameters, arguments, touched)                                   \
    SC_HOST_EXPORT result name parameters                                                    \
    {                                                                                        \
        struct sc_host_use use = {0};                                                        \
        result got;                                                                          \
                                                                                             \
        touched;                                                                             \
        if (__builtin_expect(!use.note, 1))                                                  \
            return ((__typeof__(name) *)sc_host_next(&next[NEXT_##name], #name))arguments;   \
        pthread_cleanup_push(end, &use); /* a thread may be cancelled in there */            \
        got = ((__typeof__(name) *)sc_host_next(&next[NEXT_##name], #name))arguments;        \
        pthread_cleanup_pop(1);                                                              \
        return got;                                                                          \
    }
#include "host/io_calls.h"
#undef CALL

/* The one that returns nothing.  libc's, since 2.36, asks the kernel to fill the buffer, and ends the program when that
 * fails. */
static void *next_arc4random_buf;
void arc4random_buf(void *p, size_t bytes);
SC_HOST_EXPORT void arc4random_buf(void *p, size_t bytes)
{
    struct sc_host_use use = {0};

    FILL(p, bytes);
    ((__typeof__(arc4random_buf) *)sc_host_next(&next_arc4random_buf, "arc4random_buf"))(p, bytes);
    sc_host_use_end(&use);
}

/* Not at the first call: that may be in a signal handler. */
static void __attribute__((constructor)) find_all(void)
{
#define CALL(result, name, parameters, arguments, touched) sc_host_next(&next[NEXT_##name], #name);
#include "host/io_calls.h"
#undef CALL
    sc_host_next(&next_arc4random_buf, "arc4random_buf");
}
