/* Smoothers of BoomerAMG.  Jacobi smoothers are products and vector operations of hypre.  This file does
 * Chebyshev and the divisions of C/F relaxation in steps of the devices.  The vectors of the remaining smoothers come
 * home in one batch instead of by faults. */
#include "adapters/hypre/adapter.h"

#include <math.h>
#include <stdlib.h>

static double *data_of(hypre_ParVector *v) { return hypre_VectorData(hypre_ParVectorLocalVector(v)); }
static HYPRE_Int size_of(hypre_ParVector *v) { return hypre_VectorSize(hypre_ParVectorLocalVector(v)); }

/* Copies a vector to a temporary vector, as the first step of a sweep on the devices.  False: the sweep is hypre's.
 * The devices decide by accepting the copy.  The vectors of a matrix with few rows may be at home: there the last
 * product, of the residual, has decided. */
static bool begins(const hypre_ParCSRMatrix *a, hypre_ParVector *from, hypre_ParVector *to)
{
    const HYPRE_Int n = size_of(from);

    if (sc_hypre_is_large(n) && sc_hypre_is_taken(hypre_ParCSRMatrixDiag(a)))
        return sc_hypre_copy(n, data_of(from), data_of(to));
    return sc_hypre_combine(n, 1, data_of(from), 0, NULL, data_of(to));
}

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
    const bool large = sc_hypre_begin(a), done = scale && size_of(before) >= s.n && begins(a, u, before);

    if (done) {
        take_residual(&s);
        combine(s.n, coefficients[degree], data_of(r), 0, NULL, data_of(u));
        for (HYPRE_Int i = degree - 1; i >= 0; i--)
            add_degree(&s, coefficients[i]);
        multiply(s.n, scaling, data_of(u), data_of(tmp));
        combine(s.n, 1, data_of(before), 1, data_of(tmp), data_of(u));
    }
    sc_hypre_end(large);
    return done ? sc_hypre_error()
                : SC_ADAPTER_NEXT(own, "hypre_ParCSRRelax_Cheby_SolveHost")(a, f, scaling, coefficients, order, scale,
                                                                            variant, u, v, r, before, tmp);
}

/* --- points of one kind ------------------------------------------------------------------------------------------- */

/* C/F relaxation (PETSc's default) adds quotients at the points of one kind.  The devices add quotients at all points:
 * divisors of other points are infinite.  An array of divisors belongs to a level of a solver.  The next setup
 * of the solver, which alone changes the level's norms and kinds of points, ends the array. */
static struct divisors {
    const void *solver; /* NULL: a free place */
    const double *norms;
    const HYPRE_Int *kinds;
    HYPRE_Int kind;
    double *values; /* NULL before the second use: a solver may be used once */
} table[128];
static bool busy;               /* a thread uses the table */
static __thread void *solving; /* the solver whose cycles run in this thread, or NULL */

static bool enter(void) { return !__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE); }
static void leave(void) { __atomic_store_n(&busy, false, __ATOMIC_RELEASE); }

/* The place of the array, or NULL if the table is full. */
static struct divisors *place_of(const double *norms, const HYPRE_Int *kinds, HYPRE_Int kind)
{
    struct divisors *empty = NULL;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct divisors *d = &table[i];

        if (d->solver == solving && d->norms == norms && d->kinds == kinds && d->kind == kind)
            return d;
        empty = empty || d->solver ? empty : d;
    }
    if (empty)
        *empty = (struct divisors){.solver = solving, .norms = norms, .kinds = kinds, .kind = kind};
    return NULL;
}

/* NULL: at the first use, without memory, or while another thread uses the table. */
static const double *divisors_of(HYPRE_Int n, const double *norms, const HYPRE_Int *kinds, HYPRE_Int kind)
{
    struct divisors *d;

    if (!enter())
        return NULL;
    d = place_of(norms, kinds, kind);
    if (d && !d->values && (d->values = malloc((size_t)n * sizeof(double))))
        for (HYPRE_Int i = 0; i < n; i++)
            d->values[i] = kinds[i] == kind ? norms[i] : INFINITY;
    leave();
    return d ? d->values : NULL;
}

/* Other solvers' arrays stay. */
static void forget(const void *solver)
{
    while (!enter())
        ;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].solver == solver) {
            free(table[i].values);
            table[i] = (struct divisors){.solver = NULL};
        }
    leave();
}

SC_ADAPTER_NAME HYPRE_Int hypre_BoomerAMGSetup(void *solver, hypre_ParCSRMatrix *a, hypre_ParVector *f,
                                               hypre_ParVector *u)
{
    static __typeof__(hypre_BoomerAMGSetup) *own;

    forget(solver);
    return SC_ADAPTER_NEXT(own, "hypre_BoomerAMGSetup")(solver, a, f, u);
}

SC_ADAPTER_NAME HYPRE_Int hypre_BoomerAMGDestroy(void *solver)
{
    static __typeof__(hypre_BoomerAMGDestroy) *own;

    forget(solver);
    return SC_ADAPTER_NEXT(own, "hypre_BoomerAMGDestroy")(solver);
}

SC_ADAPTER_NAME HYPRE_Int hypre_BoomerAMGSolve(void *solver, hypre_ParCSRMatrix *a, hypre_ParVector *f,
                                               hypre_ParVector *u)
{
    static __typeof__(hypre_BoomerAMGSolve) *own;
    void *outer = solving; /* whose coarsest level this solver has */
    HYPRE_Int result;

    solving = solver;
    result = SC_ADAPTER_NEXT(own, "hypre_BoomerAMGSolve")(solver, a, f, u);
    solving = outer;
    return result;
}

/* y := y + x ./ b at the points of a kind */
SC_ADAPTER_NAME HYPRE_Int hypre_SeqVectorElmdivpyMarked(hypre_Vector *x, hypre_Vector *b, hypre_Vector *y,
                                                        HYPRE_Int *kinds, HYPRE_Int kind)
{
    static __typeof__(hypre_SeqVectorElmdivpyMarked) *own;
    const double *divisors = NULL;

    if (solving && kinds && sc_hypre_is_large(b->size) && sc_hypre_is_ready())
        divisors = divisors_of(b->size, b->data, kinds, kind);
    if (divisors && sc_hypre_add_quotients(x, b, y, divisors))
        return sc_hypre_error();
    return SC_ADAPTER_NEXT(own, "hypre_SeqVectorElmdivpyMarked")(x, b, y, kinds, kind);
}

/* --- smoothers on the host ---------------------------------------------------------------------------------------- */

enum { JACOBI = 7, L1_JACOBI = 18 }; /* hypre's numbers */

/* Sweeps at all points are products and vector operations of hypre. */
static bool is_on_host(HYPRE_Int type, HYPRE_Int points)
{
    return (type != JACOBI && type != L1_JACOBI) || points != 0;
}

/* A sweep at the points of one kind on the devices. */
static bool begins_marked(const hypre_ParCSRMatrix *a, HYPRE_Int type, HYPRE_Int points, const double *norms,
                          const HYPRE_Int *kinds, hypre_ParVector *f, hypre_ParVector *u, hypre_ParVector *v)
{
    return (type == JACOBI || type == L1_JACOBI) && points != 0 && solving && kinds && norms &&
           sc_hypre_is_large(size_of(u)) && sc_hypre_is_ready() &&
           divisors_of(size_of(u), norms, kinds, points) && begins(a, f, v);
}

/* hypre's l1-Jacobi at the points of one kind is a loop; its Jacobi does the same in steps that the devices have. */
SC_ADAPTER_NAME HYPRE_Int hypre_BoomerAMGRelax(hypre_ParCSRMatrix *a, hypre_ParVector *f, HYPRE_Int *cf_marker,
                                               HYPRE_Int type, HYPRE_Int points, HYPRE_Real weight, HYPRE_Real omega,
                                               HYPRE_Real *l1_norms, hypre_ParVector *u, hypre_ParVector *v,
                                               hypre_ParVector *z)
{
    static __typeof__(hypre_BoomerAMGRelax) *own;
    const size_t bytes = (size_t)size_of(u) * sizeof(double);
    const bool before = sc_hypre_begin(a);
    HYPRE_Int result;

    if (begins_marked(a, type, points, l1_norms, cf_marker, f, u, v)) {
        type = JACOBI;
    } else if (is_on_host(type, points) && sc_hypre_is_large(size_of(u)) && sc_hypre_is_ready()) {
        (void)semcache_acquire(data_of(f), bytes, SEMCACHE_READ);
        (void)semcache_acquire(data_of(u), bytes, SEMCACHE_READWRITE);
    }
    result = SC_ADAPTER_NEXT(own, "hypre_BoomerAMGRelax")(a, f, cf_marker, type, points, weight, omega, l1_norms, u, v,
                                                          z);
    sc_hypre_end(before);
    return result;
}
/* SPDX-License-Identifier: BSD-2-Clause */
