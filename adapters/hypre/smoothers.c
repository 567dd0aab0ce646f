/* Smoothers of BoomerAMG.  Jacobi smoothers are products and vector operations of hypre.  This file does
 * Chebyshev, in steps that the devices have.  The vectors of all remaining smoothers come home in one batch instead of
 * by faults. */
#include "adapters/hypre/adapter.h"

static double *data_of(hypre_ParVector *v) { return hypre_VectorData(hypre_ParVectorLocalVector(v)); }
static HYPRE_Int size_of(hypre_ParVector *v) { return hypre_VectorSize(hypre_ParVectorLocalVector(v)); }

/* --- Chebyshev ---------------------------------------------------------------------------------------------------- */

/* Steps of a smoothing that has begun on the devices.  A declined step is done here. */
static void combine(HYPRE_Int n, double alpha, const double *x, double beta, const double *y, double *w)
{
    if (!sc_hypre_combine(n, alpha, x, beta, y, w))
        for (HYPRE_Int i = 0; i < n; i++)
            w[i] = alpha * x[i] + (y ? beta * y[i] : 0);
}

static void multiply(HYPRE_Int n, const double *d, const double *x, double *w)
{
    if (!semcache_try_multiply(n, SEMCACHE_FLOAT64, d, x, w))
        for (HYPRE_Int i = 0; i < n; i++)
            w[i] = d[i] * x[i];
}

struct smoothing {
    hypre_ParCSRMatrix *a;
    hypre_ParVector *f, *u, *v, *r, *tmp;
    double *scaling; /* 1 / sqrt(diagonal) */
    HYPRE_Int n;
};

static void apply(const struct smoothing *s, double alpha, hypre_ParVector *x, double beta, hypre_ParVector *y)
{
    static HYPRE_Int (*product)(HYPRE_Complex, hypre_ParCSRMatrix *, hypre_ParVector *, HYPRE_Complex,
                                hypre_ParVector *);

    SC_ADAPTER_NEXT(product, "hypre_ParCSRMatrixMatvec")(alpha, s->a, x, beta, y);
}

/* r := D (f - A u) */
static void take_residual(const struct smoothing *s)
{
    apply(s, -1, s->u, 0, s->tmp);
    combine(s->n, 1, data_of(s->f), 1, data_of(s->tmp), data_of(s->tmp));
    multiply(s->n, s->scaling, data_of(s->tmp), data_of(s->r));
}

/* u := coefficient r + D A D u */
static void add_degree(const struct smoothing *s, double coefficient)
{
    multiply(s->n, s->scaling, data_of(s->u), data_of(s->tmp));
    apply(s, 1, s->tmp, 0, s->v);
    multiply(s->n, s->scaling, data_of(s->v), data_of(s->u));
    combine(s->n, coefficient, data_of(s->r), 1, data_of(s->u), data_of(s->u));
}

/* The first step decides, and writes a temporary vector only. */
SC_ADAPTER_NAME HYPRE_Int hypre_ParCSRRelax_Cheby_SolveHost(hypre_ParCSRMatrix *a, hypre_ParVector *f,
                                                            HYPRE_Real *scaling, HYPRE_Real *coefficients,
                                                            HYPRE_Int order, HYPRE_Int scale, HYPRE_Int variant,
                                                            hypre_ParVector *u, hypre_ParVector *v, hypre_ParVector *r,
                                                            hypre_ParVector *before, hypre_ParVector *tmp)
{
    static __typeof__(hypre_ParCSRRelax_Cheby_SolveHost) *own;
    const struct smoothing s = {.a = a, .f = f, .u = u, .v = v, .r = r, .tmp = tmp, .scaling = scaling,
                                .n = size_of(u)};
    const HYPRE_Int degree = order > 4 ? 3 : order < 1 ? 0 : order - 1;

    if (!scale || size_of(before) < s.n ||
        !sc_hypre_combine(s.n, 1, data_of(u), 0, NULL, data_of(before)))
        return SC_ADAPTER_NEXT(own, "hypre_ParCSRRelax_Cheby_SolveHost")(a, f, scaling, coefficients, order, scale,
                                                                        variant, u, v, r, before, tmp);
    take_residual(&s);
    combine(s.n, coefficients[degree], data_of(r), 0, NULL, data_of(u));
    for (HYPRE_Int i = degree - 1; i >= 0; i--)
        add_degree(&s, coefficients[i]);
    multiply(s.n, scaling, data_of(u), data_of(tmp));
    combine(s.n, 1, data_of(before), 1, data_of(tmp), data_of(u));
    return sc_hypre_error();
}

/* --- smoothers on the host ---------------------------------------------------------------------------------------- */

enum { JACOBI = 7, L1_JACOBI = 18 }; /* hypre's numbers */

/* points: 0 for all. */
static bool is_on_host(HYPRE_Int type, HYPRE_Int points)
{
    return (type != JACOBI && type != L1_JACOBI) || points != 0;
}

SC_ADAPTER_NAME HYPRE_Int hypre_BoomerAMGRelax(hypre_ParCSRMatrix *a, hypre_ParVector *f, HYPRE_Int *cf_marker,
                                               HYPRE_Int type, HYPRE_Int points, HYPRE_Real weight, HYPRE_Real omega,
                                               HYPRE_Real *l1_norms, hypre_ParVector *u, hypre_ParVector *v,
                                               hypre_ParVector *z)
{
    static __typeof__(hypre_BoomerAMGRelax) *own;
    const size_t bytes = (size_t)size_of(u) * sizeof(double);

    if (is_on_host(type, points) && size_of(u) >= SC_HYPRE_LEAST_ELEMENTS && sc_hypre_is_ready()) {
        (void)semcache_acquire(data_of(f), bytes, SEMCACHE_READ);
        (void)semcache_acquire(data_of(u), bytes, SEMCACHE_READWRITE);
    }
    return SC_ADAPTER_NEXT(own, "hypre_BoomerAMGRelax")(a, f, cf_marker, type, points, weight, omega, l1_norms, u, v,
                                                        z);
}
/* SPDX-License-Identifier: BSD-2-Clause */
