/* The devices as queues: what device.c has, for the parts of the state. */
#ifndef SC_TESTS_EXPLORE_DEVICE_H
#define SC_TESTS_EXPLORE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"

#define DEVICES       2
#define SLOTS         4    /* allocations of a device, */
#define SLOT_ELEMENTS 1024 /* of that size; tiles are no larger */
#define SLOT_BYTES    (SLOT_ELEMENTS * sizeof(double))
#define QUEUE         256

struct explore_work {
    enum { COPY, KERNEL, FILL, MARK, WAIT } kind;
    union {
        struct sc_copy2d copy;
        struct sc_kernel kernel;
        struct sc_fence fence;
        struct {
            void *memory;
            size_t bytes;
        } fill;
    };
};

extern struct explore_stream {
    struct explore_work queue[QUEUE];
    unsigned head, tail;
    uint64_t marked, done; /* fences handed out, and reached */
} explore_streams[DEVICES][SC_STREAMS];

extern double explore_memory[DEVICES][SLOTS][SLOT_ELEMENTS];
extern bool explore_taken[DEVICES][SLOTS];

extern const struct sc_device_ops explore_device;
/* Does what is queued, and gives a device memory for so many allocations. */
void explore_device_reset(int room);
int explore_allocation(const void *memory); /* its number; -1: NULL */

/* It refuses the n-th thing that it is asked for, or is gone with all that it had. */
void explore_device_refuse(int device, int nth);
void explore_device_kill(int device);
/* The number that another device finds where a dead one's memory was, and what is computed of it. */
#define EXPLORE_GONE 1e300
static inline bool explore_is_gone(double x) { return x > 1e299 || x < -1e299; }
int explore_device_health(int device);
bool explore_fence_failed(struct sc_fence fence);

int explore_streams_enabled(int *enabled); /* streams that can take a step */
void explore_stream_step(int stream);
bool explore_streams_idle(void);

/* --- from who uses it --------------------------------------------------------------------------------------------- */

/* Does a kernel's work. */
void explore_kernel(const struct sc_kernel *kernel);
/* Somebody waits for the fence.  Streams may have taken steps when this returns, until it is reached or not. */
void explore_await(struct sc_fence fence);

#endif
