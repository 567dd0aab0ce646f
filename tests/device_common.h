/* Shared by the device tests: the device under test, the host BLAS, and pinned host memory. */
#ifndef SC_TESTS_DEVICE_COMMON_H
#define SC_TESTS_DEVICE_COMMON_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/inside.h"
#include "device/device.h"
#include "tap.h"
#include "tests/submit_env.h"

static void *host_blas_;

static inline void *host_blas_symbol(const char *name)
{
    if (!host_blas_)
        host_blas_ = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!host_blas_)
        host_blas_ = dlopen("libblas.so.3", RTLD_NOW | RTLD_LOCAL);
    return host_blas_ ? dlsym(host_blas_, name) : NULL;
}

static inline const struct sc_device_host *device_host(void)
{
    static const struct sc_device_host host = {.config = &sc_config, .blas_symbol = host_blas_symbol,
                                               .log = sc_log, .thread_enter = sc_inside_enter};
    static char machines[4096], modules[4096];
    const char *source = getenv("top_srcdir"), *build = getenv("top_builddir");

    snprintf(machines, sizeof machines, "%s/device/emu/machines", source ? source : ".");
    snprintf(modules, sizeof modules, "%s/.libs", build ? build : ".");
    sc_config.machine_path = machines;
    sc_config.module_path = modules;
    submit_as_tested();
    return &host;
}

static inline const char *device_setting(void)
{
    const char *setting = getenv("SEMCACHE_TEST_DEVICE");

    return setting && *setting ? setting : "emu:h200x8:2";
}

/* Opens the devices under test; skips the test if there is no device. */
static inline const struct sc_device_ops *device_open(int *count)
{
    const struct sc_device_ops *ops;
    enum sc_status status;

    if (!host_blas_symbol("dgemm_")) {
        printf("1..0 # SKIP no host BLAS\n");
        exit(0);
    }
    status = sc_device_open(device_host(), device_setting(), &ops, count);
    if (status || !ops)
        tap_skip_all_for_gpu(device_setting());
    return ops;
}

/* Whole pages of pinned memory. */
static inline void *pinned_new(const struct sc_device_ops *ops, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED || ops->pin(p, bytes)) {
        printf("Bail out! cannot pin %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

static inline void pinned_free(const struct sc_device_ops *ops, void *p, size_t bytes)
{
    ops->unpin(p, bytes);
    munmap(p, bytes);
}

static inline struct sc_copy2d plain_copy(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
    return (struct sc_copy2d){dst, src, bytes, bytes, bytes, 1, dst_device, src_device};
}

static inline struct sc_fence mark(const struct sc_device_ops *ops, int device, enum sc_stream stream)
{
    struct sc_fence fence = SC_FENCE_NONE;

    ops->mark(device, stream, &fence);
    return fence;
}

/* A block already filled with garbage: streams need not wait for the filling. */
static inline void *block_new(const struct sc_device_ops *ops, int device, size_t bytes)
{
    struct sc_fence ready;
    void *p;

    if (ops->alloc(device, bytes, &p, &ready) || ops->sync(ready)) {
        printf("Bail out! cannot allocate %zu bytes on device %d\n", bytes, device);
        exit(1);
    }
    return p;
}

/* Copies and waits. */
static inline enum sc_status move_now(const struct sc_device_ops *ops, void *dst, int dst_device, const void *src,
                                      int src_device, size_t bytes)
{
    struct sc_copy2d copy = plain_copy(dst, dst_device, src, src_device, bytes);
    int device = dst_device == SC_HOST ? src_device : dst_device;
    enum sc_stream up = src_device == SC_HOST ? SC_STREAM_H2D : SC_STREAM_PEER;
    enum sc_stream stream = dst_device == SC_HOST ? SC_STREAM_D2H : up;
    enum sc_status status = ops->copy(device, stream, &copy);

    return status ? status : ops->sync(mark(ops, device, stream));
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
