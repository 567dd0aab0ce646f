/* Operations of PETSc's vectors that PETSc does in loops of its own.  axpy, scale and swap call the BLAS, and need no
 * replacement; so do dot and norm in the real types.  A declined operation is PETSc's. */
#include "adapters/petsc/adapter.h"

#include <stdlib.h>

#include <petsc/private/vecimpl.h>

static PetscErrorCode (*create_seq)(Vec), (*create_mpi)(Vec); /* PETSc's own */
/* PETSc's operations of "seq".  They serve the local elements of "mpi" as well. */
static struct _VecOps theirs;
static PetscErrorCode (*their_mpi_norm)(Vec, NormType, PetscReal *);

PetscErrorCode sc_petsc_array(Vec v, enum sc_petsc_use use, PetscScalar **array)
{
    if (use == SC_PETSC_READ)
        return VecGetArrayRead(v, (const PetscScalar **)array);
    return use == SC_PETSC_WRITE ? VecGetArrayWrite(v, array) : VecGetArray(v, array);
}

PetscErrorCode sc_petsc_array_back(Vec v, enum sc_petsc_use use, PetscScalar **array)
{
    if (use == SC_PETSC_READ)
        return VecRestoreArrayRead(v, (const PetscScalar **)array);
    return use == SC_PETSC_WRITE ? VecRestoreArrayWrite(v, array) : VecRestoreArray(v, array);
}

PetscErrorCode sc_petsc_fetch(Vec v, enum sc_petsc_use use)
{
    static const enum semcache_mode modes[] = {[SC_PETSC_READ] = SEMCACHE_READ, [SC_PETSC_WRITE] = SEMCACHE_WRITE,
                                               [SC_PETSC_UPDATE] = SEMCACHE_READWRITE};
    PetscScalar *array;
    PetscInt n;

    PetscFunctionBegin;
    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(sc_petsc_array(v, use, &array));
    (void)semcache_acquire(array, (size_t)n * sizeof *array, modes[use]);
    PetscCall(sc_petsc_array_back(v, use, &array));
    PetscFunctionReturn(0);
}

/* The array of x to read, if x is not the vector w, whose array is known. */
static PetscErrorCode input(Vec x, Vec w, PetscScalar *known, PetscScalar **array)
{
    *array = x == w ? known : NULL;
    return x && x != w ? sc_petsc_array(x, SC_PETSC_READ, array) : 0;
}

static PetscErrorCode input_back(Vec x, Vec w, PetscScalar **array)
{
    return x && x != w ? sc_petsc_array_back(x, SC_PETSC_READ, array) : 0;
}

PetscErrorCode sc_petsc_combine(Vec w, PetscScalar alpha, Vec x, PetscScalar beta, Vec y, bool *done)
{
    const enum sc_petsc_use use = w == x || w == y ? SC_PETSC_UPDATE : SC_PETSC_WRITE;
    const struct sc_petsc_pair a = sc_petsc_pair(alpha), b = sc_petsc_pair(beta);
    PetscScalar *at_w, *at_x, *at_y;
    PetscInt n;

    PetscFunctionBegin;
    PetscCall(VecGetLocalSize(w, &n));
    PetscCall(sc_petsc_array(w, use, &at_w));
    PetscCall(input(x, w, at_w, &at_x));
    PetscCall(input(y, w, at_w, &at_y));
    *done = semcache_try_axpby(n, SC_PETSC_TYPE, a.part, at_x, b.part, at_y, at_w);
    PetscCall(input_back(y, w, &at_y));
    PetscCall(input_back(x, w, &at_x));
    PetscCall(sc_petsc_array_back(w, use, &at_w));
    PetscFunctionReturn(0);
}

/* y := x + alpha y */
static PetscErrorCode aypx(Vec y, PetscScalar alpha, Vec x)
{
    bool done = false;

    PetscFunctionBegin;
    if (x != y)
        PetscCall(sc_petsc_combine(y, 1, x, alpha, y, &done));
    if (!done)
        PetscCall(theirs.aypx(y, alpha, x));
    PetscFunctionReturn(0);
}

/* y := alpha x + beta y */
static PetscErrorCode axpby(Vec y, PetscScalar alpha, PetscScalar beta, Vec x)
{
    bool done = false;

    PetscFunctionBegin;
    if (x != y)
        PetscCall(sc_petsc_combine(y, alpha, x, beta, y, &done));
    if (!done)
        PetscCall(theirs.axpby(y, alpha, beta, x));
    PetscFunctionReturn(0);
}

/* w := alpha x + y */
static PetscErrorCode waxpy(Vec w, PetscScalar alpha, Vec x, Vec y)
{
    bool done = false;

    PetscFunctionBegin;
    if (x != y)
        PetscCall(sc_petsc_combine(w, alpha, x, 1, y, &done));
    if (!done)
        PetscCall(theirs.waxpy(w, alpha, x, y));
    PetscFunctionReturn(0);
}

/* z := alpha x + beta y + gamma z */
static PetscErrorCode axpbypcz(Vec z, PetscScalar alpha, PetscScalar beta, PetscScalar gamma, Vec x, Vec y)
{
    bool done = false;

    PetscFunctionBegin;
    if (x != z && y != z)
        PetscCall(sc_petsc_combine(z, alpha, x, gamma, z, &done));
    if (done)
        PetscCall(theirs.axpy(z, beta, y)); /* by the BLAS, which does not decline */
    else
        PetscCall(theirs.axpbypcz(z, alpha, beta, gamma, x, y));
    PetscFunctionReturn(0);
}

/* y := y + sum of alpha[j] x[j] */
static PetscErrorCode maxpy(Vec y, PetscInt count, const PetscScalar *alpha, Vec *x)
{
    bool done = false;

    PetscFunctionBegin;
    if (count > 0 && x[0] != y)
        PetscCall(sc_petsc_combine(y, alpha[0], x[0], 1, y, &done));
    if (!done)
        PetscCall(theirs.maxpy(y, count, alpha, x));
    for (PetscInt j = 1; done && j < count; j++)
        PetscCall(theirs.axpy(y, alpha[j], x[j]));
    PetscFunctionReturn(0);
}

static PetscErrorCode copy(Vec x, Vec y)
{
    bool done = false;

    PetscFunctionBegin;
    if (x != y)
        PetscCall(sc_petsc_combine(y, 1, x, 0, NULL, &done));
    if (!done)
        PetscCall(theirs.copy(x, y));
    PetscFunctionReturn(0);
}

/* x := alpha */
static PetscErrorCode set(Vec x, PetscScalar alpha)
{
    bool done = false;

    PetscFunctionBegin;
    if (alpha == (PetscScalar)0)
        PetscCall(sc_petsc_combine(x, 0, x, 0, NULL, &done));
    if (!done)
        PetscCall(theirs.set(x, alpha));
    PetscFunctionReturn(0);
}

/* w := x .* y, or x ./ y.  y counts as the matrix: a preconditioner's diagonal is the second factor. */
static PetscErrorCode scale(Vec w, Vec x, Vec y, bool inverse, bool *done)
{
    static const double zero[2];
    PetscScalar *at_w, *at_x, *at_y;
    PetscInt n;

    PetscFunctionBegin;
    *done = false;
    if (w == x || w == y || x == y)
        PetscFunctionReturn(0);
    PetscCall(VecGetLocalSize(w, &n));
    PetscCall(sc_petsc_array(w, SC_PETSC_WRITE, &at_w));
    PetscCall(sc_petsc_array(x, SC_PETSC_READ, &at_x));
    PetscCall(sc_petsc_array(y, SC_PETSC_READ, &at_y));
    *done = inverse ? semcache_try_divide(n, SC_PETSC_TYPE, at_y, at_x, zero, at_w)
                    : semcache_try_multiply(n, SC_PETSC_TYPE, at_y, at_x, at_w);
    PetscCall(sc_petsc_array_back(y, SC_PETSC_READ, &at_y));
    PetscCall(sc_petsc_array_back(x, SC_PETSC_READ, &at_x));
    PetscCall(sc_petsc_array_back(w, SC_PETSC_WRITE, &at_w));
    PetscFunctionReturn(0);
}

/* w := x y, or x / y, by the device or by PETSc's own function.  To PETSc, too, a quotient by 0 is 0. */
static PetscErrorCode pointwise(Vec w, Vec x, Vec y, bool divide, PetscErrorCode (*their)(Vec, Vec, Vec))
{
    bool done;

    PetscFunctionBegin;
    PetscCall(scale(w, x, y, divide, &done));
    if (!done)
        PetscCall(their(w, x, y));
    PetscFunctionReturn(0);
}

static PetscErrorCode pointwisemult(Vec w, Vec x, Vec y) { return pointwise(w, x, y, false, theirs.pointwisemult); }
static PetscErrorCode pointwisedivide(Vec w, Vec x, Vec y) { return pointwise(w, x, y, true, theirs.pointwisedivide); }

/* *dot := y^H x, or y^T x, of the local elements. */
static PetscErrorCode local_dot(Vec x, Vec y, bool conj, PetscScalar *dot, bool *done)
{
    PetscScalar *at_x, *at_y;
    double result[2];
    PetscInt n;

    PetscFunctionBegin;
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(sc_petsc_array(x, SC_PETSC_READ, &at_x));
    PetscCall(sc_petsc_array(y, SC_PETSC_READ, &at_y));
    *done = semcache_try_dot(n, SC_PETSC_TYPE, conj, at_y, at_x, result);
    PetscCall(sc_petsc_array_back(y, SC_PETSC_READ, &at_y));
    PetscCall(sc_petsc_array_back(x, SC_PETSC_READ, &at_x));
    if (*done)
        *dot = SC_PETSC_SCALAR(result);
    PetscFunctionReturn(0);
}

/* dot[i] := y[i]^H x, or y[i]^T x, of the local elements, with one wait. */
static PetscErrorCode several_dots(Vec x, PetscInt count, const Vec y[], bool conj, PetscScalar *dot, bool *done)
{
    PetscScalar *at_x, **at_y;
    const void **same;
    double (*result)[2];
    PetscInt n;

    PetscFunctionBegin;
    PetscCall(PetscMalloc3(count, &same, count, &at_y, count, &result));
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(sc_petsc_array(x, SC_PETSC_READ, &at_x));
    for (PetscInt i = 0; i < count; i++) {
        same[i] = at_x;
        PetscCall(sc_petsc_array(y[i], SC_PETSC_READ, &at_y[i]));
    }
    *done = semcache_try_dots(n, SC_PETSC_TYPE, conj, (int)count, (const void *const *)at_y, same, result);
    for (PetscInt i = count - 1; i >= 0; i--) {
        PetscCall(sc_petsc_array_back(y[i], SC_PETSC_READ, &at_y[i]));
        if (*done)
            dot[i] = SC_PETSC_SCALAR(result[i]);
    }
    PetscCall(sc_petsc_array_back(x, SC_PETSC_READ, &at_x));
    PetscCall(PetscFree3(same, at_y, result));
    PetscFunctionReturn(0);
}

static PetscErrorCode local_dots(Vec x, PetscInt count, const Vec y[], bool conj, PetscScalar *dot)
{
    PetscErrorCode (*const whole)(Vec, PetscInt, const Vec *, PetscScalar *) = conj ? theirs.mdot : theirs.mtdot;
    bool done = false;

    PetscFunctionBegin;
    if (count > 0)
        PetscCall(several_dots(x, count, y, conj, dot, &done));
    if (!done)
        PetscCall(whole(x, count, y, dot));
    PetscFunctionReturn(0);
}

static bool is_alone(Vec x)
{
    PetscMPIInt ranks = 1;

    return MPI_Comm_size(PetscObjectComm((PetscObject)x), &ranks) == MPI_SUCCESS && ranks == 1;
}

/* The sum over the ranks.  Before, each rank adds up its part, on a device or by PETSc's loops. */
static PetscErrorCode sum(Vec x, PetscInt count, PetscScalar *dot)
{
    MPI_Comm comm = PetscObjectComm((PetscObject)x);
    PetscMPIInt words;

    PetscFunctionBegin;
    PetscCall(PetscMPIIntCast(count, &words));
    if (!is_alone(x))
        PetscCall(MPIU_Allreduce(MPI_IN_PLACE, dot, words, MPIU_SCALAR, MPIU_SUM, comm));
    PetscFunctionReturn(0);
}

static PetscErrorCode dots(Vec x, PetscInt count, const Vec y[], bool conj, PetscScalar *dot)
{
    PetscFunctionBegin;
    PetscCall(local_dots(x, count, y, conj, dot));
    PetscCall(sum(x, count, dot));
    PetscFunctionReturn(0);
}

/* As PETSc's VecDotNorm2 computes, because "seq" and "mpi" have no such operation. */
static PetscErrorCode dotnorm2_by_loop(Vec s, Vec t, PetscScalar both[2])
{
    const PetscScalar *at_s, *at_t;
    PetscInt n;

    PetscFunctionBegin;
    both[0] = both[1] = 0;
    PetscCall(VecGetLocalSize(s, &n));
    PetscCall(VecGetArrayRead(s, &at_s));
    PetscCall(VecGetArrayRead(t, &at_t));
    for (PetscInt i = 0; i < n; i++) {
        both[0] += at_s[i] * PetscConj(at_t[i]);
        both[1] += at_t[i] * PetscConj(at_t[i]);
    }
    PetscCall(VecRestoreArrayRead(t, &at_t));
    PetscCall(VecRestoreArrayRead(s, &at_s));
    PetscFunctionReturn(0);
}

/* *dot := t^H s, *square := t^H t */
static PetscErrorCode dotnorm2(Vec s, Vec t, PetscScalar *dot, PetscScalar *square)
{
    PetscScalar both[2];
    bool done = false;

    PetscFunctionBegin;
    PetscCall(several_dots(t, 2, (Vec[]){s, t}, true, both, &done));
    if (done)
        both[0] = PetscConj(both[0]); /* s^H t */
    else
        PetscCall(dotnorm2_by_loop(s, t, both));
    PetscCall(sum(s, 2, both));
    *dot = both[0];
    *square = both[1];
    PetscFunctionReturn(0);
}

static PetscErrorCode mdot(Vec x, PetscInt count, const Vec y[], PetscScalar *dot)
{
    return dots(x, count, y, true, dot);
}

static PetscErrorCode mtdot(Vec x, PetscInt count, const Vec y[], PetscScalar *dot)
{
    return dots(x, count, y, false, dot);
}

/* The operations of a vector made by PETSc alone. */
static PetscErrorCode learn(void)
{
    Vec v;

    PetscFunctionBegin;
    PetscCall(VecCreate(PETSC_COMM_SELF, &v));
    PetscCall(VecSetSizes(v, 1, 1));
    PetscCall(create_seq(v));
    theirs = *v->ops;
    PetscCall(VecDestroy(&v));
    PetscFunctionReturn(0);
}

static PetscErrorCode whole_dot(Vec x, Vec y, bool conj, PetscScalar *result)
{
    PetscErrorCode (*const whole)(Vec, Vec, PetscScalar *) = conj ? theirs.dot : theirs.tdot;
    bool done = false;

    PetscFunctionBegin;
    PetscCall(local_dot(x, y, conj, result, &done));
    if (!done)
        PetscCall(whole(x, y, result));
    PetscCall(sum(x, 1, result));
    PetscFunctionReturn(0);
}

static PetscErrorCode dot(Vec x, Vec y, PetscScalar *result) { return whole_dot(x, y, true, result); }
static PetscErrorCode tdot(Vec x, Vec y, PetscScalar *result) { return whole_dot(x, y, false, result); }

/* A vector of one rank has PETSc's operation for the other norms, and a vector of several ranks has that of "mpi". */
static PetscErrorCode norm(Vec x, NormType type, PetscReal *result)
{
    PetscScalar square;
    bool done = false;

    PetscFunctionBegin;
    if (type == NORM_2 || type == NORM_FROBENIUS)
        PetscCall(local_dot(x, x, true, &square, &done));
    if (!done && is_alone(x)) {
        PetscCall(theirs.norm(x, type, result));
        PetscFunctionReturn(0);
    }
    if (type != NORM_2 && type != NORM_FROBENIUS) {
        PetscCall(their_mpi_norm(x, type, result));
        PetscFunctionReturn(0);
    }
    if (!done) {
        PetscCall(theirs.norm(x, NORM_2, result));
        square = *result * *result;
    }
    PetscCall(sum(x, 1, &square));
    *result = PetscSqrtReal(PetscRealPart(square));
    PetscFunctionReturn(0);
}

static PetscErrorCode adapt(Vec v, PetscErrorCode (*create)(Vec))
{
    PetscFunctionBegin;
    if (!theirs.aypx)
        PetscCall(learn());
    PetscCall(create(v));
    v->ops->aypx = aypx;
    v->ops->axpby = axpby;
    v->ops->waxpy = waxpy;
    v->ops->axpbypcz = axpbypcz;
    v->ops->maxpy = maxpy;
    v->ops->copy = copy;
    v->ops->set = set;
    v->ops->pointwisemult = pointwisemult;
    v->ops->pointwisedivide = pointwisedivide;
    v->ops->mdot = mdot;
    v->ops->mtdot = mtdot;
    v->ops->dotnorm2 = dotnorm2;
    if (PetscDefined(USE_COMPLEX)) {
        if (create == create_mpi)
            their_mpi_norm = v->ops->norm;
        v->ops->dot = dot;
        v->ops->tdot = tdot;
        v->ops->norm = norm;
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode make_seq(Vec v) { return adapt(v, create_seq); }
static PetscErrorCode make_mpi(Vec v) { return adapt(v, create_mpi); }

PetscErrorCode sc_petsc_register_vectors(void)
{
    PetscFunctionBegin;
    PetscCall(VecInitializePackage());
    PetscCall(PetscFunctionListFind(VecList, VECSEQ, &create_seq));
    PetscCall(PetscFunctionListFind(VecList, VECMPI, &create_mpi));
    if (create_seq && create_mpi) {
        PetscCall(VecRegister(VECSEQ, make_seq));
        PetscCall(VecRegister(VECMPI, make_mpi));
    }
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
