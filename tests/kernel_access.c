/* Every libc call that hands the program's memory to the kernel, on arrays whose newest bytes are on a device. The
 * program runs under semcache without knowing semcache. A drain (the kernel reads memory) must pass on the device's
 * results. A fill (the kernel writes memory) must keep the unwritten bytes, and the device must see the written bytes.
 * Prints what is wrong, then the number of checks. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "host/libc_names.h"

#define N 8192
#define BYTES (N * sizeof(double)) /* capacity of a pipe */
#define READ 4000                  /* elements: not a whole number of pages */
#define PART ((size_t)8192)
#define PART_AT ((size_t)20000)
#define FIRST 2 /* the first word of x, computed on a device: an offset, or the type of a message */

void dscal_(const int *, const double *, double *, const int *);
void dcopy_(const int *, const double *, const int *, double *, const int *);

char *__fgets_chk(char *, size_t, int, FILE *);

static const int n = N, one = 1;
static const double two = 2;
static char local[BYTES + 1]; /* the opposite end of each call */
static int fd, tube[2], stream[2], packets[2], queue = -1;
static mqd_t posix_queue = (mqd_t)-1;
static FILE *file;

#define SKIPPED ((ssize_t)-2) /* not allowed, or not available, on this machine */

static ssize_t or_skip(ssize_t got)
{
    return got < 0 && (errno == EPERM || errno == ENOSYS || errno == EOPNOTSUPP) ? SKIPPED : got;
}

static struct iovec *vec(void *p, size_t bytes)
{
    static struct iovec v[2];

    v[0] = (struct iovec){p, bytes / 2};
    v[1] = (struct iovec){(char *)p + bytes / 2, bytes - bytes / 2};
    return v;
}
static struct mmsghdr *mmsg(void *p, size_t bytes)
{
    static struct mmsghdr m;

    m = (struct mmsghdr){.msg_hdr = {.msg_iov = vec(p, bytes), .msg_iovlen = 2}};
    return &m;
}

/* --- drains: the bytes at p end up in local ---------------------------------------------------------------------- */

static ssize_t from_file(ssize_t wrote)
{
    return wrote < 0 ? wrote : pread(fd, local, (size_t)wrote, 0);
}
static ssize_t from(int end, ssize_t wrote)
{
    for (ssize_t done = 0, got; done < wrote; done += got)
        if ((got = read(end, local + done, (size_t)(wrote - done))) <= 0)
            return -1;
    return wrote;
}
static struct aiocb the_request;
static struct aiocb *request(void *p, size_t bytes, int opcode)
{
    the_request = (struct aiocb){.aio_fildes = fd, .aio_buf = p, .aio_nbytes = bytes, .aio_lio_opcode = opcode};
    return &the_request;
}
static ssize_t done(int begun)
{
    const struct aiocb *list[1] = {&the_request};

    while (begun == 0 && aio_error(&the_request) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    return begun == 0 ? aio_return(&the_request) : -1;
}
static ssize_t listio(void *p, size_t bytes, int opcode)
{
    struct aiocb *list[1] = {request(p, bytes, opcode)};

    return done(lio_listio(LIO_WAIT, list, 1, NULL));
}
static ssize_t listio64(void *p, size_t bytes, int opcode)
{
    struct aiocb64 *list[1] = {(struct aiocb64 *)request(p, bytes, opcode)};

    return done(lio_listio64(LIO_WAIT, list, 1, NULL));
}
/* By the kernel's own asynchronous I/O. */
static ssize_t submitted(void *p, size_t bytes, int opcode)
{
    static aio_context_t context;
    const bool vector = opcode == IOCB_CMD_PREADV || opcode == IOCB_CMD_PWRITEV;
    struct iocb one_request = {.aio_fildes = (uint32_t)fd, .aio_lio_opcode = (uint16_t)opcode};
    struct iocb *list[1] = {&one_request};
    struct io_event event = {.res = -1};

    one_request.aio_buf = (uintptr_t)(vector ? (void *)vec(p, bytes) : p);
    one_request.aio_nbytes = vector ? 2 : bytes;
    if (!context && syscall(SYS_io_setup, 1, &context) != 0)
        return or_skip(-1);
    if (syscall(SYS_io_submit, context, 1, list) != 1 || syscall(SYS_io_getevents, context, 1, 1, &event, NULL) != 1)
        return -1;
    return (ssize_t)event.res;
}
static int rewound(void) { return lseek(fd, 0, SEEK_SET) == 0 ? fd : -1; }
static FILE *rewound_file(void)
{
    rewind(file);
    return file;
}
static ssize_t flushed(size_t items)
{
    return fflush(file) == 0 ? (ssize_t)items * 8 : -1;
}

#define DRAIN(name, call) static ssize_t drain_##name(void *p, size_t b) { return call; }
DRAIN(write, from_file(write(rewound(), p, b)))
DRAIN(__write, from_file(__write(rewound(), p, b)))
DRAIN(write_pipe, from(tube[0], write(tube[1], p, b)))
DRAIN(pwrite, from_file(pwrite(fd, p, b, 0)))
DRAIN(pwrite64, from_file(pwrite64(fd, p, b, 0)))
DRAIN(__pwrite64, from_file(__pwrite64(fd, p, b, 0)))
DRAIN(writev, from_file(writev(rewound(), vec(p, b), 2)))
DRAIN(pwritev, from_file(pwritev(fd, vec(p, b), 2, 0)))
DRAIN(pwritev64, from_file(pwritev64(fd, vec(p, b), 2, 0)))
DRAIN(pwritev2, from_file(pwritev2(fd, vec(p, b), 2, 0, 0)))
DRAIN(pwritev64v2, from_file(pwritev64v2(fd, vec(p, b), 2, 0, 0)))
DRAIN(send, from(stream[0], send(stream[1], p, b, 0)))
DRAIN(__send, from(stream[0], __send(stream[1], p, b, 0)))
DRAIN(sendto, from(stream[0], sendto(stream[1], p, b, 0, NULL, 0)))
DRAIN(sendmsg, from(stream[0], sendmsg(stream[1], &mmsg(p, b)->msg_hdr, 0)))
DRAIN(sendmmsg, sendmmsg(stream[1], mmsg(p, b), 1, 0) == 1 ? from(stream[0], (ssize_t)b) : -1)
DRAIN(packet, from(packets[0], send(packets[1], p, b, 0)))
DRAIN(vmsplice, from(tube[0], vmsplice(tube[1], vec(p, b), 2, 0)))
DRAIN(fwrite, from_file(flushed(fwrite(p, 8, b / 8, rewound_file()))))
DRAIN(fwrite_unlocked, from_file(flushed(fwrite_unlocked(p, 8, b / 8, rewound_file()))))
DRAIN(aio_write, from_file(done(aio_write(request(p, b, 0)))))
DRAIN(aio_write64, from_file(done(aio_write64((struct aiocb64 *)request(p, b, 0)))))
DRAIN(lio_listio, from_file(listio(p, b, LIO_WRITE)))
DRAIN(lio_listio64, from_file(listio64(p, b, LIO_WRITE)))
DRAIN(process_vm_writev, or_skip(process_vm_writev(getpid(), vec(p, b), 2, &(struct iovec){local, b}, 1, 0)))
DRAIN(syscall_write, from_file(syscall(SYS_write, rewound(), p, b)))
DRAIN(syscall_pwrite64, from_file(syscall(SYS_pwrite64, fd, p, b, 0)))
DRAIN(syscall_writev, from_file(syscall(SYS_writev, rewound(), vec(p, b), 2)))
DRAIN(syscall_pwritev, from_file(syscall(SYS_pwritev, fd, vec(p, b), 2, 0, 0)))
DRAIN(syscall_pwritev2, from_file(syscall(SYS_pwritev2, fd, vec(p, b), 2, 0, 0, 0)))
DRAIN(syscall_sendto, from(stream[0], syscall(SYS_sendto, stream[1], p, b, 0, NULL, 0)))
DRAIN(syscall_sendmsg, from(stream[0], syscall(SYS_sendmsg, stream[1], &mmsg(p, b)->msg_hdr, 0)))
DRAIN(syscall_sendmmsg,
      syscall(SYS_sendmmsg, stream[1], mmsg(p, b), 1, 0) == 1 ? from(stream[0], (ssize_t)b) : -1)
DRAIN(syscall_vmsplice, from(tube[0], syscall(SYS_vmsplice, tube[1], vec(p, b), 2, 0)))
DRAIN(syscall_process_vm_writev,
      or_skip(syscall(SYS_process_vm_writev, getpid(), vec(p, b), 2, &(struct iovec){local, b}, 1, 0)))
DRAIN(syscall_mlock, or_skip(syscall(SYS_mlock, p, b) ? -1 : munlock(p, b) ? -1 : (memcpy(local, p, b), (ssize_t)b)))
DRAIN(syscall_mlock2,
      or_skip(syscall(SYS_mlock2, p, b, 0) ? -1 : munlock(p, b) ? -1 : (memcpy(local, p, b), (ssize_t)b)))
DRAIN(io_submit, from_file(submitted(p, b, IOCB_CMD_PWRITE)))
DRAIN(io_submit_vector, from_file(submitted(p, b, IOCB_CMD_PWRITEV)))
DRAIN(mlock, or_skip(mlock(p, b) ? -1 : munlock(p, b) ? -1 : (memcpy(local, p, b), (ssize_t)b)))
DRAIN(mlock2, or_skip(mlock2(p, b, 0) ? -1 : munlock(p, b) ? -1 : (memcpy(local, p, b), (ssize_t)b)))
DRAIN(msync, msync((void *)((size_t)p & ~(size_t)4095), b, MS_SYNC) ? -1 : (memcpy(local, p, b), (ssize_t)b))
DRAIN(populate, or_skip(madvise((void *)((size_t)p & ~(size_t)4095), b, 22) ? -1 : (memcpy(local, p, b), (ssize_t)b)))

/* The first word of a message is its type: not sent, and positive (FIRST). */
static ssize_t drain_msgsnd(void *p, size_t b)
{
    char room[PART + sizeof(long)];
    ssize_t got;

    if (queue < 0)
        return SKIPPED;
    got = msgsnd(queue, p, b - sizeof(long), 0) ? -1 : msgrcv(queue, room, PART, 0, 0);
    memcpy(local, p, sizeof(long));
    memcpy(local + sizeof(long), room + sizeof(long), b - sizeof(long));
    return got < 0 ? got : got + (ssize_t)sizeof(long);
}
static ssize_t drain_mq_send(void *p, size_t b)
{
    if (posix_queue == (mqd_t)-1)
        return SKIPPED;
    return mq_send(posix_queue, p, b, 0) ? -1 : mq_receive(posix_queue, local, PART, NULL);
}
static const struct timespec never = {.tv_sec = 1L << 40};
static ssize_t drain_mq_timedsend(void *p, size_t b)
{
    if (posix_queue == (mqd_t)-1)
        return SKIPPED;
    return mq_timedsend(posix_queue, p, b, 0, &never) ? -1 : mq_receive(posix_queue, local, PART, NULL);
}
static ssize_t drain_syscall_mq_timedsend(void *p, size_t b)
{
    if (posix_queue == (mqd_t)-1)
        return SKIPPED;
    return syscall(SYS_mq_timedsend, posix_queue, p, b, 0, &never) ? -1 : mq_receive(posix_queue, local, PART, NULL);
}

/* --- fills: the bytes of local end up at p ------------------------------------------------------------------------ */

static int with_file(size_t bytes)
{
    return pwrite(fd, local, bytes, 0) == (ssize_t)bytes ? rewound() : -1;
}
static FILE *with_stdio(size_t bytes)
{
    with_file(bytes);
    fseek(file, 0, SEEK_SET);
    fflush(file); /* drops the buffer of read data */
    return rewound_file();
}
static int with(int ends[2], size_t bytes)
{
    return write(ends[1], local, bytes) == (ssize_t)bytes ? ends[0] : -1;
}

#define FILL(name, call) static ssize_t fill_##name(void *p, size_t b) { return call; }
FILL(read, read(with_file(b), p, b))
FILL(__read, __read(with_file(b), p, b))
FILL(read_pipe, read(with(tube, b), p, b))
FILL(pread, pread(with_file(b), p, b, 0))
FILL(pread64, pread64(with_file(b), p, b, 0))
FILL(__pread64, __pread64(with_file(b), p, b, 0))
FILL(readv, readv(with_file(b), vec(p, b), 2))
FILL(preadv, preadv(with_file(b), vec(p, b), 2, 0))
FILL(preadv64, preadv64(with_file(b), vec(p, b), 2, 0))
FILL(preadv2, preadv2(with_file(b), vec(p, b), 2, 0, 0))
FILL(preadv64v2, preadv64v2(with_file(b), vec(p, b), 2, 0, 0))
FILL(__read_chk, __read_chk(with_file(b), p, b, b))
FILL(__pread_chk, __pread_chk(with_file(b), p, b, 0, b))
FILL(__pread64_chk, __pread64_chk(with_file(b), p, b, 0, b))
FILL(recv, recv(with(stream, b), p, b, MSG_WAITALL))
FILL(recvfrom, recvfrom(with(stream, b), p, b, MSG_WAITALL, NULL, NULL))
FILL(recvmsg, recvmsg(with(stream, b), &mmsg(p, b)->msg_hdr, MSG_WAITALL))
FILL(recvmmsg, recvmmsg(with(packets, b), mmsg(p, b), 1, 0, NULL) == 1 ? (ssize_t)b : -1)
FILL(packet, recv(with(packets, b), p, b, 0))
FILL(__recv_chk, __recv_chk(with(stream, b), p, b, b, MSG_WAITALL))
FILL(__recvfrom_chk, __recvfrom_chk(with(stream, b), p, b, b, MSG_WAITALL, NULL, NULL))
FILL(fread, (ssize_t)fread(p, 8, b / 8, with_stdio(b)) * 8)
FILL(fread_unlocked, (ssize_t)fread_unlocked(p, 8, b / 8, with_stdio(b)) * 8)
FILL(__fread_chk, (ssize_t)__fread_chk(p, b, 8, b / 8, with_stdio(b)) * 8)
FILL(__fread_unlocked_chk, (ssize_t)__fread_unlocked_chk(p, b, 8, b / 8, with_stdio(b)) * 8)
FILL(aio_read, with_file(b) < 0 ? -1 : done(aio_read(request(p, b, 0))))
FILL(aio_read64, with_file(b) < 0 ? -1 : done(aio_read64((struct aiocb64 *)request(p, b, 0))))
FILL(lio_listio, with_file(b) < 0 ? -1 : listio(p, b, LIO_READ))
FILL(lio_listio64, with_file(b) < 0 ? -1 : listio64(p, b, LIO_READ))
FILL(process_vm_readv, or_skip(process_vm_readv(getpid(), vec(p, b), 2, &(struct iovec){local, b}, 1, 0)))
FILL(syscall_read, syscall(SYS_read, with_file(b), p, b))
FILL(syscall_pread64, syscall(SYS_pread64, with_file(b), p, b, 0))
FILL(syscall_readv, syscall(SYS_readv, with_file(b), vec(p, b), 2))
FILL(syscall_preadv, syscall(SYS_preadv, with_file(b), vec(p, b), 2, 0, 0))
FILL(syscall_preadv2, syscall(SYS_preadv2, with_file(b), vec(p, b), 2, 0, 0, 0))
FILL(syscall_recvfrom, syscall(SYS_recvfrom, with(stream, b), p, b, MSG_WAITALL, NULL, NULL))
FILL(syscall_recvmsg, syscall(SYS_recvmsg, with(stream, b), &mmsg(p, b)->msg_hdr, MSG_WAITALL))
FILL(syscall_recvmmsg, syscall(SYS_recvmmsg, with(packets, b), mmsg(p, b), 1, 0, NULL) == 1 ? (ssize_t)b : -1)
FILL(syscall_process_vm_readv,
     or_skip(syscall(SYS_process_vm_readv, getpid(), vec(p, b), 2, &(struct iovec){local, b}, 1, 0)))
FILL(io_submit, with_file(b) < 0 ? -1 : submitted(p, b, IOCB_CMD_PREAD))
FILL(io_submit_vector, with_file(b) < 0 ? -1 : submitted(p, b, IOCB_CMD_PREADV))

/* These calls end with a 0 that is not in the file. */
static ssize_t ended(char *p, char *got, size_t b)
{
    local[b - 1] = 0;
    return got == p ? (ssize_t)b : -1;
}
FILL(fgets, ended(p, fgets(p, (int)b, with_stdio(b)), b))
FILL(__fgets_chk, ended(p, __fgets_chk(p, b, (int)b, with_stdio(b)), b))
static ssize_t fill_getline(void *p, size_t b)
{
    char *line = p;
    size_t room = b;

    local[b - 2] = '\n';
    if (getline(&line, &room, with_stdio(b)) != (ssize_t)b - 1 || line != p)
        return -1;
    return ended(p, p, b);
}
static ssize_t fill_getdelim(void *p, size_t b)
{
    char *line = p;
    size_t room = b;

    local[b - 2] = '#';
    if (getdelim(&line, &room, '#', with_stdio(b)) != (ssize_t)b - 1 || line != p)
        return -1;
    return ended(p, p, b);
}
/* The bytes are unknown before the call: copies them to `local`. */
static ssize_t known(void *p, size_t b)
{
    memcpy(local, p, b);
    return (ssize_t)b;
}
FILL(getrandom, getrandom(p, b, 0) == (ssize_t)b ? known(p, b) : -1)
FILL(syscall_getrandom, syscall(SYS_getrandom, p, b, 0) == (ssize_t)b ? known(p, b) : -1)
FILL(getentropy, getentropy(p, b) == 0 ? known(p, b) : -1)
#if __GLIBC_PREREQ(2, 36)
FILL(arc4random_buf, (arc4random_buf(p, b), known(p, b)))
#endif
static ssize_t fill_msgrcv(void *p, size_t b)
{
    long type = 1;
    char room[PART];

    if (queue < 0)
        return SKIPPED;
    memcpy(local, &type, sizeof type);
    memcpy(room, local, b);
    if (msgsnd(queue, room, b - sizeof type, 0))
        return -1;
    return msgrcv(queue, p, b - sizeof type, 0, 0) + (ssize_t)sizeof type;
}
static ssize_t fill_mq_receive(void *p, size_t b)
{
    if (posix_queue == (mqd_t)-1)
        return SKIPPED;
    return mq_send(posix_queue, local, b, 0) ? -1 : mq_receive(posix_queue, p, PART, NULL);
}
static ssize_t fill_mq_timedreceive(void *p, size_t b)
{
    if (posix_queue == (mqd_t)-1)
        return SKIPPED;
    return mq_send(posix_queue, local, b, 0) ? -1 : mq_timedreceive(posix_queue, p, PART, NULL, &never);
}
static ssize_t fill_syscall_mq_timedreceive(void *p, size_t b)
{
    if (posix_queue == (mqd_t)-1)
        return SKIPPED;
    return mq_send(posix_queue, local, b, 0) ? -1 : syscall(SYS_mq_timedreceive, posix_queue, p, PART, NULL, &never);
}

/* Copies between descriptors. The offset lies in the array, begins as FIRST, and is accessed by the kernel only. */
static ssize_t offset_moved(void *p, size_t b, ssize_t moved)
{
    return moved == (ssize_t)b && *(off_t *)p == (off_t)(FIRST + b) ? known(p, sizeof(off_t)) : moved - (ssize_t)b - 1;
}
static int sink(void)
{
    static int file_out = -1;
    char name[] = "/tmp/semcache-test-XXXXXX";

    if (file_out < 0) {
        file_out = mkstemp(name);
        unlink(name);
    }
    return lseek(file_out, 0, SEEK_SET) == 0 ? file_out : -1;
}
FILL(sendfile, offset_moved(p, b, sendfile(sink(), with_file(FIRST + b), p, b)))
FILL(sendfile64, offset_moved(p, b, sendfile64(sink(), with_file(FIRST + b), p, b)))
FILL(copy_file_range, offset_moved(p, b, copy_file_range(with_file(FIRST + b), p, sink(), NULL, b, 0)))
FILL(syscall_sendfile, offset_moved(p, b, syscall(SYS_sendfile, sink(), with_file(FIRST + b), p, b)))
FILL(syscall_copy_file_range,
     offset_moved(p, b, syscall(SYS_copy_file_range, with_file(FIRST + b), p, sink(), NULL, b, 0)))
FILL(syscall_copy_file_range_to,
     offset_moved(p, b, syscall(SYS_copy_file_range, with_file(b), NULL, sink(), p, b, 0)))
FILL(syscall_splice,
     offset_moved(p, b, from(tube[0], syscall(SYS_splice, with_file(FIRST + b), p, tube[1], NULL, b, 0))))
FILL(syscall_splice_to, offset_moved(p, b, syscall(SYS_splice, with(tube, b), NULL, sink(), p, b, 0)))
FILL(copy_file_range_to, offset_moved(p, b, copy_file_range(with_file(b), NULL, sink(), p, b, 0)))
FILL(splice, offset_moved(p, b, from(tube[0], splice(with_file(FIRST + b), p, tube[1], NULL, b, 0))))
FILL(splice_to, offset_moved(p, b, splice(with(tube, b), NULL, sink(), p, b, 0)))

/* --- the checks -------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    ssize_t (*call)(void *, size_t);
    size_t most; /* 0: any size, anywhere in an array */
} drains[] = {
#define D(name) {#name, drain_##name, 0}
    D(write), D(__write), D(write_pipe), D(pwrite), D(pwrite64), D(__pwrite64), D(writev), D(pwritev), D(pwritev64),
    D(pwritev2), D(pwritev64v2), D(send), D(__send), D(sendto), D(sendmsg), D(sendmmsg), D(packet), D(vmsplice),
    D(fwrite), D(fwrite_unlocked), D(aio_write), D(aio_write64), D(lio_listio), D(lio_listio64),
    D(process_vm_writev),
    D(syscall_write), D(syscall_pwrite64), D(syscall_writev), D(syscall_pwritev), D(syscall_pwritev2),
    D(syscall_sendto), D(syscall_sendmsg), D(syscall_sendmmsg), D(syscall_vmsplice), D(syscall_process_vm_writev),
    D(syscall_mlock), D(syscall_mlock2), D(io_submit), D(io_submit_vector), D(mlock), D(mlock2), D(msync), D(populate),
    {"msgsnd", drain_msgsnd, PART}, {"mq_send", drain_mq_send, PART}, {"mq_timedsend", drain_mq_timedsend, PART},
    {"syscall_mq_timedsend", drain_syscall_mq_timedsend, PART},
}, fills[] = {
#define F(name) {#name, fill_##name, 0}
    F(read), F(__read), F(read_pipe), F(pread), F(pread64), F(__pread64), F(readv), F(preadv), F(preadv64), F(preadv2),
    F(preadv64v2), F(__read_chk), F(__pread_chk), F(__pread64_chk), F(recv), F(recvfrom), F(recvmsg), F(recvmmsg),
    F(packet), F(__recv_chk), F(__recvfrom_chk), F(fread), F(fread_unlocked), F(__fread_chk), F(__fread_unlocked_chk),
    F(aio_read), F(aio_read64), F(lio_listio), F(lio_listio64), F(process_vm_readv), F(syscall_read),
    F(syscall_pread64), F(syscall_readv), F(syscall_preadv), F(syscall_preadv2), F(syscall_recvfrom),
    F(syscall_recvmsg), F(syscall_recvmmsg), F(syscall_process_vm_readv), F(io_submit), F(io_submit_vector), F(fgets),
    F(__fgets_chk), F(getline), F(getdelim), F(getrandom), F(syscall_getrandom),
    {"getentropy", fill_getentropy, 256}, {"msgrcv", fill_msgrcv, PART}, {"mq_receive", fill_mq_receive, PART},
    {"mq_timedreceive", fill_mq_timedreceive, PART},
    {"syscall_mq_timedreceive", fill_syscall_mq_timedreceive, PART},
    {"sendfile", fill_sendfile, sizeof(off_t)}, {"sendfile64", fill_sendfile64, sizeof(off_t)},
    {"copy_file_range", fill_copy_file_range, sizeof(off_t)},
    {"copy_file_range_to", fill_copy_file_range_to, sizeof(off_t)}, {"splice", fill_splice, sizeof(off_t)},
    {"splice_to", fill_splice_to, sizeof(off_t)}, {"syscall_sendfile", fill_syscall_sendfile, sizeof(off_t)},
    {"syscall_copy_file_range", fill_syscall_copy_file_range, sizeof(off_t)},
    {"syscall_copy_file_range_to", fill_syscall_copy_file_range_to, sizeof(off_t)},
    {"syscall_splice", fill_syscall_splice, sizeof(off_t)},
    {"syscall_splice_to", fill_syscall_splice_to, sizeof(off_t)},
#if __GLIBC_PREREQ(2, 36)
    F(arc4random_buf),
#endif
};

static double *x, *y;
static double before[N]; /* the right contents of x */
static int checks, wrong, skipped, round_;

static void judge(bool good, const char *what, const char *name, ssize_t got)
{
    checks++;
    if (!good) {
        wrong++;
        printf("%s: %s (gave %zd, errno %d)\n", name, what, got, errno);
    }
}

/* Gives x new numbers by a device's kernel; the host's bytes are still those of the round before. */
static void compute(void)
{
    round_++;
    for (int i = 0; i < N; i++) {
        x[i] = i % 97 + round_ * 1000;
        before[i] = 2 * x[i];
    }
    x[0] = 0x1p-1074; /* the double whose bits are the integer 1 */
    before[0] = 2 * x[0];
    dscal_(&n, &two, x, &one);
}
static void scramble(void)
{
    for (size_t i = 0; i < BYTES; i++)
        local[i] = (char)('A' + (i * 7 + (size_t)round_) % 26);
}

static void check_drain(size_t k, size_t at, size_t bytes)
{
    ssize_t got;

    compute();
    scramble();
    errno = 0;
    got = drains[k].call((char *)x + at, bytes);
    if (got == SKIPPED) {
        skipped++;
        return;
    }
    judge(got == (ssize_t)bytes && memcmp(local, (char *)before + at, bytes) == 0, "old bytes left", drains[k].name,
          got);
    judge(memcmp(x, before, BYTES) == 0, "changed its source", drains[k].name, got);
}

/* on_device: the device holds the only copy of x; otherwise the host holds a copy, too. */
static void check_fill(size_t k, size_t at, size_t bytes, bool on_device)
{
    ssize_t got;

    compute();
    if (!on_device) {
        judge(memcmp(x, before, BYTES) == 0, "wrong before", fills[k].name, 0);
        dcopy_(&n, x, &one, y, &one);
    }
    scramble();
    errno = 0;
    got = fills[k].call((char *)x + at, bytes);
    if (got == SKIPPED) {
        skipped++;
        return;
    }
    memcpy((char *)before + at, local, bytes);
    dcopy_(&n, x, &one, y, &one);
    judge(got == (ssize_t)bytes && memcmp(y, before, BYTES) == 0, "the device works with other bytes", fills[k].name,
          got);
    judge(memcmp(x, before, BYTES) == 0, "the host has other bytes", fills[k].name, got);
}


static bool is_asleep(pid_t thread)
{
    char path[64], text[256] = "";
    FILE *stat;

    snprintf(path, sizeof path, "/proc/self/task/%d/wchan", (int)thread);
    stat = fopen(path, "r");
    if (!stat)
        return true;
    if (!fgets(text, sizeof text, stat))
        text[0] = 0;
    fclose(stat);
    return strstr(text, "pipe") != NULL;
}

/* A read waits in one half of the array while calls of the BLAS work on the second half. */
static void *read_thread(void *arg)
{
    pid_t *id = arg;
    ssize_t got;

    __atomic_store_n(id, (pid_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    got = read(tube[0], x, READ * sizeof *x);
    return (void *)got;
}

static void check_waiting_read(void)
{
    static const int rest = N - READ;
    pid_t id = 0;
    pthread_t thread;
    void *got;

    compute();
    pthread_create(&thread, NULL, read_thread, &id);
    for (int i = 0; i < 1000 && !(__atomic_load_n(&id, __ATOMIC_SEQ_CST) && is_asleep(id)); i++)
        usleep(1000);
    for (int i = 0; i < 4; i++)
        dscal_(&rest, &two, x + READ, &one);
    scramble();
    judge(write(tube[1], local, READ * sizeof *x) == (ssize_t)(READ * sizeof *x), "no write", "waiting read", 0);
    pthread_join(thread, &got);
    memcpy(before, local, READ * sizeof *x);
    for (int i = READ; i < N; i++)
        before[i] *= 16;
    judge((size_t)got == READ * sizeof *x && memcmp(x, before, BYTES) == 0, "wrong bytes", "waiting read",
          (ssize_t)got);
    dcopy_(&n, x, &one, y, &one);
    judge(memcmp(y, before, BYTES) == 0, "wrong on the device", "waiting read", 0);
}

static bool open_all(void)
{
    char name[] = "/tmp/semcache-test-XXXXXX", mq[64];
    int size = 1 << 20;
    struct mq_attr most = {.mq_maxmsg = 2, .mq_msgsize = PART};

    fd = mkstemp(name);
    unlink(name);
    file = fdopen(dup(fd), "r+");
    snprintf(mq, sizeof mq, "/semcache-test-%d", (int)getpid());
    posix_queue = mq_open(mq, O_RDWR | O_CREAT | O_EXCL, 0600, &most);
    mq_unlink(mq);
    queue = msgget(IPC_PRIVATE, 0600);
    if (fd < 0 || !file || pipe(tube) || socketpair(AF_UNIX, SOCK_STREAM, 0, stream) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET, 0, packets))
        return false;
    for (int i = 0; i < 2; i++) {
        setsockopt(stream[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        setsockopt(packets[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    }
    return true;
}

int main(void)
{
    const size_t count_d = sizeof drains / sizeof *drains, count_f = sizeof fills / sizeof *fills;

    x = aligned_alloc(4096, BYTES);
    y = aligned_alloc(4096, BYTES);
    if (!x || !y || !open_all()) {
        printf("no files: %s\n", strerror(errno));
        return 1;
    }
    for (size_t k = 0; k < count_d; k++) {
        check_drain(k, 0, drains[k].most ? drains[k].most : BYTES);
        if (!drains[k].most)
            check_drain(k, PART_AT, PART);
    }
    for (size_t k = 0; k < count_f; k++)
        for (int on_device = 0; on_device < 2; on_device++) {
            check_fill(k, 0, fills[k].most ? fills[k].most : BYTES, on_device);
            if (!fills[k].most)
                check_fill(k, PART_AT, PART, on_device);
        }
    for (int i = 0; i < 4; i++)
        check_waiting_read();
    if (queue >= 0)
        msgctl(queue, IPC_RMID, NULL);
    printf("%zu drains, %zu fills, %d checks, %d skipped, %d wrong\n", count_d, count_f, checks, skipped, wrong);
    printf(wrong ? "failed\n" : "ok\n");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
