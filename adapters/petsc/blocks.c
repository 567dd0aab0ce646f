/* Products of PETSc's sequential matrices of blocks (BAIJ, and SBAIJ with one triangle) with vectors.  PETSc chooses
 * functions by the size of the blocks, when the entries are allocated.  The adapter therefore replaces the functions
 * when the matrix is assembled.  PETSc computes a declined product. */
#include "adapters/petsc/adapter.h"

#define LARGEST 32 /* larger blocks are PETSc's */

typedef void operation(void);

static const MatOperation names[] = {MATOP_MULT, MATOP_MULT_ADD, MATOP_MULT_TRANSPOSE, MATOP_MULT_TRANSPOSE_ADD};
enum { MULT, MULT_ADD, TRANSPOSE, TRANSPOSE_ADD };

static struct kind {
    const char *const type;
    const bool symmetric;
    PetscErrorCode (*create)(Mat);                      /* PETSc's own */
    PetscErrorCode (*assembly_end)(Mat, MatAssemblyType);
    operation *own[LARGEST + 1][4];                     /* by the size of the blocks */
} general = {.type = MATSEQBAIJ, .symmetric = false}, symmetric = {.type = MATSEQSBAIJ, .symmetric = true};

static PetscErrorCode kind_of(Mat a, struct kind **kind)
{
    PetscBool is_symmetric;

    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)a, MATSEQSBAIJ, &is_symmetric));
    *kind = is_symmetric ? &symmetric : &general;
    PetscFunctionReturn(0);
}

static PetscErrorCode arrays_of(Mat a, const struct kind *kind, struct semcache_sparse_arrays *arrays)
{
    const PetscInt *start = NULL, *index = NULL;
    PetscInt rows, cols, block, lines;
    PetscScalar *values;
    PetscBool done;

    PetscFunctionBegin;
    PetscCall(MatGetLocalSize(a, &rows, &cols));
    PetscCall(MatGetBlockSize(a, &block));
    PetscCall(MatGetRowIJ(a, 0, PETSC_FALSE, PETSC_TRUE, &lines, &start, &index, &done));
    PetscCall(kind->symmetric ? MatSeqSBAIJGetArray(a, &values) : MatSeqBAIJGetArray(a, &values));
    *arrays = (struct semcache_sparse_arrays){
        .size = sizeof *arrays, .format = SEMCACHE_SPARSE_BSR_COLUMNS, .type = SC_PETSC_TYPE,
        .index_bytes = sizeof(PetscInt), .rows = rows, .cols = cols, .start = start, .index = index, .values = values,
        .block = block, .stored = kind->symmetric ? SEMCACHE_SPARSE_SYMMETRIC_UPPER : SEMCACHE_SPARSE_ALL};
    PetscCall(kind->symmetric ? MatSeqSBAIJRestoreArray(a, &values) : MatSeqBAIJRestoreArray(a, &values));
    PetscCall(MatRestoreRowIJ(a, 0, PETSC_FALSE, PETSC_TRUE, &lines, &start, &index, &done));
    PetscFunctionReturn(0);
}

/* z := op(A) x, or z := y + op(A) x, by the function `which` of PETSc if the devices decline. */
static PetscErrorCode offer(Mat a, int which, Vec x, Vec y, Vec z)
{
    const char op = which == TRANSPOSE || which == TRANSPOSE_ADD ? 'T' : 'N';
    struct semcache_sparse_arrays arrays;
    struct kind *kind;
    bool done;

    PetscFunctionBegin;
    PetscCall(kind_of(a, &kind));
    PetscCall(arrays_of(a, kind, &arrays));
    PetscCall(sc_petsc_product(&arrays, op, x, y, z, &done));
    if (!done) {
        operation *own = kind->own[arrays.block][which];

        PetscCall(y ? ((sc_petsc_mult_add *)own)(a, x, y, z) : ((sc_petsc_mult *)own)(a, x, z));
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode mult(Mat a, Vec x, Vec z) { return offer(a, MULT, x, NULL, z); }
static PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec z) { return offer(a, MULT_ADD, x, y, z); }
static PetscErrorCode transpose(Mat a, Vec x, Vec z) { return offer(a, TRANSPOSE, x, NULL, z); }
static PetscErrorCode transpose_add(Mat a, Vec x, Vec y, Vec z) { return offer(a, TRANSPOSE_ADD, x, y, z); }

static PetscErrorCode assembly_end(Mat a, MatAssemblyType type)
{
    operation *const ours[] = {(operation *)mult, (operation *)mult_add, (operation *)transpose,
                               (operation *)transpose_add};
    struct kind *kind;
    PetscInt block;

    PetscFunctionBegin;
    PetscCall(kind_of(a, &kind));
    PetscCall(kind->assembly_end(a, type));
    PetscCall(MatGetBlockSize(a, &block));
    for (int i = 0; i < 4 && block <= LARGEST; i++) {
        operation *now;

        PetscCall(MatGetOperation(a, names[i], &now));
        if (now && now != ours[i]) {
            kind->own[block][i] = now;
            PetscCall(MatSetOperation(a, names[i], ours[i]));
        }
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode make(Mat a, struct kind *kind)
{
    PetscFunctionBegin;
    PetscCall(kind->create(a));
    PetscCall(MatGetOperation(a, MATOP_ASSEMBLY_END, (operation **)&kind->assembly_end));
    PetscCall(MatSetOperation(a, MATOP_ASSEMBLY_END, (operation *)assembly_end));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_general(Mat a) { return make(a, &general); }
static PetscErrorCode make_symmetric(Mat a) { return make(a, &symmetric); }

/* A symmetric matrix of complex numbers may be Hermitian to PETSc. */
PetscErrorCode sc_petsc_register_blocks(void)
{
    PetscFunctionBegin;
    PetscCall(PetscFunctionListFind(MatList, MATSEQBAIJ, &general.create));
    PetscCall(PetscFunctionListFind(MatList, MATSEQSBAIJ, &symmetric.create));
    if (general.create)
        PetscCall(MatRegister(MATSEQBAIJ, make_general));
    if (symmetric.create && !PetscDefined(USE_COMPLEX))
        PetscCall(MatRegister(MATSEQSBAIJ, make_symmetric));
    PetscFunctionReturn(0);
}
/* SPDX-License-Identifier: BSD-2-Clause */
