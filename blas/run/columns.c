/* Routines of LAPACK over several devices, and on matrices larger than a device, by blocks of columns.
 *
 * A block lies on one device.  A finished block updates the blocks to its right, each on the device of the updated
 * block: only finished blocks travel.  Both triangles of a Cholesky factor proceed in this way; the upper triangle's
 * update of a block reads all rows above (Crout's order).  Solutions use the same blocks.  The inverse of a lower
 * triangle begins with the last block, and a finished block updates the blocks to its left.
 *
 * A group is the blocks that the devices hold together.  Blocks that were finished before the group pass by and update
 * the group; then the group is factored.  A matrix that fits has one group.  A matrix to be uploaded has several, so
 * that the first groups are factored while the others arrive.
 *
 * INFO of all blocks is awaited at the end.  After a block without factors the rest of the work is without meaning, and
 * INFO tells the first such block. */
#include "blas/run/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "blas/blas.h"
#include "coherence/access.h"

static const struct sc_columns_method *const methods[] = {&sc_columns_cholesky, &sc_columns_cholesky_solution,
                                                          &sc_columns_lu, &sc_columns_lu_solution, &sc_columns_qr,
                                                          &sc_columns_orthogonal, &sc_columns_inverse,
                                                          &sc_columns_product};

static const struct sc_columns_method *method_of(enum sc_op op)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (methods[i]->op == op)
            return methods[i];
    return NULL;
}

bool sc_blas_has_columns(enum sc_op op) { return method_of(op); }

/* --- pieces ------------------------------------------------------------------------------------------------------- */

struct sc_piece sc_columns_rows(const struct sc_columns_job *c, int64_t from, int64_t end, int j, enum sc_access access)
{
    return sc_blas_matrix(c->a, from, c->t.at[j], end - from, sc_blas_part(&c->t, j), access);
}

struct sc_piece sc_columns_square(const struct sc_columns_job *c, int i, int j, enum sc_access access)
{
    return sc_columns_rows(c, c->t.at[i], c->t.at[i + 1], j, access);
}

struct sc_kernel sc_columns_kernel(const struct sc_columns_job *c, enum sc_op op)
{
    return (struct sc_kernel){.op = op, .type = c->kernel->type, .uplo = c->kernel->uplo, .transa = 'N', .transb = 'N',
                              .diag = 'N', .alpha = {1, 0}, .beta = {1, 0}};
}

/* Rows [from, end) of part p of the right sides. */
static struct sc_piece right_rows(const struct sc_columns_job *c, int64_t from, int64_t end, int p,
                                  enum sc_access access)
{
    return sc_blas_matrix(c->b, from, c->right.at[p], end - from, sc_blas_part(&c->right, p), access);
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

enum sc_status sc_columns_add(const struct sc_columns_job *c, int device, double alpha, char trans_x, struct sc_piece x,
                              char trans_y, struct sc_piece y, struct sc_piece z)
{
    struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_GEMM);

    kernel.transa = trans_x;
    kernel.transb = trans_y;
    kernel.alpha[0] = alpha;
    kernel.m = z.rows;
    kernel.n = z.cols;
    kernel.k = trans_x == 'N' ? x.cols : x.rows;
    return z.rows && z.cols && kernel.k ? sc_blas_task(device, &kernel, x, y, z) : SC_OK;
}

enum sc_status sc_columns_subtract(const struct sc_columns_job *c, int device, char trans_x, struct sc_piece x,
                                   char trans_y, struct sc_piece y, struct sc_piece z)
{
    return sc_columns_add(c, device, -1, trans_x, x, trans_y, y, z);
}

struct sc_view sc_columns_host_view(const struct sc_piece *p)
{
    struct sc_view view = p->operand->view;

    view.ptr = (const char *)view.ptr + (size_t)(p->r + p->c * view.ld) * sc_type_bytes(view.type);
    view.rows = p->rows;
    view.cols = p->cols;
    view.access = p->access;
    return view;
}

enum sc_status sc_columns_factor(const struct sc_columns_job *c, int k, struct sc_kernel kernel, struct sc_piece piece)
{
    struct sc_piece pieces[3] = {piece, sc_blas_none(), sc_blas_none()};
    struct sc_column_block *b = &c->block[k];
    struct sc_view view = sc_columns_host_view(&piece);

    if (sc_coherence_task(b->device, &kernel, pieces, &b->launched.fence, &b->launched.slot) == SC_OK)
        return SC_OK;
    kernel.a = (void *)view.ptr;
    kernel.lda = view.ld;
    kernel.result = &b->info;
    b->on_host = true;
    return sc_coherence_host_task(&kernel, &view, 1);
}

/* A task whose end is awaited. */
static enum sc_status run_awaited(struct sc_columns_job *c, int device, struct sc_kernel *kernel,
                                  const struct sc_piece pieces[3])
{
    struct sc_fence fence = SC_FENCE_NONE;
    void *slot;
    enum sc_status status = sc_coherence_task(device, kernel, pieces, &fence, &slot);

    if (status == SC_OK && fence.seq)
        c->last[fence.device] = fence;
    return status;
}

enum sc_status sc_columns_task(struct sc_columns_job *c, int device, struct sc_kernel *kernel,
                               const struct sc_piece pieces[3])
{
    void **slot[3] = {&kernel->a, &kernel->b, &kernel->c};
    int64_t *ld[3] = {&kernel->lda, &kernel->ldb, &kernel->ldc}, info;
    struct sc_view view[3];
    int count = 0;

    if (run_awaited(c, device, kernel, pieces) == SC_OK)
        return SC_OK;
    for (int i = 0; i < 3; i++)
        if (pieces[i].operand) {
            view[count] = sc_columns_host_view(&pieces[i]);
            *slot[i] = (void *)view[count].ptr;
            *ld[i] = view[count++].ld;
        }
    kernel->result = &info;
    return sc_coherence_host_task(kernel, view, count);
}

enum sc_status sc_columns_swap(struct sc_columns_job *c, int device, int64_t first, int64_t end, int64_t *pivots,
                               struct sc_piece after, struct sc_piece piece)
{
    struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_LASWP);

    kernel.m = piece.rows;
    kernel.n = piece.cols;
    kernel.kl = first + 1;
    kernel.k = end;
    kernel.pivots = pivots;
    return sc_columns_task(c, device, &kernel, (struct sc_piece[3]){after, sc_blas_none(), piece});
}

/* --- solutions ---------------------------------------------------------------------------------------------------- */

/* The device of a task on block k and a part of the right sides. */
static int device_of(const struct sc_columns_job *c, int k, const struct sc_piece *right)
{
    return c->at_blocks ? c->block[k].device : sc_coherence_where(right);
}

enum sc_status sc_columns_swap_right(struct sc_columns_job *c, int64_t *pivots)
{
    enum sc_status status = SC_OK;

    for (int p = 0; p < c->right.n && status == SC_OK; p++) {
        struct sc_piece right = right_rows(c, 0, c->kernel->n, p, SC_RDWR);

        status = sc_columns_swap(c, sc_coherence_where(&right), 0, c->kernel->n, pivots, sc_blas_none(), right);
    }
    return status;
}

/* Solves for the rows of block k, and subtracts their contribution to the other rows of the triangle's column; or, with
 * the adjoint, subtracts the contribution of the other rows first. */
static enum sc_status solve_block(struct sc_columns_job *c, int k, int part, char uplo, char trans, char diag)
{
    int64_t from = c->t.at[k], end = c->t.at[k + 1], rest = uplo == 'L' ? end : 0;
    int64_t rest_end = uplo == 'L' ? c->kernel->n : from;
    struct sc_piece column = sc_columns_rows(c, rest, rest_end, k, SC_READ);
    struct sc_piece x = right_rows(c, from, end, part, SC_RDWR), others = right_rows(c, rest, rest_end, part, SC_RDWR);
    struct sc_kernel divide = sc_columns_kernel(c, SC_OP_TRSM);
    int device = device_of(c, k, &x);
    enum sc_status status = SC_OK;

    divide.side = 'L';
    divide.uplo = uplo;
    divide.transa = trans;
    divide.diag = diag;
    divide.m = x.rows;
    divide.n = x.cols;
    if (trans != 'N') {
        others.access = SC_READ;
        status = sc_columns_subtract(c, device, trans, column, 'N', others, x);
    }
    if (status == SC_OK)
        status = run_awaited(c, device, &divide,
                             (struct sc_piece[3]){sc_columns_square(c, k, k, SC_READ), x, sc_blas_none()});
    x.access = SC_READ;
    return status == SC_OK && trans == 'N' ? sc_columns_subtract(c, device, 'N', column, 'N', x, others) : status;
}

enum sc_status sc_columns_triangle(struct sc_columns_job *c, char uplo, char trans, char diag)
{
    bool ascending = (uplo == 'L') == (trans == 'N');
    enum sc_status status = SC_OK;

    for (int p = 0; p < c->right.n && status == SC_OK; p++)
        for (int i = 0; i < c->t.n && status == SC_OK; i++)
            status = solve_block(c, ascending ? i : c->t.n - 1 - i, p, uplo, trans, diag);
    return status;
}

/* --- factorizations ----------------------------------------------------------------------------------------------- */

/* The block that is finished in turn p. */
static int block_at(const struct sc_columns_job *c, int p) { return c->descends ? c->t.n - 1 - p : p; }

/* Columns of the blocks of turns [from, end). */
static int64_t columns_of(const struct sc_columns_job *c, int from, int end)
{
    return c->descends ? c->t.at[c->t.n - from] - c->t.at[c->t.n - end] : c->t.at[end] - c->t.at[from];
}

/* Updates the blocks of turns [from, end) by the finished block of turn k: blocks on the device, or on all others. */
static enum sc_status update_all(struct sc_columns_job *c, const struct sc_columns_method *method, int k, int from,
                                 int end, int device, bool there)
{
    enum sc_status status = SC_OK;

    for (int p = from; p < end && status == SC_OK; p++) {
        int j = block_at(c, p);

        if ((c->block[j].device == device) == there)
            status = method->update(c, j, block_at(c, k));
    }
    return status;
}

/* Factors the blocks of turns [from, end), which earlier blocks have updated.  The next block is finished before the
 * rest is updated.  The other devices have their tasks first, because the launch of a factorization may wait for its
 * end. */
static enum sc_status factor_group(struct sc_columns_job *c, const struct sc_columns_method *method, int from, int end)
{
    enum sc_status status = method->finish(c, block_at(c, from));

    for (int k = from; k + 1 < end && status == SC_OK; k++) {
        int next = block_at(c, k + 1), device = c->block[next].device;

        status = method->update(c, next, block_at(c, k));
        if (status == SC_OK)
            status = update_all(c, method, k, k + 2, end, device, false);
        if (status == SC_OK)
            status = method->finish(c, next);
        if (status == SC_OK)
            status = update_all(c, method, k, k + 2, end, device, true);
    }
    return status;
}

static enum sc_status factor_all(struct sc_columns_job *c, const struct sc_columns_method *method, int64_t group)
{
    enum sc_status status = SC_OK;

    for (int from = 0, end; from < c->t.n && status == SC_OK; from = end) {
        for (end = from + 1; end < c->t.n && columns_of(c, from, end + 1) <= group;)
            end++;
        for (int k = 0; k < from && status == SC_OK; k++)
            status = update_all(c, method, k, from, end, SC_HOST, false);
        if (status == SC_OK)
            status = factor_group(c, method, from, end);
    }
    return status;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

/* Cuts tiles into blocks at boundaries of sectors. */
static void cut(struct sc_cuts *t, const struct sc_operand *a, int64_t block)
{
    struct sc_cuts tiles;

    sc_coherence_col_cuts(a, &tiles);
    t->n = 0;
    t->at[0] = 0;
    for (int i = 0; i < tiles.n; i++) {
        int64_t end = tiles.at[i + 1], next;

        while (end - t->at[t->n] > block + block / 2 && t->n + tiles.n - i < SC_CUTS_MAX &&
               (next = sc_coherence_next_sector(a, t->at[t->n] + block)) < end)
            t->at[++t->n] = next;
        t->at[++t->n] = end;
    }
}

static void set_devices(struct sc_columns_job *c)
{
    for (int j = 0; j < c->t.n; j++) {
        struct sc_piece whole = sc_columns_rows(c, 0, c->a->view.rows, j, SC_RDWR);

        c->block[j].device = sc_coherence_where(&whole);
    }
}

/* Cuts at the ends of both.  False: these are too many. */
static bool merge(struct sc_cuts *t, const struct sc_cuts *other)
{
    struct sc_cuts both = {.n = 0};

    for (int i = 0, j = 0; i < t->n && both.n < SC_CUTS_MAX;) {
        int64_t a = t->at[i + 1], b = other->at[j + 1];

        both.at[++both.n] = a < b ? a : b;
        i += a <= b;
        j += b <= a;
    }
    if (both.at[both.n] < t->at[t->n])
        return false;
    *t = both;
    return true;
}

static bool set_blocks(struct sc_columns_job *c, int64_t block)
{
    cut(&c->t, c->a, block);
    if (c->b)
        sc_coherence_col_cuts(c->b, &c->right);
    if (c->unit && !merge(&c->t, &c->right))
        return false;
    if (c->unit)
        c->right = c->t;
    c->block = calloc((size_t)c->t.n, sizeof *c->block);
    if (c->block)
        set_devices(c);
    return c->block;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

/* INFO of the first block without factors, as of the whole matrix; 0: none.  Waits for all blocks. */
static int64_t info_of(const struct sc_columns_job *c)
{
    int64_t first = 0;

    for (int k = 0; k < c->t.n; k++) {
        const struct sc_column_block *b = &c->block[k];
        int64_t info = b->on_host ? b->info : b->launched.slot ? sc_blas_info(&b->launched) : 0;

        if (info > 0 && first == 0)
            first = c->t.at[k] + info;
    }
    return first;
}

/* The first zero on the diagonal, from 1 on; 0: none. */
static int64_t first_zero(const struct sc_columns_job *c)
{
    enum sc_type type = c->kernel->type;
    int64_t parts = sc_type_is_complex(type) ? 2 : 1;
    const double *wide = c->diagonal;
    const float *narrow = c->diagonal;

    for (int64_t i = 0; i < parts * c->kernel->n; i += parts)
        if (type == SC_S || type == SC_C ? narrow[i] == 0 && narrow[i + parts - 1] == 0
                                         : wide[i] == 0 && wide[i + parts - 1] == 0)
            return i / parts + 1;
    return 0;
}

/* Waits until the devices have read pivots and tau and finished right sides. */
static enum sc_status wait_for_last(struct sc_columns_job *c)
{
    enum sc_status status = SC_OK, one;

    for (int d = 0; d < SC_DEVICES_MAX; d++) {
        one = sc_coherence_wait(c->last[d]);
        status = one == SC_OK ? status : one;
        c->last[d] = SC_FENCE_NONE;
    }
    return status;
}

/* Pivots that count from the first row of their block count from the first row of A afterwards. */
static void move_pivots(const struct sc_columns_job *c)
{
    int64_t count = sc_kernel_small(c->kernel);

    for (int k = 0; k < c->t.n; k++)
        for (int64_t i = c->t.at[k]; i < c->t.at[k + 1] && i < count; i++)
            c->kernel->pivots[i] += c->t.at[k];
}

static enum sc_status swap_on_host(const struct sc_columns_job *c, int j, int64_t end)
{
    struct sc_kernel kernel = sc_columns_kernel(c, SC_OP_LASWP);
    int64_t info;

    kernel.c = (char *)c->kernel->a + (size_t)(c->t.at[j] * c->kernel->lda) * sc_type_bytes(kernel.type);
    kernel.ldc = c->kernel->lda;
    kernel.m = c->kernel->m;
    kernel.n = sc_blas_part(&c->t, j);
    kernel.kl = c->t.at[j + 1] + 1;
    kernel.k = end;
    kernel.pivots = c->kernel->pivots;
    kernel.result = &info;
    return sc_coherence_kernel_on_host(&kernel);
}

/* The matrix still has its blocks: it was not cut anew between two brackets. */
static bool has_blocks(const struct sc_columns_job *c, int64_t block)
{
    struct sc_cuts now;

    cut(&now, c->a, block);
    return now.n == c->t.n && memcmp(now.at, c->t.at, (size_t)(now.n + 1) * sizeof *now.at) == 0;
}

/* Interchanges rows of finished blocks by all later pivots, which the host knows by now, in a bracket of its own. */
static enum sc_status swap_left(struct sc_columns_job *c, const struct sc_plan *plan, bool last,
                                struct sc_blas_bracket *b)
{
    bool is_open = sc_blas_bracket_begin(c->kernel, plan, b) == SC_OK;
    bool here = is_open && has_blocks(c, plan->columns.block);
    int64_t end = sc_kernel_small(c->kernel);
    enum sc_status status = SC_OK;

    if (here)
        set_devices(c);
    else if (is_open)
        sc_blas_bracket_end(b, false);
    if (!here)
        sc_blas_host_operands(b->view, b->count);
    for (int j = 0; j < c->t.n && c->t.at[j + 1] < end && status == SC_OK; j++)
        status = here ? sc_columns_swap(c, c->block[j].device, c->t.at[j + 1], end, c->kernel->pivots, sc_blas_none(),
                                        sc_columns_rows(c, 0, c->kernel->m, j, SC_RDWR))
                      : swap_on_host(c, j, end);
    if (here)
        sc_blas_bracket_end(b, last);
    return status;
}

static enum sc_status run(struct sc_columns_job *c, const struct sc_columns_method *method, const struct sc_plan *plan,
                          bool last, struct sc_blas_bracket *b, int64_t *info)
{
    enum sc_status status = method->solve ? method->solve(c) : factor_all(c, method, plan->columns.group), waited;

    sc_blas_bracket_end(b, last && !method->swaps_left);
    *info = info_of(c);
    waited = wait_for_last(c);
    status = status == SC_OK ? waited : status;
    if (status == SC_OK && c->diagonal)
        *info = first_zero(c);
    if (!method->swaps_left || status != SC_OK)
        return status;
    move_pivots(c);
    status = swap_left(c, plan, last, b);
    waited = wait_for_last(c);
    return status == SC_OK ? waited : status;
}

enum sc_status sc_columns_run(const struct sc_columns_method *method, struct sc_blas_bracket *b,
                              const struct sc_plan *plan, bool last, void *diagonal, int64_t *info)
{
    struct sc_columns_job c = {.kernel = &b->kernel, .a = &b->operand[0], .at_blocks = plan->columns.at_blocks,
                               .b = b->count > 1 ? &b->operand[1] : NULL, .unit = b->count > 2 ? &b->operand[2] : NULL,
                               .diagonal = diagonal};
    enum sc_status status;

    c.descends = c.kernel->op == SC_OP_TRTRI && c.kernel->uplo == 'L';
    if (!set_blocks(&c, plan->columns.block)) {
        sc_blas_bracket_end(b, false);
        return SC_ERR_MEMORY;
    }
    status = run(&c, method, plan, last, b, info);
    if (status != SC_OK) {
        sc_log(SC_LOG_ERROR, "%s could not be finished (%s): INFO says that it failed", sc_op_name(c.kernel->op),
               sc_status_name(status));
        *info = 1;
    }
    free(c.inverse);
    free(c.block);
    return SC_OK;
}

static enum sc_status run_method(const struct sc_columns_method *method, const struct sc_kernel *kernel,
                                 const struct sc_plan *plan, bool last, void *diagonal, int64_t *info)
{
    struct sc_blas_bracket b;
    enum sc_status status = sc_blas_bracket_begin(kernel, plan, &b);

    return status == SC_OK ? sc_columns_run(method, &b, plan, last, diagonal, info) : status;
}

/* The inverse of a singular triangle leaves the triangle unchanged, and blocks are inverted in place: a zero on the
 * diagonal is found before.  Without memory the blocks tell INFO, and have changed. */
static enum sc_status find_zero(const struct sc_kernel *kernel, const struct sc_plan *plan, int64_t *info)
{
    void *diagonal = sc_coherence_host_alloc((size_t)kernel->n * sc_type_bytes(kernel->type));
    enum sc_status status = SC_OK;

    if (diagonal && sc_coherence_pin(diagonal) == SC_OK)
        status = run_method(&sc_columns_diagonal, kernel, plan, false, diagonal, info);
    if (diagonal)
        sc_coherence_host_free(diagonal);
    return status;
}

enum sc_status sc_blas_columns(const struct sc_kernel *kernel, const struct sc_plan *plan, bool last, int64_t *info)
{
    enum sc_status status = SC_OK;

    *info = 0;
    if (kernel->op == SC_OP_TRTRI && kernel->diag == 'N')
        status = find_zero(kernel, plan, info);
    return status == SC_OK && *info == 0 ? run_method(method_of(kernel->op), kernel, plan, last, NULL, info)
                                         : status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
