/* Operands of a large call that runs on the host.  They are brought home in one batch, instead of fault by fault
 * under the host BLAS's own threads. */
#include "blas/blas.h"
#include "coherence/access.h"

static void acquire(const struct sc_view *operand)
{
    struct sc_view view = sc_view_flat(operand);

    if (view.rows == 1) { /* a vector; a matrix of one row is treated alike */
        view.vector = true;
        view.rows = view.cols;
        view.cols = 1;
    }
    if (view.rows > 0 && view.cols > 0 && view.ld > 0 && sc_view_fits(operand))
        sc_coherence_acquire_view(&view);
}

void sc_blas_host_operands(const struct sc_view *operands, int count)
{
    /* WRITE operands come last, because their device copies are dropped and a READ operand may be the same memory. */
    for (int i = 0; i < count; i++)
        if (operands[i].access != SC_WRITE)
            acquire(&operands[i]);
    for (int i = 0; i < count; i++)
        if (operands[i].access == SC_WRITE)
            acquire(&operands[i]);
}
/* SPDX-License-Identifier: BSD-2-Clause */
