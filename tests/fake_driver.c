/* The few CUDA driver functions called by device/cuda/wake.c, for tests: they note the requests. */
#include "tests/fake_driver.h"

static struct fake_driver state = {.devices = 4, .retained = -1, .released = -1};

struct fake_driver *fake_driver(void) { return &state; }

int cuInit(unsigned flags)
{
    (void)flags;
    state.inits++;
    return state.broken;
}

int cuDeviceGetCount(int *count)
{
    *count = state.devices;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = 100 + ordinal;
    return ordinal < state.devices ? 0 : 101;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &state;
    state.by = pthread_self();
    state.retained = device;
    return state.refuses;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    state.released = device;
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
