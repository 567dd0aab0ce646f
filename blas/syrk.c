/* syrk, herk: one triangle of C := alpha op(A) op(A)^T + beta C (herk: ^H).  Diagonal blocks are syrk tasks, the
 * others of the triangle gemm tasks; the other triangle is never touched. */
#include "blas/tasks.h"

struct rank {
    struct sc_blas_job *call;
    struct sc_cuts t, k;
};

static struct sc_piece factor(const struct rank *r, int i, int l)
{
    return sc_blas_op_matrix(&r->call->operand[0], r->call->kernel->transa, r->t.at[i], r->k.at[l],
                             sc_blas_part(&r->t, i), sc_blas_part(&r->k, l), SC_READ);
}

static struct sc_piece target(const struct rank *r, int i, int j, enum sc_access access)
{
    return sc_blas_matrix(&r->call->operand[1], r->t.at[i], r->t.at[j], sc_blas_part(&r->t, i), sc_blas_part(&r->t, j),
                          access);
}

static enum sc_status add_diagonal(const struct rank *r, int device, int i, int l)
{
    struct sc_kernel kernel = *r->call->kernel;

    kernel.n = sc_blas_part(&r->t, i);
    kernel.k = sc_blas_part(&r->k, l);
    sc_blas_set_beta(&kernel, r->call->kernel->beta, l == 0);
    /* Read and written whatever beta is: the block holds part of the other triangle. */
    return sc_blas_task(device, &kernel, factor(r, i, l), sc_blas_none(), target(r, i, i, SC_RDWR));
}

static enum sc_status add_block(const struct rank *r, int device, int i, int j, int l)
{
    struct sc_kernel kernel = *r->call->kernel;
    char flip = kernel.op == SC_OP_HERK ? 'C' : 'T';
    bool straight = kernel.transa == 'N';

    kernel.op = SC_OP_GEMM;
    kernel.transa = straight ? 'N' : flip;
    kernel.transb = straight ? flip : 'N';
    kernel.m = sc_blas_part(&r->t, i);
    kernel.n = sc_blas_part(&r->t, j);
    kernel.k = sc_blas_part(&r->k, l);
    sc_blas_set_beta(&kernel, r->call->kernel->beta, l == 0);
    return sc_blas_task(device, &kernel, factor(r, i, l), factor(r, j, l),
                        target(r, i, j, sc_blas_output_access(&kernel)));
}

static enum sc_status one_target(const struct rank *r, int i, int j)
{
    struct sc_piece c = target(r, i, j, SC_RDWR);
    int device = sc_coherence_where(&c);
    enum sc_status status = SC_OK;

    for (int l = 0; l < r->k.n && status == SC_OK; l++)
        status = i == j ? add_diagonal(r, device, i, l) : add_block(r, device, i, j, l);
    return status;
}

enum sc_status sc_blas_syrk(struct sc_blas_job *call)
{
    const struct sc_operand *a = &call->operand[0], *c = &call->operand[1];
    char trans = call->kernel->transa;
    struct rank r; /* large: not initialised */
    enum sc_status status = SC_OK;

    r.call = call;
    sc_coherence_row_cuts(c, &r.t);
    sc_blas_merge_cols(&r.t, c);
    sc_blas_merge_op_rows(&r.t, a, trans);
    sc_blas_whole(&r.k, call->kernel->k);
    sc_blas_merge_op_cols(&r.k, a, trans);
    for (int j = 0; j < r.t.n && status == SC_OK; j++)
        for (int i = 0; i < r.t.n && status == SC_OK; i++)
            if (i == j || (i < j) == (call->kernel->uplo == 'U'))
                status = one_target(&r, i, j);
    return status;
}
