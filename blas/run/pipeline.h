/* The order of the blocks of a matrix product whose operands are still on their way to the devices. */
#ifndef SC_BLAS_PIPELINE_H
#define SC_BLAS_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "coherence/coherence.h"

/* Blocks: m x n blocks of C, each a sum over k parts.  Block (i, j) runs on device[i + j * m]; its part l needs A(i,
 * l), B(l, j) and C(i, j) there. */
struct sc_pipeline {
    int m, n, k, devices;
    const struct sc_cuts *rows, *cols, *depth;
    double rate;   /* products per second of one device */
    int *device;   /* [i + j * m] */
    int *join_end; /* [l]: parts l .. join_end[l] - 1 lie in one tile and may be one task */
    int *order;    /* [d * k + t]: the part of k that comes t-th in the blocks of device d; at first ascending */
    /* Expected arrival, seconds from the start; at first 0, which is there already. */
    double *a;     /* [d * m * k + i + l * m] */
    double *b;     /* [d * k * n + l + j * k] */
    double *c;     /* [i + j * m] */
    /* State of the schedule. */
    int *done;     /* [i + j * m]: parts of k that are scheduled */
    int *straight; /* [i + j * m]: its parts come in ascending order, for all had come when it began: fewer tasks */
    double clock[SC_DEVICES_MAX];
};

struct sc_pipeline_task {
    int device, i, j, l, l_end; /* block (i, j), parts [l, l_end) of k */
    bool starts;                /* the first of this block */
};

/* Allocates for the given numbers of parts; everything zero, joins unrestricted. */
enum sc_status sc_pipeline_init(struct sc_pipeline *p, const struct sc_cuts *rows, const struct sc_cuts *cols,
                                const struct sc_cuts *depth, int devices);
void sc_pipeline_free(struct sc_pipeline *p);

/* Of no strip of A and B, nor of C when it is read, is known when it comes. */
void sc_pipeline_expect_nothing(struct sc_pipeline *p, bool read_c);

/* The next task of a greedy schedule: work-conserving on each device, lowest columns first.  The parts of one block
 * come in the device's order, or ascending (straight).  Only tasks that begin before `horizon`, when what has no
 * expected arrival yet (INFINITY) will not be there; false when there are none any more: with a horizon of INFINITY,
 * when everything is scheduled. */
bool sc_pipeline_next(struct sc_pipeline *p, double horizon, struct sc_pipeline_task *task);

#endif
