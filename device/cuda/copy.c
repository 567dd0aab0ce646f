/* Pinned memory, copies and fills. */
#include "device/cuda/cuda_int.h"

enum sc_status sc_cuda_slots_open(struct sc_cuda_device *d)
{
    return SC_CUDA(cudaHostAlloc((void **)&d->slots, SC_RESULT_SLOTS * SC_CUDA_SLOT_BYTES,
                                 cudaHostAllocPortable | cudaHostAllocMapped));
}

void sc_cuda_slots_close(struct sc_cuda_device *d)
{
    if (d->slots)
        cudaFreeHost(d->slots);
    d->slots = NULL;
}

/* Kernels write directly to a slot: with unified addressing, its address is the same on the device. */
void *sc_cuda_result_slot(int device)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    unsigned slot = __atomic_fetch_add(&d->next_slot, 1, __ATOMIC_RELAXED) % SC_RESULT_SLOTS;

    return d->slots + slot * SC_CUDA_SLOT_BYTES;
}

enum sc_status sc_cuda_pin(void *base, size_t bytes)
{
    cudaError_t error;

    if (!bytes)
        return SC_OK;
    sc_cuda_populate(base, bytes);
    SC_CUDA_SCOPE(sc_cuda_device(0));
    error = cudaHostRegister(base, bytes, cudaHostRegisterPortable);
    if (error == cudaSuccess)
        return SC_OK;
    cudaGetLastError();
    if (error == cudaErrorMemoryAllocation)
        return SC_ERR_MEMORY;
    /* Already pinned by the program, a device mapping, or a read-only mapping: the caller copies in and out. */
    sc_cuda_host->log(SC_LOG_INFO, "%zu bytes at %p cannot be pinned (%s): they are not cached", bytes, base,
                      cudaGetErrorName(error));
    return SC_ERR_UNSUPPORTED;
}

void sc_cuda_unpin(void *base, size_t bytes)
{
    if (!bytes)
        return;
    SC_CUDA_SCOPE(sc_cuda_device(0));
    SC_CUDA(cudaHostUnregister(base));
}

/* Uploads a small piece through the copy engine.
 *
 * The driver reads small one-dimensional uploads on the calling thread during the call (observed below 32 KiB with CUDA
 * 13.0 on an H200, also with pending work in the stream).  Such a read of a closed page faults while the protocol's
 * lock is held; such a read of a page with a transfer in progress gets old data.  Pitched copies of any size use the
 * copy engine.  Therefore the four quarters go as two pitched copies: first and third, second and fourth. */
#define CPU_READS_BELOW ((size_t)64 << 10)

static enum sc_status upload_small(char *dst, const char *src, size_t bytes, cudaStream_t on)
{
    size_t quarter = bytes / 4; /* an element has 4 bytes or a multiple */
    enum sc_status status = SC_OK;

    for (size_t at = 0; at <= quarter && status == SC_OK; at += quarter)
        status = SC_CUDA(cudaMemcpy2DAsync(dst + at, 2 * quarter, src + at, 2 * quarter, quarter, 2,
                                           cudaMemcpyHostToDevice, on));
    return status;
}

/* Copies a contiguous piece. */
static enum sc_status copy_line(const struct sc_copy2d *c, void *dst, const void *src, size_t bytes, cudaStream_t on)
{
    if (c->dst_device == SC_HOST)
        return SC_CUDA(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, on));
    if (c->src_device == SC_HOST && bytes < CPU_READS_BELOW && bytes % 4 == 0)
        return upload_small(dst, src, bytes, on);
    if (c->src_device == SC_HOST)
        return SC_CUDA(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, on));
    if (c->dst_device == c->src_device)
        return SC_CUDA(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, on));
    return SC_CUDA(cudaMemcpyPeerAsync(dst, sc_cuda_device(c->dst_device)->ordinal, src,
                                       sc_cuda_device(c->src_device)->ordinal, bytes, on));
}

static enum sc_status copy_pitched(const struct sc_copy2d *c, cudaStream_t stream)
{
    enum cudaMemcpyKind kind = c->dst_device == SC_HOST   ? cudaMemcpyDeviceToHost
                               : c->src_device == SC_HOST ? cudaMemcpyHostToDevice
                                                          : cudaMemcpyDeviceToDevice;
    struct cudaMemcpy3DPeerParms peer = {.srcPtr.pitch = c->src_pitch};

    if (kind != cudaMemcpyDeviceToDevice || c->dst_device == c->src_device ||
        sc_cuda_device(c->dst_device)->properties.peer[c->src_device])
        return SC_CUDA(cudaMemcpy2DAsync(c->dst, c->dst_pitch, c->src, c->src_pitch, c->width, c->height, kind,
                                         stream));
    /* No direct path between the devices: the driver stages the copy through the host. */
    peer.srcPtr = (struct cudaPitchedPtr){(void *)c->src, c->src_pitch, c->width, c->height};
    peer.dstPtr = (struct cudaPitchedPtr){c->dst, c->dst_pitch, c->width, c->height};
    peer.srcDevice = sc_cuda_device(c->src_device)->ordinal;
    peer.dstDevice = sc_cuda_device(c->dst_device)->ordinal;
    peer.extent = (struct cudaExtent){c->width, c->height, 1};
    return SC_CUDA(cudaMemcpy3DPeerAsync(&peer, stream));
}

enum sc_status sc_cuda_copy(int device, enum sc_stream stream, const struct sc_copy2d *c)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    enum sc_status status = SC_OK;
    cudaStream_t on;

    if (!c->width || !c->height)
        return SC_OK;
    SC_CUDA_SCOPE(d);
    on = sc_cuda_enqueue(d, stream);
    if (c->height == 1)
        return copy_line(c, c->dst, c->src, c->width, on);
    if (c->dst_pitch == c->width && c->src_pitch == c->width)
        return copy_line(c, c->dst, c->src, c->width * c->height, on);
    if (c->dst_pitch <= d->max_pitch && c->src_pitch <= d->max_pitch)
        return copy_pitched(c, on);
    /* Pitches from 2 GiB on exceed the hardware's 2-D copies; such copies have few and mostly long pieces. */
    for (size_t i = 0; i < c->height && !status; i++)
        status = copy_line(c, (char *)c->dst + i * c->dst_pitch, (const char *)c->src + i * c->src_pitch, c->width, on);
    return status;
}

enum sc_status sc_cuda_fill(int device, enum sc_stream stream, void *memory, size_t pitch, int byte, size_t width,
                            size_t height)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    enum sc_status status = SC_OK;
    cudaStream_t on;

    if (!width || !height)
        return SC_OK;
    SC_CUDA_SCOPE(d);
    on = sc_cuda_enqueue(d, stream);
    if (height == 1 || pitch == width)
        return SC_CUDA(cudaMemsetAsync(memory, byte, width * height, on));
    if (pitch <= d->max_pitch)
        return SC_CUDA(cudaMemset2DAsync(memory, pitch, byte, width, height, on));
    for (size_t i = 0; i < height && !status; i++)
        status = SC_CUDA(cudaMemsetAsync((char *)memory + i * pitch, byte, width, on));
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
