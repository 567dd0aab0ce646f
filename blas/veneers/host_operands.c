/* Operands of a large call that runs on the host.  They are brought home in one batch, instead of fault by fault
 * under the host BLAS's own threads. */
#include "blas/blas.h"
#include "coherence/coherence.h"

bool sc_blas_operand_fits(const struct sc_blas_operand *o)
{
    const int64_t most = (int64_t)1 << 56; /* the most that programs address, with five levels of page tables */
    __int128 bytes = ((__int128)o->ld * o->cols + o->rows) * (int64_t)sc_type_bytes(o->type);

    if (o->rows < 1 || o->cols < 1)
        return true;
    return o->ld >= 0 && (uintptr_t)o->ptr < (uint64_t)most && bytes + (int64_t)(uintptr_t)o->ptr < most;
}

static void acquire(const struct sc_blas_operand *operand)
{
    struct sc_view view = {
        .ptr = operand->ptr, .type = operand->type, .rows = operand->rows, .cols = operand->cols, .ld = operand->ld,
        .access = operand->access,
    };

    if (view.rows == 1) { /* a vector; a matrix of one row is treated alike */
        view.vector = true;
        view.rows = operand->cols;
        view.cols = 1;
    }
    if (view.rows > 0 && view.cols > 0 && view.ld > 0 && sc_blas_operand_fits(operand))
        sc_coherence_acquire_view(&view);
}

void sc_blas_host_operands(const struct sc_blas_operand *operands, int count)
{
    /* WRITE operands come last, because their device copies are dropped and a READ operand may be the same memory. */
    for (int i = 0; i < count; i++)
        if (operands[i].access != SC_WRITE)
            acquire(&operands[i]);
    for (int i = 0; i < count; i++)
        if (operands[i].access == SC_WRITE)
            acquire(&operands[i]);
}
