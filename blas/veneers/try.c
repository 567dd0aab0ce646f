/* Calls by libraries that have loops of their own, and ask whether the devices should run the call. */
#include "blas/blas_int.h"

/* The first routine with this operation: the routine with the plain scalar, as dscal and not csscal. */
static int routine_of(enum sc_op op, enum sc_type type)
{
    for (int i = 1; i < sc_blas_routines; i++)
        if (sc_blas_rows[i].op == (int)op && sc_blas_rows[i].type == type && !sc_blas_rows[i].scale_real)
            return i;
    return 0;
}

static void number(const union sc_blas_scalar *from, enum sc_type type, double to[2])
{
    const bool single = type == SC_S || type == SC_C;

    to[0] = single ? (double)from->sc[0] : from->dz[0];
    to[1] = !sc_type_is_complex(type) ? 0 : single ? (double)from->sc[1] : from->dz[1];
}

bool sc_blas_try(enum sc_op op, enum sc_type type, int64_t n, const double alpha[2], const void *x,
                 const double beta[2], void *y, double result[2], const void *caller)
{
    static int routines[SC_OPS][SC_TYPES]; /* atomic */
    int routine = __atomic_load_n(&routines[op][type], __ATOMIC_RELAXED);
    struct sc_blas_call call;

    if (n < sc_blas_small[1])
        return false;
    if (!routine) {
        routine = routine_of(op, type);
        __atomic_store_n(&routines[op][type], routine, __ATOMIC_RELAXED);
    }
    sc_blas_called_from(caller);
    call = (struct sc_blas_call){.routine = routine, .type = type, .order = SC_BLAS_FORTRAN, .n = n, .incx = 1,
                                 .incy = 1, .alpha = {alpha[0], alpha[1]}, .beta = {beta[0], beta[1]},
                                 .x = (void *)x, .y = y};
    if (sc_blas_large(&call) != SC_BLAS_DONE)
        return false;
    if (result)
        number(&call.result, type, result);
    return true;
}
/* SPDX-License-Identifier: BSD-2-Clause */
