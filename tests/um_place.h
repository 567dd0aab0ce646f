/* Managed memory of one address with um_fake_cuda.c in place of CUDA: memory, values, launches and counts of bytes, for
 * um_place.c and um_turns.c. */
#ifndef SC_TESTS_UM_PLACE_H
#define SC_TESTS_UM_PLACE_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "tests/tap.h"
#include "tests/um.h"

/* As in the code that nvcc makes, which declares the function itself. */
cudaError_t __cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream);

enum { N = 250000, BLOCKS = 4, STEPS = 20 };
static const size_t bytes = N * sizeof(double);

static inline size_t count_of(const char *name)
{
    const size_t *at = dlsym(RTLD_DEFAULT, name);

    return at ? *at : 0;
}

static inline size_t went_up(void) { return count_of("um_fake_up"); }
static inline size_t came_home(void) { return count_of("um_fake_home"); }

static inline int wrong(void)
{
    const int *at = dlsym(RTLD_DEFAULT, "um_fake_wrong");

    return at ? *at : 1;
}

static inline void set(double *p, double value)
{
    for (int i = 0; i < N; i++)
        p[i] = value;
}

static inline int all_are(const double *p, double value)
{
    for (int i = 0; i < N; i++)
        if (p[i] != value)
            return 0;
    return 1;
}

/* p[i] += value for i < n, on the device. */
static inline void launch_kernel(const char *kernel, double *p, int n, double value)
{
    void *arguments[] = {&p, &n, &value};

    __cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL);
}

static inline void launch(double *p, int n, double value) { launch_kernel("kernel", p, n, value); }

/* The same with one parameter, a structure passed by value, and by the runtime's newer function. */
static inline void launch_structure(const char *kernel, double *p, int n, double value)
{
    struct {
        double value;
        int n;
        double *p;
    } parameters = {value, n, p};
    cudaLaunchConfig_t configuration = {.gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}};

    cudaLaunchKernelExC(&configuration, kernel, (void *[]){&parameters});
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
