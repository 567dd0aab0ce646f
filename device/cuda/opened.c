/* The open devices: module.c fills in the variables, and all files of the folder read them. */
#include "device/cuda/cuda_int.h"

struct sc_cuda_device sc_cuda_devices[SC_DEVICES_MAX];
int sc_cuda_count;
const struct sc_device_host *sc_cuda_host;
/* SPDX-License-Identifier: BSD-2-Clause */
