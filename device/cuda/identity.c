/* The identity of a device, and its power meter.
 *
 * The meter is part of NVIDIA's management library (NVML, libnvidia-ml.so.1), which comes with the driver.  Not every
 * toolkit has the header, so the three functions of the stable interface are declared here.  The library is opened at
 * the first query of energy, at no cost to programs that only compute.  Devices are found by PCI address, because
 * CUDA's numbers differ from NVML's (CUDA_VISIBLE_DEVICES). */
#include "device/cuda/cuda_int.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_once_t once;
    bool usable;
    int (*init)(void);
    int (*by_address)(const char *address, void **device);
    int (*millijoules)(void *device, unsigned long long *energy);
} nvml = {.once = PTHREAD_ONCE_INIT};

static bool find(void *library, void *function, const char *name)
{
    *(void **)function = dlsym(library, name);
    return *(void **)function != NULL;
}

static void open_library(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

    nvml.usable = library && find(library, &nvml.init, "nvmlInit_v2") &&
                  find(library, &nvml.by_address, "nvmlDeviceGetHandleByPciBusId_v2") &&
                  find(library, &nvml.millijoules, "nvmlDeviceGetTotalEnergyConsumption") && nvml.init() == 0;
}

enum sc_status sc_cuda_joules(int device, double *joules)
{
    unsigned long long energy;
    void *meter = NULL;

    pthread_once(&nvml.once, open_library);
    if (!nvml.usable || nvml.by_address(sc_cuda_device(device)->address, &meter) != 0 ||
        nvml.millijoules(meter, &energy) != 0)
        return SC_ERR_UNSUPPORTED;
    *joules = (double)energy * 1e-3;
    return SC_OK;
}

/* The version of the kernel module: the first word of a form like 580.82.07.  The other words differ between builds. */
static void driver_version(char *version, size_t bytes)
{
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    char line[512], *word, *rest = line;

    snprintf(version, bytes, "unknown");
    if (!file)
        return;
    if (fgets(line, sizeof line, file))
        while ((word = strsep(&rest, " \t\n")))
            if (*word && strspn(word, "0123456789.") == strlen(word) && strchr(word, '.')) {
                snprintf(version, bytes, "%.30s", word);
                break;
            }
    fclose(file);
}

void sc_cuda_identify(struct sc_cuda_device *d)
{
    char version[32];
    int cuda = 0;

    if (SC_CUDA(cudaDeviceGetPCIBusId(d->address, (int)sizeof d->address, d->ordinal)))
        d->address[0] = '\0';
    if (SC_CUDA(cudaDriverGetVersion(&cuda)))
        cuda = 0;
    driver_version(version, sizeof version);
    snprintf(d->properties.identity, sizeof d->properties.identity, "CUDA %d, driver %s, at %s", cuda, version,
             d->address);
}
/* SPDX-License-Identifier: BSD-2-Clause */
