/* Parts of operands: converts an operation's positions to pieces of the directory. */
#include "blas/run/tasks.h"

struct sc_piece sc_blas_vector(const struct sc_operand *vector, int64_t first, int64_t n, enum sc_access access)
{
    if (vector->view.ld < 0)
        first = vector->view.rows - first - n;
    return (struct sc_piece){.operand = vector, .r = first, .rows = n, .cols = 1, .access = access};
}

void sc_blas_vector_cuts(const struct sc_operand *vector, struct sc_cuts *cuts)
{
    sc_coherence_row_cuts(vector, cuts);
    if (vector->view.ld >= 0)
        return;
    for (int i = 0, j = cuts->n; i <= j; i++, j--) {
        int64_t low = cuts->at[i];

        cuts->at[i] = vector->view.rows - cuts->at[j];
        cuts->at[j] = vector->view.rows - low;
    }
}

void sc_blas_vector_merge(struct sc_cuts *into, const struct sc_operand *vector)
{
    struct sc_cuts cuts;

    sc_blas_vector_cuts(vector, &cuts);
    sc_cuts_merge(into, &cuts);
}

struct sc_piece sc_blas_matrix(const struct sc_operand *matrix, int64_t r, int64_t c, int64_t rows, int64_t cols,
                               enum sc_access access)
{
    return (struct sc_piece){.operand = matrix, .r = r, .c = c, .rows = rows, .cols = cols, .access = access};
}

struct sc_piece sc_blas_op_matrix(const struct sc_operand *matrix, char trans, int64_t r, int64_t c, int64_t rows,
                                  int64_t cols, enum sc_access access)
{
    if (trans == 'N')
        return sc_blas_matrix(matrix, r, c, rows, cols, access);
    return sc_blas_matrix(matrix, c, r, cols, rows, access);
}

void sc_blas_merge_rows(struct sc_cuts *into, const struct sc_operand *matrix)
{
    struct sc_cuts cuts;

    sc_coherence_row_cuts(matrix, &cuts);
    sc_cuts_merge(into, &cuts);
}

void sc_blas_merge_cols(struct sc_cuts *into, const struct sc_operand *matrix)
{
    struct sc_cuts cuts;

    sc_coherence_col_cuts(matrix, &cuts);
    sc_cuts_merge(into, &cuts);
}

void sc_blas_merge_op_rows(struct sc_cuts *into, const struct sc_operand *matrix, char trans)
{
    if (trans == 'N')
        sc_blas_merge_rows(into, matrix);
    else
        sc_blas_merge_cols(into, matrix);
}

void sc_blas_merge_op_cols(struct sc_cuts *into, const struct sc_operand *matrix, char trans)
{
    sc_blas_merge_op_rows(into, matrix, trans == 'N' ? 'T' : 'N');
}

struct sc_cuts *sc_blas_whole(struct sc_cuts *cuts, int64_t extent)
{
    cuts->n = extent > 0;
    cuts->at[0] = 0;
    cuts->at[cuts->n] = extent;
    return cuts;
}

/* Of a triangle, the tiles' elements outside the triangle do not count: no device has or needs them. */
uint64_t sc_blas_missing_of(const struct sc_operand *operand, char uplo)
{
    struct sc_cuts rows, cols;
    uint64_t bytes = 0;

    sc_coherence_row_cuts(operand, &rows);
    sc_coherence_home_cuts(operand, &cols);
    for (int j = 0; j < cols.n; j++)
        for (int i = 0; i < rows.n; i++) {
            int64_t from = uplo == 'U' && rows.at[i] > cols.at[j] ? rows.at[i] : cols.at[j];
            int64_t end = uplo == 'L' && rows.at[i + 1] < cols.at[j + 1] ? rows.at[i + 1] : cols.at[j + 1];
            struct sc_piece piece = sc_blas_matrix(operand, rows.at[i], from, sc_blas_part(&rows, i), end - from,
                                                   SC_READ);

            bytes += from < end ? sc_coherence_missing(sc_coherence_where(&piece), &piece) : 0;
        }
    return bytes;
}

uint64_t sc_blas_missing(const struct sc_blas_job *call)
{
    uint64_t bytes = 0;

    for (int i = 0; i < call->operands; i++)
        if (call->view[i].access & SC_READ)
            bytes += sc_blas_missing_of(&call->operand[i],
                                        i == 0 && sc_op_has_side(call->kernel->op) ? call->kernel->uplo : 0);
    return bytes;
}

void sc_blas_cut(struct sc_cuts *cuts, const struct sc_operand *operand, int64_t width, int64_t least)
{
    int64_t extent = operand->view.cols;
    struct sc_cuts strips;

    strips.n = 0;
    strips.at[0] = 0;
    for (int64_t at = 0; extent - at >= width + least && strips.n < SC_BLAS_STRIPS_MOST;) {
        at = sc_coherence_next_sector(operand, at + width);
        if (extent - at < least)
            break;
        strips.at[++strips.n] = at;
    }
    if (extent > strips.at[strips.n])
        strips.at[++strips.n] = extent;
    sc_cuts_merge(cuts, &strips);
}

void sc_blas_refine(struct sc_cuts *cuts, const struct sc_operand *operand, int64_t least)
{
    int64_t width = (operand->view.cols + SC_STRIPS_FEW - 1) / SC_STRIPS_FEW;

    sc_blas_cut(cuts, operand, width > least ? width : least, least);
}

struct sc_piece sc_blas_temporary(void *memory, int64_t rows, enum sc_access access)
{
    return (struct sc_piece){.rows = rows, .cols = 1, .access = access, .temporary = memory, .temporary_ld = 1};
}

enum sc_status sc_blas_task(int device, const struct sc_kernel *kernel, struct sc_piece a, struct sc_piece b,
                            struct sc_piece c)
{
    struct sc_kernel task = *kernel;
    struct sc_piece pieces[3] = {a, b, c};

    return sc_coherence_task(device, &task, pieces, NULL, NULL);
}

bool sc_blas_splits_tiles(const struct sc_operand *output, const struct sc_cuts *rows, const struct sc_cuts *cols)
{
    struct sc_cuts own;

    sc_coherence_row_cuts(output, &own);
    if (rows->n > own.n)
        return true;
    if (output->linear && cols->n <= sc_coherence_devices()) /* one sector at a cut is less than all of them */
        return false;
    for (int j = 1; j < cols->n; j++)
        if (sc_coherence_next_sector(output, cols->at[j]) != cols->at[j])
            return true;
    return false;
}

enum sc_status sc_blas_clear(const struct sc_operand *output)
{
    /* A product with an empty sum: A and B are not read, nor is C, because beta is 0. */
    struct sc_kernel kernel = {.op = SC_OP_GEMM, .type = output->view.type, .transa = 'N', .transb = 'N', .ldb = 1};
    struct sc_cuts rows, cols;
    enum sc_status status = SC_OK;

    sc_coherence_row_cuts(output, &rows);
    sc_coherence_col_cuts(output, &cols);
    for (int j = 0; j < cols.n && status == SC_OK; j++)
        for (int i = 0; i < rows.n && status == SC_OK; i++) {
            struct sc_piece tile;

            kernel.m = kernel.lda = sc_blas_part(&rows, i);
            kernel.n = sc_blas_part(&cols, j);
            tile = sc_blas_matrix(output, rows.at[i], cols.at[j], kernel.m, kernel.n, SC_WRITE);
            status = sc_blas_task(sc_coherence_where(&tile), &kernel, sc_blas_none(), sc_blas_none(), tile);
        }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
