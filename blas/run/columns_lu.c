/* LU factorizations with partial pivoting by blocks of columns, their solutions, and inverses.
 *
 * The pivots of a block count from its first row.  They are interchanged in the blocks to the right during the updates.
 * The blocks to the left have their rows interchanged last, when all pivots are known: until then the updates of other
 * blocks read them. */
#include <stdlib.h>
#include <string.h>

#include "blas/blas.h"
#include "blas/run/columns.h"
#include "coherence/access.h"

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

/* --- inverses ----------------------------------------------------------------------------------------------------- */

/* X of A X = I, in a matrix of the library, then A := X.  The identity is made on the devices.  A device has the
 * columns of X that it has of A, and the factors travel.  The arithmetic is 1.5 times that of LAPACK's routine, whose
 * steps depend on each other.
 *
 * A zero on the diagonal of U is found first, when A can still be left as it is. */

/* Square j of X := x unit, with as many columns.  X has the blocks of A here (set_blocks merges their cuts). */
static enum sc_status set_square(const struct sc_columns_job *c, int j, struct sc_piece x)
{
    int64_t from = c->t.at[j], n = sc_blas_part(&c->t, j);
    struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_GEMM);
    struct sc_piece square = sc_blas_matrix(c->b, from, from, n, n, SC_RDWR);

    kernel.beta[0] = 0;
    kernel.m = kernel.n = kernel.k = n;
    if (n > c->unit->view.rows)
        return SC_ERR_UNSUPPORTED;
    return sc_blas_task(c->block[j].device, &kernel, x, sc_blas_matrix(c->unit, 0, 0, n, n, SC_READ), square);
}

/* The inverses of the diagonal blocks of U, in the place of X: INFO tells the first zero. */
static enum sc_status find_zero(struct sc_columns_job *c)
{
    enum sc_status status = sc_blas_clear(c->b);

    for (int j = 0; j < c->t.n && status == SC_OK; j++) {
        int64_t from = c->t.at[j], n = sc_blas_part(&c->t, j);
        struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_TRTRI);

        kernel.uplo = 'U';
        kernel.n = n;
        status = set_square(c, j, sc_columns_square(c, j, j, SC_READ));
        if (status == SC_OK)
            status = sc_columns_factor(c, j, kernel, sc_blas_matrix(c->b, from, from, n, n, SC_RDWR));
    }
    return status;
}

static enum sc_status solve_for_unit(struct sc_columns_job *c)
{
    enum sc_status status = sc_blas_clear(c->b);

    for (int j = 0; j < c->t.n && status == SC_OK; j++)
        status = set_square(c, j, sc_blas_matrix(c->unit, 0, 0, sc_blas_part(&c->t, j), sc_blas_part(&c->t, j),
                                                 SC_READ));
    if (status == SC_OK)
        status = sc_columns_swap_right(c, c->kernel->pivots);
    if (status == SC_OK)
        status = sc_columns_triangle(c, 'L', 'N', 'U');
    if (status == SC_OK)
        status = sc_columns_triangle(c, 'U', 'N', 'N');
    for (int j = 0; j < c->t.n && status == SC_OK; j++)
        status = sc_blas_copy_piece(c->block[j].device,
                                    sc_blas_matrix(c->b, 0, c->t.at[j], c->kernel->n, sc_blas_part(&c->t, j), SC_READ),
                                    sc_columns_rows(c, 0, c->kernel->n, j, SC_RDWR));
    return status;
}

static const struct sc_columns_method check = {.op = SC_OP_GETRI, .solve = find_zero},
                                      inverse = {.op = SC_OP_GETRI, .solve = solve_for_unit};

/* X, and the identity, both of the library. */
struct space {
    void *x, *unit;
    int64_t order;
};

/* A block has at most 1.5 times the planned columns, up to the next sector, which is narrower than half a block of a
 * large matrix. */
enum { SMALL = 2048 };

static bool space_begin(const struct sc_kernel *k, const struct sc_plan *plan, struct space *s)
{
    size_t bytes = sc_type_bytes(k->type);
    double real[2] = {1, 0};
    float single[2] = {1, 0};

    s->order = k->n <= SMALL || k->n < 2 * plan->columns.block ? k->n : 2 * plan->columns.block;
    s->x = sc_coherence_host_alloc((size_t)(k->n * k->n) * bytes);
    s->unit = sc_coherence_host_alloc((size_t)(s->order * s->order) * bytes);
    if (!s->x || !s->unit)
        return false;
    memset(s->unit, 0, (size_t)(s->order * s->order) * bytes);
    for (int64_t i = 0; i < s->order; i++)
        memcpy((char *)s->unit + (size_t)(i * s->order + i) * bytes,
               k->type == SC_S || k->type == SC_C ? (void *)single : (void *)real, bytes);
    return true;
}

static void space_end(struct space *s)
{
    if (s->x)
        sc_coherence_host_free(s->x);
    if (s->unit)
        sc_coherence_host_free(s->unit);
}

static enum sc_status run_method(const struct sc_columns_method *method, const struct sc_kernel *k,
                                 const struct sc_plan *plan, const struct space *s, int64_t *info)
{
    struct sc_blas_bracket b = {.kernel = *k, .count = 3};
    enum sc_status status;

    b.view[0] = (struct sc_view){.ptr = k->a, .type = k->type, .rows = k->n, .cols = k->n, .ld = k->lda,
                                 .access = SC_RDWR, .split = SC_SPLIT_COLS, .spread = plan->operand[0].spread,
                                 .block = plan->columns.block};
    b.view[1] = b.view[0];
    b.view[1].ptr = s->x;
    b.view[1].ld = k->n;
    b.view[2] = (struct sc_view){.ptr = s->unit, .type = k->type, .rows = s->order, .cols = s->order, .ld = s->order,
                                 .access = SC_READ, .spread = 1};
    status = sc_blas_bracket_open(&b, true);
    return status == SC_OK ? sc_columns_run(method, &b, plan, method == &inverse, NULL, info) : status;
}

enum sc_status sc_blas_columns_inverse(const struct sc_kernel *k, const struct sc_plan *plan, int64_t *info)
{
    struct space s = {.x = NULL, .unit = NULL};
    enum sc_status status = space_begin(k, plan, &s) ? SC_OK : SC_ERR_MEMORY;

    if (status == SC_OK)
        status = run_method(&check, k, plan, &s, info);
    if (status == SC_OK && *info == 0)
        status = run_method(&inverse, k, plan, &s, info);
    space_end(&s);
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
