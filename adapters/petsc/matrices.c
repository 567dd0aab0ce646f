/* Products of PETSc's sequential AIJ matrices with vectors; the blocks of a parallel AIJ matrix are such matrices.  A
 * declined product is PETSc's. */
#include "adapters/petsc/adapter.h"

static PetscErrorCode (*create_seqaij)(Mat); /* PETSc's own */
static sc_petsc_mult *their_mult, *their_transpose;
static sc_petsc_mult_add *their_mult_add, *their_transpose_add;
static sc_petsc_sor *their_sor;

static PetscErrorCode arrays_of(Mat a, struct semcache_sparse_arrays *arrays)
{
    const PetscInt *start, *index;
    PetscScalar *values;
    PetscInt rows, cols;

    PetscFunctionBegin;
    PetscCall(MatGetLocalSize(a, &rows, &cols));
    PetscCall(MatSeqAIJGetCSRAndMemType(a, &start, &index, &values, NULL));
    *arrays = sc_petsc_csr(rows, cols, start, index, values);
    PetscFunctionReturn(0);
}

/* z := op(A) x + beta z */
static PetscErrorCode multiply(const struct semcache_sparse_arrays *arrays, char op, Vec x, PetscScalar beta, Vec z,
                               bool *done)
{
    const enum sc_petsc_use use = beta == (PetscScalar)0 ? SC_PETSC_WRITE : SC_PETSC_UPDATE;
    const struct sc_petsc_pair one = sc_petsc_pair(1), scale = sc_petsc_pair(beta);
    PetscScalar *at_x, *at_z;

    PetscFunctionBegin;
    PetscCall(sc_petsc_array(x, SC_PETSC_READ, &at_x));
    PetscCall(sc_petsc_array(z, use, &at_z));
    *done = semcache_try_sparse(arrays, op, 1, one.part, at_x, 1, scale.part, at_z, 1);
    PetscCall(sc_petsc_array_back(z, use, &at_z));
    PetscCall(sc_petsc_array_back(x, SC_PETSC_READ, &at_x));
    PetscFunctionReturn(0);
}

/* With z apart from y, z is a copy of y first; a declined product overwrites the copy. */
PetscErrorCode sc_petsc_product(const struct semcache_sparse_arrays *arrays, char op, Vec x, Vec y, Vec z, bool *done)
{
    PetscFunctionBegin;
    *done = !y || y == z;
    if (!*done && x != z)
        PetscCall(sc_petsc_combine(z, 1, y, 0, NULL, done));
    if (*done)
        PetscCall(multiply(arrays, op, x, y ? 1 : 0, z, done));
    PetscFunctionReturn(0);
}

static PetscErrorCode offer(Mat a, char op, Vec x, Vec y, Vec z, bool *done)
{
    struct semcache_sparse_arrays arrays;

    PetscFunctionBegin;
    PetscCall(arrays_of(a, &arrays));
    PetscCall(sc_petsc_product(&arrays, op, x, y, z, done));
    PetscFunctionReturn(0);
}

static PetscErrorCode offer_mult(Mat a, char op, Vec x, Vec z, sc_petsc_mult *their)
{
    bool done;

    PetscFunctionBegin;
    PetscCall(offer(a, op, x, NULL, z, &done));
    if (!done)
        PetscCall(their(a, x, z));
    PetscFunctionReturn(0);
}

static PetscErrorCode offer_add(Mat a, char op, Vec x, Vec y, Vec z, sc_petsc_mult_add *their)
{
    bool done;

    PetscFunctionBegin;
    PetscCall(offer(a, op, x, y, z, &done));
    if (!done)
        PetscCall(their(a, x, y, z));
    PetscFunctionReturn(0);
}

static PetscErrorCode mult(Mat a, Vec x, Vec z) { return offer_mult(a, 'N', x, z, their_mult); }
static PetscErrorCode transpose(Mat a, Vec x, Vec z) { return offer_mult(a, 'T', x, z, their_transpose); }
static PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec z) { return offer_add(a, 'N', x, y, z, their_mult_add); }
static PetscErrorCode transpose_add(Mat a, Vec x, Vec y, Vec z)
{
    return offer_add(a, 'T', x, y, z, their_transpose_add);
}

static PetscErrorCode sor(Mat a, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, PetscInt local,
                          Vec x)
{
    return sc_petsc_relax(their_sor, a, b, omega, flag, shift, its * local, x);
}

typedef void operation(void);

/* Replaces an operation, whose own function is kept from the first matrix. */
static PetscErrorCode replace(Mat a, MatOperation which, operation *ours, operation **their)
{
    operation *now;

    PetscFunctionBegin;
    PetscCall(MatGetOperation(a, which, &now));
    if (now && now != ours) {
        *their = now;
        PetscCall(MatSetOperation(a, which, ours));
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode make_seqaij(Mat a)
{
    PetscFunctionBegin;
    PetscCall(create_seqaij(a));
    PetscCall(replace(a, MATOP_MULT, (operation *)mult, (operation **)&their_mult));
    PetscCall(replace(a, MATOP_MULT_ADD, (operation *)mult_add, (operation **)&their_mult_add));
    PetscCall(replace(a, MATOP_MULT_TRANSPOSE, (operation *)transpose, (operation **)&their_transpose));
    PetscCall(replace(a, MATOP_MULT_TRANSPOSE_ADD, (operation *)transpose_add, (operation **)&their_transpose_add));
    PetscCall(replace(a, MATOP_SOR, (operation *)sor, (operation **)&their_sor));
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_register_matrices(void)
{
    PetscFunctionBegin;
    PetscCall(MatInitializePackage());
    PetscCall(PetscFunctionListFind(MatList, MATSEQAIJ, &create_seqaij));
    if (create_seqaij)
        PetscCall(MatRegister(MATSEQAIJ, make_seqaij));
    PetscCall(sc_petsc_register_blocks());
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
