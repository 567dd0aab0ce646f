/* Submission threads: each device has a thread for its operations. The driver's times for several devices do not add up
 * in the calling thread. */
#ifndef SC_DEVICE_SUBMIT_H
#define SC_DEVICE_SUBMIT_H

#include "device/device.h"

/* A table of operations over the table `ops` of `count` open devices: copies, kernels, marks and waits return before
 * they are submitted.  Fences of the new table are known to the new table only.  NULL: no threads (SEMCACHE_SUBMIT, one
 * device, emulated devices under `auto`, or another table is in use); the caller uses `ops`.  `host` stays valid until
 * close, which also closes `ops`. */
const struct sc_device_ops *sc_submit_beside(const struct sc_device_host *host, const struct sc_device_ops *ops,
                                             int count);

/* Returns when the driver has got every operation that was enqueued before this call, or after `seconds`.  Returns at
 * once without threads.  Not for a submission thread, and not while the table is being closed. */
void sc_submit_settle(double seconds);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
