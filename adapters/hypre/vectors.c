/* hypre's operations on the local parts of vectors.  A declined operation is hypre's. */
#include <string.h>

#include "adapters/hypre/adapter.h"

bool sc_hypre_is_ready(void)
{
    static HYPRE_Int (*version)(HYPRE_Int *, HYPRE_Int *, HYPRE_Int *, HYPRE_Int *);
    static HYPRE_Int number; /* threads may write the same number twice */

    if (!semcache_try_axpby || !semcache_try_divide)
        return false;
    if (!number && SC_ADAPTER_NEXT(version, "HYPRE_VersionNumber"))
        version(NULL, NULL, NULL, &number);
    return number == HYPRE_RELEASE_NUMBER;
}

HYPRE_Int sc_hypre_error(void)
{
    static HYPRE_Int (*get)(void);

    return SC_ADAPTER_NEXT(get, "HYPRE_GetError")();
}

static __thread bool many; /* the vectors belong to a matrix with many entries */

bool sc_hypre_begin(const hypre_ParCSRMatrix *a)
{
    const HYPRE_Int outside = hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixOffd(a));
    const bool before = many;

    many = hypre_CSRMatrixNumNonzeros(hypre_ParCSRMatrixDiag(a)) >=
           (outside ? SC_HYPRE_MANY_BORDERED : SC_HYPRE_MANY_ENTRIES);
    return before;
}

void sc_hypre_end(bool before) { many = before; }

bool sc_hypre_is_large(HYPRE_Int n) { return n >= SC_HYPRE_LEAST_ELEMENTS || many; }

bool sc_hypre_combine(HYPRE_Int n, double alpha, const double *x, double beta, const double *y, double *w)
{
    const double a[2] = {alpha, 0}, b[2] = {beta, 0};

    return sc_hypre_is_large(n) && sc_hypre_is_ready() &&
           semcache_try_axpby(n, SEMCACHE_FLOAT64, a, x, b, y, w);
}

bool sc_hypre_copy(HYPRE_Int n, const double *x, double *w)
{
    if (sc_hypre_combine(n, 1, x, 0, NULL, w))
        return true;
    if (n < SC_HYPRE_LEAST_ELEMENTS)
        memcpy(w, x, (size_t)n * sizeof *w);
    return n < SC_HYPRE_LEAST_ELEMENTS;
}

/* One vector with elements side by side. */
static bool is_plain(const hypre_Vector *v) { return v->num_vectors == 1; }

SC_ADAPTER_NAME HYPRE_Int hypre_SeqVectorAxpy(HYPRE_Complex alpha, hypre_Vector *x, hypre_Vector *y)
{
    static HYPRE_Int (*own)(HYPRE_Complex, hypre_Vector *, hypre_Vector *);

    if (is_plain(x) && x->data != y->data && sc_hypre_combine(x->size, alpha, x->data, 1, y->data, y->data))
        return 0;
    return SC_ADAPTER_NEXT(own, "hypre_SeqVectorAxpy")(alpha, x, y);
}

SC_ADAPTER_NAME HYPRE_Int hypre_SeqVectorScale(HYPRE_Complex alpha, hypre_Vector *y)
{
    static HYPRE_Int (*own)(HYPRE_Complex, hypre_Vector *);

    if (is_plain(y) && sc_hypre_combine(y->size, alpha, y->data, 0, NULL, y->data))
        return 0;
    return SC_ADAPTER_NEXT(own, "hypre_SeqVectorScale")(alpha, y);
}

SC_ADAPTER_NAME HYPRE_Int hypre_SeqVectorCopy(hypre_Vector *x, hypre_Vector *y)
{
    static HYPRE_Int (*own)(hypre_Vector *, hypre_Vector *);
    const HYPRE_Int n = x->size < y->size ? x->size : y->size;

    if (is_plain(x) && x->data != y->data && sc_hypre_combine(n, 1, x->data, 0, NULL, y->data))
        return sc_hypre_error();
    return SC_ADAPTER_NEXT(own, "hypre_SeqVectorCopy")(x, y);
}

SC_ADAPTER_NAME HYPRE_Int hypre_SeqVectorSetConstantValues(hypre_Vector *v, HYPRE_Complex value)
{
    static HYPRE_Int (*own)(hypre_Vector *, HYPRE_Complex);

    if (value == 0 && is_plain(v) && sc_hypre_combine(v->size, 0, v->data, 0, NULL, v->data))
        return 0;
    return SC_ADAPTER_NEXT(own, "hypre_SeqVectorSetConstantValues")(v, value);
}

SC_ADAPTER_NAME HYPRE_Real hypre_SeqVectorInnerProd(hypre_Vector *x, hypre_Vector *y)
{
    static HYPRE_Real (*own)(hypre_Vector *, hypre_Vector *);
    double result[2];

    if (is_plain(x) && x->size >= SC_HYPRE_LEAST_ELEMENTS && sc_hypre_is_ready() &&
        semcache_try_dot(x->size, SEMCACHE_FLOAT64, 0, y->data, x->data, result))
        return result[0];
    return SC_ADAPTER_NEXT(own, "hypre_SeqVectorInnerProd")(x, y);
}

bool sc_hypre_add_quotients(hypre_Vector *x, hypre_Vector *b, hypre_Vector *y, const double *divisors)
{
    static const double one[2] = {1, 0};

    return is_plain(x) && is_plain(b) && is_plain(y) && sc_hypre_is_large(b->size) && x->data != y->data &&
           b->data != y->data && sc_hypre_is_ready() &&
           semcache_try_divide(b->size, SEMCACHE_FLOAT64, divisors, x->data, one, y->data);
}

/* y := y + x ./ b.  Where b is 0, hypre has no result to rely on. */
SC_ADAPTER_NAME HYPRE_Int hypre_SeqVectorElmdivpy(hypre_Vector *x, hypre_Vector *b, hypre_Vector *y)
{
    static HYPRE_Int (*own)(hypre_Vector *, hypre_Vector *, hypre_Vector *);

    if (sc_hypre_add_quotients(x, b, y, b->data))
        return sc_hypre_error();
    return SC_ADAPTER_NEXT(own, "hypre_SeqVectorElmdivpy")(x, b, y);
}
/* SPDX-License-Identifier: BSD-2-Clause */
