/* The virtual clock of emulated devices: the time at which every operation would have run on the machine of the file.
 *
 * Times are computed when an operation is enqueued, so they depend on the order of the calls only, not on the threads.
 * Not thread safe: the caller holds the lock of emu.c.
 *
 * 1. A stream runs its operations in order.  The host spends `call` on every call, `fault` on every page fault, and
 * no other time.
 * 2. An operation starts when its stream is free, its fences are reached and the host has made the call.
 * 3. Links and groups are lanes with a bandwidth.  A transfer takes free time of its lanes, in the order of the calls,
 * from its start on; gaps before later transfers count as free.  A transfer ends, after the latency, when all lanes
 * have served it. An exchange kernel uses the lanes of all its pieces at once, at the rate and latency of kernels.
 * 4. The kernels of a device run one at a time and take launch + max(flop / gemm rate, bytes / memory bandwidth). */
#ifndef SC_DEVICE_EMU_CLOCK_H
#define SC_DEVICE_EMU_CLOCK_H

#include "device/device.h"
#include "device/emu/machine.h"

void sc_emu_clock_start(const struct sc_emu_machine *machine, int devices);
void sc_emu_clock_stop(void);

void sc_emu_clock_slow(int device, double times); /* duration of the device's kernels */

/* `seq` is the number of the operation in its stream; each function sets the end of the operation. */
/* from, to: ends of the link; equal ends: a copy within the device. */
void sc_emu_clock_copy(int device, int stream, uint64_t seq, int from, int to, uint64_t bytes);
/* `device` is one end of every piece. */
void sc_emu_clock_exchange(int device, int stream, uint64_t seq, const struct sc_copy2d *pieces, int count);
void sc_emu_clock_fill(int device, int stream, uint64_t seq, uint64_t bytes);
void sc_emu_clock_kernel(int device, int stream, uint64_t seq, const struct sc_kernel *kernel);
void sc_emu_clock_wait(int device, int stream, uint64_t seq, struct sc_fence fence);
void sc_emu_clock_nothing(int device, int stream, uint64_t seq); /* takes no time */

void sc_emu_clock_sync(struct sc_fence fence); /* the host waits */
double sc_emu_clock_host(enum sc_host_event event); /* returns the host's time after the event */
bool sc_emu_clock_done(struct sc_fence fence); /* reached at the host's time */
double sc_emu_clock_seconds(void); /* end of all enqueued work */
double sc_emu_clock_joules(int device);  /* of a device, up to then */
uint64_t sc_emu_clock_bytes(int from, int to); /* bytes enqueued since the start */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
