/* Shared by the programs of tests/mpi.t: plain MPI programs for two ranks or more that know nothing of semcache. The
 * newest values of every array passed to MPI are on a device; the host's pages hold half of these values. Each rank
 * prints what is wrong, and rank 0 prints the number of checks of every rank. */
#ifndef SC_TESTS_MPI_H
#define SC_TESTS_MPI_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dscal_(const int *, const double *, double *, const int *);
double ddot_(const int *, const double *, const int *, const double *, const int *);

static const int one = 1;
static const double two = 2;
static int rank, ranks, checks, wrong;
static MPI_Comm world;

/* n values from `first` on, computed by a device. */
static inline double *made(int n, double first)
{
    double *a = malloc((size_t)n * sizeof *a);

    for (int i = 0; i < n; i++)
        a[i] = (first + i) / 2;
    dscal_(&n, &two, a, &one);
    return a;
}

/* Checks a[0], a[1], ... against first, first + 1, ..., as seen by the host and by a device. */
static inline void expect(const char *what, const double *a, int n, double first)
{
    double seen = ddot_(&n, a, &one, a, &one), sum = 0;
    int bad = 0;

    for (int i = 0; i < n; i++) {
        bad += a[i] != first + i;
        sum += a[i] * a[i];
    }
    bad += seen < sum * (1 - 1e-9) || seen > sum * (1 + 1e-9);
    checks++;
    wrong += bad != 0;
    if (bad)
        printf("%s, %d elements, rank %d: %d wrong, the first is %g and not %g\n", what, n, rank, bad, a[0], first);
}

static inline void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    setvbuf(stdout, NULL, _IOLBF, 0);
}

static inline int end(void)
{
    int mine[2] = {checks, wrong}, all[2];

    MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, world);
    if (rank == 0)
        printf("%d checks, %d wrong\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}

#endif
/* SPDX-License-Identifier: BSD-2-Clause */
