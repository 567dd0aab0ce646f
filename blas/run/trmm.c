/* trmm: B := alpha op(A) B or alpha B op(A), in place, by blocks along the triangle.  The order is the reverse of
 * trsm's: other blocks read a block of B before its overwriting.  With by_source, a block is first added to the
 * finished blocks and then multiplied by its diagonal block.  Otherwise a block is multiplied first and then
 * collects the contributions of blocks that still have their old values. */
#include "blas/run/triangle.h"

/* Block i of B += alpha times the contributions of `others`, which still have their old values. */
static enum sc_status add(const struct sc_blas_strip *s, int i, struct sc_blas_range others)
{
    const struct sc_kernel *call = s->call->kernel;
    struct sc_kernel kernel = {.alpha = {call->alpha[0], call->alpha[1]}, .beta = {1, 0}};

    return sc_blas_strip_gemm(s, &kernel, i, others);
}

static enum sc_status multiply_block(const struct sc_blas_strip *s, int step)
{
    bool descending = sc_blas_op_is_lower(s->call->kernel) == s->left;
    enum sc_status status = SC_OK;
    int n = s->along.n, i = descending ? n - 1 - step : step;
    struct sc_blas_range others = {descending ? 0 : i + 1, descending ? i : n};

    for (int e = 0; e < step && status == SC_OK && s->by_source; e++)
        status = add(s, descending ? n - 1 - e : e, (struct sc_blas_range){i, i + 1});
    if (status == SC_OK)
        status = sc_blas_strip_diagonal(s, i, true);
    while (!s->by_source && others.from < others.end && status == SC_OK)
        status = add(s, i, sc_blas_strip_take(s, &others, descending));
    return status;
}

enum sc_status sc_blas_trmm(struct sc_blas_job *call)
{
    return sc_blas_strips(call, multiply_block);
}
/* SPDX-License-Identifier: BSD-2-Clause */
