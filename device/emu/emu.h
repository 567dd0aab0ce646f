/* Hooks of the emulated devices for tests, and figures of the virtual machine.  Valid between open and close; open
 * takes what the machine file says (keys fail, lost, jitter) and forgets what was set before. */
#ifndef SC_DEVICE_EMU_EMU_H
#define SC_DEVICE_EMU_EMU_H

#include "device/device.h"
#include "device/emu/machine.h"

/* Sets what fails next on a device; nth = 0: nothing, and a lost device is back (its memory kept).  A failed allocation
 * reports SC_ERR_DEVICE_MEMORY, everything else SC_ERR_DEVICE. */
void sc_emu_inject(int device, struct sc_emu_fault fault);

/* Workers sleep 0 to `microseconds` before each operation, by a hash of seed and operation: shakes orders that no fence
 * fixes.  0: off. */
void sc_emu_jitter(uint64_t seed, unsigned microseconds);

/* Bytes a device has given out. */
uint64_t sc_emu_memory_used(int device);

/* Bytes that were copied from one end (a device or SC_HOST) to another since open. */
uint64_t sc_emu_link_bytes(int from, int to);

double sc_emu_joules(void); /* by the watts of the machine file, over virtual_seconds */

#endif
