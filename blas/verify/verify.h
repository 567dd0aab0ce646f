/* Verification mode: a call on private memory (its shadow), and how far rounding may take two results of it apart. */
#ifndef SC_BLAS_VERIFY_H
#define SC_BLAS_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/ops.h"


/* One operand in memory of our own: compact, in order of address. */
struct sc_shadow {
    void *data;
    int64_t elements;
    bool written;
};

struct sc_shadow_call {
    struct sc_kernel kernel; /* on the shadows, its result in `result` */
    int operands;
    struct sc_shadow operand[3]; /* in the order of the kernel's a, b, c, without unused ones */
    double result[2];
};

/* Runs the shadow's kernel on the host. */
enum sc_status sc_blas_shadow_run(struct sc_shadow_call *call);
/* A copy, to be computed on or changed.  False: no memory. */
bool sc_blas_shadow_copy(struct sc_shadow_call *to, const struct sc_shadow_call *from);
void sc_blas_shadow_free(struct sc_shadow_call *call);

/* |Re| + |Im| of element e, and of the difference of two. */
double sc_blas_shadow_abs(enum sc_type type, const void *data, int64_t e);
double sc_blas_shadow_distance(enum sc_type type, const void *a, const void *b, int64_t e);

/* Two results may be apart by factor * (scale + tiny); see blas/README.md for where that comes from. */
struct sc_bound {
    double factor, tiny;
    struct sc_shadow_call scale; /* Re of an element of a written operand, or of the result: its scale */
    bool exact;                  /* what only moves data: equal to the bit */
};
/* before: what the operands held; got: what the devices made of it. */
bool sc_blas_bound(struct sc_bound *bound, const struct sc_shadow_call *before, const struct sc_shadow_call *got);

/* Solutions of triangular systems may differ by as much as the matrix is ill-conditioned; what has to be small is the
 * residual.  Turns a solution `got` into op(A) X, and `before` into alpha B: these are compared. */
bool sc_blas_is_solve(enum sc_op op);
enum sc_status sc_blas_residual(struct sc_shadow_call *got, struct sc_shadow_call *before);

#endif
