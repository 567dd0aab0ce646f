/* The virtual clock of emulated devices: when each operation would have run on the machine of the file.
 *
 * Everything is computed when an operation is enqueued, so the result depends on the order of the calls alone and
 * not on the threads that do the work.  Not thread safe: the callers hold the lock of emu.c.
 *
 * 1. A stream does one operation after the other; the host spends `call` on each call, `fault` on each page fault,
 * and no other time.
 * 2. An operation starts when its stream is free, its fences are reached and the host has made the call.
 * 3. A link and a group are each a lane of a bandwidth: transfers take its free time in the order of the calls,
 * from their start on, also time left free before later ones.  A transfer ends when all lanes have served it, plus
 * the latency.
 * A kernel that exchanges has the lanes of all its pieces at once, at its own rate and latency.
 * 4. Kernels of one device share its units: launch + max(flop / gemm rate, bytes / memory bandwidth), one at a
 * time. */
#ifndef SC_DEVICE_EMU_CLOCK_H
#define SC_DEVICE_EMU_CLOCK_H

#include "device/device.h"
#include "device/emu/machine.h"

void sc_emu_clock_start(const struct sc_emu_machine *machine, int devices);
void sc_emu_clock_stop(void);

/* Each takes the number that the operation has in its stream, and ends it there. */
void sc_emu_clock_copy(int device, int stream, uint64_t seq, int from, int to, uint64_t bytes); /* ends; equal: local */
/* One end of each piece is on the device. */
void sc_emu_clock_exchange(int device, int stream, uint64_t seq, const struct sc_copy2d *pieces, int count);
void sc_emu_clock_fill(int device, int stream, uint64_t seq, uint64_t bytes);
void sc_emu_clock_kernel(int device, int stream, uint64_t seq, const struct sc_kernel *kernel);
void sc_emu_clock_wait(int device, int stream, uint64_t seq, struct sc_fence fence);
void sc_emu_clock_nothing(int device, int stream, uint64_t seq); /* takes no time */

void sc_emu_clock_sync(struct sc_fence fence); /* the host waits */
double sc_emu_clock_host(enum sc_host_event event); /* the host's time after the event */
double sc_emu_clock_fence(struct sc_fence fence);
bool sc_emu_clock_done(struct sc_fence fence); /* for the host, now */
double sc_emu_clock_seconds(void); /* until everything enqueued is done */
double sc_emu_clock_joules(int device);  /* of one device, until then */
uint64_t sc_emu_clock_bytes(int from, int to); /* enqueued so far; SC_EMU_HOST: the host */

#endif
