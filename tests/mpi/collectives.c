/* Collectives: blocking, nonblocking and, where the MPI has them, persistent, with the same checks. The contribution of
 * rank r begins with 1000 (r + 1). */
#include "mpi_test.h"

static int root; /* the last rank */

static double *mine(int n) { return made(n, 1000.0 * (rank + 1)); }

/* The expected result of a reduction: element i of the sum over the ranks before `end`. */
static double sum(int end, int i)
{
    double all = 0;

    for (int r = 0; r < end; r++)
        all += 1000.0 * (r + 1) + i;
    return all;
}

static void expect_sum(const char *what, const double *a, int n, int end, int from)
{
    int bad = 0;

    for (int i = 0; i < n; i++)
        bad += a[i] != sum(end, from + i);
    checks++;
    wrong += bad != 0;
    if (bad)
        printf("%s, %d elements, rank %d: %d wrong, the first is %g and not %g\n", what, n, rank, bad, a[0],
               sum(end, from));
}

static void expect_each(const char *what, const double *a, int n)
{
    for (int r = 0; r < ranks; r++)
        expect(what, a + r * n, n, 1000.0 * (r + 1));
}

/* --- three ways to run one: this part is compiled for each ------------------------------------------------------- */

static MPI_Request request;
static void finish(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
#if MPI_VERSION >= 4
/* Starts once: some of MPICH 4.0.2's persistent collectives fail at their second start. */
static void start(void)
{
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}
#endif

enum way { BLOCKING, NONBLOCKING, PERSISTENT };
static const char *const names[] = {"", " (nonblocking)", " (persistent)"};

#if MPI_VERSION >= 4
#define PERSISTENTLY(name, ...) (MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request), start())
#else
#define PERSISTENTLY(name, ...) (void)0
#endif
#define CALL(name, iname, ...)                                               \
    (snprintf(what, sizeof what, "MPI_" #name "%s", names[way]),             \
     way == BLOCKING      ? (void)MPI_##name(__VA_ARGS__)                    \
     : way == NONBLOCKING ? (MPI_##iname(__VA_ARGS__, &request), finish())   \
                          : PERSISTENTLY(name, __VA_ARGS__))

static char what[64];

static void broadcast(enum way way, int n)
{
    double *a = mine(n);

    CALL(Bcast, Ibcast, a, n, MPI_DOUBLE, root, world);
    expect(what, a, n, 1000.0 * (root + 1));
    dscal_(&n, &two, a, &one);
    free(a);
}

static void gathered(enum way way, int n)
{
    double *out = mine(n), *in = made(n * ranks, 7);
    int *counts = malloc((size_t)ranks * sizeof *counts), *at = malloc((size_t)ranks * sizeof *at);

    for (int r = 0; r < ranks; r++) {
        counts[r] = n;
        at[r] = (ranks - 1 - r) * n;
    }
    CALL(Gather, Igather, out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, root, world);
    if (rank == root)
        expect_each(what, in, n);
    CALL(Gatherv, Igatherv, out, n, MPI_DOUBLE, in, counts, at, MPI_DOUBLE, root, world);
    for (int r = 0; rank == root && r < ranks; r++)
        expect(what, in + at[r], n, 1000.0 * (r + 1));
    CALL(Allgather, Iallgather, out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, world);
    expect_each(what, in, n);
    CALL(Allgatherv, Iallgatherv, out, n, MPI_DOUBLE, in, counts, at, MPI_DOUBLE, world);
    for (int r = 0; r < ranks; r++)
        expect(what, in + at[r], n, 1000.0 * (r + 1));
    free(in);
    in = made(n * ranks, 1000.0 * (rank + 1) - rank * n);
    CALL(Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_DOUBLE, world);
    expect_each("in place", in, n);
    free(at);
    free(counts);
    free(in);
    free(out);
}

static void scattered(enum way way, int n)
{
    double *out = made(n * ranks, 5), *in = made(n, 7);
    int *counts = malloc((size_t)ranks * sizeof *counts), *at = malloc((size_t)ranks * sizeof *at);

    for (int r = 0; r < ranks; r++) {
        counts[r] = n;
        at[r] = (ranks - 1 - r) * n;
    }
    CALL(Scatter, Iscatter, out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, root, world);
    expect(what, in, n, 5.0 + rank * n);
    CALL(Scatterv, Iscatterv, out, counts, at, MPI_DOUBLE, in, n, MPI_DOUBLE, root, world);
    expect(what, in, n, 5.0 + at[rank]);
    free(at);
    free(counts);
    free(in);
    free(out);
}

/* Rank s sends its part r to rank r. */
static void exchanged(enum way way, int n)
{
    double *out = made(n * ranks, 1000000.0 * rank), *in = made(n * ranks, 7);
    int *counts = malloc((size_t)ranks * sizeof *counts), *at = malloc((size_t)ranks * sizeof *at);
    int *bytes = malloc((size_t)ranks * sizeof *bytes);
    MPI_Datatype *types = malloc((size_t)ranks * sizeof *types);

    for (int r = 0; r < ranks; r++) {
        counts[r] = n;
        at[r] = r * n;
        bytes[r] = at[r] * (int)sizeof(double);
        types[r] = MPI_DOUBLE;
    }
    CALL(Alltoall, Ialltoall, out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, world);
    for (int r = 0; r < ranks; r++)
        expect(what, in + r * n, n, 1000000.0 * r + rank * n);
    dscal_(&(int){n * ranks}, &two, in, &one);
    CALL(Alltoallv, Ialltoallv, out, counts, at, MPI_DOUBLE, in, counts, at, MPI_DOUBLE, world);
    for (int r = 0; r < ranks; r++)
        expect(what, in + r * n, n, 1000000.0 * r + rank * n);
    dscal_(&(int){n * ranks}, &two, in, &one);
    CALL(Alltoallw, Ialltoallw, out, counts, bytes, types, in, counts, bytes, types, world);
    for (int r = 0; r < ranks; r++)
        expect(what, in + r * n, n, 1000000.0 * r + rank * n);
    free(types);
    free(bytes);
    free(at);
    free(counts);
    free(in);
    free(out);
}

static void reduced(enum way way, int n)
{
    double *out = mine(n * ranks), *in = made(n * ranks, 7);
    int *counts = malloc((size_t)ranks * sizeof *counts);

    for (int r = 0; r < ranks; r++)
        counts[r] = n;
    CALL(Reduce, Ireduce, out, in, n, MPI_DOUBLE, MPI_SUM, root, world);
    if (rank == root)
        expect_sum(what, in, n, ranks, 0);
    CALL(Allreduce, Iallreduce, out, in, n, MPI_DOUBLE, MPI_SUM, world);
    expect_sum(what, in, n, ranks, 0);
    dscal_(&n, &two, in, &one);
    CALL(Scan, Iscan, out, in, n, MPI_DOUBLE, MPI_SUM, world);
    expect_sum(what, in, n, rank + 1, 0);
    dscal_(&n, &two, in, &one);
    CALL(Exscan, Iexscan, out, in, n, MPI_DOUBLE, MPI_SUM, world);
    if (rank)
        expect_sum(what, in, n, rank, 0);
    dscal_(&n, &two, in, &one);
    CALL(Reduce_scatter, Ireduce_scatter, out, in, counts, MPI_DOUBLE, MPI_SUM, world);
    expect_sum(what, in, n, ranks, rank * n);
    dscal_(&n, &two, in, &one);
    CALL(Reduce_scatter_block, Ireduce_scatter_block, out, in, n, MPI_DOUBLE, MPI_SUM, world);
    expect_sum(what, in, n, ranks, rank * n);
    if (way == BLOCKING) {
        double *again = mine(n * ranks);

        MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, MPI_DOUBLE, MPI_SUM, world);
        expect_sum("MPI_Reduce_scatter in place", out, n, ranks, rank * n);
        MPI_Allreduce(MPI_IN_PLACE, again, n * ranks, MPI_DOUBLE, MPI_SUM, world);
        expect_sum("MPI_Allreduce in place", again, n * ranks, ranks, 0);
        free(again);
    }
    free(counts);
    free(in);
    free(out);
}

/* On a ring: the part of the previous neighbour, then the part of the next. */
static void neighbours(enum way way, int n)
{
    double *out = made(2 * n, 1000000.0 * rank), *in = made(2 * n, 7);
    int before = (rank + ranks - 1) % ranks, next = (rank + 1) % ranks, counts[2] = {n, n}, at[2] = {0, n};
    MPI_Aint far[2] = {0, (MPI_Aint)sizeof(double) * n};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_DOUBLE};
    MPI_Comm ring;

    if (ranks < 3)
        next = before; /* twice the same neighbour: their order is not tested */
    MPI_Cart_create(world, 1, &ranks, &one, 0, &ring);
    CALL(Neighbor_allgather, Ineighbor_allgather, out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, ring);
    expect(what, in, n, 1000000.0 * before);
    expect(what, in + n, n, 1000000.0 * next);
    dscal_(&(int){2 * n}, &two, in, &one);
    CALL(Neighbor_allgatherv, Ineighbor_allgatherv, out, n, MPI_DOUBLE, in, counts, at, MPI_DOUBLE, ring);
    expect(what, in, n, 1000000.0 * before);
    expect(what, in + n, n, 1000000.0 * next);
    if (ranks >= 3) {
        dscal_(&(int){2 * n}, &two, in, &one);
        CALL(Neighbor_alltoall, Ineighbor_alltoall, out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, ring);
        expect(what, in, n, 1000000.0 * before + n);
        expect(what, in + n, n, 1000000.0 * next);
        dscal_(&(int){2 * n}, &two, in, &one);
        CALL(Neighbor_alltoallv, Ineighbor_alltoallv, out, counts, at, MPI_DOUBLE, in, counts, at, MPI_DOUBLE, ring);
        expect(what, in, n, 1000000.0 * before + n);
        dscal_(&(int){2 * n}, &two, in, &one);
        CALL(Neighbor_alltoallw, Ineighbor_alltoallw, out, counts, far, types, in, counts, far, types, ring);
        expect(what, in, n, 1000000.0 * before + n);
    }
    MPI_Comm_free(&ring);
    free(in);
    free(out);
}

/* --- between two groups ------------------------------------------------------------------------------------------- */

static void two_groups(int n)
{
    int upper = rank >= ranks / 2, remote = upper ? ranks / 2 : ranks - ranks / 2;
    int lead = rank == ranks / 2; /* the first of the upper group is the root */
    int as_root = !upper ? 0 : lead ? MPI_ROOT : MPI_PROC_NULL;
    double *out = mine(n * remote), *in = made(n * remote, 7);
    MPI_Comm group, between;

    MPI_Comm_split(world, upper, rank, &group);
    MPI_Intercomm_create(group, 0, world, upper ? 0 : ranks / 2, 1, &between);
    MPI_Bcast(upper ? out : in, n, MPI_DOUBLE, as_root, between);
    if (!upper)
        expect("MPI_Bcast between groups", in, n, 1000.0 * (ranks / 2 + 1));
    MPI_Gather(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, as_root, between);
    for (int r = 0; lead && r < remote; r++)
        expect("MPI_Gather between groups", in + r * n, n, 1000.0 * (r + 1));
    MPI_Scatter(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, as_root, between);
    if (!upper)
        expect("MPI_Scatter between groups", in, n, 1000.0 * (ranks / 2 + 1) + rank * n);
    MPI_Allgather(out, n, MPI_DOUBLE, in, n, MPI_DOUBLE, between);
    for (int r = 0; r < remote; r++)
        expect("MPI_Allgather between groups", in + r * n, n, 1000.0 * (r + 1 + (upper ? 0 : ranks / 2)));
    MPI_Comm_free(&between);
    MPI_Comm_free(&group);
    free(in);
    free(out);
}

/* Insignificant arguments may have any value. (MPICH 4.0.2 crashes in MPI_Reduce in place with other roots.) */
static void insignificant(int n)
{
    int root = 0;
    double *out = mine(n), *in = rank == root ? made(n * ranks, 7) : NULL;

    MPI_Gather(out, n, MPI_DOUBLE, in, rank == root ? n : -1, rank == root ? MPI_DOUBLE : MPI_DATATYPE_NULL, root,
               world);
    if (rank == root)
        expect_each("MPI_Gather to the root alone", in, n);
    if (rank == root)
        MPI_Reduce(MPI_IN_PLACE, in, n, MPI_DOUBLE, MPI_SUM, root, world);
    else
        MPI_Reduce(out, NULL, n, MPI_DOUBLE, MPI_SUM, root, world);
    if (rank == root)
        for (int r = 1; r < ranks; r++)
            expect("behind MPI_Reduce in place", in + r * n, n, 1000.0 * (r + 1));
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1500, 30001};

    begin(&argc, &argv);
    root = ranks - 1;
    for (int k = 0; k < 2; k++) {
        int n = sizes[k];

        for (enum way way = BLOCKING; way <= (MPI_VERSION >= 4 ? PERSISTENT : NONBLOCKING); way++) {
            broadcast(way, n);
            gathered(way, n);
            scattered(way, n);
            exchanged(way, n);
            reduced(way, n);
            neighbours(way, n);
        }
        two_groups(n);
        insignificant(n);
    }
    return end();
}
/* SPDX-License-Identifier: BSD-2-Clause */
