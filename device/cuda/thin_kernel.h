/* Constants shared by thin.cu and thin.c. */
#ifndef SC_DEVICE_CUDA_THIN_KERNEL_H
#define SC_DEVICE_CUDA_THIN_KERNEL_H

enum {
    SC_CUDA_THIN_THREADS = 256, /* per block */
    SC_CUDA_THIN_SIDE = 16,     /* rows and columns of the small matrix, at most */
    SC_CUDA_THIN_PAIRS = 64,    /* elements of a small result, at most */
    SC_CUDA_THIN_BLOCKS = 528   /* of a sum, at most */
};

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
