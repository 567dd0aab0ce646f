/* symm, hemm: C := alpha A B + beta C or alpha B A + beta C.  Diagonal blocks of A are symm tasks, the others gemm
 * tasks with the stored block or its transpose; the other triangle is never touched. */
#include "blas/tasks.h"

struct symmetric {
    struct sc_blas_job *call;
    struct sc_cuts t, across; /* along A, and the other dimension of C */
    struct sc_blas_places places;
    bool left, cleared; /* cleared: C is zero on the devices already; only when beta is 0 */
};

static struct sc_piece general_block(const struct symmetric *s, const struct sc_operand *m, int along, int across,
                                     enum sc_access access)
{
    int64_t p = s->t.at[along], q = s->across.at[across];
    int64_t np = sc_blas_part(&s->t, along), nq = sc_blas_part(&s->across, across);

    return s->left ? sc_blas_matrix(m, p, q, np, nq, access) : sc_blas_matrix(m, q, p, nq, np, access);
}

/* Block (i, j) of the full A as it is stored, and how to transpose it. */
static struct sc_piece stored_block(const struct symmetric *s, int i, int j, char *trans)
{
    const struct sc_kernel *call = s->call->kernel;
    bool stored = (call->uplo == 'U') == (i < j);

    *trans = stored ? 'N' : call->op == SC_OP_HEMM ? 'C' : 'T';
    return sc_blas_op_matrix(&s->call->operand[0], *trans, s->t.at[i], s->t.at[j], sc_blas_part(&s->t, i),
                             sc_blas_part(&s->t, j), SC_READ);
}

/* C block (i along A, q across) += the product with block l along A. */
static enum sc_status multiply(const struct symmetric *s, int device, int i, int q, int l)
{
    struct sc_kernel kernel = *s->call->kernel;
    struct sc_piece b = general_block(s, &s->call->operand[1], l, q, SC_READ), a, c;

    sc_blas_set_beta(&kernel, s->call->kernel->beta, l == 0);
    c = general_block(s, &s->call->operand[2], i, q, s->cleared ? SC_RDWR : sc_blas_output_access(&kernel));
    kernel.m = c.rows;
    kernel.n = c.cols;
    if (l == i) {
        a = sc_blas_matrix(&s->call->operand[0], s->t.at[i], s->t.at[i], sc_blas_part(&s->t, i), sc_blas_part(&s->t, i),
                           SC_READ);
        return sc_blas_task(device, &kernel, a, b, c);
    }
    kernel.op = SC_OP_GEMM;
    kernel.k = sc_blas_part(&s->t, l);
    kernel.transa = kernel.transb = 'N';
    if (s->left) {
        a = stored_block(s, i, l, &kernel.transa);
        return sc_blas_task(device, &kernel, a, b, c);
    }
    a = stored_block(s, l, i, &kernel.transb);
    return sc_blas_task(device, &kernel, b, a, c);
}

/* Blocks by the rows and columns of C. */
static struct sc_piece output_block(const void *of, int i, int j)
{
    const struct symmetric *s = of;
    enum sc_access access = sc_blas_output_access(s->call->kernel);

    return s->left ? general_block(s, &s->call->operand[2], i, j, access)
                   : general_block(s, &s->call->operand[2], j, i, access);
}

static struct sc_piece input_of_a(const struct symmetric *s, int i, int l)
{
    char trans;

    return i == l ? sc_blas_matrix(&s->call->operand[0], s->t.at[i], s->t.at[i], sc_blas_part(&s->t, i),
                                   sc_blas_part(&s->t, i), SC_READ)
                  : stored_block(s, i, l, &trans);
}

static struct sc_piece row_input(const void *of, int i, int l)
{
    const struct symmetric *s = of;

    return s->left ? input_of_a(s, i, l) : general_block(s, &s->call->operand[1], l, i, SC_READ);
}

static struct sc_piece col_input(const void *of, int l, int j)
{
    const struct symmetric *s = of;

    return s->left ? general_block(s, &s->call->operand[1], l, j, SC_READ) : input_of_a(s, l, j);
}

static void place(struct symmetric *s)
{
    const struct sc_kernel *kernel = s->call->kernel;

    sc_blas_place(&(struct sc_blas_blocks){.of = s, .type = kernel->type, .rows = s->left ? &s->t : &s->across,
                                           .cols = s->left ? &s->across : &s->t,
                                           .products = s->left ? kernel->m : kernel->n, .block = output_block,
                                           .depth = s->t.n, .row_input = row_input, .col_input = col_input},
                  &s->places);
}

enum sc_status sc_blas_symm(struct sc_blas_job *call)
{
    const struct sc_operand *a = &call->operand[0], *b = &call->operand[1], *c = &call->operand[2];
    struct symmetric s; /* large: not initialised */
    enum sc_status status = SC_OK;

    s.call = call;
    s.left = call->kernel->side == 'L';
    sc_coherence_row_cuts(a, &s.t);
    sc_blas_merge_cols(&s.t, a);
    sc_blas_merge_op_rows(&s.t, b, s.left ? 'N' : 'T');
    sc_blas_merge_op_rows(&s.t, c, s.left ? 'N' : 'T');
    sc_blas_whole(&s.across, s.left ? call->kernel->n : call->kernel->m);
    sc_blas_merge_op_cols(&s.across, b, s.left ? 'N' : 'T');
    sc_blas_merge_op_cols(&s.across, c, s.left ? 'N' : 'T');
    if (sc_blas_missing(call) >= SC_BLAS_PIPELINE_BYTES) {
        sc_blas_refine(&s.t, a, SC_BLAS_BLOCK_MIN);
        if (!s.left)
            sc_blas_refine(&s.t, b, SC_BLAS_BLOCK_MIN);
        else if (sc_coherence_devices() == 1) /* several have their own strips each */
            sc_blas_refine(&s.across, b, SC_BLAS_STRIP_MIN);
    }
    if (s.left)
        sc_blas_divide(&s.across, s.t.n, c);
    place(&s);
    s.cleared = sc_blas_is_zero(call->kernel->beta) &&
                sc_blas_splits_tiles(c, s.left ? &s.t : &s.across, s.left ? &s.across : &s.t);
    if (s.cleared)
        status = sc_blas_clear(c);
    for (int q = 0; q < s.across.n && status == SC_OK; q++)
        for (int e = 0; e < s.t.n && status == SC_OK; e++) {
            int i = call->kernel->uplo == 'L' ? e : s.t.n - 1 - e; /* so that the first needs few columns of A */
            struct sc_piece target = general_block(&s, c, i, q, SC_RDWR);
            int device = sc_blas_places_at(&s.places, target.r, target.c, &target);

            for (int l = 0; l < s.t.n && status == SC_OK; l++)
                status = multiply(&s, device, i, q, l);
        }
    sc_blas_places_free(&s.places);
    return status;
}
