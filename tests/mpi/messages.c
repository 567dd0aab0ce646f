/* Messages in a ring: each rank sends to the next rank and receives from the previous rank. A device holds the newest
 * values of every array passed to MPI. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "mpi_test.h"

#define FROM_BEFORE(n) (1000.0 * before + (n))
static int next, before;
static const MPI_Aint bytes = sizeof(double);

static double *mine(int n) { return made(n, 1000.0 * rank + n); }

/* --- blocking ----------------------------------------------------------------------------------------------------- */

typedef int send(const void *, int, MPI_Datatype, int, int, MPI_Comm);

static void sends(int n, const char *name, send *function, int buffered)
{
    double *out = mine(n), *in = made(n, 7);
    int room = n * (int)sizeof *out + MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)room);
    MPI_Request request;

    if (buffered)
        MPI_Buffer_attach(buffer, room);
    MPI_Irecv(in, n, MPI_DOUBLE, before, 1, world, &request);
    MPI_Barrier(world); /* MPI_Rsend requires that the receive is posted */
    function(out, n, MPI_DOUBLE, next, 1, world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(name, in, n, FROM_BEFORE(n));
    expect(name, out, n, 1000.0 * rank + n);
    if (buffered)
        MPI_Buffer_detach(&buffer, &room);
    free(buffer);
    free(in);
    free(out);
}

static void recvs(int n)
{
    double *out = mine(n), *in = made(n, 7);
    MPI_Request request;
    MPI_Message message;

    MPI_Isend(out, n, MPI_DOUBLE, next, 2, world, &request);
    MPI_Recv(in, n, MPI_DOUBLE, before, 2, world, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Recv", in, n, FROM_BEFORE(n));
    dscal_(&n, &two, in, &one);
    MPI_Isend(out, n, MPI_DOUBLE, next, 3, world, &request);
    MPI_Mprobe(before, 3, world, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, n, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Mrecv", in, n, FROM_BEFORE(n));
    dscal_(&n, &two, in, &one);
    MPI_Sendrecv(out, n, MPI_DOUBLE, next, 4, in, n, MPI_DOUBLE, before, 4, world, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv", in, n, FROM_BEFORE(n));
    free(out);
    out = mine(n);
    MPI_Sendrecv_replace(out, n, MPI_DOUBLE, next, 5, before, 5, world, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv_replace", out, n, FROM_BEFORE(n));
    free(in);
    free(out);
}

/* A receive longer than its message: the rest of the array keeps the device's result. */
static void short_message(int n)
{
    double *out = mine(n), *in = made(n, 7);

    MPI_Sendrecv(out, n / 2, MPI_DOUBLE, next, 6, in, n, MPI_DOUBLE, before, 6, world, MPI_STATUS_IGNORE);
    expect("short message", in, n / 2, FROM_BEFORE(n));
    expect("behind a short message", in + n / 2, n - n / 2, 7.0 + n / 2);
    free(in);
    free(out);
}

/* --- nonblocking -------------------------------------------------------------------------------------------------- */

/* While messages of one half are in flight, devices compute on the second half; the halves share a page. The receive
 * begins afterwards, so that MPI reads the sender's pages after the call. */
static void compute_between(int n)
{
    double *out = mine(2 * n + 1), *in = made(2 * n + 1, 7);
    MPI_Request request[2];
    int rest = n + 1;

    MPI_Isend(out, n, MPI_DOUBLE, next, 7, world, &request[0]);
    dscal_(&rest, &two, out + n, &one);
    dscal_(&rest, &two, in + n, &one);
    MPI_Barrier(world);
    MPI_Irecv(in, n, MPI_DOUBLE, before, 7, world, &request[1]);
    dscal_(&rest, &two, in + n, &one);
    ddot_(&n, out, &one, out, &one); /* reading an array being sent is allowed */
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    dscal_(&rest, &(double){0.5}, out + n, &one);
    dscal_(&rest, &(double){0.25}, in + n, &one);
    expect("MPI_Irecv beside a computation", in, n, 1000.0 * before + 2 * n + 1);
    expect("MPI_Isend beside a computation", out, 2 * n + 1, 1000.0 * rank + 2 * n + 1);
    expect("beside MPI_Irecv", in + n, rest, 7.0 + n);
    free(in);
    free(out);
}

/* More messages than the library has notes for; every completing function completes a message. */
static void many(int n, int messages)
{
    double *out = mine(messages * n), *in = made(messages * n, 7);
    MPI_Request *request = malloc(2 * (size_t)messages * sizeof *request);
    int index, count, flag = 0, *indices = malloc(2 * (size_t)messages * sizeof *indices), all = messages * n;

    for (int i = 0; i < messages; i++) {
        MPI_Irecv(in + i * n, n, MPI_DOUBLE, before, i, world, &request[2 * i]);
        MPI_Issend(out + i * n, n, MPI_DOUBLE, next, i, world, &request[2 * i + 1]);
    }
    MPI_Waitany(2 * messages, request, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(2 * messages, request, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Testsome(2 * messages, request, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Testany(2 * messages, request, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    for (flag = 0; !flag;)
        MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;)
        MPI_Testall(messages, request, &flag, MPI_STATUSES_IGNORE);
    MPI_Waitall(2 * messages, request, MPI_STATUSES_IGNORE);
    expect("many messages", in, all, FROM_BEFORE(all));
    dscal_(&all, &two, in, &one); /* without pending messages, this call must run on a device */
    free(indices);
    free(request);
    free(in);
    free(out);
}

static void persistent(int n)
{
    double *out = mine(n), *in = made(n, 7);
    MPI_Request request[2];

    MPI_Send_init(out, n, MPI_DOUBLE, next, 8, world, &request[0]);
    MPI_Recv_init(in, n, MPI_DOUBLE, before, 8, world, &request[1]);
    for (int round = 0; round < 3; round++) {
        int rest = n - 1;

        if (round == 1) {
            MPI_Start(&request[0]);
            MPI_Start(&request[1]);
            MPI_Wait(&request[1], MPI_STATUS_IGNORE);
            MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        } else {
            MPI_Startall(2, request);
            MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        }
        expect("persistent request", in, n, FROM_BEFORE(n));
        /* To the devices and back, between two starts. */
        dscal_(&n, &two, out, &one);
        dscal_(&n, &(double){0.5}, out, &one);
        dscal_(&rest, &two, in, &one);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    free(in);
    free(out);
}

/* --- datatypes ---------------------------------------------------------------------------------------------------- */

/* A row of a matrix, of columns of n elements; received as a column. */
static void row(int n)
{
    int columns = 100;
    double *out = mine(n * columns), *in = made(columns, 7), *expected = malloc((size_t)columns * bytes);
    MPI_Datatype type;
    int bad;

    MPI_Type_vector(columns, 1, n, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(out + 3, 1, type, next, 9, in, columns, MPI_DOUBLE, before, 9, world, MPI_STATUS_IGNORE);
    for (int j = 0; j < columns; j++)
        expected[j] = FROM_BEFORE(n * columns) + 3 + (double)j * n;
    bad = memcmp(in, expected, (size_t)columns * bytes) != 0;
    checks++;
    wrong += bad;
    if (bad)
        printf("row of a matrix: %g and not %g\n", in[0], expected[0]);
    MPI_Type_free(&type);
    free(expected);
    free(in);
    free(out);
}

/* Two arrays in one message, by absolute addresses, or with the second relative to the first (at a possibly negative
 * offset). */
static void addresses(int n, int absolute)
{
    double *out[2] = {mine(n), mine(n)}, *in[2] = {made(n, 7), made(n, 8)};
    MPI_Datatype out_type, in_type, *types[2] = {&out_type, &in_type};
    double **arrays[2] = {out, in};
    int lengths[2] = {n, n};

    for (int k = 0; k < 2; k++) {
        MPI_Aint at[2];

        MPI_Get_address(arrays[k][0], &at[0]);
        MPI_Get_address(arrays[k][1], &at[1]);
        if (!absolute) {
            at[1] -= at[0];
            at[0] = 0;
        }
        MPI_Type_create_hindexed(2, lengths, at, MPI_DOUBLE, types[k]);
        MPI_Type_commit(types[k]);
    }
    MPI_Sendrecv(absolute ? MPI_BOTTOM : out[0], 1, out_type, next, 10, absolute ? MPI_BOTTOM : in[0], 1, in_type,
                 before, 10, world, MPI_STATUS_IGNORE);
    for (int k = 0; k < 2; k++) {
        expect(absolute ? "MPI_BOTTOM" : "relative addresses", in[k], n, FROM_BEFORE(n));
        MPI_Type_free(types[k]);
        free(in[k]);
        free(out[k]);
    }
}

/* Blocks from the last to the first: a negative extent. */
static void backwards(int n)
{
    double *out = mine(3 * n), *in = made(3 * n, 7);
    MPI_Datatype block, type;

    MPI_Type_contiguous(n, MPI_DOUBLE, &block);
    MPI_Type_create_resized(block, 0, -n * bytes, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(out + 2 * n, 3, type, next, 11, in + 2 * n, 3, type, before, 11, world, MPI_STATUS_IGNORE);
    expect("negative extent", in, 3 * n, FROM_BEFORE(3 * n));
    MPI_Type_free(&type);
    MPI_Type_free(&block);
    free(in);
    free(out);
}

static void allocated(int n)
{
    double *out, *in = made(n, 7);

    MPI_Alloc_mem(n * bytes, MPI_INFO_NULL, &out);
    for (int i = 0; i < n; i++)
        out[i] = (1000.0 * rank + n + i) / 2;
    dscal_(&n, &two, out, &one);
    MPI_Sendrecv(out, n, MPI_DOUBLE, next, 12, in, n, MPI_DOUBLE, before, 12, world, MPI_STATUS_IGNORE);
    expect("MPI_Alloc_mem", in, n, FROM_BEFORE(n));
    expect("MPI_Alloc_mem", out, n, 1000.0 * rank + n);
    MPI_Free_mem(out);
    free(in);
}

/* MPI libraries replace madvise and munmap by their own functions. */
static void emptied(int n)
{
    size_t whole = ((size_t)n * sizeof(double) + 4095) / 4096 * 4096;
    double *a = aligned_alloc(4096, whole), sum;

    for (int i = 0; i < n; i++)
        a[i] = 1 + i;
    dscal_(&n, &two, a, &one);
    madvise(a, whole, MADV_DONTNEED);
    sum = ddot_(&n, a, &one, a, &one);
    for (int i = 0; i < n; i++)
        sum += a[i] != 0;
    checks++;
    wrong += sum != 0;
    if (sum != 0)
        printf("after MADV_DONTNEED: %g is left\n", sum);
    free(a);
}

#if MPI_VERSION >= 4
static void large_counts(int n)
{
    double *out = mine(n), *in = made(n, 7);
    MPI_Request request;

    MPI_Irecv_c(in, n, MPI_DOUBLE, before, 13, world, &request);
    MPI_Send_c(out, n, MPI_DOUBLE, next, 13, world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Send_c", in, n, FROM_BEFORE(n));
    free(in);
    free(out);
}
#endif

int main(int argc, char **argv)
{
    static const int sizes[] = {1500, 200003};

    begin(&argc, &argv);
    next = (rank + 1) % ranks;
    before = (rank + ranks - 1) % ranks;
    for (int k = 0; k < 2; k++) {
        int n = sizes[k];

        sends(n, "MPI_Send", MPI_Send, 0);
        sends(n, "MPI_Ssend", MPI_Ssend, 0);
        sends(n, "MPI_Rsend", MPI_Rsend, 0);
        sends(n, "MPI_Bsend", MPI_Bsend, 1);
        recvs(n);
        short_message(n);
        compute_between(n);
        persistent(n);
        row(n);
        addresses(n, 0);
        addresses(n, 1);
        backwards(n);
        allocated(n);
        emptied(n);
#if MPI_VERSION >= 4
        large_counts(n);
#endif
    }
    many(1100, 200);
    return end();
}
/* SPDX-License-Identifier: BSD-2-Clause */
