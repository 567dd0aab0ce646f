/* Mapped calls, kernels, unmapped functions and memory of cudaMalloc on the same data, with only the waits that CUDA
 * needs. Asserts that each sees the previous one's result, whoever wrote it. Runs on a GPU, or with um_fake_cuda.c in
 * place of CUDA.
 *
 *     um_foreign [fake]    fake: counts calls that reach CUDA, and accesses that would fail on a GPU */
#include <config.h>

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "tests/tap.h"

enum { N = 100000 };
static const size_t bytes = N * sizeof(double);

static cublasHandle_t blas;
static double *x, *y, *z;
static void *device;
static int fake, on_host; /* kernels read the host's memory */

static double *managed(void)
{
    void *memory = NULL;

    if (cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal) != cudaSuccess) {
        printf("Bail out! no managed memory\n");
        exit(99);
    }
    return memory;
}

static void set(double *p, double value)
{
    for (int i = 0; i < N; i++)
        p[i] = value;
}

static int all_are(const double *p, double value)
{
    for (int i = 0; i < N; i++)
        if (p[i] != value)
            return 0;
    return 1;
}

static int counter(const char *name)
{
    const int *at = dlsym(RTLD_DEFAULT, name);

    return at ? *at : 0;
}

/* p := value p, by semcache. */
static void scale(double *p, double value) { cublasDscal(blas, N, &value, p, 1); }

/* to := a + b by cuBLAS's own function. */
static int add(double *to, const double *a, const double *b)
{
    const double one = 1;

    return cublasDgeam(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, 1, &one, a, N, &one, b, N, to, N) == CUBLAS_STATUS_SUCCESS;
}

static double sum(const double *p)
{
    double result = -1;

    cublasDasum(blas, N, p, 1, &result);
    return result;
}

static void test_not_mapped(void)
{
    set(x, 1);
    set(y, 10);
    scale(x, 2);
    scale(y, 2);
    tap_ok(add(z, x, y) && sum(z) == 22.0 * N, "a function that is not mapped reads results, and its own is read");
    scale(z, 2);
    tap_ok(add(x, z, y) && cudaDeviceSynchronize() == cudaSuccess && all_are(x, 64), "again, read by the CPU");
    set(x, 3);
    tap_ok(add(y, x, x) && cudaDeviceSynchronize() == cudaSuccess && all_are(y, 6) && all_are(x, 3),
           "what the CPU has written since");
    scale(x, 2);
    tap_ok(add(y, x, x) && cudaMemset(x, 0, bytes) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess &&
               all_are(y, 12) && all_are(x, 0),
           "cudaMemset waits for it");
}

static void test_device_memory(void)
{
    double *d = device, one = 1;
    int passed;

    set(x, 1);
    scale(x, 5);
    tap_ok(cudaMemcpy(d, x, bytes, cudaMemcpyDefault) == cudaSuccess, "to memory of cudaMalloc");
    scale(x, 2);
    passed = counter("um_fake_passed");
    tap_ok(cublasDaxpy(blas, N, &one, d, 1, d, 1) == CUBLAS_STATUS_SUCCESS, "a call on that memory alone");
    tap_ok(cudaMemcpy(y, d, bytes, cudaMemcpyDefault) == cudaSuccess && all_are(y, 10) && sum(x) == 10.0 * N,
           "and back");
    set(y, 1);
    scale(y, 3);
    tap_ok(cublasDaxpy(blas, N, &one, d, 1, y, 1) == CUBLAS_STATUS_SUCCESS && sum(y) == 13.0 * N,
           "a call on both kinds of memory, its result read by a mapped one");
    scale(y, 2);
    tap_ok(cublasDaxpy(blas, N, &one, y, 1, d, 1) == CUBLAS_STATUS_SUCCESS &&
               cudaMemcpyAsync(z, d, bytes, cudaMemcpyDefault, NULL) == cudaSuccess && sum(z) == 36.0 * N,
           "the other way round");
    scale(z, 2);
    tap_ok(cublasDaxpy(blas, N, &one, y, 1, z, 1) == CUBLAS_STATUS_SUCCESS && sum(z) == 98.0 * N, "none of it");
    if (fake && on_host)
        tap_ok(counter("um_fake_passed") == passed + 3, "only the calls with that memory came through");
}

/* Scalars in memory of cudaMalloc. */
static void test_scalars(void)
{
    double *d = device, value = 4;

    set(x, 1);
    cudaMemcpy(d, &value, sizeof value, cudaMemcpyDefault);
    cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE);
    tap_ok(cublasDscal(blas, N, d, x, 1) == CUBLAS_STATUS_SUCCESS, "alpha is read there");
    tap_ok(cublasDasum(blas, N, x, 1, d + 1) == CUBLAS_STATUS_SUCCESS, "a result is written there");
    cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST);
    tap_ok(cudaMemcpy(&value, d + 1, sizeof value, cudaMemcpyDefault) == cudaSuccess && value == 4.0 * N,
           "and is right");
}

/* p[i] += value for i < n, as PTX text: this file needs no CUDA compiler. */
static const char kernel_text[] =
    ".version 7.0\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .global .align 8 .attribute(.managed) .f64 variable[4096];\n"
    ".visible .entry add(.param .u64 p, .param .u32 n, .param .f64 value)\n"
    "{\n"
    "    .reg .pred %beyond;\n"
    "    .reg .b32 %i, %n, %width, %place;\n"
    "    .reg .b64 %p, %at;\n"
    "    .reg .f64 %value, %x;\n"
    "    ld.param.u64 %p, [p];\n"
    "    ld.param.u32 %n, [n];\n"
    "    ld.param.f64 %value, [value];\n"
    "    cvta.to.global.u64 %p, %p;\n"
    "    mov.u32 %i, %ctaid.x;\n"
    "    mov.u32 %width, %ntid.x;\n"
    "    mov.u32 %place, %tid.x;\n"
    "    mad.lo.s32 %i, %i, %width, %place;\n"
    "    setp.ge.s32 %beyond, %i, %n;\n"
    "    @%beyond ret;\n"
    "    mul.wide.s32 %at, %i, 8;\n"
    "    add.s64 %at, %p, %at;\n"
    "    ld.global.f64 %x, [%at];\n"
    "    add.f64 %x, %x, %value;\n"
    "    st.global.f64 [%at], %x;\n"
    "    ret;\n"
    "}\n";

static const void *kernel;
static double *variable; /* as __managed__ double variable[4096] */
enum { V = 4096 };

/* By functions of the runtime that libsemcache-cuda-um does not map. The fake CUDA knows only this kernel. */
static int load_kernel(void)
{
    void *runtime = fake ? NULL : dlopen(SC_UM_CUDART, RTLD_NOW);
    __typeof__(&cudaLibraryLoadData) load = runtime ? dlsym(runtime, "cudaLibraryLoadData") : NULL;
    __typeof__(&cudaLibraryGetKernel) get = runtime ? dlsym(runtime, "cudaLibraryGetKernel") : NULL;
    __typeof__(&cudaLibraryGetManaged) managed_of = runtime ? dlsym(runtime, "cudaLibraryGetManaged") : NULL;
    cudaLibrary_t library;
    cudaKernel_t found;
    size_t size;

    if (fake) {
        kernel = kernel_text;
        *(void **)&managed_of = dlsym(RTLD_DEFAULT, "cudaLibraryGetManaged");
        managed_of((void **)&variable, &size, NULL, "variable");
    } else if (load && get && managed_of && !load(&library, kernel_text, NULL, NULL, 0, NULL, NULL, 0) &&
               !get(&found, library, "add") && !managed_of((void **)&variable, &size, library, "variable")) {
        kernel = found;
    }
    return kernel != NULL && variable != NULL;
}

static void launch_part(double *p, int n, double value)
{
    void *arguments[] = {&p, &n, &value};

    if (cudaLaunchKernel(kernel, (dim3){(N + 255) / 256, 1, 1}, (dim3){256, 1, 1}, arguments, 0, NULL) != cudaSuccess)
        tap_ok(0, "a kernel is launched");
}

static void launch(double *p, double value) { launch_part(p, N, value); }

static int variable_is(double value)
{
    int good = 1;

    for (int i = 0; i < V; i++)
        good &= variable[i] == value;
    return good;
}

/* A __managed__ variable is CUDA's own memory: calls on the variable go to CUDA, unless other operands are blocks. */
static void test_variable(void)
{
    double one = 1, result = 0;

    for (int i = 0; i < V; i++)
        variable[i] = 1;
    launch_part(variable, V, 1);
    set(x, 1);
    tap_ok(!cublasDaxpy(blas, V, &one, variable, 1, x, 1) && !cudaDeviceSynchronize() && x[0] == 3 && x[V - 1] == 3 &&
               x[V] == 1,
           "a __managed__ variable, written by a kernel, added to a block");
    tap_ok(!cublasDaxpy(blas, V, &one, x, 1, variable, 1) && !cudaDeviceSynchronize() && variable_is(5),
           "a block added to the variable");
    launch_part(variable, V, 1);
    tap_ok(!cublasDscal(blas, V, &one, variable, 1) && !cublasDasum(blas, V, variable, 1, &result) &&
               result == 6.0 * V,
           "calls on the variable alone");
    tap_ok(!cudaMemcpy(x, variable, V * sizeof *x, cudaMemcpyDefault) && x[V - 1] == 6 && x[V] == 1,
           "a copy to a block");
    launch(x, 1);
    tap_ok(!cudaMemcpy(variable, x, V * sizeof *x, cudaMemcpyDefault) && !cudaDeviceSynchronize() && variable_is(7),
           "and from a block");
}

static void test_kernels(void)
{
    double one = 1;

    if (!tap_ok(load_kernel(), "a kernel"))
        return;
    set(x, 1);
    set(y, 1);
    for (int i = 0; i < 5; i++) {
        scale(x, 2);
        launch(x, 1);
        cublasDaxpy(blas, N, &one, x, 1, y, 1);
    }
    launch(y, 0.5);
    tap_ok(cudaDeviceSynchronize() == cudaSuccess && all_are(x, 63) && all_are(y, 120.5), "kernels and calls in turn");
    launch(x, 1);
    tap_ok(cudaFree(z) == cudaSuccess && sum(x) == 64.0 * N, "a block is freed meanwhile");
    z = managed();
    set(z, 2);
    launch(z, 1);
    tap_ok(sum(z) == 3.0 * N, "a new block is within the GPU's reach");
    tap_ok(counter("um_fake_wrong") == 0, "no access that a GPU could not do");
}

/* Captured work belongs to CUDA: done when the graph is launched; the fake does it at the next wait. */
static void test_capture(void)
{
    int *capturing = dlsym(RTLD_DEFAULT, "um_fake_capturing"), passed;
    double one = 1;

    set(x, 1);
    set(y, 1);
    scale(x, 2);
    passed = counter("um_fake_passed");
    *capturing = 1;
    tap_ok(cublasDaxpy(blas, N, &one, x, 1, y, 1) == CUBLAS_STATUS_SUCCESS && counter("um_fake_passed") == passed + 1,
           "a captured call goes to CUDA");
    tap_ok(cudaMemcpyAsync(z, y, bytes, cudaMemcpyDefault, NULL) == cudaSuccess, "a captured copy");
    *capturing = 0;
    tap_ok(sum(z) == 3.0 * N && sum(y) == 3.0 * N && counter("um_fake_wrong") == 0, "both are right");
}

int main(int argc, char **argv)
{
    const char *kernels = getenv("SEMCACHE_UM_KERNELS");

    fake = argc > 1 && strcmp(argv[1], "fake") == 0;
    on_host = kernels && strcmp(kernels, "host") == 0;
    if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS || cudaMalloc(&device, bytes) != cudaSuccess) {
        printf("Bail out! no handle, or no memory\n");
        return 99;
    }
    x = managed();
    y = managed();
    z = managed();
    test_not_mapped();
    test_device_memory();
    test_scalars();
    test_kernels();
    test_variable();
    if (fake)
        test_capture();
    tap_ok(!cudaFree(x) && !cudaFree(y) && !cudaFree(z) && !cudaFree(device), "the memory is freed");
    cublasDestroy(blas);
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
