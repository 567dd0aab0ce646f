/* LU factorizations with partial pivoting by blocks of columns, and their solutions.
 *
 * The pivots of a block count from its first row.  They are interchanged in the blocks to the right during the updates.
 * The blocks to the left have their rows interchanged last, when all pivots are known: until then the updates of other
 * blocks read them. */
#include <stdlib.h>

#include "blas/run/columns.h"

static int64_t shorter(const struct sc_kernel *k) { return k->m < k->n ? k->m : k->n; }

/* Pivots of block k. */
static int64_t pivots_of(const struct sc_columns_job *c, int k)
{
    int64_t end = c->t.at[k + 1], least = shorter(c->kernel);

    return (end < least ? end : least) - c->t.at[k];
}

static enum sc_status finish(struct sc_columns_job *c, int k)
{
    struct sc_kernel panel = sc_columns_kernel(c, SC_OP_GETRF);
    int64_t from = c->t.at[k];

    if (pivots_of(c, k) < 1)
        return SC_OK;
    panel.m = c->kernel->m - from;
    panel.n = sc_blas_part(&c->t, k);
    panel.pivots = c->kernel->pivots + from;
    return sc_columns_factor(c, k, panel, sc_columns_rows(c, from, c->kernel->m, k, SC_RDWR));
}

static enum sc_status update(struct sc_columns_job *c, int j, int k)
{
    int64_t from = c->t.at[k], count = pivots_of(c, k), m = c->kernel->m;
    struct sc_kernel divide = sc_columns_kernel(c, SC_OP_TRSM);
    int device = c->block[j].device;
    struct sc_piece x, panel;
    enum sc_status status;

    if (count < 1)
        return SC_OK;
    panel = sc_columns_rows(c, from, m, k, SC_READ);
    status = sc_columns_swap(c, device, 0, count, c->kernel->pivots + from, panel,
                             sc_columns_rows(c, from, m, j, SC_RDWR));
    panel.cols = count;
    x = sc_columns_rows(c, from, from + count, j, SC_RDWR);
    divide.side = divide.uplo = 'L';
    divide.diag = 'U';
    divide.m = x.rows;
    divide.n = x.cols;
    if (status == SC_OK) {
        panel.rows = count;
        status = sc_blas_task(device, &divide, panel, x, sc_blas_none());
    }
    panel.r += count;
    panel.rows = m - panel.r;
    x.access = SC_READ;
    return status == SC_OK ? sc_columns_subtract(c, device, 'N', panel, 'N', x,
                                                 sc_columns_rows(c, from + count, m, j, SC_RDWR))
                           : status;
}

/* Interchanges that undo `pivots` in ascending order. */
static bool invert(const int64_t *pivots, int64_t n, int64_t *inverse)
{
    /* row[i]: the row that the interchanges so far have brought to place i; place: the reverse. */
    int64_t *row = malloc(3 * (size_t)n * sizeof *row), *place = row + n, *target = row + 2 * n;

    for (int64_t i = 0; row && i < n; i++)
        row[i] = i;
    for (int64_t i = 0; row && i < n; i++) {
        int64_t other = pivots[i] - 1, swap = row[i];

        row[i] = row[other];
        row[other] = swap;
    }
    for (int64_t i = 0; row && i < n; i++)
        target[row[i]] = i; /* the row at place i returns to place row[i] */
    for (int64_t i = 0; row && i < n; i++)
        row[i] = place[i] = i;
    for (int64_t i = 0; row && i < n; i++) {
        int64_t from = place[target[i]], moved = row[i];

        inverse[i] = from + 1;
        row[from] = moved;
        place[moved] = from;
    }
    free(row);
    return row;
}

static enum sc_status solve(struct sc_columns_job *c)
{
    char trans = c->kernel->transa;
    enum sc_status status;

    if (trans != 'N') {
        c->inverse = malloc((size_t)c->kernel->n * sizeof *c->inverse);
        status = c->inverse && invert(c->kernel->pivots, c->kernel->n, c->inverse) ? SC_OK : SC_ERR_MEMORY;
    } else {
        status = sc_columns_swap_right(c, c->kernel->pivots);
    }
    if (status == SC_OK)
        status = trans == 'N' ? sc_columns_triangle(c, 'L', 'N', 'U') : sc_columns_triangle(c, 'U', trans, 'N');
    if (status == SC_OK)
        status = trans == 'N' ? sc_columns_triangle(c, 'U', 'N', 'N') : sc_columns_triangle(c, 'L', trans, 'U');
    return status == SC_OK && trans != 'N' ? sc_columns_swap_right(c, c->inverse) : status;
}

const struct sc_columns_method sc_columns_lu = {.op = SC_OP_GETRF, .finish = finish, .update = update,
                                               .swaps_left = true},
                               sc_columns_lu_solution = {.op = SC_OP_GETRS, .solve = solve};
/* SPDX-License-Identifier: BSD-2-Clause */
