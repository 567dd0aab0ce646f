/* PETSc's KSP: a sparse system by CG and GMRES, a dense system by GMRES and by LU inside of blocks. Each solution is
 * compared with the known solution. */
#include <petscksp.h>

static int checks, wrong, rank;

static void solve(const char *what, Mat a, const char *ksp_type, const char *pc_type)
{
    Vec x, b, known;
    KSP ksp;
    PC pc;
    PetscReal error, size;
    PetscInt lo, hi;

    MatCreateVecs(a, &x, &b);
    VecDuplicate(x, &known);
    VecGetOwnershipRange(known, &lo, &hi);
    for (PetscInt i = lo; i < hi; i++)
        VecSetValue(known, i, 1 + i % 7, INSERT_VALUES);
    VecAssemblyBegin(known);
    VecAssemblyEnd(known);
    MatMult(a, known, b);
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOperators(ksp, a, a);
    KSPSetType(ksp, ksp_type);
    KSPGetPC(ksp, &pc);
    PCSetType(pc, pc_type);
    KSPSetTolerances(ksp, 1e-12, 1e-50, PETSC_DEFAULT, 2000);
    KSPSolve(ksp, b, x);
    VecAXPY(x, -1, known);
    VecNorm(x, NORM_2, &error);
    VecNorm(known, NORM_2, &size);
    checks++;
    if (!(error < 1e-8 * size)) {
        wrong++;
        if (rank == 0)
            printf("%s: error %g\n", what, (double)(error / size));
    }
    KSPDestroy(&ksp);
    VecDestroy(&known);
    VecDestroy(&b);
    VecDestroy(&x);
}

/* The five-point stencil on an m x m grid. */
static Mat stencil(PetscInt m)
{
    PetscInt lo, hi;
    Mat a;

    MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, m * m, m * m, 5, NULL, 5, NULL, &a);
    MatGetOwnershipRange(a, &lo, &hi);
    for (PetscInt i = lo; i < hi; i++) {
        MatSetValue(a, i, i, 4, INSERT_VALUES);
        if (i >= m)
            MatSetValue(a, i, i - m, -1, INSERT_VALUES);
        if (i < m * m - m)
            MatSetValue(a, i, i + m, -1, INSERT_VALUES);
        if (i % m)
            MatSetValue(a, i, i - 1, -1, INSERT_VALUES);
        if (i % m < m - 1)
            MatSetValue(a, i, i + 1, -1, INSERT_VALUES);
    }
    MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
    return a;
}

static Mat dense(PetscInt n)
{
    PetscInt lo, hi;
    Mat a;

    MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, NULL, &a);
    MatGetOwnershipRange(a, &lo, &hi);
    for (PetscInt i = lo; i < hi; i++)
        for (PetscInt j = 0; j < n; j++)
            MatSetValue(a, i, j, i == j ? n : (double)((i * 7 + j * 3) % 11 - 5) / 8, INSERT_VALUES);
    MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
    return a;
}

int main(int argc, char **argv)
{
    int size = argc > 2 ? atoi(argv[2]) : 40;
    Mat a;

    argc = 1; /* no arguments for PETSc */
    PetscInitialize(&argc, &argv, NULL, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    a = stencil(size);
    solve("CG with Jacobi", a, KSPCG, PCJACOBI);
    solve("GMRES with block Jacobi", a, KSPGMRES, PCBJACOBI);
    solve("BiCGSTAB with additive Schwarz", a, KSPBCGS, PCASM);
    MatDestroy(&a);
    a = dense(10 * size);
    solve("GMRES, dense", a, KSPGMRES, PCNONE);
    solve("GMRES with LU of blocks, dense", a, KSPGMRES, PCBJACOBI);
    MatDestroy(&a);
    if (rank == 0)
        printf("%d checks, %d wrong\n", checks, wrong);
    PetscFinalize();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
