/* What tests/cuda_solver.c sets and sees of the fake cuSOLVER. */
#ifndef SC_TESTS_FAKE_CUSOLVER_H
#define SC_TESTS_FAKE_CUSOLVER_H

#include <cusolver_common.h>

#include "device/device.h"

extern struct fake_cusolver {
    cusolverStatus_t error; /* of every routine */
    bool no_memory;         /* in the pool */
    double shift;           /* of Xgesvdp; above 0 the left vectors are wrong */
    int wrong;              /* in Xgesvdp's result: 1, a left vector; 2, a value; 3, the length of a right vector */
    int calls, polar, qr;   /* calls of all routines, of Xgesvdp, of Xgesvd */
    int blocks;             /* memory of calls that was not freed */
} fake;

/* A device with the routines of LAPACK alone. */
const struct sc_device_ops *fake_open(int *count);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
