/* trmm: B := alpha op(A) B or alpha B op(A), in place, by blocks along the triangle.  The order is that of trsm turned
 * round, so that a block of B is read by the others before it is overwritten: it gets what those that are still the
 * program's contribute once it is multiplied by its diagonal block, or it is added to the finished ones first. */
#include "blas/triangle.h"

/* Block i of B := alpha times its diagonal block. */
static enum sc_status scale(const struct sc_blas_strip *s, int i)
{
    struct sc_kernel kernel = *s->call->kernel;
    struct sc_piece x = sc_blas_strip_block(s, i, SC_RDWR);

    kernel.m = x.rows;
    kernel.n = x.cols;
    return sc_blas_task(sc_blas_strip_device(s, &x), &kernel, sc_blas_diagonal(&s->call->operand[0], &s->along, i), x,
                        sc_blas_none());
}

/* Block i of B += alpha times what block l, not yet overwritten, contributes to it. */
static enum sc_status add(const struct sc_blas_strip *s, int i, int l)
{
    const struct sc_kernel *call = s->call->kernel;
    struct sc_piece x = sc_blas_strip_block(s, l, SC_READ), y = sc_blas_strip_block(s, i, SC_RDWR);
    struct sc_kernel kernel = {.alpha = {call->alpha[0], call->alpha[1]}, .beta = {1, 0}};

    return sc_blas_strip_gemm(s, sc_blas_strip_device(s, &y), &kernel, i, l, x, y);
}

static enum sc_status multiply_strip(const struct sc_blas_strip *s)
{
    bool descending = sc_blas_op_is_lower(s->call->kernel) == s->left, by_source = sc_blas_strip_by_source(s);
    enum sc_status status = SC_OK;
    int n = s->along.n;

    for (int step = 0; step < n && status == SC_OK; step++) {
        int i = descending ? n - 1 - step : step;

        for (int e = 0; e < step && status == SC_OK && by_source; e++)
            status = add(s, descending ? n - 1 - e : e, i);
        if (status == SC_OK)
            status = scale(s, i);
        for (int e = step + 1; e < n && status == SC_OK && !by_source; e++)
            status = add(s, i, descending ? n - 1 - e : e);
    }
    return status;
}

enum sc_status sc_blas_trmm(struct sc_blas_job *call)
{
    return sc_blas_strips(call, multiply_strip);
}
