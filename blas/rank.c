/* syrk, herk, syr2k, her2k, gemmt: one triangle of C := the sum of one or two products op(X) op(Y), plus beta C.
 * Diagonal blocks are tasks of the operation itself, the others of the triangle gemm tasks; the other triangle is never
 * touched. */
#include "blas/tasks.h"

/* alpha op(X) op(Y): op(X) is n x k, op(Y) is k x n. */
struct term {
    const struct sc_operand *x, *y;
    char tx, ty;
    double alpha[2];
};

struct rank {
    struct sc_blas_job *call;
    int terms;
    struct term term[2];
    double beta[2];
    struct sc_cuts t, k; /* along the triangle, and the sum */
    struct sc_blas_places places;
};

static const struct sc_operand *target_operand(const struct rank *r)
{
    return &r->call->operand[r->call->operands - 1];
}

static struct sc_piece piece_x(const struct rank *r, int term, int i, int l)
{
    const struct term *t = &r->term[term];

    return sc_blas_op_matrix(t->x, t->tx, r->t.at[i], r->k.at[l], sc_blas_part(&r->t, i), sc_blas_part(&r->k, l),
                             SC_READ);
}

static struct sc_piece piece_y(const struct rank *r, int term, int l, int j)
{
    const struct term *t = &r->term[term];

    return sc_blas_op_matrix(t->y, t->ty, r->k.at[l], r->t.at[j], sc_blas_part(&r->k, l), sc_blas_part(&r->t, j),
                             SC_READ);
}

static struct sc_piece target(const struct rank *r, int i, int j, enum sc_access access)
{
    return sc_blas_matrix(target_operand(r), r->t.at[i], r->t.at[j], sc_blas_part(&r->t, i), sc_blas_part(&r->t, j),
                          access);
}

static enum sc_status add_diagonal(const struct rank *r, int device, int i, int l)
{
    struct sc_kernel kernel = *r->call->kernel;
    bool two = r->call->operands == 3; /* A and B */

    kernel.n = sc_blas_part(&r->t, i);
    kernel.k = sc_blas_part(&r->k, l);
    sc_blas_set_beta(&kernel, r->beta, l == 0);
    /* Read and written whatever beta is: the block holds part of the other triangle.  (For beta = 0 claim has brought
     * that and no more.) */
    return sc_blas_task(device, &kernel, piece_x(r, 0, i, l), two ? piece_y(r, 0, l, i) : sc_blas_none(),
                        target(r, i, i, SC_RDWR));
}

static enum sc_status add_block(const struct rank *r, int device, int i, int j, int l)
{
    struct sc_kernel kernel = *r->call->kernel;
    enum sc_status status = SC_OK;

    kernel.op = SC_OP_GEMM;
    kernel.m = sc_blas_part(&r->t, i);
    kernel.n = sc_blas_part(&r->t, j);
    kernel.k = sc_blas_part(&r->k, l);
    for (int e = 0; e < r->terms && status == SC_OK; e++) {
        kernel.transa = r->term[e].tx;
        kernel.transb = r->term[e].ty;
        kernel.alpha[0] = r->term[e].alpha[0];
        kernel.alpha[1] = r->term[e].alpha[1];
        sc_blas_set_beta(&kernel, r->beta, l == 0 && e == 0);
        status = sc_blas_task(device, &kernel, piece_x(r, e, i, l), piece_y(r, e, l, j),
                              target(r, i, j, sc_blas_output_access(&kernel)));
    }
    return status;
}

static enum sc_status one_target(const struct rank *r, int i, int j)
{
    struct sc_piece c = target(r, i, j, SC_RDWR);
    int device = sc_blas_places_at(&r->places, c.r, c.c, &c);
    enum sc_status status = SC_OK;

    for (int l = 0; l < r->k.n && status == SC_OK; l++)
        status = i == j ? add_diagonal(r, device, i, l) : add_block(r, device, i, j, l);
    return status;
}

static struct sc_piece output_block(const void *r, int i, int j) { return target(r, i, j, SC_RDWR); }
static struct sc_piece row_input(const void *r, int i, int l) { return piece_x(r, 0, i, l); }
static struct sc_piece col_input(const void *r, int l, int j) { return piece_y(r, 0, l, j); }

static bool is_other_triangle(const void *r, int i, int j)
{
    return ((const struct rank *)r)->call->kernel->uplo == 'U' ? i > j : i < j;
}

static void place(struct rank *r)
{
    const struct sc_kernel *kernel = r->call->kernel;

    sc_blas_place(&(struct sc_blas_blocks){.of = r, .type = kernel->type, .rows = &r->t, .cols = &r->t,
                                           .products = kernel->k * r->terms, .block = output_block,
                                           .skips = is_other_triangle, .depth = r->k.n, .row_input = row_input,
                                           .col_input = col_input}, &r->places);
}

/* The call as general products.  Scalars that are real in a complex operation may have anything as imaginary part. */
static void set_terms(struct rank *r)
{
    const struct sc_kernel *k = r->call->kernel;
    const struct sc_operand *a = &r->call->operand[0], *b = r->call->operands == 3 ? &r->call->operand[1] : a;
    bool hermitian = k->op == SC_OP_HERK || k->op == SC_OP_HER2K;
    char flip = hermitian ? 'C' : 'T', ty = k->op == SC_OP_GEMMT ? k->transb : k->transa == 'N' ? flip : 'N';

    r->term[0] = (struct term){a, b, k->transa, ty, {k->alpha[0], k->op == SC_OP_HERK ? 0 : k->alpha[1]}};
    r->term[1] = (struct term){b, a, k->transa, ty, {k->alpha[0], hermitian ? -k->alpha[1] : k->alpha[1]}};
    r->terms = k->op == SC_OP_SYR2K || k->op == SC_OP_HER2K ? 2 : 1;
    r->beta[0] = k->beta[0];
    r->beta[1] = hermitian ? 0 : k->beta[1];
}

/* Cuts at the strips of an operand on its way.  Several devices have their own parts of the triangle anyway. */
static void refine(struct rank *r, const struct sc_operand *operand, bool strips_are_depth)
{
    if (strips_are_depth)
        sc_blas_refine(&r->k, operand, SC_BLAS_STRIP_MIN);
    else if (sc_coherence_devices() == 1)
        sc_blas_refine(&r->t, operand, SC_BLAS_BLOCK_MIN);
}

static void set_cuts(struct rank *r)
{
    const struct sc_operand *c = target_operand(r);
    const struct term *t = &r->term[0];

    sc_coherence_row_cuts(c, &r->t);
    sc_blas_merge_cols(&r->t, c);
    sc_blas_merge_op_rows(&r->t, t->x, t->tx);
    sc_blas_merge_op_cols(&r->t, t->y, t->ty);
    sc_blas_whole(&r->k, r->call->kernel->k);
    sc_blas_merge_op_cols(&r->k, t->x, t->tx);
    sc_blas_merge_op_rows(&r->k, t->y, t->ty);
    sc_blas_divide(&r->t, 1, c);
    if (sc_blas_missing(r->call) >= SC_BLAS_PIPELINE_BYTES) {
        refine(r, t->x, t->tx == 'N');
        refine(r, t->y, t->ty != 'N');
    }
}

/* beta = 0: of the tiles that are only on the host no more goes to the devices than what has to survive in them. */
static void claim(const struct rank *r)
{
    const struct sc_operand *c = target_operand(r);
    struct sc_cuts rows, cols;

    sc_coherence_row_cuts(c, &rows);
    sc_coherence_col_cuts(c, &cols);
    for (int j = 0; j < cols.n; j++)
        for (int i = 0; i < rows.n; i++) {
            struct sc_piece tile = sc_blas_matrix(c, rows.at[i], cols.at[j], sc_blas_part(&rows, i),
                                                  sc_blas_part(&cols, j), SC_RDWR);

            /* A failure shows in the tasks, which bring what is missing or fall back. */
            sc_coherence_claim(sc_blas_places_at(&r->places, tile.r, tile.c, &tile), &tile, r->call->kernel->uplo);
        }
}

enum sc_status sc_blas_rank(struct sc_blas_job *call)
{
    struct rank r; /* large: not initialised */
    enum sc_status status = SC_OK;

    r.call = call;
    set_terms(&r);
    set_cuts(&r);
    place(&r);
    if (sc_blas_is_zero(r.beta))
        claim(&r);
    /* In an order that needs the strips of A and B one after the other. */
    for (int far = 0; far < r.t.n && status == SC_OK; far++)
        for (int near = 0; near <= far && status == SC_OK; near++)
            status = call->kernel->uplo == 'U' ? one_target(&r, near, far) : one_target(&r, far, near);
    sc_blas_places_free(&r.places);
    return status;
}
