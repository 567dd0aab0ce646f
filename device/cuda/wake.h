/* Starts the CUDA driver while the CUDA module is loaded. */
#ifndef SC_DEVICE_CUDA_WAKE_H
#define SC_DEVICE_CUDA_WAKE_H

#include "device/device.h"

/* Starts the driver, and a thread that creates the context of the first device of this rank in `spec` ("" or a list of
 * numbers).  Not thread safe.  Failures are silent: the module meets and reports the same failure. */
void sc_cuda_wake(const struct sc_device_host *host, const char *spec);
/* Waits for the thread.  The context lives at least until sc_cuda_wake_end; by that time the module holds a
 * reference. */
void sc_cuda_wake_join(void);
void sc_cuda_wake_end(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
