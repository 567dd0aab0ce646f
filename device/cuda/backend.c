/* The description of the CUDA back end.  Linked into the library, also in builds without CUDA. */
#include <unistd.h>

#include "device/backend.h"
#include "device/cuda/wake.h"

static bool fits(const char *spec) { return !*spec || sc_device_is_list(spec); }

/* The driver makes these files. */
static bool driver_present(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 || access("/proc/driver/nvidia/version", F_OK) == 0 ||
           access("/dev/dxg", F_OK) == 0;
}

const struct sc_device_backend sc_device_backend_cuda = {
    .name = "cuda",
    .title = "CUDA",
    .fits = fits,
    .present = driver_present,
    .wake = sc_cuda_wake,
    .wake_join = sc_cuda_wake_join,
    .wake_end = sc_cuda_wake_end,
    .least_space = (uint64_t)8 << 30,
    .least_files = 32,
    .absent = "this machine has no NVIDIA driver",
    .unbuilt = "is semcache built with CUDA, and is its run-time library installed?",
    .unusable = "no driver, or no GPU that this process may use (nvidia-smi shows them)",
    .no_memory = "no memory for the driver (nvidia-smi shows who has the devices')",
};
/* SPDX-License-Identifier: BSD-2-Clause */
