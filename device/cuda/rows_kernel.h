/* Constants shared by rows.cu and rows.c. */
#ifndef SC_DEVICE_CUDA_ROWS_KERNEL_H
#define SC_DEVICE_CUDA_ROWS_KERNEL_H

enum {
    SC_CUDA_ROWS_THREADS = 256, /* per block, and rows of a block */
    SC_CUDA_ROWS_CHUNK = 2048,  /* entries in shared memory at a time */
    SC_CUDA_ROWS_COLUMNS = 32   /* of the dense matrices, at most */
};

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
