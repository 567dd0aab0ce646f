/* QR factorizations by blocks of columns: the reflectors of a finished block are applied to the blocks to its right.
 * ?orgqr begins with the last block.  The reflectors of a block are applied to the blocks to its right, which have
 * columns of Q, and then become columns of Q themselves. */
#include "blas/run/columns.h"

/* Reflectors of block k. */
static int64_t reflectors_of(const struct sc_columns_job *c, int k)
{
    int64_t end = c->t.at[k + 1], least = sc_kernel_small(c->kernel);

    return (end < least ? end : least) - c->t.at[k];
}

static void *tau_of(const struct sc_columns_job *c, int k)
{
    return (char *)c->kernel->small[0] + (size_t)c->t.at[k] * sc_type_bytes(c->kernel->type);
}

static enum sc_status finish(struct sc_columns_job *c, int k)
{
    struct sc_kernel panel = sc_columns_kernel(c, SC_OP_GEQRF);

    if (reflectors_of(c, k) < 1)
        return SC_OK;
    panel.m = c->kernel->m - c->t.at[k];
    panel.n = sc_blas_part(&c->t, k);
    panel.small[0] = tau_of(c, k);
    return sc_columns_factor(c, k, panel, sc_columns_rows(c, c->t.at[k], c->kernel->m, k, SC_RDWR));
}

/* Block j := op(H) block j, H being the reflectors of block k. */
static enum sc_status apply_block(struct sc_columns_job *c, int j, int k, char trans)
{
    struct sc_kernel apply = sc_columns_kernel(c, SC_OP_ORMQR);
    struct sc_piece pieces[3];

    pieces[0] = sc_columns_rows(c, c->t.at[k], c->kernel->m, k, SC_READ);
    pieces[0].cols = reflectors_of(c, k);
    pieces[1] = sc_blas_none();
    pieces[2] = sc_columns_rows(c, c->t.at[k], c->kernel->m, j, SC_RDWR);
    apply.side = 'L';
    apply.transa = trans;
    apply.m = pieces[2].rows;
    apply.n = pieces[2].cols;
    apply.k = pieces[0].cols;
    apply.small[0] = tau_of(c, k);
    return sc_columns_task(c, c->block[j].device, &apply, pieces);
}

static enum sc_status update(struct sc_columns_job *c, int j, int k)
{
    return reflectors_of(c, k) < 1 ? SC_OK : apply_block(c, j, k, sc_type_is_complex(c->kernel->type) ? 'C' : 'T');
}

/* --- the orthogonal matrix ---------------------------------------------------------------------------------------- */

/* A product with an empty sum, and beta 0. */
static enum sc_status clear(const struct sc_columns_job *c, int j, struct sc_piece x)
{
    struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_GEMM);

    kernel.beta[0] = 0;
    kernel.m = kernel.lda = x.rows;
    kernel.n = x.cols;
    kernel.ldb = 1;
    return sc_blas_task(c->block[j].device, &kernel, sc_blas_none(), sc_blas_none(), x);
}

static enum sc_status finish_orthogonal(const struct sc_columns_job *c, int k)
{
    struct sc_kernel panel = sc_columns_kernel(c, SC_OP_ORGQR);

    panel.m = c->kernel->m - c->t.at[k];
    panel.n = panel.k = sc_blas_part(&c->t, k);
    panel.small[0] = tau_of(c, k);
    return sc_columns_factor(c, k, panel, sc_columns_rows(c, c->t.at[k], c->kernel->m, k, SC_RDWR));
}

static enum sc_status multiply_all(struct sc_columns_job *c)
{
    enum sc_status status = SC_OK;

    for (int k = c->t.n - 1; k >= 0 && status == SC_OK; k--) {
        for (int j = k + 1; j < c->t.n && status == SC_OK; j++) {
            status = clear(c, j, sc_columns_square(c, k, j, SC_RDWR));
            if (status == SC_OK)
                status = apply_block(c, j, k, 'N');
        }
        if (status == SC_OK)
            status = finish_orthogonal(c, k);
    }
    return status;
}

const struct sc_columns_method sc_columns_orthogonal = {.op = SC_OP_ORGQR, .solve = multiply_all};
const struct sc_columns_method sc_columns_qr = {.op = SC_OP_GEQRF, .finish = finish, .update = update};
/* SPDX-License-Identifier: BSD-2-Clause */
