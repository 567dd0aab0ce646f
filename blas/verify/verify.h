/* Verification mode: a call on private memory (its shadow), and the bound on the difference that rounding may cause. */
#ifndef SC_BLAS_VERIFY_H
#define SC_BLAS_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/ops.h"


/* An operand's copy in memory of the library: compact, in order of address. */
struct sc_shadow {
    void *data;
    int64_t elements;
    bool written;
};

struct sc_shadow_call {
    struct sc_kernel kernel; /* operates on the shadows; its result goes to `result` */
    int operands;
    struct sc_shadow operand[3]; /* in the order of the kernel's a, b, c, without unused operands */
    double result[2];
};

/* Runs the shadow's kernel on the host. */
enum sc_status sc_blas_shadow_run(struct sc_shadow_call *call);
/* Copies a shadow call, for computation or change.  False: no memory. */
bool sc_blas_shadow_copy(struct sc_shadow_call *to, const struct sc_shadow_call *from);
void sc_blas_shadow_free(struct sc_shadow_call *call);

/* |Re| + |Im| of element e, and of the difference of two elements. */
double sc_blas_shadow_abs(enum sc_type type, const void *data, int64_t e);
double sc_blas_shadow_distance(enum sc_type type, const void *a, const void *b, int64_t e);

/* Two results may differ by factor * (scale + tiny); rule 26 of blas/README.md gives the reason. */
struct sc_bound {
    double factor, tiny;
    /* The real part of a written operand's element, or of the result, is the element's scale. */
    struct sc_shadow_call scale;
    bool exact;                  /* the operation only moves data: results must have equal bits */
};
/* before: the operands before the call.  got: the devices' results. */
bool sc_blas_bound(struct sc_bound *bound, const struct sc_shadow_call *before, const struct sc_shadow_call *got);

/* Solutions of triangular systems may differ in proportion to the condition of the matrix, so the residual is
 * bounded instead.  sc_blas_residual turns a solution `got` into op(A) X, and `before` into alpha B, for comparison. */
bool sc_blas_is_solve(enum sc_op op);
enum sc_status sc_blas_residual(struct sc_shadow_call *got, struct sc_shadow_call *before);

/* What of a routine of LAPACK does not hold: two things that differ by more than the bound. */
struct sc_residual {
    const char *what;
    double distance, bound;
};
/* before, after: records on shadows of the operands before and after a routine whose INFO is 0.  False: *residual says
 * what does not hold.  Operands that are not finite, and estimates, are not checked. */
bool sc_blas_lapack_holds(const struct sc_kernel *before, const struct sc_kernel *after, struct sc_residual *residual);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
