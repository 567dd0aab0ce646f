/* Opens the CUDA module for a test or a benchmark, by path, without the library. */
#ifndef SC_TESTS_CUDA_MODULE_H
#define SC_TESTS_CUDA_MODULE_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/device.h"

static void cuda_module_log(enum sc_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void cuda_module_log(enum sc_log_level level, const char *format, ...)
{
    va_list args;

    if (level > SC_LOG_INFO)
        return;
    va_start(args, format);
    fprintf(stderr, "# ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
}

static void cuda_module_nothing(void) {}

/* Loads `path`, or (NULL) the module of the build tree; returns NULL if the module cannot be loaded. */
static inline const struct sc_device_ops *cuda_module_load(const char *path)
{
    const char *top = getenv("top_builddir");
    sc_device_module_entry *entry;
    char built[4096];
    void *module;

    snprintf(built, sizeof built, "%s/.libs/semcache-cuda.so", top ? top : ".");
    module = dlopen(path ? path : built, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        fprintf(stderr, "# %s\n", dlerror());
        return NULL;
    }
    *(void **)&entry = dlsym(module, SC_DEVICE_MODULE_ENTRY);
    return entry ? entry() : NULL;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
