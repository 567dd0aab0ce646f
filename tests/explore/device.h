/* The devices as queues: the data of device.c, for the hash of a state. */
#ifndef SC_TESTS_EXPLORE_DEVICE_H
#define SC_TESTS_EXPLORE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"

#define DEVICES       2
#define SLOTS         4    /* allocations of a device, */
#define SLOT_ELEMENTS 1024 /* elements of an allocation; tiles are no larger */
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
/* Finishes the queued work, and gives each device memory for `room` allocations. */
void explore_device_reset(int room);
uint64_t explore_device_shortages(void); /* until now, allocations for which there was no room */
int explore_allocation(const void *memory); /* the allocation's number; -1: NULL */

/* The device refuses its n-th request, or dies with its data. */
void explore_device_refuse(int device, int nth);
void explore_device_kill(int device);
/* The value read from a dead device's memory by a second device; results computed from this value are as large. */
#define EXPLORE_GONE 1e300
static inline bool explore_is_gone(double x) { return x > 1e299 || x < -1e299; }
int explore_device_health(int device);
bool explore_fence_failed(struct sc_fence fence);

int explore_streams_enabled(int *enabled); /* streams that can take a step */
void explore_stream_step(int stream);
bool explore_streams_idle(void);

/* Read and write the host's memory under any protection. */
void explore_peek(void *to, const void *host, size_t bytes);
void explore_poke(void *host, const void *from, size_t bytes);

/* --- from who uses it --------------------------------------------------------------------------------------------- */

/* Does a kernel's work. */
void explore_kernel(const struct sc_kernel *kernel);
/* Waits for the fence. Streams may take steps meanwhile; on return the fence may still be unreached. */
void explore_await(struct sc_fence fence);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
