#include "blas/triangle.h"

void sc_blas_triangle_cuts(const struct sc_operand *a, struct sc_cuts *cuts)
{
    sc_coherence_row_cuts(a, cuts);
    sc_blas_merge_cols(cuts, a);
}

struct sc_piece sc_blas_diagonal(const struct sc_operand *a, const struct sc_cuts *t, int i)
{
    return sc_blas_matrix(a, t->at[i], t->at[i], sc_blas_part(t, i), sc_blas_part(t, i), SC_READ);
}

struct sc_piece sc_blas_triangle_block(const struct sc_operand *a, char trans, const struct sc_cuts *t, int i, int j)
{
    return sc_blas_op_matrix(a, trans, t->at[i], t->at[j], sc_blas_part(t, i), sc_blas_part(t, j), SC_READ);
}

struct sc_piece sc_blas_strip_block(const struct sc_blas_strip *s, int i, enum sc_access access)
{
    const struct sc_operand *b = &s->call->operand[1];

    if (s->left)
        return sc_blas_matrix(b, s->along.at[i], s->first, sc_blas_part(&s->along, i), s->n, access);
    return sc_blas_matrix(b, s->first, s->along.at[i], s->n, sc_blas_part(&s->along, i), access);
}

int sc_blas_strip_device(const struct sc_blas_strip *s, const struct sc_piece *block)
{
    return sc_blas_places_at(&s->places, block->r, block->c, block);
}

enum sc_status sc_blas_strip_gemm(const struct sc_blas_strip *s, int device, struct sc_kernel *kernel, int i, int l,
                                  struct sc_piece x, struct sc_piece y)
{
    const struct sc_operand *a = &s->call->operand[0];
    char trans = s->call->kernel->transa;

    kernel->op = SC_OP_GEMM;
    kernel->type = s->call->kernel->type;
    kernel->transa = kernel->transb = 'N';
    kernel->m = y.rows;
    kernel->n = y.cols;
    kernel->k = sc_blas_part(&s->along, l);
    if (s->left) {
        kernel->transa = trans;
        return sc_blas_task(device, kernel, sc_blas_triangle_block(a, trans, &s->along, i, l), x, y);
    }
    kernel->transb = trans;
    return sc_blas_task(device, kernel, x, sc_blas_triangle_block(a, trans, &s->along, l, i), y);
}

/* A whole strip is a block to the strategy: its parts follow from one another.  Where it is at the first of them is
 * where it is. */
struct strips {
    const struct sc_blas_strip *strip;
    const struct sc_cuts *across;
};

static struct sc_piece output_block(const void *of, int i, int j)
{
    const struct strips *s = of;
    struct sc_blas_strip strip; /* large: not initialised */
    int at = s->strip->left ? j : i;

    strip.call = s->strip->call;
    strip.left = s->strip->left;
    strip.along = s->strip->along;
    strip.first = s->across->at[at];
    strip.n = sc_blas_part(s->across, at);
    return sc_blas_strip_block(&strip, 0, SC_RDWR);
}

static void place(struct sc_blas_strip *s, const struct sc_cuts *across)
{
    const struct sc_kernel *kernel = s->call->kernel;
    int64_t order = s->left ? kernel->m : kernel->n;
    struct strips strips = {s, across};
    struct sc_cuts whole;

    sc_blas_whole(&whole, order);
    sc_blas_place(&(struct sc_blas_blocks){.of = &strips, .type = kernel->type, .rows = s->left ? &whole : across,
                                           .cols = s->left ? across : &whole, .products = order / 2,
                                           .block = output_block, .several = true}, &s->places);
}

enum sc_status sc_blas_strips(struct sc_blas_job *call, enum sc_status (*visit)(const struct sc_blas_strip *s))
{
    const struct sc_operand *b = &call->operand[1];
    enum sc_status status = SC_OK;
    struct sc_blas_strip s; /* large: not initialised */
    struct sc_cuts across;

    s.call = call;
    s.left = call->kernel->side == 'L';
    sc_blas_triangle_cuts(&call->operand[0], &s.along);
    sc_blas_merge_op_rows(&s.along, b, s.left ? 'N' : 'T');
    sc_blas_whole(&across, s.left ? call->kernel->n : call->kernel->m);
    sc_blas_merge_op_cols(&across, b, s.left ? 'N' : 'T');
    if (sc_blas_missing(call) >= SC_BLAS_PIPELINE_BYTES) {
        sc_blas_refine(&s.along, &call->operand[0], SC_BLAS_BLOCK_MIN);
        if (s.left && sc_coherence_devices() == 1) /* several have their own strips each */
            sc_blas_refine(&across, b, SC_BLAS_STRIP_MIN);
    }
    if (s.left)
        sc_blas_divide(&across, 1, b);
    place(&s, &across);
    for (int j = 0; j < across.n && status == SC_OK; j++) {
        s.first = across.at[j];
        s.n = sc_blas_part(&across, j);
        status = visit(&s);
    }
    sc_blas_places_free(&s.places);
    return status;
}
