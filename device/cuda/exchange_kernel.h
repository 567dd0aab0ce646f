/* Declarations shared by exchange.cu and exchange.c. */
#ifndef SC_DEVICE_CUDA_EXCHANGE_KERNEL_H
#define SC_DEVICE_CUDA_EXCHANGE_KERNEL_H

#include <stddef.h>

#define SC_CUDA_EXCHANGE_FEW     4 /* most exchanges have at most this many pieces; fewer arguments */
#define SC_CUDA_EXCHANGE_MANY    64
#define SC_CUDA_EXCHANGE_THREADS 256
#define SC_CUDA_EXCHANGE_AHEAD   4 /* units in transit per thread */

/* `height` runs of `width` bytes.  All addresses and sizes are multiples of `unit`: 16, 4 or 1. */
struct sc_cuda_piece {
    char *dst;
    const char *src;
    size_t dst_pitch, src_pitch, width, height;
    size_t unit;
};

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
