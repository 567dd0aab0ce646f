/* Ranges for NVIDIA's profilers (NVTX): the enqueueing of kernels and copies, under the domain "semcache". The
 * functions have the signatures of the device's table. Without a profiler a range costs one comparison. Thread safe. */
#ifndef SC_DEVICE_CUDA_RANGES_H
#define SC_DEVICE_CUDA_RANGES_H

#include "device/device.h"

#ifdef SC_CUDA_RANGES
void sc_cuda_ranges_open(void); /* looks for a profiler; once, before the first range */

enum sc_status sc_cuda_ranged_launch(int device, enum sc_stream stream, const struct sc_kernel *kernel);
enum sc_status sc_cuda_ranged_copy(int device, enum sc_stream stream, const struct sc_copy2d *copy);
#else /* a toolkit without NVTX's headers */
static inline void sc_cuda_ranges_open(void) {}
#define sc_cuda_ranged_launch sc_cuda_launch
#define sc_cuda_ranged_copy   sc_cuda_copy
#endif

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
