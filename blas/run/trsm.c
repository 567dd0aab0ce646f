/* trsm, trsv: by blocks along the triangle.  The cuts of A's rows and columns are merged: diagonal blocks are
 * square.  Each solved block is subtracted from the blocks that follow. */
#include "blas/run/triangle.h"

/* --- trsm --------------------------------------------------------------------------------------------------------- */

/* Block i of B -= the contributions of the solved blocks `others`. */
static enum sc_status update(const struct sc_blas_strip *s, int i, struct sc_blas_range others, bool first)
{
    struct sc_kernel kernel = {.alpha = {-1, 0}};

    sc_blas_set_beta(&kernel, s->call->kernel->alpha, first);
    return sc_blas_strip_gemm(s, &kernel, i, others);
}

/* by_source: each block is solved and subtracted from the later blocks.  Otherwise each block is updated by the
 * earlier blocks and solved. */
static enum sc_status solve_block(const struct sc_blas_strip *s, int step)
{
    bool ascending = sc_blas_op_is_lower(s->call->kernel) == s->left, first = true;
    enum sc_status status = SC_OK;
    int n = s->along.n, i = ascending ? step : n - 1 - step;
    struct sc_blas_range solved = {ascending ? 0 : i + 1, ascending ? i : n};

    for (; !s->by_source && solved.from < solved.end && status == SC_OK; first = false)
        status = update(s, i, sc_blas_strip_take(s, &solved, !ascending), first);
    if (status == SC_OK)
        status = sc_blas_strip_diagonal(s, i, step == 0); /* later updates have multiplied by alpha */
    for (int e = step + 1; e < n && status == SC_OK && s->by_source; e++)
        status = update(s, ascending ? e : n - 1 - e, (struct sc_blas_range){i, i + 1}, step == 0);
    return status;
}

enum sc_status sc_blas_trsm(struct sc_blas_job *call)
{
    return sc_blas_strips(call, solve_block);
}

/* --- trsv --------------------------------------------------------------------------------------------------------- */

static enum sc_status solve_vector(struct sc_blas_job *call, const struct sc_cuts *t, int i)
{
    struct sc_kernel kernel = *call->kernel;
    struct sc_piece a = sc_blas_diagonal(&call->operand[0], t, i);

    kernel.n = a.rows;
    return sc_blas_task(sc_coherence_where(&a), &kernel, a,
                        sc_blas_vector(&call->operand[1], t->at[i], a.rows, SC_RDWR), sc_blas_none());
}

static enum sc_status update_vector(struct sc_blas_job *call, const struct sc_cuts *t, int i, int l)
{
    const struct sc_operand *x = &call->operand[1];
    char trans = call->kernel->transa;
    struct sc_piece a = sc_blas_triangle_block(&call->operand[0], trans, t, l, i);
    struct sc_kernel kernel = {.op = SC_OP_GEMV, .type = call->kernel->type, .transa = trans, .m = a.rows, .n = a.cols,
                               .conj = call->kernel->conj, .alpha = {-1, 0}, .beta = {1, 0}, .ldb = x->view.ld,
                               .ldc = x->view.ld};

    return sc_blas_task(sc_coherence_where(&a), &kernel, a, sc_blas_vector(x, t->at[i], sc_blas_part(t, i), SC_READ),
                        sc_blas_vector(x, t->at[l], sc_blas_part(t, l), SC_RDWR));
}

enum sc_status sc_blas_trsv(struct sc_blas_job *call)
{
    bool ascending = sc_blas_op_is_lower(call->kernel);
    enum sc_status status = SC_OK;
    struct sc_cuts t;

    sc_blas_triangle_cuts(&call->operand[0], &t);
    sc_blas_vector_merge(&t, &call->operand[1]);
    for (int step = 0; step < t.n && status == SC_OK; step++) {
        int i = ascending ? step : t.n - 1 - step;

        status = solve_vector(call, &t, i);
        for (int later = step + 1; later < t.n && status == SC_OK; later++)
            status = update_vector(call, &t, i, ascending ? later : t.n - 1 - later);
    }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
