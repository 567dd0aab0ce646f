/* The runtime: one device, memory, streams, events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda-um/emulated/emulated.h"
#include "cuda-um/names.h"

#define E(name) SC_UM_EMULATED_NAME(name)

static __thread cudaError_t last_error;

static cudaError_t note(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

cudaError_t E(cudaPeekAtLastError)(void) { return last_error; }

cudaError_t E(cudaGetLastError)(void)
{
    cudaError_t error = last_error;

    last_error = cudaSuccess;
    return error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {{cudaSuccess, "cudaSuccess", "no error"},
              {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
              {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
              {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
              {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
              {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"}};

const char *E(cudaGetErrorName)(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}

const char *E(cudaGetErrorString)(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error)
            return errors[i].text;
    return "unrecognized error code";
}

/* --- the device --------------------------------------------------------------------------------------------------- */

static size_t machine_memory(void) { return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE); }

cudaError_t E(cudaGetDeviceCount)(int *count) { return *count = 1, cudaSuccess; }
cudaError_t E(cudaGetDevice)(int *device) { return *device = 0, cudaSuccess; }
cudaError_t E(cudaSetDevice)(int device) { return note(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t E(cudaSetDeviceFlags)(unsigned flags) { return (void)flags, cudaSuccess; }
cudaError_t E(cudaDeviceSynchronize)(void) { return cudaSuccess; }
cudaError_t E(cudaDeviceReset)(void) { return cudaSuccess; }
cudaError_t E(cudaDriverGetVersion)(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t E(cudaRuntimeGetVersion)(int *version) { return *version = CUDART_VERSION, cudaSuccess; }

cudaError_t E(cudaMemGetInfo)(size_t *available, size_t *total)
{
    *available = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    *total = machine_memory();
    return cudaSuccess;
}

cudaError_t E(cudaGetDeviceProperties)(struct cudaDeviceProp *out, int device)
{
    if (device != 0)
        return note(cudaErrorInvalidDevice);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "semcache (no CUDA device)");
    out->totalGlobalMem = machine_memory();
    out->major = 9;
    out->multiProcessorCount = 1;
    out->warpSize = 32;
    out->unifiedAddressing = out->managedMemory = out->concurrentManagedAccess = 1;
    return cudaSuccess;
}

cudaError_t E(cudaDeviceGetAttribute)(int *value, enum cudaDeviceAttr attribute, int device)
{
    if (device != 0)
        return note(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrMultiProcessorCount: *value = 1; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    default: *value = 0; break;
    }
    return cudaSuccess;
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static cudaError_t allocate(void **out, size_t bytes, enum cudaMemoryType kind)
{
    if (!out)
        return note(cudaErrorInvalidValue);
    *out = bytes ? sc_um_block_new(bytes, kind) : NULL;
    return note(*out || !bytes ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t E(cudaMalloc)(void **out, size_t bytes) { return allocate(out, bytes, cudaMemoryTypeDevice); }
cudaError_t E(cudaMallocHost)(void **out, size_t bytes) { return allocate(out, bytes, cudaMemoryTypeHost); }

cudaError_t E(cudaHostAlloc)(void **out, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate(out, bytes, cudaMemoryTypeHost);
}

cudaError_t E(cudaFreeHost)(void *memory)
{
    struct sc_um_block block;
    bool host = memory && sc_um_block_of(memory, &block) && block.kind == cudaMemoryTypeHost;

    return note(!memory || (host && sc_um_block_free(memory)) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t E(cudaHostRegister)(void *memory, size_t bytes, unsigned flags)
{
    (void)bytes, (void)flags;
    return note(memory ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t E(cudaHostUnregister)(void *memory) { return note(memory ? cudaSuccess : cudaErrorInvalidValue); }

/* For memory not allocated here: */
cudaError_t E(cudaFree)(void *memory) { return note(memory ? cudaErrorInvalidValue : cudaSuccess); }

cudaError_t E(cudaPointerGetAttributes)(struct cudaPointerAttributes *out, const void *p)
{
    if (!out)
        return note(cudaErrorInvalidValue);
    memset(out, 0, sizeof *out);
    out->type = cudaMemoryTypeUnregistered;
    out->device = -1;
    out->hostPointer = (void *)p;
    return cudaSuccess;
}

cudaError_t E(cudaMemPrefetchAsync)(const void *p, size_t bytes, struct cudaMemLocation to, unsigned flags,
                                    cudaStream_t stream)
{
    (void)p, (void)bytes, (void)to, (void)flags, (void)stream;
    return note(cudaErrorInvalidValue);
}

cudaError_t E(cudaMemAdvise)(const void *p, size_t bytes, enum cudaMemoryAdvise advice, struct cudaMemLocation where)
{
    (void)p, (void)bytes, (void)advice, (void)where;
    return note(cudaErrorInvalidValue);
}

cudaError_t E(cudaStreamAttachMemAsync)(cudaStream_t stream, void *p, size_t bytes, unsigned flags)
{
    (void)stream, (void)p, (void)bytes, (void)flags;
    return note(cudaErrorInvalidValue);
}

/* --- streams and events ------------------------------------------------------------------------------------------- */

struct CUstream_st {
    unsigned flags;
};

cudaError_t E(cudaStreamCreateWithFlags)(cudaStream_t *out, unsigned flags)
{
    *out = malloc(sizeof **out);
    if (!*out)
        return note(cudaErrorMemoryAllocation);
    (*out)->flags = flags;
    return cudaSuccess;
}
cudaError_t E(cudaStreamCreate)(cudaStream_t *out) { return E(cudaStreamCreateWithFlags)(out, 0); }

cudaError_t E(cudaStreamDestroy)(cudaStream_t stream)
{
    if (!stream)
        return note(cudaErrorInvalidResourceHandle);
    free(stream);
    return cudaSuccess;
}
cudaError_t E(cudaStreamSynchronize)(cudaStream_t stream) { return (void)stream, cudaSuccess; }
cudaError_t E(cudaStreamQuery)(cudaStream_t stream) { return (void)stream, cudaSuccess; }

cudaError_t E(cudaStreamWaitEvent)(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)stream, (void)flags;
    return note(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t E(cudaStreamIsCapturing)(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    (void)stream;
    return *status = cudaStreamCaptureStatusNone, cudaSuccess;
}

struct CUevent_st {
    struct timespec at;
};

cudaError_t E(cudaEventCreateWithFlags)(cudaEvent_t *out, unsigned flags)
{
    (void)flags;
    *out = calloc(1, sizeof **out);
    return note(*out ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t E(cudaEventCreate)(cudaEvent_t *out) { return E(cudaEventCreateWithFlags)(out, 0); }

cudaError_t E(cudaEventDestroy)(cudaEvent_t event)
{
    if (!event)
        return note(cudaErrorInvalidResourceHandle);
    free(event);
    return cudaSuccess;
}

cudaError_t E(cudaEventRecord)(cudaEvent_t event, cudaStream_t stream)
{
    (void)stream;
    if (!event)
        return note(cudaErrorInvalidResourceHandle);
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    return cudaSuccess;
}
cudaError_t E(cudaEventSynchronize)(cudaEvent_t event)
{
    return note(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t E(cudaEventQuery)(cudaEvent_t event) { return note(event ? cudaSuccess : cudaErrorInvalidResourceHandle); }

cudaError_t E(cudaEventElapsedTime)(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    if (!milliseconds || !from || !to)
        return note(cudaErrorInvalidResourceHandle);
    *milliseconds = (float)((double)(to->at.tv_sec - from->at.tv_sec) * 1e3 +
                            (double)(to->at.tv_nsec - from->at.tv_nsec) * 1e-6);
    return cudaSuccess;
}
/* SPDX-License-Identifier: BSD-2-Clause */
