/* To be preloaded into a program that uses CUDA devices: the n-th call of one function of the CUDA runtime or cuBLAS
 * fails (and, with "ever", all after it).  CUDA_FAIL=FUNCTION:N or FUNCTION:N:ever; says so on stderr when it does. */
#define _GNU_SOURCE
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long calls; /* of the function that is asked for; atomic */

static bool fails(const char *name)
{
    const char *ask = getenv("CUDA_FAIL");
    size_t length = strlen(name);
    unsigned long n, nth;
    char *end;

    if (!ask || strncmp(ask, name, length) != 0 || ask[length] != ':')
        return false;
    nth = strtoul(ask + length + 1, &end, 10);
    n = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (n < nth || (n > nth && strcmp(end, ":ever") != 0))
        return false;
    if (n == nth)
        fprintf(stderr, "cuda_faults: %s %lu fails as asked\n", name, nth);
    return true;
}

/* The definition behind this library: of the libraries that the CUDA module is linked with, which are not in the scope
 * that RTLD_NEXT searches. */
static void *behind(void **slot, const char *name, const char *library)
{
    void *found = __atomic_load_n(slot, __ATOMIC_ACQUIRE), *handle;

    if (found)
        return found;
    handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    found = handle ? dlsym(handle, name) : NULL;
    if (!found) {
        fprintf(stderr, "cuda_faults: no %s in %s\n", name, library);
        abort(); /* a test without the thing that it is about */
    }
    __atomic_store_n(slot, found, __ATOMIC_RELEASE);
    return found;
}

#define STRING_(x) #x
#define STRING(x) STRING_(x)
/* The two have had the same major version since 11. */
#define RUNTIME "libcudart.so." STRING(CUBLAS_VER_MAJOR)
#define CUBLAS "libcublas.so." STRING(CUBLAS_VER_MAJOR)

#define WRAP(result, error, library, name, parameters, arguments)                                                     \
    __attribute__((visibility("default"))) result name parameters                                                    \
    {                                                                                                                \
        static void *slot;                                                                                           \
        return fails(STRING_(name)) ? error : ((__typeof__(name) *)behind(&slot, STRING_(name), library)) arguments; \
    }

WRAP(cudaError_t, cudaErrorMemoryAllocation, RUNTIME, cudaMalloc, (void **memory, size_t bytes), (memory, bytes))
WRAP(cudaError_t, cudaErrorMemoryAllocation, RUNTIME, cudaHostRegister, (void *base, size_t bytes, unsigned flags),
     (base, bytes, flags))
WRAP(cudaError_t, cudaErrorUnknown, RUNTIME, cudaMemcpyAsync,
     (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
     (to, from, bytes, kind, stream))
WRAP(cudaError_t, cudaErrorUnknown, RUNTIME, cudaMemcpy2DAsync,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
      enum cudaMemcpyKind kind, cudaStream_t stream),
     (to, to_pitch, from, from_pitch, width, height, kind, stream))
WRAP(cudaError_t, cudaErrorUnknown, RUNTIME, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
WRAP(cudaError_t, cudaErrorUnknown, RUNTIME, cudaStreamWaitEvent,
     (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))
WRAP(cublasStatus_t, CUBLAS_STATUS_EXECUTION_FAILED, CUBLAS, cublasDgemm_v2_64,
     (cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
      int64_t k, const double *alpha, const double *a, int64_t lda, const double *b, int64_t ldb, const double *beta,
      double *c, int64_t ldc),
     (handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))
WRAP(cublasStatus_t, CUBLAS_STATUS_ALLOC_FAILED, CUBLAS, cublasDgemv_v2_64,
     (cublasHandle_t handle, cublasOperation_t trans, int64_t m, int64_t n, const double *alpha, const double *a,
      int64_t lda,
      const double *x, int64_t incx, const double *beta, double *y, int64_t incy),
     (handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy))
WRAP(cublasStatus_t, CUBLAS_STATUS_EXECUTION_FAILED, CUBLAS, cublasDaxpy_v2_64,
     (cublasHandle_t handle, int64_t n, const double *alpha, const double *x, int64_t incx, double *y, int64_t incy),
     (handle, n, alpha, x, incx, y, incy))
