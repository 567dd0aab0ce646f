/* A module that claims to be CUDA's and has emulated devices. Tests use the module with um_fake_cuda.c, to which it
 * reports pinned memory. */
#include <dlfcn.h>
#include <stddef.h>

#include "base/config.h"
#include "device/device.h"

__attribute__((visibility("default"))) sc_device_module_entry semcache_device_module;

static enum sc_status open_devices(const struct sc_device_host *host, const char *spec, int *count)
{
    (void)spec;
    sc_config = *host->config; /* the emulated devices' own copy of the settings */
    return sc_device_emu()->open(host, "h200x8:2", count);
}

static enum sc_status pin(void *base, size_t bytes)
{
    void (*pinned)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "um_fake_pinned");

    if (pinned)
        pinned(base, bytes);
    return sc_device_emu()->pin(base, bytes);
}

/* CUDA's module calls CUDA with semcache's locks held: such calls pass through libsemcache-cuda-um unchanged. The fake
 * CUDA refuses this call, since it has no handle. */
static enum sc_status launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    int (*ask)(const void *, int, const void *, const void *, const void *, const void *, const void *, int, int,
               size_t *) = NULL;
    size_t bytes;

    *(void **)&ask = dlsym(RTLD_DEFAULT, "cusparseSpMV_bufferSize");
    if (ask && ask(NULL, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, &bytes) == 0)
        return SC_ERR_DEVICE;
    return sc_device_emu()->launch(device, stream, kernel);
}

const struct sc_device_ops *semcache_device_module(void)
{
    static struct sc_device_ops ops;

    ops = *sc_device_emu();
    ops.name = "cuda";
    ops.open = open_devices;
    ops.pin = pin;
    ops.launch = launch;
    return &ops;
}
/* SPDX-License-Identifier: BSD-2-Clause */
