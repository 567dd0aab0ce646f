/* A matrix product as blocks of C and parts of the sum, for the ways to compute a product (gemm.c, gemm_sum.c). */
#ifndef SC_BLAS_PRODUCT_H
#define SC_BLAS_PRODUCT_H

#include "autotuner/pipeline.h"
#include "blas/run/tasks.h"

struct sc_product {
    struct sc_blas_job *call;
    bool cleared;           /* C is zero on the devices already; only with beta 0 */
    struct sc_cuts m, n, k; /* cuts of C's rows, of C's columns, and of the sum */
    struct sc_cuts strips;  /* n before strips are halved */
    struct sc_blas_places places;
};

static inline const struct sc_operand *sc_product_operand(const struct sc_product *g, int i)
{
    return &g->call->operand[i];
}

static inline struct sc_parts sc_product_parts(const struct sc_cuts *cuts)
{
    return (struct sc_parts){cuts->n, cuts->at};
}

/* op(A) of row part i and parts [l, l_end) of the sum; op(B) of the same parts and column part j. */
struct sc_piece sc_product_a(const struct sc_product *g, int i, int l, int l_end);
struct sc_piece sc_product_b(const struct sc_product *g, int l, int l_end, int j);

/* Schedules (autotuner/pipeline.h) have at most so many parts of a dimension. */
#define SC_PRODUCT_PARTS_MAX 64
bool sc_product_schedules(const struct sc_product *g);
/* Sets the device of each block. */
void sc_product_blocks(const struct sc_product *g, struct sc_pipeline *p);
/* Enqueues the tasks of a schedule that begin before `when`. */
enum sc_status sc_product_until(const struct sc_product *g, struct sc_pipeline *p, double when);

/* For several devices and parts of the sum: computes all blocks in the order in which parts of the sum arrive from
 * other devices.  False, with nothing changed: no part is in transit, or no part can be used in the meantime. */
bool sc_product_as_it_comes(const struct sc_product *g, enum sc_status *status);

/* Shares the sum among several devices, for a plan that allows sharing (sum.whole).  False, with nothing changed: other
 * ways are better, or sharing is impossible.  Only the call is set in `g`. */
bool sc_product_sum(struct sc_product *g, enum sc_status *status);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
