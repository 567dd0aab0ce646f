/* trmv: x := op(A) x in place, by blocks along the triangle.  The parts of x are overwritten in an order that keeps
 * the old values that op(A) still needs. */
#include "blas/run/triangle.h"

static struct sc_piece part_of(const struct sc_blas_job *call, const struct sc_cuts *t, int i, enum sc_access access)
{
    return sc_blas_vector(&call->operand[1], t->at[i], sc_blas_part(t, i), access);
}

/* Part i of x := block (i, i) of op(A) times part i. */
static enum sc_status multiply(struct sc_blas_job *call, const struct sc_cuts *t, int i)
{
    struct sc_kernel kernel = *call->kernel;
    struct sc_piece a = sc_blas_diagonal(&call->operand[0], t, i);

    kernel.n = a.rows;
    return sc_blas_task(sc_coherence_where(&a), &kernel, a, part_of(call, t, i, SC_RDWR), sc_blas_none());
}

/* Part i of x += block (i, j) of op(A) times part j, which still has its old value. */
static enum sc_status add(struct sc_blas_job *call, const struct sc_cuts *t, int i, int j)
{
    char trans = call->kernel->transa;
    int64_t inc = call->operand[1].view.ld;
    struct sc_piece a = sc_blas_triangle_block(&call->operand[0], trans, t, i, j);
    struct sc_kernel kernel = {.op = SC_OP_GEMV, .type = call->kernel->type, .transa = trans, .m = a.rows, .n = a.cols,
                               .conj = call->kernel->conj, .alpha = {1, 0}, .beta = {1, 0}, .ldb = inc, .ldc = inc};

    return sc_blas_task(sc_coherence_where(&a), &kernel, a, part_of(call, t, j, SC_READ),
                        part_of(call, t, i, SC_RDWR));
}

enum sc_status sc_blas_trmv(struct sc_blas_job *call)
{
    bool descending = sc_blas_op_is_lower(call->kernel);
    enum sc_status status = SC_OK;
    struct sc_cuts t;

    sc_blas_triangle_cuts(&call->operand[0], &t);
    sc_blas_vector_merge(&t, &call->operand[1]);
    for (int step = 0; step < t.n && status == SC_OK; step++) {
        int i = descending ? t.n - 1 - step : step;

        status = multiply(call, &t, i);
        for (int other = step + 1; other < t.n && status == SC_OK; other++)
            status = add(call, &t, i, descending ? t.n - 1 - other : other);
    }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
