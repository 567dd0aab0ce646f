/* Fences.  A point of a stream is a number, and the newest SC_CUDA_RING numbers have an event.
 *
 * Seq s is recorded in slot s % SC_CUDA_RING.  A reused slot holds a later point of the same in-order stream, which
 * implies the earlier point.  Therefore no fence is ever lost, and a reader that races with the reuse only waits a
 * little longer.  Waiting for the later point cannot deadlock, because all work before the later point was enqueued
 * before the wait. */
#include "device/cuda/cuda_int.h"

#include <sched.h>
#include <time.h>

static struct sc_cuda_stream *stream_of(struct sc_fence fence)
{
    return &sc_cuda_devices[fence.device].streams[fence.stream];
}

static cudaEvent_t event_of(struct sc_fence fence)
{
    return stream_of(fence)->events[fence.seq % SC_CUDA_RING];
}

static void note_completed(struct sc_fence fence)
{
    uint64_t *completed = &stream_of(fence)->completed, old = __atomic_load_n(completed, __ATOMIC_RELAXED);

    while (old < fence.seq &&
           !__atomic_compare_exchange_n(completed, &old, fence.seq, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

bool sc_cuda_known_done(struct sc_fence fence)
{
    return fence.seq <= __atomic_load_n(&stream_of(fence)->completed, __ATOMIC_ACQUIRE);
}

enum sc_status sc_cuda_mark_locked(struct sc_cuda_device *d, enum sc_stream stream, struct sc_fence *fence)
{
    struct sc_cuda_stream *q = &d->streams[stream];
    enum sc_status status;

    if (__atomic_exchange_n(&q->unmarked, false, __ATOMIC_RELAXED)) {
        uint64_t seq = q->marked + 1;
        cudaEvent_t *event = &q->events[seq % SC_CUDA_RING];

        status = *event ? SC_OK : SC_CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
        if (!status)
            status = SC_CUDA(cudaEventRecord(*event, q->stream));
        if (status) {
            q->unmarked = true;
            return status == SC_ERR_DEVICE_MEMORY ? status : SC_ERR_DEVICE;
        }
        q->marked = seq;
    }
    *fence = (struct sc_fence){.seq = q->marked, .device = (uint16_t)d->index, .stream = (uint16_t)stream};
    return SC_OK;
}

enum sc_status sc_cuda_mark(int device, enum sc_stream stream, struct sc_fence *fence)
{
    struct sc_cuda_device *d = sc_cuda_device(device);
    enum sc_status status;

    SC_CUDA_SCOPE(d);
    if (stream != SC_STREAM_MEMORY)
        return sc_cuda_mark_locked(d, stream, fence);
    /* alloc and free also mark this stream, without an order set by the caller. */
    pthread_mutex_lock(sc_cuda_pool_lock(d));
    status = sc_cuda_mark_locked(d, stream, fence);
    pthread_mutex_unlock(sc_cuda_pool_lock(d));
    return status;
}

enum sc_status sc_cuda_mark_amid(int device, enum sc_stream stream, struct sc_fence *fence)
{
    enum sc_status status = sc_cuda_mark(device, stream, fence);

    sc_cuda_enqueue(sc_cuda_device(device), stream);
    return status;
}

enum sc_status sc_cuda_wait(int device, enum sc_stream stream, struct sc_fence fence)
{
    struct sc_cuda_device *d = sc_cuda_device(device);

    if (sc_cuda_known_done(fence) || (fence.device == device && fence.stream == stream))
        return SC_OK;
    SC_CUDA_SCOPE(d);
    return SC_CUDA(cudaStreamWaitEvent(sc_cuda_enqueue(d, stream), event_of(fence), 0));
}

/* A captured stream waits for nothing now: what is captured runs later. */
enum sc_status sc_cuda_behind(int device, void *stream, struct sc_fence fence)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    cudaError_t error;

    if (sc_cuda_known_done(fence))
        return SC_OK;
    SC_CUDA_SCOPE(sc_cuda_device(device));
    cudaThreadExchangeStreamCaptureMode(&mode);
    error = cudaStreamIsCapturing(stream, &capture);
    if (error == cudaSuccess && capture == cudaStreamCaptureStatusNone)
        error = cudaStreamWaitEvent(stream, event_of(fence), 0);
    if (error != cudaSuccess)
        cudaGetLastError(); /* clears the error: the caller waits instead */
    cudaThreadExchangeStreamCaptureMode(&mode);
    return error == cudaSuccess && capture == cudaStreamCaptureStatusNone ? SC_OK : SC_ERR_UNSUPPORTED;
}

/* cudaErrorNotReady until the fence is reached. */
static cudaError_t query(struct sc_fence fence)
{
    cudaError_t error = cudaEventQuery(event_of(fence));

    if (error == cudaSuccess)
        note_completed(fence);
    else if (error == cudaErrorNotReady)
        cudaGetLastError(); /* clears the runtime's last error, set even by NotReady */
    return error;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The pause before the next query, after `waited` ns.  A short wait spins, because the program's first touch of a page
 * depends on the wait.  A longer wait offers the processor to other threads.  A very long wait sleeps for a hundredth
 * of the time already waited: the thread uses almost no processor and is at most 1% late. */
static void pause_after(int64_t waited)
{
    if (waited < 100 * 1000) {
        for (int i = 0; i < 8; i++)
            __builtin_ia32_pause();
    } else if (waited < 10 * 1000 * 1000) {
        sched_yield();
    } else {
        nanosleep(&(struct timespec){.tv_nsec = waited < 1000000000 ? waited / 100 : 10000000}, NULL);
    }
}

enum sc_status sc_cuda_sync(struct sc_fence fence)
{
    cudaError_t error;
    int64_t start;

    if (sc_cuda_known_done(fence))
        return SC_OK;
    SC_CUDA_SCOPE(sc_cuda_device(fence.device));
    start = now_ns();
    while ((error = query(fence)) == cudaErrorNotReady)
        pause_after(now_ns() - start);
    return error == cudaSuccess ? SC_OK : sc_cuda_failed(error, "cudaEventQuery");
}

/* About the time of a query.  Callers ask for the fences of many sectors in a row. */
#define STILL_NS 1000

/* A moment ago an earlier point of the stream, or this one, was not reached. */
static bool is_behind(struct sc_fence fence)
{
    const struct sc_cuda_stream *q = stream_of(fence);
    uint64_t refused = __atomic_load_n(&q->refused, __ATOMIC_RELAXED);

    return refused && refused <= fence.seq && now_ns() - __atomic_load_n(&q->refused_ns, __ATOMIC_RELAXED) < STILL_NS;
}

static void note_refused(struct sc_fence fence)
{
    struct sc_cuda_stream *q = stream_of(fence);

    __atomic_store_n(&q->refused_ns, now_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&q->refused, fence.seq, __ATOMIC_RELAXED);
}

/* A failed device never reaches a fence.  The function returns true after a failure, to end any polling; sync reports
 * the error. */
bool sc_cuda_done(struct sc_fence fence)
{
    cudaError_t error;

    if (sc_cuda_known_done(fence))
        return true;
    if (is_behind(fence))
        return false;
    SC_CUDA_SCOPE(sc_cuda_device(fence.device));
    error = query(fence);
    if (error == cudaErrorNotReady)
        note_refused(fence);
    else if (error != cudaSuccess)
        sc_cuda_failed(error, "cudaEventQuery");
    return error != cudaErrorNotReady;
}

void sc_cuda_fences_close(struct sc_cuda_device *d)
{
    for (int s = 0; s < SC_STREAMS; s++) {
        struct sc_cuda_stream *q = &d->streams[s];

        for (int i = 0; i < SC_CUDA_RING; i++) {
            if (q->events[i])
                cudaEventDestroy(q->events[i]);
            q->events[i] = NULL;
        }
    }
}
/* SPDX-License-Identifier: BSD-2-Clause */
