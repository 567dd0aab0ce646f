/* A transposing copy that a device does ahead of the program's own copies of single vectors (blas/veneers/sweep.c). */
#include "base/inside.h"
#include "base/quiet.h"
#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"

/* In one piece on one device, where routines of LAPACK have their matrices. */
static uint64_t run(const struct sc_kernel *kernel, struct sc_view view[SC_VIEWS_MAX], bool by_rows, int64_t done)
{
    struct sc_operand operand[SC_VIEWS_MAX];
    struct sc_kernel k = *kernel;
    struct sc_piece piece[3] = {{0}};
    uint64_t speculation = 0;

    if (sc_coherence_begin(view, 2, operand) != SC_OK)
        return 0;
    for (int i = 0; i < 2; i++)
        piece[i] = (struct sc_piece){.operand = &operand[i], .rows = view[i].rows, .cols = view[i].cols,
                                     .access = view[i].access};
    if (sc_blas_is_one_part(&operand[0]) && sc_blas_is_one_part(&operand[1]) &&
        sc_coherence_may_speculate(&operand[1]) &&
        sc_coherence_task(sc_coherence_where(&piece[0]), &k, piece, NULL, NULL) == SC_OK)
        speculation = sc_coherence_speculate(&operand[1], by_rows, done);
    sc_coherence_end(operand, 2);
    return speculation;
}

uint64_t sc_blas_copy_ahead(const struct sc_kernel *kernel, bool by_rows, int64_t done)
{
    struct sc_view view[SC_VIEWS_MAX], home;
    uint64_t speculation;

    sc_kernel_views(kernel, view);
    if (sc_blas_around || !sc_coherence_runs(kernel->op, kernel->type))
        return 0;
    view[0].spread = view[1].spread = 1;
    home = view[1];
    home.access = SC_RDWR;
    sc_quiet_enter();
    sc_inside_enter();
    sc_coherence_acquire_view(&home); /* a device may have run the first copies */
    speculation = run(kernel, view, by_rows, done);
    sc_inside_leave();
    sc_quiet_leave();
    return speculation;
}
/* SPDX-License-Identifier: BSD-2-Clause */
