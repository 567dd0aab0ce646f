/* The runtime's functions on memory.  Managed memory is semcache's arena: ordinary host memory, accessible to the CPU
 * at any time.  The CPU copies between two ranges of host memory; CUDA copies from and to GPU memory. */
#include "cuda-um/um.h"

#include <string.h>

#include "semcache/semcache.h"

/* --- allocation --------------------------------------------------------------------------------------------------- */

SC_UM_EXPORT cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    if (sc_um_passes(SC_UM_CALLER))
        return SC_UM_BEHIND(cudaMallocManaged)(out, bytes, flags);
    if (!out || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return cudaErrorInvalidValue;
    *out = NULL;
    if (!bytes) /* an error by the manual, but not in CUDA 13 */
        return cudaSuccess;
    *out = sc_um_block_new(bytes, cudaMemoryTypeManaged);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

SC_UM_EXPORT cudaError_t cudaMalloc(void **out, size_t bytes)
{
    bool passes = sc_um_passes(SC_UM_CALLER);
    cudaError_t error;

    do
        error = SC_UM_BEHIND(cudaMalloc)(out, bytes);
    while (!passes && sc_um_gives_way(error, bytes));
    return error;
}

SC_UM_EXPORT cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    bool passes = sc_um_passes(SC_UM_CALLER);
    cudaError_t error;

    do
        error = SC_UM_BEHIND(cudaMallocPitch)(out, pitch, width, height);
    while (!passes && sc_um_gives_way(error, (width + 511) / 512 * 512 * height));
    return error;
}

SC_UM_EXPORT cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
    bool passes = sc_um_passes(SC_UM_CALLER);
    cudaError_t error;

    do
        error = SC_UM_BEHIND(cudaMallocAsync)(out, bytes, stream);
    while (!passes && sc_um_gives_way(error, bytes));
    return error;
}

SC_UM_EXPORT cudaError_t cudaFree(void *memory)
{
    struct sc_um_block block;

    if (!memory || sc_um_passes(SC_UM_CALLER) || !sc_um_block_of(memory, &block))
        return SC_UM_BEHIND(cudaFree)(memory);
    if (block.kind == cudaMemoryTypeHost)
        return cudaErrorInvalidValue;
    sc_um_settle();
    return sc_um_block_free(memory) ? cudaSuccess : cudaErrorInvalidValue;
}

SC_UM_EXPORT cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
    struct sc_um_block block;

    if (!out || sc_um_passes(SC_UM_CALLER) || !sc_um_block_of(p, &block))
        return SC_UM_BEHIND(cudaPointerGetAttributes)(out, p);
    memset(out, 0, sizeof *out);
    out->type = block.kind;
    out->devicePointer = (void *)p;
    out->hostPointer = block.kind == cudaMemoryTypeDevice ? NULL : (void *)p;
    return SC_UM_BEHIND(cudaGetDevice)(&out->device);
}

bool sc_um_is_device_only(const void *p)
{
    struct cudaPointerAttributes about;
    struct sc_um_block block;

    if (sc_um_way() == SC_UM_EMULATED || sc_um_block_of(p, &block))
        return false;
    if (SC_UM_BEHIND(cudaPointerGetAttributes)(&about, p) != cudaSuccess) {
        SC_UM_BEHIND(cudaGetLastError)(); /* clears the error of our query */
        return false;
    }
    return about.type == cudaMemoryTypeDevice;
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

struct copy {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, height;
    cudaStream_t stream;
};

static size_t extent(size_t pitch, size_t width, size_t height)
{
    return height && width ? pitch * (height - 1) + width : 0;
}

/* Whether semcache may hold the newest data of one side on a device: managed memory, or memory of malloc. */
static bool is_ours(const void *to, const void *from)
{
    struct sc_um_block block;

    return sc_um_way() == SC_UM_EMULATED || sc_um_inner->holds(to) || sc_um_block_of(to, &block) ||
           (from && (sc_um_inner->holds(from) || sc_um_block_of(from, &block)));
}

/* A copy that leaves gaps between rows does not overwrite the whole range. */
static void acquire_target(const struct copy *c)
{
    bool whole = c->to_pitch == c->width || c->height == 1;

    semcache_acquire(c->to, extent(c->to_pitch, c->width, c->height), whole ? SEMCACHE_WRITE : SEMCACHE_READWRITE);
}

static cudaError_t by_cpu(const struct copy *c)
{
    cudaError_t error = SC_UM_BEHIND(cudaStreamSynchronize)(c->stream);

    if (error != cudaSuccess)
        return error;
    sc_um_settle();
    semcache_acquire(c->from, extent(c->from_pitch, c->width, c->height), SEMCACHE_READ);
    acquire_target(c);
    for (size_t i = 0; i < c->height; i++)
        memmove((char *)c->to + i * c->to_pitch, (const char *)c->from + i * c->from_pitch, c->width);
    return cudaSuccess;
}

static cudaError_t enqueue(const struct copy *c)
{
    return c->height == 1 /* pitches have a limit */
               ? SC_UM_BEHIND(cudaMemcpyAsync)(c->to, c->from, c->width, cudaMemcpyDefault, c->stream)
               : SC_UM_BEHIND(cudaMemcpy2DAsync)(c->to, c->to_pitch, c->from, c->from_pitch, c->width, c->height,
                                                 cudaMemcpyDefault, c->stream);
}

/* Fetches the host side first; semcache starts no work on the range before the end of the copy.  At the address of a
 * block, a device may still have older data, or a part of the data: CUDA copies from and to the host's second mapping.
 * A captured copy runs later, when the block is lent. */
static cudaError_t by_cuda(const struct copy *c, bool to_device, bool waits)
{
    struct copy by_alias = *c;
    cudaError_t error;

    if (to_device)
        semcache_acquire(c->from, extent(c->from_pitch, c->width, c->height), SEMCACHE_READ);
    else
        acquire_target(c);
    if (!sc_um_is_capturing(c->stream)) {
        by_alias.from = sc_um_inner->alias(c->from);
        by_alias.to = sc_um_inner->alias(c->to);
    }
    error = enqueue(&by_alias);
    sc_um_busy();
    return error == cudaSuccess && waits ? SC_UM_BEHIND(cudaStreamSynchronize)(c->stream) : error;
}

/* Lent memory is copied where the kernels have it.  Memory of the host is acquired as in by_cuda. */
static cudaError_t by_lending(const struct copy *c, bool to_lent, bool from_lent, bool waits)
{
    cudaError_t error;

    if (!from_lent && !sc_um_is_device_only(c->from))
        semcache_acquire(c->from, extent(c->from_pitch, c->width, c->height), SEMCACHE_READ);
    if (!to_lent && !sc_um_is_device_only(c->to))
        acquire_target(c);
    sc_um_home_for((const void *const[]){c->to, c->from}, 2, c->stream);
    error = enqueue(c);
    return error == cudaSuccess && waits ? SC_UM_BEHIND(cudaStreamSynchronize)(c->stream) : error;
}

static cudaError_t copy(const struct copy *c, bool waits)
{
    bool to_device, to_lent = sc_um_all_lent(&(const void *){c->to}, 1), from_lent = sc_um_all_lent(&c->from, 1);

    if (!c->width || !c->height)
        return cudaSuccess;
    if ((c->height > 1 && (c->to_pitch < c->width || c->from_pitch < c->width)) || !c->to || !c->from)
        return cudaErrorInvalidValue;
    if (to_lent || from_lent)
        return by_lending(c, to_lent, from_lent, waits || !(to_lent && from_lent));
    to_device = sc_um_is_device_only(c->to);
    return to_device || sc_um_is_device_only(c->from) || sc_um_is_capturing(c->stream) ? by_cuda(c, to_device, waits)
                                                                                       : by_cpu(c);
}

cudaError_t sc_um_copy(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    return copy(&(struct copy){to, from, bytes, bytes, bytes, 1, stream}, true);
}

#define PASSES(to, from) (sc_um_passes(SC_UM_CALLER) || !is_ours(to, from))

SC_UM_EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    if (PASSES(to, from))
        return SC_UM_BEHIND(cudaMemcpy)(to, from, bytes, kind);
    return sc_um_copy(to, from, bytes, NULL);
}

SC_UM_EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                         cudaStream_t stream)
{
    if (PASSES(to, from))
        return SC_UM_BEHIND(cudaMemcpyAsync)(to, from, bytes, kind, stream);
    return copy(&(struct copy){to, from, bytes, bytes, bytes, 1, stream}, false);
}

SC_UM_EXPORT cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                      size_t height, enum cudaMemcpyKind kind)
{
    if (PASSES(to, from))
        return SC_UM_BEHIND(cudaMemcpy2D)(to, to_pitch, from, from_pitch, width, height, kind);
    return copy(&(struct copy){to, from, to_pitch, from_pitch, width, height, NULL}, true);
}

SC_UM_EXPORT cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                           size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if (PASSES(to, from))
        return SC_UM_BEHIND(cudaMemcpy2DAsync)(to, to_pitch, from, from_pitch, width, height, kind, stream);
    return copy(&(struct copy){to, from, to_pitch, from_pitch, width, height, stream}, false);
}

/* --- filling ------------------------------------------------------------------------------------------------------ */

static cudaError_t fill(void *to, size_t pitch, int byte, size_t width, size_t height, cudaStream_t stream)
{
    struct copy target = {to, NULL, pitch, 0, width, height, stream};
    cudaError_t error;

    if (sc_um_is_capturing(stream) || sc_um_all_lent(&(const void *){to}, 1)) {
        if (!to || (height > 1 && pitch < width))
            return cudaErrorInvalidValue;
        sc_um_home_for(&(const void *){to}, 1, stream);
        return height == 1 /* pitches have a limit */
                   ? SC_UM_BEHIND(cudaMemsetAsync)(to, byte, width, stream)
                   : SC_UM_BEHIND(cudaMemset2DAsync)(to, pitch, byte, width, height, stream);
    }
    error = SC_UM_BEHIND(cudaStreamSynchronize)(stream);
    if (error != cudaSuccess || !width || !height)
        return error;
    sc_um_settle();
    acquire_target(&target);
    for (size_t i = 0; i < height; i++)
        memset((char *)to + i * pitch, byte, width);
    return cudaSuccess;
}

SC_UM_EXPORT cudaError_t cudaMemset(void *to, int byte, size_t bytes)
{
    if (PASSES(to, NULL))
        return SC_UM_BEHIND(cudaMemset)(to, byte, bytes);
    return fill(to, bytes, byte, bytes, 1, NULL);
}

SC_UM_EXPORT cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream)
{
    if (PASSES(to, NULL))
        return SC_UM_BEHIND(cudaMemsetAsync)(to, byte, bytes, stream);
    return fill(to, bytes, byte, bytes, 1, stream);
}

SC_UM_EXPORT cudaError_t cudaMemset2D(void *to, size_t pitch, int byte, size_t width, size_t height)
{
    if (PASSES(to, NULL))
        return SC_UM_BEHIND(cudaMemset2D)(to, pitch, byte, width, height);
    return fill(to, pitch, byte, width, height, NULL);
}

/* --- hints -------------------------------------------------------------------------------------------------------- */

static bool within(const struct sc_um_block *block, const void *p, size_t bytes)
{
    return bytes && (uintptr_t)p - block->base + bytes <= block->bytes;
}

/* A prefetch to the CPU happens now.  A prefetch to a device happens with the first call that uses the memory, because
 * the call determines the device. */
SC_UM_EXPORT cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, struct cudaMemLocation to, unsigned flags,
                                              cudaStream_t stream)
{
    struct sc_um_block block;

    if (sc_um_passes(SC_UM_CALLER) || !sc_um_block_of(p, &block))
        return SC_UM_BEHIND(cudaMemPrefetchAsync)(p, bytes, to, flags, stream);
    if (!within(&block, p, bytes) || flags)
        return cudaErrorInvalidValue;
    if (to.type != cudaMemLocationTypeDevice)
        semcache_acquire(p, bytes, SEMCACHE_READ);
    return cudaSuccess;
}

/* A block that prefers the CPU stays there, pinned, and kernels read the block over the bus.  Other advice has no
 * effect: blocks are where their latest user needs them. */
static void prefer(const struct sc_um_block *block, size_t bytes, enum cudaMemoryAdvise advice,
                   struct cudaMemLocation where)
{
    if (advice == cudaMemAdviseSetPreferredLocation && where.type >= cudaMemLocationTypeHost &&
        bytes == block->bytes && block->united)
        sc_um_separate(block->base, 0);
}

SC_UM_EXPORT cudaError_t cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice,
                                       struct cudaMemLocation where)
{
    struct sc_um_block block;

    if (sc_um_passes(SC_UM_CALLER) || !sc_um_block_of(p, &block))
        return SC_UM_BEHIND(cudaMemAdvise)(p, bytes, advice, where);
    if (!within(&block, p, bytes))
        return cudaErrorInvalidValue;
    prefer(&block, bytes, advice, where);
    return cudaSuccess;
}

SC_UM_EXPORT cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t bytes, unsigned flags)
{
    struct sc_um_block block;

    if (sc_um_passes(SC_UM_CALLER) || !sc_um_block_of(p, &block))
        return SC_UM_BEHIND(cudaStreamAttachMemAsync)(stream, p, bytes, flags);
    return cudaSuccess;
}

/* --- the device --------------------------------------------------------------------------------------------------- */

/* Results of semcache's calls need no wait here: the CPU's first touch of a result waits. */
SC_UM_EXPORT cudaError_t cudaDeviceSynchronize(void)
{
    return sc_um_passes(SC_UM_CALLER) ? SC_UM_BEHIND(cudaDeviceSynchronize)() : sc_um_wait();
}

/* The devices also belong to semcache and are not reset; managed memory is written back. */
SC_UM_EXPORT cudaError_t cudaDeviceReset(void)
{
    if (sc_um_passes(SC_UM_CALLER))
        return SC_UM_BEHIND(cudaDeviceReset)();
    semcache_sync(NULL, 0);
    return sc_um_wait();
}
/* SPDX-License-Identifier: BSD-2-Clause */
