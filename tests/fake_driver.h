/* What tests/fake_driver.c shares with the test that loads it. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <pthread.h>

struct fake_driver {
    int devices;            /* on the machine; the driver calls them 100 and up */
    int broken, refuses;    /* errors of cuInit and of making a context */
    int inits;              /* calls of cuInit */
    int retained, released; /* the device of the newest call of each kind; -1: none */
    pthread_t by;           /* who made the context */
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
