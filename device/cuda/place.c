/* Device memory at the host's addresses (device.h, reserve and place).
 *
 * All users of a reserved range share one allocation of device memory, or none.  Other devices with access to this
 * memory use the same addresses.  Memory without users stays mapped, with the fences after which it is free, until the
 * driver has no memory left or another device needs the range. */
#include "device/cuda/cuda_int.h"

#include <stdlib.h>
#include <string.h>

enum { FENCES = SC_DEVICES_MAX * SC_STREAMS };

struct range {
    uintptr_t base;
    size_t bytes;
    int device; /* whose memory is mapped; -1: none */
    int users;
    CUmemGenericAllocationHandle memory;
    struct sc_fence after[FENCES]; /* the latest of each stream */
    int fences;
};

/* The lock comes before the pool's lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range **ranges; /* by address */
static size_t count, room;

static struct {
    CUresult (*reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
    CUresult (*unreserve)(CUdeviceptr, size_t);
    CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
    CUresult (*release)(CUmemGenericAllocationHandle);
    CUresult (*map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
    CUresult (*unmap)(CUdeviceptr, size_t);
    CUresult (*access)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
} driver;

static bool found(void)
{
    return driver.access ||
           (sc_cuda_driver_find(&driver.reserve, "cuMemAddressReserve") &&
            sc_cuda_driver_find(&driver.unreserve, "cuMemAddressFree") &&
            sc_cuda_driver_find(&driver.create, "cuMemCreate") &&
            sc_cuda_driver_find(&driver.release, "cuMemRelease") && sc_cuda_driver_find(&driver.map, "cuMemMap") &&
            sc_cuda_driver_find(&driver.unmap, "cuMemUnmap") &&
            sc_cuda_driver_find(&driver.access, "cuMemSetAccess"));
}

/* Index of the first range that ends after the address. */
static size_t search(uintptr_t address)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (ranges[middle]->base + ranges[middle]->bytes > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static struct range *range_at(const void *memory)
{
    size_t i = search((uintptr_t)memory);

    return i < count && ranges[i]->base <= (uintptr_t)memory ? ranges[i] : NULL;
}

/* --- device memory of a range ------------------------------------------------------------------------------------- */

static void unmap(struct range *r)
{
    if (r->device < 0)
        return;
    for (int i = 0; i < r->fences; i++)
        sc_cuda_sync(r->after[i]);
    r->fences = 0;
    SC_CUDA_SCOPE(sc_cuda_device(r->device));
    driver.unmap(r->base, r->bytes);
    driver.release(r->memory);
    r->device = -1;
}

static bool reaches(int device, int memory_of)
{
    return device == memory_of || sc_cuda_device(device)->properties.peer[memory_of];
}

static CUresult allow(const struct range *r, int device)
{
    CUmemAccessDesc access[SC_DEVICES_MAX];
    size_t n = 0;

    for (int d = 0; d < sc_cuda_count; d++)
        if (reaches(d, device))
            access[n++] = (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                                         .id = sc_cuda_device(d)->ordinal},
                                            .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return driver.access(r->base, r->bytes, access, n);
}

static enum sc_status status_of(CUresult result, const char *call)
{
    return result == CUDA_SUCCESS ? SC_OK : sc_cuda_failed((cudaError_t)result, call);
}

static enum sc_status map(struct range *r, int device)
{
    CUmemAllocationProp property = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                                 .id = sc_cuda_device(device)->ordinal}};
    enum sc_status status = status_of(driver.create(&r->memory, r->bytes, &property, 0), "cuMemCreate");

    if (status != SC_OK)
        return status;
    status = status_of(driver.map(r->base, r->bytes, 0, r->memory, 0), "cuMemMap");
    if (status == SC_OK && (status = status_of(allow(r, device), "cuMemSetAccess")) != SC_OK)
        driver.unmap(r->base, r->bytes);
    if (status != SC_OK)
        driver.release(r->memory);
    else
        r->device = device;
    return status;
}

static bool trim_locked(int device)
{
    bool any = false;

    for (size_t i = 0; i < count; i++)
        if (ranges[i]->device == device && !ranges[i]->users) {
            unmap(ranges[i]);
            any = true;
        }
    return any;
}

bool sc_cuda_places_trim(int device)
{
    bool any;

    pthread_mutex_lock(&lock);
    any = trim_locked(device);
    pthread_mutex_unlock(&lock);
    return any;
}

static enum sc_status map_with_room(struct range *r, int device)
{
    enum sc_status status;

    do
        status = map(r, device);
    while (status == SC_ERR_DEVICE_MEMORY &&
           (trim_locked(device) || sc_cuda_pool_trim(sc_cuda_device(device), r->bytes)));
    return status;
}

/* Work on the memory waits for earlier users of the range. */
static enum sc_status make_ready(const struct range *r, struct sc_fence *ready)
{
    struct sc_cuda_device *d = sc_cuda_device(r->device);
    enum sc_status status = SC_OK;
    bool any = false;

    *ready = SC_FENCE_NONE;
    pthread_mutex_lock(sc_cuda_pool_lock(d));
    for (int i = 0; i < r->fences && status == SC_OK; i++)
        if (!sc_cuda_known_done(r->after[i])) {
            status = sc_cuda_wait(d->index, SC_STREAM_MEMORY, r->after[i]);
            any = true;
        }
    if (any && status == SC_OK) {
        sc_cuda_enqueue(d, SC_STREAM_MEMORY);
        status = sc_cuda_mark_locked(d, SC_STREAM_MEMORY, ready);
    }
    pthread_mutex_unlock(sc_cuda_pool_lock(d));
    return status;
}

static enum sc_status place_locked(struct range *r, int device, struct sc_fence *ready)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    enum sc_status status = SC_OK;

    if (r->device >= 0 && r->device != device) {
        if (r->users)
            return SC_ERR_UNSUPPORTED;
        unmap(r);
    }
    if (!r->users && (status = sc_cuda_pool_claim(d, r->bytes)) != SC_OK)
        return status;
    if (r->device < 0)
        status = map_with_room(r, device);
    if (status == SC_OK)
        status = make_ready(r, ready);
    if (status == SC_OK)
        r->users++;
    else if (!r->users)
        sc_cuda_pool_unclaim(d, r->bytes);
    return status;
}

enum sc_status sc_cuda_place(int device, void *memory, size_t bytes, struct sc_fence *ready)
{
    enum sc_status status = SC_ERR_UNSUPPORTED;
    struct range *r;

    SC_CUDA_SCOPE(sc_cuda_device(device));
    pthread_mutex_lock(&lock);
    r = range_at(memory);
    if (r && (uintptr_t)memory + bytes <= r->base + r->bytes)
        status = place_locked(r, device, ready);
    pthread_mutex_unlock(&lock);
    return status;
}

static void add_fence(struct range *r, struct sc_fence f)
{
    int i = 0;

    while (i < r->fences && (r->after[i].device != f.device || r->after[i].stream != f.stream))
        i++;
    if (i == r->fences)
        r->after[r->fences++] = f;
    else if (r->after[i].seq < f.seq)
        r->after[i] = f;
}

bool sc_cuda_place_free(void *memory, const struct sc_fence *after, int fences)
{
    struct range *r;

    pthread_mutex_lock(&lock);
    r = range_at(memory);
    if (r && r->users) {
        for (int i = 0; i < fences; i++)
            add_fence(r, after[i]);
        if (!--r->users)
            sc_cuda_pool_unclaim(sc_cuda_device(r->device), r->bytes);
    }
    pthread_mutex_unlock(&lock);
    return r != NULL;
}

/* --- ranges ------------------------------------------------------------------------------------------------------- */

static bool insert(struct range *r)
{
    size_t i = search(r->base);

    if (count == room) {
        size_t more = room ? 2 * room : 64;
        struct range **at = realloc(ranges, more * sizeof *at);

        if (!at)
            return false;
        ranges = at;
        room = more;
    }
    memmove(&ranges[i + 1], &ranges[i], (count - i) * sizeof *ranges);
    ranges[i] = r;
    count++;
    return true;
}

static struct {
    uintptr_t base;
    size_t bytes;
} zone; /* reserved once, and kept when the devices are closed: the host's memory lies there */

/* The driver chooses the address.  (CUDA 13.0: it ignores hints below 1 GiB and rounds others up to 4 GiB.) */
enum sc_status sc_cuda_zone(size_t bytes, void **base)
{
    CUdeviceptr got = 0;
    CUresult result;

    if (!found() || zone.bytes)
        return SC_ERR_UNSUPPORTED;
    SC_CUDA_SCOPE(sc_cuda_device(0));
    result = driver.reserve(&got, bytes, 0, 0, 0);
    if (result == CUDA_SUCCESS && got % SC_PLACE_UNIT)
        driver.unreserve(got, bytes);
    if (result != CUDA_SUCCESS || got % SC_PLACE_UNIT) {
        sc_cuda_host->log(SC_LOG_INFO, "the driver does not reserve %zu bytes of addresses (error %d, got %p)", bytes,
                          (int)result, (void *)got);
        return SC_ERR_UNSUPPORTED;
    }
    sc_cuda_host->log(SC_LOG_DEBUG, "%zu bytes of addresses reserved at %p", bytes, (void *)got);
    zone.base = (uintptr_t)got;
    zone.bytes = bytes;
    *base = (void *)got;
    return SC_OK;
}

enum sc_status sc_cuda_reserve(void *base, size_t bytes)
{
    struct range *r;

    if ((uintptr_t)base - zone.base >= zone.bytes || ((uintptr_t)base | bytes) % SC_PLACE_UNIT)
        return SC_ERR_UNSUPPORTED;
    r = calloc(1, sizeof *r);
    if (!r)
        return SC_ERR_UNSUPPORTED;
    *r = (struct range){.base = (uintptr_t)base, .bytes = bytes, .device = -1};
    pthread_mutex_lock(&lock);
    if (!insert(r)) {
        free(r);
        r = NULL;
    }
    pthread_mutex_unlock(&lock);
    return r ? SC_OK : SC_ERR_UNSUPPORTED;
}

void sc_cuda_unreserve(void *base, size_t bytes)
{
    struct range *r;

    pthread_mutex_lock(&lock);
    r = range_at(base);
    if (r)
        unmap(r);
    if (r && r->base < (uintptr_t)base && r->base + r->bytes == (uintptr_t)base + bytes) {
        r->bytes -= bytes;
    } else if (r && r->base == (uintptr_t)base) {
        memmove(&ranges[search(r->base)], &ranges[search(r->base) + 1],
                (count - search(r->base) - 1) * sizeof *ranges);
        count--;
        free(r);
    }
    pthread_mutex_unlock(&lock);
}

void sc_cuda_spare(int device, uint64_t bytes)
{
    SC_CUDA_SCOPE(sc_cuda_device(device));
    sc_cuda_places_trim(device);
    sc_cuda_pool_trim(sc_cuda_device(device), bytes);
}

#define ROOM_LEFT ((size_t)128 << 20) /* for work of the driver */

enum sc_status sc_cuda_room(int device, uint64_t *bytes)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    size_t available, total;
    enum sc_status status;

    SC_CUDA_SCOPE(d);
    status = SC_CUDA(cudaMemGetInfo(&available, &total));
    if (status != SC_OK)
        return status;
    pthread_mutex_lock(&lock);
    *bytes = available + sc_cuda_pool_held(d);
    for (size_t i = 0; i < count; i++)
        *bytes += ranges[i]->device == device ? ranges[i]->bytes : 0;
    pthread_mutex_unlock(&lock);
    *bytes -= *bytes < ROOM_LEFT ? *bytes : ROOM_LEFT;
    if (*bytes > d->properties.memory)
        *bytes = d->properties.memory;
    return SC_OK;
}

enum sc_status sc_cuda_idle(int device)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    enum sc_status status;

    SC_CUDA_SCOPE(sc_cuda_device(device));
    cudaThreadExchangeStreamCaptureMode(&mode);
    status = SC_CUDA(cudaDeviceSynchronize());
    cudaThreadExchangeStreamCaptureMode(&mode);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
