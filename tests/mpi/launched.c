/* A small program for launchers: a message between two ranks. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
    int n = 20000;
    double *out, *in;

    begin(&argc, &argv);
    out = made(n, 1000.0 * rank);
    in = made(n, 7);
    MPI_Sendrecv(out, n, MPI_DOUBLE, 1 - rank, 0, in, n, MPI_DOUBLE, 1 - rank, 0, world, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv", in, n, 1000.0 * (1 - rank));
    free(in);
    free(out);
    return end();
}
/* SPDX-License-Identifier: BSD-2-Clause */
