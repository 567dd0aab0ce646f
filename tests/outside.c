/* Untracked arrays (outside of malloc) under semcache. Asserts that every write is seen, by any writer and any way.
 * With `track` also asserts that an array without writes is not uploaded again. Values are small integers: results are
 * exact.
 *
 *     outside [track|wp]   track: writes are noticed, so an unwritten array must not move again.
 *                          wp: writes are noticed by the kernel, also on the stack and by system calls past libc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "semcache/semcache.h"
#include "tests/past_libc.h"

#define N 500
#define ELEMENTS (N * N)
#define BYTES (ELEMENTS * sizeof(double))
#define PAGE 4096

void dgemv_(const char *, const int *, const int *, const double *, const double *, const int *, const double *,
            const int *, const double *, double *, const int *);
void daxpy_(const int *, const double *, const double *, const int *, double *, const int *);
void dscal_(const int *, const double *, double *, const int *);

static const int n = N, one = 1;
static const double unit = 1, zero = 0;
static int wrong;
static bool track;

static void judge(bool good, const char *kind, const char *what)
{
    if (good)
        return;
    wrong++;
    printf("%s: %s\n", kind, what);
}

static uint64_t uploaded(void)
{
    struct semcache_statistics s = {.size = sizeof s};
    enum semcache_status (*get)(struct semcache_statistics *);

    *(void **)&get = dlsym(RTLD_DEFAULT, "semcache_statistics");
    return get && get(&s) == 0 ? s.bytes_h2d : 0;
}

/* --- a product ---------------------------------------------------------------------------------------------------- */

static double x[N], y[N], truth[N]; /* too small to be tracked */

static void fill(double *a, int seed)
{
    for (int i = 0; i < ELEMENTS; i++)
        a[i] = (i * 7 + i / N + seed) % 9 - 4;
}

/* Returns whether y = A x is right; x differs from call to call. */
static bool product(const double *a)
{
    static int calls;

    calls++;
    for (int i = 0; i < N; i++)
        x[i] = (i + calls) % 5 - 2;
    memset(truth, 0, sizeof truth);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            truth[i] += a[i + j * N] * x[j];
    dgemv_("N", &n, &n, &unit, a, &n, x, &one, &zero, y, &one);
    return memcmp(y, truth, sizeof y) == 0;
}

/* Products without writes in between: every product is right, and the matrix is uploaded for the first product only. */
static void rest(const char *k, const double *a)
{
    uint64_t before;

    judge(product(a), k, "a product");
    before = uploaded();
    for (int i = 0; i < 10; i++)
        judge(product(a), k, "a product of what was not written");
    if (track)
        judge(uploaded() - before < BYTES, k, "the matrix moved again though nobody wrote it");
}

static void sees(const char *k, const double *a, const char *how)
{
    uint64_t before = uploaded();

    judge(product(a), k, how);
    if (track)
        judge(uploaded() - before < BYTES, k, "a small change moved all of it");
    judge(product(a), k, how);
}

/* --- who writes --------------------------------------------------------------------------------------------------- */

static void *writer(void *at)
{
    *(double *)at += 1;
    return NULL;
}

static void by_thread(double *at)
{
    pthread_t thread;

    pthread_create(&thread, NULL, writer, at);
    pthread_join(thread, NULL);
}

static void by_kernel(double *at, bool stream)
{
    double value[600];
    int fd[2];

    for (int i = 0; i < 600; i++)
        value[i] = 3 - i % 7;
    if (pipe(fd) || write(fd[1], value, sizeof value) != (ssize_t)sizeof value)
        return;
    close(fd[1]);
    if (stream) {
        FILE *in = fdopen(fd[0], "r");

        wrong += fread(at, sizeof *at, 600, in) != 600;
        fclose(in);
        return;
    }
    wrong += read(fd[0], at, sizeof value) != (ssize_t)sizeof value;
    close(fd[0]);
}

/* A child's writes stay in the child; the parent's later writes are seen. */
static void by_child(double *at)
{
    pid_t child = fork();
    int status = 1;

    if (child == 0) {
        double before = *at;

        *at = 100;
        _exit(!(*at == 100 && before != 100 && product(at) && product(at)));
    }
    waitpid(child, &status, 0);
    wrong += status != 0;
    *at += 1;
}

static void writes(const char *k, double *a)
{
    rest(k, a);
    a[3 + 200 * N] = 9;
    sees(k, a, "an element");
    a[0] += 2;
    a[ELEMENTS - 1] += 3;
    sees(k, a, "the first and the last element");
    by_thread(a + 70 * N + 5);
    sees(k, a, "a thread's");
    by_kernel(a + 90 * N + 11, false);
    sees(k, a, "the kernel's");
    by_kernel(a + 300 * N, true);
    sees(k, a, "a stream's");
    memmove(a + 10 * N, a + 20 * N, 3 * N * sizeof *a);
    sees(k, a, "moved columns");
    for (int i = 0; i < 6; i++) { /* an array rewritten in every round is soon not watched any more */
        fill(a, i);
        judge(product(a), k, "all of it");
    }
    rest(k, a); /* until the array is watched again */
    rest(k, a);
    by_child(a);
    sees(k, a, "after a child");
}

/* --- results ------------------------------------------------------------------------------------------------------ */

static volatile bool stop;
static volatile uint64_t *counter;
static uint64_t counted;

static void *count(void *arg)
{
    (void)arg;
    while (!stop) {
        ++*counter;
        counted++;
    }
    return NULL;
}

/* Results in two arrays that share pages with each other, and with counters that a second thread keeps writing.
 * [counter | u | v | counter], u := 2 u, v := v + u. */
static void results(const char *k, double *p)
{
    const int m = ELEMENTS / 2 - 8;
    const double two = 2;
    double *u = p + 2, *v = u + m;

    for (int round = 0; round < 4; round++) {
        pthread_t thread;
        bool good = true;

        for (int i = 0; i < m; i++) {
            u[i] = i % 11;
            v[i] = i % 3;
        }
        counter = (volatile uint64_t *)(round % 2 ? p + 1 : v + m);
        *counter = counted = 0;
        stop = false;
        pthread_create(&thread, NULL, count, NULL);
        dscal_(&m, &two, u, &one);
        daxpy_(&m, &unit, u, &one, v, &one);
        u[5] = 1;
        daxpy_(&m, &unit, u, &one, v, &one);
        for (int i = 0; i < m; i++)
            good &= u[i] == (i == 5 ? 1 : 2 * (i % 11)) && v[i] == i % 3 + 2 * (i % 11) + u[i];
        judge(good, k, "results");
        stop = true;
        pthread_join(thread, NULL);
        judge(*counter == counted, k, "what lies beside a result was written back, too");
    }
}

/* Columns of an array come into use one after the other, in overlapping blocks. */
static void blocks(const char *k, double *a)
{
    const double two = 2;
    const int three = 3 * N;
    double *copy = malloc(BYTES);

    fill(a, 3);
    memcpy(copy, a, BYTES);
    for (int j = 0; j + 3 <= 100; j += 2) {
        dscal_(&three, &two, a + j * N, &one);
        for (int i = 0; i < three; i++)
            copy[j * N + i] *= 2;
        if (j % 5 == 0) {
            a[j * N] = copy[j * N] = 1;
            judge(memcmp(a, copy, BYTES) == 0, k, "overlapping blocks");
        }
    }
    /* The result is a part of the matrix. */
    dgemv_("N", &n, &n, &unit, a, &n, a + 7 * N, &one, &zero, a + 490 * N, &one);
    judge(memcmp(a, copy, 490 * N * sizeof *a) == 0, k, "blocks");
    free(copy);
}

/* --- kinds -------------------------------------------------------------------------------------------------------- */

static double in_bss[ELEMENTS + 1];
static double in_data[ELEMENTS + 1] = {1};
double in_common[ELEMENTS + 1] __attribute__((common));

static void use(const char *k, double *a)
{
    fill(a, 0);
    writes(k, a);
    results(k, a);
    blocks(k, a);
}

static void __attribute__((noinline)) on_stack(void)
{
    double local[ELEMENTS + 1];

    use("stack", local);
}

static double *map(void *at, int flags)
{
    double *p = mmap(at, BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

    if (p == MAP_FAILED)
        exit(2);
    return p;
}

/* New memory at the same addresses, or the same memory with new contents or a new protection. */
static void mappings(const char *k)
{
    double *p = map(NULL, 0), *q;

    fill(p, 1);
    rest(k, p);
    munmap(p, BYTES + PAGE);
    p = map(p, MAP_FIXED);
    judge(product(p), k, "a new mapping is empty");
    fill(p, 2);
    rest(k, p);
    map(p, MAP_FIXED);
    judge(product(p), k, "a mapping over it is empty");
    fill(p, 3);
    rest(k, p);
    madvise((char *)p + 10 * PAGE, 5 * PAGE, MADV_DONTNEED);
    judge(p[10 * PAGE / 8] == 0 && product(p), k, "emptied pages");
    rest(k, p);
    mprotect(p, BYTES, PROT_READ);
    rest(k, p);
    mprotect(p, BYTES, PROT_READ | PROT_WRITE);
    p[77] = 5;
    judge(product(p), k, "after a protection of the program's");
    q = mremap(p, BYTES + PAGE, BYTES + PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, map(NULL, 0));
    rest(k, q);
    p = map(p, MAP_FIXED);
    judge(product(p), k, "where it was moved from");
    q[12345] = 6;
    sees(k, q, "moved");
    munmap(p, BYTES + PAGE);
    munmap(q, BYTES + PAGE);
}

/* A part of a block of malloc, mapped anew: the block is no longer tracked.  Whether copies of the part stay on devices
 * depends on the engine. */
static void part_of_block(const char *k)
{
    char *block = malloc(BYTES + 20 * PAGE);
    double *p = map((void *)(((size_t)block + 8 * PAGE) & -(size_t)PAGE), MAP_FIXED);

    fill(p, 1);
    judge(product(p) && product(p), k, "right");
    p[77] = 5;
    judge(product(p), k, "written by the CPU");
    map(p, MAP_FIXED);
    judge(product(p), k, "a mapping over it is empty");
    fill(p, 2);
    judge(product(p), k, "written again");
    mprotect((char *)p + 10 * PAGE, PAGE, PROT_READ);
    judge(product(p), k, "with a page that the program protects");
    mprotect((char *)p + 10 * PAGE, PAGE, PROT_READ | PROT_WRITE);
    p[10 * PAGE / 8] = 7;
    judge(product(p), k, "after the protection");
    free(block);
}

static int file_of(const double *a)
{
    char name[] = "/tmp/semcache-test-XXXXXX";
    int fd = mkstemp(name);

    unlink(name);
    wrong += write(fd, a, BYTES) != (ssize_t)BYTES;
    return fd;
}

/* Arrays that are written through their file, or by a second process. */
static void shared(const char *k)
{
    double *a = malloc(BYTES), *p, five = 5;
    bool tracked = track;
    int fd;

    fill(a, 4);
    fd = file_of(a);
    track = false; /* shared arrays are copied in each call */
    for (int i = 0; i < 2; i++) {
        p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, i ? MAP_SHARED : MAP_PRIVATE, fd, 0);
        rest(k, p);
        wrong += pwrite(fd, &five, sizeof five, 8 * (1000 + i)) != sizeof five;
        judge(p[1000 + i] == 5 && product(p), k, "the file was written");
        if (i && fork() == 0) {
            p[3000] = 8;
            _exit(0);
        }
        while (i && p[3000] != 8)
            wait(NULL);
        judge(product(p), k, "another process has written");
        munmap(p, BYTES);
    }
    track = tracked;
    close(fd);
    free(a);
}

/* A shared mapping replaces a private mapping: the library's knowledge of the addresses ends with the old mapping. */
static void reused(const char *k)
{
    double *p = map(NULL, 0), *q;
    bool tracked = track;
    pid_t child;

    fill(p, 2);
    rest(k, p);
    munmap(p, BYTES + PAGE);
    q = mmap(p, BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    judge(q == p, k, "the system gives other addresses");
    track = false;
    fill(q, 4);
    rest(k, q);
    child = fork();
    if (child == 0) {
        q[3000] = 8;
        _exit(0);
    }
    waitpid(child, NULL, 0);
    judge(q[3000] == 8 && product(q), k, "another process has written");
    track = tracked;
    munmap(q, BYTES + PAGE);
}

static void past_libc(const char *k)
{
    double *p = map(NULL, 0), value[4] = {7, 6, 5, 4};
    int fd[2];

    fill(p, 5);
    rest(k, p);
    wrong += pipe(fd) || write(fd[1], value, sizeof value) != sizeof value;
    judge(system_call(SYS_read, fd[0], (long)(p + 30000), sizeof value, 0, 0, 0) == sizeof value, k, "EFAULT");
    sees(k, p, "a system call past libc");
    system_call(SYS_munmap, (long)p, BYTES + PAGE, 0, 0, 0, 0);
    system_call(SYS_mmap, (long)p, BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0);
    judge(p[30000] == 0 && product(p), k, "other memory, unseen");
    fill(p, 6);
    rest(k, p);
    system_call(SYS_madvise, (long)p, 16 * PAGE, MADV_DONTNEED, 0, 0, 0);
    judge(p[7] == 0 && product(p), k, "emptied, unseen");
    munmap(p, BYTES + PAGE);
}

int main(int argc, char **argv)
{
    double *mapped = map(NULL, 0);
    bool wp = false;

    for (int i = 1; i < argc; i++) {
        track |= strcmp(argv[i], "track") == 0;
        wp |= strcmp(argv[i], "wp") == 0;
    }
    track |= wp;
    use("bss", in_bss);
    use("bss, unaligned", in_bss + 1);
    use("data", in_data);
    use("common", in_common + 1);
    use("mapping", mapped);
    if (wp)
        on_stack();
    mappings("mappings");
    part_of_block("a part of a block mapped anew");
    shared("shared");
    if (wp)
        past_libc("past libc");
    reused("shared, where a private mapping was"); /* comes last: for a while the library does not try to watch such
                                                    * addresses again */
    printf("%d wrong\n%s\n", wrong, wrong ? "failed" : "ok");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
