/* System calls that a program makes through libc's syscall(): what they touch in the arena is acquired as for the
 * functions of io_calls.h.  Instructions of its own (Go, libraries of io_uring and io_submit) are out of reach. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "base/inside.h"
#include "host/next.h"
#include "host/uses.h"

/* Which arguments name memory: a buffer and its length, a list and its count, or one offset. */
static const struct raw {
    short number;
    enum { BUFFER, VECTOR, MESSAGE, MESSAGES, REQUESTS, OFFSET } kind;
    uint8_t at, length; /* positions */
    enum sc_access access;
} raws[] = {
    {SYS_read, BUFFER, 1, 2, SC_RDWR},
    {SYS_pread64, BUFFER, 1, 2, SC_RDWR},
    {SYS_recvfrom, BUFFER, 1, 2, SC_RDWR},
    {SYS_getrandom, BUFFER, 0, 1, SC_RDWR},
    {SYS_mq_timedreceive, BUFFER, 1, 2, SC_RDWR},
    {SYS_write, BUFFER, 1, 2, SC_READ},
    {SYS_pwrite64, BUFFER, 1, 2, SC_READ},
    {SYS_sendto, BUFFER, 1, 2, SC_READ},
    {SYS_mq_timedsend, BUFFER, 1, 2, SC_READ},
    {SYS_mlock, BUFFER, 0, 1, SC_READ},
    {SYS_mlock2, BUFFER, 0, 1, SC_READ},
    {SYS_readv, VECTOR, 1, 2, SC_RDWR},
    {SYS_preadv, VECTOR, 1, 2, SC_RDWR},
    {SYS_preadv2, VECTOR, 1, 2, SC_RDWR},
    {SYS_process_vm_readv, VECTOR, 1, 2, SC_RDWR},
    {SYS_writev, VECTOR, 1, 2, SC_READ},
    {SYS_pwritev, VECTOR, 1, 2, SC_READ},
    {SYS_pwritev2, VECTOR, 1, 2, SC_READ},
    {SYS_process_vm_writev, VECTOR, 1, 2, SC_READ},
    {SYS_vmsplice, VECTOR, 1, 2, SC_READ},
    {SYS_recvmsg, MESSAGE, 1, 1, SC_RDWR},
    {SYS_sendmsg, MESSAGE, 1, 1, SC_READ},
    {SYS_recvmmsg, MESSAGES, 1, 2, SC_RDWR},
    {SYS_sendmmsg, MESSAGES, 1, 2, SC_READ},
    {SYS_io_submit, REQUESTS, 2, 1, SC_RDWR},
    {SYS_sendfile, OFFSET, 2, 2, SC_RDWR},
    {SYS_splice, OFFSET, 1, 1, SC_RDWR},
    {SYS_splice, OFFSET, 3, 3, SC_RDWR},
    {SYS_copy_file_range, OFFSET, 1, 1, SC_RDWR},
    {SYS_copy_file_range, OFFSET, 3, 3, SC_RDWR},
};

/* Of the kernel's asynchronous I/O: the ranges are home when they are queued (as with aio_read). */
static void touch_requests(struct sc_host_use *use, struct iocb *const *list, size_t count)
{
    for (size_t i = 0; list && i < count && i < IOV_MAX; i++) {
        void *at = (void *)(uintptr_t)list[i]->aio_buf;
        size_t length = list[i]->aio_nbytes;

        switch (list[i]->aio_lio_opcode) {
        case IOCB_CMD_PREAD: sc_host_touch(use, at, length, SC_RDWR); break;
        case IOCB_CMD_PWRITE: sc_host_touch(use, at, length, SC_READ); break;
        case IOCB_CMD_PREADV: sc_host_touch_vector(use, at, length, SC_RDWR); break;
        case IOCB_CMD_PWRITEV: sc_host_touch_vector(use, at, length, SC_READ); break;
        }
    }
}

static void touch_raw(struct sc_host_use *use, const struct raw *raw, const long argument[6])
{
    void *at = (void *)argument[raw->at];
    size_t length = (size_t)argument[raw->length];

    switch (raw->kind) {
    case BUFFER: sc_host_touch(use, at, length, raw->access); return;
    case VECTOR: sc_host_touch_vector(use, at, length, raw->access); return;
    case MESSAGE: sc_host_touch_message(use, at, raw->access); return;
    case MESSAGES: sc_host_touch_messages(use, at, length, raw->access); return;
    case REQUESTS: touch_requests(use, at, length); return;
    case OFFSET: sc_host_touch(use, at, sizeof(off_t), raw->access); return;
    }
}

void sc_host_touch_system_call(struct sc_host_use *use, long number, const long argument[6])
{
    if (!sc_host_anything_tracked())
        return;
    for (size_t i = 0; i < sizeof raws / sizeof *raws; i++)
        if (raws[i].number == number)
            touch_raw(use, &raws[i], argument);
}

static void *next_syscall;

/* All six arguments are passed on whatever the call has, as libc's own does. */
__attribute__((no_sanitize_address)) SC_HOST_EXPORT long syscall(long number, ...)
{
    struct sc_host_use use = {0};
    long a[6], result;
    va_list args;

    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (sc_host_remaps(number, a))
        return 0;
    sc_host_touch_system_call(&use, number, a);
    result = ((__typeof__(syscall) *)sc_host_next(&next_syscall, "syscall"))(number, a[0], a[1], a[2], a[3], a[4],
                                                                             a[5]);
    sc_host_use_end(&use);
    return result;
}

static void __attribute__((constructor)) find_next(void) { sc_host_next(&next_syscall, "syscall"); }
