/* Cholesky factorizations by blocks of columns, their solutions, inverses of triangles, and products of a triangle with
 * its adjoint. */
#include "blas/run/columns.h"

#include <string.h>

/* A diagonal block -= X X^H (lower) or X^H X (upper), where X is a part of a finished block. */
static enum sc_status update_diagonal(const struct sc_columns_job *c, int j, struct sc_piece x)
{
    struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_HERK);

    kernel.transa = c->kernel->uplo == 'L' ? 'N' : 'C';
    kernel.alpha[0] = -1;
    kernel.n = sc_blas_part(&c->t, j);
    kernel.k = c->kernel->uplo == 'L' ? x.cols : x.rows;
    return sc_blas_task(c->block[j].device, &kernel, x, sc_blas_none(), sc_columns_square(c, j, j, SC_RDWR));
}

/* x := x, divided by the factor of diagonal block k, on the device of block j. */
static enum sc_status divide(const struct sc_columns_job *c, int j, int k, struct sc_piece x)
{
    struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_TRSM);

    kernel.side = c->kernel->uplo == 'L' ? 'R' : 'L';
    kernel.transa = 'C';
    kernel.m = x.rows;
    kernel.n = x.cols;
    return sc_blas_task(c->block[j].device, &kernel, sc_columns_square(c, k, k, SC_READ), x, sc_blas_none());
}

static enum sc_status finish(struct sc_columns_job *c, int k)
{
    int64_t from = c->t.at[k], end = c->t.at[k + 1], order = c->kernel->n;
    struct sc_kernel diagonal = sc_columns_kernel(c, SC_OP_POTRF);
    enum sc_status status = SC_OK;

    diagonal.n = end - from;
    if (c->kernel->uplo == 'U' && from > 0)
        status = update_diagonal(c, k, sc_columns_rows(c, 0, from, k, SC_READ));
    if (status == SC_OK)
        status = sc_columns_factor(c, k, diagonal, sc_columns_square(c, k, k, SC_RDWR));
    if (status == SC_OK && c->kernel->uplo == 'L' && end < order)
        status = divide(c, k, k, sc_columns_rows(c, end, order, k, SC_RDWR));
    return status;
}

/* Block j -= L_k L_jk^H, from its diagonal on. */
static enum sc_status update_lower(const struct sc_columns_job *c, int j, int k)
{
    int64_t below = c->t.at[j + 1], end = c->kernel->n;
    struct sc_piece x = sc_columns_square(c, j, k, SC_READ);
    enum sc_status status = update_diagonal(c, j, x);

    if (status != SC_OK)
        return status;
    return sc_columns_subtract(c, c->block[j].device, 'N', sc_columns_rows(c, below, end, k, SC_READ), 'C', x,
                               sc_columns_rows(c, below, end, j, SC_RDWR));
}

/* Rows k of block j: U_kj := U_kk^-H (A_kj - the sum of U_ik^H U_ij over the rows i above). */
static enum sc_status update_upper(const struct sc_columns_job *c, int j, int k)
{
    int64_t above = c->t.at[k];
    struct sc_piece x = sc_columns_square(c, k, j, SC_RDWR);
    enum sc_status status = sc_columns_subtract(c, c->block[j].device, 'C', sc_columns_rows(c, 0, above, k, SC_READ),
                                                'N', sc_columns_rows(c, 0, above, j, SC_READ), x);

    return status == SC_OK ? divide(c, j, k, x) : status;
}

static enum sc_status update(struct sc_columns_job *c, int j, int k)
{
    return c->kernel->uplo == 'L' ? update_lower(c, j, k) : update_upper(c, j, k);
}

static enum sc_status solve(struct sc_columns_job *c)
{
    char uplo = c->kernel->uplo;
    enum sc_status status = sc_columns_triangle(c, uplo, uplo == 'L' ? 'N' : 'C', 'N');

    return status == SC_OK ? sc_columns_triangle(c, uplo, uplo == 'L' ? 'C' : 'N', 'N') : status;
}

/* --- inverses ----------------------------------------------------------------------------------------------------- */

/* Rows of block j that the triangle has beyond the diagonal block k. */
static struct sc_piece beyond(const struct sc_columns_job *c, int k, int j, enum sc_access access)
{
    bool lower = c->kernel->uplo == 'L';

    return sc_columns_rows(c, lower ? c->t.at[k + 1] : 0, lower ? c->kernel->n : c->t.at[k], j, access);
}

/* x := alpha X x (side L) or alpha x X (side R), X being the inverted diagonal block k, on the device of block j. */
static enum sc_status multiply(const struct sc_columns_job *c, int j, int k, char side, double alpha, struct sc_piece x)
{
    struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_TRMM);

    kernel.side = side;
    kernel.diag = c->kernel->diag;
    kernel.alpha[0] = alpha;
    kernel.m = x.rows;
    kernel.n = x.cols;
    return x.rows ? sc_blas_task(c->block[j].device, &kernel, sc_columns_square(c, k, k, SC_READ), x, sc_blas_none())
                  : SC_OK;
}

/* Updates have multiplied the rows beyond the diagonal block by the inverted rest of the triangle. */
static enum sc_status finish_inverse(struct sc_columns_job *c, int k)
{
    struct sc_kernel diagonal = sc_columns_kernel(c, SC_OP_TRTRI);
    enum sc_status status;

    diagonal.n = sc_blas_part(&c->t, k);
    diagonal.diag = c->kernel->diag;
    status = sc_columns_factor(c, k, diagonal, sc_columns_square(c, k, k, SC_RDWR));
    return status == SC_OK ? multiply(c, k, k, 'R', -1, beyond(c, k, k, SC_RDWR)) : status;
}

/* The diagonal of a square at home. */
static enum sc_status copy_diagonal(const struct sc_columns_job *c, const struct sc_piece *square, void *to)
{
    struct sc_view view = sc_columns_host_view(square);
    struct sc_kernel copy = sc_columns_kernel(c, SC_OP_COPY);
    int64_t info;

    view.vector = true;
    view.cols = 1;
    view.ld++;
    copy.n = view.rows;
    copy.a = (void *)view.ptr;
    copy.lda = view.ld;
    copy.b = to;
    copy.ldb = 1;
    copy.result = &info;
    return sc_coherence_host_task(&copy, &view, 1);
}

/* Reads the diagonal of A: the inverse of a singular triangle must leave the triangle unchanged, and blocks are
 * inverted in place.  Squares on their device stay there, the others stay at home. */
static enum sc_status read_diagonal(struct sc_columns_job *c)
{
    size_t bytes = sc_type_bytes(c->kernel->type);
    enum sc_status status = SC_OK;

    memset(c->diagonal, -1, (size_t)c->kernel->n * bytes); /* not zero, where devices emulate time alone */
    for (int j = 0; j < c->t.n && status == SC_OK; j++) {
        struct sc_piece square = sc_columns_square(c, j, j, SC_READ);
        char *to = (char *)c->diagonal + (size_t)c->t.at[j] * bytes;
        int device = c->block[j].device;

        if (!sc_coherence_ready(device, &square) ||
            sc_coherence_diagonal(device, &square, to, &c->last[device]) != SC_OK)
            status = copy_diagonal(c, &square, to);
    }
    return status;
}

/* Adds the product of inverted block k and the rows k of block j, which the block replaces by their own product. */
static enum sc_status update_inverse(struct sc_columns_job *c, int j, int k)
{
    enum sc_status status = sc_columns_add(c, c->block[j].device, 1, 'N', beyond(c, k, k, SC_READ), 'N',
                                           sc_columns_square(c, k, j, SC_READ), beyond(c, k, j, SC_RDWR));

    return status == SC_OK ? multiply(c, j, k, 'L', 1, sc_columns_square(c, k, j, SC_RDWR)) : status;
}

/* --- products ----------------------------------------------------------------------------------------------------- */

/* A := L^H L or A := U U^H, the second half of ?potri, in place.  Blocks are finished in ascending order.  A block
 * reads itself and the blocks to its right, which still have the factor.  All blocks may therefore be in work at once,
 * each on its own device. */

/* x := X^H x (lower) or x X^H (upper), X being the diagonal block k, on the device of block j. */
static enum sc_status multiply_by_adjoint(const struct sc_columns_job *c, int j, int k, struct sc_piece x)
{
    struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_TRMM);

    kernel.side = c->kernel->uplo == 'L' ? 'L' : 'R';
    kernel.transa = 'C';
    kernel.m = x.rows;
    kernel.n = x.cols;
    return x.rows ? sc_blas_task(c->block[j].device, &kernel, sc_columns_square(c, k, k, SC_READ), x, sc_blas_none())
                  : SC_OK;
}

/* The diagonal block j += X^H X (lower) or X X^H (upper). */
static enum sc_status add_square(const struct sc_columns_job *c, int j, struct sc_piece x)
{
    struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_HERK);

    kernel.transa = c->kernel->uplo == 'L' ? 'C' : 'N';
    kernel.n = sc_blas_part(&c->t, j);
    kernel.k = c->kernel->uplo == 'L' ? x.rows : x.cols;
    return kernel.k ? sc_blas_task(c->block[j].device, &kernel, x, sc_blas_none(), sc_columns_square(c, j, j, SC_RDWR))
                    : SC_OK;
}

static enum sc_status multiply_diagonal(const struct sc_columns_job *c, int j)
{
    struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_LAUUM);

    kernel.n = sc_blas_part(&c->t, j);
    return sc_columns_factor(c, j, kernel, sc_columns_square(c, j, j, SC_RDWR));
}

static enum sc_status finish_lower(const struct sc_columns_job *c, int j)
{
    int64_t end = c->kernel->n;
    enum sc_status status = multiply_diagonal(c, j);

    if (status == SC_OK)
        status = add_square(c, j, sc_columns_rows(c, c->t.at[j + 1], end, j, SC_READ));
    for (int i = j + 1; i < c->t.n && status == SC_OK; i++) {
        struct sc_piece x = sc_columns_square(c, i, j, SC_RDWR);

        status = multiply_by_adjoint(c, j, i, x);
        if (status == SC_OK)
            status = sc_columns_add(c, c->block[j].device, 1, 'C',
                                    sc_columns_rows(c, c->t.at[i + 1], end, i, SC_READ), 'N',
                                    sc_columns_rows(c, c->t.at[i + 1], end, j, SC_READ), x);
    }
    return status;
}

static enum sc_status finish_upper(const struct sc_columns_job *c, int j)
{
    int64_t above = c->t.at[j];
    struct sc_piece x = sc_columns_rows(c, 0, above, j, SC_RDWR);
    enum sc_status status = multiply_by_adjoint(c, j, j, x);

    if (status == SC_OK)
        status = multiply_diagonal(c, j);
    for (int k = j + 1; k < c->t.n && status == SC_OK; k++) {
        struct sc_piece row = sc_columns_square(c, j, k, SC_READ);

        status = add_square(c, j, row);
        if (status == SC_OK)
            status = sc_columns_add(c, c->block[j].device, 1, 'N', sc_columns_rows(c, 0, above, k, SC_READ), 'C', row,
                                    x);
    }
    return status;
}

static enum sc_status multiply_all(struct sc_columns_job *c)
{
    enum sc_status status = SC_OK;

    for (int j = 0; j < c->t.n && status == SC_OK; j++)
        status = c->kernel->uplo == 'L' ? finish_lower(c, j) : finish_upper(c, j);
    return status;
}

const struct sc_columns_method sc_columns_cholesky = {.op = SC_OP_POTRF, .finish = finish, .update = update},
                               sc_columns_cholesky_solution = {.op = SC_OP_POTRS, .solve = solve},
                               sc_columns_inverse = {.op = SC_OP_TRTRI, .finish = finish_inverse,
                                                     .update = update_inverse},
                               sc_columns_diagonal = {.op = SC_OP_TRTRI, .solve = read_diagonal},
                               sc_columns_product = {.op = SC_OP_LAUUM, .solve = multiply_all};
/* SPDX-License-Identifier: BSD-2-Clause */
