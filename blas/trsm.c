/* trsm, trsv: by blocks along the triangle.  The cuts of both dimensions of A are merged, so that diagonal blocks are
 * square; each solved block is subtracted from the blocks that follow. */
#include "blas/tasks.h"

/* Whether op(A) is lower triangular. */
static bool op_is_lower(const struct sc_kernel *kernel)
{
    return (kernel->uplo == 'L') == (kernel->transa == 'N');
}

static void triangle_cuts(const struct sc_operand *a, struct sc_cuts *cuts)
{
    sc_coherence_row_cuts(a, cuts);
    sc_blas_merge_cols(cuts, a);
}

static struct sc_piece diagonal(const struct sc_operand *a, const struct sc_cuts *t, int i)
{
    return sc_blas_matrix(a, t->at[i], t->at[i], sc_blas_part(t, i), sc_blas_part(t, i), SC_READ);
}

/* Block (i, j) of op(A). */
static struct sc_piece block(const struct sc_operand *a, char trans, const struct sc_cuts *t, int i, int j)
{
    return sc_blas_op_matrix(a, trans, t->at[i], t->at[j], sc_blas_part(t, i), sc_blas_part(t, j), SC_READ);
}

/* --- trsm -------------------------------------------------------------------------------------------------------- */

/* A strip of right-hand sides: columns of B for side L, rows for side R. */
struct strip {
    struct sc_blas_job *call;
    const struct sc_cuts *t; /* along the triangle */
    int64_t first, n;        /* across */
    bool left;
};

static struct sc_piece strip_block(const struct strip *s, int i, enum sc_access access)
{
    const struct sc_operand *b = &s->call->operand[1];

    if (s->left)
        return sc_blas_matrix(b, s->t->at[i], s->first, sc_blas_part(s->t, i), s->n, access);
    return sc_blas_matrix(b, s->first, s->t->at[i], s->n, sc_blas_part(s->t, i), access);
}

static enum sc_status solve(const struct strip *s, int i, bool first)
{
    struct sc_kernel kernel = *s->call->kernel;
    struct sc_piece x = strip_block(s, i, SC_RDWR);

    kernel.m = x.rows;
    kernel.n = x.cols;
    if (!first) { /* the update has multiplied by alpha */
        kernel.alpha[0] = 1;
        kernel.alpha[1] = 0;
    }
    return sc_blas_task(sc_coherence_where(&x), &kernel, diagonal(&s->call->operand[0], s->t, i), x, sc_blas_none());
}

/* Block l of B -= what block i, solved, contributes to it. */
static enum sc_status update(const struct strip *s, int i, int l, bool first)
{
    const struct sc_kernel *call = s->call->kernel;
    const struct sc_operand *a = &s->call->operand[0];
    struct sc_piece x = strip_block(s, i, SC_READ), y = strip_block(s, l, SC_RDWR);
    struct sc_kernel kernel = {.op = SC_OP_GEMM, .type = call->type, .transa = 'N', .transb = 'N', .m = y.rows,
                               .n = y.cols, .k = sc_blas_part(s->t, i), .alpha = {-1, 0}};
    int device = sc_coherence_where(&y);

    sc_blas_set_beta(&kernel, call->alpha, first);
    if (s->left) {
        kernel.transa = call->transa;
        return sc_blas_task(device, &kernel, block(a, call->transa, s->t, l, i), x, y);
    }
    kernel.transb = call->transa;
    return sc_blas_task(device, &kernel, x, block(a, call->transa, s->t, i, l), y);
}

static enum sc_status solve_strip(const struct strip *s)
{
    bool ascending = op_is_lower(s->call->kernel) == s->left;
    enum sc_status status = SC_OK;
    int n = s->t->n;

    for (int step = 0; step < n && status == SC_OK; step++) {
        int i = ascending ? step : n - 1 - step;

        status = solve(s, i, step == 0);
        for (int later = step + 1; later < n && status == SC_OK; later++)
            status = update(s, i, ascending ? later : n - 1 - later, step == 0);
    }
    return status;
}

enum sc_status sc_blas_trsm(struct sc_blas_job *call)
{
    const struct sc_operand *a = &call->operand[0], *b = &call->operand[1];
    struct strip s = {.call = call, .left = call->kernel->side == 'L'};
    struct sc_cuts along, across;
    enum sc_status status = SC_OK;

    triangle_cuts(a, &along);
    if (s.left) {
        sc_blas_merge_rows(&along, b);
        sc_coherence_col_cuts(b, &across);
    } else {
        sc_blas_merge_cols(&along, b);
        sc_coherence_row_cuts(b, &across);
    }
    s.t = &along;
    for (int j = 0; j < across.n && status == SC_OK; j++) {
        s.first = across.at[j];
        s.n = sc_blas_part(&across, j);
        status = solve_strip(&s);
    }
    return status;
}

/* --- trsv -------------------------------------------------------------------------------------------------------- */

static enum sc_status solve_vector(struct sc_blas_job *call, const struct sc_cuts *t, int i)
{
    struct sc_kernel kernel = *call->kernel;
    struct sc_piece a = diagonal(&call->operand[0], t, i);

    kernel.n = a.rows;
    return sc_blas_task(sc_coherence_where(&a), &kernel, a,
                        sc_blas_vector(&call->operand[1], t->at[i], a.rows, SC_RDWR), sc_blas_none());
}

static enum sc_status update_vector(struct sc_blas_job *call, const struct sc_cuts *t, int i, int l)
{
    const struct sc_operand *x = &call->operand[1];
    char trans = call->kernel->transa;
    struct sc_piece a = block(&call->operand[0], trans, t, l, i);
    struct sc_kernel kernel = {.op = SC_OP_GEMV, .type = call->kernel->type, .transa = trans, .m = a.rows, .n = a.cols,
                               .alpha = {-1, 0}, .beta = {1, 0}, .ldb = x->view.ld, .ldc = x->view.ld};

    return sc_blas_task(sc_coherence_where(&a), &kernel, a, sc_blas_vector(x, t->at[i], sc_blas_part(t, i), SC_READ),
                        sc_blas_vector(x, t->at[l], sc_blas_part(t, l), SC_RDWR));
}

enum sc_status sc_blas_trsv(struct sc_blas_job *call)
{
    bool ascending = op_is_lower(call->kernel);
    enum sc_status status = SC_OK;
    struct sc_cuts t;

    triangle_cuts(&call->operand[0], &t);
    sc_blas_vector_merge(&t, &call->operand[1]);
    for (int step = 0; step < t.n && status == SC_OK; step++) {
        int i = ascending ? step : t.n - 1 - step;

        status = solve_vector(call, &t, i);
        for (int later = step + 1; later < t.n && status == SC_OK; later++)
            status = update_vector(call, &t, i, ascending ? later : t.n - 1 - later);
    }
    return status;
}
