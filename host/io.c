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
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/inside.h"
#include "host/arena.h"
#include "host/next.h"

/* --- what is touched --------------------------------------------------------------------------------------------- */

static void __attribute__((noinline)) touch_arena(uintptr_t addr, size_t bytes, enum sc_access access)
{
    const void *p = (const void *)addr;
    struct sc_host_block block;

    if (sc_inside() || !sc_host_arena_tracked(p) || !sc_host_block_of(p, &block))
        return;
    if (bytes > block.base + block.bytes - addr) /* the rest is no memory of this block: the kernel will say so */
        bytes = block.base + block.bytes - addr;
    if (bytes)
        sc_host_acquire(addr, bytes, access);
}

static inline void touch(const void *p, size_t bytes, enum sc_access access)
{
    if (__builtin_expect(sc_host_within(p), 0))
        touch_arena((uintptr_t)p, bytes, access);
}

/* Lists are looked at only when something can be tracked: a wrong pointer must give EFAULT, as without us. */
static inline bool anything_tracked(void)
{
    return __atomic_load_n(&sc_host_callbacks, __ATOMIC_RELAXED) != NULL && !sc_inside();
}

static void touch_vector(const struct iovec *v, size_t count, enum sc_access access)
{
    if (!anything_tracked() || count > IOV_MAX)
        return;
    for (size_t i = 0; i < count; i++)
        touch(v[i].iov_base, v[i].iov_len, access);
}

static void touch_message(const struct msghdr *m, enum sc_access access)
{
    if (anything_tracked() && m)
        touch_vector(m->msg_iov, m->msg_iovlen, access);
}

static void touch_messages(const struct mmsghdr *m, size_t count, enum sc_access access)
{
    if (!anything_tracked() || !m)
        return;
    for (size_t i = 0; i < count && i < IOV_MAX; i++)
        touch_message(&m[i].msg_hdr, access);
}

/* On x86-64 struct aiocb64 is the same. */
static void touch_requests(const struct aiocb *const *list, int count)
{
    if (!anything_tracked())
        return;
    for (int i = 0; i < count; i++)
        if (list[i] && list[i]->aio_lio_opcode != LIO_NOP)
            touch((const void *)list[i]->aio_buf, list[i]->aio_nbytes,
                  list[i]->aio_lio_opcode == LIO_READ ? SC_RDWR : SC_READ);
}

static size_t times(size_t each, size_t count)
{
    size_t bytes;

    return __builtin_mul_overflow(each, count, &bytes) ? SIZE_MAX : bytes;
}

#define TIMES times
#define FILL(p, n) touch(p, n, SC_RDWR)
#define DRAIN(p, n) touch(p, n, SC_READ)
#define FILL_V(v, c) touch_vector(v, (size_t)(c), SC_RDWR)
#define DRAIN_V(v, c) touch_vector(v, (size_t)(c), SC_READ)
#define FILL_MSG(m) touch_message(m, SC_RDWR)
#define DRAIN_MSG(m) touch_message(m, SC_READ)
#define FILL_MSGS(m, c) touch_messages(m, c, SC_RDWR)
#define DRAIN_MSGS(m, c) touch_messages(m, c, SC_READ)
#define AIO_LIST(list, count) touch_requests((const struct aiocb *const *)(list), count)

/* --- the functions ----------------------------------------------------------------------------------------------- */

#undef fread_unlocked /* macros of <stdio.h> */
#undef fwrite_unlocked

/* libc declares these to fortified programs only. */
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, __SOCKADDR_ARG, socklen_t *);
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
size_t __fread_unlocked_chk(void *, size_t, size_t, size_t, FILE *);

#define CALL(result, name, parameters, arguments, touched) NEXT_##name,
enum {
#include "host/io_calls.h"
    NEXT_COUNT
};
#undef CALL

static void *next[NEXT_COUNT];

#define CALL(result, name, parameters, arguments, touched)                                   \
    SC_HOST_EXPORT result name parameters                                                    \
    {                                                                                        \
        touched;                                                                             \
        return ((__typeof__(name) *)sc_host_next(&next[NEXT_##name], #name))arguments;       \
    }
#include "host/io_calls.h"
#undef CALL

/* Not at the first call: that may be in a signal handler. */
static void __attribute__((constructor)) find_all(void)
{
#define CALL(result, name, parameters, arguments, touched) sc_host_next(&next[NEXT_##name], #name);
#include "host/io_calls.h"
#undef CALL
}
