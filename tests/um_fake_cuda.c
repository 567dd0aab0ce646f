/* A CUDA without a GPU, preloaded behind libsemcache-cuda-um, for tests of the library together with CUDA. The fake is
 * stricter than a GPU:
 *   work is done when the program waits for it: a missing wait gives wrong results;
 *   memory of cudaMalloc is closed for the CPU;
 *   host memory is accessed past its protection, as by DMA, and only where it is pinned;
 *   memory of one address is separate from the host's, and exists only where the module has placed it. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
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

#include "base/fence.h"

#define EXPORT __attribute__((visibility("default")))

/* Read and set by the test and its module. */
EXPORT int um_fake_wrong;  /* accesses that would fail on a GPU */
EXPORT int um_fake_passed; /* number of BLAS calls of this library */
EXPORT size_t um_fake_works; /* kernels, copies and other work given to this library */
EXPORT size_t um_fake_asked; /* other calls of this library and of the module; tests count them from launch to launch */
EXPORT int um_fake_capturing; /* set by the test: every stream reports a capture in progress */
EXPORT size_t um_fake_up, um_fake_home; /* bytes that semcache has copied from and to the host */
EXPORT void um_fake_pinned(void *base, size_t bytes);
/* The module's addresses have device memory at `image`; NULL: none. */
EXPORT void um_fake_placed(void *base, size_t bytes, void *image, int device);
EXPORT void um_fake_gone(void *base, size_t bytes); /* neither pinned nor reserved any more */
EXPORT void um_fake_idle(void);
/* Later work is done after wait(fence). */
EXPORT void um_fake_behind(void (*wait)(struct sc_fence fence), struct sc_fence fence);

/* --- memory ------------------------------------------------------------------------------------------------------- */

enum { RANGES = 4096, MOST = 1 << 21 };
enum kind { PINNED, VARIABLE, DEVICE, PLACED, GONE }; /* VARIABLE: managed by CUDA, reached by all */
static struct range {
    uintptr_t base;
    size_t bytes;
    enum kind kind;
    char *image; /* PLACED: device memory, or NULL */
    int device;  /* of the image */
} range[RANGES];
static int ranges;
/* Work may be drained by the thread of semcache's faults. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(void *base, size_t bytes, enum kind kind, char *image, int device)
{
    for (int i = 0; i < ranges; i++) /* only the newest counts */
        if (range[i].base == (uintptr_t)base && range[i].bytes == bytes) {
            memmove(&range[i], &range[i + 1], (size_t)(ranges - i - 1) * sizeof *range);
            __atomic_store_n(&ranges, ranges - 1, __ATOMIC_RELEASE);
        }
    if (ranges == RANGES)
        abort();
    range[ranges] = (struct range){(uintptr_t)base, bytes, kind, image, device};
    __atomic_store_n(&ranges, ranges + 1, __ATOMIC_RELEASE);
}

EXPORT void um_fake_pinned(void *base, size_t bytes) { add(base, bytes, PINNED, NULL, 0); }
EXPORT void um_fake_placed(void *base, size_t bytes, void *image, int device)
{
    add(base, bytes, PLACED, image, device);
}
EXPORT void um_fake_gone(void *base, size_t bytes) { add(base, bytes, GONE, NULL, 0); }

/* The newest range that holds every byte. */
static const struct range *range_of(const void *p, size_t bytes)
{
    for (int i = ranges; i-- > 0;)
        if ((uintptr_t)p - range[i].base < range[i].bytes && (uintptr_t)p - range[i].base + bytes <= range[i].bytes)
            return range[i].kind == GONE ? NULL : &range[i];
    return NULL;
}

static int is_device(const void *p)
{
    const struct range *r = range_of(p, 1);

    return r && r->kind >= DEVICE;
}

static int current;    /* device of the calling thread */
static int at_work;    /* device of the work that is being done */

/* The device's memory at an address of the host, or NULL. */
static char *image_of(const void *p, size_t bytes)
{
    const struct range *r = range_of(p, bytes);

    if (r && r->image && r->device != at_work && getenv("UM_MODULE_APART"))
        um_fake_wrong++;
    return r && r->image ? r->image + ((uintptr_t)p - r->base) : NULL;
}

static int is_reserved(const void *p)
{
    const struct range *r = range_of(p, 1);

    return r && r->kind == PLACED;
}

static int memory_file(void)
{
    static int file = -1;

    if (file < 0)
        file = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    return file;
}

/* by_gpu: the GPU cannot reach pageable memory. (The driver copies pageable memory by the CPU.) */
static void get_piece(void *to, const void *from, size_t bytes, int by_gpu)
{
    if (image_of(from, bytes))
        memcpy(to, image_of(from, bytes), bytes);
    else if (is_reserved(from) || (by_gpu && !range_of(from, bytes)))
        um_fake_wrong++;
    else if (!by_gpu && !range_of(from, bytes))
        memcpy(to, from, bytes);
    else if (pread(memory_file(), to, bytes, (off_t)(uintptr_t)from) != (ssize_t)bytes)
        um_fake_wrong++;
}

static void put_piece(void *to, const void *from, size_t bytes, int by_gpu)
{
    if (image_of(to, bytes))
        memcpy(image_of(to, bytes), from, bytes);
    else if (is_reserved(to) || (by_gpu && !range_of(to, bytes)))
        um_fake_wrong++;
    else if (!by_gpu && !range_of(to, bytes))
        memcpy(to, from, bytes);
    else if (pwrite(memory_file(), from, bytes, (off_t)(uintptr_t)to) != (ssize_t)bytes)
        um_fake_wrong++;
}

/* Bytes up to the next multiple of 4096, where memory of another kind may begin. */
static size_t piece_of(const void *p, size_t bytes)
{
    size_t left = 4096 - (uintptr_t)p % 4096;

    return bytes < left ? bytes : left;
}

static void get(void *to, const void *from, size_t bytes, int by_gpu)
{
    for (size_t at = 0, n; at < bytes; at += n) {
        n = piece_of((const char *)from + at, bytes - at);
        get_piece((char *)to + at, (const char *)from + at, n, by_gpu);
    }
}

static void put(void *to, const void *from, size_t bytes, int by_gpu)
{
    for (size_t at = 0, n; at < bytes; at += n) {
        n = piece_of((char *)to + at, bytes - at);
        put_piece((char *)to + at, (const char *)from + at, n, by_gpu);
    }
}

static void asked(void) { __atomic_fetch_add(&um_fake_asked, 1, __ATOMIC_RELAXED); }

EXPORT size_t um_fake_left = SIZE_MAX; /* of the device's memory, for cudaMalloc; set by the test */
EXPORT void um_fake_spared(void *none, size_t bytes);
EXPORT void um_fake_spared(void *none, size_t bytes)
{
    (void)none;
    um_fake_left += um_fake_left == SIZE_MAX ? 0 : bytes;
}

EXPORT cudaError_t cudaMalloc(void **out, size_t bytes)
{
    asked();
    if (bytes > um_fake_left)
        return cudaErrorMemoryAllocation;
    um_fake_left -= um_fake_left == SIZE_MAX ? 0 : bytes;
    *out = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    add(*out, bytes, DEVICE, NULL, current);
    return cudaSuccess;
}

EXPORT cudaError_t cudaHostRegister(void *base, size_t bytes, unsigned flags)
{
    (void)flags;
    asked();
    if (is_reserved(base)) /* CUDA refuses memory that it has given out itself */
        return cudaErrorInvalidValue;
    add(base, bytes, PINNED, NULL, 0);
    return cudaSuccess;
}
EXPORT cudaError_t cudaHostUnregister(void *base) { return (void)base, cudaSuccess; }

EXPORT cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
    const struct range *r = range_of(p, 1);

    asked();
    memset(out, 0, sizeof *out);
    out->type = !r                     ? cudaMemoryTypeUnregistered
                : r->kind == PINNED    ? cudaMemoryTypeHost
                : r->kind == VARIABLE  ? cudaMemoryTypeManaged
                                       : cudaMemoryTypeDevice;
    return cudaSuccess;
}

/* --- work --------------------------------------------------------------------------------------------------------- */

/* z := a x + b y + c, a copy of bytes, a fill with a byte, the sum of magnitudes of x, or a wait. */
struct work {
    enum { SUM, COPY, FILL, MAGNITUDES, WAIT } what;
    double a, b, c;
    const double *a_at; /* device memory with a, or NULL */
    const void *x, *y;
    void *z;
    size_t bytes, height, x_pitch, z_pitch;
    int byte, by_gpu, device;
    void (*wait)(struct sc_fence fence);
    struct sc_fence fence;
};
enum { QUEUE = 4096 };
static struct work queue[QUEUE];
static int queued;

static void do_copy(const struct work *w)
{
    static char buffer[MOST];

    for (size_t i = 0; i < w->height; i++) {
        get(buffer, (const char *)w->x + i * w->x_pitch, w->bytes, w->by_gpu);
        put((char *)w->z + i * w->z_pitch, buffer, w->bytes, w->by_gpu);
    }
}

static void do_fill(const struct work *w)
{
    static char buffer[MOST];

    memset(buffer, w->byte, w->bytes);
    for (size_t i = 0; i < w->height; i++)
        put((char *)w->z + i * w->z_pitch, buffer, w->bytes, 1);
}

static void do_magnitudes(const struct work *w)
{
    static double x[MOST / 8];
    double sum = 0;

    get(x, w->x, w->bytes, 1);
    for (size_t i = 0; i < w->bytes / 8; i++)
        sum += fabs(x[i]);
    put(w->z, &sum, sizeof sum, w->by_gpu);
}

static void do_sum(const struct work *w)
{
    static double x[MOST / 8], y[MOST / 8];
    double a = w->a;

    if (w->a_at)
        get(&a, w->a_at, sizeof a, 1);

    memset(y, 0, sizeof y);
    get(x, w->x, w->bytes, 1);
    if (w->y)
        get(y, w->y, w->bytes, 1);
    for (size_t i = 0; i < w->bytes / 8; i++)
        x[i] = a * x[i] + w->b * y[i] + w->c;
    put(w->z, x, w->bytes, 1);
}

static void do_wait(const struct work *w) { w->wait(w->fence); }

static void drain(void)
{
    static void (*const run[])(const struct work *) = {do_sum, do_copy, do_fill, do_magnitudes, do_wait};

    pthread_mutex_lock(&lock);
    for (int i = 0; i < queued; i++) {
        at_work = queue[i].device;
        run[queue[i].what](&queue[i]);
    }
    queued = 0;
    pthread_mutex_unlock(&lock);
}

EXPORT void um_fake_idle(void) { drain(); }

static int push(struct work w)
{
    pthread_mutex_lock(&lock);
    if (queued == QUEUE || w.bytes > MOST)
        abort();
    w.device = current;
    um_fake_works++;
    queue[queued++] = w;
    pthread_mutex_unlock(&lock);
    return 0;
}

EXPORT void um_fake_behind(void (*wait)(struct sc_fence fence), struct sc_fence fence)
{
    push((struct work){.what = WAIT, .wait = wait, .fence = fence});
}

EXPORT cudaError_t cudaDeviceSynchronize(void) { return asked(), drain(), cudaSuccess; }
EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return (void)stream, cudaDeviceSynchronize(); }

EXPORT cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind, (void)stream;
    return push((struct work){.x = from, .z = to, .bytes = width, .height = height, .x_pitch = from_pitch,
                              .z_pitch = to_pitch, .what = COPY});
}

EXPORT cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int byte, size_t width, size_t height,
                                     cudaStream_t stream)
{
    (void)stream;
    return push((struct work){.z = to, .bytes = width, .height = height, .z_pitch = pitch, .byte = byte, .what = FILL});
}

EXPORT cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream)
{
    return cudaMemset2DAsync(to, bytes, byte, bytes, 1, stream);
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

/* Every kernel is a text, and does p[i] += value for i < n.  The kernel "structure" has one parameter.  The parameters
 * of all others are p, n, value. */
struct parameters {
    double value;
    int n;
    double *p;
};

static int has_structure(const void *kernel) { return strcmp(kernel, "structure") == 0; }

EXPORT cudaError_t um_fake_error; /* the last error, as CUDA keeps it; set by the test */
EXPORT cudaError_t cudaPeekAtLastError(void) { return asked(), um_fake_error; }
EXPORT cudaError_t cudaGetLastError(void)
{
    cudaError_t error = um_fake_error;

    asked();
    um_fake_error = cudaSuccess;
    return error;
}

EXPORT cudaError_t cudaFuncGetParamInfo(const void *kernel, size_t number, size_t *offset, size_t *bytes)
{
    static const size_t sizes[] = {sizeof(double *), sizeof(int), sizeof(double)};

    asked();
    if (number >= (has_structure(kernel) ? 1 : 3))
        return um_fake_error = cudaErrorInvalidValue;
    *bytes = has_structure(kernel) ? sizeof(struct parameters) : sizes[number];
    *offset = 8 * number;
    return cudaSuccess;
}

/* Every name is one variable. */
EXPORT cudaError_t cudaLibraryGetManaged(void **out, size_t *bytes, cudaLibrary_t library, const char *name)
{
    static double variable[4096];

    (void)library, (void)name;
    if (!range_of(variable, sizeof variable))
        add(variable, sizeof variable, VARIABLE, NULL, 0);
    *out = variable;
    *bytes = sizeof variable;
    return cudaSuccess;
}

EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t library) { return (void)library, cudaSuccess; }

EXPORT cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                    cudaStream_t stream)
{
    struct parameters a;

    (void)grid, (void)block, (void)shared, (void)stream;
    if (has_structure(kernel))
        a = *(struct parameters *)arguments[0];
    else
        a = (struct parameters){*(double *)arguments[2], *(int *)arguments[1], *(double **)arguments[0]};
    return push((struct work){.a = 1, .c = a.value, .x = a.p, .z = a.p, .bytes = 8 * (size_t)a.n});
}

EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *configuration, const void *kernel, void **arguments)
{
    return cudaLaunchKernel(kernel, configuration->gridDim, configuration->blockDim, arguments, 0, NULL);
}

/* What the code made by nvcc calls.  A name without the prefix of any library. */
EXPORT cudaError_t __cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                      cudaStream_t stream);
EXPORT cudaError_t __cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                      cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
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
    return push((struct work){.a = mode ? 0 : *alpha, .a_at = mode ? alpha : NULL, .b = 1, .x = x, .y = y, .z = y,
                              .bytes = 8 * (size_t)n});
}

EXPORT cublasStatus_t cublasDscal_v2(cublasHandle_t h, int n, const double *alpha, double *x, int incx)
{
    (void)h, (void)incx;
    um_fake_passed++;
    return push((struct work){.a = mode ? 0 : *alpha, .a_at = mode ? alpha : NULL, .x = x, .z = x,
                              .bytes = 8 * (size_t)n});
}

/* A result for the host is stored by the driver, which takes an address of its own for the device's. */
EXPORT cublasStatus_t cublasDasum_v2(cublasHandle_t h, int n, const double *x, int incx, double *result)
{
    (void)h, (void)incx;
    um_fake_passed++;
    if (!mode && is_reserved(result))
        um_fake_wrong++;
    push((struct work){.x = x, .z = result, .bytes = 8 * (size_t)n, .by_gpu = mode != 0, .what = MAGNITUDES});
    return mode ? 0 : (drain(), 0);
}

/* --- a library without any mapped function ------------------------------------------------------------------------ */

/* to := 2 from; n is the plan, direction is ignored. */
EXPORT int cufftExecZ2Z(int n, const double *from, double *to, int direction);
EXPORT int cufftExecZ2Z(int n, const double *from, double *to, int direction)
{
    (void)direction;
    return push((struct work){.a = 2, .x = from, .z = to, .bytes = 8 * (size_t)n});
}

/* --- the device --------------------------------------------------------------------------------------------------- */

/* UM_FAKE_GPUS: their number. */
EXPORT cudaError_t cudaGetDeviceCount(int *count)
{
    const char *text = getenv("UM_FAKE_GPUS");

    asked();
    *count = text ? atoi(text) : 2;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGetDevice(int *device) { return asked(), *device = current, cudaSuccess; }
EXPORT cudaError_t cudaSetDevice(int device) { return asked(), current = device, cudaSuccess; }
EXPORT cudaError_t cudaFree(void *memory) { return (void)memory, cudaSuccess; }
EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    (void)stream;
    asked();
    *status = um_fake_capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
/* SPDX-License-Identifier: BSD-2-Clause */
