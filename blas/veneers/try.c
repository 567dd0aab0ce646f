/* Calls by libraries that have loops of their own, and ask whether the devices should run the call. */
#include <math.h>
#include <string.h>

#include "base/quiet.h"
#include "blas/blas_int.h"
#include "coherence/call.h"

#define AT_ONCE 32 /* dot products with one wait */

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

static int routine(enum sc_op op, enum sc_type type)
{
    static int routines[SC_OPS][SC_TYPES]; /* atomic */
    int found = __atomic_load_n(&routines[op][type], __ATOMIC_RELAXED);

    if (!found) {
        found = routine_of(op, type);
        __atomic_store_n(&routines[op][type], found, __ATOMIC_RELAXED);
    }
    return found;
}

static struct sc_blas_call call_of(enum sc_op op, enum sc_type type, int64_t n, const void *x, const void *y)
{
    return (struct sc_blas_call){.routine = routine(op, type), .type = type, .order = SC_BLAS_FORTRAN, .loops = true,
                                 .n = n, .incx = 1, .incy = 1, .x = (void *)x, .y = (void *)y};
}

/* Whether the devices have run the call. If not, the caller computes, and no host routine's time is to be measured. */
static bool offer(struct sc_blas_call *call)
{
    if (sc_blas_large(call) == SC_BLAS_DONE)
        return true;
    sc_host_rates_cancel();
    return false;
}

bool sc_blas_try_stays(enum sc_type type, int64_t n, const void *x, const void *y)
{
    const uint64_t bytes = (uint64_t)n * sc_type_bytes(type);

    return n < sc_blas_small[1] && sc_coherence_is_home(x, bytes) && (!y || sc_coherence_is_home(y, bytes));
}

bool sc_blas_try(enum sc_op op, enum sc_type type, int64_t n, const double alpha[2], const void *x,
                 const double beta[2], void *y, double result[2], const void *caller)
{
    struct sc_blas_call call;

    if (sc_blas_try_stays(type, n, x, y))
        return false;
    sc_blas_called_from(caller);
    call = call_of(op, type, n, x, y);
    memcpy(call.alpha, alpha, sizeof call.alpha);
    memcpy(call.beta, beta, sizeof call.beta);
    if (!offer(&call))
        return false;
    if (result)
        number(&call.result, type, result);
    return true;
}

/* At most AT_ONCE dot products, with one wait.  Signal handlers of the program run before or after: a handler may call
 * the BLAS, or never return. */
static bool dots(enum sc_op op, enum sc_type type, int64_t n, int count, const void *const x[], const void *const y[],
                 double result[][2])
{
    struct sc_blas_call call[AT_ONCE];
    bool gathers, done = true;

    sc_quiet_enter();
    gathers = !sc_blas_one_by_one() && sc_blas_gather(count);
    for (int i = 0; i < count && done; i++) {
        call[i] = call_of(op, type, n, x[i], y[i]);
        done = offer(&call[i]);
    }
    done = (!gathers || sc_blas_gathered()) && done;
    for (int i = 0; i < count && done; i++)
        number(&call[i].result, type, result[i]);
    sc_quiet_leave();
    return done;
}

bool sc_blas_try_dots(enum sc_op op, enum sc_type type, int64_t n, int count, const void *const x[],
                      const void *const y[], double result[][2], const void *caller)
{
    bool done = n >= sc_blas_small[1];

    sc_blas_called_from(caller);
    for (int i = 0; i < count && done; i += AT_ONCE)
        done = dots(op, type, n, count - i < AT_ONCE ? count - i : AT_ONCE, x + i, y + i, result + i);
    return done;
}

/* |element|, where the vector is. */
static double absolute_of(enum sc_type type, void *element)
{
    union sc_blas_scalar value = {.d = 0};
    const struct sc_kernel kernel = {.op = SC_OP_ASUM, .type = type, .n = 1, .a = element, .lda = 1,
                                     .result = &value};
    double result[2];

    if (!sc_blas_on_devices(&kernel)) { /* the program's memory, which a fault fetches */
        memcpy(&value, element, sc_type_bytes(type));
        number(&value, type, result);
        return fabs(result[0]);
    }
    number(&value, type, result);
    return result[0];
}

bool sc_blas_try_largest(enum sc_type type, int64_t n, const void *x, double *result, const void *caller)
{
    struct sc_blas_call call = call_of(SC_OP_IAMAX, type, n, x, NULL);

    if (n < sc_blas_small[1])
        return false;
    sc_blas_called_from(caller);
    if (!offer(&call))
        return false;
    *result = call.result.i < 1 ? NAN /* no element is a number */
                                : absolute_of(type, (char *)x + (size_t)(call.result.i - 1) * sc_type_bytes(type));
    return true;
}

bool sc_blas_try_product(enum sc_type type, const struct sc_blas_product *p, const void *caller)
{
    struct sc_blas_call call = {.routine = routine(SC_OP_GEMM, type), .type = type, .order = SC_BLAS_ROWS,
                                .transa = p->op_a, .transb = p->op_b, .m = p->m, .n = p->n, .k = p->k,
                                .alpha = {p->alpha[0], p->alpha[1]}, .beta = {p->beta[0], p->beta[1]},
                                .a = (void *)p->a, .lda = p->lda, .b = (void *)p->b, .ldb = p->ldb, .c = p->c,
                                .ldc = p->ldc};

    if ((double)p->m * (double)p->n * (double)p->k < (double)sc_blas_small[3])
        return false;
    sc_blas_called_from(caller);
    return offer(&call);
}
/* SPDX-License-Identifier: BSD-2-Clause */
