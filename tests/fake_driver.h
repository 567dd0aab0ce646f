/* The interface between tests/fake_driver.c and the test that loads it. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <pthread.h>

struct fake_driver {
    int devices;            /* number of devices; the driver numbers them from 100 */
    int broken, refuses;    /* errors of cuInit and of making a context */
    int inits;              /* calls of cuInit */
    int retained, released; /* device of the newest call; -1: no call */
    pthread_t by;           /* thread that made the context */
};

#pragma GCC visibility push(default)
struct fake_driver *fake_driver(void);

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
#pragma GCC visibility pop

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
