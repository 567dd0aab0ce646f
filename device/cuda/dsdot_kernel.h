/* Constants shared by dsdot.cu and dsdot.c. */
#ifndef SC_DEVICE_CUDA_DSDOT_KERNEL_H
#define SC_DEVICE_CUDA_DSDOT_KERNEL_H

enum {
    SC_CUDA_DSDOT_THREADS = 256,    /* per block */
    SC_CUDA_DSDOT_BLOCKS_MOST = 1024
};

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
