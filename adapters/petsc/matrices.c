/* Products of PETSc's sequential AIJ matrices with vectors; the blocks of a parallel AIJ matrix are such matrices.  A
 * declined product is PETSc's.
 *
 * PETSc begins the exchange between ranks, computes the product of the rank's own block, ends the exchange, and adds
 * the product of the other block.  The exchange begins when the elements are home.  The devices get the own block's
 * product before the wait for the elements, because they would have no work until then (`ahead`). */
#include "adapters/petsc/adapter.h"

static PetscErrorCode (*create_seqaij)(Mat), (*create_mpiaij)(Mat); /* PETSc's own */
static sc_petsc_mult *their_mult, *their_transpose, *their_parallel_mult;
static sc_petsc_mult_add *their_mult_add, *their_transpose_add, *their_parallel_mult_add;
static sc_petsc_sor *their_sor;

/* The product of the own block in a parallel product under way: z := A x, or y + A x. */
static struct {
    Mat a; /* NULL: none */
    Vec x, y, z;
    enum { AHEAD_NOT_YET, AHEAD_DONE, AHEAD_DECLINED } state;
} ahead;

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

PetscErrorCode sc_petsc_product_ahead(void)
{
    bool done;

    PetscFunctionBegin;
    if (!ahead.a || ahead.state != AHEAD_NOT_YET)
        PetscFunctionReturn(0);
    PetscCall(offer(ahead.a, 'N', ahead.x, ahead.y, ahead.z, &done));
    ahead.state = done ? AHEAD_DONE : AHEAD_DECLINED;
    PetscFunctionReturn(0);
}

/* PETSc has come to the product.  *done: the devices have got it.  *declined: they have declined. */
static void arrive(Mat a, Vec x, Vec y, Vec z, bool *done, bool *declined)
{
    const bool same = ahead.a == a && ahead.x == x && ahead.y == y && ahead.z == z;

    *done = same && ahead.state == AHEAD_DONE;
    *declined = same && ahead.state == AHEAD_DECLINED;
    if (same)
        ahead.a = NULL;
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

static PetscErrorCode mult(Mat a, Vec x, Vec z)
{
    bool done, declined;

    PetscFunctionBegin;
    arrive(a, x, NULL, z, &done, &declined);
    if (declined)
        PetscCall(their_mult(a, x, z));
    else if (!done)
        PetscCall(offer_mult(a, 'N', x, z, their_mult));
    PetscFunctionReturn(0);
}

static PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec z)
{
    bool done, declined;

    PetscFunctionBegin;
    arrive(a, x, y, z, &done, &declined);
    if (declined)
        PetscCall(their_mult_add(a, x, y, z));
    else if (!done)
        PetscCall(offer_add(a, 'N', x, y, z, their_mult_add));
    PetscFunctionReturn(0);
}

static PetscErrorCode transpose(Mat a, Vec x, Vec z) { return offer_mult(a, 'T', x, z, their_transpose); }
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

/* The own block's product may run ahead if PETSc would come to this adapter's function. */
static PetscErrorCode run_ahead(Mat a, MatOperation which, operation *ours, Vec x, Vec y, Vec z)
{
    operation *now;
    PetscBool known;
    MatType type;
    Mat own;

    PetscFunctionBegin;
    PetscCall(MatGetType(a, &type));
    PetscCall(PetscStrbeginswith(type, MATMPIAIJ, &known)); /* a program may have changed the name */
    if (!known)
        PetscFunctionReturn(0);
    PetscCall(MatMPIAIJGetSeqAIJ(a, &own, NULL, NULL));
    PetscCall(MatGetOperation(own, which, &now));
    if (now == ours) {
        ahead.a = own;
        ahead.x = x;
        ahead.y = y;
        ahead.z = z;
        ahead.state = AHEAD_NOT_YET;
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode parallel_mult(Mat a, Vec x, Vec z)
{
    PetscErrorCode error;

    PetscFunctionBegin;
    PetscCall(run_ahead(a, MATOP_MULT, (operation *)mult, x, NULL, z));
    error = their_parallel_mult(a, x, z);
    ahead.a = NULL; /* an error may have come before the product */
    PetscCall(error);
    PetscFunctionReturn(0);
}

static PetscErrorCode parallel_mult_add(Mat a, Vec x, Vec y, Vec z)
{
    PetscErrorCode error;

    PetscFunctionBegin;
    PetscCall(run_ahead(a, MATOP_MULT_ADD, (operation *)mult_add, x, y, z));
    error = their_parallel_mult_add(a, x, y, z);
    ahead.a = NULL;
    PetscCall(error);
    PetscFunctionReturn(0);
}

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

static PetscErrorCode make_mpiaij(Mat a)
{
    PetscFunctionBegin;
    PetscCall(create_mpiaij(a));
    PetscCall(replace(a, MATOP_MULT, (operation *)parallel_mult, (operation **)&their_parallel_mult));
    PetscCall(replace(a, MATOP_MULT_ADD, (operation *)parallel_mult_add, (operation **)&their_parallel_mult_add));
    PetscFunctionReturn(0);
}

PetscErrorCode sc_petsc_register_matrices(void)
{
    PetscFunctionBegin;
    PetscCall(MatInitializePackage());
    PetscCall(PetscFunctionListFind(MatList, MATSEQAIJ, &create_seqaij));
    if (create_seqaij)
        PetscCall(MatRegister(MATSEQAIJ, make_seqaij));
    PetscCall(PetscFunctionListFind(MatList, MATMPIAIJ, &create_mpiaij));
    if (create_mpiaij)
        PetscCall(MatRegister(MATMPIAIJ, make_mpiaij));
    PetscCall(sc_petsc_register_blocks());
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
