/* Reciprocal condition numbers from factors on a device (?gecon, ?pocon): Higham's estimate of the norm of the inverse
 * (ACM Transactions on Mathematical Software 14, 1988, algorithm 674).  About five solutions with one right side run on
 * the device; the host does the steps in between on a vector of the library.  The factors stay where they are.
 *
 * LAPACK's routine scales its solutions.  A solution that is not finite is therefore left to that routine. */
#include <math.h>
#include <stdlib.h>

#include "blas/blas.h"
#include "blas/run/tasks.h"
#include "coherence/access.h"

#define ROUNDS_MOST 5

struct estimate {
    const struct sc_kernel *k;
    int64_t parts;   /* real numbers of an element */
    void *x;         /* n elements, tracked */
    int64_t *pivots; /* of no interchange: the 1-norm of an inverse does not depend on the order of its columns */
    bool *negative;  /* signs of x in real types */
    enum sc_status status;
};

static double real_at(const struct estimate *e, int64_t i)
{
    return e->k->type == SC_S || e->k->type == SC_C ? (double)((const float *)e->x)[i] : ((const double *)e->x)[i];
}

static void put_real(const struct estimate *e, int64_t i, double value)
{
    if (e->k->type == SC_S || e->k->type == SC_C)
        ((float *)e->x)[i] = (float)value;
    else
        ((double *)e->x)[i] = value;
}

static void put(const struct estimate *e, int64_t i, double value)
{
    put_real(e, e->parts * i, value);
    if (e->parts == 2)
        put_real(e, 2 * i + 1, 0);
}

static double absolute(const struct estimate *e, int64_t i)
{
    return e->parts == 1 ? fabs(real_at(e, i)) : hypot(real_at(e, 2 * i), real_at(e, 2 * i + 1));
}

static double norm(const struct estimate *e)
{
    double sum = 0;

    for (int64_t i = 0; i < e->k->n; i++)
        sum += absolute(e, i);
    return sum;
}

static int64_t largest(const struct estimate *e)
{
    int64_t at = 0;

    for (int64_t i = 1; i < e->k->n; i++)
        if (absolute(e, i) > absolute(e, at))
            at = i;
    return at;
}

/* x := x / |x|, element by element.  False: real signs as in the call before. */
static bool take_signs(const struct estimate *e)
{
    bool differ = e->parts == 2;

    for (int64_t i = 0; i < e->k->n; i++) {
        double length = absolute(e, i);
        bool negative = e->parts == 1 && real_at(e, i) < 0;

        differ = differ || negative != e->negative[i];
        e->negative[i] = negative;
        if (e->parts == 1 || length == 0) {
            put(e, i, negative ? -1 : 1);
        } else {
            put_real(e, 2 * i, real_at(e, 2 * i) / length);
            put_real(e, 2 * i + 1, real_at(e, 2 * i + 1) / length);
        }
    }
    return differ;
}

/* x := B x, or B^H x, of the matrix B whose 1-norm is estimated: A^-1, or A^-H for the infinity norm.  Returns the
 * 1-norm of x. */
static double apply(struct estimate *e, bool adjoint)
{
    const struct sc_kernel *k = e->k;
    struct sc_kernel solve = *k;
    struct sc_view x = {.ptr = e->x, .type = k->type, .rows = k->n, .cols = 1, .ld = k->n, .access = SC_RDWR};
    int64_t info = 0;

    solve.op = k->op == SC_OP_POCON ? SC_OP_POTRS : SC_OP_GETRS;
    solve.transa = adjoint == (k->transa != 'N') ? 'N' : e->parts == 2 ? 'C' : 'T';
    solve.k = 1;
    solve.b = e->x, solve.ldb = k->n;
    solve.pivots = e->pivots;
    if (e->status == SC_OK)
        e->status = sc_blas_lapack_run(&solve, true, &info);
    sc_blas_host_operands(&x, 1);
    if (e->status == SC_OK && (info || !isfinite(norm(e))))
        e->status = SC_ERR_UNSUPPORTED;
    return norm(e);
}

static double alternating(struct estimate *e)
{
    int64_t n = e->k->n;

    for (int64_t i = 0; i < n; i++)
        put(e, i, (i % 2 ? -1 : 1) * (1 + (double)i / (double)(n - 1)));
    return 2 * apply(e, false) / (3 * (double)n);
}

/* A lower bound of the 1-norm of B, mostly within a factor of three. */
static double norm_of_inverse(struct estimate *e)
{
    int64_t n = e->k->n, at, last;
    double found, before;

    for (int64_t i = 0; i < n; i++)
        put(e, i, 1 / (double)n);
    found = apply(e, false);
    if (n == 1)
        return found;
    take_signs(e);
    apply(e, true);
    at = largest(e);
    for (int round = 2; round <= ROUNDS_MOST && e->status == SC_OK; round++) {
        for (int64_t i = 0; i < n; i++)
            put(e, i, i == at);
        before = found;
        found = apply(e, false);
        if (!take_signs(e) || found <= before)
            break;
        apply(e, true);
        last = at;
        at = largest(e);
        if (absolute(e, last) == absolute(e, at))
            break;
    }
    return fmax(found, alternating(e));
}

enum sc_status sc_blas_condition(const struct sc_kernel *k, int64_t *info)
{
    size_t n = (size_t)k->n;
    struct estimate e = {.k = k, .parts = sc_type_is_complex(k->type) ? 2 : 1, .pivots = malloc(n * sizeof *e.pivots),
                         .x = sc_coherence_host_alloc(n * sc_type_bytes(k->type)),
                         .negative = calloc(n, sizeof *e.negative)};
    double inverse = 0;

    *info = 0;
    if (!e.x || !e.pivots || !e.negative)
        e.status = SC_ERR_MEMORY;
    for (int64_t i = 0; i < k->n && e.status == SC_OK; i++)
        e.pivots[i] = i + 1;
    if (e.status == SC_OK)
        inverse = norm_of_inverse(&e);
    if (k->type == SC_S || k->type == SC_C)
        *(float *)k->small[0] = inverse > 0 ? (float)(1 / inverse / k->alpha[0]) : 0;
    else
        *(double *)k->small[0] = inverse > 0 ? 1 / inverse / k->alpha[0] : 0;
    if (e.x)
        sc_coherence_host_free(e.x);
    free(e.pivots);
    free(e.negative);
    return e.status;
}
/* SPDX-License-Identifier: BSD-2-Clause */
