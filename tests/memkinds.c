/* Matrices in memory of every kind under semcache. Chained calls, with reads and writes by the CPU in between, are
 * compared with the definition. Values are small integers, so results are exact.
 *
 *     memkinds [KIND...]       every kind, or the named kinds; prints what is wrong, then the number of kinds */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define PAGE 4096
#define N 120
#define ELEMENTS (3 * 130 * 130 + 100) /* three matrices with leading dimensions up to 130, and a margin */
#define BYTES (ELEMENTS * sizeof(double))

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *);
void daxpy_(const int *, const double *, const double *, const int *, double *, const int *);
void dscal_(const int *, const double *, double *, const int *);
double ddot_(const int *, const double *, const int *, const double *, const int *);

static const int n = N, one = 1;
static const double half = 0.5, unit = 1, two = 2;
static int wrong;

static void judge(bool good, const char *kind, const char *what)
{
    if (good)
        return;
    wrong++;
    printf("%s: %s\n", kind, what);
}

/* --- the chain ---------------------------------------------------------------------------------------------------- */

/* The right contents of the matrices A, B, C and of the elements before, between and behind them. */
static double truth[ELEMENTS];

static struct place {
    int a, b, c, end, ld; /* elements */
} at;

static void lay_out(int ld)
{
    at.ld = ld;
    at.a = 5;
    at.b = at.a + ld * N + 3;
    at.c = at.b + ld * N + 1;
    at.end = at.c + ld * N + 7;
}

static void true_gemm(void)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double sum = 0;

            for (int k = 0; k < N; k++)
                sum += truth[at.a + i + k * at.ld] * truth[at.b + k + j * at.ld];
            truth[at.c + i + j * at.ld] += 0.5 * sum;
        }
}

static void gemm(double *p)
{
    dgemm_("N", "N", &n, &n, &n, &half, p + at.a, &at.ld, p + at.b, &at.ld, &unit, p + at.c, &at.ld);
    true_gemm();
}

/* Stores a value by the CPU, and in the model. */
static void put(double *p, int i, double value) { p[i] = truth[i] = value; }

static void put_column(double *p, int first, int j, int seed)
{
    for (int i = 0; i < N; i++)
        put(p, first + i + j * at.ld, 2 * ((i * 3 + j + seed) % 5) - 4);
}

static bool same(const double *p) { return memcmp(p, truth, (size_t)at.end * sizeof *p) == 0; }

static void begin(double *p)
{
    for (int i = 0; i < at.end; i++)
        truth[i] = 2 * (i % 4) - 2;
    memcpy(p, truth, (size_t)at.end * sizeof *p);
}

/* p holds `truth`. */
static void chain(const char *kind, double *p)
{
    const int corner = at.c + 7 + 8 * at.ld, last = at.c + N - 1 + (N - 1) * at.ld;
    double dot = 0, expected = 0;

    gemm(p);
    gemm(p);
    judge(p[corner] == truth[corner] && p[last] == truth[last], kind, "elements after two products");
    put(p, corner, 6);
    put(p, at.a - 1, 11); /* neighbours, which may share pages with the matrices */
    put(p, at.c - 1, 12);
    put(p, at.end - 1, 13);
    put_column(p, at.a, 3, 1);
    put_column(p, at.b, N - 1, 2);
    gemm(p);
    dscal_(&n, &two, p + at.c + 4 * at.ld, &one);
    for (int i = 0; i < N; i++)
        truth[at.c + i + 4 * at.ld] *= 2;
    daxpy_(&n, &unit, p + at.a + 3 * at.ld, &one, p + at.b + 5 * at.ld, &one);
    for (int i = 0; i < N; i++)
        truth[at.b + i + 5 * at.ld] += truth[at.a + i + 3 * at.ld];
    put(p, at.end - 2, 14);
    gemm(p);
    for (int i = 0; i < N; i++)
        expected += truth[at.c + i] * truth[at.a + i];
    dot = ddot_(&n, p + at.c, &one, p + at.a, &one);
    judge(dot == expected, kind, "dot product");
    judge(same(p), kind, "all of it, and its neighbours");
    put_column(p, at.c, 0, 3);
    put(p, last, 1);
    gemm(p);
    judge(same(p), kind, "again");
}

static void use(const char *kind, double *p)
{
    static const int lds[] = {N, N + 9};

    if (!p) {
        printf("%s: not here\n", kind);
        return;
    }
    for (int i = 0; i < 2; i++) {
        lay_out(lds[i]);
        begin(p);
        chain(kind, p);
    }
}

/* --- kinds -------------------------------------------------------------------------------------------------------- */

static void kind_malloc(const char *k)
{
    for (int i = 0; i < 4; i++) { /* the second block has the first one's addresses, and is only partly written */
        double *p = i % 2 ? calloc(1, BYTES) : malloc(BYTES);

        if (i % 2)
            judge(p[0] == 0 && memcmp(p, p + 1, BYTES - sizeof *p) == 0, k, "calloc is not zero");
        use(k, p);
        free(p);
    }
}

static void kind_aligned(const char *k)
{
    void *p = NULL;

    for (size_t align = 16; align <= (size_t)4 << 20; align <<= 3) {
        double *q = aligned_alloc(align, (BYTES + align - 1) / align * align);

        judge((uintptr_t)q % align == 0, k, "alignment");
        use(k, q);
        free(q);
        q = memalign(align, BYTES);
        judge((uintptr_t)q % align == 0, k, "memalign's alignment");
        use(k, q);
        free(q);
        judge(posix_memalign(&p, align, BYTES) == 0 && (uintptr_t)p % align == 0, k, "posix_memalign's alignment");
        use(k, p);
        free(p);
    }
    use(k, p = valloc(BYTES));
    free(p);
}

/* Grows and shrinks a block while the newest numbers are on a device. Small changes stay in place, large ones move. */
static void kind_realloc(const char *k)
{
    static const double steps[] = {1, 1.01, 1.1, 3, 2.9, 40, 1, 1.2};
    double *p = malloc(BYTES);

    lay_out(N);
    begin(p);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        gemm(p);
        p = realloc(p, (size_t)(steps[i] * (double)BYTES));
        if (i % 3 != 2)
            judge(same(p), k, "after realloc");
        chain(k, p);
        gemm(p);
    }
    judge(same(p), k, "at the end");
    p = realloc(p, (size_t)at.b * sizeof *p); /* shrinks the block to its front part: small enough to move */
    judge(memcmp(p, truth, (size_t)at.b * sizeof *p) == 0, k, "shrunk");
    free(p);
}

/* operator new and delete of C++. */
static void kind_new(const char *k)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW), *(*make)(size_t), (*drop)(void *);
    double *p;

    if (!library) {
        use(k, NULL);
        return;
    }
    *(void **)&make = dlsym(library, "_Znam");
    *(void **)&drop = dlsym(library, "_ZdaPv");
    for (int i = 0; i < 3; i++) {
        use(k, p = make(BYTES));
        drop(p);
    }
}

static double in_bss[ELEMENTS + 1];
static double in_data[ELEMENTS + 1] = {1};
double in_common[ELEMENTS + 1] __attribute__((common));
static __thread double in_tls[ELEMENTS + 1];

static void kind_bss(const char *k)
{
    use(k, in_bss);
    use(k, in_bss + 1);
}
static void kind_data(const char *k) { use(k, in_data + 1); }
static void kind_common(const char *k) { use(k, in_common); }

static void *in_thread(void *kind)
{
    double local[ELEMENTS];

    use(kind, in_tls);
    use(kind, local);
    return NULL;
}

static void kind_tls(const char *k)
{
    pthread_t thread;

    use(k, in_tls);
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, in_thread, (void *)(uintptr_t)k);
        pthread_join(thread, NULL);
    }
}

static void __attribute__((noinline)) kind_stack(const char *k)
{
    double local[ELEMENTS];
    double *more = __builtin_alloca(BYTES);

    use(k, local);
    use(k, more);
}

static void map(const char *k, int flags, int fd)
{
    size_t bytes = (BYTES + ((size_t)2 << 20) - 1) & ~(((size_t)2 << 20) - 1);
    double *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

    use(k, p == MAP_FAILED ? NULL : p);
    if (p == MAP_FAILED)
        return;
    if (flags & MAP_SHARED && fd >= 0) { /* a reader of the file sees the numbers */
        double *file = malloc(BYTES);

        judge(pread(fd, file, BYTES, 0) == (ssize_t)BYTES && same(file), k, "the file");
        free(file);
    }
    munmap(p, bytes);
}
static int file_of(size_t bytes)
{
    char name[] = "/tmp/semcache-test-XXXXXX";
    int fd = mkstemp(name);

    unlink(name);
    return ftruncate(fd, (off_t)bytes) == 0 ? fd : -1;
}
static void kind_map_private(const char *k) { map(k, MAP_PRIVATE | MAP_ANONYMOUS, -1); }
static void kind_map_shared(const char *k) { map(k, MAP_SHARED | MAP_ANONYMOUS, -1); }
static void kind_hugetlb(const char *k) { map(k, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1); }
static void kind_file(const char *k)
{
    int fd = file_of((size_t)4 << 20);

    map(k, MAP_PRIVATE, fd);
    map(k, MAP_SHARED, fd);
    close(fd);
}

static void kind_shm(const char *k)
{
    int id = shmget(IPC_PRIVATE, BYTES, 0600);
    double *p = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

    use(k, p == (void *)-1 ? NULL : p);
    shmdt(p);
    shmctl(id, IPC_RMID, NULL);
}

/* Huge pages on demand, in the arena and outside of the arena; and locked memory. */
static void kind_thp(const char *k)
{
    size_t bytes = (size_t)4 << 20;
    double *p = aligned_alloc((size_t)2 << 20, bytes);
    double *q = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(p, bytes, MADV_HUGEPAGE);
    use(k, p);
    madvise(p, bytes, MADV_NOHUGEPAGE);
    use(k, p);
    madvise(q, bytes, MADV_HUGEPAGE);
    use(k, q);
    munmap(q, bytes);
    free(p);
}
static void kind_locked(const char *k)
{
    double *p = calloc(1, BYTES);

    if (mlock(p, BYTES))
        printf("%s: %s\n", k, strerror(errno));
    use(k, p);
    munlock(p, BYTES);
    use(k, p);
    free(p);
}

static void kind_brk(const char *k)
{
    void *p = sbrk(BYTES + 4096);

    use(k, p == (void *)-1 ? NULL : p);
}

/* B lies in the program's read-only data (.rodata), and is filled with twos. */
static void constant_operand(const char *k, double *c)
{
    static const double twos[N * N] = {[0 ... N * N - 1] = 2};

    for (int round = 0; round < 3; round++) {
        put(c, at.a + 3 * round, round); /* A changes, B never does */
        dgemm_("N", "N", &n, &n, &n, &half, c + at.a, &at.ld, twos, &n, &unit, c + at.c, &at.ld);
        for (int i = 0; i < N; i++) {
            double sum = 0;

            for (int l = 0; l < N; l++)
                sum += truth[at.a + i + l * at.ld];
            for (int j = 0; j < N; j++)
                truth[at.c + i + j * at.ld] += sum;
        }
    }
    judge(same(c), k, "constant operands");
}

/* Read-only operands: A and B in a file mapped for reading, A and B behind a protection set by the program, and
 * constants. */
static void kind_read_only(const char *k)
{
    int fd = file_of((size_t)4 << 20);
    double *c = calloc(1, BYTES), *p;

    lay_out(N);
    begin(c);
    pwrite(fd, c, BYTES, 0);
    p = mmap(NULL, (size_t)4 << 20, PROT_READ, MAP_PRIVATE, fd, 0);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            dgemm_("N", "N", &n, &n, &n, &half, p + at.a, &at.ld, p + at.b, &at.ld, &unit, c + at.c, &at.ld);
            true_gemm();
        }
        judge(same(c), k, round ? "protected operands" : "mapped operands");
        if (!round) {
            munmap(p, (size_t)4 << 20);
            p = aligned_alloc(4096, (BYTES + 4095) / 4096 * 4096);
            memcpy(p, truth, BYTES);
            mprotect(p, BYTES, PROT_READ);
        }
    }
    mprotect(p, BYTES, PROT_READ | PROT_WRITE);
    free(p);
    constant_operand(k, c);
    free(c);
    close(fd);
}

/* Moves pages away from a block or a mapping that stays (MREMAP_DONTUNMAP). A device has the newest numbers. */
static void move_away(const char *k, double *p)
{
    size_t bytes = (BYTES + PAGE - 1) & ~((size_t)PAGE - 1);
    double *q;

    lay_out(N);
    begin(p);
    gemm(p);
    q = mremap(p, bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
    if (q == MAP_FAILED) {
        printf("%s: not here\n", k);
        return;
    }
    judge(same(q), k, "what has moved");
    judge(p[0] == 0 && memcmp(p, p + 1, bytes - sizeof *p) == 0, k, "what stays is not empty");
    use(k, p);
    use(k, q);
    munmap(q, bytes);
}

static void kind_moved(const char *k)
{
    size_t bytes = (BYTES + PAGE - 1) & ~((size_t)PAGE - 1);
    double *p = aligned_alloc(PAGE, bytes);
    double *q = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    move_away(k, p);
    free(p);
    move_away(k, q);
    munmap(q, bytes);
}

/* Blocks of many sizes come and go at the same addresses, while other blocks stay on devices. */
static void kind_churn(const char *k)
{
    double *keep = malloc(BYTES);

    lay_out(N);
    begin(keep);
    for (int i = 0; i < 60; i++) {
        size_t bytes = (size_t)8192 << i % 8;
        double *p = malloc(bytes), *q = malloc(bytes);
        int count = (int)(bytes / sizeof *p);

        for (int j = 0; j < count; j++)
            p[j] = q[j] = j + i;
        dscal_(&count, &two, p, &one);
        daxpy_(&count, &unit, p, &one, q, &one);
        if (i % 5 == 0)
            gemm(keep);
        judge(q[count - 1] == 3 * (count - 1 + i) && (i % 2 || q[0] == 3 * i), k, "a short-lived block");
        free(p);
        p = calloc(1, bytes);
        judge(p[0] == 0 && memcmp(p, p + 1, bytes - sizeof *p) == 0, k, "calloc after free");
        free(q);
        free(p);
    }
    judge(same(keep), k, "the block that stayed");
    free(keep);
}

static const struct {
    const char *name;
    void (*run)(const char *);
} kinds[] = {
#define K(name) {#name, kind_##name}
    K(malloc), K(aligned), K(realloc), K(new), K(bss), K(data), K(common), K(tls), K(stack), K(map_private),
    K(map_shared), K(hugetlb), K(file), K(shm), K(thp), K(locked), K(brk), K(read_only), K(moved), K(churn),
};

int main(int argc, char **argv)
{
    int ran = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool wanted = argc < 2;

        for (int a = 1; a < argc; a++)
            wanted |= strcmp(argv[a], kinds[i].name) == 0;
        if (!wanted)
            continue;
        kinds[i].run(kinds[i].name);
        ran++;
    }
    printf("%d kinds, %d wrong\n", ran, wrong);
    printf(wrong ? "failed\n" : "ok\n");
    return wrong != 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
