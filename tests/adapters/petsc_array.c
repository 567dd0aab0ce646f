/* Products of vectors by element in PETSc.  Argument: "own" for vectors of PETSc's, "array" for vectors on arrays of
 * the program.  Prints a norm. */
#include <stdlib.h>
#include <string.h>

#include <petscvec.h>

enum { N = 200000, VECTORS = 3 };

int main(int argc, char **argv)
{
    const int own = argc > 1 && strcmp(argv[1], "own") == 0;
    Vec v[VECTORS];
    PetscReal norm;

    PetscInitialize(&argc, &argv, NULL, NULL);
    for (int i = 0; i < VECTORS; i++) {
        PetscScalar *array = malloc(N * sizeof *array);

        if (own)
            VecCreateSeq(PETSC_COMM_SELF, N, &v[i]);
        else
            VecCreateSeqWithArray(PETSC_COMM_SELF, 1, N, array, &v[i]);
        VecSet(v[i], 0.5 + i);
    }
    for (int step = 0; step < 4; step++)
        VecPointwiseMult(v[(step + 2) % VECTORS], v[step % VECTORS], v[(step + 1) % VECTORS]);
    VecNorm(v[2], NORM_2, &norm);
    PetscPrintf(PETSC_COMM_SELF, "norm %.12g\n", (double)norm);
    PetscFinalize();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
