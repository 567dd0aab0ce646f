/* Divides the operands of a call into pieces. A piece lies in one tile. */
#include "tasks/tasks_int.h"

void sc_part_divide(struct sc_part *part, const struct sc_operand *operand)
{
    if (!operand->view.vector || !sc_coherence_as_matrix(operand, &part->whole))
        part->whole = *operand;
    sc_coherence_row_cuts(&part->whole, &part->rows);
    if (!part->whole.view.vector) {
        sc_coherence_col_cuts(&part->whole, &part->cols);
        return;
    }
    part->cols.n = 1;
    part->cols.at[0] = 0;
    part->cols.at[1] = 1;
}

struct sc_piece sc_part_piece(const struct sc_part *part, int i, int j, enum sc_access access)
{
    return (struct sc_piece){.operand = &part->whole, .r = part->rows.at[i], .c = part->cols.at[j],
                             .rows = part->rows.at[i + 1] - part->rows.at[i],
                             .cols = part->cols.at[j + 1] - part->cols.at[j], .access = access};
}
/* SPDX-License-Identifier: BSD-2-Clause */
