/* Operations on banded and packed matrices.  A tile of such a matrix is not a banded or packed matrix, so a call is
 * a single task or unsupported.  Each operand must be one range of elements on the device of the matrix. */
#include "blas/run/tasks.h"

/* The whole operand as a piece. */
static struct sc_piece whole(const struct sc_operand *o, enum sc_access access)
{
    return (struct sc_piece){.operand = o, .rows = o->view.rows, .cols = o->view.cols, .access = access};
}

static bool is_one_part(const struct sc_operand *o)
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

static bool updates_matrix(enum sc_op op)
{
    return op == SC_OP_SPR || op == SC_OP_HPR || op == SC_OP_SPR2 || op == SC_OP_HPR2;
}

enum sc_status sc_blas_single(struct sc_blas_job *call)
{
    enum sc_op op = call->kernel->op;
    struct sc_piece slot[3] = {sc_blas_none(), sc_blas_none(), sc_blas_none()}, *matrix;
    int device;

    for (int i = 0; i < call->operands; i++) {
        if (!is_one_part(&call->operand[i]))
            return SC_ERR_UNSUPPORTED;
        slot[i] = whole(&call->operand[i], call->view[i].access);
    }
    matrix = &slot[updates_matrix(op) ? call->operands - 1 : 0];
    device = sc_coherence_where(matrix);
    if (sc_op_is_packed(op) && !sc_coherence_contiguous(device, matrix))
        return SC_ERR_UNSUPPORTED;
    if (op == SC_OP_SPR || op == SC_OP_HPR) { /* x is the kernel's a, A its c */
        slot[2] = slot[1];
        slot[1] = sc_blas_none();
    }
    return sc_blas_task(device, call->kernel, slot[0], slot[1], slot[2]);
}
