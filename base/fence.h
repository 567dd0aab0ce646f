/* A point of one in-order stream of one device. */
#ifndef SC_BASE_FENCE_H
#define SC_BASE_FENCE_H

#include <stdint.h>

#define SC_DEVICES_MAX 16

/* seq 0 is the fence that is always reached. */
struct sc_fence {
    uint64_t seq;
    uint16_t device, stream;
};
#define SC_FENCE_NONE ((struct sc_fence){0, 0, 0})

#endif
