/* Blocks of a triangular matrix, and of what it multiplies or solves: what trsm, trsv and trmm share. */
#ifndef SC_BLAS_TRIANGLE_H
#define SC_BLAS_TRIANGLE_H

#include "blas/run/tasks.h"

/* Whether op(A) is lower triangular. */
static inline bool sc_blas_op_is_lower(const struct sc_kernel *kernel)
{
    return (kernel->uplo == 'L') == (kernel->transa == 'N');
}

/* The cuts of both dimensions of A, so that diagonal blocks are square. */
void sc_blas_triangle_cuts(const struct sc_operand *a, struct sc_cuts *cuts);
struct sc_piece sc_blas_diagonal(const struct sc_operand *a, const struct sc_cuts *t, int i);
/* Block (i, j) of op(A). */
struct sc_piece sc_blas_triangle_block(const struct sc_operand *a, char trans, const struct sc_cuts *t, int i, int j);
/* The same of several that are one range: [i, i_end) x [j, j_end). */
struct sc_piece sc_blas_triangle_blocks(const struct sc_operand *a, char trans, const struct sc_cuts *t, int i,
                                        int i_end, int j, int j_end);

/* A strip of the B of trsm or trmm across the triangle: columns of it for side L, rows for side R. */
struct sc_blas_strip {
    struct sc_blas_job *call;
    struct sc_cuts along; /* the triangle */
    struct sc_cuts tiles; /* of these: those that no task crosses */
    int64_t first, n;     /* across */
    bool left;
    bool by_source; /* each block is added to others when it is known; else it gets what others contribute */
    bool joins;     /* of which those next to each other may be one task: nothing is waited for */
    struct sc_blas_places places;
};

/* Parts [i, end) of it along the triangle. */
struct sc_piece sc_blas_strip_block(const struct sc_blas_strip *s, int i, int end, enum sc_access access);
/* Blocks [from, end) of a strip.  Takes those away from one end that may be one task, and returns them. */
struct sc_blas_range {
    int from, end;
};
struct sc_blas_range sc_blas_strip_take(const struct sc_blas_strip *s, struct sc_blas_range *left, bool from_above);
/* The device for a block of it. */
int sc_blas_strip_device(const struct sc_blas_strip *s, const struct sc_piece *block);
/* Block i := alpha * blocks [l.from, l.end), times the blocks of op(A) between them, + beta * itself.  kernel: holds
 * alpha and beta. */
enum sc_status sc_blas_strip_gemm(const struct sc_blas_strip *s, struct sc_kernel *kernel, int i,
                                  struct sc_blas_range l);
/* Calls visit for every strip.  Finer ones, and finer blocks, while A or B are on their way, or B on its way home. */
enum sc_status sc_blas_strips(struct sc_blas_job *call, enum sc_status (*visit)(const struct sc_blas_strip *s));

#endif
