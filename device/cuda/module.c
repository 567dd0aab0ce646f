/* Opens and closes the CUDA devices; the table of operations. */
#include "device/cuda/cuda_int.h"
#include "device/cuda/ordinals.h"
#include "device/cuda/ranges.h"

#include <string.h>

#include "device/share.h"

/* H200, doubles, order 2048, 1024 to 4096 right sides: 0.41, 0.50, 0.66 ms, of them 0.08 to 0.31 ms at the rate of
 * gemm.  cuBLAS takes 0.88, 1.05, 1.55 ms. */
#define SOLVE_SECONDS 43e-6

static int attribute(const struct sc_cuda_device *d, enum cudaDeviceAttr which)
{
    int value = 0;

    if (cudaDeviceGetAttribute(&value, which, d->ordinal) != cudaSuccess)
        cudaGetLastError();
    return value;
}

/* Double precision operations of a multiprocessor per clock, by compute capability; a rough hint. */
static int flops_per_clock(int major, int minor)
{
    if (major >= 9 && minor == 0)
        return 256; /* with matrix units */
    if (major == 8 && minor == 0)
        return 256;
    if ((major == 7 || major == 6) && minor == 0)
        return 128 / (major == 6 ? 2 : 1);
    return 4; /* chips not made for double precision */
}

static void guess_rates(const struct sc_cuda_device *d, struct sc_device_properties *p)
{
    int major = attribute(d, cudaDevAttrComputeCapabilityMajor);
    int minor = attribute(d, cudaDevAttrComputeCapabilityMinor);

    p->gemm_flops = 1e3 * attribute(d, cudaDevAttrClockRate) * attribute(d, cudaDevAttrMultiProcessorCount) *
                    flops_per_clock(major, minor);
    /* Two transfers per clock; clocks are in kHz, the width in bits. */
    p->memory_bandwidth = 2e3 * attribute(d, cudaDevAttrMemoryClockRate) *
                          attribute(d, cudaDevAttrGlobalMemoryBusWidth) / 8;
    p->solve = SOLVE_SECONDS;
    p->host_bandwidth = major >= 9 ? 55e9 : major == 8 ? 25e9 : 12e9; /* PCIe 5, 4, 3 with 16 lanes */
}

#define RANK_BYTES   ((size_t)768 << 20) /* device memory used by the driver and cuBLAS of a rank */
#define RESERVE_MOST ((size_t)2 << 30)

/* Bytes for the cache: the free memory, minus a reserve for the driver, cuBLAS and the program, divided by the ranks on
 * the device.  Ranks opened earlier hardly use memory yet, because all ranks start at about the same time. */
static enum sc_status usable_memory(const struct sc_config *config, int sharers, uint64_t *usable)
{
    size_t available, total, reserve;
    enum sc_status status = SC_CUDA(cudaMemGetInfo(&available, &total));

    if (status)
        return status;
    reserve = available / 8 > RANK_BYTES ? available / 8 : RANK_BYTES;
    reserve = reserve < RESERVE_MOST ? reserve : RESERVE_MOST;
    reserve += (size_t)(sharers - 1) * RANK_BYTES;
    *usable = (available > reserve ? available - reserve : 0) / (size_t)sharers;
    if (config->memory_limit && config->memory_limit < *usable)
        *usable = config->memory_limit;
    return SC_OK;
}

/* For kernels on the critical path: their few blocks run before the blocks of a large running kernel. */
static int highest_priority(void)
{
    int lowest = 0, highest = 0;

    if (cudaDeviceGetStreamPriorityRange(&lowest, &highest) != cudaSuccess)
        cudaGetLastError();
    return highest;
}

static enum sc_status open_streams(struct sc_cuda_device *d)
{
    enum sc_status status = SC_OK;

    for (int s = 0; s < SC_STREAMS && !status; s++)
        status = SC_CUDA(cudaStreamCreateWithPriority(&d->streams[s].stream, cudaStreamNonBlocking,
                                                      s == SC_STREAM_EXCHANGE ? highest_priority() : 0));
    return status;
}

static void describe(struct sc_cuda_device *d)
{
    struct sc_device_properties *p = &d->properties;

    sc_cuda_device_name(d, p->name, sizeof p->name);
    p->ordinal = d->ordinal;
    d->max_pitch = (size_t)attribute(d, cudaDevAttrMaxPitch);
    d->reads_host = attribute(d, cudaDevAttrCanUseHostPointerForRegisteredMem);
    guess_rates(d, p);
    sc_cuda_identify(d);
}

/* Prepares the first call; the rest is created at the first use. */
static enum sc_status open_device(struct sc_cuda_device *d, int sharers)
{
    double since = sc_cuda_now();
    enum sc_status status = sc_cuda_context_retain(d);

    if (status)
        return status;
    sc_cuda_step(&since, d->index, "context");
    SC_CUDA_SCOPE(d);
    status = open_streams(d);
    if (!status)
        status = sc_cuda_slots_open(d);
    sc_cuda_step(&since, d->index, "streams and result slots");
    if (!status)
        status = usable_memory(sc_cuda_host->config, sharers, &d->properties.memory);
    if (!status)
        status = sc_cuda_pool_open(d, d->properties.memory);
    if (status)
        return status;
    describe(d);
    sc_cuda_step(&since, d->index, "properties");
    if (sc_device_is_unwanted(sc_cuda_host))
        return SC_ERR_DEVICE;
    sc_cuda_kernels_open(d); /* after a failure, the first launch tries again */
    sc_cuda_step(&since, d->index, "cuBLAS");
    return SC_OK;
}

/* --- opening in parallel, with a thread per device: a context takes 0.2 s ---------------------------------------- */

struct task {
    struct sc_cuda_device *device;
    enum sc_status (*run)(struct sc_cuda_device *d, int sharers);
    int sharers;
    enum sc_status status;
    pthread_t thread;
    bool apart;
};

static void *in_thread(void *task)
{
    struct task *t = task;

    sc_cuda_host->thread_enter();
    t->status = t->run(t->device, t->sharers);
    return NULL;
}

/* Runs a step on all devices, device 0 in this thread; returns the first error. */
static enum sc_status on_each(enum sc_status (*run)(struct sc_cuda_device *d, int sharers), int sharers)
{
    struct task task[SC_DEVICES_MAX];
    enum sc_status status = SC_OK;

    for (int i = sc_cuda_count - 1; i >= 0; i--) {
        task[i] = (struct task){.device = &sc_cuda_devices[i], .run = run, .sharers = sharers};
        task[i].apart = i > 0 && sc_cuda_thread(&task[i].thread, in_thread, &task[i]);
        if (!task[i].apart)
            task[i].status = run(task[i].device, sharers);
    }
    for (int i = 0; i < sc_cuda_count; i++) {
        if (task[i].apart)
            pthread_join(task[i].thread, NULL);
        status = status ? status : task[i].status;
    }
    return status;
}

/* Bytes/s between two devices, by the NVLink generation (measured for compute capability 9, vendor's figures for
 * others).  Only NVLink has native atomic operations; a connection without them is PCIe. */
static double guess_peer_rate(const struct sc_cuda_device *d, int ordinal)
{
    int major = attribute(d, cudaDevAttrComputeCapabilityMajor), linked = 0;

    cudaDeviceGetP2PAttribute(&linked, cudaDevP2PAttrNativeAtomicSupported, ordinal, d->ordinal);
    if (!linked)
        return d->properties.host_bandwidth;
    return major >= 9 ? 340e9 : major == 8 ? 230e9 : major == 7 ? 45e9 : 18e9;
}

/* Enables direct copies from every capable device. */
static enum sc_status connect_peers(struct sc_cuda_device *d, int none)
{
    double since = sc_cuda_now();

    (void)none;
    SC_CUDA_SCOPE(d);
    for (int from = 0; from < sc_cuda_count; from++) {
        int ordinal = sc_cuda_devices[from].ordinal, can = 0;
        cudaError_t error;

        if (from == d->index || cudaDeviceCanAccessPeer(&can, d->ordinal, ordinal) != cudaSuccess || !can)
            continue;
        error = cudaDeviceEnablePeerAccess(ordinal, 0);
        d->properties.peer[from] = error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled;
        d->properties.peer_bandwidth[from] = guess_peer_rate(d, ordinal);
    }
    cudaGetLastError();
    sc_cuda_step(&since, d->index, "access to peers");
    return SC_OK;
}

/* Runs after all peers are connected: kernels need both directions. */
static enum sc_status open_exchange(struct sc_cuda_device *d, int none)
{
    (void)none;
    sc_cuda_exchange_open(d);
    return SC_OK;
}

/* A freed block may have fences of other devices, whose events are needed until all blocks are gone. */
static void close_memory(struct sc_cuda_device *d)
{
    if (!d->context)
        return;
    SC_CUDA_SCOPE(d);
    for (int s = 0; s < SC_STREAMS; s++)
        if (d->streams[s].stream)
            SC_CUDA(cudaStreamSynchronize(d->streams[s].stream));
    sc_cuda_kernels_close(d);
    sc_cuda_exchange_close(d);
    sc_cuda_module_unload(d->conversion);
    sc_cuda_module_unload(d->dsdot);
    sc_cuda_module_unload(d->norm);
    sc_cuda_module_unload(d->triangle);
    sc_cuda_module_unload(d->vector);
    sc_cuda_module_unload(d->rows);
    sc_cuda_module_unload(d->thin);
    d->conversion = d->dsdot = d->norm = d->triangle = d->vector = d->rows = d->thin = NULL;
    sc_cuda_pool_close(d);
    sc_cuda_slots_close(d);
}

static void close_device(struct sc_cuda_device *d)
{
    if (!d->context)
        return;
    {
        SC_CUDA_SCOPE(d);
        sc_cuda_fences_close(d);
        for (int s = 0; s < SC_STREAMS; s++)
            if (d->streams[s].stream)
                cudaStreamDestroy(d->streams[s].stream);
        cudaGetLastError();
    }
    sc_cuda_context_release(d);
}

static void module_close(void)
{
    /* All devices become idle before the first is closed, because a stream of one device may copy from another. */
    for (int i = 0; i < sc_cuda_count; i++) {
        if (!sc_cuda_devices[i].context)
            continue;
        SC_CUDA_SCOPE(&sc_cuda_devices[i]);
        SC_CUDA(cudaDeviceSynchronize());
    }
    for (int i = 0; i < sc_cuda_count; i++)
        close_memory(&sc_cuda_devices[i]);
    for (int i = 0; i < sc_cuda_count; i++)
        close_device(&sc_cuda_devices[i]);
    sc_cuda_count = 0;
}

static enum sc_status open_devices(const int *ordinals, struct sc_device_share share, int *count)
{
    enum sc_status status;

    for (int i = 0; i < share.count; i++) {
        memset(&sc_cuda_devices[i], 0, sizeof sc_cuda_devices[i]);
        sc_cuda_devices[i].index = i;
        sc_cuda_devices[i].ordinal = ordinals[share.first + i];
    }
    sc_cuda_count = share.count; /* including half-opened devices, for close */
    status = on_each(open_device, share.sharers);
    if (status) {
        module_close();
        return status;
    }
    if (sc_cuda_count > 1) {
        on_each(connect_peers, 0);
        on_each(open_exchange, 0);
    }
    *count = sc_cuda_count;
    return SC_OK;
}

/* Without a driver or a device: SC_OK and no devices, silently; the caller decides whether to report. */
static enum sc_status module_open(const struct sc_device_host *host, const char *spec, int *count)
{
    int present = 0, chosen = 0, ordinals[SC_DEVICES_MAX];
    double since = sc_cuda_now();
    enum sc_status status;
    cudaError_t error;

    *count = 0;
    sc_cuda_host = host;
    if (sc_cuda_driver_load())
        return SC_OK;
    sc_cuda_ranges_open();
    error = cudaGetDeviceCount(&present);
    sc_cuda_step(&since, 0, "driver and runtime");
    if (error == cudaErrorNoDevice || (error == cudaSuccess && !present)) {
        cudaGetLastError();
        return SC_OK;
    }
    if (error != cudaSuccess)
        return sc_cuda_failed(error, "cudaGetDeviceCount");
    if (sc_device_is_unwanted(host))
        return SC_ERR_DEVICE;
    status = sc_cuda_ordinals(host, spec ? spec : "", present, ordinals, &chosen);
    return status ? status : open_devices(ordinals, sc_device_share(host->config, chosen), count);
}

static enum sc_status module_properties(int device, struct sc_device_properties *out)
{
    if (device < 0 || device >= sc_cuda_count)
        return SC_ERR_INVALID;
    *out = sc_cuda_devices[device].properties;
    return SC_OK;
}

#ifndef SC_CUDA_SOLVER
static bool runs_blas(enum sc_op op, enum sc_type type)
{
    (void)type;
    return !sc_op_is_lapack(op);
}
#endif

static const char *const driver_files[] = {"/dev/nvidia", "/dev/dxg", NULL};

static const struct sc_device_ops module_ops = {
    .abi = SC_DEVICE_ABI,
    .size = sizeof module_ops,
    .name = "cuda",
    .files = driver_files,
    .open = module_open,
    .close = module_close,
    .properties = module_properties,
    .alloc = sc_cuda_alloc,
    .free = sc_cuda_free,
    .pin = sc_cuda_pin,
    .unpin = sc_cuda_unpin,
    .zone = sc_cuda_zone,
    .reserve = sc_cuda_reserve,
    .unreserve = sc_cuda_unreserve,
    .spare = sc_cuda_spare,
    .room = sc_cuda_room,
    .place = sc_cuda_place,
    .idle = sc_cuda_idle,
    .behind = sc_cuda_behind,
    .copy = sc_cuda_ranged_copy,
    .fill = sc_cuda_fill,
    .exchange = sc_cuda_exchange,
#ifdef SC_CUDA_SOLVER
    .runs = sc_cuda_runs,
#else
    .runs = runs_blas,
#endif
    .launch = sc_cuda_ranged_launch,
    .certain = sc_cuda_certain,
    .call = sc_cuda_call,
    .forget = sc_cuda_forget,
    .multiply = sc_cuda_multiply,
    .store = sc_cuda_store,
#ifdef SC_CUDA_CONVERT
    .convert = sc_cuda_convert,
#endif
    .result_slot = sc_cuda_result_slot,
    .mark = sc_cuda_mark,
    .wait = sc_cuda_wait,
    .sync = sc_cuda_sync,
    .done = sc_cuda_done,
    .joules = sc_cuda_joules,
};

sc_device_module_entry semcache_device_module __attribute__((visibility("default")));

const struct sc_device_ops *semcache_device_module(void) { return &module_ops; }
/* SPDX-License-Identifier: BSD-2-Clause */
