/* Preloaded into a program that uses CUDA devices: makes calls of the CUDA runtime, cuBLAS and cuSPARSE fail.
 *
 *     CUDA_FAIL=FUNCTION:N         the n-th call of the function fails.
 *     CUDA_FAIL=FUNCTION:N:ever    the n-th and every later call of the function fail.
 *     CUDA_FAIL=any:N[:ever]       counts calls of every function together; ever: the device is gone.
 *     CUDA_FAIL=count              no call fails; at its end a process prints the number of calls of each function.
 *
 * A failing call is reported on stderr. The arguments of these functions are integers or pointers, so one gate in
 * assembler serves every signature. The gate asks whether to fail, and jumps to the function or returns an error. */
#define _GNU_SOURCE
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRING_(x) #x
#define STRING(x) STRING_(x)
/* The runtime and cuBLAS have had the same major version since 11. */
#define RUNTIME "libcudart.so." STRING(CUBLAS_VER_MAJOR)
#define CUBLAS "libcublas.so." STRING(CUBLAS_VER_MAJOR)
#define CUSPARSE "libcusparse.so." STRING(CUSPARSE_VER_MAJOR)

/* The functions that the CUDA module calls, with the library and the error code of each. */
#define FUNCTIONS(F)                                                                                             \
    F(cudaMalloc, RUNTIME, cudaErrorMemoryAllocation) F(cudaHostRegister, RUNTIME, cudaErrorMemoryAllocation)    \
    F(cudaHostAlloc, RUNTIME, cudaErrorMemoryAllocation) F(cudaFree, RUNTIME, cudaErrorUnknown)                  \
    F(cudaFreeHost, RUNTIME, cudaErrorUnknown) F(cudaHostUnregister, RUNTIME, cudaErrorUnknown)                  \
    F(cudaMemcpyAsync, RUNTIME, cudaErrorUnknown) F(cudaMemcpy2DAsync, RUNTIME, cudaErrorUnknown)                \
    F(cudaMemcpyPeerAsync, RUNTIME, cudaErrorUnknown) F(cudaMemcpy3DPeerAsync, RUNTIME, cudaErrorUnknown)        \
    F(cudaMemsetAsync, RUNTIME, cudaErrorUnknown) F(cudaMemset2DAsync, RUNTIME, cudaErrorUnknown)                \
    F(cudaMemGetInfo, RUNTIME, cudaErrorUnknown) F(cudaEventCreateWithFlags, RUNTIME, cudaErrorUnknown)          \
    F(cudaEventDestroy, RUNTIME, cudaErrorUnknown) F(cudaEventQuery, RUNTIME, cudaErrorUnknown)                  \
    F(cudaEventRecord, RUNTIME, cudaErrorUnknown) F(cudaStreamWaitEvent, RUNTIME, cudaErrorUnknown)              \
    F(cudaStreamSynchronize, RUNTIME, cudaErrorUnknown) F(cudaDeviceSynchronize, RUNTIME, cudaErrorUnknown)      \
    F(cudaStreamCreateWithPriority, RUNTIME, cudaErrorUnknown) F(cudaStreamDestroy, RUNTIME, cudaErrorUnknown)   \
    F(cudaGetDeviceCount, RUNTIME, cudaErrorUnknown)                                                             \
    F(cudaDeviceGetAttribute, RUNTIME, cudaErrorUnknown) F(cudaDeviceGetPCIBusId, RUNTIME, cudaErrorUnknown)     \
    F(cudaDeviceCanAccessPeer, RUNTIME, cudaErrorUnknown) F(cudaDeviceEnablePeerAccess, RUNTIME, cudaErrorUnknown) \
    F(cudaDeviceGetStreamPriorityRange, RUNTIME, cudaErrorUnknown)                                               \
    F(cudaDriverGetVersion, RUNTIME, cudaErrorUnknown)                                                           \
    F(cublasCreate_v2, CUBLAS, CUBLAS_STATUS_ALLOC_FAILED)                                                       \
    F(cublasDestroy_v2, CUBLAS, CUBLAS_STATUS_EXECUTION_FAILED)                                                  \
    F(cublasSetStream_v2, CUBLAS, CUBLAS_STATUS_EXECUTION_FAILED)                                                \
    F(cublasSetWorkspace_v2, CUBLAS, CUBLAS_STATUS_EXECUTION_FAILED)                                             \
    F(cublasDgemm_v2_64, CUBLAS, CUBLAS_STATUS_EXECUTION_FAILED)                                                 \
    F(cublasDgemv_v2_64, CUBLAS, CUBLAS_STATUS_ALLOC_FAILED)                                                     \
    F(cublasDaxpy_v2_64, CUBLAS, CUBLAS_STATUS_EXECUTION_FAILED)                                                 \
    F(cublasDscal_v2_64, CUBLAS, CUBLAS_STATUS_EXECUTION_FAILED)                                                 \
    F(cublasDcopy_v2_64, CUBLAS, CUBLAS_STATUS_EXECUTION_FAILED)                                                 \
    F(cublasDdot_v2_64, CUBLAS, CUBLAS_STATUS_EXECUTION_FAILED)                                                  \
    F(cublasDnrm2_v2_64, CUBLAS, CUBLAS_STATUS_EXECUTION_FAILED)                                                 \
    F(cusparseCreate, CUSPARSE, CUSPARSE_STATUS_ALLOC_FAILED)                                                    \
    F(cusparseSetStream, CUSPARSE, CUSPARSE_STATUS_EXECUTION_FAILED)                                             \
    F(cusparseCreateCsr, CUSPARSE, CUSPARSE_STATUS_EXECUTION_FAILED)                                             \
    F(cusparseCreateDnVec, CUSPARSE, CUSPARSE_STATUS_EXECUTION_FAILED)                                           \
    F(cusparseSpMV_bufferSize, CUSPARSE, CUSPARSE_STATUS_EXECUTION_FAILED)                                       \
    F(cusparseSpMV_preprocess, CUSPARSE, CUSPARSE_STATUS_EXECUTION_FAILED)                                       \
    F(cusparseSpMV, CUSPARSE, CUSPARSE_STATUS_EXECUTION_FAILED)

/* The data of a gate; the assembler reads `error` at offset 0. */
struct gate {
    int error;      /* atomic */
    unsigned calls; /* atomic */
    void *behind;   /* atomic */
    const char *name, *library;
};

#define DECLARE(call, library, error) extern struct gate entry_##call __attribute__((visibility("hidden")));
FUNCTIONS(DECLARE)
#define DEFINE(call, library, error) struct gate entry_##call = {error, 0, NULL, #call, library};
FUNCTIONS(DEFINE)
#define LIST(call, library, error) &entry_##call,
static struct gate *const gates[] = {FUNCTIONS(LIST)};

static unsigned all_calls; /* atomic */

/* Whether call n of the function is to fail. */
static bool is_asked(const char *ask, const char *name, unsigned n)
{
    size_t length = strlen(name);
    unsigned long nth;
    char *end;

    if (!ask || strncmp(ask, name, length) != 0 || ask[length] != ':')
        return false;
    nth = strtoul(ask + length + 1, &end, 10);
    if (n < nth || (n > nth && strcmp(end, ":ever") != 0))
        return false;
    if (n == nth)
        fprintf(stderr, "cuda_faults: %s %lu fails as asked\n", name, nth);
    return true;
}

/* The definition behind this library. The libraries linked with the CUDA module are outside of the scope that RTLD_NEXT
 * searches. */
static void *behind(struct gate *f)
{
    void *found = __atomic_load_n(&f->behind, __ATOMIC_ACQUIRE), *handle;

    if (found)
        return found;
    handle = dlopen(f->library, RTLD_LAZY | RTLD_NOLOAD);
    found = handle ? dlsym(handle, f->name) : NULL;
    if (!found) {
        fprintf(stderr, "cuda_faults: no %s in %s\n", f->name, f->library);
        abort(); /* without the function there is no test */
    }
    __atomic_store_n(&f->behind, found, __ATOMIC_RELEASE);
    return found;
}

/* The error code of a library whose device is gone. */
static int general_error(const char *library)
{
    return strcmp(library, RUNTIME) == 0  ? (int)cudaErrorUnknown
           : strcmp(library, CUBLAS) == 0 ? (int)CUBLAS_STATUS_EXECUTION_FAILED
                                          : (int)CUSPARSE_STATUS_EXECUTION_FAILED;
}

/* For a gate: where to go on, or NULL. */
void *cuda_faults_next(struct gate *f) __attribute__((used, visibility("hidden")));
void *cuda_faults_next(struct gate *f)
{
    const char *ask = getenv("CUDA_FAIL");
    unsigned n = __atomic_add_fetch(&f->calls, 1, __ATOMIC_RELAXED);
    unsigned all = __atomic_add_fetch(&all_calls, 1, __ATOMIC_RELAXED);

    if (is_asked(ask, f->name, n))
        return NULL;
    if (!is_asked(ask, "any", all))
        return behind(f);
    __atomic_store_n(&f->error, general_error(f->library), __ATOMIC_RELAXED);
    return NULL;
}

/* Saves the six registers of arguments, and aligns the stack; further arguments are on the stack and stay in place. */
#define GATE(call, library, error)                                                                               \
    __asm__(".text\n.globl " #call "\n.type " #call ", @function\n" #call ":\n"                                  \
            "pushq %rdi\npushq %rsi\npushq %rdx\npushq %rcx\npushq %r8\npushq %r9\nsubq $8, %rsp\n"              \
            "leaq entry_" #call "(%rip), %rdi\ncall cuda_faults_next\n"                                         \
            "addq $8, %rsp\npopq %r9\npopq %r8\npopq %rcx\npopq %rdx\npopq %rsi\npopq %rdi\n"                    \
            "testq %rax, %rax\nje 1f\njmp *%rax\n1: movl entry_" #call "(%rip), %eax\nret\n"                     \
            ".size " #call ", . - " #call "\n");
FUNCTIONS(GATE)

__attribute__((destructor)) static void say_counts(void)
{
    const char *ask = getenv("CUDA_FAIL");

    if (!ask || strcmp(ask, "count") != 0 || !all_calls)
        return;
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++)
        if (gates[i]->calls)
            fprintf(stderr, "cuda_faults: %s called %u\n", gates[i]->name, gates[i]->calls);
    fprintf(stderr, "cuda_faults: any called %u\n", all_calls);
}
/* SPDX-License-Identifier: BSD-2-Clause */
