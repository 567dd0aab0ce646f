/* ger, gerc: A := alpha x y^T + A, tile by tile, on the tile's device. */
#include "blas/run/tasks.h"

enum sc_status sc_blas_ger(struct sc_blas_job *call)
{
    const struct sc_operand *x = &call->operand[0], *y = &call->operand[1], *a = &call->operand[2];
    struct sc_kernel kernel = *call->kernel;
    struct sc_cuts rows, cols;
    enum sc_status status = SC_OK;

    sc_coherence_row_cuts(a, &rows);
    sc_blas_vector_merge(&rows, x);
    sc_coherence_col_cuts(a, &cols);
    sc_blas_vector_merge(&cols, y);
    for (int j = 0; j < cols.n && status == SC_OK; j++)
        for (int i = 0; i < rows.n && status == SC_OK; i++) {
            struct sc_piece tile;

            kernel.m = sc_blas_part(&rows, i);
            kernel.n = sc_blas_part(&cols, j);
            tile = sc_blas_matrix(a, rows.at[i], cols.at[j], kernel.m, kernel.n, SC_RDWR);
            status = sc_blas_task(sc_coherence_where(&tile), &kernel, sc_blas_vector(x, rows.at[i], kernel.m, SC_READ),
                                  sc_blas_vector(y, cols.at[j], kernel.n, SC_READ), tile);
        }
    return status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
