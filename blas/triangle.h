/* Blocks of a triangular matrix, and of what it multiplies or solves: what trsm, trsv and trmm share. */
#ifndef SC_BLAS_TRIANGLE_H
#define SC_BLAS_TRIANGLE_H

#include "blas/tasks.h"

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

/* A strip of the B of trsm or trmm across the triangle: columns of it for side L, rows for side R. */
struct sc_blas_strip {
    struct sc_blas_job *call;
    struct sc_cuts along; /* the triangle */
    int64_t first, n;     /* across */
    bool left;
    struct sc_blas_places places;
};

struct sc_piece sc_blas_strip_block(const struct sc_blas_strip *s, int i, enum sc_access access);
/* The device for a block of it. */
int sc_blas_strip_device(const struct sc_blas_strip *s, const struct sc_piece *block);
/* y, block i, := alpha * x, block l, times the block of op(A) between them, + beta y.  kernel: holds alpha and beta. */
enum sc_status sc_blas_strip_gemm(const struct sc_blas_strip *s, int device, struct sc_kernel *kernel, int i, int l,
                                  struct sc_piece x, struct sc_piece y);
/* Whether the columns of A as stored are those of the block that is read (x), or of the one that is written: then, in
 * the order of the blocks read or written, A is needed column by column, as it arrives. */
static inline bool sc_blas_strip_by_source(const struct sc_blas_strip *s)
{
    return s->left == (s->call->kernel->transa == 'N');
}
/* Calls visit for every strip.  Finer ones, and finer blocks, while A or B are on their way. */
enum sc_status sc_blas_strips(struct sc_blas_job *call, enum sc_status (*visit)(const struct sc_blas_strip *s));

#endif
