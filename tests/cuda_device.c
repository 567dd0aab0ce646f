/* The CUDA module's streams, fences, memory and copies on a GPU. Asserts the order that fences promise, exact copies,
 * reuse of freed blocks only after their last reader, separate memory of the host and of the device at one address, and
 * that the module leaves no CUDA context in the program's thread.
 *
 *     cuda_device [MODULE] */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "tests/cuda_module.h"
#include "tests/tap.h"

enum { MIB = 1 << 20 };

static const struct sc_device_ops *ops;
static struct sc_config config;
static int complaints; /* lines of errors and warnings */

static void count_lines(enum sc_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void count_lines(enum sc_log_level level, const char *format, ...)
{
    char line[512];
    va_list args;

    complaints += level <= SC_LOG_WARN;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    cuda_module_log(level, "%s", line);
}

static const struct sc_device_host host = {.config = &config, .log = count_lines,
                                           .thread_enter = cuda_module_nothing};
static int (*current_context)(void **);

static bool context_is_untouched(void)
{
    void *context = &context;

    return current_context && current_context(&context) == 0 && context == NULL;
}

static void find_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);

    if (driver)
        *(void **)&current_context = dlsym(driver, "cuCtxGetCurrent");
}

static char *pinned(size_t bytes)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED || ops->pin(p, bytes)) {
        printf("Bail out! cannot pin %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

static void unpinned(char *p, size_t bytes)
{
    ops->unpin(p, bytes);
    munmap(p, bytes);
}

static void *device_memory(size_t bytes)
{
    struct sc_fence ready;
    void *p;

    if (ops->alloc(0, bytes, &p, &ready) || ops->sync(ready)) {
        printf("Bail out! no device memory\n");
        exit(1);
    }
    return p;
}

static enum sc_status line(enum sc_stream stream, void *dst, const void *src, size_t bytes, bool up)
{
    struct sc_copy2d c = {.dst = dst, .src = src, .width = bytes, .height = 1, .dst_device = up ? 0 : SC_HOST,
                          .src_device = up ? SC_HOST : 0};

    return ops->copy(0, stream, &c);
}

static struct sc_fence mark(enum sc_stream stream)
{
    struct sc_fence fence = SC_FENCE_NONE;

    if (ops->mark(0, stream, &fence))
        tap_diag("mark fails");
    return fence;
}

static void fences(void)
{
    char *h = pinned(4096);
    int *numbers = (int *)h, *d = device_memory(4096);
    struct sc_fence first = SC_FENCE_NONE, last = SC_FENCE_NONE, again;
    bool good = ops->done(SC_FENCE_NONE) && ops->sync(SC_FENCE_NONE) == SC_OK;

    tap_ok(good, "the zero fence is reached");
    numbers[0] = 1234;
    for (int i = 0; i < 3000; i++) { /* more than the ring has */
        good &= line(SC_STREAM_H2D, d + i % 512, numbers, sizeof *d, true) == SC_OK;
        last = mark(SC_STREAM_H2D);
        if (!i)
            first = last;
    }
    again = mark(SC_STREAM_H2D);
    tap_ok(good && last.seq == first.seq + 2999, "3000 marks are 3000 points");
    tap_ok(again.seq == last.seq, "nothing enqueued, no new point");
    tap_ok(ops->wait(0, SC_STREAM_D2H, first) == SC_OK, "a stream can wait for a point whose event is reused");
    tap_ok(ops->sync(first) == SC_OK && ops->done(first), "so can the caller");
    good = ops->wait(0, SC_STREAM_D2H, last) == SC_OK && line(SC_STREAM_D2H, h + 2048, d, 2048, false) == SC_OK;
    good &= ops->sync(mark(SC_STREAM_D2H)) == SC_OK;
    for (int i = 512; i < 1024; i++)
        good &= numbers[i] == 1234;
    tap_ok(good, "a stream that waited sees what was written");
    ops->free(0, d, NULL, 0);
    unpinned(h, 4096);
}

/* The driver treats small uploads specially (device/cuda/copy.c). An access by the driver's CPU code would end the
 * test. */
static void protected_pages(size_t bytes)
{
    char *h = pinned(4 * MIB), *d = device_memory(4 * MIB);
    bool good;

    for (size_t i = 0; i < bytes; i++)
        h[i] = (char)(i * 7);
    mprotect(h, 4 * MIB, PROT_NONE);
    good = line(SC_STREAM_H2D, d, h, bytes, true) == SC_OK && ops->sync(mark(SC_STREAM_H2D)) == SC_OK;
    mprotect(h, 4 * MIB, PROT_READ | PROT_WRITE);
    memset(h, 0, bytes);
    mprotect(h, 4 * MIB, PROT_NONE);
    good &= line(SC_STREAM_D2H, h, d, bytes, false) == SC_OK && ops->sync(mark(SC_STREAM_D2H)) == SC_OK;
    mprotect(h, 4 * MIB, PROT_READ);
    for (size_t i = 0; i < bytes; i++)
        good &= h[i] == (char)(i * 7);
    tap_ok(good, "copies of %zu bytes from and to closed pages", bytes);
    mprotect(h, 4 * MIB, PROT_READ | PROT_WRITE);
    ops->free(0, d, NULL, 0);
    unpinned(h, 4 * MIB);
}

static void pitched_copies(void)
{
    enum { WIDTH = 200, HEIGHT = 50, FROM = 256, TO = 320 };
    char *h = pinned(65536), *d = device_memory(65536), *back = h + 32768;
    struct sc_copy2d up = {d, h, TO, FROM, WIDTH, HEIGHT, 0, SC_HOST};
    struct sc_copy2d down = {back, d, FROM, TO, WIDTH, HEIGHT, SC_HOST, 0};
    bool good = true;

    for (int i = 0; i < 32768; i++)
        h[i] = (char)(i * 13), back[i] = 1;
    good &= ops->fill(0, SC_STREAM_H2D, d, 65536, 7, 65536, 1) == SC_OK;
    good &= ops->copy(0, SC_STREAM_H2D, &up) == SC_OK;
    good &= ops->wait(0, SC_STREAM_D2H, mark(SC_STREAM_H2D)) == SC_OK;
    good &= ops->copy(0, SC_STREAM_D2H, &down) == SC_OK && ops->sync(mark(SC_STREAM_D2H)) == SC_OK;
    for (int i = 0; i < HEIGHT * FROM; i++)
        good &= back[i] == (i % FROM < WIDTH ? h[i] : 1);
    tap_ok(good, "pitched copies move the rectangle and nothing else");
    good = line(SC_STREAM_D2H, back, d + WIDTH, TO - WIDTH, false) == SC_OK && !ops->sync(mark(SC_STREAM_D2H));
    for (int i = 0; i < TO - WIDTH; i++)
        good &= back[i] == 7;
    tap_ok(good, "a fill reaches what the copy leaves");
    good = ops->fill(0, SC_STREAM_D2H, d, TO, 9, WIDTH, HEIGHT) == SC_OK;
    good &= line(SC_STREAM_D2H, back, d, 2 * TO, false) == SC_OK && !ops->sync(mark(SC_STREAM_D2H));
    for (int i = 0; i < 2 * TO; i++)
        good &= (back[i] == 9) == (i % TO < WIDTH);
    tap_ok(good, "pitched fills fill the rectangle and nothing else");
    ops->free(0, d, NULL, 0);
    unpinned(h, 65536);
}

/* A block is freed while a slow kernel still reads the block, and is written by the block's next user. */
static void reuse_while_busy(void)
{
    enum { ORDER = 2048, BYTES = ORDER * ORDER * 8 };
    char *h = pinned(BYTES);
    double *a = device_memory(BYTES), *c = device_memory(BYTES), *numbers = (double *)h;
    struct sc_kernel k = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = ORDER, .n = ORDER,
                          .k = ORDER, .alpha = {1}, .beta = {0}, .a = a, .b = a, .c = c,
                          .lda = ORDER, .ldb = ORDER, .ldc = ORDER};
    struct sc_fence after, ready;
    bool good = true;
    void *next;

    for (int i = 0; i < ORDER * ORDER; i++)
        numbers[i] = 1;
    good &= line(SC_STREAM_H2D, a, h, BYTES, true) == SC_OK;
    good &= ops->wait(0, SC_STREAM_COMPUTE, mark(SC_STREAM_H2D)) == SC_OK;
    for (int i = 0; i < 8; i++)
        good &= ops->launch(0, SC_STREAM_COMPUTE, &k) == SC_OK;
    after = mark(SC_STREAM_COMPUTE);
    ops->free(0, a, &after, 1);
    good &= ops->alloc(0, BYTES, &next, &ready) == SC_OK && next == a;
    tap_ok(good, "a freed block is handed out again");
    good &= ops->wait(0, SC_STREAM_H2D, ready) == SC_OK;
    good &= ops->fill(0, SC_STREAM_H2D, next, BYTES, 0, BYTES, 1) == SC_OK;
    good &= ops->wait(0, SC_STREAM_D2H, after) == SC_OK && line(SC_STREAM_D2H, h, c, BYTES, false) == SC_OK;
    good &= ops->sync(mark(SC_STREAM_D2H)) == SC_OK && ops->sync(mark(SC_STREAM_H2D)) == SC_OK;
    for (int i = 0; i < ORDER * ORDER; i++)
        good &= numbers[i] == ORDER;
    tap_ok(good, "its next user waits until it is no longer read");
    ops->free(0, next, NULL, 0);
    ops->free(0, c, NULL, 0);
    unpinned(h, BYTES);
}

/* With a limit of 256 MiB. */
static void limits(void)
{
    struct sc_device_properties p;
    struct sc_fence ready, after[12];
    void *one = NULL, *two = NULL, *small[64];
    bool good = true;

    tap_ok(ops->properties(0, &p) == SC_OK && p.memory == 256 * MIB, "the limit is what the device has");
    tap_ok(p.gemm_flops > 1e9 && p.memory_bandwidth > 1e9 && p.host_bandwidth > 1e9 && !p.emulated && p.name[0],
           "%s: %.3g flop/s, %.3g B/s, %.3g B/s to the host", p.name, p.gemm_flops, p.memory_bandwidth,
           p.host_bandwidth);
    tap_ok(ops->alloc(0, 300 * MIB, &one, &ready) == SC_ERR_DEVICE_MEMORY && !one, "no more than the limit");
    tap_ok(ops->alloc(0, 200 * MIB, &one, &ready) == SC_OK, "less is there");
    tap_ok(ops->alloc(0, 100 * MIB, &two, &ready) == SC_ERR_DEVICE_MEMORY, "once");
    ops->free(0, one, NULL, 0);
    tap_ok(ops->alloc(0, 256 * MIB, &one, &ready) == SC_OK, "what was freed counts again, in another size");
    ops->free(0, one, NULL, 0);
    for (int i = 0; i < 64; i++) {
        good &= ops->alloc(0, (size_t)i * 1000, &small[i], &ready) == SC_OK && (uintptr_t)small[i] % 256 == 0;
        good &= ops->sync(ready) == SC_OK;
    }
    tap_ok(good, "small blocks, even empty ones, are aligned");
    for (int i = 0; i < 12; i++) { /* more fences than a block remembers: a block keeps at most SC_STREAMS fences of
                                    * different streams */
        ops->fill(0, (enum sc_stream)(i % SC_STREAMS), small[63], 64, i, 64, 1);
        after[i] = mark((enum sc_stream)(i % SC_STREAMS));
    }
    for (int i = 0; i < 64; i++)
        ops->free(0, small[i], after, i == 63 ? 12 : 0);
    good = ops->alloc(0, 63000, &one, &ready) == SC_OK && one == small[63] && ops->sync(ready) == SC_OK;
    for (int i = 0; i < 12; i++)
        good &= ops->done(after[i]);
    tap_ok(good, "a block freed after many fences is ready after all of them");
    ops->free(0, one, NULL, 0);
}

static void slots(void)
{
    char *first = ops->result_slot(0), *next;
    bool good = first && (uintptr_t)first % 16 == 0;

    for (int i = 0; i < 511; i++) {
        next = ops->result_slot(0);
        good &= next && next != first;
    }
    tap_ok(good, "512 result slots are different");
}

/* --- marks after operations that free something on their way ------------------------------------------------------ */

enum { ROWS = 1 << 20, EACH = 16, ENTRIES = ROWS * EACH };

/* A matrix on the device: a row has EACH ones, spread over the columns. */
static struct sc_csr ones(void **values)
{
    int *columns = (int *)pinned((size_t)ENTRIES * sizeof(int)), *starts = (int *)pinned((ROWS + 1) * sizeof(int));
    float *one = (float *)pinned((size_t)ENTRIES * sizeof(float));
    struct sc_csr a = {.rows = device_memory((ROWS + 1) * sizeof(int)), .nonzeros = ENTRIES, .index_bytes = 4,
                       .columns = device_memory((size_t)ENTRIES * sizeof(int))};

    *values = device_memory((size_t)ENTRIES * sizeof(float));
    for (int i = 0; i < ENTRIES; i++) {
        columns[i] = i % EACH * (ROWS / EACH) + i / EACH % (ROWS / EACH);
        one[i] = 1;
    }
    for (int i = 0; i <= ROWS; i++)
        starts[i] = i * EACH;
    line(SC_STREAM_H2D, (void *)a.rows, starts, (ROWS + 1) * sizeof(int), true);
    line(SC_STREAM_H2D, (void *)a.columns, columns, (size_t)ENTRIES * sizeof(int), true);
    line(SC_STREAM_H2D, *values, one, (size_t)ENTRIES * sizeof(float), true);
    ops->sync(mark(SC_STREAM_H2D));
    unpinned((char *)columns, (size_t)ENTRIES * sizeof(int));
    unpinned((char *)starts, (ROWS + 1) * sizeof(int));
    unpinned((char *)one, (size_t)ENTRIES * sizeof(float));
    return a;
}

/* A product whose plan replaces an earlier product's plan, which is freed. The following mark must come behind the
 * product. */
static void marks_behind_plans(void)
{
    float *x = (float *)pinned(ROWS * sizeof(float)), *last = (float *)pinned(4096);
    void *plan = NULL, *values;
    struct sc_csr a = ones(&values);
    struct sc_kernel k = {.op = SC_OP_CSRMM, .type = SC_S, .transa = 'N', .transb = 'N', .uplo = 'L', .diag = 'N',
                          .m = ROWS, .n = ROWS, .k = 1, .alpha = {1, 0}, .a = values, .ldb = ROWS, .ldc = ROWS};
    bool good = true;

    for (int i = 0; i < ROWS; i++)
        x[i] = 1;
    a.plan = &plan;
    k.csr = a;
    k.b = device_memory(ROWS * sizeof(float));
    k.c = device_memory(ROWS * sizeof(float));
    line(SC_STREAM_H2D, k.b, x, ROWS * sizeof(float), true);
    ops->sync(mark(SC_STREAM_H2D));
    for (int round = 0; round < 6 && good; round++) {
        k.op = round & 1 ? SC_OP_CSRMV : SC_OP_CSRMM;
        k.ldb = k.ldc = round & 1 ? 1 : ROWS;
        ops->fill(0, SC_STREAM_COMPUTE, k.c, ROWS * sizeof(float), 0, ROWS * sizeof(float), 1);
        ops->sync(mark(SC_STREAM_COMPUTE));
        good = ops->launch(0, SC_STREAM_COMPUTE, &k) == SC_OK;
        ops->wait(0, SC_STREAM_D2H, mark(SC_STREAM_COMPUTE));
        line(SC_STREAM_D2H, last, (float *)k.c + ROWS - 1, sizeof *last, false);
        ops->sync(mark(SC_STREAM_D2H));
        good = good && *last == EACH;
    }
    tap_ok(good, "a mark after a product that replaced another's plan is behind the product");
    ops->sync(mark(SC_STREAM_COMPUTE));
    if (plan)
        ops->forget(0, plan);
    unpinned((char *)x, ROWS * sizeof(float));
    unpinned((char *)last, 4096);
}

/* p: memory of the host in the zone, with an alias.  All bytes are `byte` on the host, and in its middle 77 on the
 * device. */
static bool round_trip(char *p, char *alias, size_t bytes, int byte)
{
    struct sc_fence ready, last;
    bool good;

    memset(p, byte, bytes);
    if (ops->reserve(p, bytes) != SC_OK || ops->place(0, p, bytes, &ready) != SC_OK || ops->sync(ready) != SC_OK) {
        tap_diag("no memory of the device at %p", (void *)p);
        return false;
    }
    good = p[0] == byte && p[bytes - 1] == byte;
    mprotect(p, bytes, PROT_NONE);
    good &= line(SC_STREAM_H2D, p, alias, bytes, true) == SC_OK && ops->sync(mark(SC_STREAM_H2D)) == SC_OK;
    good &= ops->fill(0, SC_STREAM_COMPUTE, p + bytes / 2, MIB, 77, MIB, 1) == SC_OK;
    good &= ops->sync(mark(SC_STREAM_COMPUTE)) == SC_OK && alias[bytes / 2] == byte;
    memset(alias, byte + 1, bytes);
    good &= line(SC_STREAM_D2H, alias, p, bytes, false) == SC_OK && ops->sync(last = mark(SC_STREAM_D2H)) == SC_OK;
    mprotect(p, bytes, PROT_READ | PROT_WRITE);
    good &= p[0] == byte && p[bytes / 2] == 77 && p[bytes - 1] == byte;
    ops->free(0, p, &last, 1);
    ops->unreserve(p, bytes);
    return good && p[1] == byte && p[bytes / 2] == 77;
}

static void one_address(void)
{
    size_t bytes = 8 * MIB, all = (size_t)512 << 30;
    void *zone = NULL;
    char *p, *alias;
    bool good = true;

    tap_ok(ops->zone(all, &zone) == SC_OK && ((size_t)zone % SC_PLACE_UNIT) == 0, "the driver gives a zone of 512 GiB");
    if (!zone)
        return;
    p = (char *)zone + 6 * MIB;
    tap_ok(mmap(p, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == p,
           "memory of the host in the zone");
    alias = mremap(p, 0, bytes, MREMAP_MAYMOVE);
    tap_ok(alias != MAP_FAILED && ops->pin(alias, bytes) == SC_OK, "its alias is pinned");
    for (int round = 1; round <= 3; round++)
        good &= round_trip(p, alias, bytes, round);
    tap_ok(good, "host and device have memory of their own at one address, three times");
    good = ops->pin(p, bytes) == SC_OK && ops->fill(0, SC_STREAM_COMPUTE, p, MIB, 55, MIB, 8) == SC_OK;
    good &= ops->sync(mark(SC_STREAM_COMPUTE)) == SC_OK && p[0] == 55 && p[bytes - 1] == 55;
    tap_ok(good, "without memory of the device, the device reaches the host's, pinned there");
    ops->unpin(p, bytes);
    ops->unpin(alias, bytes);
    munmap(alias, bytes);
    mmap(p, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static void selection(void)
{
    static const char *const bad[] = {"99", "x", "0,", "0,0", "-1", ",", "0x"};
    int count;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        count = 1;
        tap_ok(ops->open(&host, bad[i], &count) == SC_ERR_INVALID && !count, "no device \"%s\"", bad[i]);
    }
}

/* Frees blocks whose last user is device 0. */
static void close_with_fences_of_others(int count)
{
    int before = complaints;
    struct sc_fence ready, used;
    void *memory = NULL;

    for (int d = 1; d < count; d++)
        if (ops->alloc(d, 4096, &memory, &ready) == SC_OK && ops->wait(0, SC_STREAM_COMPUTE, ready) == SC_OK &&
            ops->fill(0, SC_STREAM_COMPUTE, ops->result_slot(0), 8, 0, 8, 1) == SC_OK &&
            ops->mark(0, SC_STREAM_COMPUTE, &used) == SC_OK)
            ops->free(d, memory, &used, 1);
    ops->close();
    tap_ok(complaints == before, "closing %d devices is quiet", count);
}

int main(int argc, char **argv)
{
    int count = 0;

    config.memory_limit = 256 * MIB;
    ops = cuda_module_load(argc > 1 ? argv[1] : NULL);
    if (!ops || ops->open(&host, "", &count) || !count)
        tap_skip_all_for_gpu("no CUDA device, or the module was not built");
    find_driver();
    tap_ok(ops->abi == SC_DEVICE_ABI && ops->size == sizeof *ops && !strcmp(ops->name, "cuda"),
           "the table says what it is");
    tap_ok(context_is_untouched(), "open leaves the thread without a context");
    fences();
    for (size_t bytes = 4; bytes <= 4 * MIB; bytes *= bytes < 65536 ? 4 : 64)
        protected_pages(bytes);
    protected_pages(65532);
    pitched_copies();
    slots();
    limits();
    marks_behind_plans();
    one_address();
    close_with_fences_of_others(count);
    config.check = 1;
    tap_ok(ops->open(&host, "0", &count) == SC_OK && count == 1, "opens again, with one chosen device");
    fences();
    reuse_while_busy();
    tap_ok(context_is_untouched(), "all of it leaves the thread without a context");
    ops->close();
    selection();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
