// Conjugate gradients with Epetra on the 5-point Laplacian: prints iterations and the norm of the answer.
//
//     epetra_cg SOLVER SIDE MOST      SOLVER: own (a loop of Epetra's operations), jacobi (the same, preconditioned),
//                                     columns (products of 3 vectors, transposed ones, other operations), aztec
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <Epetra_CrsMatrix.h>
#include <Epetra_Map.h>
#include <Epetra_Vector.h>
#ifdef WITH_MPI
#include <Epetra_MpiComm.h>
#include <mpi.h>
#else
#include <Epetra_SerialComm.h>
#endif
#ifdef WITH_AZTECOO
#include <AztecOO.h>
#endif

static Epetra_CrsMatrix *laplacian(const Epetra_Map &map, int side)
{
    Epetra_CrsMatrix *a = new Epetra_CrsMatrix(Copy, map, 5);

    for (int local = 0; local < map.NumMyElements(); local++) {
        int row = map.GID(local), i = row / side, j = row % side, count = 0, columns[5];
        double values[5];

        for (int k = 0; k < 5; k++) {
            int other_i = i + (k == 1) - (k == 2), other_j = j + (k == 3) - (k == 4);

            if (other_i < 0 || other_i >= side || other_j < 0 || other_j >= side)
                continue;
            columns[count] = other_i * side + other_j;
            values[count++] = k == 0 ? 4.1 + row % 3 * 0.25 : -1;
        }
        a->InsertGlobalValues(row, count, values, columns);
    }
    a->FillComplete();
    a->OptimizeStorage();
    return a;
}

static int cg(const Epetra_CrsMatrix &a, Epetra_Vector &x, const Epetra_Vector &b, const Epetra_Vector *diagonal,
              int most)
{
    Epetra_Vector r(b), z(b), p(b.Map()), q(b.Map());
    double old = 1, rz, pq, norm;
    int k = 0;

    x.PutScalar(0);
    r.Norm2(&norm);
    for (; k < most && norm > 1e-10; k++) {
        if (diagonal)
            z.ReciprocalMultiply(1, *diagonal, r, 0);
        else
            z = r;
        r.Dot(z, &rz);
        p.Update(1, z, k ? rz / old : 0);
        a.Multiply(false, p, q);
        p.Dot(q, &pq);
        x.Update(rz / pq, p, 1);
        r.Update(-rz / pq, q, 1);
        r.Norm2(&norm);
        old = rz;
    }
    return k;
}

static void columns(const Epetra_CrsMatrix &a, Epetra_Vector &x, const Epetra_Vector &b, int most)
{
    Epetra_MultiVector u(b.Map(), 3), v(b.Map(), 3), w(b.Map(), 3);

    for (int j = 0; j < 3; j++)
        for (int i = 0; i < u.MyLength(); i++)
            u[j][i] = (b.Map().GID(i) + j) % 7;
    for (int k = 0; k < most; k++) {
        a.Multiply(k % 2, u, v);
        w.Multiply(1, u, v, 0);
        u.Update(0.01, v, 1e-5, w, k % 3 ? 0.25 : 0);
        u.Scale(0.9);
    }
    x.Update(1, *u(0), 0.5, *u(2), 0);
    x.Scale(2, x);
}

int main(int argc, char **argv)
{
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    Epetra_MpiComm comm(MPI_COMM_WORLD);
#else
    Epetra_SerialComm comm;
#endif
    std::string solver = argc > 1 ? argv[1] : "own";
    int side = argc > 2 ? atoi(argv[2]) : 100, most = argc > 3 ? atoi(argv[3]) : 10, iterations = most;
    Epetra_Map map(side * side, 0, comm);
    Epetra_CrsMatrix *a = laplacian(map, side);
    Epetra_Vector x(map), b(map), diagonal(map);
    double norm;

    b.PutScalar(1);
    a->ExtractDiagonalCopy(diagonal);
    if (solver == "own" || solver == "jacobi")
        iterations = cg(*a, x, b, solver == "own" ? nullptr : &diagonal, most);
    else if (solver == "columns")
        columns(*a, x, b, most);
#ifdef WITH_AZTECOO
    else {
        AztecOO aztec(a, &x, &b);

        aztec.SetAztecOption(AZ_solver, solver == "aztec" ? AZ_cg : AZ_gmres);
        aztec.SetAztecOption(AZ_precond, AZ_Jacobi);
        aztec.SetAztecOption(AZ_output, AZ_none);
        aztec.Iterate(most, 1e-10);
        iterations = aztec.NumIters();
    }
#endif
    x.Norm2(&norm);
    if (comm.MyPID() == 0)
        printf("%d iterations, norm %.7e\n", iterations, norm);
    delete a;
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
// SPDX-License-Identifier: BSD-2-Clause
