/* Sweeps of ?copy that transpose a matrix.  Thread safe: every thread has its own sweep. */
#ifndef SC_BLAS_SWEEP_H
#define SC_BLAS_SWEEP_H

#include "blas/blas_int.h"

enum sc_blas_sweep {
    SC_SWEEP_NONE,
    SC_SWEEP_STEP, /* a device has done the copy already: nothing remains to be done */
    SC_SWEEP_YOUNG, /* the host does the copy */
    SC_SWEEP_RIPE  /* a device may do the rest of the sweep now: sc_blas_sweep_begin */
};
/* Notes a ?copy before it runs. */
enum sc_blas_sweep sc_blas_sweep(const struct sc_blas_call *call);
/* After SC_SWEEP_RIPE, with valid arguments: a device does this copy and those that are expected to follow.  False:
 * this copy remains to be done. */
bool sc_blas_sweep_begin(void);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
