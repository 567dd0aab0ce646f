/* Which of the machine's GPUs semcache opens. Calls no driver. */
#ifndef SC_DEVICE_CUDA_ORDINALS_H
#define SC_DEVICE_CUDA_ORDINALS_H

#include "device/device.h"

/* The devices of `list` ("0,2"), out of the `present` devices of the driver. An empty list selects the first devices,
 * at most SC_DEVICES_MAX, and a line says how many there are if some are left out. ordinals: SC_DEVICES_MAX elements.
 * SC_ERR_INVALID, and a line: the list has something else than different numbers of devices, or too many of them. */
enum sc_status sc_cuda_ordinals(const struct sc_device_host *host, const char *list, int present, int *ordinals,
                                int *count);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
