/* Shared by triangle.cu and triangle.c: a solve with a small triangle and many right sides. */
#ifndef SC_DEVICE_CUDA_TRIANGLE_KERNEL_H
#define SC_DEVICE_CUDA_TRIANGLE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SC_CUDA_TRIANGLE_ROWS = 256,    /* most rows of the triangle; threads of a block */
    SC_CUDA_TRIANGLE_COLUMNS = 16   /* right sides of a block; in double complex half as many */
};

/* L X := alpha B by forward substitution; X overwrites B.  Strides are in elements, and negative where the routine
 * goes backwards. */
struct sc_cuda_triangle {
    int64_t row, column;     /* strides of L */
    int64_t b_row, b_column; /* strides of B */
    int64_t columns;         /* of B */
    int rows;                /* of L and B */
    bool unit;               /* the diagonal is one, and is not read */
    bool conjugate;          /* L is conjugated */
    double alpha[2];
};

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
