/* Factorizations and solutions of LAPACK by blocks of columns (blas/run/columns.c): number of devices, width of the
 * blocks, and columns that the devices hold together.  Pure functions. */
#ifndef SC_AUTOTUNER_COLUMNS_H
#define SC_AUTOTUNER_COLUMNS_H

#include "autotuner/autotuner.h"

struct sc_column_blocks {
    int64_t block, group;  /* as in struct sc_plan; block 0: in one task on one device */
    bool at_blocks;        /* as in struct sc_plan */
    double seconds;        /* kernels, and transfers that the kernels wait for */
};
/* The best widths on so many devices.  any_size: blocks may be narrow (SEMCACHE_OFFLOAD=always). */
void sc_column_blocks_on(const struct sc_autotuner_call *call, int devices, bool any_size,
                         struct sc_column_blocks *out);
/* The routine solves with factors, which stay on their devices. */
bool sc_column_blocks_solve(enum sc_op op);
/* The number of devices of a solution: the devices with factors, or all devices if one device is too small. */
int sc_column_blocks_of_factors(const struct sc_autotuner_call *call);
/* The best number of devices for a matrix at home; 1 for calls of other routines. */
int sc_column_blocks_devices(const struct sc_autotuner_call *call);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
