/* The waits of a process before its first product on a GPU, step by step, without semcache: libraries, driver,
 * context, streams, pinned memory, device memory, handles, the first product and a later one.
 *
 *     cuda_start [n [devices]]     (4096, all devices)
 *
 * The libraries are opened at run time, one by one, to show the time of every library. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define STRING_(x) #x
#define STRING(x) STRING_(x)
/* The runtime and cuBLAS have had the same major version since 11. */
#define RUNTIME "libcudart.so." STRING(CUBLAS_VER_MAJOR)
#define CUBLAS_LT "libcublasLt.so." STRING(CUBLAS_VER_MAJOR)
#define CUBLAS "libcublas.so." STRING(CUBLAS_VER_MAJOR)
#define CUSPARSE "libcusparse.so." STRING(CUSPARSE_VER_MAJOR)

static double begin, last;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void step(const char *what, int failed)
{
    double t = now();

    printf("%-44s %8.4f s%s\n", what, t - last, failed ? "  FAILED" : "");
    last = now();
}

static void *open_library(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);

    step(name, !library);
    if (!library) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return library;
}

/* Calls NAME of a library with the type in the library's header. */
#define CALL(library, name, ...) ((__typeof__(name) *)dlsym(library, STRING(name)))(__VA_ARGS__)

static void *driver, *runtime, *blas, *sparse;

static void start_driver(void)
{
    int (*init)(unsigned), count = 0;

    driver = open_library("libcuda.so.1");
    *(void **)&init = dlsym(driver, "cuInit");
    step("cuInit", init(0));
    step("cudaGetDeviceCount", CALL(runtime, cudaGetDeviceCount, &count));
}

static void contexts(int devices)
{
    for (int d = devices - 1; d >= 0; d--) {
        CALL(runtime, cudaSetDevice, d);
        step("context of a device", CALL(runtime, cudaFree, NULL));
    }
    for (int to = 0; to < devices && devices > 1; to++) {
        CALL(runtime, cudaSetDevice, to);
        for (int from = 0; from < devices; from++)
            if (from != to)
                CALL(runtime, cudaDeviceEnablePeerAccess, from, 0);
        step("access to a device's peers", 0);
    }
    CALL(runtime, cudaSetDevice, 0);
}

static void small_things(void)
{
    struct cudaDeviceProp about;
    cudaStream_t stream;
    void *slots;
    int failed = 0;

    for (int i = 0; i < 10; i++)
        failed |= CALL(runtime, cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking) != cudaSuccess;
    step("ten streams", failed);
    step("cudaHostAlloc of 1 MiB", CALL(runtime, cudaHostAlloc, &slots, 1 << 20, cudaHostAllocMapped));
    step("cudaGetDeviceProperties", CALL(runtime, cudaGetDeviceProperties, &about, 0));
}

static void *matrix(size_t bytes, int touched)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(p, bytes, MADV_HUGEPAGE);
    if (touched)
        memset(p, 0, bytes);
    last = now();
    step(touched ? "pinning a matrix" : "pinning a matrix that was not touched",
         CALL(runtime, cudaHostRegister, p, bytes, cudaHostRegisterPortable));
    return p;
}

static void product(int n)
{
    size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    void *host[3], *device[3], *workspace;
    cublasHandle_t handle;
    double one = 1, zero = 0;

    for (int i = 0; i < 3; i++)
        host[i] = matrix(bytes, i < 2);
    for (int i = 0; i < 3; i++)
        CALL(runtime, cudaMalloc, &device[i], bytes);
    CALL(runtime, cudaMalloc, &workspace, 40 << 20);
    step("cudaMalloc of three matrices and 40 MiB", 0);
    step("cublasCreate", CALL(blas, cublasCreate_v2, &handle));
    step("cublasSetWorkspace", CALL(blas, cublasSetWorkspace_v2, handle, workspace, 32 << 20));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2; i++)
            CALL(runtime, cudaMemcpy, device[i], host[i], bytes, cudaMemcpyHostToDevice);
        step(round ? "later: two matrices up" : "two matrices up", 0);
        CALL(blas, cublasDgemm_v2, handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, device[0], n, device[1], n, &zero,
             device[2], n);
        step(round ? "later: the product" : "the product", CALL(runtime, cudaDeviceSynchronize));
        CALL(runtime, cudaMemcpy, host[2], device[2], bytes, cudaMemcpyDeviceToHost);
        step(round ? "later: one matrix down" : "one matrix down", 0);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 4096, devices = 0;
    cusparseHandle_t handle;

    begin = last = now();
    runtime = open_library(RUNTIME);
    start_driver();
    CALL(runtime, cudaGetDeviceCount, &devices);
    if (argc > 2 && atoi(argv[2]) < devices)
        devices = atoi(argv[2]);
    contexts(devices);
    small_things();
    open_library(CUBLAS_LT);
    blas = open_library(CUBLAS);
    product(n);
    sparse = open_library(CUSPARSE);
    step("cusparseCreate", CALL(sparse, cusparseCreate, &handle));
    printf("%-44s %8.4f s\n", "in all", now() - begin);
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
