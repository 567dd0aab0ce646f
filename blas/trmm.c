/* trmm: B := alpha op(A) B or alpha B op(A), in place, by blocks along the triangle.  A block of B is multiplied by its
 * diagonal block, then gets what the blocks that are still the program's contribute: the order is that of trsm turned
 * round. */
#include "blas/triangle.h"

/* Block i of B := alpha times its diagonal block. */
static enum sc_status scale(const struct sc_blas_strip *s, int device, int i)
{
    struct sc_kernel kernel = *s->call->kernel;
    struct sc_piece x = sc_blas_strip_block(s, i, SC_RDWR);

    kernel.m = x.rows;
    kernel.n = x.cols;
    return sc_blas_task(device, &kernel, sc_blas_diagonal(&s->call->operand[0], &s->along, i), x, sc_blas_none());
}

/* Block i of B += alpha times what block l, not yet overwritten, contributes to it. */
static enum sc_status add(const struct sc_blas_strip *s, int device, int i, int l)
{
    const struct sc_kernel *call = s->call->kernel;
    struct sc_piece x = sc_blas_strip_block(s, l, SC_READ), y = sc_blas_strip_block(s, i, SC_RDWR);
    struct sc_kernel kernel = {.alpha = {call->alpha[0], call->alpha[1]}, .beta = {1, 0}};

    return sc_blas_strip_gemm(s, device, &kernel, i, l, x, y);
}

static enum sc_status multiply_strip(const struct sc_blas_strip *s)
{
    bool descending = sc_blas_op_is_lower(s->call->kernel) == s->left;
    enum sc_status status = SC_OK;
    int n = s->along.n;

    for (int step = 0; step < n && status == SC_OK; step++) {
        int i = descending ? n - 1 - step : step;
        struct sc_piece x = sc_blas_strip_block(s, i, SC_RDWR);
        int device = sc_coherence_where(&x);

        status = scale(s, device, i);
        for (int later = step + 1; later < n && status == SC_OK; later++)
            status = add(s, device, i, descending ? n - 1 - later : later);
    }
    return status;
}

enum sc_status sc_blas_trmm(struct sc_blas_job *call)
{
    return sc_blas_strips(call, multiply_strip);
}
