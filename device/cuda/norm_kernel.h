/* Shared by norm.cu and norm.c: the matrix of a norm. */
#ifndef SC_DEVICE_CUDA_NORM_KERNEL_H
#define SC_DEVICE_CUDA_NORM_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum { SC_CUDA_NORM_THREADS = 256 }; /* per block */

struct sc_cuda_norm {
    int64_t m, n, ld;    /* rows, columns, leading dimension */
    char part;           /* 'U', 'L': a triangle, or a trapezoid; otherwise all elements */
    char kind;           /* 'M': largest absolute value; 'F': sum of squares; otherwise the sum of absolute values */
    bool unit;           /* the diagonal is one, and is not read */
    bool real_diagonal;  /* imaginary parts of the diagonal count as zero */
    bool strict;         /* the diagonal does not count */
    bool twice;          /* squares outside of the diagonal count twice */
};

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
