/* A point of one in-order stream of one device. */
#ifndef SC_BASE_FENCE_H
#define SC_BASE_FENCE_H

#include <stdint.h>

#define SC_DEVICES_MAX 16

/* Arranges the devices in a grid of `down` x `across`, as square as the number of devices allows. */
static inline void sc_device_grid(int devices, int *down, int *across)
{
    *down = 1;
    for (int d = 2; d * d <= devices; d++)
        if (devices % d == 0)
            *down = d;
    *across = devices / *down;
}

/* The fence with seq 0 is always reached. */
struct sc_fence {
    uint64_t seq;
    uint16_t device, stream;
};
#define SC_FENCE_NONE ((struct sc_fence){0, 0, 0})

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
