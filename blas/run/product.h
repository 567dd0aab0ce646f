/* A matrix product as blocks of C and parts of the sum: what the ways to compute one share (gemm.c, gemm_sum.c). */
#ifndef SC_BLAS_PRODUCT_H
#define SC_BLAS_PRODUCT_H

#include "blas/run/tasks.h"

struct sc_product {
    struct sc_blas_job *call;
    bool cleared;           /* C is zero on the devices already; only when beta is 0 */
    struct sc_cuts m, n, k; /* of C's rows and columns, and of the sum */
    struct sc_cuts strips;  /* n with whole strips: none are halved */
    double first;           /* 0 to 1: columns of C whose strips of B come along with A; the others come after that */
    struct sc_blas_places places;
};

static inline const struct sc_operand *sc_product_operand(const struct sc_product *g, int i)
{
    return &g->call->operand[i];
}

/* op(A) of row part i and parts [l, l_end) of the sum; op(B) of these and column part j; C of both. */
struct sc_piece sc_product_a(const struct sc_product *g, int i, int l, int l_end);
struct sc_piece sc_product_b(const struct sc_product *g, int l, int l_end, int j);
struct sc_piece sc_product_c(const struct sc_product *g, int i, int j, enum sc_access access);

/* Block (i, j) of C += parts [l, l_end) of the sum; the first of the block's tasks applies beta. */
enum sc_status sc_product_multiply(const struct sc_product *g, int device, int i, int j, int l, int l_end, bool first);

/* Where block (i, j) of C runs. */
int sc_product_device(const struct sc_product *g, int i, int j);

#define SC_PRODUCT_PARTS_MAX 64 /* of a dimension, in a schedule */

/* All blocks, as parts of the sum come from other devices.  False: none is awaited, or nothing can be done meanwhile;
 * nothing has changed. */
bool sc_product_as_it_comes(const struct sc_product *g, enum sc_status *status);

/* The sum in parts on several devices, where that is better.  False: it is not, or cannot be done; nothing has changed.
 * Only the call is set in `g`. */
bool sc_product_sum(struct sc_product *g, enum sc_status *status);

#endif
