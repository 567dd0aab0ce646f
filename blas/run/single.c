/* Operations whose matrices cannot be cut: a tile of a banded or packed matrix is not a banded or packed matrix.  A
 * call is a single task or unsupported.  Each operand must be one range of elements on the device of the matrix. */
#include "blas/run/tasks.h"

/* The whole operand as a piece. */
static struct sc_piece whole(const struct sc_operand *o, enum sc_access access)
{
    return (struct sc_piece){.operand = o, .rows = o->view.rows, .cols = o->view.cols, .access = access};
}

bool sc_blas_is_one_part(const struct sc_operand *o)
{
    struct sc_operand matrix;
    struct sc_cuts cuts;

    if (o->view.vector && sc_coherence_as_matrix(o, &matrix))
        return false;
    sc_coherence_row_cuts(o, &cuts);
    if (cuts.n != 1 || o->view.vector)
        return cuts.n == 1;
    sc_coherence_col_cuts(o, &cuts);
    return cuts.n == 1;
}

enum sc_status sc_blas_single(struct sc_blas_job *call)
{
    const struct sc_op_info *op = &sc_ops[call->kernel->op];
    struct sc_piece slot[3] = {sc_blas_none(), sc_blas_none(), sc_blas_none()}, matrix = sc_blas_none();
    int device;

    for (int i = 0; i < call->operands; i++) {
        struct sc_piece *piece = &slot[op->slots[i] - 'a'];

        if (!sc_blas_is_one_part(&call->operand[i]))
            return SC_ERR_UNSUPPORTED;
        *piece = whole(&call->operand[i], call->view[i].access);
        if (!i || (op->letters[i] != 'X' && op->letters[i] != 'Y'))
            matrix = *piece;
    }
    device = sc_coherence_where(&matrix);
    if (op->packed && !sc_coherence_contiguous(device, &matrix))
        return SC_ERR_UNSUPPORTED;
    return sc_blas_task(device, call->kernel, slot[0], slot[1], slot[2]);
}
/* SPDX-License-Identifier: BSD-2-Clause */
