/* A transposing copy that a device does ahead of the program's own copies of single vectors (blas/veneers/sweep.c). */
#include "base/inside.h"
#include "base/quiet.h"
#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"

/* In one piece on one device, where routines of LAPACK have their matrices. */
static uint64_t run(struct sc_blas_bracket *b, bool by_rows, int64_t done)
{
    struct sc_piece piece[3] = {{0}};
    uint64_t speculation = 0;

    b->view[1].access = SC_RDWR; /* the program's later copies may write less */
    if (sc_blas_bracket_open(b, false) != SC_OK)
        return 0;
    for (int i = 0; i < b->count; i++)
        piece[i] = (struct sc_piece){.operand = &b->operand[i], .rows = b->view[i].rows, .cols = b->view[i].cols,
                                     .access = i == 1 ? SC_WRITE : b->view[i].access};
    if (sc_coherence_may_speculate(&b->operand[1]) &&
        sc_coherence_task(sc_coherence_where(&piece[0]), &b->kernel, piece, NULL, NULL) == SC_OK)
        speculation = sc_coherence_speculate(&b->operand[1], by_rows, done);
    sc_blas_bracket_end(b, false);
    return speculation;
}

uint64_t sc_blas_copy_ahead(const struct sc_kernel *kernel, bool by_rows, int64_t done)
{
    struct sc_blas_bracket b = {.kernel = *kernel};
    struct sc_view home;
    uint64_t speculation;

    b.count = sc_kernel_views(kernel, b.view);
    if (sc_blas_around || !sc_coherence_runs(kernel->op, kernel->type))
        return 0;
    b.view[0].spread = b.view[1].spread = 1;
    home = b.view[1];
    home.access = SC_RDWR;
    sc_quiet_enter();
    sc_inside_enter();
    sc_coherence_acquire_view(&home); /* a device may have run the first copies */
    speculation = run(&b, by_rows, done);
    sc_inside_leave();
    sc_quiet_leave();
    return speculation;
}
/* SPDX-License-Identifier: BSD-2-Clause */
