/* Starts the driver and creates the first device's context while the CUDA module's libraries are loaded.  Both take 0.1
 * to 0.3 s, and are independent. */
#define _GNU_SOURCE
#include "device/cuda/wake.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/loader.h"
#include "device/share.h"

/* The driver's functions with the types of its ABI: handles are pointers, results and devices are integers. */
static struct {
    int (*init)(unsigned);
    int (*count)(int *);
    int (*device)(int *, int);
    int (*retain)(void **, int);
    int (*release)(int);
} driver;

static struct {
    pthread_t thread;
    bool started;
    int device;    /* number in the driver */
    bool retained; /* the thread holds the primary context */
} waking;

static bool find(void *library, void *function, const char *name)
{
    *(void **)function = sc_loader_symbol(library, name);
    return *(void **)function != NULL;
}

/* False without a driver, or if the driver does not start.  Silent, because the module reports the cause. */
static bool start_driver(void)
{
    void *library = sc_loader_open("libcuda.so.1", RTLD_NOW | RTLD_LOCAL); /* never closed: drivers do not survive
                                                                            * dlclose */

    return library && find(library, &driver.init, "cuInit") && find(library, &driver.count, "cuDeviceGetCount") &&
           find(library, &driver.device, "cuDeviceGet") &&
           find(library, &driver.retain, "cuDevicePrimaryCtxRetain") &&
           find(library, &driver.release, "cuDevicePrimaryCtxRelease_v2") && driver.init(0) == 0;
}

/* The first device that the module will open, or -1 if unknown. */
static int first_device(const struct sc_config *config, const char *spec)
{
    int count = 0;

    if (driver.count(&count) != 0 || count < 1)
        return -1;
    if (!*spec)
        return sc_device_share(config, count < SC_DEVICES_MAX ? count : SC_DEVICES_MAX).first;
    return config->ranks > 1 || *spec < '0' || *spec > '9' || atoi(spec) >= count ? -1 : atoi(spec);
}

static void *retain(void *host)
{
    void *context;

    ((const struct sc_device_host *)host)->thread_enter();
    waking.retained = driver.retain(&context, waking.device) == 0;
    return NULL;
}

void sc_cuda_wake(const struct sc_device_host *host, const char *spec)
{
    int first = start_driver() && !sc_device_is_unwanted(host) ? first_device(host->config, spec) : -1;

    waking.retained = false;
    waking.started = first >= 0 && driver.device(&waking.device, first) == 0 &&
                     pthread_create(&waking.thread, NULL, retain, (void *)host) == 0;
}

void sc_cuda_wake_join(void)
{
    if (waking.started)
        pthread_join(waking.thread, NULL);
    waking.started = false;
}

void sc_cuda_wake_end(void)
{
    sc_cuda_wake_join();
    if (waking.retained)
        driver.release(waking.device);
    waking.retained = false;
}
/* SPDX-License-Identifier: BSD-2-Clause */
