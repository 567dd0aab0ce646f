/* Shared by the tests of libsemcache-cuda-um. The tests are ordinary CUDA programs: with SEMCACHE_DEVICE=none, on a
 * machine with a GPU, their assertions hold for CUDA itself. */
#ifndef SC_TESTS_UM_H
#define SC_TESTS_UM_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

static inline void *um_managed(size_t bytes)
{
    void *memory = NULL;

    if (cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal) != cudaSuccess) {
        printf("Bail out! no managed memory\n");
        exit(99);
    }
    return memory;
}

/* Whether calls go to CUDA unchanged. CUDA refuses some calls that the library supports, and prints a line on
 * stderr. */
static inline bool um_is_cuda_alone(void)
{
    const char *device = getenv("SEMCACHE_DEVICE");
    struct cudaDeviceProp about;

    return device && strcmp(device, "none") == 0 && cudaGetDeviceProperties(&about, 0) == cudaSuccess &&
           strncmp(about.name, "semcache", 8) != 0;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
