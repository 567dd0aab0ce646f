/* syr, her, syr2, her2: a triangle of A := alpha x x^T + A and similar, tile by tile, on the tile's device.
 * Diagonal blocks are tasks of the same operation.  Blocks off the diagonal are ger tasks.  The other triangle is
 * never touched. */
#include "blas/run/tasks.h"

struct update {
    struct sc_blas_job *call;
    const struct sc_operand *x, *y, *a; /* syr, her: y is x */
    struct sc_cuts t;
};

static struct sc_piece part_of(const struct update *u, const struct sc_operand *vector, int i)
{
    return sc_blas_vector(vector, u->t.at[i], sc_blas_part(&u->t, i), SC_READ);
}

static bool is_two(enum sc_op op) { return op == SC_OP_SYR2 || op == SC_OP_HER2; }

static enum sc_status add_diagonal(const struct update *u, int i)
{
    struct sc_kernel kernel = *u->call->kernel;
    struct sc_piece a = sc_blas_matrix(u->a, u->t.at[i], u->t.at[i], sc_blas_part(&u->t, i), sc_blas_part(&u->t, i),
                                       SC_RDWR);

    kernel.n = a.rows;
    return sc_blas_task(sc_coherence_where(&a), &kernel, part_of(u, u->x, i),
                        is_two(kernel.op) ? part_of(u, u->y, i) : sc_blas_none(), a);
}

/* Block (i, j) += alpha x y^T (or ^H); for two vectors also the same with x and y exchanged. */
static enum sc_status add_block(const struct update *u, int i, int j)
{
    const struct sc_kernel *call = u->call->kernel;
    bool hermitian = call->op == SC_OP_HER || call->op == SC_OP_HER2;
    struct sc_piece a = sc_blas_matrix(u->a, u->t.at[i], u->t.at[j], sc_blas_part(&u->t, i), sc_blas_part(&u->t, j),
                                       SC_RDWR);
    struct sc_kernel kernel = *call;
    int device = sc_coherence_where(&a);
    enum sc_status status;

    kernel.op = hermitian ? SC_OP_GERC : SC_OP_GER; /* conj conjugates x instead of y in both */
    kernel.m = a.rows;
    kernel.n = a.cols;
    kernel.lda = u->x->view.ld;
    kernel.ldb = u->y->view.ld;
    status = sc_blas_task(device, &kernel, part_of(u, u->x, i), part_of(u, u->y, j), a);
    if (status != SC_OK || !is_two(call->op))
        return status;
    if (hermitian)
        kernel.alpha[1] = -kernel.alpha[1];
    kernel.lda = u->y->view.ld;
    kernel.ldb = u->x->view.ld;
    return sc_blas_task(device, &kernel, part_of(u, u->y, i), part_of(u, u->x, j), a);
}

enum sc_status sc_blas_syr(struct sc_blas_job *call)
{
    bool two = is_two(call->kernel->op);
    struct update u; /* large: not initialised */
    enum sc_status status = SC_OK;

    u.call = call;
    u.x = &call->operand[0];
    u.y = two ? &call->operand[1] : u.x;
    u.a = &call->operand[call->operands - 1];
    sc_coherence_row_cuts(u.a, &u.t);
    sc_blas_merge_cols(&u.t, u.a);
    sc_blas_vector_merge(&u.t, u.x);
    if (two)
        sc_blas_vector_merge(&u.t, u.y);
    for (int j = 0; j < u.t.n && status == SC_OK; j++)
        for (int i = 0; i < u.t.n && status == SC_OK; i++)
            if (i == j)
                status = add_diagonal(&u, i);
            else if ((i < j) == (call->kernel->uplo == 'U'))
                status = add_block(&u, i, j);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
