/* Hooks of the emulated devices for tests, and figures of the virtual machine.  Valid between open and close.  Opening
 * the devices discards earlier settings and applies the machine file (keys fail, lost, jitter). */
#ifndef SC_DEVICE_EMU_EMU_H
#define SC_DEVICE_EMU_EMU_H

#include "device/device.h"
#include "device/emu/machine.h"

/* Sets the next fault of a device.  nth = 0 clears the fault and revives a lost device with its memory.  A failed
 * allocation returns SC_ERR_DEVICE_MEMORY; a fault of another kind returns SC_ERR_DEVICE. */
void sc_emu_inject(int device, struct sc_emu_fault fault);

/* Workers sleep 0 to `microseconds` before every operation, by a hash of seed and operation, to expose missing fences.
 * 0: off. */
void sc_emu_jitter(uint64_t seed, unsigned microseconds);

/* Bytes allocated on a device. */
uint64_t sc_emu_memory_used(int device);

/* Bytes copied over the link between two ends (a device or SC_HOST) since open. */
uint64_t sc_emu_link_bytes(int from, int to);

/* Kernels of a device take `times` their time by the virtual clock, as beside another process.  The device's properties
 * keep the machine file's rates. */
void sc_emu_slow(int device, double times);

double sc_emu_joules(void); /* from the watts of the machine file, over virtual_seconds */

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
