/* The order of the tasks of a matrix product: by the arrival of operands in transit to the devices, or block by block.
 * Pure; the memory of an order belongs to the order. */
#ifndef SC_AUTOTUNER_PIPELINE_H
#define SC_AUTOTUNER_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "autotuner/load.h"
#include "base/fence.h"
#include "base/status.h"

/* Parts of a dimension: part i is [at[i], at[i + 1]). */
struct sc_parts {
    int n;
    const int64_t *at;
};

/* C has m x n blocks, and each block is a sum over k parts.  Block (i, j) runs on device[i + j * m].  Its part l
 * needs A(i, l), B(l, j) and C(i, j) on that device. */
struct sc_pipeline {
    int m, n, k, devices;
    struct sc_parts rows, cols, depth;
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
    struct sc_load load[SC_DEVICES_MAX];
    bool by_block;
    int next;      /* by_block: the next task, counted over k, m and n */
};

struct sc_pipeline_task {
    int device, i, j, l, l_end; /* block (i, j), parts [l, l_end) of k; device -1: see sc_pipeline_by_block */
    bool starts;                /* true for the first task of the block */
};

/* Allocates for the given parts.  All values are zero, and joins are unrestricted. */
enum sc_status sc_pipeline_init(struct sc_pipeline *p, struct sc_parts rows, struct sc_parts cols,
                                struct sc_parts depth, int devices);
/* An order for any number of parts, without memory and sc_pipeline_free: the blocks column by column, each block part
 * by part of k.  The caller knows the devices of the blocks.  A schedule by arrival has a limited number of parts,
 * because the schedule looks at every block for each task. */
void sc_pipeline_by_block(struct sc_pipeline *p, int m, int n, int k);
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
