/* Rates of the CUDA module on the first device: kernels, copies, latencies, pinning.  One line for each figure.
 * Usage: cuda_rates [MODULE] */
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/cuda_module.h"

static const struct sc_device_ops *ops;
static struct sc_config config;
static const struct sc_device_host host = {.config = &config, .log = cuda_module_log,
                                           .thread_enter = cuda_module_nothing};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "cuda_rates: %s fails\n", what);
    exit(1);
}

static struct sc_fence mark(enum sc_stream stream)
{
    struct sc_fence fence;

    need(ops->mark(0, stream, &fence) == SC_OK, "mark");
    return fence;
}

static void finish(enum sc_stream stream) { need(ops->sync(mark(stream)) == SC_OK, "sync"); }

static void *device_memory(size_t bytes)
{
    struct sc_fence ready;
    void *p;

    need(!ops->alloc(0, bytes, &p, &ready) && !ops->sync(ready), "alloc");
    return p;
}

static void release(void *p) { ops->free(0, p, NULL, 0); }

static void move(enum sc_stream stream, void *to, const void *from, size_t bytes, bool up)
{
    struct sc_copy2d c = {.dst = to, .src = from, .width = bytes, .height = 1, .dst_device = up ? 0 : SC_HOST,
                          .src_device = up ? SC_HOST : 0};

    need(ops->copy(0, stream, &c) == SC_OK, "copy");
}

/* Mean time of `times` launches after a first launch that is not counted, with a wait at the end. */
static double launches(const struct sc_kernel *k, int times)
{
    double start;

    need(ops->launch(0, SC_STREAM_COMPUTE, k) == SC_OK, "launch");
    finish(SC_STREAM_COMPUTE);
    start = seconds();
    for (int i = 0; i < times; i++)
        ops->launch(0, SC_STREAM_COMPUTE, k);
    finish(SC_STREAM_COMPUTE);
    return (seconds() - start) / times;
}

static void gemm_rate(int64_t n, int times)
{
    size_t bytes = (size_t)n * (size_t)n * 8;
    struct sc_kernel k = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = n, .n = n, .k = n,
                          .alpha = {1.5}, .beta = {0}, .lda = n, .ldb = n, .ldc = n, .a = device_memory(bytes),
                          .b = device_memory(bytes), .c = device_memory(bytes)};
    double t;

    ops->fill(0, SC_STREAM_COMPUTE, k.a, bytes, 0x3f, bytes, 1);
    ops->fill(0, SC_STREAM_COMPUTE, k.b, bytes, 0x3e, bytes, 1);
    t = launches(&k, times);
    printf("dgemm n = %ld: %.1f TFLOP/s\n", (long)n, 2e-12 * (double)n * (double)n * (double)n / t);
    release(k.a), release(k.b), release(k.c);
}

static void gemv_rate(int64_t m, int64_t n, char trans)
{
    size_t bytes = (size_t)m * (size_t)n * 8, vector = (size_t)(m > n ? m : n) * 8;
    struct sc_kernel k = {.op = SC_OP_GEMV, .type = SC_D, .transa = trans, .m = m, .n = n, .alpha = {1.5}, .beta = {0},
                          .lda = m, .ldb = 1, .ldc = 1, .a = device_memory(bytes), .b = device_memory(vector),
                          .c = device_memory(vector)};
    double t;

    ops->fill(0, SC_STREAM_COMPUTE, k.a, bytes, 0x3f, bytes, 1);
    ops->fill(0, SC_STREAM_COMPUTE, k.b, vector, 0x3e, vector, 1);
    t = launches(&k, 20);
    printf("dgemv %c %ld x %ld: %.0f GB/s (%.3f ms)\n", trans, (long)m, (long)n, 1e-9 * (double)bytes / t, 1e3 * t);
    release(k.a), release(k.b), release(k.c);
}

static void reduction_latency(const char *name, enum sc_op op, int64_t n, bool direct)
{
    void *x = device_memory((size_t)n * 8), *scratch = device_memory(16);
    void *slot = ops->result_slot(0);
    struct sc_kernel k = {.op = op, .type = SC_D, .n = n, .a = x, .b = x, .lda = 1, .ldb = 1,
                          .result = direct ? slot : scratch};
    double start = 0;
    int times = 200;

    ops->fill(0, SC_STREAM_COMPUTE, x, (size_t)n * 8, 0, (size_t)n * 8, 1);
    for (int i = -20; i < times; i++) {
        if (!i)
            start = seconds();
        need(ops->launch(0, SC_STREAM_COMPUTE, &k) == SC_OK, "launch");
        if (!direct)
            move(SC_STREAM_COMPUTE, slot, scratch, 16, false);
        finish(SC_STREAM_COMPUTE);
    }
    printf("%s n = %ld and wait, result %s: %.1f us\n", name, (long)n, direct ? "written to the host" : "copied",
           1e6 * (seconds() - start) / times);
    release(x), release(scratch);
}

static void copy_latency(char *pinned, const char *device, size_t bytes)
{
    double start = 0;

    for (int i = -20; i < 200; i++) {
        if (!i)
            start = seconds();
        move(SC_STREAM_D2H, pinned, device, bytes, false);
        finish(SC_STREAM_D2H);
    }
    printf("copy of %zu bytes to host and wait: %.1f us\n", bytes, 1e6 * (seconds() - start) / 200);
}

static void copy_rates(char *pinned, size_t bytes)
{
    static const size_t sizes[] = {8, 4096, 131072, 1 << 20};
    char *d = device_memory(bytes);
    int times = 8;

    for (int up = 1; up >= 0; up--) {
        enum sc_stream stream = up ? SC_STREAM_H2D : SC_STREAM_D2H;
        double start = 0;

        for (int i = -1; i < times; i++) {
            if (!i)
                finish(stream), start = seconds();
            move(stream, up ? d : pinned, up ? pinned : d, bytes, up);
        }
        finish(stream);
        printf("copy %s, pinned, %zu MiB: %.1f GB/s\n", up ? "to device" : "to host", bytes >> 20,
               1e-9 * (double)bytes * times / (seconds() - start));
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        copy_latency(pinned, d, sizes[i]);
    release(d);
}

static void call_costs(void)
{
    struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .n = 8, .a = device_memory(64), .lda = 1, .alpha = {1}};
    double start = seconds();
    struct sc_fence fence = SC_FENCE_NONE, ready;
    int times = 1000;
    void *p;

    printf("launch of a small kernel: %.2f us\n", 1e6 * launches(&k, times));
    start = seconds();
    for (int i = 0; i < times; i++) {
        ops->launch(0, SC_STREAM_COMPUTE, &k);
        fence = mark(SC_STREAM_COMPUTE);
        ops->wait(0, SC_STREAM_D2H, fence);
    }
    printf("the same, a mark, another stream's wait: %.2f us\n", 1e6 * (seconds() - start) / times);
    finish(SC_STREAM_D2H);
    start = seconds();
    for (int i = 0; i < times; i++) {
        need(ops->alloc(0, 8 << 20, &p, &ready) == SC_OK, "alloc");
        ops->free(0, p, &fence, 1);
    }
    printf("alloc and free of 8 MiB, from the pool: %.2f us\n", 1e6 * (seconds() - start) / times);
    start = seconds();
    for (int i = 0; i < 64; i++)
        need(ops->alloc(0, 8 << 20, &p, &ready) == SC_OK, "alloc");
    printf("alloc of 8 MiB, new: %.2f us\n", 1e6 * (seconds() - start) / 64);
}

static void pin_rate(const char *name, size_t bytes, int advice, bool touched)
{
    char *p = mmap(NULL, bytes + (2 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *aligned = (char *)(((uintptr_t)p + (2 << 20) - 1) & ~(uintptr_t)((2 << 20) - 1));
    double start, pinned;

    need(p != MAP_FAILED, "mmap");
    madvise(p, bytes + (2 << 20), advice);
    if (touched)
        memset(aligned, 1, bytes);
    start = seconds();
    need(ops->pin(aligned, bytes) == SC_OK, "pin");
    pinned = seconds() - start;
    if (advice == MADV_HUGEPAGE && touched)
        copy_rates(aligned, bytes < (size_t)256 << 20 ? bytes : (size_t)256 << 20);
    start = seconds();
    ops->unpin(aligned, bytes);
    printf("pin %zu MiB, %s: %.1f GB/s; unpin %.2f ms\n", bytes >> 20, name, 1e-9 * (double)bytes / pinned,
           1e3 * (seconds() - start));
    munmap(p, bytes + (2 << 20));
}

int main(int argc, char **argv)
{
    static const int64_t shapes[][2] = {{30000, 30000}, {800, 20000}, {20000, 800}, {5, 20000}, {20000, 5},
                                        {32, 100000}, {100, 100000}, {2000, 50000}};
    struct sc_device_properties p;
    double start = seconds();
    int count = 0;

    ops = cuda_module_load(argc > 1 ? argv[1] : NULL);
    if (!ops || ops->open(&host, "0", &count) || !count) {
        fprintf(stderr, "cuda_rates: no CUDA device, or the module was not built\n");
        return 77;
    }
    ops->properties(0, &p);
    printf("%s: %.1f GiB; opened in %.2f s\n", p.name, (double)p.memory / (1 << 30), seconds() - start);
    call_costs();
    pin_rate("pages of 4 KiB", (size_t)1 << 30, MADV_NOHUGEPAGE, true);
    pin_rate("huge pages", (size_t)1 << 30, MADV_HUGEPAGE, true);
    pin_rate("huge pages, not touched before", (size_t)1 << 30, MADV_HUGEPAGE, false);
    for (int direct = 1; direct >= 0; direct--) {
        reduction_latency("ddot", SC_OP_DOT, 1000, direct);
        reduction_latency("ddot", SC_OP_DOT, 30000, direct);
        reduction_latency("ddot", SC_OP_DOT, 10000000, direct);
        reduction_latency("dnrm2", SC_OP_NRM2, 30000, direct);
        reduction_latency("idamax", SC_OP_IAMAX, 30000, direct);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        gemv_rate(shapes[i][0], shapes[i][1], 'N');
        gemv_rate(shapes[i][0], shapes[i][1], 'T');
    }
    gemm_rate(1024, 20);
    gemm_rate(4096, 10);
    gemm_rate(8192, 5);
    gemm_rate(16384, 3);
    ops->close();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
