/* A module that calls itself CUDA's and has emulated devices, for tests with um_fake_cuda.c, which it tells what is
 * pinned. */
#include <dlfcn.h>

#include "base/config.h"
#include "device/device.h"

__attribute__((visibility("default"))) sc_device_module_entry semcache_device_module;

static enum sc_status open_devices(const struct sc_device_host *host, const char *spec, int *count)
{
    (void)spec;
    sc_config = *host->config; /* the emulated devices' own copy of it */
    return sc_device_emu()->open(host, "h200x8:2", count);
}

static enum sc_status pin(void *base, size_t bytes)
{
    void (*pinned)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "um_fake_pinned");

    if (pinned)
        pinned(base, bytes);
    return sc_device_emu()->pin(base, bytes);
}

const struct sc_device_ops *semcache_device_module(void)
{
    static struct sc_device_ops ops;

    ops = *sc_device_emu();
    ops.name = "cuda";
    ops.open = open_devices;
    ops.pin = pin;
    return &ops;
}
