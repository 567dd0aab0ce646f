/* The two halves of host/ together: blocks whose pages are closed and whose newest bytes are elsewhere, as after a call
 * on a device. Asserts right bytes after every use of the memory by a program: accesses, system calls, stdio, realloc,
 * fork, free. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/self_mem.h"
#include "tests/host_fake.h"
#include "tests/tap.h"

#define MIB ((size_t)1 << 20)
#define BYTES (3 * MIB)

static pthread_mutex_t protocol = PTHREAD_MUTEX_INITIALIZER;
static char *block;         /* the program's */
static size_t block_bytes;
static char newest[4 * MIB]; /* "on the device" */
static bool away;           /* the whole block is closed, and its bytes are stale */
static int faults;

/* Fills the pages while closed, and opens them afterwards: no thread may see a half-filled page. */
static void bring_home(void)
{
    static const uint8_t want[4 * MIB / SC_PAGE];

    if (away && sc_self_mem_write(block, newest, block_bytes) == SC_OK) {
        sc_host_protect((uintptr_t)block, block_bytes / SC_PAGE, want);
        away = false;
    }
}

static bool meets(uintptr_t addr, size_t bytes)
{
    return addr < (uintptr_t)block + block_bytes && (uintptr_t)block < addr + bytes;
}

static enum sc_fault_answer fault(uintptr_t addr, enum sc_access access, struct sc_host_code code, size_t window)
{
    (void)access, (void)code, (void)window;
    if (!meets(addr, 1))
        return SC_FAULT_NOT_OURS;
    pthread_mutex_lock(&protocol);
    faults++;
    bring_home();
    pthread_mutex_unlock(&protocol);
    return SC_FAULT_DONE;
}

static void read_ahead(uintptr_t addr, size_t bytes) { (void)addr, (void)bytes; }

static void acquire(uintptr_t addr, size_t bytes, enum sc_access access)
{
    (void)access;
    pthread_mutex_lock(&protocol);
    if (meets(addr, bytes))
        bring_home();
    pthread_mutex_unlock(&protocol);
}

static void forget(uintptr_t addr, size_t bytes)
{
    static const uint8_t want[4 * MIB / SC_PAGE];

    pthread_mutex_lock(&protocol);
    if (away && meets(addr, bytes)) {
        sc_host_protect((uintptr_t)block, block_bytes / SC_PAGE, want);
        away = false;
    }
    pthread_mutex_unlock(&protocol);
}

static void withdraw(uintptr_t addr, size_t bytes, void (*end)(void *arg), void *arg)
{
    acquire(addr, bytes, SC_RDWR);
    forget(addr, bytes);
    if (end)
        end(arg);
}

static void home(void) { acquire((uintptr_t)block, block_bytes, SC_RDWR); }
static void child(void) {}

static const struct sc_host_callbacks callbacks = {
    .fault = fault, .read_ahead = read_ahead, .forget = forget, .withdraw = withdraw,
    .acquire = acquire, .home = home, .child = child};

static char pattern(size_t i, int seed) { return (char)(i * 13 + i / 4096 + (size_t)seed * 29); }

/* A new block that a device has written. */
static char *send_away(int seed)
{
    uint8_t want[4 * MIB / SC_PAGE];
    struct sc_host_block b;

    block = malloc(BYTES);
    memset(block, 'x', BYTES); /* stale */
    sc_host_block_of(block, &b);
    block_bytes = b.bytes;
    for (size_t i = 0; i < block_bytes; i++)
        newest[i] = pattern(i, seed);
    sc_host_block_track(block);
    memset(want, SC_PROT_NONE, sizeof want);
    sc_host_protect((uintptr_t)block, block_bytes / SC_PAGE, want);
    away = true;
    faults = 0;
    return block;
}

static int right(const char *p, size_t from, size_t to, int seed)
{
    for (size_t i = from; i < to; i++)
        if (p[i] != pattern(i, seed))
            return 0;
    return 1;
}

static void test_touch(void)
{
    char *p = send_away(1);

    tap_ok(right(p, 0, BYTES, 1) && faults == 1, "reading faults once and finds the newest bytes");
    free(p);
    p = send_away(2);
    p[5] = 'w';
    tap_ok(p[5] == 'w' && right(p, 6, BYTES, 2), "a store lands in the newest bytes");
    free(p);
}

static void test_system_calls(int file)
{
    static char copy[BYTES], some[4096];
    char *p = send_away(3);
    int pair[2];

    tap_ok(pwrite(file, p, BYTES, 0) == (ssize_t)BYTES && faults == 0 &&
               pread(file, copy, BYTES, 0) == (ssize_t)BYTES && right(copy, 0, BYTES, 3),
           "write sends the newest bytes, without a fault");
    free(p);
    p = send_away(4);
    memset(some, 'r', sizeof some);
    pwrite(file, some, sizeof some, 0);
    tap_ok(pread(file, p + 100, sizeof some, 0) == sizeof some && right(p, 0, 100, 4) && p[100] == 'r' &&
               all_bytes(p + 100, 'r', sizeof some) && right(p, 100 + sizeof some, BYTES, 4),
           "read replaces its part and nothing else");
    free(p);
    p = send_away(5);
    tap_ok(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0 && send(pair[0], some, 1000, 0) == 1000 &&
               recv(pair[1], p, 4096, 0) == 1000 && all_bytes(p, 'r', 1000) && right(p, 1000, BYTES, 5),
           "a datagram shorter than the buffer is not lost, and the rest of the buffer stays");
    close(pair[0]);
    close(pair[1]);
    free(p);
}

static void test_stdio(int file)
{
    static char copy[BYTES];
    FILE *stream = fdopen(dup(file), "r+");
    char *p = send_away(6);

    rewind(stream);
    tap_ok(fwrite(p, 1, BYTES, stream) == BYTES && fflush(stream) == 0 &&
               pread(file, copy, BYTES, 0) == (ssize_t)BYTES && right(copy, 0, BYTES, 6),
           "fwrite");
    free(p);
    p = send_away(7);
    rewind(stream);
    tap_ok(fread(p, 1, MIB, stream) == MIB && right(p, 0, MIB, 6) && right(p, MIB, BYTES, 7), "fread");
    free(p);
    p = send_away(8);
    rewind(stream);
    tap_ok(fgets(p + MIB, 5, stream) == p + MIB && right(p, 0, MIB, 8), "fgets faults its way in");
    free(p);
    fclose(stream);
}

static void test_life(void)
{
    char *p = send_away(9), *q;
    uintptr_t was;
    int status = 1;
    pid_t pid;

    q = realloc(p, 10 * MIB);
    tap_ok(right(q, 0, BYTES, 9) && faults == 0, "realloc moves the newest bytes, without a fault");
    free(q);
    p = send_away(10);
    was = (uintptr_t)p;
    free(p);
    q = calloc(1, BYTES);
    tap_ok((uintptr_t)q == was && all_bytes(q, 0, BYTES) && faults == 0,
           "free opens: calloc of the same block is zero, without a fault");
    free(q);
    p = send_away(11);
    pid = fork();
    if (pid == 0)
        _exit(right(p, 0, BYTES, 11) ? 0 : 1);
    waitpid(pid, &status, 0);
    tap_ok(status == 0 && right(p, 0, BYTES, 11) && faults == 0, "a forked child finds the newest bytes");
    free(p);
    p = send_away(12);
    tap_ok(mprotect(p, SC_PAGE, PROT_READ) == 0 && right(p, 0, BYTES, 12), "the program's own mprotect");
    free(p);
    p = send_away(13);
    tap_ok(madvise(p, MIB, MADV_DONTNEED) == 0 && all_bytes(p, 0, MIB) && right(p, MIB, BYTES, 13),
           "the program's own MADV_DONTNEED");
    free(p);
}

int main(void)
{
    char name[] = "/tmp/semcache-test-XXXXXX";
    int file = mkstemp(name);

    unlink(name);
    sc_config.arena_bytes = (uint64_t)1 << 36;
    if (!tap_ok(file >= 0 && sc_host_arena_start() == SC_OK && sc_host_faults_start(&callbacks) == SC_OK, "start"))
        return tap_done();
    tap_diag("front end: %s", sc_host_faults_front());
    test_touch();
    test_system_calls(file);
    test_stdio(file);
    test_life();
    sc_host_faults_stop();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
