/* The order of the blocks of a matrix product whose operands are in transit to the devices. */
#ifndef SC_BLAS_PIPELINE_H
#define SC_BLAS_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "coherence/call.h"

/* C has m x n blocks, and each block is a sum over k parts.  Block (i, j) runs on device[i + j * m].  Its part l
 * needs A(i, l), B(l, j) and C(i, j) on that device. */
struct sc_pipeline {
    int m, n, k, devices;
    const struct sc_cuts *rows, *cols, *depth;
    double rate;   /* products per second of a device */
    int *device;   /* [i + j * m] */
    int *join_end; /* [l]: parts l .. join_end[l] - 1 lie in one tile and may be one task */
    int *order;    /* [d * k + t]: the part of k that comes t-th in the blocks of device d; initially ascending */
    /* Expected arrival, in seconds from the start.  Initially 0: already there. */
    double *a;     /* [d * m * k + i + l * m] */
    double *b;     /* [d * k * n + l + j * k] */
    double *c;     /* [i + j * m] */
    /* State of the schedule. */
    int *done;     /* [i + j * m]: number of scheduled parts of k */
    /* [i + j * m]: 1 if every part had arrived when the block began: parts ascend, in fewer tasks */
    int *straight;
    double clock[SC_DEVICES_MAX];
};

struct sc_pipeline_task {
    int device, i, j, l, l_end; /* block (i, j), parts [l, l_end) of k */
    bool starts;                /* true for the first task of the block */
};

/* Allocates for the given numbers of parts.  All values are zero, and joins are unrestricted. */
enum sc_status sc_pipeline_init(struct sc_pipeline *p, const struct sc_cuts *rows, const struct sc_cuts *cols,
                                const struct sc_cuts *depth, int devices);
void sc_pipeline_free(struct sc_pipeline *p);

/* Marks the arrival of all strips of A and B, and of C if C is read, as unknown. */
void sc_pipeline_expect_nothing(struct sc_pipeline *p, bool read_c);

/* True when the device has a block of row part i (if i >= 0) or of column part j, and so reads that part of A or B. */
bool sc_pipeline_reads(const struct sc_pipeline *p, int device, int i, int j);

/* The next task of a greedy schedule: a device with a ready task never idles, and lower columns come first.  The
 * parts of a block come in the device's order, or ascending (straight).
 *
 * Returns only tasks that begin before `horizon`.  No strip of unknown arrival (INFINITY) is there before `horizon`.
 * False when no such task is left; with a horizon of INFINITY the whole schedule is then done. */
bool sc_pipeline_next(struct sc_pipeline *p, double horizon, struct sc_pipeline_task *task);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
