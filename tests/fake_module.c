/* A device module without devices, for tests of how modules are opened: FAKE_MODULE says what is wrong with it. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"

static enum sc_status open_none(const struct sc_device_host *host, const char *spec, int *count)
{
    (void)host;
    *count = strcmp(spec, "bad") ? atoi(spec) : 0;
    return strcmp(spec, "bad") ? SC_OK : SC_ERR_INVALID;
}

static void close_none(void) { }

__attribute__((visibility("default"))) sc_device_module_entry semcache_device_module;

const struct sc_device_ops *semcache_device_module(void)
{
    static struct sc_device_ops ops = {.name = "fake", .open = open_none, .close = close_none};
    const char *wrong = getenv("FAKE_MODULE");

    ops.abi = SC_DEVICE_ABI + (wrong && !strcmp(wrong, "abi"));
    ops.size = (uint32_t)sizeof ops - (wrong && !strcmp(wrong, "size") ? 8 : 0);
    return wrong && !strcmp(wrong, "nothing") ? NULL : &ops;
}
