/* The CUDA runtime's calls on managed memory through libsemcache-cuda-um, between cuBLAS calls that leave the newest
 * values on devices. Asserts that copies, fills and advice see and keep these values, and that errors are CUDA's. */
#include <stdint.h>
#include <string.h>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "tests/tap.h"
#include "tests/um.h"

enum { N = 200000 };

static cublasHandle_t blas;
static double *x, *y;

static double *managed(size_t count) { return um_managed(count * sizeof(double)); }

/* x becomes `value` on the devices. With CUDA alone, earlier work may still be running. */
static void scaled(double value)
{
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++)
        x[i] = 1;
    cublasDscal(blas, N, &value, x, 1);
}

static int all_are(const double *p, size_t count, double value)
{
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (p[i] != value)
            return 0;
    return 1;
}

/* --- allocation --------------------------------------------------------------------------------------------------- */

static void test_allocation(void)
{
    struct cudaPointerAttributes about;
    void *p = NULL;
    int here;

    tap_ok(cudaMallocManaged(&p, 0, cudaMemAttachGlobal) == cudaSuccess && cudaFree(p) == cudaSuccess, "no bytes");
    tap_ok(cudaMallocManaged(&p, 8, 77) == cudaErrorInvalidValue, "flags that there are not: an invalid value");
    tap_ok(cudaMallocManaged(&p, 8, cudaMemAttachHost) == cudaSuccess && p && cudaFree(p) == cudaSuccess, "8 bytes");
    tap_ok(cudaMallocManaged(&p, (size_t)1 << 62, cudaMemAttachGlobal) == cudaErrorMemoryAllocation, "2^62 bytes");
    tap_ok(cudaFree(NULL) == cudaSuccess, "cudaFree of nothing");
    tap_ok(cudaPointerGetAttributes(&about, x + 100) == cudaSuccess && about.type == cudaMemoryTypeManaged &&
               about.hostPointer == x + 100 && about.devicePointer == x + 100,
           "an address in it is managed");
    tap_ok(cudaPointerGetAttributes(&about, &here) == cudaSuccess && about.type == cudaMemoryTypeUnregistered,
           "the stack is not");
    tap_ok(cudaPointerGetAttributes(&about, x + N) == cudaSuccess && about.type != cudaMemoryTypeManaged,
           "what follows a block is not");
}

/* Blocks come and go while devices hold results; the library must find each block's kind. */
static void test_blocks(void)
{
    double *block[40], two = 2;
    int good = 1;

    for (int i = 0; i < 40; i++) {
        block[i] = managed(3000);
        for (int j = 0; j < 3000; j++)
            block[i][j] = i;
    }
    for (int i = 0; i < 40; i++)
        good = good && cublasDscal(blas, 3000, &two, block[i], 1) == CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < 40; i += 2)
        good = good && cudaFree(block[i]) == cudaSuccess;
    for (int i = 1; i < 40; i += 2) {
        struct cudaPointerAttributes about;

        good = good && cudaPointerGetAttributes(&about, block[i] + 2999) == cudaSuccess &&
               about.type == cudaMemoryTypeManaged && all_are(block[i], 3000, 2 * i) &&
               cudaFree(block[i]) == cudaSuccess;
    }
    tap_ok(good, "40 blocks, every other one freed with its result on a device");
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

static void test_copies(void)
{
    static double plain[N];
    const double three = 3;
    void *device = NULL;

    scaled(3);
    tap_ok(cudaMemcpy(plain, x, sizeof plain, cudaMemcpyDeviceToHost) == cudaSuccess && all_are(plain, N, 3),
           "cudaMemcpy to the host brings what a call has left on the devices");
    plain[7] = 8;
    tap_ok(cudaMemcpy(x, plain, sizeof plain, cudaMemcpyHostToDevice) == cudaSuccess && x[6] == 3 && x[7] == 8,
           "and back");
    scaled(4);
    tap_ok(cudaMemcpyAsync(y, x, sizeof plain, cudaMemcpyDeviceToDevice, NULL) == cudaSuccess &&
               cudaStreamSynchronize(NULL) == cudaSuccess && all_are(y, N, 4),
           "from managed to managed");
    scaled(5);
    tap_ok(cudaMemcpy(x + 1, plain, 8, cudaMemcpyDefault) == cudaSuccess && x[0] == 5 && x[1] == 3 && x[2] == 5,
           "a part, and what stands beside it stays");
    scaled(6);
    tap_ok(cudaMalloc(&device, sizeof plain) == cudaSuccess &&
               cudaMemcpy(device, x, sizeof plain, cudaMemcpyDeviceToDevice) == cudaSuccess &&
               cudaMemcpyAsync(y, device, sizeof plain, cudaMemcpyDeviceToDevice, NULL) == cudaSuccess &&
               cudaDeviceSynchronize() == cudaSuccess && all_are(y, N, 6),
           "by way of cudaMalloc's memory");
    scaled(7);
    tap_ok(cublasDscal(blas, N, &three, y, 1) == CUBLAS_STATUS_SUCCESS &&
               cudaMemcpy(device, x, sizeof plain, cudaMemcpyDeviceToDevice) == cudaSuccess &&
               cudaMemcpyAsync(y, device, sizeof plain, cudaMemcpyDeviceToDevice, NULL) == cudaSuccess &&
               cudaDeviceSynchronize() == cudaSuccess && all_are(y, N, 7) &&
               cublasDscal(blas, N, &three, y, 1) == CUBLAS_STATUS_SUCCESS && all_are(y, N, 21),
           "and over a result on the devices");
    tap_ok(cudaFree(device) == cudaSuccess, "which is freed");
    scaled(7);
    tap_ok(cudaMemcpy2D(y, 80, x, 160, 40, 1000, cudaMemcpyDefault) == cudaSuccess && all_are(y, 5, 7) && y[5] == 21 &&
               y[10] == 7,
           "rows of a pitch");
    tap_ok(cublasSetVector(100, 8, plain, 2, x, 3) == CUBLAS_STATUS_SUCCESS && x[0] == 3 && x[3] == 3 && x[1] == 7,
           "cublasSetVector");
    tap_ok(cublasGetMatrix(3, 2, 8, x, 4, plain, 3) == CUBLAS_STATUS_SUCCESS && plain[0] == 3 && plain[1] == 7 &&
               plain[3] == 7,
           "cublasGetMatrix");
    tap_ok(cublasSetVector(1, 8, plain, 0, x, 1) == CUBLAS_STATUS_INVALID_VALUE, "no step: an invalid value");
}

static void test_filling(void)
{
    scaled(2);
    tap_ok(cudaMemset(x, 0, N * sizeof *x) == cudaSuccess && all_are(x, N, 0), "cudaMemset");
    scaled(2);
    tap_ok(cudaMemsetAsync(x + 10, 0, 80, NULL) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess && x[9] == 2 &&
               all_are(x + 10, 10, 0) && x[20] == 2,
           "a part");
    scaled(2);
    tap_ok(cudaMemset2D(x, 32, 0, 8, 100) == cudaSuccess && x[0] == 0 && x[1] == 2 && x[4] == 0, "rows of a pitch");
}

/* --- the rest ----------------------------------------------------------------------------------------------------- */

/* The answer is CUDA's where devices and CPU cannot use managed memory at the same time: an invalid device. */
static void test_prefetch(struct cudaMemLocation where, const char *what)
{
    cudaError_t error = cudaMemPrefetchAsync(x, N * sizeof *x, where, 0, NULL);
    int concurrent = 1;

    cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0);
    if (!tap_ok((error == cudaSuccess || (error == cudaErrorInvalidDevice && !concurrent)) && all_are(x, N, 9), "%s",
                what))
        tap_diag("status %d, concurrent access %d", error, concurrent);
}

static void test_hints(void)
{
    struct cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, cpu = {cudaMemLocationTypeHost, 0};

    scaled(9);
    test_prefetch(cpu, "to the CPU");
    test_prefetch(device, "to a device");
    tap_ok(cudaMemAdvise(x, N * sizeof *x, cudaMemAdviseSetReadMostly, device) == cudaSuccess, "advice");
    tap_ok(cudaMemAdvise(x, (N + 1) * sizeof *x, cudaMemAdviseSetReadMostly, device) == cudaErrorInvalidValue,
           "advice on more than there is");
}

/* A result in device pointer mode feeds the next call as its alpha. */
static void test_scalars(void)
{
    double *result = managed(2), sum = 0;

    scaled(1);
    cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE);
    cublasDasum(blas, N, x, 1, result);
    cublasDscal(blas, N, result, x, 1);
    cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST);
    cublasDasum(blas, N, x, 1, &sum);
    cudaDeviceSynchronize();
    tap_ok(result[0] == N && sum == (double)N * N, "a scalar goes from call to call in managed memory");
    cudaFree(result);
}

static void test_streams(void)
{
    cudaStream_t stream, asked = NULL;
    cudaEvent_t from, to;
    float milliseconds = -1;
    double two = 2, sum;

    tap_ok(cudaStreamCreate(&stream) == cudaSuccess && cublasSetStream(blas, stream) == CUBLAS_STATUS_SUCCESS &&
               cublasGetStream(blas, &asked) == CUBLAS_STATUS_SUCCESS && asked == stream,
           "a stream of the program's");
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    cudaEventRecord(from, stream);
    scaled(1);
    cublasDaxpy(blas, N, &two, x, 1, x, 1);
    cublasDasum(blas, N, x, 1, &sum);
    cudaEventRecord(to, stream);
    tap_ok(cudaEventSynchronize(to) == cudaSuccess && cudaEventElapsedTime(&milliseconds, from, to) == cudaSuccess &&
               milliseconds >= 0 && sum == 3.0 * N && cudaStreamSynchronize(stream) == cudaSuccess && x[N - 1] == 3,
           "its events, and what its calls made");
    cublasSetStream(blas, NULL);
    tap_ok(!cudaEventDestroy(from) && !cudaEventDestroy(to) && !cudaStreamDestroy(stream), "gone");
}

int main(void)
{
    int devices = 0;

    tap_ok(cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0, "there is a device");
    tap_ok(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS, "a handle");
    x = managed(N);
    y = managed(N);
    test_allocation();
    test_blocks();
    test_copies();
    test_filling();
    test_hints();
    test_scalars();
    test_streams();
    tap_ok(cudaFree(x) == cudaSuccess && cudaFree(y) == cudaSuccess, "the memory is freed");
    tap_ok(cublasDestroy(blas) == CUBLAS_STATUS_SUCCESS && cudaDeviceReset() == cudaSuccess, "the end");
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
