/* Shared by the kernels of the examples of tasks. */
#ifndef TASKS_GPU_H
#define TASKS_GPU_H

#include <cuda_runtime.h>

/* How many of `devices` are GPUs with a number below `most`; -1: more than `most`.  On emulated devices the tasks run
 * the functions for the host, and no GPU may be there. */
static inline int tasks_gpus(int devices, int most)
{
    int gpus;

    if (cudaGetDeviceCount(&gpus) != cudaSuccess)
        gpus = 0;
    gpus = gpus < devices ? gpus : devices;
    return gpus <= most ? gpus : -1;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
