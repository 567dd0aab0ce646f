/* The null back end: devices whose memory is host memory and whose streams are done as soon as work is enqueued.
 *
 * The folder is the skeleton of a back end: the least that device/device.h asks for, in plain C.  Comments that begin
 * with "For hardware" describe the work of a back end for hardware.  Three operations run here, in double precision:
 * SCAL (in place), DOT (a reduction) and GEMM.  The host computes every other call (`runs`).
 *
 * Threads: all functions are thread safe.  The shared counters are atomic. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own_proc.h"
#include "base/page.h"
#include "device/device.h"

#define MEMORY ((uint64_t)1 << 30) /* bytes of a device */
#define SLOT_BYTES 16

static struct null_device {
    uint64_t used;                /* bytes of live blocks */
    uint64_t enqueued[SC_STREAMS]; /* operations so far: the numbers of fences */
    unsigned next_slot;
    char *slots; /* SC_RESULT_SLOTS of SLOT_BYTES */
} devices_[SC_DEVICES_MAX];

static int count_;
static const struct sc_device_host *host_; /* stays valid until close */

static bool is_stream(int device, int stream)
{
    return device >= 0 && device < count_ && stream >= 0 && stream < SC_STREAMS;
}

/* --- open and close --------------------------------------------------------------------------------------------- */

static void close_devices(void)
{
    for (int i = 0; i < count_; i++)
        munmap(devices_[i].slots, SC_RESULT_SLOTS * SLOT_BYTES);
    count_ = 0;
}

/* For hardware: start the driver, make a context and SC_STREAMS in-order streams on each device that `spec` selects
 * (for several ranks on one machine: device/share.h).  A failure is a line by host->log and a status.  A machine
 * without devices is no failure: *count = 0. */
static enum sc_status open_devices(const struct sc_device_host *host, const char *spec, int *count)
{
    unsigned long wanted = *spec ? strtoul(spec, NULL, 10) : 1;

    host_ = host;
    if (wanted > SC_DEVICES_MAX) {
        host->log(SC_LOG_ERROR, "null devices: at most %d, not %s", SC_DEVICES_MAX, spec);
        return SC_ERR_INVALID;
    }
    for (count_ = 0; count_ < (int)wanted; count_++) {
        void *slots = mmap(NULL, SC_RESULT_SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                           0);

        if (slots == MAP_FAILED) {
            close_devices();
            return SC_ERR_DEVICE_MEMORY;
        }
        devices_[count_] = (struct null_device){.slots = slots};
    }
    *count = count_;
    return SC_OK;
}

static uint64_t memory_of_device(void)
{
    uint64_t limit = host_->config->memory_limit;

    return limit && limit < MEMORY ? limit : MEMORY;
}

/* Rates are hints for predictions without measurements.  By these rates the host is faster, so calls run on null
 * devices under SEMCACHE_OFFLOAD=always only. */
static enum sc_status properties(int device, struct sc_device_properties *out)
{
    if (!is_stream(device, 0))
        return SC_ERR_INVALID;
    *out = (struct sc_device_properties){.memory = memory_of_device(), .gemm_flops = 1e9, .memory_bandwidth = 1e9,
                                         .host_bandwidth = 1e9};
    snprintf(out->name, sizeof out->name, "null device");
    snprintf(out->identity, sizeof out->identity, "%d", device); /* with real ones: the driver's version and the bus */
    for (int i = 0; i < count_; i++) {
        out->peer[i] = i != device;
        out->peer_bandwidth[i] = i != device ? 1e9 : 0;
    }
    return SC_OK;
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

/* The page before a block holds the size of the block.  For hardware: a pool, because allocation by most drivers waits
 * for all streams; *ready is the fence of the last user of the memory. */
static enum sc_status alloc(int device, size_t bytes, void **memory, struct sc_fence *ready)
{
    size_t all = sc_page_ceil(bytes) + SC_PAGE;
    uint64_t *block;

    if (!is_stream(device, 0))
        return SC_ERR_INVALID;
    if (bytes > memory_of_device() ||
        __atomic_add_fetch(&devices_[device].used, all, __ATOMIC_RELAXED) > memory_of_device()) {
        if (bytes <= memory_of_device())
            __atomic_sub_fetch(&devices_[device].used, all, __ATOMIC_RELAXED);
        return SC_ERR_DEVICE_MEMORY;
    }
    block = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        __atomic_sub_fetch(&devices_[device].used, all, __ATOMIC_RELAXED);
        return SC_ERR_DEVICE_MEMORY;
    }
    *block = all;
    *memory = (char *)block + SC_PAGE;
    *ready = SC_FENCE_NONE;
    return SC_OK;
}

/* For hardware: the fences in `after` are waited for by a stream, never by the caller. */
static void free_block(int device, void *memory, const struct sc_fence *after, int count)
{
    uint64_t *block = memory ? (uint64_t *)((char *)memory - SC_PAGE) : NULL;

    (void)after, (void)count; /* all fences are reached */
    if (!block)
        return;
    __atomic_sub_fetch(&devices_[device].used, *block, __ATOMIC_RELAXED);
    munmap(block, *block);
}

/* For hardware: register the memory with the driver (page-locked), so that copies work without the CPU.  The pages are
 * open during `pin`, and may be closed for the program during copies. */
static enum sc_status pin(void *base, size_t bytes)
{
    (void)base, (void)bytes;
    return SC_OK;
}

static void unpin(void *base, size_t bytes) { (void)base, (void)bytes; }

/* --- copies ----------------------------------------------------------------------------------------------------- */

static int open_self(void)
{
    int mem;

    do
        mem = open(SC_OWN_PROC "mem", O_RDWR | O_CLOEXEC);
    while (mem < 0 && errno == EINTR);
    return mem;
}

/* Between device memory and host memory whose pages may be closed for the program: through /proc/self/mem, which
 * ignores their protection as DMA does. */
static bool move_row(int mem, bool write, char *device, uintptr_t host, size_t bytes)
{
    while (bytes) {
        ssize_t n = write ? pwrite(mem, device, bytes, (off_t)host) : pread(mem, device, bytes, (off_t)host);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        device += n;
        host += (uintptr_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

static enum sc_status copy_host(const struct sc_copy2d *c)
{
    bool write = c->dst_device == SC_HOST, good = true;
    int mem = open_self();

    for (size_t row = 0; row < c->height && good && mem >= 0; row++) {
        char *dst = (char *)c->dst + row * c->dst_pitch, *src = (char *)(uintptr_t)c->src + row * c->src_pitch;

        good = move_row(mem, write, write ? src : dst, (uintptr_t)(write ? dst : src), c->width);
    }
    if (mem < 0 || !good)
        host_->log(SC_LOG_ERROR, "null devices: a copy through /proc/self/mem fails: %s", strerror(errno));
    if (mem >= 0)
        close(mem);
    return mem >= 0 && good ? SC_OK : SC_ERR_DEVICE;
}

/* Numbers the operations of a stream.  Every operation is done before the enqueuing function returns. */
static void enqueued(int device, enum sc_stream stream)
{
    __atomic_fetch_add(&devices_[device].enqueued[stream], 1, __ATOMIC_RELAXED);
}

static enum sc_status copy(int device, enum sc_stream stream, const struct sc_copy2d *c)
{
    enum sc_status status = SC_OK;

    if (!is_stream(device, stream) || (c->dst_device == SC_HOST && c->src_device == SC_HOST))
        return SC_ERR_INVALID;
    if (c->dst_device == SC_HOST || c->src_device == SC_HOST)
        status = copy_host(c);
    else
        for (size_t row = 0; row < c->height; row++)
            memmove((char *)c->dst + row * c->dst_pitch, (const char *)c->src + row * c->src_pitch, c->width);
    enqueued(device, stream);
    return status;
}

static enum sc_status fill(int device, enum sc_stream stream, void *memory, size_t pitch, int byte, size_t width,
                           size_t height)
{
    if (!is_stream(device, stream))
        return SC_ERR_INVALID;
    for (size_t row = 0; row < height; row++)
        memset((char *)memory + row * pitch, byte, width);
    enqueued(device, stream);
    return SC_OK;
}

/* --- kernels ---------------------------------------------------------------------------------------------------- */

/* For hardware: the maker's BLAS on the compute stream, or own kernels.  Vectors point to their element of lowest
 * address: an increment below 0 begins at the other end. */
static double *first_of(void *x, int64_t n, int64_t inc) { return (double *)x + (inc < 0 ? (1 - n) * inc : 0); }

static void run_scal(const struct sc_kernel *k)
{
    double *x = k->a;

    for (int64_t i = 0; i < k->n; i++)
        x[i * sc_step(k->lda)] *= k->alpha[0];
}

/* A reduction leaves its value in k->result: a slot of result_slot, or device memory. */
static void run_dot(const struct sc_kernel *k)
{
    const double *x = first_of(k->a, k->n, k->lda), *y = first_of(k->b, k->n, k->ldb);
    double sum = 0;

    for (int64_t i = 0; i < k->n; i++)
        sum += x[i * k->lda] * y[i * k->ldb];
    memcpy(k->result, &sum, sizeof sum);
}

/* C is not read if beta is 0; A and B are not read if alpha is 0. */
static void run_gemm(const struct sc_kernel *k)
{
    const double *a = k->a, *b = k->b;
    int64_t a_row = k->transa == 'N' ? 1 : k->lda, a_col = k->transa == 'N' ? k->lda : 1;
    int64_t b_row = k->transb == 'N' ? 1 : k->ldb, b_col = k->transb == 'N' ? k->ldb : 1;

    for (int64_t j = 0; j < k->n; j++)
        for (int64_t i = 0; i < k->m; i++) {
            double *c = (double *)k->c + i + j * k->ldc, sum = 0;

            for (int64_t l = 0; l < k->k && k->alpha[0] != 0; l++)
                sum += a[i * a_row + l * a_col] * b[l * b_row + j * b_col];
            *c = k->alpha[0] * sum + (k->beta[0] != 0 ? k->beta[0] * *c : 0);
        }
}

static void (*const run_[SC_OPS_ALL])(const struct sc_kernel *) = {
    [SC_OP_SCAL] = run_scal, [SC_OP_DOT] = run_dot, [SC_OP_GEMM] = run_gemm,
};

static bool runs(enum sc_op op, enum sc_type type) { return type == SC_D && run_[op]; }

static enum sc_status launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    if (!is_stream(device, stream))
        return SC_ERR_INVALID;
    if (!runs(kernel->op, kernel->type) || kernel->batch.count)
        return SC_ERR_UNSUPPORTED;
    run_[kernel->op](kernel);
    enqueued(device, stream);
    return SC_OK;
}

/* For hardware: call->run gets the driver's stream, and enqueues work there. */
static enum sc_status call_function(int device, enum sc_stream stream, const struct sc_device_call *call)
{
    if (!is_stream(device, stream))
        return SC_ERR_INVALID;
    call->run(device, NULL, call->record);
    enqueued(device, stream);
    return SC_OK;
}

/* For hardware: pinned host memory that kernels write to. */
static void *result_slot(int device)
{
    unsigned slot;

    if (!is_stream(device, 0))
        return NULL;
    slot = __atomic_fetch_add(&devices_[device].next_slot, 1, __ATOMIC_RELAXED) % SC_RESULT_SLOTS;
    return devices_[device].slots + slot * (size_t)SLOT_BYTES;
}

/* --- order ------------------------------------------------------------------------------------------------------ */

/* For hardware: record an event, or note the number of the last operation.  Marks are frequent: a mark without
 * new work since the last mark should not call the driver. */
static enum sc_status mark(int device, enum sc_stream stream, struct sc_fence *fence)
{
    if (!is_stream(device, stream))
        return SC_ERR_INVALID;
    *fence = (struct sc_fence){__atomic_load_n(&devices_[device].enqueued[stream], __ATOMIC_RELAXED), (uint16_t)device,
                               (uint16_t)stream};
    return SC_OK;
}

/* For hardware: the stream waits, not the caller. */
static enum sc_status wait_on(int device, enum sc_stream stream, struct sc_fence fence)
{
    (void)fence;
    return is_stream(device, stream) ? SC_OK : SC_ERR_INVALID;
}

/* For hardware: the caller waits, and gets the errors of all work before the fence. */
static enum sc_status sync_with(struct sc_fence fence)
{
    (void)fence;
    return SC_OK;
}

static bool done(struct sc_fence fence)
{
    (void)fence;
    return true;
}

/* Absent operations are NULL: copies by kernels, sparse operations, clocks and the meter. */
static const struct sc_device_ops ops = {
    .abi = SC_DEVICE_ABI, .size = sizeof ops, .name = "null",
    .open = open_devices, .close = close_devices, .properties = properties,
    .alloc = alloc, .free = free_block, .pin = pin, .unpin = unpin,
    .copy = copy, .fill = fill, .runs = runs, .launch = launch, .call = call_function, .result_slot = result_slot,
    .mark = mark, .wait = wait_on, .sync = sync_with, .done = done,
};

__attribute__((visibility("default"))) sc_device_module_entry semcache_device_module;

const struct sc_device_ops *semcache_device_module(void) { return &ops; }
/* SPDX-License-Identifier: BSD-2-Clause */
