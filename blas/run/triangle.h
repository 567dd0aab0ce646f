/* Blocks of a triangular matrix and of the matrix that it multiplies or solves, common to trsm, trsv and trmm. */
#ifndef SC_BLAS_TRIANGLE_H
#define SC_BLAS_TRIANGLE_H

#include "blas/run/tasks.h"

/* True when op(A) is lower triangular. */
static inline bool sc_blas_op_is_lower(const struct sc_kernel *kernel)
{
    return (kernel->uplo == 'L') == (kernel->transa == 'N');
}

/* The merged cuts of A's rows and columns: diagonal blocks are square. */
void sc_blas_triangle_cuts(const struct sc_operand *a, struct sc_cuts *cuts);
struct sc_piece sc_blas_diagonal(const struct sc_operand *a, const struct sc_cuts *t, int i);
/* Block (i, j) of op(A). */
struct sc_piece sc_blas_triangle_block(const struct sc_operand *a, char trans, const struct sc_cuts *t, int i, int j);

/* A strip of trsm's or trmm's B across the triangle: columns for side L, rows for side R. */
struct sc_blas_strip {
    struct sc_blas_job *call;
    struct sc_cuts along; /* cuts along the triangle */
    struct sc_cuts tiles; /* the cuts in `along` that no task crosses */
    int64_t first, n;     /* position and width across the triangle */
    bool left;
    /* true: a known block is added to the later blocks; false: a block collects the contributions of known blocks */
    bool by_source;
    bool joins;     /* adjacent blocks may be one task, because no data is in transit */
    struct sc_blas_places places;
};

/* Blocks [from, end) of a strip.  `take` removes the blocks that may be one task from an end of the range, and
 * returns them. */
struct sc_blas_range {
    int from, end;
};
struct sc_blas_range sc_blas_strip_take(const struct sc_blas_strip *s, struct sc_blas_range *left, bool from_above);
/* The call's operation on block i and the diagonal block, with the call's alpha or with 1. */
enum sc_status sc_blas_strip_diagonal(const struct sc_blas_strip *s, int i, bool with_alpha);
/* Block i := alpha * (blocks [l.from, l.end), times the matching blocks of op(A)) + beta * block i.  alpha and beta
 * are in `kernel`. */
enum sc_status sc_blas_strip_gemm(const struct sc_blas_strip *s, struct sc_kernel *kernel, int i,
                                  struct sc_blas_range l);
typedef enum sc_status sc_blas_visit(const struct sc_blas_strip *s, int step);
/* Calls visit for every strip with every step, a block along the triangle, in ascending order.  Strips and blocks are
 * finer while A or B is in transit, or B is to be pushed home. */
enum sc_status sc_blas_strips(struct sc_blas_job *call, sc_blas_visit *visit);

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
