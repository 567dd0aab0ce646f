/* The libc calls that move bytes. Asserts that a call works, and that exactly its range of tracked memory is acquired
 * before the call, with the right access. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "host/libc_names.h"
#include "host/touch.h"
#include "tests/host_fake.h"
#include "tests/tap.h"

#define BYTES ((size_t)200000)
#define OFFSET 12345
#define PART 5000

static char *block; /* tracked; p points into the block */
static char *p;
static FILE *file;
static int fd, pair[2];

/* Checks a call of `bytes` bytes at p that returned `result`. */
static void expect(const char *name, ssize_t result, ssize_t wanted, enum sc_access access)
{
    int acquired = fake_acquires, good = fake_acquired_only(p, PART, access);

    if (result != wanted)
        tap_diag("result %zd, not %zd: %s", result, wanted, strerror(errno));
    if (!good)
        tap_diag("%d acquires; first: %+td, %zu bytes, access %d", acquired, (char *)fake_acquired[0].addr - p,
                 fake_acquired[0].bytes, (int)fake_acquired[0].access);
    tap_ok(good && result == wanted, "%s", name);
    fake_reset();
}

static struct iovec *vec(void)
{
    static struct iovec v;

    v = (struct iovec){p, PART};
    return &v;
}
static struct msghdr *msg(void)
{
    static struct msghdr m;

    m = (struct msghdr){.msg_iov = vec(), .msg_iovlen = 1};
    return &m;
}
static struct mmsghdr *mmsg(void)
{
    static struct mmsghdr m;

    m = (struct mmsghdr){.msg_hdr = *msg()};
    return &m;
}

static void rewind_all(void)
{
    lseek(fd, 0, SEEK_SET);
    rewind(file);
    fake_reset();
}

/* A datagram in the queue of pair[0]. */
static int incoming(void)
{
    static const char local[PART];
    int sent = (int)send(pair[1], local, PART, 0);

    fake_reset();
    return sent == PART ? pair[0] : -1;
}
/* Takes the bytes that the last call sent from the queue. */
static ssize_t outgoing(ssize_t result)
{
    char local[PART];

    if (recv(pair[0], local, PART, MSG_DONTWAIT) != PART)
        tap_diag("nothing was sent");
    return result;
}

static void test_reads(void)
{
    rewind_all();
    expect("read", read(fd, p, PART), PART, SC_RDWR);
    expect("pread", pread(fd, p, PART, 10), PART, SC_RDWR);
    expect("pread64", pread64(fd, p, PART, 10), PART, SC_RDWR);
    expect("readv", readv(fd, vec(), 1), PART, SC_RDWR);
    expect("preadv", preadv(fd, vec(), 1, 10), PART, SC_RDWR);
    expect("preadv64", preadv64(fd, vec(), 1, 10), PART, SC_RDWR);
    expect("preadv2", preadv2(fd, vec(), 1, 10, 0), PART, SC_RDWR);
    expect("preadv64v2", preadv64v2(fd, vec(), 1, 10, 0), PART, SC_RDWR);
    expect("__read_chk", __read_chk(fd, p, PART, BYTES), PART, SC_RDWR);
    expect("__pread_chk", __pread_chk(fd, p, PART, 10, BYTES), PART, SC_RDWR);
    expect("__pread64_chk", __pread64_chk(fd, p, PART, 10, BYTES), PART, SC_RDWR);
    rewind_all();
    expect("fread", (ssize_t)fread(p, 8, PART / 8, file), PART / 8, SC_RDWR);
    expect("fread_unlocked", (ssize_t)fread_unlocked(p, 8, PART / 8, file), PART / 8, SC_RDWR);
    expect("__fread_chk", (ssize_t)__fread_chk(p, BYTES, 8, PART / 8, file), PART / 8, SC_RDWR);
    expect("__fread_unlocked_chk", (ssize_t)__fread_unlocked_chk(p, BYTES, 8, PART / 8, file), PART / 8, SC_RDWR);
    expect("getrandom", getrandom(p, PART, GRND_NONBLOCK), PART, SC_RDWR);
    if (getentropy(p, 256) == 0)
        tap_ok(fake_acquired_only(p, 256, SC_RDWR), "getentropy");
}

static void test_receives(void)
{
    expect("recv", recv(incoming(), p, PART, 0), PART, SC_RDWR);
    expect("recvfrom", recvfrom(incoming(), p, PART, 0, NULL, NULL), PART, SC_RDWR);
    expect("recvmsg", recvmsg(incoming(), msg(), 0), PART, SC_RDWR);
    expect("recvmmsg", recvmmsg(incoming(), mmsg(), 1, 0, NULL), 1, SC_RDWR);
    expect("__recv_chk", __recv_chk(incoming(), p, PART, BYTES, 0), PART, SC_RDWR);
    expect("__recvfrom_chk", __recvfrom_chk(incoming(), p, PART, BYTES, 0, NULL, NULL), PART, SC_RDWR);
}

static void test_writes(void)
{
    int pipes[2], drained;

    rewind_all();
    expect("write", write(fd, p, PART), PART, SC_READ);
    expect("pwrite", pwrite(fd, p, PART, 10), PART, SC_READ);
    expect("pwrite64", pwrite64(fd, p, PART, 10), PART, SC_READ);
    expect("writev", writev(fd, vec(), 1), PART, SC_READ);
    expect("pwritev", pwritev(fd, vec(), 1, 10), PART, SC_READ);
    expect("pwritev64", pwritev64(fd, vec(), 1, 10), PART, SC_READ);
    expect("pwritev2", pwritev2(fd, vec(), 1, 10, 0), PART, SC_READ);
    expect("pwritev64v2", pwritev64v2(fd, vec(), 1, 10, 0), PART, SC_READ);
    expect("fwrite", (ssize_t)fwrite(p, 8, PART / 8, file), PART / 8, SC_READ);
    expect("fwrite_unlocked", (ssize_t)fwrite_unlocked(p, 8, PART / 8, file), PART / 8, SC_READ);
    fflush(file);
    drained = pipe(pipes);
    expect("vmsplice", drained ? -1 : vmsplice(pipes[1], vec(), 1, 0), PART, SC_READ);
    close(pipes[0]);
    close(pipes[1]);
    expect("send", outgoing(send(pair[1], p, PART, 0)), PART, SC_READ);
    expect("sendto", outgoing(sendto(pair[1], p, PART, 0, NULL, 0)), PART, SC_READ);
    expect("sendmsg", outgoing(sendmsg(pair[1], msg(), 0)), PART, SC_READ);
    expect("sendmmsg", outgoing(sendmmsg(pair[1], mmsg(), 1, 0)), 1, SC_READ);
}

static void test_others(void)
{
    static char local[PART];
    struct iovec there = {local, PART};
    struct aiocb a = {.aio_fildes = fd, .aio_buf = p, .aio_nbytes = PART};
    struct aiocb64 a64 = {.aio_fildes = fd, .aio_buf = p, .aio_nbytes = PART};
    struct aiocb *list[2] = {NULL, &a};
    const struct aiocb *waited = &a;
    ssize_t got;

    got = process_vm_readv(getpid(), vec(), 1, &there, 1, 0);
    if (got < 0 && (errno == EPERM || errno == ENOSYS))
        got = PART; /* not allowed on this machine; the acquire is what is tested */
    expect("process_vm_readv", got, PART, SC_RDWR);
    got = process_vm_writev(getpid(), vec(), 1, &there, 1, 0);
    if (got < 0 && (errno == EPERM || errno == ENOSYS))
        got = PART;
    expect("process_vm_writev", got, PART, SC_READ);
    mlock(p, PART);
    tap_ok(fake_acquired_only(p, PART, SC_READ), "mlock");
    mlock2(p, PART, 0);
    tap_ok(fake_acquired_only(p, PART, SC_READ), "mlock2");
    munlock(p, PART);
    fake_reset();
    expect("aio_read", aio_read(&a), 0, SC_RDWR);
    aio_suspend(&waited, 1, NULL);
    expect("aio_write", aio_return(&a) == PART ? aio_write(&a) : -1, 0, SC_READ);
    aio_suspend(&waited, 1, NULL);
    aio_return(&a);
    expect("aio_write64", aio_write64(&a64), 0, SC_READ);
    while (aio_error64(&a64) == EINPROGRESS)
        ;
    expect("aio_read64", aio_return64(&a64) == PART ? aio_read64(&a64) : -1, 0, SC_RDWR);
    while (aio_error64(&a64) == EINPROGRESS)
        ;
    aio_return64(&a64);
    a.aio_lio_opcode = LIO_READ;
    expect("lio_listio", lio_listio(LIO_WAIT, list, 2, NULL), 0, SC_RDWR);
    a.aio_lio_opcode = LIO_WRITE;
    expect("lio_listio of a write", lio_listio(LIO_WAIT, list, 2, NULL), 0, SC_READ);
}

struct reader {
    int fd;
    bool began;
};
static void *wait_for_bytes(void *arg)
{
    struct reader *r = arg;
    ssize_t got;

    __atomic_store_n(&r->began, true, __ATOMIC_SEQ_CST);
    got = read(r->fd, p, PART);
    return (void *)got;
}

/* While a call waits in the kernel, its range counts as in use. */
static void test_in_use(void)
{
    struct reader r = {.fd = -1};
    uintptr_t at = (uintptr_t)p;
    int pipes[2], seen = 0;
    pthread_t thread;
    void *got;

    tap_ok(!sc_host_in_use(0, UINTPTR_MAX, SC_RDWR), "no call, nothing in use");
    if (pipe(pipes))
        return;
    r.fd = pipes[0];
    pthread_create(&thread, NULL, wait_for_bytes, &r);
    for (int i = 0; i < 5000 && !seen; i++) {
        seen = sc_host_in_use(at + PART - 1, at + PART, SC_READ);
        usleep(1000);
    }
    tap_ok(seen && !sc_host_in_use(at + PART, at + BYTES, SC_RDWR) && !sc_host_in_use(0, at, SC_RDWR),
           "a read that waits uses its range");
    tap_ok(write(pipes[1], p + PART, PART) == PART && pthread_join(thread, &got) == 0 && (ssize_t)got == PART &&
               !sc_host_in_use(0, UINTPTR_MAX, SC_RDWR),
           "until it is over");
    close(pipes[0]);
    close(pipes[1]);
    fake_reset();
}

/* A note of a use that was dropped with its block must not end the note of a second use. */
static void test_stale_use(void)
{
    enum { MORE = 300 }; /* more than there are notes */
    struct sc_host_use old = {0}, uses[MORE] = {{0}};
    uintptr_t at = (uintptr_t)p;

    sc_host_touch_range(&old, at, at + 2 * PART, SC_READ);
    sc_host_uses_forget(at, 3 * PART);
    sc_host_touch_range(&uses[0], at, at + PART, SC_RDWR);
    sc_host_use_end(&old);
    tap_ok(sc_host_in_use(at, at + 1, SC_READ) && !sc_host_in_use(at + PART, at + 2 * PART, SC_RDWR),
           "the use of a freed block ends once");
    for (int i = 1; i < MORE; i++)
        sc_host_touch_range(&uses[i], at, at + PART, SC_READ);
    tap_ok(sc_host_in_use(at + PART, at + 2 * PART, SC_READ), "when no note is left all memory is in use");
    for (int i = 0; i < MORE; i++)
        sc_host_use_end(&uses[i]);
    tap_ok(!sc_host_in_use(0, UINTPTR_MAX, SC_RDWR), "until those uses are over");
    fake_reset();
}

static void test_not_ours(void)
{
    static char local[PART];
    char *untracked = malloc(BYTES);
    ssize_t got;

    fake_reset();
    memset(untracked, 0, BYTES);
    tap_ok(pread(fd, local, PART, 0) == PART && pread(fd, untracked, PART, 0) == PART && fake_acquires == 0,
           "other buffers and untracked blocks: nobody is called");
    sc_inside_enter();
    got = pread(fd, p, PART, 0);
    sc_inside_leave();
    tap_ok(got == PART && fake_acquires == 0, "nor inside the library");
    errno = 0;
    tap_ok(read(-1, p, PART) == -1 && errno == EBADF, "errors come through");
    fake_reset();
    errno = EDOM;
    got = pread(fd, p, PART, 0);
    tap_ok(got == PART && errno == EDOM, "errno is not disturbed");
    fake_reset();
    free(untracked);
}

static void test_ranges(void)
{
    static char local[100];
    struct iovec v[3] = {{p, 100}, {local, 100}, {p + 50000, 300}};
    struct iovec *volatile nowhere = (struct iovec *)8;
    struct sc_host_block b;
    ssize_t got;

    sc_host_block_of(block, &b);
    got = preadv(fd, v, 3, 0);
    tap_ok(got == 500 && fake_acquires == 2 && fake_acquired[0].bytes == 100 &&
               fake_acquired[1].addr == (uintptr_t)p + 50000 && fake_acquired[1].bytes == 300,
           "of a vector only the parts in tracked memory");
    fake_reset();
    got = pread(fd, p, SSIZE_MAX, 0);
    tap_ok(fake_acquired_only(p, b.base + b.bytes - (uintptr_t)p, SC_RDWR), "never beyond the block");
    rewind_all();
    got = (ssize_t)fread(p, 0, 5, file);
    tap_ok(got == 0 && fake_acquires == 0, "an empty fread touches nothing");
    errno = 0;
    got = readv(fd, nowhere, INT32_MAX);
    tap_ok(got == -1 && errno == EINVAL, "absurd counts are libc's to judge");
}

int main(void)
{
    static const char zeros[4 * BYTES];
    char name[] = "/tmp/semcache-test-XXXXXX";

    if (!tap_ok(fake_start((size_t)1 << 40) == 0, "the arena starts"))
        return tap_done();
    fd = mkstemp(name);
    unlink(name);
    if (!tap_ok(write(fd, zeros, sizeof zeros) == sizeof zeros && (file = fdopen(dup(fd), "r+")) != NULL &&
                    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0,
                "a file and sockets"))
        return tap_done();
    block = calloc(1, BYTES);
    p = block + OFFSET;
    sc_host_block_track(block);
    test_reads();
    test_receives();
    test_writes();
    test_others();
    test_in_use();
    test_stale_use();
    test_not_ours();
    test_ranges();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
