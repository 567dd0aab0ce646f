/* Row interchanges of a matrix on devices (LAPACK's ?laswp).  For each pair of rows and each tile column a SWAP task
 * runs on the tile's device.  Interchanges on the host would bring the whole matrix home. */
#include <stdlib.h>

#include "autotuner/plan.h"
#include "base/config.h"
#include "base/inside.h"
#include "base/quiet.h"
#include "blas/lapack/lapack.h"
#include "blas/run/tasks.h"

/* Row i of the operand, as a vector. */
static struct sc_operand row_of(const struct sc_operand *o, int64_t i)
{
    struct sc_operand row = *o;

    row.view.ptr = (const char *)o->view.ptr + (size_t)i * sc_type_bytes(o->view.type);
    row.view.vector = true;
    row.view.rows = o->view.cols;
    row.view.cols = 1;
    if (o->linear) {
        row.first += i;
        row.count = (row.view.rows - 1) * row.view.ld + 1;
    } else {
        row.row += i;
        row.rows = 1;
    }
    return row;
}

static enum sc_status swap_rows(const struct sc_operand *o, const struct sc_blas_interchange *swap, int64_t top)
{
    struct sc_kernel kernel = {.op = SC_OP_SWAP, .type = o->view.type};
    struct sc_cuts cuts;
    enum sc_status status = SC_OK;

    sc_coherence_col_cuts(o, &cuts);
    for (int j = 0; j < cuts.n; j++) {
        struct sc_piece tile = sc_blas_matrix(o, 0, cuts.at[j], 1, sc_blas_part(&cuts, j), SC_RDWR);
        int device = sc_coherence_where(&tile);

        kernel.n = tile.cols;
        kernel.lda = kernel.ldb = o->view.ld;
        for (int64_t i = 0; i < swap->count && status == SC_OK; i++) {
            struct sc_operand x = row_of(o, swap->row[2 * i] - top), y = row_of(o, swap->row[2 * i + 1] - top);

            status = sc_blas_task(device, &kernel, sc_blas_vector(&x, cuts.at[j], kernel.n, SC_RDWR),
                                  sc_blas_vector(&y, cuts.at[j], kernel.n, SC_RDWR), sc_blas_none());
        }
    }
    return status;
}

/* True when the newest copy is on devices.  For data that is also valid on the host, interchanges on the host cost
 * no transfer. */
static bool lives_on_devices(const struct sc_view *view)
{
    struct sc_residency where;

    if (sc_config.offload != SC_OFFLOAD_AUTO)
        return sc_config.offload == SC_OFFLOAD_ALWAYS;
    sc_coherence_residency(view, 1, &where);
    return where.device_only > where.bytes / 2;
}

static bool run(const struct sc_blas_interchange *swap, struct sc_view *view, int64_t top)
{
    struct sc_operand operand;
    enum sc_status status;

    if (sc_coherence_devices() < 1 || !sc_coherence_stack_fits() || !lives_on_devices(view) ||
        sc_coherence_begin(view, 1, &operand) != SC_OK)
        return false;
    status = swap_rows(&operand, swap, top);
    sc_coherence_end(&operand, 1);
    if (status != SC_OK)
        sc_log(SC_LOG_ERROR, "laswp: a part of the call could not be computed (%s); results may be wrong",
               sc_status_name(status));
    return true;
}

bool sc_blas_interchange_rows(const struct sc_blas_interchange *swap)
{
    int64_t top = INT64_MAX, bottom = 0;
    struct sc_view view;
    bool done;

    for (int64_t i = 0; i < 2 * swap->count; i++) {
        top = swap->row[i] < top ? swap->row[i] : top;
        bottom = swap->row[i] >= bottom ? swap->row[i] + 1 : bottom;
    }
    if (swap->count < 1 || swap->cols < 1 || top < 0 || bottom > swap->ld)
        return false;
    view = (struct sc_view){
        .ptr = (const char *)swap->matrix + (size_t)top * sc_type_bytes(swap->type), .type = swap->type,
        .rows = bottom - top, .cols = swap->cols, .ld = swap->ld, .access = SC_RDWR, .split = SC_SPLIT_COLS,
    };
    view.spread = sc_plan_spread((uint64_t)(view.rows * view.cols) * sc_type_bytes(view.type),
                                      sc_coherence_devices(), sc_config.offload);
    sc_quiet_enter();
    sc_inside_enter();
    done = run(swap, &view, top);
    sc_inside_leave();
    sc_quiet_leave();
    return done;
}
/* SPDX-License-Identifier: BSD-2-Clause */
