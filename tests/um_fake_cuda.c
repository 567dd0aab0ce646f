/* A CUDA without a GPU, preloaded behind libsemcache-cuda-um, for tests of the library together with CUDA. The fake is
 * stricter than a GPU:
 *   work is done when the program waits for it: a missing wait gives wrong results;
 *   memory of cudaMalloc is closed for the CPU;
 *   host memory is accessed past its protection, as by DMA, and only where it is pinned. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>

#define EXPORT __attribute__((visibility("default")))

/* Read and set by the test and its module. */
EXPORT int um_fake_wrong;  /* accesses that would fail on a GPU */
EXPORT int um_fake_passed; /* number of BLAS calls of this library */
EXPORT int um_fake_capturing; /* set by the test: every stream reports a capture in progress */
EXPORT void um_fake_pinned(void *base, size_t bytes);

/* --- memory ------------------------------------------------------------------------------------------------------- */

enum { RANGES = 4096, MOST = 1 << 21 };
static struct range {
    uintptr_t base;
    size_t bytes;
    int device;
} range[RANGES];
static int ranges;

static void add(void *base, size_t bytes, int device)
{
    if (ranges < RANGES)
        range[ranges++] = (struct range){(uintptr_t)base, bytes, device};
}

EXPORT void um_fake_pinned(void *base, size_t bytes) { add(base, bytes, 0); }

/* The newest range that holds every byte. */
static const struct range *range_of(const void *p, size_t bytes)
{
    for (int i = ranges; i-- > 0;)
        if ((uintptr_t)p - range[i].base < range[i].bytes && (uintptr_t)p - range[i].base + bytes <= range[i].bytes)
            return &range[i];
    return NULL;
}

static int is_device(const void *p)
{
    const struct range *r = range_of(p, 1);

    return r && r->device;
}

static int memory_file(void)
{
    static int file = -1;

    if (file < 0)
        file = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    return file;
}

/* by_gpu: the GPU cannot reach pageable memory. (The driver copies pageable memory by the CPU.) */
static void get(void *to, const void *from, size_t bytes, int by_gpu)
{
    if (by_gpu && !range_of(from, bytes))
        um_fake_wrong++;
    else if (!by_gpu && !range_of(from, bytes))
        memcpy(to, from, bytes);
    else if (pread(memory_file(), to, bytes, (off_t)(uintptr_t)from) != (ssize_t)bytes)
        um_fake_wrong++;
}

static void put(void *to, const void *from, size_t bytes, int by_gpu)
{
    if (by_gpu && !range_of(to, bytes))
        um_fake_wrong++;
    else if (!by_gpu && !range_of(to, bytes))
        memcpy(to, from, bytes);
    else if (pwrite(memory_file(), from, bytes, (off_t)(uintptr_t)to) != (ssize_t)bytes)
        um_fake_wrong++;
}

EXPORT cudaError_t cudaMalloc(void **out, size_t bytes)
{
    *out = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    add(*out, bytes, 1);
    return cudaSuccess;
}

EXPORT cudaError_t cudaHostRegister(void *base, size_t bytes, unsigned flags)
{
    (void)flags;
    add(base, bytes, 0);
    return cudaSuccess;
}
EXPORT cudaError_t cudaHostUnregister(void *base) { return (void)base, cudaSuccess; }

EXPORT cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
    memset(out, 0, sizeof *out);
    out->type = is_device(p) ? cudaMemoryTypeDevice : range_of(p, 1) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
    return cudaSuccess;
}

/* --- work --------------------------------------------------------------------------------------------------------- */

/* z := a x + b y + c, or a copy of bytes. */
struct work {
    double a, b, c;
    const void *x, *y;
    void *z;
    size_t bytes, height, x_pitch, z_pitch;
    int copies, by_gpu;
};
static struct work queue[256];
static int queued;

static void do_copy(const struct work *w)
{
    static char buffer[MOST];

    for (size_t i = 0; i < w->height; i++) {
        get(buffer, (const char *)w->x + i * w->x_pitch, w->bytes, w->by_gpu);
        put((char *)w->z + i * w->z_pitch, buffer, w->bytes, w->by_gpu);
    }
}

static void do_sum(const struct work *w)
{
    static double x[MOST / 8], y[MOST / 8];

    memset(y, 0, sizeof y);
    get(x, w->x, w->bytes, 1);
    if (w->y)
        get(y, w->y, w->bytes, 1);
    for (size_t i = 0; i < w->bytes / 8; i++)
        x[i] = w->a * x[i] + w->b * y[i] + w->c;
    put(w->z, x, w->bytes, 1);
}

static void drain(void)
{
    int n = queued;

    queued = 0;
    for (int i = 0; i < n; i++)
        queue[i].copies ? do_copy(&queue[i]) : do_sum(&queue[i]);
}

static int push(struct work w)
{
    if (queued == 256 || w.bytes > MOST)
        abort();
    queue[queued++] = w;
    return 0;
}

EXPORT cudaError_t cudaDeviceSynchronize(void) { return drain(), cudaSuccess; }
EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return (void)stream, drain(), cudaSuccess; }

EXPORT cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind, (void)stream;
    return push((struct work){.x = from, .z = to, .bytes = width, .height = height, .x_pitch = from_pitch,
                              .z_pitch = to_pitch, .copies = 1});
}

EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                   cudaStream_t stream)
{
    return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, NULL);
    return cudaDeviceSynchronize();
}

/* The only kernel: p[i] += value, for arguments p, n, value. */
EXPORT cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                    cudaStream_t stream)
{
    double *p = *(double **)arguments[0];

    (void)kernel, (void)grid, (void)block, (void)shared, (void)stream;
    return push((struct work){.a = 1, .c = *(double *)arguments[2], .x = p, .z = p,
                              .bytes = 8 * (size_t) * (int *)arguments[1]});
}

/* --- cuBLAS ------------------------------------------------------------------------------------------------------- */

static cublasPointerMode_t mode;

EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t *out) { return *out = (cublasHandle_t)&mode, 0; }
EXPORT cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) { return (void)handle, 0; }
EXPORT cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t h, cublasPointerMode_t *out)
{
    return (void)h, *out = mode, 0;
}
EXPORT cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t h, cublasPointerMode_t to)
{
    return (void)h, mode = to, 0;
}
EXPORT cublasStatus_t cublasGetStream_v2(cublasHandle_t h, cudaStream_t *out) { return (void)h, *out = NULL, 0; }

EXPORT cublasStatus_t cublasDgeam(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                  const double *alpha, const double *A, int lda, const double *beta, const double *B,
                                  int ldb, double *C, int ldc)
{
    (void)h, (void)ta, (void)tb, (void)lda, (void)ldb, (void)ldc;
    um_fake_passed++;
    return push((struct work){.a = *alpha, .b = *beta, .x = A, .y = B, .z = C, .bytes = 8 * (size_t)m * (size_t)n});
}

EXPORT cublasStatus_t cublasDaxpy_v2(cublasHandle_t h, int n, const double *alpha, const double *x, int incx, double *y,
                                     int incy)
{
    (void)h, (void)incx, (void)incy;
    um_fake_passed++;
    return push((struct work){.a = *alpha, .b = 1, .x = x, .y = y, .z = y, .bytes = 8 * (size_t)n});
}

/* --- the device --------------------------------------------------------------------------------------------------- */

EXPORT cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
EXPORT cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
EXPORT cudaError_t cudaSetDevice(int device) { return (void)device, cudaSuccess; }
EXPORT cudaError_t cudaGetLastError(void) { return cudaSuccess; }
EXPORT cudaError_t cudaFree(void *memory) { return (void)memory, cudaSuccess; }
EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    (void)stream;
    *status = um_fake_capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

/* For the module's call: this CUDA has no handles. */
EXPORT cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                                                cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                                const void *beta, cusparseDnVecDescr_t y, cudaDataType type,
                                                cusparseSpMVAlg_t alg, size_t *bytes)
{
    (void)handle, (void)op, (void)alpha, (void)a, (void)x, (void)beta, (void)y, (void)type, (void)alg, (void)bytes;
    return CUSPARSE_STATUS_NOT_INITIALIZED;
}
/* SPDX-License-Identifier: BSD-2-Clause */
