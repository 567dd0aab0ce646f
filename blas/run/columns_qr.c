/* QR factorizations by blocks of columns: the reflectors of a finished block are applied to the blocks to its right. */
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

static enum sc_status update(struct sc_columns_job *c, int j, int k)
{
    struct sc_kernel apply = sc_columns_kernel(c, SC_OP_ORMQR);
    struct sc_piece pieces[3];

    if (reflectors_of(c, k) < 1)
        return SC_OK;
    pieces[0] = sc_columns_rows(c, c->t.at[k], c->kernel->m, k, SC_READ);
    pieces[0].cols = reflectors_of(c, k);
    pieces[1] = sc_blas_none();
    pieces[2] = sc_columns_rows(c, c->t.at[k], c->kernel->m, j, SC_RDWR);
    apply.side = 'L';
    apply.transa = sc_type_is_complex(apply.type) ? 'C' : 'T';
    apply.m = pieces[2].rows;
    apply.n = pieces[2].cols;
    apply.k = pieces[0].cols;
    apply.small[0] = tau_of(c, k);
    return sc_columns_task(c, c->block[j].device, &apply, pieces);
}

const struct sc_columns_method sc_columns_qr = {.op = SC_OP_GEQRF, .finish = finish, .update = update};
/* SPDX-License-Identifier: BSD-2-Clause */
