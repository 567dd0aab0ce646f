/* The CUDA driver is started beside the loading of the CUDA module. */
#ifndef SC_DEVICE_WAKE_H
#define SC_DEVICE_WAKE_H

#include "device/device.h"

/* Starts the driver, and a thread that makes the context of the first device that `spec` selects for this rank (""
 * or a list of numbers).  By one thread at a time; what fails is left to the module, which says so. */
void sc_device_wake(const struct sc_device_host *host, const char *spec);
/* Waits for the thread.  The context lives until sc_device_wake_end, which the module's own hold on it outlasts. */
void sc_device_awake(void);
void sc_device_wake_end(void);

#endif
