/* Constants shared by vector.cu and vector.c. */
#ifndef SC_DEVICE_CUDA_VECTOR_KERNEL_H
#define SC_DEVICE_CUDA_VECTOR_KERNEL_H

enum {
    SC_CUDA_VECTOR_THREADS = 256, /* per block */
    SC_CUDA_VECTOR_EACH = 4       /* elements of a thread */
};

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
