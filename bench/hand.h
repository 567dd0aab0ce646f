/* Common functions of the hand-written cuBLAS programs. */
#ifndef BENCH_HAND_H
#define BENCH_HAND_H

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "examples/example.h"

/* Ends the program with the text of the call that failed. */
#define HAND_CUDA(call)                                                                              \
    do {                                                                                             \
        cudaError_t error_ = (call);                                                                 \
        if (error_ != cudaSuccess) {                                                                 \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorName(error_));                            \
            exit(1);                                                                                 \
        }                                                                                            \
    } while (0)
#define HAND_CUBLAS(call)                                                                            \
    do {                                                                                             \
        cublasStatus_t status_ = (call);                                                             \
        if (status_ != CUBLAS_STATUS_SUCCESS) {                                                      \
            fprintf(stderr, "%s: %s\n", #call, cublasGetStatusName(status_));                        \
            exit(1);                                                                                 \
        }                                                                                            \
    } while (0)

/* `count` doubles on the device, copied from `from` (or left as they are when it is NULL). */
static inline double *hand_device(size_t count, const double *from)
{
    void *p;

    HAND_CUDA(cudaMalloc(&p, count * sizeof(double)));
    if (from)
        HAND_CUDA(cudaMemcpy(p, from, count * sizeof(double), cudaMemcpyHostToDevice));
    return p;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
