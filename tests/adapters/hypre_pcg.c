/* BoomerAMG-PCG as a user of hypre writes it, on a Laplacian of a cube.  Arguments: side, smoother (hypre's number),
 * iterations, Krylov method (0: PCG, 1: GMRES), and 1 for C/F relaxation of two matrices by one solver, one after the
 * other.  Prints iterations, residual and a norm. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>

static int rank, ranks, side, first, end; /* rows [first, end) */

static void fill(HYPRE_IJMatrix a, double diagonal)
{
    const int steps[] = {1, side, side * side};

    for (int row = first; row < end; row++) {
        HYPRE_Int columns[7], count = 1;
        double values[7];

        columns[0] = row;
        values[0] = diagonal;
        for (int k = 0; k < 3; k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                int at = row / steps[k] % side + sign;

                if (at < 0 || at >= side)
                    continue;
                columns[count] = row + sign * steps[k];
                values[count++] = -1;
            }
        HYPRE_IJMatrixSetValues(a, 1, &count, (HYPRE_Int[]){row}, columns, values);
    }
}

static HYPRE_IJVector vector(double value)
{
    HYPRE_IJVector v;

    HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, end - 1, &v);
    HYPRE_IJVectorSetObjectType(v, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(v);
    for (int row = first; row < end; row++)
        HYPRE_IJVectorSetValues(v, 1, (HYPRE_Int[]){row}, (double[]){value * (1 + row % 5)});
    HYPRE_IJVectorAssemble(v);
    return v;
}

int main(int argc, char **argv)
{
    HYPRE_IJMatrix a;
    HYPRE_IJVector b, x;
    HYPRE_ParCSRMatrix matrix;
    HYPRE_ParVector right, left;
    HYPRE_Solver solver, amg;
    HYPRE_Int iterations;
    int both = argc > 5 && atoi(argv[5]);
    double residual, norm;

    MPI_Init(&argc, &argv);
    HYPRE_Init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    side = atoi(argv[1]);
    first = (int)((long)side * side * side * rank / ranks);
    end = (int)((long)side * side * side * (rank + 1) / ranks);
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, end - 1, first, end - 1, &a);
    HYPRE_IJMatrixSetObjectType(a, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(a);
    fill(a, 6.001);
    HYPRE_IJMatrixAssemble(a);
    b = vector(1);
    x = vector(0);
    HYPRE_IJMatrixGetObject(a, (void **)&matrix);
    HYPRE_IJVectorGetObject(b, (void **)&right);
    HYPRE_IJVectorGetObject(x, (void **)&left);
    HYPRE_BoomerAMGCreate(&amg);
    HYPRE_BoomerAMGSetRelaxType(amg, atoi(argv[2]));
    HYPRE_BoomerAMGSetRelaxWt(amg, 0.8);
    HYPRE_BoomerAMGSetNumSweeps(amg, 1);
    HYPRE_BoomerAMGSetRelaxOrder(amg, both);
    HYPRE_BoomerAMGSetTol(amg, 0);
    HYPRE_BoomerAMGSetMaxIter(amg, 1);
    if (atoi(argv[4])) {
        HYPRE_ParCSRGMRESCreate(MPI_COMM_WORLD, &solver);
        HYPRE_GMRESSetMaxIter(solver, atoi(argv[3]));
        HYPRE_GMRESSetTol(solver, 1e-14);
        HYPRE_GMRESSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                              (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
        HYPRE_ParCSRGMRESSetup(solver, matrix, right, left);
        HYPRE_ParCSRGMRESSolve(solver, matrix, right, left);
        HYPRE_GMRESGetNumIterations(solver, &iterations);
        HYPRE_GMRESGetFinalRelativeResidualNorm(solver, &residual);
    } else {
        HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
        HYPRE_PCGSetMaxIter(solver, atoi(argv[3]));
        HYPRE_PCGSetTol(solver, 1e-14);
        HYPRE_PCGSetTwoNorm(solver, 1);
        HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                            (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
        HYPRE_ParCSRPCGSetup(solver, matrix, right, left);
        HYPRE_ParCSRPCGSolve(solver, matrix, right, left);
        if (both) {
            HYPRE_IJMatrixInitialize(a);
            fill(a, 7.5);
            HYPRE_IJMatrixAssemble(a);
            HYPRE_ParCSRPCGSetup(solver, matrix, right, left);
            HYPRE_ParCSRPCGSolve(solver, matrix, right, left);
        }
        HYPRE_PCGGetNumIterations(solver, &iterations);
        HYPRE_PCGGetFinalRelativeResidualNorm(solver, &residual);
    }
    HYPRE_ParVectorInnerProd(left, left, &norm);
    if (rank == 0)
        printf("%d %.5e %.9e\n", (int)iterations, residual, sqrt(norm));
    HYPRE_Finalize();
    MPI_Finalize();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
