/* SOR and Gauss-Seidel with sequential AIJ matrices (MatSOR), offered to the devices.  Parallel matrices and multigrid
 * call MatSOR of their sequential blocks.
 *
 * With A = L + D + U and the factor w a forward sweep from 0 solves with D/w + L, and a backward sweep with D/w + U.  A
 * forward and a backward sweep are the solves with both, and between them the product with (2 - w)/w D.  Sweeps from x
 * add the sweeps from 0 with the residual b - A x. */
#include "adapters/petsc/adapter.h"

#include <petsc/private/petscimpl.h>

#include <string.h>

#define FORWARD (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP)
#define BACKWARD (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP)

struct relaxation {
    struct sc_petsc_solves *s;
    struct semcache_sparse_arrays a, solved; /* A, and A with D/w in the place of D */
    PetscReal omega;
    bool forward, backward, from_zero;
};

/* Shifts and Eisenstat's trick are PETSc's. */
static bool is_plain(PetscReal omega, PetscReal fshift, int flag)
{
    return omega > 0 && omega < 2 && fshift == 0 && (flag & (FORWARD | BACKWARD)) != 0 &&
           (flag & ~(FORWARD | BACKWARD | SOR_ZERO_INITIAL_GUESS)) == 0;
}

/* Copies (2 - w)/w D, and unless w is 1 the elements with D/w in the place of D.  False: no memory, or an element of
 * the diagonal is missing. */
static bool copy_scaled(struct sc_petsc_solves *s, const PetscInt *start, const PetscInt *index,
                        const PetscScalar *values)
{
    const size_t elements = (size_t)start[s->n];

    s->diagonal = semcache_alloc((size_t)s->n * sizeof *s->diagonal);
    s->values = s->omega == 1 ? NULL : semcache_alloc(elements * sizeof *s->values);
    if (!s->diagonal || (s->omega != 1 && !s->values))
        return false;
    if (s->values)
        memcpy(s->values, values, elements * sizeof *values);
    for (PetscInt row = 0; row < s->n; row++) {
        PetscInt at = start[row];

        while (at < start[row + 1] && index[at] != row)
            at++;
        if (at == start[row + 1])
            return false;
        s->diagonal[row] = (2 - s->omega) / s->omega * values[at];
        if (s->values)
            s->values[at] /= s->omega;
    }
    return true;
}

/* Describes the matrix to the devices, and makes the copies if the matrix or the factor has changed. */
static PetscErrorCode prepare(Mat A, struct relaxation *r)
{
    const PetscInt *start, *index;
    PetscObjectState state;
    PetscScalar *values;

    PetscFunctionBegin;
    PetscCall(MatSeqAIJGetCSRAndMemType(A, &start, &index, &values, NULL));
    PetscCall(PetscObjectStateGet((PetscObject)A, &state));
    if (r->s->omega != r->omega) {
        if (r->s->copied) /* two factors in turn would need copies each time */
            sc_petsc_solves_wasted(r->s);
        r->s->compared = 0;
        r->s->copied = 0;
        r->s->omega = r->omega;
    }
    if (r->s->copied != state) {
        sc_petsc_solves_drop(r->s);
        r->s->refused = !copy_scaled(r->s, start, index, values) || r->s->refused;
        r->s->copied = state;
    }
    r->a = sc_petsc_csr(r->s->n, r->s->n, start, index, values);
    r->solved = sc_petsc_csr(r->s->n, r->s->n, start, index, r->s->values ? r->s->values : values);
    PetscFunctionReturn(0);
}

static bool solve(const struct relaxation *r, char uplo, const PetscScalar *x, PetscScalar *y)
{
    const struct sc_petsc_pair one = sc_petsc_pair(1);

    return semcache_try_solve(&r->solved, 'N', uplo, 0, one.part, x, y);
}

/* z := the result of the sweeps from 0 for the right-hand side b.  b may be work[0], and z may be work[1]. */
static bool sweep(const struct relaxation *r, const PetscScalar *b, PetscScalar *z)
{
    struct sc_petsc_solves *s = r->s;
    bool done;

    if (!r->forward || !r->backward)
        return solve(r, r->forward ? 'L' : 'U', b, z);
    if (!solve(r, 'L', b, s->work[1]))
        return false;
    done = semcache_try_multiply(s->n, SC_PETSC_TYPE, s->diagonal, s->work[1], s->work[0]) &&
           solve(r, 'U', s->work[0], z);
    if (!done)
        sc_petsc_solves_wasted(s);
    return done;
}

/* work[1] := the change of x by the sweeps from x */
static bool correction(const struct relaxation *r, const PetscScalar *b, const PetscScalar *x)
{
    const struct sc_petsc_pair zero = sc_petsc_pair(0), one = sc_petsc_pair(1), minus = sc_petsc_pair(-1);
    struct sc_petsc_solves *s = r->s;
    bool done;

    if (!semcache_try_axpby(s->n, SC_PETSC_TYPE, one.part, b, zero.part, NULL, s->work[0]))
        return false;
    done = semcache_try_sparse(&r->a, 'N', 1, minus.part, x, 1, one.part, s->work[0], 1) &&
           sweep(r, s->work[0], s->work[1]);
    if (!done)
        sc_petsc_solves_wasted(s);
    return done;
}

/* x := the result of the sweeps from 0, or work[1] := the change of x. */
static PetscErrorCode sweep_once(const struct relaxation *r, Vec b, Vec x, bool *done)
{
    const enum sc_petsc_use use = r->from_zero ? SC_PETSC_WRITE : SC_PETSC_READ;
    PetscScalar *at_b, *at_x;

    PetscFunctionBegin;
    PetscCall(sc_petsc_array(x, use, &at_x));
    PetscCall(sc_petsc_array(b, SC_PETSC_READ, &at_b));
    *done = r->from_zero ? sweep(r, at_b, at_x) : correction(r, at_b, at_x);
    PetscCall(sc_petsc_array_back(b, SC_PETSC_READ, &at_b));
    PetscCall(sc_petsc_array_back(x, use, &at_x));
    PetscFunctionReturn(0);
}

/* x := x + work[1] */
static PetscErrorCode add_change(const struct relaxation *r, Vec x, bool *done)
{
    const struct sc_petsc_pair one = sc_petsc_pair(1);
    PetscScalar *at_x;

    PetscFunctionBegin;
    PetscCall(sc_petsc_array(x, SC_PETSC_UPDATE, &at_x));
    *done = semcache_try_axpby(r->s->n, SC_PETSC_TYPE, one.part, r->s->work[1], one.part, at_x, at_x);
    PetscCall(sc_petsc_array_back(x, SC_PETSC_UPDATE, &at_x));
    PetscFunctionReturn(0);
}

/* The same by PETSc. */
static PetscErrorCode sweep_on_host(sc_petsc_sor *own, Mat A, Vec b, PetscReal omega, MatSORType flag,
                                    PetscReal fshift, Vec x)
{
    PetscFunctionBegin;
    PetscCall(sc_petsc_fetch(b, SC_PETSC_READ));
    PetscCall(sc_petsc_fetch(x, flag & SOR_ZERO_INITIAL_GUESS ? SC_PETSC_WRITE : SC_PETSC_UPDATE));
    PetscCall(own(A, b, omega, flag, fshift, 1, 1, x));
    PetscFunctionReturn(0);
}

/* Sweeps once on the devices, and compares the first result of sweeps in these directions with PETSc's.  PETSc sweeps
 * in another way in matrices with blocks of similar rows. */
static PetscErrorCode step(sc_petsc_sor *own, Mat A, struct relaxation *r, Vec b, MatSORType flag, Vec x, bool *done)
{
    const unsigned use = 1u << (r->forward + 2 * r->backward);
    Vec theirs = NULL;

    PetscFunctionBegin;
    PetscCall(prepare(A, r));
    if (r->s->refused)
        PetscFunctionReturn(0);
    PetscCall(sweep_once(r, b, x, done));
    if (*done && !(r->s->compared & use)) {
        PetscCall(VecDuplicate(x, &theirs));
        PetscCall(VecCopy(x, theirs));
    }
    if (*done && !r->from_zero)
        PetscCall(add_change(r, x, done));
    if (*done && theirs) {
        PetscCall(sweep_on_host(own, A, b, r->omega, flag, 0, theirs));
        PetscCall(sc_petsc_solves_compare(r->s, use, theirs, x));
    }
    PetscCall(VecDestroy(&theirs));
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_relax(sc_petsc_sor *own, Mat A, Vec b, PetscReal omega, MatSORType flag, PetscReal fshift,
                              PetscInt sweeps, Vec x)
{
    struct relaxation r = {.omega = omega, .forward = flag & FORWARD, .backward = flag & BACKWARD,
                           .from_zero = flag & SOR_ZERO_INITIAL_GUESS};
    PetscFunctionBegin;
    if (is_plain(omega, fshift, flag) && b != x)
        PetscCall(sc_petsc_solves_of(A, &r.s));
    for (; sweeps > 0; sweeps--) {
        bool done = false;

        if (sc_petsc_solves_offered(r.s))
            PetscCall(step(own, A, &r, b, flag, x, &done));
        if (!done)
            PetscCall(sweep_on_host(own, A, b, omega, flag, fshift, x));
        flag &= ~SOR_ZERO_INITIAL_GUESS;
        r.from_zero = false;
    }
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
