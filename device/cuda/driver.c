/* The few driver calls without an equal in the runtime: the current context of a thread, and kernels built in as data
 * (in the runtime from CUDA 12.8 on).  The driver is opened at run time, because the build machine may have none. */
#include "device/cuda/cuda_int.h"

#include <dlfcn.h>
#include <signal.h>
#include <time.h>

static struct {
    void *library;
    CUresult (*init)(unsigned);
    CUresult (*device_get)(CUdevice *, int);
    CUresult (*device_name)(char *, int, CUdevice);
    CUresult (*primary_retain)(CUcontext *, CUdevice);
    CUresult (*primary_release)(CUdevice);
    CUresult (*current)(CUcontext *);
    CUresult (*push)(CUcontext);
    CUresult (*pop)(CUcontext *);
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*function)(CUfunction *, CUmodule, const char *);
    CUresult (*unload)(CUmodule);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                       void **, void **);
} driver;

static bool find(void *function, const char *name)
{
    /* POSIX requires that a function pointer fits into void *; ISO C has no cast between the two. */
    *(void **)function = dlsym(driver.library, name);
    return *(void **)function != NULL;
}

enum sc_status sc_cuda_driver_load(void)
{
    if (driver.library)
        return SC_OK;
    driver.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver.library) {
        sc_cuda_host->log(SC_LOG_INFO, "no CUDA driver on this machine (%s)", dlerror());
        return SC_ERR_UNSUPPORTED;
    }
    if (find(&driver.init, "cuInit") && find(&driver.device_get, "cuDeviceGet") &&
        find(&driver.device_name, "cuDeviceGetName") && find(&driver.primary_retain, "cuDevicePrimaryCtxRetain") &&
        find(&driver.primary_release, "cuDevicePrimaryCtxRelease_v2") && find(&driver.current, "cuCtxGetCurrent") &&
        find(&driver.push, "cuCtxPushCurrent_v2") && find(&driver.pop, "cuCtxPopCurrent_v2") &&
        find(&driver.load, "cuModuleLoadData") && find(&driver.function, "cuModuleGetFunction") &&
        find(&driver.unload, "cuModuleUnload") && find(&driver.launch, "cuLaunchKernel") &&
        driver.init(0) == CUDA_SUCCESS)
        return SC_OK;
    dlclose(driver.library);
    driver.library = NULL;
    sc_cuda_host->log(SC_LOG_INFO, "the CUDA driver does not start: no GPU, or one that this process may not use");
    return SC_ERR_UNSUPPORTED;
}

bool sc_cuda_driver_find(void *function, const char *name) { return find(function, name); }

enum sc_status sc_cuda_context_retain(struct sc_cuda_device *d)
{
    CUresult result = driver.device_get(&d->driver_device, d->ordinal);

    if (result == CUDA_SUCCESS)
        result = driver.primary_retain(&d->context, d->driver_device);
    if (result == CUDA_SUCCESS)
        return SC_OK;
    d->context = NULL;
    sc_cuda_host->log(SC_LOG_ERROR, "CUDA device %d does not start (driver error %d): leave it out with "
                      "SEMCACHE_DEVICE=cuda:LIST, or see nvidia-smi for who occupies it", d->ordinal, (int)result);
    return SC_ERR_DEVICE;
}

void sc_cuda_context_release(struct sc_cuda_device *d)
{
    if (d->context)
        driver.primary_release(d->driver_device);
    d->context = NULL;
}

/* From the driver: cudaGetDeviceProperties queries about a hundred properties, some of them slowly. */
void sc_cuda_device_name(const struct sc_cuda_device *d, char *name, size_t bytes)
{
    if (driver.device_name(name, (int)bytes, d->driver_device) != CUDA_SUCCESS)
        *name = '\0';
}

int sc_cuda_enter(const struct sc_cuda_device *d)
{
    CUcontext current = NULL;

    if (driver.current(&current) == CUDA_SUCCESS && current == d->context)
        return 0;
    return driver.push(d->context) == CUDA_SUCCESS;
}

void sc_cuda_leave(const int *pushed)
{
    CUcontext popped;

    if (*pushed)
        driver.pop(&popped);
}

/* The driver's error numbers are also the runtime's. */
static enum sc_status checked(CUresult result, const char *call)
{
    return result == CUDA_SUCCESS ? SC_OK : sc_cuda_failed((cudaError_t)result, call);
}

enum sc_status sc_cuda_module_load(CUmodule *module, const void *image, const char *name, CUfunction *function)
{
    CUresult result = driver.load(module, image);

    if (result == CUDA_SUCCESS)
        return sc_cuda_module_find(*module, name, function);
    *module = NULL;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return SC_ERR_DEVICE_MEMORY;
    sc_cuda_host->log(SC_LOG_INFO, "the driver does not take a kernel (%s, error %d): what it is for is done without",
                      name, (int)result);
    return SC_ERR_UNSUPPORTED;
}

enum sc_status sc_cuda_module_find(CUmodule module, const char *name, CUfunction *function)
{
    return checked(driver.function(function, module, name), "cuModuleGetFunction");
}

/* Stands for a module that the driver has refused: it is not asked again. */
static char refusal;
#define REFUSED ((CUmodule)(void *)&refusal)

bool sc_cuda_module_is_loaded(CUmodule module) { return module && module != REFUSED; }

enum sc_status sc_cuda_module_load_all(CUmodule *module, const void *image, const char *const *names, int count,
                                       CUfunction *functions)
{
    CUmodule loaded;
    enum sc_status status;

    if (*module)
        return *module == REFUSED ? SC_ERR_UNSUPPORTED : SC_OK;
    status = sc_cuda_module_load(&loaded, image, names[0], &functions[0]);
    for (int i = 1; i < count && status == SC_OK; i++)
        status = sc_cuda_module_find(loaded, names[i], &functions[i]);
    if (status == SC_OK) {
        *module = loaded;
        return SC_OK;
    }
    sc_cuda_module_unload(loaded);
    if (status == SC_ERR_UNSUPPORTED)
        *module = REFUSED;
    return SC_ERR_UNSUPPORTED;
}

void sc_cuda_module_unload(CUmodule module)
{
    if (sc_cuda_module_is_loaded(module))
        driver.unload(module);
}

enum sc_status sc_cuda_module_launch(CUfunction function, unsigned x, unsigned y, unsigned threads, cudaStream_t stream,
                                     void **arguments)
{
    return checked(driver.launch(function, x, y, 1, threads, 1, 1, 0, stream, arguments, NULL), "cuLaunchKernel");
}

/* --- threads of the module, and times of its start ---------------------------------------------------------------- */

bool sc_cuda_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, old;
    bool started;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* inherited by the thread */
    started = pthread_create(thread, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

double sc_cuda_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void sc_cuda_step(double *since, int device, const char *what)
{
    double t = sc_cuda_now();

    sc_cuda_host->log(SC_LOG_DEBUG, "start: device %d: %.3f s: %s", device, t - *since, what);
    *since = t;
}
/* SPDX-License-Identifier: BSD-2-Clause */
