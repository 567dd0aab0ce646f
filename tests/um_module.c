/* A module that claims to be CUDA's and has emulated devices. Tests use the module with um_fake_cuda.c, to which it
 * reports pinned memory. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/config.h"
#include "device/device.h"

__attribute__((visibility("default"))) sc_device_module_entry semcache_device_module;

/* --- memory at the host's addresses ------------------------------------------------------------------------------- */

/* An emulated device has other addresses: the module translates. The image of a range is separate from the host's
 * memory. */
enum { RANGES = 256, FENCES = 256 };
static struct range {
    char *base, *image;
    size_t bytes;
    int device, users;
    struct sc_fence after[FENCES], ready;
    int fences;
} range[RANGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void tell(const char *name, void *base, size_t bytes)
{
    void (*function)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, name);

    if (function)
        function(base, bytes);
}

static void tell_placed(const struct range *r)
{
    void (*function)(void *, size_t, void *, int) = (void (*)(void *, size_t, void *, int))dlsym(RTLD_DEFAULT,
                                                                                                "um_fake_placed");

    if (function)
        function(r->base, r->bytes, r->image, r->device);
}

static struct range *range_at(const void *p)
{
    for (int i = 0; i < RANGES; i++)
        if ((size_t)((const char *)p - range[i].base) < range[i].bytes)
            return &range[i];
    return NULL;
}

static void *moved(const void *p)
{
    struct range *r;
    void *to = (void *)p;

    pthread_mutex_lock(&lock);
    r = range_at(p);
    if (r && r->image)
        to = r->image + ((const char *)p - r->base);
    pthread_mutex_unlock(&lock);
    return to;
}

static char *zone_base;
static size_t zone_bytes;

/* As NVIDIA's driver: chooses the addresses.  UM_MODULE_REFUSES: number of refusals.  UM_MODULE_ZONE: "low" for a zone
 * below the arena's addresses. */
static enum sc_status zone(size_t bytes, void **base)
{
    static int asked;
    const char *refusals = getenv("UM_MODULE_REFUSES"), *where = getenv("UM_MODULE_ZONE");
    void *hint = where && strcmp(where, "low") == 0 ? (void *)((uintptr_t)1 << 40) : NULL;
    char *got;

    if (zone_bytes || (refusals && asked++ < atoi(refusals)))
        return SC_ERR_UNSUPPORTED;
    got = mmap(hint, bytes + SC_PLACE_UNIT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED)
        return SC_ERR_UNSUPPORTED;
    zone_base = got + (SC_PLACE_UNIT - (uintptr_t)got % SC_PLACE_UNIT) % SC_PLACE_UNIT;
    zone_bytes = bytes;
    *base = zone_base;
    return SC_OK;
}

static enum sc_status reserve(void *base, size_t bytes)
{
    struct range *r = NULL;

    if (!zone_bytes || (size_t)((char *)base - zone_base) >= zone_bytes || ((uintptr_t)base | bytes) % SC_PLACE_UNIT)
        return SC_ERR_UNSUPPORTED;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < RANGES && !r; i++)
        if (!range[i].bytes)
            r = &range[i];
    if (r) {
        *r = (struct range){.base = base, .bytes = bytes, .device = -1};
        tell_placed(r);
    }
    pthread_mutex_unlock(&lock);
    return r ? SC_OK : SC_ERR_UNSUPPORTED;
}

static void unreserve(void *base, size_t bytes)
{
    struct range *r;

    pthread_mutex_lock(&lock);
    r = range_at(base);
    if (r->users || (char *)base + bytes != r->base + r->bytes)
        abort(); /* somebody still has memory there; or no end of a range */
    tell("um_fake_gone", base, bytes);
    r->bytes -= bytes;
    if (r->bytes)
        tell_placed(r);
    pthread_mutex_unlock(&lock);
}

/* Earlier users of a part of the range may be at work. */
static enum sc_status order(struct range *r, int device)
{
    enum sc_status status = SC_OK;

    for (int i = 0; i < r->fences && status == SC_OK; i++)
        status = sc_device_emu()->wait(device, SC_STREAM_MEMORY, r->after[i]);
    return status == SC_OK && r->fences ? sc_device_emu()->mark(device, SC_STREAM_MEMORY, &r->ready) : status;
}

static enum sc_status place(int device, void *memory, size_t bytes, struct sc_fence *ready)
{
    enum sc_status status = SC_ERR_UNSUPPORTED;
    struct range *r;

    pthread_mutex_lock(&lock);
    r = range_at(memory);
    if (r && (!r->users || r->device == device) && (char *)memory + bytes <= r->base + r->bytes) {
        status = r->users ? SC_OK : sc_device_emu()->alloc(device, r->bytes, (void **)&r->image, &r->ready);
        if (status == SC_OK)
            status = order(r, device);
        if (status == SC_OK) {
            r->device = device;
            *ready = r->ready;
            if (!r->users++)
                tell_placed(r);
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static size_t freed; /* bytes of images */

static void release(int device, void *memory, const struct sc_fence *after, int count)
{
    struct range *r;

    pthread_mutex_lock(&lock);
    r = range_at(memory);
    if (!r) {
        pthread_mutex_unlock(&lock);
        sc_device_emu()->free(device, memory, after, count);
        return;
    }
    if (r->fences + count > FENCES)
        abort();
    for (int i = 0; i < count; i++)
        r->after[r->fences++] = after[i];
    if (!--r->users) {
        sc_device_emu()->free(device, r->image, r->after, r->fences);
        r->image = NULL;
        freed += r->bytes;
        r->fences = 0;
        tell_placed(r);
    }
    pthread_mutex_unlock(&lock);
}

static void spare(int device, uint64_t bytes)
{
    (void)device, (void)bytes;
    pthread_mutex_lock(&lock);
    tell("um_fake_spared", NULL, freed);
    freed = 0;
    pthread_mutex_unlock(&lock);
}

static enum sc_status room(int device, uint64_t *bytes)
{
    struct sc_device_properties p;
    enum sc_status status = sc_device_emu()->properties(device, &p);

    *bytes = p.memory;
    return status;
}

static void count(const char *name, size_t bytes)
{
    size_t *counter = dlsym(RTLD_DEFAULT, name);

    if (counter)
        __atomic_fetch_add(counter, bytes, __ATOMIC_RELAXED);
}

static void asked(void) { count("um_fake_asked", 1); }

static bool broken; /* the device does nothing any more */

/* UM_MODULE_BREAKS: number of waits after which the device is gone. */
static enum sc_status idle(int device)
{
    void (*drain)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "um_fake_idle");
    const char *breaks = getenv("UM_MODULE_BREAKS");
    static int waits;

    (void)device;
    asked();
    broken |= breaks && ++waits > atoi(breaks);
    if (drain)
        drain();
    return broken ? SC_ERR_DEVICE : SC_OK;
}

static void await(struct sc_fence fence)
{
    if (sc_device_emu()->sync(fence) != SC_OK)
        abort();
}

/* The fake CUDA's work waits.  UM_MODULE_REFUSES_STREAMS: the library has to wait instead.  UM_MODULE_FORGETS_STREAMS:
 * nobody waits, a defect that tests have to find. */
static enum sc_status behind(int device, void *stream, struct sc_fence fence)
{
    void (*wait)(void (*)(struct sc_fence), struct sc_fence) =
        (void (*)(void (*)(struct sc_fence), struct sc_fence))dlsym(RTLD_DEFAULT, "um_fake_behind");

    (void)device, (void)stream;
    asked();
    if (!wait || getenv("UM_MODULE_REFUSES_STREAMS"))
        return SC_ERR_UNSUPPORTED;
    if (!getenv("UM_MODULE_FORGETS_STREAMS"))
        wait(await, fence);
    return SC_OK;
}

/* --- fences, counted ---------------------------------------------------------------------------------------------- */

static enum sc_status mark(int device, enum sc_stream stream, struct sc_fence *fence)
{
    asked();
    return sc_device_emu()->mark(device, stream, fence);
}

static enum sc_status wait_for(int device, enum sc_stream stream, struct sc_fence fence)
{
    asked();
    return sc_device_emu()->wait(device, stream, fence);
}

static enum sc_status sync_with(struct sc_fence fence)
{
    asked();
    return sc_device_emu()->sync(fence);
}

static bool done(struct sc_fence fence)
{
    asked();
    return sc_device_emu()->done(fence);
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

static void doze(int device, void *stream, void *record)
{
    (void)device, (void)stream, (void)record;
    usleep(1000);
}

/* UM_MODULE_LATE: each copy from the host begins a millisecond late. */
static enum sc_status copy(int device, enum sc_stream stream, const struct sc_copy2d *c)
{
    struct sc_copy2d there = *c;

    asked();
    if (broken)
        return SC_ERR_DEVICE;
    if (c->src_device == SC_HOST && getenv("UM_MODULE_LATE"))
        sc_device_emu()->call(device, stream, &(struct sc_device_call){.run = doze});
    if (c->src_device == SC_HOST)
        count("um_fake_up", c->width * c->height);
    else
        there.src = moved(c->src);
    if (c->dst_device == SC_HOST)
        count("um_fake_home", c->width * c->height);
    else
        there.dst = moved(c->dst);
    return sc_device_emu()->copy(device, stream, &there);
}

static enum sc_status fill(int device, enum sc_stream stream, void *memory, size_t pitch, int byte, size_t width,
                           size_t height)
{
    return sc_device_emu()->fill(device, stream, moved(memory), pitch, byte, width, height);
}

static enum sc_status exchange(int device, enum sc_stream stream, const struct sc_copy2d *copies, int number)
{
    struct sc_copy2d there[64];

    if (number > 64)
        return SC_ERR_UNSUPPORTED;
    for (int i = 0; i < number; i++) {
        there[i] = copies[i];
        there[i].src = moved(copies[i].src);
        there[i].dst = moved(copies[i].dst);
    }
    return sc_device_emu()->exchange(device, stream, there, number);
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static enum sc_status open_devices(const struct sc_device_host *host, const char *spec, int *count)
{
    sc_config = *host->config; /* the emulated devices' own copy of the settings */
    return sc_device_emu()->open(host, strcmp(spec, "0") == 0 ? "h200x8:1" : "h200x8:2", count);
}

static enum sc_status pin(void *base, size_t bytes)
{
    tell("um_fake_pinned", base, bytes);
    return sc_device_emu()->pin(base, bytes);
}

static void unpin(void *base, size_t bytes)
{
    tell("um_fake_gone", base, bytes);
    sc_device_emu()->unpin(base, bytes);
}

/* UM_MODULE_APART: no device reaches another's memory. */
static enum sc_status properties(int device, struct sc_device_properties *out)
{
    enum sc_status status = sc_device_emu()->properties(device, out);

    out->ordinal = device;
    if (getenv("UM_MODULE_APART"))
        memset(out->reach, 0, sizeof out->reach);
    return status;
}

/* CUDA's module calls CUDA with semcache's locks held: such calls pass through libsemcache-cuda-um unchanged. The fake
 * CUDA refuses this call, since it has no handle. */
static enum sc_status launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    int (*ask)(const void *, int, const void *, const void *, const void *, const void *, const void *, int, int,
               size_t *) = NULL;
    struct sc_kernel k = *kernel;
    size_t bytes;

    *(void **)&ask = dlsym(RTLD_DEFAULT, "cusparseSpMV_bufferSize");
    if (ask && ask(NULL, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, &bytes) == 0)
        return SC_ERR_DEVICE;
    k.a = moved(k.a);
    k.b = moved(k.b);
    k.c = moved(k.c);
    return sc_device_emu()->launch(device, stream, &k);
}

const struct sc_device_ops *semcache_device_module(void)
{
    static struct sc_device_ops ops;

    ops = *sc_device_emu();
    ops.name = "cuda";
    ops.open = open_devices;
    ops.properties = properties;
    ops.pin = pin;
    ops.unpin = unpin;
    ops.free = release;
    ops.zone = zone;
    ops.reserve = reserve;
    ops.unreserve = unreserve;
    ops.place = place;
    ops.spare = spare;
    ops.room = room;
    ops.idle = idle;
    ops.behind = behind;
    ops.mark = mark;
    ops.wait = wait_for;
    ops.sync = sync_with;
    ops.done = done;
    ops.copy = copy;
    ops.fill = fill;
    ops.exchange = exchange;
    ops.launch = launch;
    return &ops;
}
/* SPDX-License-Identifier: BSD-2-Clause */
